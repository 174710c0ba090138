"""The perceptron: the Python side of core/solve/perceptron.hpp."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille import _core
from treille.features.compaction import check_representation
from treille.io.parameters import check_positive, effective_n_jobs
from treille.solvers.problem import Problem, Separation
from treille.solvers.report import STATUS, Report, Solution
from treille.solvers.solver import BaseSolver, Run
from treille.spaces import GramSpace, RowsSpace


@dataclass(eq=False, repr=False)
class PerceptronSolver(BaseSolver):
    """Adds each misclassified example to the weights until an epoch has no mistake. Works on rows and on gram.

    If the classes can be separated with a margin of gamma by weights and an intercept of norm 1, and no example has a norm above R
    (with the intercept, the constant feature included), it makes at most (R / gamma)^2 mistakes, in any order of the examples.
    The report states the mistakes of each epoch, the largest norm, and as primal and dual value minus the margin reached and minus
    an upper bound of any margin.

    Parameters
    ----------
    averaged : bool
        Return the mean of the weights over all visits of examples. Otherwise the last weights.
    representation : {"auto", "flat", "merged", "trie", "automaton", "naive"}
        How W' is represented during training, as for `DualCD`.
    cache_mb : float
        Memory for rows of the kernel matrix, in megabytes, as for `SMO`.
    max_seconds : float or None
        Stop after this time with the solution so far, and warn.

    References
    ----------
    Novikoff: On convergence proofs for perceptrons. Symposium on the Mathematical Theory of Automata, 1962.
    Freund, Schapire: Large margin classification using the perceptron algorithm. Machine Learning 1999.

    Examples
    --------
    >>> from treille.kernels import NGram
    >>> from treille.solvers import PerceptronSolver, Problem
    >>> from treille.solvers.problem import Separation
    >>> space = RowsSpace.build(NGram(1), NGram(1).batch(["aab", "ab", "bcc", "c"]))
    >>> problem = Problem(Separation(), np.array([0, 0, 1, 1]), np.ones(4), classes=np.array([1]))
    >>> report = PerceptronSolver(averaged=False).solve(problem, space).report
    >>> report.status, report.mistakes[-1], sum(report.mistakes) <= report.mistake_bound
    ('converged', 0, True)
    """

    spaces = (RowsSpace, GramSpace)
    losses = (Separation,)

    averaged: bool = True
    representation: str = "auto"
    cache_mb: float = 500

    def check(self) -> None:
        super().check()
        check_representation(self.representation)
        check_positive("cache_mb", self.cache_mb)

    def _solve(self, problem: Problem, space: RowsSpace | GramSpace, run: Run) -> Solution:
        n_problems, n = problem.n_problems, len(problem)
        assert problem.classes is not None
        representation = ""
        if isinstance(space, GramSpace) and 8 * n**2 <= self.cache_mb * 1e6:
            space = space.stored()
        rows: Any
        if isinstance(space, RowsSpace):
            represented = space.represented(self.representation, n_problems)
            rows, representation = represented.core, str(represented)
        else:
            rows = space.matrix().ravel() if space.is_stored else (space.row, int(self.cache_mb * 1e6))
        answers = _core.perceptron(
            rows=rows,
            labels=problem.targets,
            classes=problem.classes,
            C=problem.C,
            before=np.empty(0),
            largest=np.zeros(n_problems),
            bias=float(problem.intercept),
            max_epochs=run.max_epochs,
            shuffle=True,
            seed=run.seed,
            threads=effective_n_jobs(run.n_jobs),
            watch=run.watch,
        )
        y = np.stack([problem.y(k) for k in range(n_problems)])
        alpha, late = answers.alpha.reshape(n_problems, n), answers.late.reshape(n_problems, n)
        last = mean = np.ascontiguousarray((y * alpha).T)
        if self.averaged:
            steps = np.maximum(1, np.array(answers.visits))[:, None]
            mean = np.ascontiguousarray((y * (alpha - late / steps)).T)
        diagonal = space.rows.diag() if isinstance(space, RowsSpace) else space.diag()
        radius = float(np.sqrt(diagonal[problem.C > 0].max(initial=0.0) + float(problem.intercept)))
        margins = _margins(problem, space, mean)
        reports = []
        for k, (last_margin, norm) in enumerate(margins if last is mean else _margins(problem, space, last)):
            dual, mistakes = max(-radius, problem.dual(last[:, k], norm, k)), tuple(answers.mistakes[k])
            status = STATUS.get(answers.status[k], answers.status[k])
            ended = Report(margins[k][0], dual, len(mistakes), 0.0, status, run.seed)
            reports.append(replace(ended, mistakes=mistakes, radius=radius, last_margin=-last_margin))
        report = replace(Report.combined(reports), representation=representation)
        intercept = float(problem.intercept) * mean.sum(axis=0)
        if isinstance(space, RowsSpace):
            return Solution(intercept, alpha, report, weights=space.rmatvec(mean))
        return Solution(intercept, alpha, report, coefficients=mean)


def _margins(problem: Problem, space: RowsSpace | GramSpace, coefficients: np.ndarray) -> list[tuple[float, float]]:
    """For each problem, minus the margin of the function with these coefficients, and |(w, b)|^2."""
    margins = []
    for k, (beta, f) in enumerate(zip(coefficients.T, space.product(coefficients).T, strict=True)):
        sq_norm, b = max(0.0, float(beta @ f)), float(problem.intercept) * float(beta.sum())
        margins.append((problem.primal(sq_norm, f + b, b, k), sq_norm + b**2))
    return margins
