"""Centred kernels: features minus their mean over the training examples."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from treille.data import Batch
from treille.features import (
    CenteredRows,
    ConcatenatedRows,
    Contributions,
    ExplainingMap,
    Families,
    FeatureMap,
    FeatureRows,
    StoredRows,
)
from treille.features.abilities import having
from treille.features.feature_map import Leaf
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import Fitted, changeable
from treille.kernels.expansion import Expansion
from treille.kernels.fitting import FitContext
from treille.kernels.wrapped import ChangedKernel


class Centered(ChangedKernel):
    """k(x, y) - mean_x' k(x', y) - mean_y' k(x, y') + mean_x'y' k(x', y'), the means over the training examples.

    It is the inner product of features minus their means: (phi(x) - m).(phi(y) - m). So it is not a function of two examples alone:
    ``kernel(X)`` centres on X; an estimator centres on its training examples and keeps the means for prediction.

    If the kernel has features, so has this one, and rows stay sparse: m is stored separately, and a product with a centred row
    costs a few operations more than one with the sparse row. A model then keeps all features, because every feature has a mean. If
    the kernel has no features, only ``kernel(X)`` is defined: the means at prediction would need all training examples. Centring
    does not change a support vector machine with a free intercept: both kernels give the same decisions.

    >>> from treille.kernels import NGram
    >>> NGram(1).centered()(["a", "b"]).tolist()
    [[0.5, -0.5], [-0.5, 0.5]]
    """

    needs_features = True

    def check_parts(self) -> None:
        raise InputError(
            f"no feature of {self!r} is 0, so its rows are not kept on disk, as for data in parts: leave out .centered()"
        )

    def wrap(self, features: FeatureMap, rows: FeatureRows, context: FitContext, n_jobs: int | None = None) -> Fitted:
        if any(isinstance(part, CenteredRows) for part in having(rows, StoredRows).parts):
            raise InputError(f"{self!r} is centred twice: centre the outermost kernel only")
        times = context.times(len(rows))
        mean = rows.rmatvec(times[:, None] / max(1.0, times.sum()), effective_n_jobs(n_jobs))[:, 0]
        fitted = CenteredMap(features, mean)
        return fitted, fitted.center(rows, n_jobs)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        features = self.kernel.load_features(stored.value(spec, "features", dict), stored.part(arrays, "features"))
        mean = stored.array(arrays, "mean", np.float64)
        kept = stored.array(arrays, "kept", np.int64) if "kept" in arrays else None
        inside = kept is None or ((np.diff(kept, prepend=-1) > 0).all() and kept.max(initial=-1) < len(mean))
        if mean.shape != (features.n_features,) or not inside:
            raise InputError("the means in the file do not fit its features")
        return CenteredMap(features, mean, kept)

    def gram(self, left: Batch, right: Batch | None = None, n_jobs: int | None = None) -> np.ndarray:
        if right is not None:
            raise self._not_defined()
        K = changeable(self.kernel.gram(left, None, n_jobs))
        means = K.mean(axis=0)
        K -= means
        K -= means[:, None]
        K += means.mean()
        return (K + K.T) / 2

    def diagonal(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        return self.fit_features(batch, n_jobs)[1].diag() if self.has_features else self.gram(batch).diagonal().copy()

    def expansion(self, support: Batch, coefficients: np.ndarray, n_jobs: int | None = None) -> Expansion:
        raise self._not_defined()

    def _not_defined(self) -> InputError:
        return InputError(
            f"{self!r} of two sets is not defined, since it centres on one of them: kernel(X) centres on X; if the kernel has "
            "explicit features, estimators centre on their training examples"
        )


class CenteredMap(ExplainingMap):
    """The features of another map minus their means. A restricted map keeps all means, because norms need them."""

    def __init__(self, inner: FeatureMap, mean: np.ndarray, kept: np.ndarray | None = None):
        self.inner = inner
        self.mean = mean
        self.kept = kept

    @property
    def n_features(self) -> int:
        return len(self.mean) if self.kept is None else len(self.kept)

    def transform(self, batch: Batch, n_jobs: int | None = None) -> FeatureRows:
        return self.center(self.inner.transform(batch, n_jobs), n_jobs)

    def center(self, rows: FeatureRows, n_jobs: int | None) -> FeatureRows:
        """Rows of the inner map minus the means."""
        terms = having(rows, StoredRows).parts
        cuts = np.cumsum([0, *(part.n_features for part in terms)])
        parts = []
        for part, (a, b) in zip(terms, pairwise(cuts), strict=True):
            kept = None if self.kept is None else self.kept[(a <= self.kept) & (self.kept < b)] - a
            parts.append(CenteredRows.of(part, np.ascontiguousarray(self.mean[a:b]), effective_n_jobs(n_jobs), kept))
        return parts[0] if len(parts) == 1 else ConcatenatedRows(parts)

    def contributor(self, weights: np.ndarray) -> Callable[[Batch, int | None], Contributions]:
        if self.kept is not None:
            every = np.zeros((len(self.mean), weights.shape[1]))
            every[self.kept] = weights
            weights = every
        inner, base = having(self.inner, ExplainingMap).contributor(weights), -(self.mean @ weights)
        return lambda batch, n_jobs: inner(batch, n_jobs).plus(base)

    def contributions(self, batch: Batch, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        return self.contributor(weights)(batch, n_jobs)

    def n_factors(self, ids: np.ndarray) -> np.ndarray:
        return self.inner.n_factors(ids if self.kept is None else self.kept[ids])

    def families(self) -> tuple[Families | None, ...]:
        return (None,) * len(self.inner.families())

    def name(self, id: int) -> str:
        return self.inner.name(id if self.kept is None else int(self.kept[id]))

    def restrict(self, ids: np.ndarray) -> FeatureMap:
        return CenteredMap(self.inner, self.mean, np.asarray(ids) if self.kept is None else self.kept[ids])

    def leaves(self, columns: np.ndarray, batch: Any, prefix: str = "") -> Iterator[Leaf]:
        every = np.full(len(self.mean), -1)
        every[slice(None) if self.kept is None else self.kept] = columns
        return self.inner.leaves(every, batch, prefix)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        spec, arrays = self.inner.state()
        own = stored.under("features", arrays) | {"mean": self.mean}
        if self.kept is not None and len(self.kept) < len(self.mean):
            own["kept"] = self.kept
        return {"features": spec}, own
