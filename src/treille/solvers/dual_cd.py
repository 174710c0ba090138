"""Dual coordinate descent: the Python side of core/solve/dual_cd.hpp, and of part_cd.hpp for rows in several segments."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille import _core
from treille.data.base import readable_size
from treille.features import FeatureRows, MatrixRows, Rows
from treille.features.abilities import having
from treille.features.compaction import Representation, check_representation
from treille.io.errors import InputError
from treille.io.parameters import check_choice, effective_n_jobs, parse_size
from treille.solvers.folds import Fold, FoldOutputs
from treille.solvers.problem import DualLoss, Problem
from treille.solvers.report import Report, Solution, reports_of
from treille.solvers.solver import BaseSolver, ClusterSolver, Run
from treille.spaces import RowsSpace
from treille.spaces.parts import ClusterSpace


@dataclass(eq=False, repr=False)
class DualCD(BaseSolver):
    """Exact coordinate steps on the dual, with W' = sum_i alpha_i y_i Phi_i kept up to date. Works on rows.

    Parameters
    ----------
    shrinking : bool
        Skip examples that are firmly at a bound for some sweeps. The optimum is the same; without it, training takes longer.
    stopping : {"gap", "gradient"}
        What `tol` bounds: the duality gap relative to the primal value, or, as in LIBLINEAR, the spread of the projected gradients.
    representation : {"auto", "flat", "merged", "trie", "automaton", "naive"}
        How W' is represented during training. The result is the same up to rounding; time and memory differ. "auto" picks by
        sizes, and ``plan_`` reports the choice. See the page "Representations of W'".
    max_seconds : float or None
        Stop after this time with the solution so far, and warn.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan: A dual coordinate descent method for large-scale linear SVM. ICML 2008.
    Allauzen, Cortes, Mohri: SVM optimization for lattice kernels. Algorithm 2.
    Ho, Lin: Large-scale linear support vector regression. JMLR 2012.
    Yu, Huang, Lin: Dual coordinate descent methods for logistic regression. Machine Learning 2011.

    Examples
    --------
    >>> import treille
    >>> model = treille.SVC(treille.kernels.NGram(1), solver=treille.solvers.DualCD(max_seconds=10))
    >>> model.fit(["ab", "cd"], [0, 1]).report_.status
    'converged'
    """

    spaces = (RowsSpace,)
    losses = (DualLoss,)

    shrinking: bool = True
    stopping: str = "gap"
    representation: str = "auto"

    def check(self) -> None:
        super().check()
        check_choice("stopping", self.stopping, "gap", "gradient")
        check_representation(self.representation)

    def _solve(self, problem: Problem, space: RowsSpace, run: Run) -> Solution:
        represented = space.represented(self.representation, problem.n_problems)
        solution = self.solve_represented(represented, problem, run)
        return replace(solution, report=replace(solution.report, representation=str(represented)))

    def solve_represented(self, represented: Representation, problem: Problem, run: Run) -> Solution:
        """The solution on rows in the layout of the core."""
        n_problems = problem.n_problems
        answers = _core.dual_cd(
            rows=represented.core,
            targets=problem.core(),
            start=np.empty(0) if run.start is None else run.start.ravel(),
            options=self.options(problem, run),
            threads=effective_n_jobs(run.n_jobs),
            weights=represented.weights,
            watch=run.watch,
        )
        report = Report.combined(reports_of(answers, run.seed))
        alpha = answers.alpha.reshape(n_problems, len(problem))
        if not represented.weights:
            signs = np.stack([problem.signs(k) for k in range(n_problems)])
            return Solution(answers.bias, alpha, report, coefficients=(alpha * signs).T)
        return Solution(answers.bias, alpha, report, weights=represented.read(answers.weights.reshape(-1, n_problems)))

    def solve_folds(self, space: RowsSpace, folds: Sequence[Fold], Cs: np.ndarray, run: Run) -> FoldOutputs:
        """All folds and functions in one call of the core, in threads."""
        first = folds[0].problem
        if len(space.by_problem()) > 1:
            return super().solve_folds(space, folds, Cs, run)
        cuts = np.cumsum([0, *(len(fold.held_out) for fold in folds)])
        answers = _core.dual_cd_folds(
            rows=space.represented("auto", first.n_problems * len(folds)).core,
            targets=[fold.problem.core() for fold in folds],
            begin=cuts.astype(np.int64),
            held_out=np.concatenate([fold.held_out for fold in folds]).astype(np.int64),
            Cs=Cs,
            options=self.options(first, run),
            threads=effective_n_jobs(run.n_jobs),
            watch=run.watch,
        )
        shape = len(Cs), len(folds), first.n_problems
        return FoldOutputs(
            np.split(answers[0].reshape(len(Cs), -1, first.n_problems), cuts[1:-1], axis=1),
            answers[1].reshape(shape).max(axis=2),
            answers[2].reshape(shape).sum(axis=2),
        )

    def options(self, problem: Problem, run: Run) -> Any:
        """The options of a run for the core."""
        return _core.DualCDOptions(
            bias=float(problem.intercept),
            tol=run.tol,
            max_epochs=run.max_epochs,
            shrinking=bool(self.shrinking),
            gradient_stop=self.stopping == "gradient",
            seed=run.seed,
        )


def rows_of(segments: Sequence[FeatureRows], k: int) -> list[FeatureRows]:
    """The rows of problem k, which differ from problem to problem for some kernels."""
    return [rows.problems[k if len(rows.problems) > 1 else 0] for rows in segments]


def core_rows(segments: Sequence[FeatureRows]) -> Any:
    """The segments for the core: the terms of each, with the weights of their columns beside them."""
    each = [having(rows, MatrixRows).parts for rows in segments]
    return _core.PartRows([[having(term, Rows).weighted_core() for term in terms] for terms in each])


def weights_of(rows: FeatureRows) -> np.ndarray | None:
    """The weights of all columns; None where all are 1."""
    terms = having(rows, MatrixRows).parts
    if all(term.column_weights is None for term in terms):
        return None
    return np.concatenate(
        [np.ones(term.n_features) if term.column_weights is None else term.column_weights for term in terms]
    )


def true_weights(u: np.ndarray, column_weights: np.ndarray | None) -> np.ndarray:
    """w from u = s w, see core/features/part_rows.hpp."""
    if column_weights is None:
        return u
    return np.divide(u, column_weights, out=np.zeros_like(u), where=column_weights > 0)


def solve_segments(segments: list[FeatureRows], problem: Problem, run: Run) -> Solution:
    """Solves all problems on the rows of the segments, one segment after another."""
    if len(segments[0].problems) == 1:
        return _solve(rows_of(segments, 0), problem, run)
    n = problem.n_problems
    each = [_solve(rows_of(segments, k), problem.only(k), run.of_problem(k, n)) for k in range(n)]
    return Solution.combined(each)


def _solve(segments: list[FeatureRows], problem: Problem, run: Run) -> Solution:
    start = None if run.start is None or not run.start.any() else run.start
    represented = Representation("segments", "as given", f"{len(segments):,} segments", core_rows(segments))
    return DualCD().solve_represented(represented, problem, replace(run, start=start))


def half_squares(u: np.ndarray, b: np.ndarray, column_weights: np.ndarray | None) -> np.ndarray:
    """1/2 |w|^2 of each problem, its intercept included."""
    w = true_weights(u, column_weights)
    return 0.5 * (np.einsum("kz,kz->k", w, w) + b**2)


@dataclass(eq=False, repr=False)
class GatheredDualCD(ClusterSolver):
    """Gathers the rows of all parts at the driver, and solves the problem there as `DualCD` does. Works on clusters.

    Descent takes so few passes over the rows that nothing is gained by dividing them where they fit in one memory. Workers divide
    the reading, the counting of features and the computation of rows.

    Parameters
    ----------
    memory : int or str
        Memory for the rows, "1GB" say. If they take more, ``solver="auto"`` is `BundleMethod`, and this solver refuses them.
    max_seconds : float or None
        Stop after this time with the solution so far, and warn.

    Examples
    --------
    >>> import treille
    >>> treille.solvers.GatheredDualCD().spaces[0].name
    'cluster'
    """

    losses = DualCD.losses

    memory: int | str = "1GB"

    def check(self) -> None:
        super().check()
        parse_size("memory", self.memory)

    def recommended(self, space: ClusterSpace, problem: Problem) -> bool:
        return space.rows.nbytes <= parse_size("memory", self.memory)

    def _solve(self, problem: Problem, space: ClusterSpace, run: Run) -> Solution:
        if not self.recommended(space, problem):
            raise InputError(
                f"the rows take {readable_size(space.rows.nbytes)}, more than memory={self.memory!r}: allow more, or use "
                "BundleMethod(), which leaves them on the workers"
            )
        n = len(space.futures)
        gathered = space.cluster.gather([*space.futures, *space.problems])
        space.cluster.release(space.futures)
        targets, C = (np.concatenate([getattr(own, name) for own in gathered[n:]]) for name in ("targets", "C"))
        whole = replace(problem, targets=targets, C=C)
        solution = solve_segments([rows for rows in gathered[:n] if len(rows)], whole, run)
        # On a cluster, epochs are rounds.
        return replace(solution, report=replace(solution.report, epochs=1, rounds=1, bytes_sent=space.rows.nbytes))
