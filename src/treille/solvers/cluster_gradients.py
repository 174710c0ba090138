"""Ridge regression on a cluster: conjugate gradients in the primal, one round per step.

    min_w,b  1/2 |w|^2 + sum_i C_i (y_i - w.x_i - b)^2

With s_i = sqrt(2 C_i), and X, y the rows s_i x_i and targets s_i y_i, centred by the weights C where the intercept is free, this
is (X'X + 1) w = X'y. A round sends a direction d and returns X'X d: each part adds its own sum, and the mean of its outputs. The
gap is half the squared residual |X'(y - X w) - w|^2, as in `least_squares`, so every step is a proof.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treille.features import FeatureRows
from treille.solvers.least_squares import LeastSquaresSolver, report_of
from treille.solvers.problem import Problem
from treille.solvers.report import Solution
from treille.solvers.solver import ClusterSolver, Run
from treille.spaces.cluster import ClusterSpace


class ClusterGradients(ClusterSolver, LeastSquaresSolver):
    """(X'X + 1) w = X'y by conjugate gradients, one round over the parts per step. Works on clusters.

    >>> import treille
    >>> treille.solvers.ClusterGradients().spaces[0].name
    'cluster'
    """

    def _solve(self, problem: Problem, space: ClusterSpace, run: Run) -> Solution:
        free, size = problem.intercept == "free", space.n_features + (problem.intercept is True)
        first = _sums(space, None)
        weight = first[-2, -1]  # sum_i C_i
        means, mean = first[:size, -1] / weight, first[-2, :-1] / weight  # of the columns, and of the targets
        right, square = 2 * first[:size, :-1], 2 * first[-1, :-1]
        if free:
            right, square = right - 2 * weight * np.outer(means, mean), square - 2 * weight * mean**2
        w, residual, direction, rounds, status = np.zeros_like(right), right, right, 1, "max_epochs"
        while True:
            gap = 0.5 * (residual**2).sum(axis=0)
            primal = 0.5 * (square - (right * w).sum(axis=0) - (residual * w).sum(axis=0))
            done = gap <= run.tol * primal
            if done.all() or rounds >= run.max_epochs:
                break
            if not run.poll(0, rounds, float((gap[~done] / primal[~done]).max())):
                status = "max_seconds"
                break
            found = _sums(space, direction)
            rounds += 1
            image = 2 * found[:size] + direction
            if free:
                image -= 2 * np.outer(means, found[-2])
            curvature = (direction * image).sum(axis=0)
            step = np.divide(2 * gap, curvature, out=np.zeros_like(gap), where=~done & (curvature > 0))
            w, residual = w + step * direction, residual - step * image
            after = 0.5 * (residual**2).sum(axis=0)
            direction = residual + np.divide(after, gap, out=np.zeros_like(gap), where=gap > 0) * direction
        weights, constant = w[: space.n_features], problem.intercept is True
        intercept = w[-1] if constant else mean - means @ w if free else np.zeros_like(mean)
        report = report_of(primal, gap, rounds, run.tol, status)
        report = replace(report, rounds=rounds, bytes_sent=rounds * 2 * w.nbytes * len(space.futures))
        return Solution(intercept, np.zeros((len(mean), 0)), report, weights=np.ascontiguousarray(weights))


def _sums(space: ClusterSpace, direction: np.ndarray | None) -> np.ndarray:
    """Sums over all examples, for the outputs f of a direction; None: for the targets, and in the last column for f_i = 1.

    The rows are sum_i C_i f_i x_i, where the last one, sum_i C_i f_i, belongs to the constant feature, and sum_i C_i f_i^2.
    """
    cluster, n = space.cluster, len(space.futures)
    futures = cluster.submit_all(_of_part, space.futures, space.problems, [cluster.keep(direction)] * n)
    sums: np.ndarray = cluster.total(futures)
    return sums


def _of_part(rows: FeatureRows, problem: Problem, direction: np.ndarray | None) -> np.ndarray:
    if direction is None:
        f = np.column_stack([problem.targets, np.ones(len(problem))])
    else:
        f = rows.matvec(direction[: rows.n_features]) + direction[rows.n_features :].sum(axis=0)
    weighted = problem.C[:, None] * f
    return np.vstack([rows.rmatvec(weighted), weighted.sum(axis=0), (weighted * f).sum(axis=0)])
