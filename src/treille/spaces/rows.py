"""The rows space: explicit features, for solvers that ask for dot, axpy and squared norms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille.data import Batch
from treille.data.base import readable_size
from treille.features import FeatureMap, FeatureRows, Representation, represent
from treille.kernels import Kernel


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
    form: Representation | None = None  # None: flat

    @classmethod
    def of(cls, kernel: Kernel, batch: Batch, n_jobs: int | None = None) -> RowsSpace:
        """Fits the kernel's features on the batch."""
        return cls(*kernel.fit_features(batch, n_jobs))

    @classmethod
    def in_form(
        cls, kernel: Kernel, batch: Batch, weights: str, n_problems: int = 1, n_jobs: int | None = None
    ) -> RowsSpace:
        """The same with W' in the form that `weights` names, for so many problems."""
        return cls.of(kernel, batch, n_jobs).keeping(weights, n_problems, n_jobs)

    def keeping(self, weights: str, n_problems: int = 1, n_jobs: int | None = None) -> RowsSpace:
        """The same space with W' in the form that `weights` names, see `treille.features.compaction`."""
        return replace(self, form=represent(self.features, self.rows, weights, n_problems, n_jobs))

    def for_core(self) -> Any:
        """The rows as solvers in the core take them."""
        return self.rows.for_core() if self.form is None else self.form.core

    def read_weights(self, cells: np.ndarray) -> np.ndarray:
        """The weight of every feature, from what a solver gives: a row a feature, a column a function."""
        return cells if self.form is None else self.form.read(cells)

    def sizes(self) -> str:
        """How large the space is, in words."""
        rows, size = self.rows, readable_size(self.rows.nbytes)
        return (
            f"{len(rows):,} examples, {self.features.n_features:,} features, {rows.n_entries:,} entries, {size} of rows"
        )
