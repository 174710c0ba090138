"""Sparse feature rows in few bytes: what a kernel makes of a batch, and what linear solvers read."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from treille import _core


@dataclass(frozen=True)
class Rows:
    """Sparse rows, 4 bytes an entry in most cases, always exact.

    Entry e of row i, ``indptr[i] <= e < indptr[i + 1]``, is the word ``id << code_bits | code``: feature ``id`` with the value
    ``scale[i] * palette[code]``. Ids fall with frequency; those from ``n_shared`` on stand in one row at most.
    ``sq_norms`` are those of the whole unscaled vectors, parts outside the fitted feature space included.

    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(2)).fit_rows(["abab", "ba"])
    >>> len(rows), rows.n_features, rows.to_csr().toarray().tolist()
    (2, 2, [[1.0, 2.0], [1.0, 0.0]])
    """

    indptr: np.ndarray
    entries: np.ndarray
    code_bits: int
    palette: np.ndarray
    scale: np.ndarray
    sq_norms: np.ndarray
    n_features: int
    n_shared: int

    @classmethod
    def from_csr(
        cls, matrix: sp.csr_matrix, ids: np.ndarray, sq_norms: np.ndarray, n_features: int, n_shared: int, threads: int
    ) -> Rows:
        """Rows of any numbers that are not zero. Column j is feature ``ids[j]``, or is left out where that is -1.

        >>> matrix = sp.csr_matrix([[0.5, 0.0, 2.0], [0.0, 1.0, 4.0]])
        >>> Rows.from_csr(matrix, np.array([1, -1, 0]), np.array([4.25, 17.0]), 2, 1, 1).to_csr().toarray().tolist()
        [[2.0, 0.5], [4.0, 0.0]]
        """
        names = np.asarray(ids, np.int64).astype(np.uint32)  # -1 is the word that means none
        offsets, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)
        parts = _core.code_rows(offsets, columns, matrix.data, names, n_features, threads)
        return cls(*parts, np.ones(len(sq_norms)), sq_norms, n_features, n_shared)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def nbytes(self) -> int:
        """Bytes held in memory."""
        return sum(a.nbytes for a in (self.indptr, self.entries, self.palette, self.scale, self.sq_norms))

    def diag(self) -> np.ndarray:
        """k(x, x) of every row."""
        return self.scale**2 * self.sq_norms

    def normalized(self) -> Rows:
        """Every row divided by its norm. A zero row stays zero."""
        norms = np.sqrt(self.sq_norms)
        return replace(self, scale=np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0))

    def to_csr(self, threads: int = 1) -> sp.csr_matrix:
        """The same rows as a scipy matrix of float64."""
        ids, data = _core.expand(self.indptr, self.entries, self.code_bits, self.palette, self.scale, threads)
        small = max(self.n_features, len(data)) < 2**31
        index = np.int32 if small else np.int64
        columns = ids.view(np.int32) if small else ids.astype(np.int64)
        matrix = sp.csr_matrix((data, columns, self.indptr.astype(index)), shape=(len(self), self.n_features))
        matrix.has_sorted_indices = True
        return matrix

    def outputs(self, weights: np.ndarray, threads: int) -> np.ndarray:
        """``self @ weights`` for dense `weights` with one row per feature: one row of outputs per example."""
        flat = np.ascontiguousarray(weights, dtype=np.float64).ravel()
        out = _core.outputs(
            self.indptr, self.entries, self.code_bits, self.palette, self.scale, flat, weights.shape[1], threads
        )
        return out.reshape(len(self), weights.shape[1])
