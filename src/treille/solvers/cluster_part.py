"""A part of the examples on a cluster, as its solvers see it: rows and targets that stay where they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille import _core
from treille.features import FeatureRows, PerProblemRows
from treille.solvers.part_targets import coded_terms, part_targets
from treille.solvers.problem import Problem
from treille.spaces.cluster import ClusterSpace

EXACT = 1e-5  # the tolerance below which vectors are sent in float64
HELD = 1e-9  # of C: how far a coefficient may be from the one that it is held at, since mixtures round


@dataclass(frozen=True)
class ClusterPart:
    """Examples of one or more parts of the data, one after another. It is never changed."""

    rows: list[FeatureRows]
    problem: Problem

    def __len__(self) -> int:
        return len(self.problem)

    def __sizeof__(self) -> int:  # Dask asks, and moves tasks to where little would have to be sent
        return object.__sizeof__(self) + sum(rows.nbytes for rows in self.rows)

    def rows_of(self, k: int) -> list[FeatureRows]:
        """The rows of a problem, which may be its own."""
        return rows_of(self.rows, k)

    def outputs(self, k: int, w: np.ndarray) -> np.ndarray:
        """Of all examples at w, whose last number is the intercept."""
        weights = w[:-1, None].astype(np.float64)
        f = np.concatenate([rows.matvec(weights)[:, 0] for rows in self.rows_of(k)])
        return f + float(self.problem.intercept) * float(w[-1])

    def sums(self, k: int, *betas: np.ndarray) -> np.ndarray:
        """sum_i beta_i (x_i, 1) for some coefficients, one column each. One pass over the rows, without a copy of the sums."""
        columns, first, at = np.stack(betas, axis=1), True, 0
        sums = np.empty((self.rows[0].n_features + 1, len(betas)))
        for rows in self.rows_of(k):
            own = columns[at : at + len(rows)]
            if first:
                rows.rmatvec(own, out=sums[:-1])
            else:
                sums[:-1] += rows.rmatvec(own)
            at, first = at + len(rows), False
        sums[-1] = float(self.problem.intercept) * columns.sum(axis=0)
        return sums

    def conjugate(self, k: int, beta: np.ndarray) -> float:
        """What coefficients add to the dual value, besides |w|^2."""
        return float(self.problem.loss.conjugate(self.problem.y(k), beta, self.problem.C).sum())

    def free(self, k: int, f: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Examples whose coefficient is not what the loss asks for at f: the others are held there, and need not be visited."""
        y, C = self.problem.y(k), self.problem.C
        free: np.ndarray = np.abs(self.problem.loss.subgradient(y, f, C) - beta) > HELD * C
        return free

    def for_core(self, problems: tuple[int, ...], multiple: float = 1.0) -> tuple[Any, Any]:
        """The rows and targets of some problems on the same rows, with a multiple of C."""
        some = some_problems(self.problem, problems)
        targets = part_targets(replace(some, C=multiple * some.C), np.arange(len(self)))
        return _core.PartRows([coded_terms(own) for own in self.rows_of(problems[0])]), targets


def rows_of(each: list[FeatureRows], k: int) -> list[FeatureRows]:
    """The rows of problem k, which may be its own."""
    return [rows.problems[k] if isinstance(rows, PerProblemRows) else rows for rows in each]


def sent_type(tol: float) -> Any:
    """The type in which vectors of all features are sent."""
    return np.float64 if tol < EXACT else np.float32


def signs(problem: Problem, k: int) -> np.ndarray:
    """What dual variables are multiplied by to give coefficients, and the other way round."""
    return problem.y(k) if problem.loss.of_classes else np.ones(len(problem))


def some_problems(problem: Problem, which: tuple[int, ...]) -> Problem:
    """These problems alone."""
    some = list(which)
    if problem.classes is not None:
        return replace(problem, classes=problem.classes[some])
    return replace(problem, targets=problem.targets.reshape(len(problem), -1)[:, some])


def joined_parts(space: ClusterSpace) -> tuple[list[Any], list[np.ndarray]]:
    """The futures of a `ClusterPart` for each group of parts, and the parts of each group.

    Small parts are joined: an answer has vectors of all features, and a part whose rows take less than two of these is not worth
    one. This depends on the data alone, never on the workers that there happen to be.
    """
    worth = max(1, space.rows.nbytes // (2 * 8 * (space.n_features + 1)))
    groups = np.array_split(np.arange(len(space.futures)), min(len(space.futures), worth))
    futures = []
    for group in groups:
        own = [each[p] for each in (space.futures, space.problems) for p in group]
        futures.append(space.cluster.submit(_joined, len(group), *own))
    return futures, groups


def _joined(n: int, *values: Any) -> ClusterPart:
    rows, problems = list(values[:n]), values[n:]
    C, targets = np.concatenate([own.C for own in problems]), np.concatenate([own.targets for own in problems])
    return ClusterPart(rows, replace(problems[0], targets=targets, C=C))
