"""SVC with kernels that multiply their matrix fast: cutting planes find the same machine as on features."""

import numpy as np
import pytest

import treille
from treille import SVC
from treille.kernels import AllSubstrings, NGram
from treille.solvers import CuttingPlane
from treille.testing import check_estimator

IMPLICIT, EXPLICIT = AllSubstrings(0.5, max_length=4), NGram(4, min_n=1, order_weights=[0.5, 0.25, 0.125, 0.0625])


def examples(n=80, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    texts = ["".join(rng.choice(list("abcdef"[k:]), rng.integers(5, 15))) for k in codes]
    return texts, np.where(rng.random(n) < 0.1, rng.integers(0, n_classes, n), codes)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_machine_equals_the_machine_on_features(n_classes, loss, fit_intercept):
    X, y = examples(n_classes=n_classes)
    new, options = examples(20, n_classes, seed=1)[0], {"loss": loss, "fit_intercept": fit_intercept, "tol": 1e-7}
    ours = SVC(IMPLICIT.normalized(), **options, max_epochs=10_000).fit(X, y)
    theirs = SVC(EXPLICIT.normalized(), **options, max_epochs=10**6).fit(X, y)
    assert (ours.plan_.space.name, theirs.plan_.space.name) == ("product", "rows")
    assert ours.report_.primal == pytest.approx(theirs.report_.primal, rel=1e-6)
    np.testing.assert_allclose(ours.decision_function(new), theirs.decision_function(new), atol=3e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=3e-3)


def test_weights_of_classes_and_examples_count_as_on_features():
    X, y = examples()
    weights = np.random.default_rng(2).uniform(0, 3, len(X))
    ours, theirs = (
        SVC(kernel, class_weight="balanced", tol=1e-7, max_epochs=10**5).fit(X, y, sample_weight=weights)
        for kernel in (IMPLICIT, EXPLICIT)
    )
    assert ours.report_.primal == pytest.approx(theirs.report_.primal, rel=1e-6)


def test_a_kernel_with_features_gives_weights_of_features():
    X, y = examples()
    ours, theirs = (SVC(NGram(3).normalized(), solver=s, tol=1e-6).fit(X, y) for s in (CuttingPlane(), "auto"))
    assert ours.plan_.space.name == "product"
    assert ours.plan_.solver_why == "as given"
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=3e-3)
    assert len(ours.top_features(3)) == 2


@pytest.mark.parametrize("solver", ["auto", CuttingPlane(max_seconds=60)], ids=repr)
def test_models_are_read_back(solver, tmp_path):
    X, y = examples(n_classes=3)
    model = SVC(AllSubstrings(0.5).normalized(), solver=solver).fit(X, y)
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    new = examples(20, 3, seed=1)[0]
    assert np.array_equal(again.decision_function(new), model.decision_function(new))
    assert again.report_ == model.report_.timeless()
    assert repr(again.solver) == repr(solver)
    assert again.plan_.kernel_why == "from the model file"


def test_the_battery_passes():
    X, y = examples(60)
    check_estimator(SVC(AllSubstrings(0.5).normalized(), tol=1e-6), X, y)


def test_without_features_there_are_no_weights_of_features():
    model = SVC(AllSubstrings()).fit(["ab", "cd"], [0, 1])
    with pytest.raises(AttributeError, match="has no explicit features"):
        _ = model.coef_
