"""Kernel learning finds the optimum of the paper's programs, with a proof, and a kernel whose ordinary problem has that optimum."""

import _thread
import threading
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from learning_twins import dual, primal, quadratic_program

from timing import processor_seconds
from treille import InputError
from treille.features import PerProblemRows, Rows
from treille.kernels import Linear
from treille.learning import learn_weights
from treille.solvers import SMO, ConjugateGradient, ConvergenceWarning, DualCD, Problem
from treille.solvers.problem import EpsilonInsensitive, Hinge, SquaredError, SquaredHinge
from treille.spaces import GramSpace, RowsSpace

LOSSES = pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), SquaredError()], ids=repr)
INTERCEPTS = pytest.mark.parametrize("intercept", [False, True, "free"])
TIGHT = {"tol": 1e-9, "max_epochs": 10**7}


def counts(n=40, p=25, seed=0):
    return np.random.default_rng(seed).poisson(0.6, (n, p)).astype(float)


def rows_of(X):
    return Rows.from_csr(sp.csr_matrix(X))


def posed(loss, X, C=1.0, intercept="free", seed=0):
    rng = np.random.default_rng(seed)
    C = np.broadcast_to(C, len(X))
    if loss.of_classes:
        codes = (X[:, 0] > rng.uniform(0, 1.5, len(X))).astype(int)
        codes[:2] = 0, 1
        return Problem(loss, codes, C, intercept, np.array([1]))
    return Problem(loss, X[:, 0] - X[:, 1] + rng.normal(size=len(X)), C, intercept)


def assert_best(problem, X, trace=2.0, groups=None, unique=True, **options):
    """Checks value, proof, and shares if they are unique, against the program."""
    options = TIGHT | {"trace": trace} | options
    if groups is None:
        [learned] = learn_weights(problem, rows_of(X), **options)
        assert learned.report.primal == pytest.approx(primal(problem, X, trace, learned), rel=1e-9)
    else:
        [learned] = learn_weights(problem, rows_of(X), groups, **options)
    value, shares = quadratic_program(problem, X, trace, groups)
    report = learned.report
    assert report.status == "converged"
    assert report.dual == pytest.approx(dual(problem, X, trace, learned.coefficients, groups), rel=1e-9)
    assert report.dual <= report.primal
    assert report.primal == pytest.approx(value, rel=1e-6)
    if unique:
        np.testing.assert_allclose(learned.shares, shares, atol=1e-4)
    each = np.arange(X.shape[1]) if groups is None else groups
    squares = np.bincount(each[each >= 0], (X**2).sum(axis=0)[each >= 0])
    assert learned.weights @ (X**2).sum(axis=0) == pytest.approx(trace)
    np.testing.assert_allclose(
        learned.weights[each >= 0], (trace * learned.shares / np.maximum(squares, 1e-9))[each[each >= 0]]
    )
    return learned


@LOSSES
@INTERCEPTS
@pytest.mark.parametrize("C", [0.03, 1.0, 30.0])
def test_features_have_the_optimum_of_the_program(loss, intercept, C):
    X = counts()
    assert_best(posed(loss, X, C, intercept), X)


@LOSSES
@INTERCEPTS
def test_more_features_than_examples_and_a_huge_C_have_the_optimum(loss, intercept):
    X = counts(30, 120, seed=1)
    assert_best(posed(loss, X, 1e4, intercept), X, unique=False)


@LOSSES
@INTERCEPTS
def test_examples_may_differ_in_C_and_have_none(loss, intercept):
    X, rng = counts(seed=2), np.random.default_rng(2)
    C = rng.uniform(0.1, 3, len(X)) * (rng.random(len(X)) > 0.2)
    learned = assert_best(posed(loss, X, C, intercept), X)
    assert (learned.coefficients[C == 0] == 0).all()


@LOSSES
@INTERCEPTS
@pytest.mark.parametrize("C", [0.1, 100.0])
def test_groups_have_the_optimum_of_the_program(loss, intercept, C):
    X = counts(40, 60, seed=3)
    groups = np.random.default_rng(0).integers(-1, 5, 60)
    assert_best(posed(loss, X, C, intercept), X, groups=groups, tol=1e-11)


def test_groups_of_one_feature_are_features():
    X = counts()
    problem = posed(Hinge(), X)
    [one], [other] = (
        learn_weights(problem, rows_of(X), **TIGHT),
        learn_weights(problem, rows_of(X), np.arange(25), **TIGHT),
    )
    np.testing.assert_allclose(other.shares, one.shares, atol=1e-6)
    np.testing.assert_allclose(other.u, np.abs(one.u), atol=1e-6)


@LOSSES
def test_one_group_of_all_features_is_the_plain_kernel(loss):
    X = counts()
    [learned] = learn_weights(posed(loss, X), rows_of(X), np.zeros(25, int), trace=3.0, **TIGHT)
    np.testing.assert_allclose(learned.weights, 3.0 / (X**2).sum())


