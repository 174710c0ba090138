"""SVR and Ridge as regressors of scikit-learn, with every solver."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import DataConversionWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge as LinearRidge
from sklearn.preprocessing import StandardScaler

import treille
from treille import SVR, InputError, Ridge
from treille.kernels import AllSubstrings, NGram
from treille.solvers import SMO, Cholesky, ConjugateGradient, DualCD, FiniteNewton, NormalEquations, Problem
from treille.solvers.problem import REGRESSION_LOSSES, EpsilonInsensitive
from treille.spaces import Nystrom, RowsSpace
from treille.testing import check_estimator

RANDOM = np.random.default_rng(0)
TEXTS = ["".join(RANDOM.choice(list("abcd"), RANDOM.integers(1, 15))) for _ in range(60)]
Y = np.array([t.count("a") - t.count("bc") for t in TEXTS]) + 0.2 * RANDOM.normal(size=60)
KNOWN = list(map(repr, REGRESSION_LOSSES))
IMPLICIT = AllSubstrings(0.5, max_length=4)


def name(value):
    """An id without memory addresses, the same in every process."""
    return re.sub(r" at 0x\w+", "", repr(value))


def both(x, y):
    """A kernel as a function."""
    return float(sum(x.count(c) * y.count(c) for c in "abcd"))


@pytest.mark.parametrize(
    "model",
    [
        SVR(NGram(2), C=0.5),
        SVR(NGram(2).normalized(), loss="squared_epsilon_insensitive", epsilon=0, fit_intercept=False),
        SVR(NGram(2).normalized(), solver=DualCD(shrinking=False)),
        SVR(IMPLICIT.normalized()),
        SVR(NGram(2), solver=SMO(cache_mb=0.01), loss="squared_epsilon_insensitive", C=0.1),
        Ridge(),
        Ridge(NGram(2), alpha=0.1),
        Ridge(NGram(3).normalized(), solver=ConjugateGradient(), fit_intercept=False),
        Ridge(NGram(2), solver=NormalEquations(), fit_intercept=True),
        Ridge(NGram(2).normalized(), solver=Cholesky(), alpha=0.01),
        Ridge(IMPLICIT),
        Ridge(IMPLICIT, solver=Cholesky(), fit_intercept=True),
        SVR(NGram(2), fit_intercept="free"),
    ],
    ids=name,
)
def test_the_laws_of_regressors_hold(model):
    check_estimator(model, TEXTS, Y)


@pytest.mark.parametrize("kernel", [NGram(2), NGram(3).normalized(), IMPLICIT, both], ids=["few", "many", "none", "f"])
@pytest.mark.parametrize("solver", ["auto", NormalEquations(), ConjugateGradient(), Cholesky()], ids=name)
@pytest.mark.parametrize("fit_intercept", ["free", False])
def test_ridge_equals_that_of_scikit_learn_with_every_solver(kernel, solver, fit_intercept):
    implicit = kernel in (IMPLICIT, both)
    if implicit and (isinstance(solver, NormalEquations) or (isinstance(solver, ConjugateGradient) and kernel is both)):
        pytest.skip("there are no features")
    weights = RANDOM.integers(0, 3, 60) + 0.5
    model = Ridge(kernel, 0.3, fit_intercept=fit_intercept, tol=1e-15, solver=solver).fit(TEXTS, Y, weights)
    assert model.report_.status == "converged"
    if implicit:
        K = IMPLICIT(TEXTS) if kernel is IMPLICIT else np.array([[both(x, y) for y in TEXTS] for x in TEXTS])
        values, vectors = np.linalg.eigh(K)
        X = vectors * np.sqrt(np.maximum(values, 0))
    else:
        X = treille.Features(kernel).fit_transform(TEXTS).toarray()
    theirs = LinearRidge(alpha=0.3, fit_intercept=bool(fit_intercept), solver="cholesky").fit(X, Y, weights)
    np.testing.assert_allclose(model.predict(TEXTS), theirs.predict(X), atol=2e-5)
    if not fit_intercept:
        K = X @ X.T
        kernel_ridge = KernelRidge(alpha=0.3, kernel="precomputed").fit(K, Y, weights)
        np.testing.assert_allclose(model.predict(TEXTS), kernel_ridge.predict(K), atol=2e-5)


@pytest.mark.parametrize("solver", [DualCD(), FiniteNewton(), SMO()], ids=name)
def test_solvers_of_svr_find_the_optimum_of_ridge(solver):
    several = np.column_stack([Y, 1 - Y**2])
    options = {"alpha": 0.3, "fit_intercept": True, "tol": 1e-8, "max_epochs": 100_000}
    model, expected = (Ridge(NGram(2), solver=s, **options).fit(TEXTS, several) for s in (solver, "auto"))
    assert model.report_.primal == pytest.approx(expected.report_.primal, rel=1e-7)
    np.testing.assert_allclose(model.predict(TEXTS), expected.predict(TEXTS), atol=1e-2)


def test_ridge_does_not_change_a_precomputed_matrix():
    K = IMPLICIT(TEXTS)
    before = K.copy()
    model = Ridge("precomputed", tol=1e-12).fit(K, Y)
    assert np.array_equal(K, before)
    expected = Ridge(IMPLICIT, solver=Cholesky(), tol=1e-12).fit(TEXTS, Y)
    np.testing.assert_allclose(model.predict(K), expected.predict(TEXTS), rtol=1e-8)


def test_svr_on_a_precomputed_matrix_equals_svr_on_its_kernel():
    K = IMPLICIT(TEXTS)
    model, expected = SVR("precomputed", tol=1e-8).fit(K, Y), SVR(IMPLICIT, tol=1e-8).fit(TEXTS, Y)
    np.testing.assert_allclose(model.predict(K), expected.predict(TEXTS), atol=1e-4)


def test_several_targets_come_back_in_columns(tmp_path):
    targets = np.column_stack([Y, -2 * Y, Y**2])
    for solver in (NormalEquations(), ConjugateGradient(), Cholesky()):
        model = Ridge(NGram(2), solver=solver, tol=1e-12).fit(TEXTS, targets)
        assert model.predict(TEXTS).shape == (60, 3)
        assert model.coef_.shape == (3, model.features_.n_features)
        assert model.intercept_.shape == (3,)
        for k in range(3):
            one = Ridge(NGram(2), solver=solver, tol=1e-12).fit(TEXTS, targets[:, k])
            np.testing.assert_allclose(model.predict(TEXTS)[:, k], one.predict(TEXTS), atol=1e-4)
        model.save(tmp_path / "m.treille")
        assert np.array_equal(treille.load(tmp_path / "m.treille").predict(TEXTS), model.predict(TEXTS))
    column = Ridge(NGram(2)).fit(TEXTS, Y[:, None])
    assert column.predict(TEXTS).shape == (60, 1)
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert SVR(NGram(2)).fit(TEXTS, Y[:, None]).predict(TEXTS).shape == (60,)


@pytest.mark.parametrize("model", [SVR(NGram(2)), Ridge(NGram(2))], ids=name)
def test_attributes_are_those_of_scikit_learn(model):
    model = clone(model).fit(TEXTS, Y)
    X = treille.Features(NGram(2)).fit_transform(TEXTS)
    assert model.coef_.shape == (X.shape[1],)
    np.testing.assert_allclose(X @ model.coef_ + model.intercept_, model.predict(TEXTS), atol=1e-9)
    assert isinstance(model.intercept_, float)
    assert model.n_iter_ == model.report_.epochs
    assert model.features_.name(0)
    assert model.score(TEXTS, Y) > 0.5


def test_targets_may_be_a_series_and_the_target_may_be_scaled():
    model = Ridge(NGram(2)).fit(TEXTS, pd.Series(Y, index=range(100, 160)))
    assert np.array_equal(model.predict(TEXTS), Ridge(NGram(2)).fit(TEXTS, Y).predict(TEXTS))
    scaled = TransformedTargetRegressor(SVR(NGram(2)), transformer=StandardScaler(), check_inverse=False)
    scaled.fit(np.array(TEXTS), 1000 * Y + 5000)
    assert scaled.score(np.array(TEXTS), 1000 * Y + 5000) > 0.5


@pytest.mark.parametrize(
    ("model", "space", "solver"),
    [
        (SVR(NGram(2)), "rows", "DualCD()"),
        (SVR(IMPLICIT), "gram", "SMO()"),
        (SVR(NGram(2), solver=SMO()), "gram", "SMO()"),
        (SVR(IMPLICIT, space="nystrom"), "nystrom", "DualCD()"),
        (Ridge(NGram(1)), "rows", "NormalEquations()"),
        (Ridge(NGram(5)), "rows", "ConjugateGradient()"),
        (Ridge(IMPLICIT), "product", "ConjugateGradient()"),
        (Ridge(both), "gram", "Cholesky()"),
        (Ridge(NGram(2), solver=Cholesky()), "gram", "Cholesky()"),
    ],
    ids=name,
)
def test_the_plan_reports_space_and_solver(model, space, solver, tmp_path):
    model = clone(model).fit(TEXTS, Y)
    assert (model.plan_.space.name, repr(model.plan_.solver)) == (space, solver)
    assert model.plan_.sizes
    if not callable(model.kernel) or model.kernel is not both:
        model.save(tmp_path / "m.treille")
        again = treille.load(tmp_path / "m.treille")
        assert np.array_equal(again.predict(TEXTS), model.predict(TEXTS))
        assert again.plan_.kernel_why == "from the model file"
        assert again.report_ == model.report_.timeless()


@pytest.mark.parametrize("model", [SVR(IMPLICIT, space=Nystrom(20)), Ridge(IMPLICIT)], ids=name)
def test_models_of_examples_have_no_weights_of_features(model):
    model = clone(model).fit(TEXTS, Y)
    assert not hasattr(model, "coef_")


BAD_Y = [
    (None, r"targets are missing: fit\(X, y\) requires y to be passed"),
    (Y[:-1], "there are 60 examples but 59 targets"),
    (np.append(Y, 1), "there are 60 examples but 61 targets"),
    (np.where(np.arange(60) == 7, np.nan, Y), "target 7 is NaN or infinite, expected a number"),
    (np.where(np.arange(60) == 9, np.inf, Y), "target 9 is NaN or infinite, expected a number"),
    ([str(v) for v in Y], "target 0 is '.*', expected a number; to learn classes, use SVC"),
    ([None, *Y[1:]], "target 0 is NaN or infinite"),
    (["a", *Y[1:].tolist()], "target 0 is 'a', expected a number"),
    (np.array(["a", *Y[1:]], dtype=object), "y holds something that is not a number"),
    (Y + 1j, "targets are complex numbers, expected real ones"),
    (np.empty((60, 0)), r"targets have the shape \(60, 0\), expected a number"),
    (np.zeros((60, 1, 1)), r"targets have the shape \(60, 1, 1\)"),
    (3.0, r"targets have the shape \(\)"),
]


@pytest.mark.parametrize(("y", "message"), BAD_Y, ids=[message for _, message in BAD_Y])
@pytest.mark.parametrize("model", [SVR(NGram(2)), Ridge(NGram(2))], ids=name)
def test_bad_targets_are_refused(model, y, message):
    with pytest.raises(InputError, match=message):
        model.fit(TEXTS, y)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SVR(C=0), "C is 0, expected a positive number"),
        (SVR(epsilon=-0.5), "epsilon is -0.5, expected a number of at least 0"),
        (SVR(epsilon=float("nan")), "epsilon is nan, expected a number of at least 0"),
        (SVR(epsilon=True), "epsilon is True"),
        (SVR(loss="hinge"), f"loss is 'hinge', expected {', '.join(KNOWN[:-1])} or {KNOWN[-1]}"),
        (SVR(solver="smo"), "solver is 'smo', expected 'auto' or a solver such as treille.solvers.DualCD"),
        (SVR(random_state=-1), "random_state is -1"),
        (SVR(kernel="rbf"), "there is no kernel 'rbf'"),
        (SVR(kernel=NGram(0)), "n"),
        (SVR(space="rows"), "space is 'rows', expected 'auto', 'nystrom' or treille.spaces.Nystrom"),
        (SVR(space=Nystrom(0)), "n_landmarks is 0, expected a whole number of at least 1"),
        (SVR(space="nystrom", solver=SMO()), r"space=Nystrom\(\) provides rows, which SMO does not use"),
        (
            SVR(NGram(2), fit_intercept="free", solver=DualCD()),
            "DualCD supports the intercepts False or True, not 'free'",
        ),
        (SVR(fit_intercept="yes"), "fit_intercept is 'yes', expected False, True or 'free'"),
        (SVR(IMPLICIT, solver=DualCD()), "DualCD needs explicit features"),
        (Ridge(alpha=0), "alpha is 0, expected a positive number"),
        (Ridge(alpha=np.inf), "alpha is inf, expected a positive number"),
        (Ridge(tol=0), "tol is 0, expected a positive number"),
        (Ridge(max_epochs=0), "max_epochs is 0"),
        (Ridge(solver="svd"), "solver is 'svd', expected 'auto' or a solver such as"),
        (Ridge(solver=DualCD()), "DualCD supports the intercepts False or True, not 'free'"),
        (SVR(solver=Cholesky()), "Cholesky solves problems with the losses SquaredError, not EpsilonInsensitive"),
        (
            Ridge(IMPLICIT, solver=NormalEquations()),
            "NormalEquations needs explicit features, which AllSubstrings.* does not",
        ),
        (Ridge(both, solver=ConjugateGradient()), "ConjugateGradient needs explicit features or fast products"),
    ],
    ids=name,
)
def test_bad_parameters_are_refused(model, message):
    with pytest.raises(InputError, match=message):
        model.fit(TEXTS, Y)


def test_svr_refuses_several_targets_and_names_ridge():
    with pytest.raises(InputError, match=r"targets have the shape \(60, 2\), expected one number per example: Ridge"):
        SVR(NGram(2)).fit(TEXTS, np.column_stack([Y, Y]))


def test_no_examples_are_refused():
    with pytest.raises(InputError, match="there are no examples: fit needs at least one"):
        Ridge(NGram(2)).fit([], [])


def test_svr_learns_the_residuals_of_the_mean():
    weights = RANDOM.integers(1, 4, 60)
    model = SVR(NGram(2).normalized(), tol=1e-8, max_epochs=10**5).fit(TEXTS, Y + 100, weights)
    mean = np.average(Y + 100, weights=weights)
    rows = RowsSpace.build(NGram(2).normalized(), NGram(2).batch(TEXTS))
    problem = Problem(EpsilonInsensitive(), Y + 100 - mean, 1.0 * weights)
    left = DualCD().solve(problem, rows, tol=1e-8, max_epochs=10**5)
    assert model.report_.primal == pytest.approx(left.report.primal, rel=1e-7)
    assert model.intercept_ == pytest.approx(left.intercept[0] + mean)
    for solver in (SMO(), "auto"):
        same = SVR(NGram(2).normalized(), tol=1e-8, max_epochs=10**5, solver=solver).fit(TEXTS, Y + 100, weights)
        assert same.report_.primal == pytest.approx(left.report.primal, rel=1e-7)


@pytest.mark.parametrize("model", [treille.Ridge(NGram(1)), treille.SVR(NGram(1), loss="squared_epsilon_insensitive")])
def test_targets_whose_squares_overflow_are_refused(model):
    with pytest.raises(InputError, match="the objective is not a finite number"):
        model.fit(["a", "b", "ab"], [1e170, 0.0, 1.0])
