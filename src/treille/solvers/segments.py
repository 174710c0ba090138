"""Dual coordinate descent on rows in several segments, all of them in memory: what `DualCD` does on rows in one piece."""

from dataclasses import replace

import numpy as np

from treille import _core
from treille.features import FeatureRows, PerProblemRows
from treille.io.parameters import effective_n_jobs
from treille.solvers.part_targets import coded_terms, part_targets, true_weights, weights_of
from treille.solvers.problem import Problem
from treille.solvers.report import Report, Solution
from treille.solvers.solver import Run, after

ROUNDING = 1 - 1e-9  # the gap is measured again at the end, by sums in another order
STATUS = {"stopped": "max_seconds"}  # the core's names that differ


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
    K, n, F, bias = problem.n_problems, len(problem), segments[0].n_features, float(problem.intercept)
    rows, threads = _core.PartRows([coded_terms(each) for each in segments]), effective_n_jobs(run.n_jobs)
    targets = part_targets(problem, np.arange(n))
    u, b, sums, sum_b = np.zeros((K, F)), np.zeros(K), np.zeros((K, F)), np.zeros(K)
    alpha = np.zeros((K, n)) if run.start is None else np.array(run.start, order="C")
    ends = _core.solve_part(
        rows, targets, bias, run.tol * ROUNDING, run.max_epochs, run.seed, u.reshape(-1), b, np.zeros(K), alpha.reshape(-1),
        threads, run.poll,
    )  # fmt: skip
    losses, conjugates = _core.measure_part(
        rows, targets, bias, u.reshape(-1), b, alpha.reshape(-1), sums.reshape(-1), sum_b, threads
    )
    weights = weights_of(segments[0])
    w, sum_w = true_weights(u, weights), true_weights(sums, weights)
    primal, dual = losses + _half_squares(w, b), conjugates - _half_squares(sum_w, sum_b)
    reports = []
    for p, d, (status, epochs) in zip(primal.tolist(), dual.tolist(), ends, strict=True):
        ended = "converged" if p - d <= run.tol * p else STATUS.get(status, status)
        reports.append(Report(p, d, epochs, 0.0, ended, run.seed))
    return Solution(bias * b, alpha, Report.combined(reports), weights=np.ascontiguousarray(w.T))


def _half_squares(w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """1/2 |w|^2 of each problem, its intercept included."""
    halves: np.ndarray = 0.5 * (np.einsum("kz,kz->k", w, w) + b**2)
    return halves
