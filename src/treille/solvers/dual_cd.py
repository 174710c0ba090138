"""Dual coordinate descent: the Python side of core/solve/dual_cd.hpp."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille import _core
from treille.features.compaction import check_representation
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.solvers.problem import DualLoss, Problem
from treille.solvers.report import Report, Solution, reports_of
from treille.solvers.solver import BaseSolver, Run
from treille.spaces import RowsSpace


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
        if self.stopping not in ("gap", "gradient"):
            raise InputError(f"stopping is {self.stopping!r}, expected 'gap' or 'gradient'")
        check_representation(self.representation)

    def _solve(self, problem: Problem, space: RowsSpace, run: Run) -> Solution:
        n_problems, n = problem.n_problems, len(problem)
        form = space.represented(self.representation, n_problems)
        answers = _core.dual_cd(
            rows=form.core,
            targets=problem.core(),
            start=np.empty(0) if run.start is None else run.start.ravel(),
            options=self.options(problem, run),
            threads=effective_n_jobs(run.n_jobs),
            weights=form.weights,
            poll=run.poll,
        )
        report = replace(Report.combined(reports_of(answers, run.seed)), representation=str(form))
        alpha = answers.alpha.reshape(n_problems, n)
        if not form.weights:
            signs = np.stack([problem.signs(k) for k in range(n_problems)])
            return Solution(answers.bias, alpha, report, coefficients=(alpha * signs).T)
        return Solution(answers.bias, alpha, report, weights=form.read(answers.weights.reshape(-1, n_problems)))

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
