"""Ridge regression on a cluster: conjugate gradients in the primal, one round per step.

    min_w,b  1/2 |w|^2 + sum_i C_i (y_i - w.x_i - b)^2

With s_i = sqrt(2 C_i), and X, y the rows s_i x_i and targets s_i y_i, centred by the weights C where the intercept is free, this
is (X'X + 1) w = X'y. A round sends a direction d and returns X'X d: each part adds its own sum, and the mean of its outputs. The
gap is half the squared residual |X'(y - X w) - w|^2, as in `least_squares`, so every step is a proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille.features import FeatureRows
from treille.solvers.least_squares import LeastSquaresSolver
from treille.solvers.problem import Problem
from treille.solvers.report import Report, Solution
from treille.solvers.solver import ClusterSolver, Run
from treille.spaces.cluster import ClusterSpace


class ClusterGradients(ClusterSolver, LeastSquaresSolver):
    """(X'X + 1) w = X'y by conjugate gradients, one round over the parts per step. Works on clusters.

    >>> import treille
    >>> treille.solvers.ClusterGradients().spaces[0].name
    'cluster'
    """

    def _solve(self, problem: Problem, space: ClusterSpace, run: Run) -> Solution:
        sums, free = Sums(space, problem), problem.intercept == "free"
        first = sums.targets()
        right, square = 2 * first.rows, 2 * first.square
        means, mean = first.column / first.weight, first.outputs / first.weight
        if free:
            right, square = right - 2 * np.outer(means, first.outputs), square - 2 * first.weight * mean**2
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
            found = sums.products(direction)
            rounds += 1
            image = 2 * found.rows + direction
            if free:
                image -= 2 * np.outer(means, found.outputs)
            curvature = (direction * image).sum(axis=0)
            step = np.divide(2 * gap, curvature, out=np.zeros_like(gap), where=~done & (curvature > 0))
            w, residual = w + step * direction, residual - step * image
            after = 0.5 * (residual**2).sum(axis=0)
            direction = residual + np.divide(after, gap, out=np.zeros_like(gap), where=gap > 0) * direction
        constant = problem.intercept is True
        intercept = w[-1] if constant else mean - means[: len(w)] @ w if free else np.zeros_like(mean)
        weights = w[:-1] if constant else w
        each = [
            Report(float(p), float(p - g), rounds, 0.0, "converged" if g <= run.tol * p else status, 0)
            for p, g in zip(primal, gap, strict=True)
        ]
        report = replace(Report.combined(each), rounds=rounds, bytes_sent=rounds * 2 * w.nbytes * len(space.futures))
        return Solution(intercept, np.zeros((len(each), 0)), report, weights=np.ascontiguousarray(weights))


@dataclass(frozen=True)
class Sum:
    """Sums over examples, of rows x_i that end with a constant where the intercept is one."""

    rows: np.ndarray  # C_i f_i x_i
    outputs: np.ndarray  # C_i f_i
    square: np.ndarray  # C_i f_i^2
    column: np.ndarray  # C_i x_i
    weight: float  # C_i

    def __add__(self, other: Sum) -> Sum:
        return Sum(*(getattr(self, name) + getattr(other, name) for name in self.__dataclass_fields__))


class Sums:
    """The parts on the cluster."""

    def __init__(self, space: ClusterSpace, problem: Problem):
        self.space, self.constant = space, problem.intercept is True

    def targets(self) -> Sum:
        """Sums with the targets for f, and with the columns."""
        return self._total(_of_targets)

    def products(self, direction: np.ndarray) -> Sum:
        """Sums with the outputs of a direction for f."""
        return self._total(_of_direction, self.space.cluster.keep(direction))

    def _total(self, function: Any, *shared: Any) -> Sum:
        cluster, n = self.space.cluster, len(self.space.futures)
        same = [[value] * n for value in (self.constant, *shared)]
        futures = cluster.submit_all(function, self.space.futures, self.space.problems, *same)
        total: Sum = cluster.reduced(futures, _add)
        return total


def _of_targets(rows: FeatureRows, problem: Problem, constant: bool) -> Sum:
    return _sum(rows, problem, constant, _columns(problem.targets), True)


def _columns(targets: np.ndarray) -> np.ndarray:
    return targets if targets.ndim == 2 else targets[:, None]


def _of_direction(rows: FeatureRows, problem: Problem, constant: bool, direction: np.ndarray) -> Sum:
    f = rows.matvec(direction[:-1]) + direction[-1] if constant else rows.matvec(direction)
    return _sum(rows, problem, constant, f, False)


def _sum(rows: FeatureRows, problem: Problem, constant: bool, f: np.ndarray, columns: bool) -> Sum:
    weighted = problem.C[:, None] * f
    sums = rows.rmatvec(weighted)
    if constant:
        sums = np.vstack([sums, weighted.sum(axis=0)])
    column = rows.rmatvec(problem.C[:, None])[:, 0] if columns else np.zeros(0)
    column = np.append(column, problem.C.sum()) if columns and constant else column
    return Sum(sums, weighted.sum(axis=0), (weighted * f).sum(axis=0), column, float(problem.C.sum()))


def _add(*sums: Sum) -> Sum:
    total = sums[0]
    for other in sums[1:]:
        total = total + other
    return total
