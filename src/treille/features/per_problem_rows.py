"""Rows whose values differ from problem to problem: the same entries with other weights of columns and other norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treille.features.abilities import having
from treille.features.rows import CountableRows, DivisibleRows, FeatureRows, MatrixRows, WeighableRows
from treille.io.errors import InputError


class PerProblemRows(CountableRows, DivisibleRows):
    """The rows of several problems, such as one class against the rest. They share their entries; nothing is copied.

    Column k of weights and of coefficients belongs to problem k.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "b"])
    >>> each = PerProblemRows([rows.weighted(np.array([1.0, 0.5])), rows.weighted(np.array([0.0, 1.0]))])
    >>> each.matvec(np.ones((2, 2))).tolist()
    [[2.0, 2.0], [1.0, 0.0]]
    """

    def __init__(self, problems: Sequence[FeatureRows]):
        self.each = tuple(problems)

    @property
    def problems(self) -> tuple[FeatureRows, ...]:
        return self.each

    def __len__(self) -> int:
        return len(self.each[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.each[0].n_features

    @property
    def n_entries(self) -> int:
        return self.each[0].n_entries

    @property
    def nbytes(self) -> int:
        return self.each[0].nbytes

    def diag(self) -> np.ndarray:
        """One column per problem."""
        return np.stack([rows.diag() for rows in self.each], axis=1)

    def scaled(self, factor: float | np.ndarray) -> PerProblemRows:
        return PerProblemRows([rows.scaled(factor) for rows in self.each])

    def normalized(self) -> PerProblemRows:
        return PerProblemRows([rows.normalized() for rows in self.each])

    def weighted(self, column_weights: np.ndarray, unseen: float = 1.0, threads: int = 1) -> PerProblemRows:
        return PerProblemRows(
            [having(rows, WeighableRows).weighted(column_weights, unseen, threads) for rows in self.each]
        )

    def taken(self, which: np.ndarray) -> PerProblemRows:
        return PerProblemRows([having(rows, DivisibleRows).taken(which) for rows in self.each])

    def frequencies(self, groups: np.ndarray, threads: int = 1) -> np.ndarray:
        return having(self.each[0], CountableRows).frequencies(groups, threads)

    def matvec(self, weights: np.ndarray, threads: int = 1) -> np.ndarray:
        columns = zip(self.each, weights.T, strict=True)
        return np.hstack([rows.matvec(column[:, None], threads) for rows, column in columns])

    def rmatvec(self, coefficients: np.ndarray, threads: int = 1, out: np.ndarray | None = None) -> np.ndarray:
        columns = zip(self.each, coefficients.T, strict=True)
        sums = np.hstack([rows.rmatvec(column[:, None], threads) for rows, column in columns])
        if out is None:
            return sums
        out[:] = sums
        return out

    def refusal(self, ability: Any) -> InputError:
        what, other = "cannot be multiplied or centred, and are no single matrix", ""
        if ability is MatrixRows:
            what, other = "have no single kernel matrix", "the solver DualCD, or "
        return InputError(
            f"the features have other weights for each of {len(self.each)} classes, so they {what}: use {other}"
            "weights that are the same for all classes, .weighted('idf')"
        )
