"""Sums of kernels whose features depend on the training examples, such as idf, and kernels without features."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, KFold

import treille
from treille import SVC, SVCCV, SVR, InputError, LogisticRegression, OneClassSVM, Ridge
from treille.kernels import Columns, NGram, Subsequence, SubsetTree
from treille.kernels.fitting import FitContext

RANDOM = np.random.default_rng(0)
N, OLD = 40, np.arange(40) < 28
Y = np.arange(N) % 2
WORDS = [
    " ".join(RANDOM.choice(["red", "dark", "wine", "vine"] if y else ["white", "wine", "oak", "vine"], 5)) for y in Y
]
TREES = [f"(S (NP {RANDOM.choice(['he', 'she'])}) (VP {RANDOM.choice(['sat', 'saw'])} (NP it)))" for _ in Y]
TABLE = pd.DataFrame({"text": WORDS, "tree": TREES})
TEXT = NGram(1, unit="word")
TERMS = {
    "idf": (TEXT.weighted("idf").normalized(), SubsetTree(0.4)),
    "nb": (TEXT.weighted("nb").normalized(), SubsetTree(0.4).normalized()),
    "centered": (TEXT.centered(), SubsetTree(0.4)),
}


def of_columns(name):
    text, tree = TERMS[name]
    return Columns({"text": text, "tree": tree})


def slow_matrix(name, left, right):
    """k between the examples `left` and `right`, with the features of the old examples, from the definition."""
    text, tree = TERMS[name]
    batch = text.batch(np.array(WORDS)[OLD].tolist())
    features, _ = FitContext(Y[OLD], np.array([1])).fit(text, batch)
    each = [features.transform(text.batch(np.array(WORDS)[rows].tolist())).to_csr().toarray() for rows in (left, right)]
    return each[0] @ each[1].T + tree(np.array(TREES)[left].tolist(), np.array(TREES)[right].tolist())


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("solver", ["auto", treille.solvers.SMO()], ids=str)
def test_the_optimum_and_the_decisions_are_those_of_the_matrix_by_definition(name, solver):
    options = {"tol": 1e-8, "max_epochs": 100_000, "solver": solver}
    model = SVC(of_columns(name), **options).fit(TABLE[OLD], Y[OLD])
    exact = SVC("precomputed", **options).fit(slow_matrix(name, OLD, OLD), Y[OLD])
    assert model.plan_.space.name == "gram"
    assert model.report_.primal == pytest.approx(exact.report_.primal, rel=1e-7)
    expected = exact.decision_function(slow_matrix(name, ~OLD, OLD))
    assert np.allclose(model.decision_function(TABLE[~OLD]), expected, atol=1e-3)
    assert np.allclose(model.explain_all(TABLE[~OLD])[0].scores, model.decision_function(TABLE[~OLD])[:1])


@pytest.mark.parametrize("name", TERMS)
def test_the_model_is_saved_and_pickled_with_the_features_of_its_terms(name, tmp_path):
    model = SVC(of_columns(name)).fit(TABLE[OLD], Y[OLD])
    model.save(tmp_path / "m")
    for again in (treille.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        assert np.allclose(again.decision_function(TABLE), model.decision_function(TABLE), rtol=1e-12)
        assert repr(again.plan_.kernel) == repr(model.plan_.kernel)


@pytest.mark.parametrize(
    "kernel",
    [
        TEXT.weighted("idf") + Subsequence(2),
        2.0 * (TEXT.weighted("idf") + Subsequence(2)).normalized(),
        TEXT.weighted("idf").normalized() * Subsequence(2).normalized(),
        (TEXT.weighted("idf") + Subsequence(2)) ** 2,
        TEXT.weighted("idf").normalized() + (NGram(2).centered() + Subsequence(2)),
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "model", [SVC(), SVR(), Ridge(), LogisticRegression(), OneClassSVM(), SVC(space="nystrom")], ids=repr
)
def test_every_estimator_trains_on_sums_products_and_multiples(kernel, model, tmp_path):
    model.set_params(kernel=kernel).fit(WORDS, *([] if isinstance(model, OneClassSVM) else [Y]))
    model.save(tmp_path / "m")
    again = treille.load(tmp_path / "m")
    assert again.predict(WORDS).tolist() == pytest.approx(model.predict(WORDS).tolist())


def test_cross_validation_weighs_features_by_the_examples_of_the_fold():
    folds = KFold(4)
    grid = GridSearchCV(SVC(of_columns("idf"), tol=1e-7), {"C": [0.1, 1.0]}, cv=folds, error_score="raise").fit(
        TABLE, Y
    )
    search = SVCCV(of_columns("idf"), Cs=[0.1, 1.0], cv=folds, tol=1e-7).fit(TABLE, Y)
    expected, found = grid.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"]
    assert found.tolist() == pytest.approx(expected.tolist())


def test_weights_of_what_has_no_features_are_refused():
    for kernel in (Subsequence(2).centered(), (NGram(2) + Subsequence(2)).weighted("idf")):
        with pytest.raises(InputError, match=r"cannot be used by an estimator|has no explicit features to weigh"):
            SVC(kernel).fit(WORDS, Y)


@pytest.mark.parametrize("options", [{}, {"space": "nystrom"}, {"solver": treille.solvers.SMO()}], ids=str)
def test_weights_that_differ_by_class_have_no_single_matrix(options):
    kernel = TEXT.weighted("nb") + Subsequence(2)
    with pytest.raises(InputError, match="has other weights for each class, so there is no single kernel matrix"):
        SVC(kernel, **options).fit(WORDS, np.arange(N) % 3)


def test_a_file_without_the_features_of_its_terms_is_refused(tmp_path):
    from treille.io.model import read_model, write_model

    SVC(of_columns("idf")).fit(TABLE, Y).save(tmp_path / "m")
    spec, arrays = read_model(tmp_path / "m")
    for change in ({"frozen": []}, {"frozen": [{}]}, {"frozen": None}):
        write_model(tmp_path / "m", spec | change, arrays)
        with pytest.raises(InputError, match=f"^{tmp_path}/m: "):
            treille.load(tmp_path / "m")
    weights = arrays["frozen.0.column_weights"]
    write_model(tmp_path / "m", spec, arrays | {"frozen.0.column_weights": np.vstack([weights, weights])})
    with pytest.raises(InputError, match=f"^{tmp_path}/m: .* has other weights for each class"):
        treille.load(tmp_path / "m")
