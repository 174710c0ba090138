"""The interface of fitted features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from treille.data import Batch
from treille.features.contributions import Contributions
from treille.features.feature_strings import FeatureStrings
from treille.features.occurrences import Occurrences
from treille.features.rows import FeatureRows
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs


class Families(NamedTuple):
    """Features whose columns are nearly equal: feature z is member ``member[z]`` of family ``family[z]``.

    Family f has ``sizes[f]`` members; some of them may be no feature.

    >>> from treille.kernels import GappedKmer
    >>> features, _ = GappedKmer(3, 1).fit_features(GappedKmer(3, 1).batch(["AAA"]))
    >>> [features.name(z) for z in range(3)], features.families()[0].member.tolist()
    (['A..', '.A.', '..A'], [0, 1, 2])
    """

    sizes: np.ndarray
    family: np.ndarray
    member: np.ndarray


class DependentFeaturesError(InputError):
    """Features that depend on all examples: those of parts of a data set do not determine them, so maps do not merge.

    >>> from treille.kernels import Conjunctions
    >>> kernel = Conjunctions(2, min_support=2)
    >>> features, _ = kernel.fit_features(kernel.batch([{"red": 1}, {"red": 1}]))
    >>> try:
    ...     features.merge(features)
    ... except DependentFeaturesError as error:
    ...     print(str(error).partition(":")[0])
    in how many examples a conjunction occurs depends on all examples
    """


class FeatureMap(ABC):
    """The explicit features of a kernel, fitted on training data and frozen.

    Subclasses implement the first five members; the others are optional.

    >>> from treille.kernels import NGram
    >>> features, rows = NGram(2).fit_features(NGram(2).batch(["abba"]))
    >>> [features.name(i) for i in range(features.n_features)]
    ['ab', 'bb', 'ba']
    """

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of features; ids are 0 .. n_features - 1."""

    @abstractmethod
    def transform(self, batch: Batch, n_jobs: int | None = None) -> FeatureRows:
        """Rows of new examples. Parts outside the fitted features have no entry, but count in the squared norms."""

    def row_products(self, weights: np.ndarray) -> Callable[[Batch, int | None], np.ndarray]:
        """A function that multiplies the rows of new examples by weights, one row per feature."""

        def multiply(batch: Batch, n_jobs: int | None = None) -> np.ndarray:
            return self.transform(batch, n_jobs).matvec(weights, effective_n_jobs(n_jobs))

        return multiply

    @abstractmethod
    def name(self, id: int) -> str:
        """The readable name of a feature."""

    @abstractmethod
    def restrict(self, ids: np.ndarray) -> FeatureMap:
        """The map with only the features `ids`, in increasing order, renumbered in that order."""

    def needed(self, ids: np.ndarray) -> np.ndarray:
        """The features `ids`, and those without which the norms of new examples would change, in increasing order."""
        return ids

    def problem_counts(self) -> set[int]:
        """For how many problems the features have values of their own, as weights by classes do; empty: the same for all."""
        return set()

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """What a model file stores: JSON values, and arrays. ``Kernel.load_features`` is the inverse."""

    def occurrences(self, batch: Batch) -> Occurrences:
        """Where the features occur in the examples. The values of a feature's occurrences sum to its value in the row."""
        raise InputError(f"{self._shown()} do not report where they occur: NGram does")

    def contributions(self, batch: Batch, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        """What each part of the examples adds to ``transform(batch) @ weights``, one row of weights per feature.

        The weight of a feature is shared equally among the parts that each of its occurrences covers.
        """
        return Contributions.of_occurrences(batch, self.occurrences(batch), weights)

    def contributor(self, weights: np.ndarray) -> Callable[[Batch, int | None], Contributions]:
        """A function that returns the contributions for these weights: what depends on the weights alone is computed once."""
        return lambda batch, n_jobs: self.contributions(batch, weights, n_jobs)

    def n_factors(self, ids: np.ndarray) -> np.ndarray:
        """How many features of examples each of these features multiplies: 1, more for a product, 0 for a constant."""
        return np.ones(len(ids), np.int64)

    def merge(self, other: FeatureMap) -> tuple[FeatureMap, np.ndarray, np.ndarray]:
        """The map with the features of both maps, and the new ids of the features of each.

        The features of this map keep their ids; new features of `other` follow in their order. Sums number features term by term,
        and conjunctions depth first, so there the ids of this map change, too: they are returned. Maps fitted on parts of a data
        set and merged have the features of a map fitted on all of it, up to numbering; the rows of a part are the same with the
        ids replaced. A map of another kernel, unit or kind of data is refused; so are features that depend on all examples, by a
        `DependentFeaturesError`.

        >>> from treille.kernels import NGram
        >>> a, b = (NGram(1).fit_features(NGram(1).batch([text]))[0] for text in ("ab", "cb"))
        >>> both, ids_a, ids_b = a.merge(b)
        >>> [both.name(i) for i in range(3)], ids_a.tolist(), ids_b.tolist()
        (['a', 'b', 'c'], [0, 1], [2, 1])
        """
        raise InputError(
            f"{self._shown()} cannot be merged with others: their map does not provide merge; fit on all examples"
        )

    def absorb(self, other: FeatureMap) -> tuple[FeatureMap, np.ndarray, np.ndarray]:
        """Like `merge`, for a map that is not used any more: the merged map may be this one, changed.

        Merging many small maps into one then need not copy the large one every time.
        """
        return self.merge(other)

    def extend(self, batch: Batch, n_jobs: int | None = None) -> FeatureMap:
        """The map with the features of further examples added, as `merge` does; the features of this map come first."""
        raise InputError(f"{self._shown()} cannot be extended: their map does not provide extend; fit on all examples")

    def families(self) -> tuple[Families | None, ...]:
        """Features with nearly equal columns, for each part of the rows; None: unknown. Compaction makes their rows shorter."""
        return (None,)

    @property
    def has_strings(self) -> bool:
        """Whether the features are strings of symbols, which tries and automata can store."""
        return type(self).strings is not FeatureMap.strings

    def strings(self) -> FeatureStrings:
        """The features as strings of symbols, in the order of their ids."""
        raise InputError(
            f"{self._shown()} are not strings of symbols: a trie or an automaton needs features such as those of NGram or Gappy"
        )

    def with_strings(self, strings: FeatureStrings) -> FeatureMap:
        """The map whose features are these strings of the same symbols; the inverse of `strings`."""
        raise InputError(f"{self._shown()} are not strings of symbols")

    def _shown(self) -> str:
        example = f" such as {self.name(0)!r}" if self.n_features else ""
        return f"the features of {type(self).__name__}{example}"


def check_id(id: int, n_features: int) -> None:
    """Refuses an id that no feature has."""
    if not 0 <= id < n_features:
        raise IndexError(f"feature {id} does not exist: there are {n_features:,}")
