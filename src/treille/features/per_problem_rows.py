"""Rows whose values differ from problem to problem: the same entries with other weights of columns and other norms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from treille.features.rows import FeatureRows
from treille.io.errors import InputError


class PerProblemRows(FeatureRows):
    """The rows of several problems, such as one class against the rest. They share their entries; nothing is copied.

    Column k of weights and of coefficients belongs to problem k.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "b"])
    >>> each = PerProblemRows([rows.weighted(np.array([1.0, 0.5])), rows.weighted(np.array([0.0, 1.0]))])
    >>> each.matvec(np.ones((2, 2))).tolist()
    [[2.0, 2.0], [1.0, 0.0]]
    """

    def __init__(self, problems: Sequence[FeatureRows]):
        self.problems = tuple(problems)

    @property
    def parts(self) -> tuple[Any, ...]:
        raise self._refusal("cannot be multiplied or centred")

    def __len__(self) -> int:
        return len(self.problems[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.problems[0].n_features

    @property
    def n_entries(self) -> int:
        return self.problems[0].n_entries

    @property
    def nbytes(self) -> int:
        return self.problems[0].nbytes

    def diag(self) -> np.ndarray:
        """One column per problem."""
        return np.stack([rows.diag() for rows in self.problems], axis=1)

    def scaled(self, factor: float | np.ndarray) -> PerProblemRows:
        return PerProblemRows([rows.scaled(factor) for rows in self.problems])

    def normalized(self) -> PerProblemRows:
        return PerProblemRows([rows.normalized() for rows in self.problems])

    def weighted(self, column_weights: np.ndarray, unseen: float = 1.0, threads: int = 1) -> PerProblemRows:
        return PerProblemRows([rows.weighted(column_weights, unseen, threads) for rows in self.problems])

    def taken(self, which: np.ndarray) -> PerProblemRows:
        return PerProblemRows([rows.taken(which) for rows in self.problems])

    def frequencies(self, groups: np.ndarray, threads: int = 1) -> np.ndarray:
        return self.problems[0].frequencies(groups, threads)

    def matvec(self, weights: np.ndarray, threads: int = 1) -> np.ndarray:
        columns = zip(self.problems, weights.T, strict=True)
        return np.hstack([rows.matvec(column[:, None], threads) for rows, column in columns])

    def rmatvec(self, coefficients: np.ndarray, threads: int = 1, out: np.ndarray | None = None) -> np.ndarray:
        columns = zip(self.problems, coefficients.T, strict=True)
        sums = np.hstack([rows.rmatvec(column[:, None], threads) for rows, column in columns])
        if out is None:
            return sums
        out[:] = sums
        return out

    def to_csr(self, threads: int = 1) -> sp.csr_matrix:
        raise self._refusal("are no single matrix")

    def gram(self, other: Any, threads: int) -> np.ndarray:
        raise self._refusal("have no single kernel matrix", "the solver DualCD, or ")

    def row_products(self) -> Callable[[int], np.ndarray]:
        raise self._refusal("have no single kernel matrix", "the solver DualCD, or ")

    def for_core(self) -> Any:
        raise self._refusal("have no single representation", "the solver DualCD, or ")

    def _refusal(self, what: str, other: str = "") -> InputError:
        return InputError(
            f"the features have other weights for each of {len(self.problems)} classes, so they {what}: use {other}"
            "weights that are the same for all classes, .weighted('idf')"
        )