@LOSSES
@INTERCEPTS
@pytest.mark.parametrize("grouped", [False, True])
def test_the_ordinary_problem_with_the_learned_kernel_has_the_same_optimum(loss, intercept, grouped):
    X = counts(seed=4)
    problem, rows, groups = posed(loss, X, 3.0, intercept), rows_of(X), np.arange(25) % 4
    [learned] = learn_weights(problem, rows, groups if grouped else None, **TIGHT)
    weighted = rows.weighted(np.sqrt(learned.weights)).to_csr().toarray()
    kernel = Linear()
    batch = kernel.batch(weighted)
    if isinstance(loss, SquaredError):
        solution = ConjugateGradient().solve(problem, RowsSpace.build(kernel, batch), **TIGHT)
    elif intercept == "free":
        solution = SMO().solve(problem, GramSpace.build(kernel, batch), **TIGHT)
    else:
        solution = DualCD().solve(problem, RowsSpace.build(kernel, batch), **TIGHT)
    assert solution.report.primal == pytest.approx(learned.report.primal, rel=1e-6)
    coefficients = solution.alpha[0] * (problem.y() if loss.of_classes else 1)
    f = weighted @ (weighted.T @ coefficients) + solution.intercept[0]
    if not grouped:
        u = learned.u / np.sqrt((X**2).sum(axis=0))
        np.testing.assert_allclose(X @ u + learned.intercept, f, atol=1e-3)


@LOSSES
@INTERCEPTS
def test_zero_constant_and_repeated_columns_do_no_harm(loss, intercept):
    X = counts(30, 6, seed=5)
    X = np.hstack([X, np.zeros((30, 2)), np.ones((30, 1)), X[:, :3], -X[:, :1]])
    learned = assert_best(posed(loss, X, 2.0, intercept), X, unique=False)
    assert (learned.weights[6:8] == 0).all()


@LOSSES
@INTERCEPTS
@pytest.mark.parametrize("X", [[[1.0], [2.0]], [[1.0, 0.5], [2.0, 3.0]], [[1.0], [0.0], [3.0], [1.0]]])
def test_the_smallest_problems_are_solved(loss, intercept, X):
    X = np.array(X)
    y = np.arange(len(X)) % 2
    problem = Problem(loss, y, np.full(len(X), 2.0), intercept, np.array([1]) if loss.of_classes else None)
    value, _ = quadratic_program(problem, X, 1.0)
    [learned] = learn_weights(problem, rows_of(X), **TIGHT)
    assert learned.report.primal == pytest.approx(value, rel=1e-6)


def test_rows_without_any_feature_leave_the_intercept():
    problem = posed(SquaredError(), counts())
    [learned] = learn_weights(problem, rows_of(np.zeros((40, 3))))
    assert learned.report.primal == pytest.approx(problem.primal(0, np.full(40, problem.y().mean()), 0))
    assert not learned.weights.any()
    assert not learned.shares.any()


@LOSSES
@INTERCEPTS
@pytest.mark.parametrize("grouped", [False, True])
def test_a_loose_gap_or_a_tiny_C_still_yields_a_kernel(loss, intercept, grouped):
    X = counts()
    groups = np.arange(25) % 4
    for C, tol in [(1e-6, 1e-3), (0.01, 0.9)]:
        problem = posed(loss, X, C, intercept)
        [learned] = learn_weights(problem, rows_of(X), groups if grouped else None, tol=tol)
        assert learned.shares.sum() == pytest.approx(1)
        assert learned.report.dual <= learned.report.primal
        if not grouped:
            assert learned.report.primal == pytest.approx(primal(problem, X, 1.0, learned), rel=1e-9)


@LOSSES
def test_shares_are_even_over_active_features_on_demand(loss):
    X = counts()
    problem = posed(loss, X)
    [optimal], [even] = (learn_weights(problem, rows_of(X), spread=s, **TIGHT) for s in ("optimal", "even"))
    assert np.array_equal(optimal.u, even.u)
    assert set(np.flatnonzero(optimal.shares)) <= set(even.active)
    assert np.array_equal(np.flatnonzero(even.shares), even.active)
    np.testing.assert_allclose(even.shares[even.active], 1 / len(even.active))
    scores = np.abs((X / np.sqrt((X**2).sum(axis=0))).T @ even.coefficients)
    assert (scores[even.active] >= 0.999 * scores.max()).all()


@LOSSES
@pytest.mark.parametrize("grouped", [False, True])
def test_a_path_with_warm_starts_has_the_same_optima_at_less_cost(loss, grouped):
    X, groups = counts(200, 100, seed=6), np.arange(100) % 7
    learn = partial(learn_weights, groups=groups if grouped else None)
    problem, rows, options = posed(loss, X), rows_of(X), {"tol": 1e-6, "max_epochs": 10**6}
    start, epochs = None, []
    for C in np.geomspace(1, 5, 8):
        at = replace(problem, C=C * problem.C)
        cold, start = learn(at, rows, **options), learn(at, rows, start=start, **options)
        assert start[0].report.primal == pytest.approx(cold[0].report.primal, rel=2e-6)
        epochs.append([cold[0].report.epochs, start[0].report.epochs])
    if not grouped:
        assert learn(at, rows, start=start, **options)[0].report.epochs <= 3
    cold_epochs, warm_epochs = np.sum(epochs, axis=0)
    assert warm_epochs < cold_epochs


