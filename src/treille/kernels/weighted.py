"""Kernels whose features have weights: by document frequency, by the labels, or given by name."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np

from treille.data import Batch
from treille.features import (
    Contributions,
    CountableRows,
    ExplainingMap,
    Families,
    FeatureMap,
    FeatureRows,
    LocatingMap,
    Occurrences,
    WeighableRows,
)
from treille.features.abilities import having
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import NAME, Fitted, Kernel
from treille.kernels.expansion import Expansion
from treille.kernels.fitting import FitContext
from treille.kernels.wrapped import ChangedKernel, Formatter, WrappedMap, within

SCHEMES = ("idf", "nb", "learned")
SHOWN = 3  # weights of a mapping in an expression
ROUNDING = 1e-12  # of a difference of logarithms


class Weighted(ChangedKernel):
    """k(x, y) = sum over features z of s_z^2 phi_z(x) phi_z(y): every feature of a kernel times a weight, see `Kernel.weighted`.

    The weights are part of the fit: an estimator computes them from its training examples, or the training part of each
    fold, and stores them in the model. ``kernel(X)`` computes them from X, ``kernel(X, Y)`` from Y, the training examples.

    - ``"idf"``: inverse document frequency, ``s_z = log((1 + n) / (1 + df_z)) + 1``, where df_z of the n training examples have
      the feature: the smooth form of scikit-learn's TfidfVectorizer.
    - ``"nb"``: the log ratio of class frequencies (Wang and Manning, 2012), ``s_z = |log((p_z / |p|) / (q_z / |q|))|``, where
      p_z is 1 + the number of positive examples with the feature, q_z the same for the others, and |p| and |q| are sums over
      all features. With several classes, each has its own weights, from that class against the rest. Needs labels: it works
      in classifiers.
    - ``"learned"``: the weights of a fitted `LearnedSVC` or `LearnedRidge`; only these can fit them.
    - a mapping of feature names to weights; features that are missing in it have the weight `missing`. Names are those of
      ``Features.get_feature_names_out``, in sums with the name of the term, "word:good".

    Features that no training example has get the weight 0 from "idf" and "nb": they do not count in norms either. With a
    mapping they count in norms with the weight `missing`, even if the mapping has their names.

    Cost: one pass over the rows; entries are neither copied nor changed.

    References
    ----------
    Wang, Manning: Baselines and bigrams: simple, good sentiment and topic classification. ACL 2012.

    Examples
    --------
    >>> from treille.kernels import NGram
    >>> kernel = NGram(1, unit="word").weighted("idf").normalized()
    >>> kernel(["the vine", "the wine"]).round(3).tolist()  # "the" is in both
    [[1.0, 0.336], [0.336, 1.0]]
    >>> NGram(1).weighted({"a": 2.0}, missing=0.0)(["ab", "aa"]).tolist()
    [[4.0, 8.0], [8.0, 16.0]]
    """

    needs_features = True

    def __init__(self, kernel: Any, weights: str | Mapping[str, float] = "idf", missing: float = 1.0):
        super().__init__(kernel)
        self.weights = weights
        self.missing = missing

    def write(self, format: Formatter) -> str:
        short = format is repr  # otherwise a text to be parsed
        if isinstance(self.weights, Mapping):
            some = islice(self.weights.items(), SHOWN if short else None)
            words = [f"{name!r}: {weight}" for name, weight in some] + ["..."] * (short and len(self.weights) > SHOWN)
            shown = "{" + ", ".join(words) + "}"
        else:
            shown = repr(self.weights) if short else str(self.weights)
        if self.missing != 1.0:
            shown += f", missing={self.missing}"
        return f"{within(self.kernel, NAME, format)}.weighted({shown})"

    def check(self) -> None:
        super().check()
        if isinstance(self.weights, Mapping):
            for name, weight in self.weights.items():
                if not isinstance(name, str) or not _is_weight(weight):
                    raise InputError(
                        f"weights has {name!r}: {weight!r}, expected names of features and numbers of at least 0"
                    )
        elif not isinstance(self.weights, str) or self.weights not in SCHEMES:
            raise InputError(
                f"weights is {self.weights!r}, expected 'idf', 'nb' or a mapping of feature names to weights"
            )
        if not _is_weight(self.missing):
            raise InputError(f"missing is {self.missing!r}, expected a number of at least 0")
        if isinstance(self.weights, str) and self.missing != 1.0:
            raise InputError(
                f"missing is {self.missing!r}, but weights is {self.weights!r}: missing belongs to a mapping"
            )
        if not self.kernel.has_features:
            raise InputError(
                f"{self.kernel!r} has no explicit features to weigh: use a kernel such as NGram, GappedKmer or Subpath"
            )

    @property
    def needs_labels(self) -> bool:
        return (isinstance(self.weights, str) and self.weights == "nb") or self.kernel.needs_labels

    def check_parts(self) -> None:
        self._refuse_learned()
        super().check_parts()

    def around(self, kernel: Kernel, prefix: str = "") -> "Weighted":
        """Returns the same weights for another kernel, whose features have the names of the mapping without `prefix`."""
        weights = self.weights
        if prefix and isinstance(weights, Mapping):
            weights = {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}
        return Weighted(kernel, weights, self.missing)

    def fit_features(self, batch: Batch, n_jobs: int | None = None) -> Fitted:
        self._refuse_learned()
        return super().fit_features(batch, n_jobs)

    def leaf_kernels(self, batch: Batch) -> list[tuple[Kernel, Batch]]:
        # Learned weights are known where they are learned, together with the rows.
        return [(self, batch)] if self.weights == "learned" else super().leaf_kernels(batch)

    def compose(self, fitted: Iterator[Fitted], context: FitContext, n_jobs: int | None = None) -> Fitted:
        return next(fitted) if self.weights == "learned" else super().compose(fitted, context, n_jobs)

    def wrap(self, features: FeatureMap, rows: FeatureRows, context: FitContext, n_jobs: int | None = None) -> Fitted:
        weights, unseen = self._fitted_weights(features, rows, context, effective_n_jobs(n_jobs))
        fitted = WeightedMap(features, weights, unseen)
        return fitted, fitted.change(rows, effective_n_jobs(n_jobs))

    def _refuse_learned(self) -> None:
        if self.weights == "learned":
            raise InputError(
                f"{self!r} has weights that only LearnedSVC and LearnedRidge find: fit one, and use its kernel_"
            )

    def _fitted_weights(
        self, features: FeatureMap, rows: FeatureRows, context: FitContext, threads: int
    ) -> tuple[np.ndarray, float]:
        """One row of weights per problem, and the weight of unseen features."""
        times = context.times(len(rows))
        if isinstance(self.weights, Mapping):
            names = map(features.name, range(features.n_features))
            weights = np.array([float(self.weights.get(name, self.missing)) for name in names])
            if context.counts is not None:
                weights[having(rows, CountableRows).frequencies(times[:, None], threads)[:, 0] == 0] = self.missing
            return weights[None], float(self.missing)
        if self.weights == "idf":
            found = having(rows, CountableRows).frequencies(times[:, None], threads)[:, 0]
            return ((np.log((1 + times.sum()) / (1 + found)) + 1) * (found > 0))[None], 0.0
        if context.labels is None:
            raise InputError(
                f"{self!r} weighs features by the classes of the examples, and there are none here: use it in "
                "SVC(...).fit(X, y), or use weighted('idf'), which needs no labels"
            )
        positive = (context.labels[:, None] == context.classes) * times[:, None]
        inside = having(rows, CountableRows).frequencies(np.hstack([positive, times[:, None]]), threads)
        seen = inside[:, -1:] > 0
        p, q = 1 + inside[:, :-1], 1 + inside[:, -1:] - inside[:, :-1]
        ratios = np.log(p / (p * seen).sum(axis=0)) - np.log(q / (q * seen).sum(axis=0))
        ratios[np.abs(ratios) < ROUNDING] = 0.0  # of a feature that is as frequent in both classes
        return np.abs(ratios * seen).T.copy(), 0.0

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        features = self.kernel.load_features(stored.value(spec, "features", dict), stored.part(arrays, "features"))
        weights = stored.array(arrays, "column_weights", np.float64, ndim=2)
        unseen = stored.value(spec, "unseen", float)
        sound = weights.shape[1] == features.n_features and len(weights) > 0
        if not sound or not np.isfinite(weights).all() or (weights < 0).any() or not 0 <= unseen < np.inf:
            raise InputError("the weights of features in the file do not fit its features")
        return WeightedMap(features, weights, unseen)

    def expansion(self, support: Batch, coefficients: np.ndarray, n_jobs: int | None = None) -> Expansion:
        raise InputError(
            f"{self!r} of new examples is defined by the weights of the training examples: use a solver on rows, solver='auto'"
        )


def _is_weight(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) < np.inf


@dataclass(eq=False, repr=False)
class WeightedMap(WrappedMap):
    """The features of another map times weights: one row of weights per problem, or one row for all."""

    weights: np.ndarray
    unseen: float

    def change(self, rows: FeatureRows, threads: int = 1) -> FeatureRows:
        weighable = having(rows, WeighableRows)
        if len(self.weights) == 1:
            return weighable.weighted(self.weights[0], self.unseen, threads)
        return weighable.weighted_by_problem(self.weights, self.unseen, threads)

    def problem_counts(self) -> set[int]:
        return self.inner.problem_counts() | ({len(self.weights)} if len(self.weights) > 1 else set())

    def ids_for_norms(self, ids: np.ndarray) -> np.ndarray:
        return np.arange(self.n_features)  # the norm of an example needs the weights of all its features

    def restrict(self, ids: np.ndarray) -> FeatureMap:
        return WeightedMap(self.inner.restrict(ids), np.ascontiguousarray(self.weights[:, ids]), self.unseen)

    def occurrences(self, batch: Batch) -> Occurrences:
        if len(self.weights) > 1:
            raise InputError("the features have other weights for each class: ask for the occurrences of .inner")
        return having(self.inner, LocatingMap).occurrences(batch).weighted(self.weights[0])

    def contributor(self, weights: np.ndarray) -> Callable[[Batch, int | None], Contributions]:
        return having(self.inner, ExplainingMap).contributor(np.ascontiguousarray(weights * self.weights.T))

    def families(self) -> tuple[Families | None, ...]:
        return (None,) * len(self.inner.families())

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        spec, arrays = self.inner.state()
        own = {"column_weights": self.weights}
        return {"features": spec, "unseen": self.unseen}, stored.under("features", arrays) | own
