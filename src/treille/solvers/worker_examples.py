"""The examples that one task of a cluster works on: rows over the features that occur in them, and targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille.features import ConcatenatedRows, FeatureRows, MatrixRows, PerProblemRows
from treille.features.abilities import having
from treille.solvers.problem import DualLoss, Problem
from treille.solvers.segments import core_rows, rows_of
from treille.spaces.cluster import ClusterSpace

HELD = 1e-9  # of C: how far a coefficient may be from the one that it is held at, since mixtures round


@dataclass(frozen=True)
class WorkerExamples:
    """Examples of one or more parts of the data, one after another. It is never changed."""

    rows: list[FeatureRows]  # column z is feature ids[z] of all
    problem: Problem
    ids: np.ndarray  # of the features that occur in the rows, in ascending order

    def __len__(self) -> int:
        return len(self.problem)

    def __sizeof__(self) -> int:  # Dask asks, and moves tasks to where little would have to be sent
        return object.__sizeof__(self) + sum(rows.nbytes for rows in self.rows) + self.ids.nbytes

    @property
    def loss(self) -> DualLoss:
        """The loss of the problem."""
        assert isinstance(self.problem.loss, DualLoss)
        return self.problem.loss

    def outputs(self, k: int, w: np.ndarray) -> np.ndarray:
        """f of all examples at w, whose last number is the intercept."""
        weights = w[:-1, None].astype(np.float64)
        f = np.concatenate([rows.matvec(weights)[:, 0] for rows in rows_of(self.rows, k)])
        return f + float(self.problem.intercept) * float(w[-1])

    def sums(self, k: int, *betas: np.ndarray) -> np.ndarray:
        """sum_i beta_i (x_i, 1) for some coefficients, one column each. One pass over the rows, without a copy of the sums."""
        columns, first, at = np.stack(betas, axis=1), True, 0
        sums = np.empty((len(self.ids) + 1, len(betas)))
        for rows in rows_of(self.rows, k):
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
        free: np.ndarray = np.abs(self.loss.subgradient(y, f, C) - beta) > HELD * C
        return free

    def for_core(self, k: int) -> tuple[Any, Any]:
        """The rows and targets of a problem."""
        return core_rows(rows_of(self.rows, k)), self.problem.only(k).core()


def worker_examples(space: ClusterSpace) -> tuple[list[Any], list[np.ndarray]]:
    """The futures of `WorkerExamples` for each group of parts, and the parts of each group. The rows of the space are released.

    Small parts are joined: an answer has vectors of all features, and a part whose rows take less than two of these is not worth
    one. This depends on the data alone, never on the workers that there happen to be.
    """
    worth = max(1, space.rows.nbytes // (2 * 8 * (space.n_features + 1)))
    groups = np.array_split(np.arange(len(space.futures)), min(len(space.futures), worth))
    futures = []
    for group in groups:
        own = [each[p] for each in (space.futures, space.problems) for p in group]
        futures.append(space.cluster.submit(_joined, len(group), *own))
    space.cluster.release(space.futures)
    return futures, groups


def _joined(n: int, *values: Any) -> WorkerExamples:
    rows, problems = list(values[:n]), values[n:]
    C, targets = np.concatenate([own.C for own in problems]), np.concatenate([own.targets for own in problems])
    counts = sum(own.frequencies(np.ones((len(own), 1)))[:, 0] for own in rows)
    ids = np.flatnonzero(counts).astype(np.int32)
    ids = ids if len(ids) else np.zeros(1, np.int32)  # rows have at least one column
    return WorkerExamples([_over(own, ids) for own in rows], replace(problems[0], targets=targets, C=C), ids)


def _over(rows: FeatureRows, ids: np.ndarray) -> FeatureRows:
    """The rows over these features alone."""
    if isinstance(rows, PerProblemRows):
        return PerProblemRows([_over(own, ids) for own in rows.problems])
    terms, first = list[FeatureRows](), 0
    for term in having(rows, MatrixRows).parts:
        own = ids[(first <= ids) & (ids < first + term.n_features)] - first
        new = np.full(term.n_features, -1, np.int64)
        new[own] = np.arange(len(own))
        terms.append(term.renumbered(new, len(own)))
        first += term.n_features
    return terms[0] if len(terms) == 1 else ConcatenatedRows(terms)
