"""The solvers of clusters, on one that computes at once: the optimum is that of training in memory."""

from dataclasses import replace

import numpy as np
import pytest
from clusters import divided, texts

from treille.io.errors import InputError
from treille.kernels import NGram
from treille.solvers import (
    BundleMethod,
    ClusterGradients,
    ConjugateGradient,
    DualCD,
    FiniteNewton,
    GatheredDualCD,
    Problem,
)
from treille.solvers.bundle_worker import worker_examples
from treille.solvers.problem import (
    REGRESSION_LOSSES,
    EpsilonInsensitive,
    Hinge,
    Logistic,
    SquaredError,
    SquaredHinge,
)
from treille.solvers.report import ConvergenceWarning
from treille.spaces import RowsSpace

X, labels = texts(150)
KERNEL = NGram(3, min_n=1).normalized()
SPACE = RowsSpace.build(KERNEL, KERNEL.batch(X))
C = np.random.default_rng(1).uniform(0.2, 3.0, len(X))
CUTS = {
    "one part": [0, 150],
    "two parts": [0, 75, 150],
    "parts of very different sizes": [0, 3, 4, 140, 150],
    "an empty part": [0, 60, 60, 150],
    "an empty first part": [0, 0, 60, 150],
}


def problem(loss, intercept=True, several=False):
    if not loss.of_classes:
        numbers = np.array([x.count("a") - x.count("b") for x in X], float)
        targets = np.stack([numbers, numbers**2 - 1], axis=1) if several else numbers[:, None]
        return Problem(loss, targets, C, intercept)
    return Problem(loss, labels.astype(np.int32), C, intercept, np.arange(3) if several else np.array([1]))


EACH = pytest.mark.parametrize("method", [BundleMethod, GatheredDualCD])
LOSSES = [Hinge(), SquaredHinge(), Logistic(), *(loss(0.1) for loss in REGRESSION_LOSSES.values())]


@EACH
@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_optimum_of_training_in_memory_is_between_the_values_found(method, loss, cuts):
    posed = problem(loss)
    solver = FiniteNewton() if isinstance(loss, Logistic) else DualCD()
    exact = solver.solve(posed, SPACE, tol=1e-7, max_epochs=10_000).report
    found = method().solve(*divided(SPACE.rows, posed, cuts), tol=1e-4).report
    assert found.status == "converged"
    assert found.relative_gap <= 1e-4
    assert found.dual <= exact.primal * (1 + 1e-9)
    assert exact.dual <= found.primal * (1 + 1e-9)


@EACH
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), EpsilonInsensitive(0.1)], ids=repr)
@pytest.mark.parametrize("intercept", [True, False])
def test_the_primal_value_is_that_of_the_weights_returned(method, loss, intercept):
    posed = problem(loss, intercept, several=True)
    found = method().solve(*divided(SPACE.rows, posed, CUTS["two parts"]))
    outputs = SPACE.rows.matvec(found.weights) + found.intercept
    for k, report in enumerate(found.report.per_class):
        square = found.weights[:, k] @ found.weights[:, k] + found.intercept[k] ** 2
        primal = 0.5 * square + C @ loss.value(posed.y(k), outputs[:, k])
        np.testing.assert_allclose(report.primal, primal, rtol=1e-9)


@EACH
def test_a_tolerance_far_below_the_precision_of_float32_is_reached(method):
    found = method().solve(*divided(SPACE.rows, problem(SquaredHinge()), CUTS["two parts"]), tol=1e-8).report
    assert found.status == "converged"
    assert found.relative_gap <= 1e-8


def test_planes_in_float32_are_half_as_many_bytes_and_their_bound_holds():
    posed = problem(Hinge())
    exact = DualCD().solve(posed, SPACE, tol=1e-8, max_epochs=10_000).report
    whole, space = divided(SPACE.rows, posed, CUTS["two parts"])
    with pytest.warns(ConvergenceWarning):
        single, double = (BundleMethod().solve(whole, space, tol=tol, max_epochs=2).report for tol in (1.01e-5, 0.9e-5))
    assert single.bytes_sent * 1.6 < double.bytes_sent
    assert max(single.dual, double.dual) <= exact.primal
    np.testing.assert_allclose(single.dual, double.dual, rtol=1e-5)


@EACH
@pytest.mark.parametrize("n_parts", [2, 8, 32])
def test_a_small_problem_of_five_grams_takes_at_most_60_rounds(method, n_parts):
    X, labels = texts(400, seed=5, length=(20, 60))
    kernel = NGram(5).normalized()
    rows = RowsSpace.build(kernel, kernel.batch(X)).rows
    posed = Problem(Hinge(), labels.astype(np.int32), np.ones(400), True, np.array([1]))
    found = method().solve(*divided(rows, posed, np.linspace(0, 400, n_parts + 1).astype(int)))
    assert found.report.status == "converged"
    assert found.report.rounds <= 60


def test_many_rounds_drop_and_join_planes_and_keep_the_bound(monkeypatch):
    monkeypatch.setattr("treille.solvers.bundle_method.MOST_PLANES", 6)
    posed = problem(Hinge())
    exact = DualCD().solve(posed, SPACE, tol=1e-7, max_epochs=10_000).report
    found = BundleMethod().solve(*divided(SPACE.rows, posed, CUTS["two parts"]), tol=1e-3, max_epochs=3000).report
    assert found.dual <= exact.primal
    assert exact.dual <= found.primal


