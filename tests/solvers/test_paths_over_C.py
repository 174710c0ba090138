"""Paths over C in cross-validation: every step is at its optimum, and reports the gap of its solution, in every space."""

from dataclasses import replace

import numpy as np
import pytest

from treille.kernels import Linear
from treille.solvers import SMO, CuttingPlane, DualCD, FiniteNewton, Problem
from treille.solvers.folds import Fold
from treille.solvers.problem import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from treille.solvers.solver import solve_folds
from treille.spaces import GramSpace, RowsSpace

LOSSES = [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.1), SquaredEpsilonInsensitive(0.1), Huber(0.3)]
SOLVERS = [
    (DualCD(), RowsSpace),
    (DualCD(shrinking=False), RowsSpace),
    (FiniteNewton(), RowsSpace),
    (FiniteNewton(), GramSpace),
    (CuttingPlane(), RowsSpace),
    (SMO(), GramSpace),
]
CASES = [
    pytest.param(solver, space, loss, id=f"{type(solver).__name__}-{space.name}-{type(loss).__name__}-{number}")
    for number, (solver, space) in enumerate(SOLVERS)
    for loss in LOSSES
    if isinstance(loss, solver.losses)
]
N, FEATURES = 12, 3
CS = [0.02, 3.0, 20.0, 22.0]


def random_folds(loss, intercept, seed=0):
    """A space of random vectors, and leave-two-out folds. All hold out 0 and the unit vectors, too, which tells w and b."""
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(N, FEATURES)), np.zeros(FEATURES), np.eye(FEATURES)])
    targets = rng.integers(0, 2, len(X)) if loss.of_classes else rng.normal(size=len(X)).round()
    classes = np.array([1]) if loss.of_classes else None
    folds = []
    for some in np.split(np.arange(N), N // 2):
        weights = np.append(rng.uniform(0.5, 2, N), np.zeros(1 + FEATURES))
        weights[some] = 0
        folds.append(Fold(Problem(loss, targets, weights, intercept, classes), np.r_[N : len(X), some]))
    return X, folds


def primal(X, fold, C, outputs):
    """The objective of the function with these outputs, and its outputs for the held-out examples."""
    b = outputs[0]
    w = outputs[1 : 1 + FEATURES] - b
    problem = replace(fold.problem, C=C * fold.problem.C)
    return problem.primal(float(w @ w), X @ w + b, b), X[fold.held_out] @ w + b


def optimum(X, fold, C):
    """Bounds on the optimum, by a solver that begins anew."""
    problem = replace(fold.problem, C=C * fold.problem.C)
    rows = RowsSpace.build(Linear(), Linear().batch(X))
    report = DualCD(shrinking=False).solve(problem, rows, tol=1e-8, max_epochs=10**7).report
    return report.dual, report.primal


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize(("solver", "space", "loss"), CASES)
def test_every_step_of_a_path_is_at_the_optimum_of_its_c(solver, space, loss, intercept):
    X, folds = random_folds(loss, intercept)
    found = solve_folds(solver, space.build(Linear(), Linear().batch(X)), folds, CS, tol=1e-6, max_epochs=10**6)
    assert (found.gaps <= 1e-6).all()
    for f, fold in enumerate(folds):
        for c, C in enumerate(CS):
            value, outputs = primal(X, fold, C, found.outputs[f][c, :, 0])
            _, best = optimum(X, fold, C)
            assert value <= best * (1 + 2e-6)
            np.testing.assert_allclose(found.outputs[f][c, :, 0], outputs, atol=1e-9)


@pytest.mark.parametrize("max_epochs", [1, 3, 20])
@pytest.mark.parametrize(("solver", "space", "loss"), CASES)
def test_the_gap_of_a_step_that_ends_early_is_measured_at_its_solution(solver, space, loss, max_epochs):
    X, folds = random_folds(loss, True, seed=1)
    found = solve_folds(solver, space.build(Linear(), Linear().batch(X)), folds, CS, tol=1e-9, max_epochs=max_epochs)
    for f, fold in enumerate(folds):
        for c, C in enumerate(CS):
            value, _ = primal(X, fold, C, found.outputs[f][c, :, 0])
            least, _ = optimum(X, fold, C)
            assert value - least <= value * (found.gaps[c, f] + 1e-7)


@pytest.mark.parametrize(
    ("solver", "space", "loss"), [case for case in CASES if isinstance(case.values[0], (DualCD, SMO))]
)
def test_a_step_continues_where_the_one_before_ended_at_its_limit(solver, space, loss):
    """Many short steps are one long one. Examples that a short step did not visit would never be visited again."""
    X, folds = random_folds(loss, True, seed=2)
    built = space.build(Linear(), Linear().batch(X))
    alone = solve_folds(solver, built, folds, [5.0], tol=1e-6, max_epochs=3)
    steps = solve_folds(solver, built, folds, [5.0] * 400, tol=1e-6, max_epochs=3)
    assert alone.gaps.max() > 1e-6
    assert steps.gaps[-1].max() <= 1e-6
