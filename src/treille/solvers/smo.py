"""Sequential minimal optimisation: the Python side of core/solve/smo.hpp."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille import _core
from treille.io.parameters import check_choice, check_positive, effective_n_jobs
from treille.solvers.folds import Fold, FoldOutputs, Solved, held_out_outputs, solve_path
from treille.solvers.problem import Problem, QuadraticLoss, times
from treille.solvers.report import Report, Solution, reports_of
from treille.solvers.solver import BaseSolver, Run
from treille.solvers.time_shares import share_of
from treille.spaces import GramSpace


@dataclass(eq=False, repr=False)
class SMO(BaseSolver):
    """Steps on pairs of dual variables, with kernel values only. Works on gram. All kinds of intercept.

    Parameters
    ----------
    cache_mb : float
        Memory for rows of the kernel matrix, in megabytes (10^6 bytes). A matrix that fits is computed once. If it does not fit,
        rows are computed when they are needed, and the most recently used are kept.
    shrinking : bool
        Set variables aside that are firmly at a bound. The optimum is the same; without it, training takes longer.
    stopping : {"gap", "violation"}
        What `tol` bounds: the duality gap relative to the primal value, or, as in LIBSVM, the largest violation of the optimality
        conditions by a pair.
    max_seconds : float or None
        Stop after this time with the solution so far, and warn.

    References
    ----------
    Fan, Chen, Lin: Working set selection using second order information for training support vector machines. JMLR 2005.

    Examples
    --------
    >>> import treille
    >>> model = treille.SVC(treille.kernels.NGram(1), solver=treille.solvers.SMO(cache_mb=100))
    >>> model.fit(["ab", "cd"], [0, 1]).report_.status
    'converged'
    """

    spaces = (GramSpace,)
    losses = (QuadraticLoss,)
    intercepts = (False, True, "free")

    cache_mb: float = 500
    shrinking: bool = True
    stopping: str = "gap"

    def check(self) -> None:
        super().check()
        check_choice("stopping", self.stopping, "gap", "violation")
        check_positive("cache_mb", self.cache_mb)

    def _solve(self, problem: Problem, space: GramSpace, run: Run) -> Solution:
        return self._solve_all([problem], space, run)[0]

    def solve_folds(self, space: GramSpace, folds: Sequence[Fold], Cs: np.ndarray, run: Run) -> FoldOutputs:
        """For each C all folds in one call of the core, in threads, on one matrix."""

        def solve(c: int, start: Any) -> Solved:
            problems = [replace(fold.problem, C=Cs[c] * fold.problem.C) for fold in folds]
            # A multiple of all variables keeps the constraint of a free intercept.
            scaled = None if start is None else start[0] * (Cs[c] / start[1])
            shared = replace(run, start=scaled, deadline=share_of(run.deadline, len(Cs) - c))
            solutions = self._solve_all(problems, space, shared)
            outputs = [held_out_outputs(space, *each) for each in zip(solutions, folds, strict=True)]
            gaps = [solution.report.relative_gap for solution in solutions]
            return outputs, gaps, (np.concatenate([solution.alpha for solution in solutions]), Cs[c])

        return solve_path(Cs, solve)

    def _solve_all(self, problems: Sequence[Problem], space: GramSpace, run: Run) -> list[Solution]:
        """The solutions of problems that differ in targets and C only, in threads; `start` has the rows of one after another."""
        first, n = problems[0], len(problems[0])
        each_has = first.n_problems
        starts = [None if run.start is None else run.start[p * each_has :] for p in range(len(problems))]
        each = [_variables(one, start, k) for one, start in zip(problems, starts, strict=True) for k in range(each_has)]
        variables: dict[str, Any] = {name: np.concatenate([own[name] for own in each]) for name in each[0]}
        y = variables["y"]
        diagonal = np.ascontiguousarray(space.diag(), np.float64)  # first: values that are not finite end it early
        stored = space.is_stored or 8 * len(space) ** 2 <= self.cache_mb * 1e6
        rows = space.matrix().ravel() if stored else (space.row, int(self.cache_mb * 1e6))
        answers = _core.smo(
            rows=rows,
            **variables,
            diagonal=diagonal,
            examples=np.arange(len(y) // len(each)) % max(1, n),
            intercept=np.inf if first.intercept == "free" else float(first.intercept),
            tol=run.tol,
            violation_stop=self.stopping == "violation",
            max_epochs=run.max_epochs,
            shrinking=bool(self.shrinking),
            threads=effective_n_jobs(run.n_jobs),
            watch=run.watch,
        )
        # There may be two variables per example, a for errors above and a' for errors below; alpha is a - a'.
        coefficients = (answers.alpha * y).reshape(len(each), -1, n).sum(axis=1)
        alpha = coefficients * np.stack([one.signs(k) for one in problems for k in range(each_has)])
        reports = reports_of(answers, seed=0)
        solved = []
        for p in range(len(problems)):
            own = slice(p * each_has, (p + 1) * each_has)
            beta = np.ascontiguousarray(coefficients[own].T)
            solved.append(Solution(answers.bias[own], alpha[own], Report.combined(reports[own]), coefficients=beta))
        return solved


def _variables(problem: Problem, start: np.ndarray | None, k: int) -> dict[str, np.ndarray]:
    """y, p, C, d and the start of problem k, of which SMO minimises 1/2 a'Qa + p'a, Q_ij = y_i y_j k_ij + d_i [i = j]."""
    loss, n, C, sign, z = problem.loss, len(problem), problem.C, problem.signs(k), problem.y(k)
    assert isinstance(loss, QuadraticLoss)
    begin = loss.start(C) if start is None else start[k]
    lower, upper, epsilon, bend = loss.shape()
    low, high, d = times(lower, C), times(upper, C), np.divide(bend, C, out=np.zeros(n), where=C > 0)
    above = {"y": sign, "p": epsilon - sign * z, "C": high, "d": d, "start": np.maximum(begin, 0)}
    if lower == 0:
        return above
    below = {"y": -sign, "p": epsilon + sign * z, "C": low, "d": d, "start": np.maximum(-begin, 0)}
    return {name: np.concatenate([own, below[name]]) for name, own in above.items()}
