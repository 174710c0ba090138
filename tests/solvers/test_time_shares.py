"""Limits of time are shared by problems: each has the time that remains over the turns that remain, in every solver."""

import warnings
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from problems import endless_problem, random_problem

import treille
from treille.kernels import NGram
from treille.scale import Parts
from treille.solvers import (
    SMO,
    BlockMinimization,
    ConvergenceWarning,
    CuttingPlane,
    DualCD,
    FiniteNewton,
    PerceptronSolver,
    Problem,
    time_shares,
)
from treille.solvers.folds import Fold
from treille.solvers.problem import LOSSES, Hinge, Separation
from treille.solvers.solver import solve_folds
from treille.solvers.time_shares import TimeShares, deadline_after, share_of
from treille.spaces import GramSpace, RowsSpace

K, SECONDS = 8, 0.4


@pytest.fixture(scope="module")
def endless():
    """Noise with eight classes and a huge C."""
    problem = endless_problem()
    return replace(problem, codes=np.random.default_rng(1).integers(0, K, len(problem.codes)))


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(seconds=100.0)
    monkeypatch.setattr(time_shares.time, "perf_counter", lambda: now.seconds)
    return now


def test_problems_in_turn_have_equal_shares_and_pass_on_what_they_leave(clock):
    deadline = deadline_after(8.0)
    assert share_of(deadline, 4) == 102.0
    clock.seconds = 100.5  # the first problem took half a second
    assert share_of(deadline, 3) == 103.0
    clock.seconds = 109.0  # the second took all the time, and more
    assert share_of(deadline, 2) == 109.0
    assert share_of(deadline_after(None), 2) == np.inf


def test_problems_side_by_side_have_the_time_of_their_turn(clock):
    shares = TimeShares(deadline_after(9.0), n=5, at_once=2)
    begun = [shares.over(0), shares.over(1)]
    clock.seconds = 103.0
    assert [*begun, shares.over(0), shares.over(1)] == [False, False, True, True]
    assert not shares.over(2)
    clock.seconds = 106.0
    assert shares.over(2)
    assert not shares.over(4)


def reports(solver, problem, space, **options):
    """The reports of eight problems that do not converge in time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = solver.solve(problem, space, **{"tol": 1e-14, "max_epochs": 10**9} | options).report
    assert found.seconds < 20 * SECONDS
    return found.per_class or (found,)


def assert_shared(spent):
    """All but a quarter of the problems, which the machine may have kept waiting, have got about the same."""
    assert np.quantile(spent, 0.25) >= np.max(spent) / 8


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("solver", [DualCD, SMO, CuttingPlane, PerceptronSolver], ids=lambda solver: solver.__name__)
def test_every_class_has_its_share(endless, solver, n_jobs):
    space = endless.space
    if solver is SMO:
        space = GramSpace.build(NGram(3), space.batch).stored()
    loss = Separation() if solver is PerceptronSolver else Hinge()
    problem = Problem(loss, endless.codes, endless.C, True, np.arange(K))
    each = reports(solver(max_seconds=SECONDS), problem, space, n_jobs=n_jobs)
    assert [report.status for report in each] == ["max_seconds"] * K
    assert_shared([report.epochs for report in each])


@pytest.mark.parametrize("space", [RowsSpace, GramSpace])
def test_every_class_has_its_share_of_newton_steps(space):
    problem = random_problem(n=400, C=1e4, kernel=NGram(1))
    built = problem.space if space is RowsSpace else GramSpace.build(NGram(1), problem.space.batch).stored()
    codes = np.random.default_rng(3).integers(0, K, len(problem.codes))
    posed = Problem(LOSSES["squared_hinge"](), codes, problem.C, True, np.arange(K))
    each = reports(FiniteNewton(max_seconds=SECONDS), posed, built, tol=1e-300)
    assert {report.status for report in each} <= {
        "max_seconds",
        "rounding",
        "converged",
    }  # at an optimum the gap may be 0
    assert np.quantile([report.epochs for report in each], 0.25) > 1


def test_time_that_easy_classes_leave_goes_to_the_hard_one(endless):
    codes = np.zeros(len(endless.codes), int)
    codes[::2] = np.random.default_rng(2).integers(0, 2, len(codes[::2]))
    problem = Problem(Hinge(), codes, endless.C, True, np.array([5, 6, 7, 8, 9, 1]))  # classes that no example has
    *easy, hard = reports(DualCD(max_seconds=SECONDS), problem, endless.space, tol=1e-3)
    assert [report.status for report in easy] == ["converged"] * 5
    alone = reports(DualCD(max_seconds=SECONDS), problem.only(5), endless.space, tol=1e-3)[0]
    assert hard.epochs >= alone.epochs / 4


@pytest.mark.parametrize("solver", [DualCD, SMO], ids=lambda solver: solver.__name__)
def test_every_fold_and_every_c_has_its_share(endless, solver):
    space = endless.space if solver is DualCD else GramSpace.build(NGram(3), endless.space.batch).stored()
    n, folds = len(space), []
    for k in range(3):
        weights = np.ones(n)
        weights[k::3] = 0
        folds.append(Fold(Problem(Hinge(), endless.codes, weights, True, np.arange(2)), np.arange(k, n, 3)))
    each = solver(max_seconds=0.05)
    found = solve_folds(each, space, folds, [300.0, 1000.0], tol=1e-14, max_epochs=10**9)
    assert (found.gaps > 1e-14).all()
    assert np.isfinite(found.gaps).all()
    assert_shared(found.seconds)
    assert found.seconds.sum() < 20 * 0.05 * 6


def test_rows_that_differ_by_class_share_the_time_too():
    rng = np.random.default_rng(0)
    texts, y = ["".join(row) for row in rng.choice(list("abcd"), (1000, 60))], rng.integers(0, 4, 1000)
    model = treille.SVC(NGram(3).weighted("nb"), C=1e5, tol=1e-14, max_epochs=10**9, solver=DualCD(max_seconds=SECONDS))
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        each = model.fit(texts, y).report_.per_class
    assert [report.status for report in each] == ["max_seconds"] * 4
    assert_shared([report.epochs for report in each])


def test_blocks_of_parts_improve_all_classes_alike(endless):
    texts = ["".join(row) for row in np.random.default_rng(0).choice(list("abcd"), (400, 60))]
    parts = Parts.of([(texts[k::4], endless.codes[:400][k::4]) for k in range(4)])
    model = treille.SVC(NGram(3), C=1e3, tol=1e-14, max_epochs=10**9, solver=BlockMinimization(max_seconds=SECONDS))
    with pytest.warns(ConvergenceWarning, match="max_seconds"):
        each = model.fit(parts).report_.per_class
    assert min(report.epochs for report in each) >= 1
    assert {report.status for report in each} == {"max_seconds"}
