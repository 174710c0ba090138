"""Dual coordinate descent on rows in several segments, all of them in memory: what `DualCD` does on rows in one piece."""

from dataclasses import replace

import numpy as np

from treille import _core
from treille.features import FeatureRows, PerProblemRows
from treille.io.parameters import effective_n_jobs
from treille.solvers.dual_cd import DualCD
from treille.solvers.part_targets import coded_terms
from treille.solvers.problem import Problem
from treille.solvers.report import Solution, summary
from treille.solvers.solver import Run, after


def rows_of(segments: list[FeatureRows], k: int) -> list[FeatureRows]:
    """The rows of problem k, which differ from problem to problem for some kernels."""
    return [rows.problems[k] if isinstance(rows, PerProblemRows) else rows for rows in segments]


def some_problems(problem: Problem, which: list[int]) -> Problem:
    """These problems alone."""
    if problem.classes is not None:
        return replace(problem, classes=problem.classes[which])
    return replace(problem, targets=problem.targets.reshape(len(problem), -1)[:, which])


def solve_segments(segments: list[FeatureRows], problem: Problem, run: Run) -> Solution:
    """Solves all problems on the rows of the segments, one segment after another."""
    if not isinstance(segments[0], PerProblemRows):
        return _solve(segments, problem, run)
    solutions = []
    for k in range(problem.n_problems):
        start = None if run.start is None else run.start[k : k + 1]
        own = replace(run, seed=run.seed + k, start=start, poll=after(k, run.poll))
        solutions.append(_solve(rows_of(segments, k), some_problems(problem, [k]), own))
    return Solution.combined(solutions)


def _solve(segments: list[FeatureRows], problem: Problem, run: Run) -> Solution:
    answers = _core.dual_cd(
        rows=_core.PartRows([coded_terms(each) for each in segments]),
        targets=problem.core(),
        start=np.empty(0) if run.start is None or not run.start.any() else np.ravel(run.start),
        options=DualCD().options(problem, run),
        threads=effective_n_jobs(run.n_jobs),
        weights=True,
        poll=run.poll,
    )
    alpha = answers.alpha.reshape(problem.n_problems, len(problem))
    weights = answers.weights.reshape(-1, problem.n_problems)
    return Solution(answers.bias, alpha, summary(answers, run.seed), weights=weights)
