"""The rows space: explicit features, for solvers that ask for dot, axpy and squared norms."""

from __future__ import annotations

from dataclasses import dataclass

from treille.data import Batch, FeatureRows
from treille.data.base import readable_size
from treille.kernels import FeatureMap, Kernel


@dataclass(frozen=True)
class RowsSpace:
    """A kernel met with a batch by way of explicit features.

    >>> from treille.kernels import NGram
    >>> space = RowsSpace.of(NGram(2), NGram(2).batch(["abba", "ab"]))
    >>> len(space.rows), space.features.n_features
    (2, 3)
    """

    features: FeatureMap
    rows: FeatureRows

    @classmethod
    def of(cls, kernel: Kernel, batch: Batch, n_jobs: int | None = None) -> RowsSpace:
        """Fits the kernel's features on the batch."""
        return cls(*kernel.fit_features(batch, n_jobs))

    def sizes(self) -> str:
        """How large the space is, in words."""
        rows, size = self.rows, readable_size(self.rows.nbytes)
        return f"{len(rows):,} examples, {rows.n_features:,} features, {rows.n_entries:,} entries, {size} of rows"
