"""The contract of solvers: their declarations, the arguments of `solve`, and the base class of the solvers of treille."""

import time
import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from treille.data.base import available_memory, readable_size
from treille.io.errors import InputError, first_level_outside
from treille.scikit_learn import BaseEstimator
from treille.solvers.folds import Fold, FoldOutputs, Solved, held_out_outputs, solve_path
from treille.solvers.problem import ALL_LOSSES, Loss, Problem, check_shape
from treille.solvers.progress import readable_time
from treille.solvers.report import (
    LongTrainingWarning,
    Progress,
    Solution,
    check_budget,
    check_outcome,
)
from treille.solvers.time_shares import deadline_after, share_of
from treille.spaces import ClusterSpace, GramSpace, Space
from treille.spaces.space import FeatureSpace

JUDGED_AFTER = 2.0  # seconds after which the time that many problems will take is estimated
LONG = 60.0  # seconds that are worth a warning


@runtime_checkable
class Solver(Protocol):
    """The interface of solvers for estimators. Any object with these members works; it need not inherit from a class of treille.

    >>> from treille.solvers import DualCD
    >>> [space.name for space in DualCD().spaces], DualCD().intercepts
    (['rows'], (False, True))
    """

    spaces: ClassVar[tuple[type[Space], ...]]  # that it works on, the preferred one first
    losses: ClassVar[tuple[type[Loss], ...]]
    intercepts: ClassVar[tuple[bool | str, ...]]

    def solve(
        self,
        problem: Problem,
        space: Any,
        *,
        tol: float = 1e-3,
        max_epochs: int = 1000,
        seed: int = 0,
        n_jobs: int | None = None,
        start: np.ndarray | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """Solves `problem` on `space` until the duality gap is at most `tol` of the primal value.

        `start` has one row of dual variables per problem to begin from, such as ``Solution.alpha`` for another C.
        ``progress(problems done, epochs, relative gap)`` is called a few times a second, and may raise.
        """
        ...


def supports(solver: Any, loss: type[Loss], intercept: bool | str) -> bool:
    """Returns whether a solver solves problems with this loss and this kind of intercept."""
    return issubclass(loss, solver.losses) and any(
        intercept is known or intercept == known == "free" for known in solver.intercepts
    )


def check_supported(solver: Any, loss: type[Loss], intercept: bool | str) -> None:
    """Refuses a problem that the solver does not solve, and says which it does."""
    if supports(solver, loss, intercept):
        return
    name, kinds = type(solver).__name__, (*ALL_LOSSES, loss)
    losses = [each for each in kinds if any(supports(solver, each, kind) for kind in each.intercepts)]
    if loss not in losses:
        known = ", ".join(each.__name__ for each in losses)
        raise InputError(f"{name} solves problems with the losses {known}, not {loss.__name__}: use solver='auto'")
    known = " or ".join(map(repr, solver.intercepts))
    raise InputError(
        f"{name} supports the intercepts {known}, not {intercept!r}: use one of these, or a solver that supports it, "
        "such as SMO"
    )


@dataclass(frozen=True)
class Run:
    """The arguments of a call of `solve`, validated."""

    tol: float
    max_epochs: int
    seed: int
    n_jobs: int | None
    start: Any  # one entry per problem to begin from, such as a row of dual variables, or None
    progress: Progress | None
    deadline: float  # of all problems together, by time.perf_counter()

    def poll(self, done: int, epochs: int, gap: float) -> bool:
        """Shows progress, and returns whether there is time left: for solvers in Python, a few times a second."""
        if self.progress is not None:
            self.progress(done, epochs, gap)
        return time.perf_counter() < self.deadline

    @property
    def watch(self) -> tuple[Callable[[int, int, float], bool], float]:
        """The function that the core polls, and the seconds left for all problems, which share them."""
        return self.poll, self.deadline - time.perf_counter()

    def of_problem(self, k: int, n: int) -> "Run":
        """The run that solves only problem k of n, after the problems before it and in its share of the time."""
        start = None if self.start is None else self.start[k : k + 1]
        progress, deadline = after(k, self.progress), share_of(self.deadline, n - k)
        return replace(self, seed=self.seed + k, start=start, progress=progress, deadline=deadline)


def after(solved: int, progress: Progress | None) -> Progress | None:
    """Reports the progress of one problem after others that are solved already."""
    return progress and (lambda done, epochs, gap: progress(solved + done, epochs, gap))


def with_estimate(progress: Progress | None, n: int, what: str) -> Progress | None:
    """Without `progress`, warns once of problems that will take minutes, judged by the first ones of n."""
    if progress is not None or n < 2:
        return progress
    begun, judged = time.perf_counter(), False

    def follow(done: int, epochs: int, gap: float) -> None:
        nonlocal judged
        seconds = time.perf_counter() - begun
        if judged or not done or seconds < JUDGED_AFTER:
            return
        judged, left = True, seconds / done * (n - done)
        if left >= LONG:
            warnings.warn(
                f"{what}: the first {done:,} of {n:,} took {readable_time(seconds)}, the others will take about "
                f"{readable_time(left)}. Fewer classes, a larger tol or n_jobs=-1 take less, and max_seconds of the solver is "
                "a limit; verbose=1 shows the progress",
                LongTrainingWarning,
                stacklevel=first_level_outside(),
            )

    return follow


def check_room(problem: Problem, space: Any) -> None:
    """Refuses problems whose dual variables and weights do not fit in memory, before any work is done."""
    per_problem = len(problem) + (space.n_features if isinstance(space, FeatureSpace) else 0)
    needed, available = 8 * problem.n_problems * per_problem, available_memory()
    if needed > available:
        raise InputError(
            f"the weights and dual variables of {problem.n_problems:,} problems, one per class, on {len(problem):,} examples would "
            f"take {readable_size(needed)}, but {readable_size(available)} are free: use fewer classes or a kernel with fewer "
            "features"
        )


@dataclass(eq=False, repr=False, kw_only=True)
class BaseSolver(BaseEstimator):
    """Base class of the solvers of treille: validation, time limits, warnings. Subclasses implement `_solve`."""

    spaces: ClassVar[tuple[type[Space], ...]]
    losses: ClassVar[tuple[type[Loss], ...]]
    intercepts: ClassVar[tuple[bool | str, ...]] = (False, True)
    max_seconds: float | None = None

    def check(self) -> None:
        """Raises an `InputError` where a parameter is out of its range; called before any work is done."""
        check_budget(self.max_seconds)

    def recommended(self, space: Any, problem: Problem) -> bool:
        """Returns whether `solver="auto"` may choose this solver for a space and a problem that it supports."""
        return True

    def solve(
        self,
        problem: Problem,
        space: Any,
        *,
        tol: float = 1e-3,
        max_epochs: int = 1000,
        seed: int = 0,
        n_jobs: int | None = None,
        start: np.ndarray | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """Solves `problem` on `space`, see `Solver`. Warns if a limit was reached before the requested gap."""
        self.check()
        check_supported(self, type(problem.loss), problem.intercept)
        if not isinstance(space, self.spaces):
            known = " or ".join(each.name for each in self.spaces)
            raise InputError(f"{type(self).__name__} works on {known}, found {type(space).__name__}")
        self._check_length(problem, space)
        if start is not None:
            start = np.ascontiguousarray(start, np.float64)
            check_shape("start", start, (problem.n_problems, len(space)))
        if problem.n_problems > 1:
            check_room(problem, space)
        begun = time.perf_counter()
        deadline = deadline_after(self.max_seconds)
        if self.max_seconds is None:
            what = f"{problem.n_problems:,} problems, one per class, on {len(space):,} examples"
            progress = with_estimate(progress, problem.n_problems, what)
        run = Run(float(tol), int(max_epochs), int(seed), n_jobs, start, progress, deadline)
        spaces = space.by_problem()
        if len(spaces) == 1:
            solution = self._solve(problem, spaces[0], run)
        else:  # the rows differ from problem to problem
            n, each = len(spaces), enumerate(spaces)
            solution = Solution.combined([self._solve(problem.only(k), own, run.of_problem(k, n)) for k, own in each])
        check_outcome(solution.report, tol)
        return solution.timed(time.perf_counter() - begun)

    def _check_length(self, problem: Problem, space: Any) -> None:
        if len(space) != len(problem):
            raise InputError(f"there are {len(problem):,} targets, but {len(space):,} examples")

    @abstractmethod
    def _solve(self, problem: Problem, space: Any, run: Run) -> Solution: ...

    def solve_folds(self, space: Any, folds: Sequence[Fold], Cs: np.ndarray, run: Run) -> FoldOutputs:
        """Solves every fold for every C; `Cs` are ascending, and each solution is the start of the next."""
        return solve_one_by_one(self, space, folds, Cs, run)


class ClusterSolver(BaseSolver):
    """A solver on a cluster, which has the targets with the rows of each part: the problem given to `solve` has no examples."""

    spaces = (ClusterSpace,)

    def _check_length(self, problem: Problem, space: ClusterSpace) -> None:
        pass


def solve_one_by_one(solver: Solver, space: Any, folds: Sequence[Fold], Cs: np.ndarray, run: Run) -> FoldOutputs:
    """The folds one after another, by the method `solve` of any solver, in any space."""
    options: dict[str, Any] = {"tol": run.tol, "max_epochs": run.max_epochs, "seed": run.seed, "n_jobs": run.n_jobs}
    each = []
    for f, fold in enumerate(folds):
        follow = after(f * fold.problem.n_problems, run.progress)

        def solve(c: int, start: Any, fold: Fold = fold, follow: Progress | None = follow) -> Solved:
            problem = replace(fold.problem, C=Cs[c] * fold.problem.C)
            solution = solver.solve(problem, space, start=start, progress=follow, **options)
            return [held_out_outputs(space, solution, fold)], [solution.report.relative_gap], solution.alpha

        each.append(solve_path(Cs, solve))
    return FoldOutputs.joined(each)


def solve_folds(
    solver: Solver,
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
    >>> from treille.solvers import DualCD
    >>> from treille.solvers.problem import Hinge
    >>> from treille.spaces import RowsSpace
    >>> space = RowsSpace.build(NGram(1), NGram(1).batch(["a", "aa", "b", "bb"]))
    >>> weights = np.array([1.0, 0.0, 1.0, 0.0])
    >>> fold = Fold(Problem(Hinge(), np.array([0, 0, 1, 1]), weights, classes=np.array([1])), np.array([1, 3]))
    >>> solve_folds(DualCD(), space, [fold], [0.1, 10.0], tol=1e-6, max_epochs=100).outputs[0].round(2).tolist()
    [[[-0.2], [0.2]], [[-2.0], [2.0]]]
    """
    solve: Callable[..., FoldOutputs] = partial(solve_one_by_one, solver)
    limit = None
    if isinstance(solver, BaseSolver):
        solve, limit = solver.solve_folds, solver.max_seconds
    deadline = deadline_after(limit and limit * len(Cs) * len(folds))
    if limit is None:
        n = folds[0].problem.n_problems * len(folds)
        progress = with_estimate(progress, n, f"{n:,} paths, one per class and fold, on {len(space):,} examples")
    run = Run(float(tol), int(max_epochs), int(seed), n_jobs, None, progress, deadline)
    if isinstance(space, GramSpace):
        space = space.stored()
    order = np.argsort(Cs, kind="stable")
    found, back = solve(space, folds, np.asarray(Cs, np.float64)[order], run), np.argsort(order)
    return FoldOutputs([each[back] for each in found.outputs], found.gaps[back], found.seconds[back])
