"""Features of data in parts: frequent ones only, as a transformer, and for prediction."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from small_parts import divided, some_texts

from treille import SVC, SVR, Features, InputError, LogisticRegression, Ridge
from treille.kernels import NGram
from treille.scale import Part, Parts
from treille.solvers import DualCD, Problem
from treille.solvers.problem import Hinge
from treille.spaces import RowsSpace
from treille.spaces.functions import LinearFunctions

X, y = some_texts(n_classes=3)


def restricted(kernel, least):
    """The features of all examples that occur in at least so many, and their rows; norms are those of all features."""
    features, rows = kernel.fit_features(kernel.batch(X))
    kept = np.flatnonzero(rows.frequencies(np.ones((len(X), 1)))[:, 0] >= least)
    ids = np.full(features.n_features, -1)
    ids[kept] = np.arange(len(kept))
    return features.restrict(kept), rows.renumbered(ids, len(kept))


@pytest.mark.parametrize("least", [2, 4, 8])
def test_min_count_keeps_the_features_that_occur_in_so_many_examples(least, small_blocks):
    model = SVC(NGram(3), tol=1e-6).fit(divided(X, y, min_count=least))
    features, rows = restricted(NGram(3), least)
    names = {features.name(id) for id in range(features.n_features)}
    assert {model.features_.name(id) for id in range(model.features_.n_features)} == names
    space = replace(RowsSpace.build(NGram(3), NGram(3).batch(X)), features=features, rows=rows)
    whole = DualCD().solve(Problem(Hinge(), y, np.ones(len(X)), classes=np.arange(3)), space, tol=1e-6)
    assert model.report_.primal == pytest.approx(whole.report.primal, rel=2e-6)
    expected = LinearFunctions(features, whole.weights, whole.intercept).outputs(NGram(3).batch(X))
    assert np.allclose(model.decision_function(X), expected, atol=0.01)


def test_the_norms_of_examples_include_features_that_min_count_leaves_out(small_blocks):
    kernel = NGram(3).normalized()
    model = SVC(kernel, tol=1e-6).fit(divided(X, y, min_count=3))
    features, rows = restricted(NGram(3), 3)
    phi = rows.normalized().to_csr()
    assert np.allclose(features.transform(NGram(3).batch(X)).normalized().to_csr().toarray(), phi.toarray())
    order = [
        [features.name(i) for i in range(len(model.coef_[0]))].index(model.features_.name(i))
        for i in range(len(model.coef_[0]))
    ]
    weights = np.empty_like(model.coef_)
    weights[:, order] = model.coef_
    assert np.allclose(phi @ weights.T + model.intercept_, model.decision_function(X))


def test_document_frequencies_with_min_count_are_those_of_the_features_that_are_left(small_blocks):
    model = SVC(NGram(2).weighted("idf"), tol=1e-6).fit(divided(X, y, min_count=4))
    features, rows = restricted(NGram(2), 4)
    often = rows.frequencies(np.ones((len(X), 1)))[:, 0]
    expected = {features.name(i): np.log((1 + len(X)) / (1 + n)) + 1 for i, n in enumerate(often)}
    found = {model.features_.name(i): weight for i, weight in enumerate(model.features_.weights[0])}
    assert found == pytest.approx(expected)


def test_the_plan_says_that_rare_features_were_left_out():
    plan = SVC(NGram(3)).fit(divided(X, y, min_count=5)).plan_
    assert "as given, with only the features that occur in at least 5 examples" in str(plan)
    assert "features in at least 5 examples each" in plan.sizes
    assert "at least" not in str(SVC(NGram(3)).fit(divided(X, y)).plan_)


def test_min_count_that_no_feature_reaches_is_refused():
    with pytest.raises(InputError, match=r"no feature of NGram\(n=3\) occurs in 500 examples: use a smaller min_count"):
        SVC(NGram(3)).fit(divided(X, y, min_count=500))


@pytest.mark.parametrize(
    "kernel",
    [
        NGram(2),
        NGram(3).normalized(),
        NGram(2).weighted("idf"),
        NGram(1) + NGram(2).weighted("nb"),
        NGram(1).balanced(),
    ],
    ids=repr,
)
def test_features_fitted_on_parts_are_those_of_all_examples(kernel):
    labels = y > 0
    parts = divided(X, labels)
    fitted, whole = Features(kernel).fit(parts), Features(kernel).fit(X, labels)
    names, expected = fitted.get_feature_names_out().tolist(), whole.get_feature_names_out().tolist()
    assert sorted(names) == sorted(expected)
    matrices = list(fitted.transform(parts))
    assert [matrix.shape[0] for matrix in matrices] == [20] * 6
    found = np.vstack([matrix.toarray() for matrix in matrices])[:, np.argsort(names)]
    assert np.allclose(found, whole.transform(X).toarray()[:, np.argsort(expected)])
    assert np.allclose(fitted.transform(X).toarray()[:, np.argsort(names)], found)


def test_features_of_parts_are_computed_when_they_are_asked_for():
    opened = []

    def parts():
        for number in range(3):
            opened.append(number)
            yield Part(X[:5])

    data = Parts(parts)
    fitted = Features(NGram(2)).fit(data)
    opened.clear()
    matrices = fitted.transform(data)
    assert opened == []
    next(matrices)
    assert opened == [0]
    assert sum(1 for _ in fitted.fit_transform(data)) == 3


def test_features_of_parts_need_labels_for_weights_by_class_only():
    Features(NGram(1)).fit(divided(X))
    with pytest.raises(InputError, match="part 0: has no labels, which training needs"):
        Features(NGram(1).weighted("nb")).fit(divided(X))
    with pytest.raises(InputError, match="these are in parts: use fit, then transform"):
        Features(NGram(1)).fit_rows(divided(X))


def test_frequent_features_of_parts_are_kept():
    fitted = Features(NGram(3)).fit(divided(X, min_count=5))
    features, _ = restricted(NGram(3), 5)
    assert sorted(fitted.get_feature_names_out()) == sorted(map(features.name, range(features.n_features)))


@pytest.mark.parametrize(
    "estimator", [SVC(NGram(2)), LogisticRegression(NGram(2)), SVR(NGram(2)), Ridge(NGram(2))], ids=repr
)
def test_predictions_take_parts(estimator):
    model = estimator.fit(X, y)
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, method):
            found = getattr(model, method)(divided(X, size=[50, 0, 70]))
            assert (found == getattr(model, method)(X)).all()
    assert len(model.predict(Parts.of([]))) == 0


def test_bad_examples_are_named_with_their_part_in_predictions():
    model = SVC(NGram(2)).fit(X, y)
    with pytest.raises(InputError, match="part 1: item 1 is None, expected str"):
        model.predict(Parts.of([X[:2], ["ab", None]]))


def test_predictions_of_parts_hold_one_part_at_a_time():
    model = SVC(NGram(2)).fit(X, y)

    def parts():
        for _ in range(40):
            yield Part(["abcdefgh" * 1000 for _ in range(20)])

    tracemalloc.start()
    model.predict(Parts(parts))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4_000_000  # all texts together: 6.4 MB
