"""Folds of cross-validation on one space: many values of C, and the outputs of held-out examples."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille import _core
from treille.io.parameters import effective_n_jobs
from treille.solvers.dual_cd import DualCD
from treille.solvers.problem import Problem
from treille.solvers.report import ConvergenceWarning, Progress, Solution, poll_until
from treille.solvers.smo import SMO
from treille.solvers.solver import Run, after
from treille.spaces import GramSpace, RowsSpace

# The outputs and gaps of each fold for one C, and the start for the next larger C.
Solved = tuple[list[np.ndarray], list[float], Any]


@dataclass(frozen=True, eq=False)
class Fold:
    """A problem on all examples in which those held out have C = 0, so that rows are shared by all folds."""

    problem: Problem  # for C = 1: its C are the weights of the examples
    held_out: np.ndarray


@dataclass(frozen=True, eq=False)
class FoldOutputs:
    """The outputs and gaps that cross-validation needs."""

    outputs: list[np.ndarray]  # of each fold: by C, held-out example and function
    gaps: np.ndarray  # relative, by C and fold; the largest of all functions
    seconds: np.ndarray  # by C and fold

    @classmethod
    def joined(cls, each: "Sequence[FoldOutputs]") -> "FoldOutputs":
        """Joins the outputs of single folds."""
        outputs = [one for folds in each for one in folds.outputs]
        return cls(outputs, np.hstack([f.gaps for f in each]), np.hstack([f.seconds for f in each]))


def solve_folds(
    solver: Any,
    space: Any,
    folds: Sequence[Fold],
    Cs: Sequence[float],
    *,
    tol: float,
    max_epochs: int,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> FoldOutputs:
    """Solves every fold for every C, from small to large, each from the solution before it.

    ``progress(problems done, epochs, relative gap)`` counts the problems of all folds as one each, whatever the number of C.

    >>> from treille.kernels import NGram
    >>> from treille.solvers.problem import Hinge
    >>> space = RowsSpace.build(NGram(1), NGram(1).batch(["a", "aa", "b", "bb"]))
    >>> weights = np.array([1.0, 0.0, 1.0, 0.0])
    >>> fold = Fold(Problem(Hinge(), np.array([0, 0, 1, 1]), weights, classes=np.array([1])), np.array([1, 3]))
    >>> solve_folds(DualCD(), space, [fold], [0.1, 10.0], tol=1e-6, max_epochs=100).outputs[0].round(2).tolist()
    [[[-0.2], [0.2]], [[-2.0], [2.0]]]
    """
    budget = getattr(solver, "max_seconds", None)
    poll = poll_until(time.perf_counter(), budget and budget * len(Cs) * len(folds), progress)
    run = Run(float(tol), int(max_epochs), int(seed), n_jobs, None, poll)
    if isinstance(space, GramSpace):
        space = space.stored()
    if isinstance(solver, DualCD) and isinstance(space, RowsSpace):
        order = np.argsort(Cs, kind="stable")
        found, back = _by_paths(solver, space, folds, np.asarray(Cs, np.float64)[order], run), np.argsort(order)
        return FoldOutputs([each[back] for each in found.outputs], found.gaps[back], found.seconds[back])
    if isinstance(solver, SMO):
        return _by_smo(solver, space, folds, Cs, run)
    return FoldOutputs.joined([_one_by_one(solver, space, f, fold, Cs, run) for f, fold in enumerate(folds)])


def _by_paths(solver: DualCD, space: RowsSpace, folds: Sequence[Fold], Cs: np.ndarray, run: Run) -> FoldOutputs:
    """All folds and functions in one call of the core, in threads."""
    first, (space, *others) = folds[0].problem, space.by_problem()
    if others:
        each = []
        for k, one in enumerate([space, *others]):
            own = [replace(fold, problem=fold.problem.only(k)) for fold in folds]
            seeded = replace(run, seed=run.seed + k, poll=after(k * len(folds), run.poll))
            each.append(_by_paths(solver, one, own, Cs, seeded))
        outputs = [np.concatenate(parts, axis=2) for parts in zip(*(one.outputs for one in each), strict=True)]
        gaps = np.max([one.gaps for one in each], axis=0)
        return FoldOutputs(outputs, gaps, np.sum([one.seconds for one in each], axis=0))
    form = space.represented("auto", first.n_problems * len(folds))
    cuts = np.cumsum([0, *(len(fold.held_out) for fold in folds)])
    answers = _core.dual_cd_folds(
        rows=form.core,
        targets=[fold.problem.core() for fold in folds],
        begin=cuts.astype(np.int64),
        held_out=np.concatenate([fold.held_out for fold in folds]).astype(np.int64),
        Cs=Cs,
        options=solver.options(first, run),
        threads=effective_n_jobs(run.n_jobs),
        poll=run.poll,
    )
    shape = len(Cs), len(folds), first.n_problems
    return FoldOutputs(
        np.split(answers[0].reshape(len(Cs), -1, first.n_problems), cuts[1:-1], axis=1),
        answers[1].reshape(shape).max(axis=2),
        answers[2].reshape(shape).sum(axis=2),
    )


def _by_smo(solver: SMO, space: GramSpace, folds: Sequence[Fold], Cs: Sequence[float], run: Run) -> FoldOutputs:
    """Solves all folds for each C in one call of the core, in threads, on one matrix."""

    def solve(c: int, start: Any) -> Solved:
        problems = [replace(fold.problem, C=Cs[c] * fold.problem.C) for fold in folds]
        # A multiple of all variables keeps the constraint of a free intercept.
        scaled = None if start is None else start[0] * (Cs[c] / start[1])
        solutions = solver.solve_folds(problems, space, replace(run, start=scaled))
        outputs = [_outputs(space, solution, fold.held_out) for fold, solution in zip(folds, solutions, strict=True)]
        gaps = [solution.report.relative_gap for solution in solutions]
        return outputs, gaps, (np.concatenate([solution.alpha for solution in solutions]), Cs[c])

    return solve_path(Cs, solve)


def _one_by_one(solver: Any, space: Any, f: int, fold: Fold, Cs: Sequence[float], run: Run) -> FoldOutputs:
    """Any solver, in any space, through its own interface."""
    poll = after(f * fold.problem.n_problems, run.poll)
    options: dict[str, Any] = {"tol": run.tol, "max_epochs": run.max_epochs, "seed": run.seed, "n_jobs": run.n_jobs}
    options["progress"] = lambda *state: poll(*state) and None

    def solve(c: int, start: Any) -> Solved:
        solution = solver.solve(replace(fold.problem, C=Cs[c] * fold.problem.C), space, start=start, **options)
        return [_outputs(space, solution, fold.held_out)], [solution.report.relative_gap], solution.alpha

    return solve_path(Cs, solve)


def solve_path(Cs: Sequence[float], solve: Callable[[int, Any], Solved]) -> FoldOutputs:
    """The outputs of one or more folds: ``solve(c, start)`` for all values of C, from small to large."""
    outputs, gaps, seconds, start = list[Any](Cs), list[Any](Cs), list[Any](Cs), None
    for c in np.argsort(Cs, kind="stable").tolist():
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # gaps are reported for all folds together: the largest
            outputs[c], gaps[c], start = solve(c, start)
        seconds[c] = [(time.perf_counter() - begun) / len(gaps[c])] * len(gaps[c])
    return FoldOutputs([np.stack(own) for own in zip(*outputs, strict=True)], np.array(gaps), np.array(seconds))


def _outputs(space: Any, solution: Solution, some: np.ndarray) -> np.ndarray:
    """The outputs for some examples: one row per example, one column per function."""
    weighted = solution.weights is not None
    values = space.matvec(solution.weights) if weighted else space.product(solution.coefficients)
    return values[some] + solution.intercept
