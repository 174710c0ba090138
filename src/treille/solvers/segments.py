"""Rows in several segments, such as parts of the data, as core/solve/part_cd.hpp takes them, and its descent on all of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from treille import _core
from treille.features import FeatureRows, MatrixRows
from treille.features.abilities import having
from treille.io.parameters import effective_n_jobs
from treille.solvers.dual_cd import DualCD
from treille.solvers.problem import Problem
from treille.solvers.report import Report, Solution, reports_of
from treille.solvers.solver import Run


def rows_of(segments: Sequence[FeatureRows], k: int) -> list[FeatureRows]:
    """The rows of problem k, which differ from problem to problem for some kernels."""
    return [rows.problems[k if len(rows.problems) > 1 else 0] for rows in segments]


def core_rows(segments: Sequence[FeatureRows]) -> Any:
    """The segments for the core: the terms of each, with the weights of their columns beside them."""
    return _core.PartRows([[_coded(term) for term in having(rows, MatrixRows).parts] for rows in segments])


def _coded(term: Any) -> Any:
    coded = term.coded()
    return coded if term.column_weights is None else coded.weighted(term.column_weights)


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
    each = range(problem.n_problems)
    return Solution.combined([_solve(rows_of(segments, k), problem.only(k), run.of_problem(k)) for k in each])


def _solve(segments: list[FeatureRows], problem: Problem, run: Run) -> Solution:
    answers = _core.dual_cd(
        rows=core_rows(segments),
        targets=problem.core(),
        start=np.empty(0) if run.start is None or not run.start.any() else np.ravel(run.start),
        options=DualCD().options(problem, run),
        threads=effective_n_jobs(run.n_jobs),
        weights=True,
        poll=run.poll,
    )
    alpha = answers.alpha.reshape(problem.n_problems, len(problem))
    weights = answers.weights.reshape(-1, problem.n_problems)
    return Solution(answers.bias, alpha, Report.combined(reports_of(answers, run.seed)), weights=weights)


def half_squares(u: np.ndarray, b: np.ndarray, column_weights: np.ndarray | None) -> np.ndarray:
    """1/2 |w|^2 of each problem, its intercept included."""
    w = true_weights(u, column_weights)
    halves: np.ndarray = 0.5 * (np.einsum("kz,kz->k", w, w) + b**2)
    return halves
