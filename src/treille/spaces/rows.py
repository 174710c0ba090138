"""The rows space: explicit features, for solvers that use dot, axpy and squared norms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from treille.data import Batch
from treille.data.base import readable_size
from treille.features import FeatureMap, Representation, represent
from treille.io.errors import InputError
from treille.kernels import Kernel
from treille.kernels.base import check_finite
from treille.kernels.fitting import FitContext
from treille.spaces.feature_space import FeatureSpace


@dataclass(frozen=True, eq=False)
class RowsSpace(FeatureSpace):
    """Rows of explicit features: `build` computes those of a kernel on a batch.

    >>> import numpy as np
    >>> from treille.kernels import NGram
    >>> space = RowsSpace.build(NGram(2), NGram(2).batch(["abba", "ab"]))
    >>> len(space), space.features.n_features, space.product(np.array([1.0, 1.0])).tolist()
    (2, 3, [4.0, 2.0])
    """

    name: ClassVar[str] = "rows"
    needs: ClassVar[str] = "explicit features"

    rows: Any
    features: FeatureMap | None = None  # None: features without names, as in a Nystrom space
    n_jobs: int | None = None
    error: float = 0.0  # of an approximation: the share of the trace of K that is lost

    @classmethod
    def offered(cls, kernel: Kernel, batch: Batch) -> bool:
        """Whether the kernel provides what the space needs."""
        return kernel.has_features

    @classmethod
    def build(
        cls, kernel: Kernel, batch: Batch, n_jobs: int | None = None, context: FitContext | None = None
    ) -> RowsSpace:
        """Fits the kernel's features on the batch."""
        features, rows = (context or FitContext()).fit(kernel, batch, n_jobs)
        norms = check_finite(kernel, rows.diag())
        if kernel.needs_features and not norms.any():
            raise no_features(kernel, rows.n_features)
        return KernelRowsSpace(rows, features, n_jobs, kernel=kernel, batch=batch)

    def represented(self, representation: str, n_problems: int) -> Representation:
        """The rows with W' = sum_i alpha_i y_i Phi_i in one of its representations, for this many problems."""
        assert self.features is not None
        return represent(self.features, self.rows, representation, n_problems, self.n_jobs)

    def sizes(self) -> str:
        """How large the space is, in words."""
        rows, size = self.rows, readable_size(self.rows.nbytes)
        return f"{len(rows):,} examples, {rows.n_features:,} features, {rows.n_entries:,} entries, {size} of rows"


@dataclass(frozen=True, eq=False)
class KernelRowsSpace(RowsSpace):
    """A kernel applied to a batch through explicit features."""

    kernel: Kernel = field(kw_only=True)
    batch: Batch = field(kw_only=True)


def no_features(kernel: Kernel, n_features: int, min_count: int = 1) -> InputError:
    """Why a kernel whose features depend on the training examples is 0 for all of them."""
    if min_count > 1:
        return InputError(f"no feature of {kernel!r} occurs in {min_count:,} examples: use a smaller min_count")
    if n_features == 0:
        return InputError(f"no example has a feature of {kernel!r}: they may be too short for it, use a smaller order")
    return InputError(
        f"no feature is left: in {kernel!r}, all {n_features:,} features are 0 in all examples: use other weights, such as "
        ".weighted('idf'), which are never 0"
    )