@EACH
def test_the_same_call_returns_the_same_bits(method):
    posed = problem(Hinge(), several=True)
    one, two = (method().solve(*divided(SPACE.rows, posed, CUTS["two parts"])) for _ in range(2))
    np.testing.assert_array_equal(one.weights, two.weights)


def test_it_starts_from_dual_variables_and_needs_fewer_rounds():
    posed = problem(Hinge())
    whole, space = divided(SPACE.rows, posed, CUTS["two parts"])
    start = DualCD().solve(posed, SPACE, tol=1e-3).alpha
    fresh, begun = BundleMethod().solve(whole, space), BundleMethod().solve(whole, space, start=start)
    assert begun.report.status == "converged"
    assert begun.report.rounds < fresh.report.rounds


@pytest.mark.parametrize("intercept", ["free", True, False])
@pytest.mark.parametrize("several", [False, True], ids=["one target", "two targets"])
@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_conjugate_gradients_on_a_cluster_find_the_optimum_of_those_in_memory(intercept, several, cuts):
    posed = problem(SquaredError(), intercept, several)
    exact = ConjugateGradient().solve(posed, SPACE, tol=1e-12)
    found = ClusterGradients().solve(*divided(SPACE.rows, posed, cuts), tol=1e-10)
    assert found.report.status == "converged"
    np.testing.assert_allclose(found.report.primal, exact.report.primal, rtol=1e-8)
    weights = exact.weights if exact.weights is not None else SPACE.rows.rmatvec(exact.coefficients)
    np.testing.assert_allclose(found.weights, weights, atol=1e-4)
    np.testing.assert_allclose(found.intercept, exact.intercept, atol=1e-4)


@pytest.mark.parametrize("solver", [BundleMethod, ClusterGradients])
def test_limits_end_the_run_with_a_warning_that_states_the_gap(solver):
    posed = problem(SquaredError() if solver is ClusterGradients else Hinge())
    whole, space = divided(SPACE.rows, posed, CUTS["two parts"])
    with pytest.warns(ConvergenceWarning, match="gap"):
        assert solver().solve(whole, space, tol=1e-9, max_epochs=2).report.status == "max_epochs"
    with pytest.warns(ConvergenceWarning, match="gap"):
        assert solver(max_seconds=1e-9).solve(whole, space, tol=1e-9).report.status == "max_seconds"


def test_rows_that_do_not_fit_are_refused_with_what_to_do():
    whole, space = divided(SPACE.rows, problem(Hinge()), CUTS["two parts"])
    assert GatheredDualCD().recommended(space, whole)
    with pytest.raises(InputError, match="more than memory=1: allow more, or use BundleMethod"):
        GatheredDualCD(memory=1).solve(whole, space)


def test_rows_at_the_driver_are_solved_as_in_memory_in_one_round():
    posed = problem(Hinge(), several=True)
    found = GatheredDualCD().solve(*divided(SPACE.rows, posed, CUTS["two parts"]), tol=1e-6).report
    exact = DualCD().solve(posed, SPACE, tol=1e-6, max_epochs=10_000).report
    assert found.rounds == 1
    assert found.bytes_sent > 0
    for one, other in zip(found.per_class, exact.per_class, strict=True):
        np.testing.assert_allclose(one.primal, other.primal, rtol=2e-6)


def test_a_limit_of_epochs_ends_descent_at_the_driver_with_a_warning():
    with pytest.warns(ConvergenceWarning, match="gap"):
        found = GatheredDualCD().solve(
            *divided(SPACE.rows, problem(Hinge()), CUTS["two parts"]), tol=1e-9, max_epochs=2
        )
    assert found.report.status == "max_epochs"


@pytest.mark.parametrize("cuts", CUTS.values(), ids=CUTS)
def test_a_group_has_only_the_features_of_its_examples(cuts):
    _, space = divided(SPACE.rows, problem(Hinge()), cuts)
    groups, parts = worker_examples(space)
    for own, which in zip(groups, parts, strict=True):
        whole = np.vstack([space.futures[p].to_csr().toarray() for p in which])
        np.testing.assert_array_equal(np.vstack([rows.to_csr().toarray() for rows in own.rows]), whole[:, own.ids])
        assert not np.delete(whole, own.ids, axis=1).any()


@EACH
def test_weights_of_features_are_those_of_the_problem(method):
    weighted = SPACE.rows.weighted(np.random.default_rng(2).uniform(0.0, 2.0, SPACE.rows.n_features).round(1))
    posed = problem(Hinge(), several=True)
    exact = DualCD().solve(posed, replace(SPACE, rows=weighted), tol=1e-6, max_epochs=10_000).report
    for start in (None, np.full((3, len(X)), 0.1)):
        found = method().solve(*divided(weighted, posed, CUTS["two parts"]), tol=1e-5, start=start).report
        assert found.status == "converged"
        np.testing.assert_allclose(found.primal, exact.primal, rtol=1e-4)
