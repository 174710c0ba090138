"""The perceptron: the Python side of core/solve/perceptron.hpp."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille import _core
from treille.features.compaction import check_representation
from treille.io.parameters import check_positive, effective_n_jobs
from treille.solvers.problem import Problem, Separation
from treille.solvers.report import Report, Solution
from treille.solvers.solver import BaseSolver, Run
from treille.spaces import GramSpace, RowsSpace


@dataclass(eq=False, repr=False)
class Perceptron(BaseSolver):
    """Adds each misclassified example to the weights until an epoch has no mistake. Works on rows and on gram.

    If the classes can be separated with a margin of gamma by weights and an intercept of norm 1, and no example has a norm above R
    (with the intercept, the constant feature included), it makes at most (R / gamma)^2 mistakes, in any order of the examples.
    The report states the mistakes of each epoch, the largest norm, and as primal and dual value minus the margin that was found
    and minus an upper bound of any margin.

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
    >>> from treille.solvers import Perceptron, Problem
    >>> from treille.solvers.problem import Separation
    >>> space = RowsSpace.build(NGram(1), NGram(1).batch(["aab", "ab", "bcc", "c"]))
    >>> problem = Problem(Separation(), np.array([0, 0, 1, 1]), np.ones(4), classes=np.array([1]))
    >>> report = Perceptron(averaged=False).solve(problem, space).report
    >>> report.status, report.mistakes[-1], sum(report.mistakes) <= report.mistake_bound
    ('converged', 0, True)
    """

    spaces = (RowsSpace, GramSpace)
    losses = (Separation,)

    averaged: bool = True
    representation: str = "auto"
    cache_mb: float = 500
    max_seconds: float | None = None

    def check(self) -> None:
        super().check()
        check_representation(self.representation)
        check_positive("cache_mb", self.cache_mb)

    def _solve(self, problem: Problem, space: RowsSpace | GramSpace, run: Run) -> Solution:
        n_problems, n = problem.n_problems, len(problem)
        options: dict[str, Any] = {
            "labels": problem.targets,
            "classes": problem.classes,
            "C": problem.C,
            "before": np.empty(0),
            "largest": np.zeros(n_problems),
            "bias": float(problem.intercept),
            "max_epochs": run.max_epochs,
            "shuffle": True,
            "seed": run.seed,
            "threads": effective_n_jobs(run.n_jobs),
            "poll": run.poll,
        }
        representation = ""
        if isinstance(space, GramSpace) and 8 * n**2 <= self.cache_mb * 1e6:
            space = space.stored()
        if isinstance(space, RowsSpace):
            form = space.represented(self.representation, n_problems)
            answers, representation = _core.perceptron_rows(rows=form.core, **options), str(form)
        elif space.is_stored:
            answers = _core.perceptron_stored(matrix=space.matrix().ravel(), **options)
        else:
            answers = _core.perceptron_cached(row=space.row, cache_bytes=int(self.cache_mb * 1e6), **options)
        y = np.stack([problem.y(k) for k in range(n_problems)])
        alpha, late = answers.alpha.reshape(n_problems, n), answers.late.reshape(n_problems, n)
        last = y * alpha
        shares = late / np.maximum(1, np.array(answers.visits))[:, None] if self.averaged else 0.0
        coefficients = np.ascontiguousarray((last - y * shares).T)
        intercept = coefficients.sum(axis=0) * float(problem.intercept)
        weights = space.rmatvec(coefficients) if isinstance(space, RowsSpace) else None
        outputs = _product(space, coefficients)
        bounds = _product(space, last.T) if self.averaged else outputs  # at the last weights
        diagonal = space.rows.diag() if isinstance(space, RowsSpace) else space.diag()
        radius = float(np.sqrt(diagonal[problem.C > 0].max(initial=0.0) + float(problem.intercept)))
        reports = []
        for k in range(n_problems):
            sq_norm, f = float(coefficients[:, k] @ outputs[:, k]), outputs[:, k] + intercept[k]
            primal = problem.primal(max(0.0, sq_norm), f, float(intercept[k]), k)
            sq_last = float(last[k] @ bounds[:, k]) + float(problem.intercept) * float(last[k].sum()) ** 2
            dual = max(-radius, problem.dual(last[k], max(0.0, sq_last), k))
            status = {"stopped": "max_seconds"}.get(answers.status[k], answers.status[k])
            mistakes = tuple(answers.mistakes[k])
            reports.append(Report(primal, dual, len(mistakes), 0.0, status, run.seed, mistakes=mistakes, radius=radius))
        report = replace(Report.combined(reports), representation=representation)
        return Solution(intercept, alpha, report, weights, None if weights is not None else coefficients)


def _product(space: RowsSpace | GramSpace, coefficients: np.ndarray) -> np.ndarray:
    """``K @ coefficients``."""
    if isinstance(space, RowsSpace):
        return space.product(np.ascontiguousarray(coefficients))
    if space.is_stored:
        return space.matrix() @ coefficients
    return space.kernel.apply(space.batch, space.batch, np.ascontiguousarray(coefficients), space.n_jobs)