@pytest.mark.parametrize("grouped", [False, True])
def test_threads_and_other_problems_do_not_change_the_result(grouped):
    X = counts(60, 3000, seed=7)
    groups = np.arange(3000) % 11
    learn = partial(learn_weights, groups=groups if grouped else None)
    codes = np.random.default_rng(0).integers(0, 3, 60)
    problem = Problem(Hinge(), codes, np.ones(60), "free", np.arange(3))
    one, two = (learn(problem, rows_of(X), n_jobs=n) for n in (1, 2))
    alone = learn(replace(problem, classes=np.array([1])), rows_of(X), n_jobs=2)
    for a, b in [*zip(one, two, strict=True), (one[1], alone[0])]:
        assert np.array_equal(a.u, b.u)
        assert np.array_equal(a.coefficients, b.coefficients)
        assert a.report.primal == b.report.primal


def test_each_problem_may_have_its_own_rows():
    X = counts()
    problem = Problem(Hinge(), np.arange(40) % 3, np.ones(40), "free", np.arange(2))
    scaled = rows_of(X).weighted(np.linspace(0, 2, 25))
    both = learn_weights(problem, PerProblemRows([rows_of(X), scaled]), trace=5.0)
    [second] = learn_weights(replace(problem, classes=np.array([1])), scaled, trace=5.0)
    assert np.array_equal(both[1].weights, second.weights)
    assert both[1].weights[0] == 0


def test_a_gap_that_is_not_reached_is_reported_with_a_warning():
    X = counts(60, 200, seed=8)
    problem = posed(Hinge(), X, 1e3)
    with pytest.warns(ConvergenceWarning, match="max_epochs"):
        [learned] = learn_weights(problem, rows_of(X), max_epochs=2)
    value, _ = quadratic_program(problem, X, 1.0)
    assert learned.report.dual <= value <= learned.report.primal
    assert learned.report.dual == pytest.approx(dual(problem, X, 1.0, learned.coefficients), rel=1e-9)


@pytest.fixture(scope="module")
def unending():
    X = np.random.default_rng(0).poisson(0.3, (3000, 3000)).astype(float)
    return posed(Hinge(), X, 1e5), rows_of(X)


def test_ctrl_c_ends_a_run_at_once(unending):
    timer = threading.Timer(1.0, _thread.interrupt_main)
    timer.start()
    try:
        with processor_seconds(8), pytest.raises(KeyboardInterrupt):
            learn_weights(*unending, tol=1e-15, max_epochs=10**9, n_jobs=2, max_seconds=60)
    finally:
        timer.cancel()


def test_a_limit_of_seconds_ends_a_run_with_its_proof(unending):
    told = []
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        [learned] = learn_weights(
            *unending, tol=1e-15, max_epochs=10**9, max_seconds=2.0, progress=lambda *state: told.append(state)
        )
    assert learned.report.status == "max_seconds"
    assert learned.report.dual <= learned.report.primal
    assert all(done == 0 and epochs >= 0 for done, epochs, _ in told)
    assert len(told) > 1


def test_bad_input_is_refused():
    X = counts()
    problem, rows = posed(Hinge(), X), rows_of(X)
    with pytest.raises(InputError, match="trace is 0, expected a positive number"):
        learn_weights(problem, rows, trace=0)
    with pytest.raises(InputError, match="spread is 'wide', expected 'optimal' or 'even'"):
        learn_weights(problem, rows, spread="wide")
    with pytest.raises(InputError, match="the losses Hinge, SquaredHinge, SquaredError, not EpsilonInsensitive"):
        learn_weights(Problem(EpsilonInsensitive(), np.ones(40), np.ones(40)), rows)
    with pytest.raises(InputError, match="40 targets, but 39 examples"):
        learn_weights(problem, rows_of(X[1:]))
    with pytest.raises(InputError, match="no examples"):
        learn_weights(Problem(SquaredError(), np.empty(0), np.empty(0)), rows_of(X[:0]))
    with pytest.raises(InputError, match=r"groups has the shape \(3,\), expected \(25,\)"):
        learn_weights(problem, rows, np.zeros(3, int))
    with pytest.raises(InputError, match="groups holds a value that is not a whole number"):
        learn_weights(problem, rows, np.full(25, -2))
    with pytest.raises(InputError, match="start has 2 results, expected 1"):
        learn_weights(problem, rows, start=learn_weights(problem, rows) * 2)
    with pytest.raises(InputError, match="no finite number"):
        learn_weights(problem, rows_of(X * 1e200))
