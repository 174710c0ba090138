"""LearnedSVC and LearnedRidge: attributes, files, and refusals."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

import treille
from treille import InputError, LearnedRidge, LearnedRidgeCV, LearnedSVC, LearnedSVCCV
from treille.kernels import Conjunctions, Gappy, Linear, Mismatch, NGram, Rational, Subpath, SubsetTree

RANDOM = np.random.default_rng(0)
TEXTS = ["".join(RANDOM.choice(list("abc"), 12)) + ("ab" * 3 if k % 2 else "ca" * 2) for k in range(40)]
LABELS = ["x" if k % 2 else "y" for k in range(40)]
THREE = [("x", "y", "z")[k % 3] for k in range(40)]
NUMBERS = np.array([text.count("ab") - 0.5 * text.count("cc") for text in TEXTS], float)


def test_the_predictor_at_the_optimum_equals_the_solution_of_the_learning_problem():
    model = LearnedSVC(NGram(2), C=0.3, tol=1e-7).fit(TEXTS, LABELS)
    assert model.report_.primal == pytest.approx(model.learning_report_.primal, rel=1e-5)
    model = LearnedRidge(NGram(2), alpha=2.0, tol=1e-9).fit(TEXTS, NUMBERS)
    assert model.report_.primal == pytest.approx(model.learning_report_.primal, rel=1e-6)


@pytest.mark.parametrize("groups", ["features", "parts", len])
@pytest.mark.parametrize("labels", [LABELS, THREE])
def test_kernel_is_an_ordinary_kernel_with_the_same_values(groups, labels):
    model = LearnedSVC(NGram(3, min_n=1), C=0.3, groups=groups).fit(TEXTS, labels)
    tables, kernels = model.learned_weights_, model.kernel_
    if labels is LABELS:
        tables, kernels = {"x": tables}, {"x": kernels}
    for k, (label, kernel) in enumerate(kernels.items()):
        K = kernel(TEXTS)
        assert np.trace(K) == pytest.approx(len(TEXTS))
        assert sum(each.share for each in tables[label]) == pytest.approx(1.0)
        rows = model.features_.transform(NGram(3, min_n=1).batch(TEXTS))
        rows = rows.problems[k] if labels is THREE else rows
        np.testing.assert_allclose(rows.gram(None, 1), K, atol=1e-9)
        again = treille.kernels.Kernel.from_spec(kernel.spec())
        np.testing.assert_array_equal(again(TEXTS), K)


def test_the_transducer_defines_the_learned_kernel():
    model = LearnedSVC(NGram(2), C=1.0).fit(TEXTS, LABELS)
    np.testing.assert_allclose(Rational(model.transducer())(TEXTS[:5]), model.kernel_(TEXTS[:5]), atol=1e-9)
    with pytest.raises(InputError, match="does not count n-grams"):
        LearnedSVC(Gappy(2, max_gap=1)).fit(TEXTS, LABELS).transducer()


@pytest.mark.parametrize(
    "kernel",
    [
        NGram(2),
        Mismatch(3, 1, alphabet="abc"),
        Gappy(2, max_gap=2),
        NGram(2).weighted("idf").normalized(),
        NGram(2) + Gappy(2, max_gap=1),
    ],
)
@pytest.mark.parametrize("spread", ["optimal", "even"])
def test_saved_and_loaded_models_are_the_same(kernel, spread, tmp_path):
    for model, y in ((LearnedSVC(kernel, spread=spread), THREE), (LearnedRidge(kernel, spread=spread), NUMBERS)):
        model.fit(TEXTS, y).save(tmp_path / "m.treille")
        loaded = treille.load(tmp_path / "m.treille")
        np.testing.assert_array_equal(loaded.predict(TEXTS), model.predict(TEXTS))
        assert loaded.learned_weights_ == model.learned_weights_
        assert loaded.learning_report_ == model.learning_report_.timeless()
        one, other = loaded.kernel_, model.kernel_
        assert repr(one) == repr(other)


def test_a_function_of_names_cannot_be_saved_but_its_kernel_can(tmp_path):
    model = LearnedSVC(NGram(2, min_n=1), groups=len).fit(TEXTS, LABELS)
    with pytest.raises(InputError, match="groups is a function, which a model file cannot hold"):
        model.save(tmp_path / "m.treille")
    treille.SVC(model.kernel_).fit(TEXTS, LABELS).save(tmp_path / "m.treille")
    assert treille.load(tmp_path / "m.treille").predict(TEXTS).tolist() == model.predict(TEXTS).tolist()


def test_lattices_and_conjunctions_have_learned_weights_too():
    lattices = treille.Lattices([treille.Fst.from_string(text[:6]) for text in TEXTS])
    model = LearnedSVC(NGram(2), C=1.0).fit(lattices, LABELS)
    texts = LearnedSVC(NGram(2), C=1.0).fit([text[:6] for text in TEXTS], LABELS)
    assert model.learning_report_.primal == pytest.approx(texts.learning_report_.primal, rel=2e-3)
    sets = [{f"{a}{text.count(a) % 2}" for a in "abc"} for text in TEXTS]
    labels = [int("a0" in each and "b0" in each) for each in sets]
    model = LearnedSVC(Conjunctions(2), C=100.0).fit(sets, labels)
    assert model.score(sets, labels) == 1.0


def test_the_predictor_may_have_a_C_of_its_own():
    whole = LearnedSVC(NGram(3), C=0.01).fit(TEXTS, LABELS)
    model = LearnedSVC(NGram(3), C=10.0, learning_C=0.01).fit(TEXTS, LABELS)
    assert model.kernel_(TEXTS) == pytest.approx(whole.kernel_(TEXTS))
    again = treille.SVC(whole.kernel_, C=10.0).fit(TEXTS, LABELS)
    assert model.report_.primal == pytest.approx(again.report_.primal, rel=2e-3)
    with pytest.raises(InputError, match="learning_C is 0"):
        LearnedSVC(NGram(3), learning_C=0).fit(TEXTS, LABELS)


def test_even_shares_are_equal():
    model = LearnedSVC(NGram(2), C=0.3, spread="even").fit(TEXTS, LABELS)
    shares = {round(each.share, 12) for each in model.learned_weights_}
    assert len(shares) == 1
    assert shares.pop() == pytest.approx(1 / len(model.learned_weights_))


@pytest.mark.parametrize("learn", ["alignment", "alignment-nnls"])
@pytest.mark.parametrize("groups", ["features", "parts"])
def test_shares_by_alignment_sum_to_one(learn, groups):
    model = LearnedRidge(NGram(2, min_n=1), learn=learn, groups=groups).fit(TEXTS, NUMBERS)
    assert sum(each.share for each in model.learned_weights_) == pytest.approx(1.0)
    if groups == "features":
        assert "ab" in [each.name for each in model.learned_weights_[:3]]


def test_warm_and_cold_starts_meet_along_the_path():
    values = [0.01, 0.1, 1.0]
    path = LearnedSVC(NGram(2), tol=1e-6).path(TEXTS, LABELS, values)
    for row, C in enumerate(values):
        model = LearnedSVC(NGram(2), C=C, tol=1e-6).fit(TEXTS, LABELS)
        assert path.reports[row].primal == pytest.approx(model.learning_report_.primal, rel=1e-5)
    with pytest.raises(InputError, match="label is None, expected one of 'x', 'y', 'z'"):
        LearnedSVC(NGram(2)).path(TEXTS, THREE, values)
    assert LearnedSVC(NGram(2)).path(TEXTS, THREE, values, label="z").shares.shape[0] == 3


def test_the_path_is_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    ax = LearnedSVC(NGram(2)).path(TEXTS, LABELS, [0.01, 0.1, 1.0]).plot(count=2)
    assert ax.get_xlabel() == "C"
    assert len(ax.get_lines()) == 2


def test_it_works_in_cross_validation_and_on_trees_and_numbers():
    assert cross_val_score(LearnedSVC(NGram(2)), TEXTS, LABELS, cv=3).mean() > 0.8
    trees = ["(a (b c))", "(a (b d))", "(a (e c))", "(a (e d))"] * 3
    assert (
        LearnedSVC(Subpath(1.0), C=10.0).fit(trees, ["b", "b", "e", "e"] * 3).score(trees, ["b", "b", "e", "e"] * 3)
        == 1
    )
    X = RANDOM.normal(size=(30, 5))
    X[:, 3] = 0
    model = LearnedRidge(Linear(), alpha=0.1).fit(X, X[:, 1])
    assert "1 are 0 in all examples" in model.plan_.sizes
    assert len(model.learned_weights_) >= 1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"trace": 0.0}, "trace is 0.0, expected a positive number"),
        ({"C": -1.0}, "C is -1.0"),
        ({"groups": "orders"}, "groups is 'orders', expected 'features', 'parts', or a function"),
        ({"groups": "parts"}, "has one part only"),
        ({"learn": "all"}, "learn is 'all', expected 'risk', 'alignment' or 'alignment-nnls'"),
        ({"spread": "odd"}, "spread is 'odd', expected 'optimal' or 'even'"),
        ({"kernel": SubsetTree()}, "has no explicit features to weigh"),
        ({"space": "nystrom"}, "space is 'nystrom', expected 'auto'"),
    ],
)
def test_parameters_out_of_range_are_refused(change, said):
    with pytest.raises(InputError, match=said):
        clone(LearnedSVC(NGram(2))).set_params(**change).fit(TEXTS, LABELS)


def test_data_without_information_are_refused():
    with pytest.raises(InputError, match="all labels are 'x'"):
        LearnedSVC(NGram(2)).fit(TEXTS, ["x"] * 40)
    with pytest.raises(InputError, match="target 3 is NaN or infinite"):
        LearnedRidge(NGram(2)).fit(TEXTS, np.where(np.arange(40) == 3, np.nan, NUMBERS))
    with pytest.raises(InputError, match=r"all targets are 2\.0"):
        LearnedRidge(NGram(2)).fit(TEXTS, np.full(40, 2.0))
    with pytest.raises(InputError, match=r"no example has a feature of NGram\(n=50\)"):
        LearnedSVC(NGram(50)).fit(TEXTS, LABELS)
    with pytest.raises(InputError, match="its own weights for each class"):
        LearnedSVC(NGram(2).weighted("nb")).fit(TEXTS, THREE)
    with pytest.raises(InputError, match="only LearnedSVC and LearnedRidge"):
        treille.SVC(NGram(2).weighted("learned")).fit(TEXTS, LABELS)


def test_one_thread_equals_many():
    one, two = (LearnedSVC(NGram(3), n_jobs=jobs).fit(TEXTS, THREE) for jobs in (1, 2))
    assert one.learned_weights_ == two.learned_weights_


def test_a_limit_that_ends_learning_warns():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        LearnedSVC(NGram(3), C=100.0, max_epochs=20, tol=1e-14).fit(TEXTS, LABELS)
    assert any(issubclass(each.category, treille.ConvergenceWarning) for each in caught)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (NGram(2), {}),
        (NGram(2, min_n=1), {"groups": "parts"}),
        (NGram(2).weighted("idf").normalized(), {"spread": "even"}),
        (NGram(2), {"learn": "alignment"}),
        (NGram(2), {"learning": 0.1}),
    ],
)
def test_cross_validation_has_the_scores_of_a_grid_search(kernel, options):
    Cs, options = [0.05, 0.5], options | {"max_epochs": 50_000}
    learning = options.pop("learning", None)
    for y in (LABELS, THREE):
        scoring = "roc_auc" if y is LABELS else "accuracy"
        ours = LearnedSVCCV(kernel, Cs=Cs, cv=3, tol=1e-8, scoring=scoring, learning_C=learning, **options).fit(
            TEXTS, y
        )
        theirs = GridSearchCV(
            LearnedSVC(kernel, tol=1e-8, learning_C=learning, **options), {"C": Cs}, cv=3, scoring=scoring
        ).fit(TEXTS, y)
        for f in range(3):
            name = f"split{f}_test_score"
            np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-6)
        assert ours.best_params_ == theirs.best_params_
        np.testing.assert_array_equal(ours.predict(TEXTS), theirs.predict(TEXTS))
    ours = LearnedRidgeCV(kernel, alphas=[0.1, 1.0], cv=3, tol=1e-10, learning_alpha=learning, **options).fit(
        TEXTS, NUMBERS
    )
    theirs = GridSearchCV(
        LearnedRidge(kernel, tol=1e-10, learning_alpha=learning, **options), {"alpha": [0.1, 1.0]}, cv=3
    ).fit(TEXTS, NUMBERS)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-6)
    assert ours.learned_weights_
