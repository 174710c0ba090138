"""The interface of fitted features."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from treille.data.base import running_sum, selection
from treille.features.contributions import Contributions, Occurrences
from treille.features.rows import FeatureRows
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs

Leaf = tuple[str, Any, np.ndarray, Any]  # prefix of its names, map, column of each feature or -1, batch that it reads


@dataclass(frozen=True)
class FeatureStrings:
    """Feature z is the string ``symbols[offsets[z]:offsets[z + 1]]``; the name of symbol s is ``names[s]``.

    >>> strings = FeatureStrings.of_matrix(np.array([[0, 1], [1, 1]]), ["a", "b"])
    >>> len(strings), strings.symbols.tolist(), strings[np.array([1])].symbols.tolist()
    (2, [0, 1, 1, 1], [1, 1])
    """

    symbols: np.ndarray
    offsets: np.ndarray
    names: Sequence[str]

    @classmethod
    def of_matrix(cls, cells: np.ndarray, names: Sequence[str], lengths: np.ndarray | None = None) -> FeatureStrings:
        """Builds them from one row of symbols per feature; only the first ``lengths[z]`` are used (None: all)."""
        count, width = cells.shape
        if lengths is None or len(lengths) == 0:
            symbols, offsets = cells.ravel(), width * np.arange(count + 1)
        else:
            symbols, offsets = cells[np.arange(width) < lengths[:, None]], running_sum(lengths)
        return cls(np.ascontiguousarray(symbols, np.int32), np.ascontiguousarray(offsets, np.int64), names)

    def matrix(self, width: int, least: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The inverse of `of_matrix`: rows of `width` symbols, padded with 0, and lengths of at least `least` (None: `width`)."""
        lengths = np.diff(self.offsets)
        if len(self) and not (width if least is None else least) <= lengths.min() <= lengths.max() <= width:
            raise InputError(
                f"the strings in the file have {lengths.min()} to {lengths.max()} symbols, expected {least or width} to {width}"
            )
        cells = np.zeros((len(self), width), np.int32)
        cells[np.arange(width) < lengths[:, None]] = self.symbols
        return cells, lengths.astype(np.int32)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, ids: np.ndarray) -> FeatureStrings:
        places, offsets = selection(self.offsets, ids)
        return replace(self, symbols=np.ascontiguousarray(self.symbols[places]), offsets=offsets)


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
    """Raised when features depend on all examples, so that maps of parts of a data set cannot be merged.

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

    Subclasses implement the first five members. What only some features can do is in `ExplainingMap`, `LocatingMap`, `MergingMap`
    and `StringMap`.

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
    def transform(self, batch: Any, n_jobs: int | None = None) -> FeatureRows:
        """Rows of new examples. Parts outside the fitted features have no entry, but count in the squared norms."""

    @abstractmethod
    def name(self, id: int) -> str:
        """The readable name of a feature."""

    @abstractmethod
    def restrict(self, ids: np.ndarray) -> FeatureMap:
        """The map with only the features `ids`, in increasing order, renumbered in that order."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The content of a model file: JSON values, and arrays. ``Kernel.load_features`` is the inverse."""

    def row_products(self, weights: np.ndarray) -> Callable[[Any, int | None], np.ndarray]:
        """A function that multiplies the rows of new examples by weights, one row per feature."""

        def multiply(batch: Any, n_jobs: int | None = None) -> np.ndarray:
            return self.transform(batch, n_jobs).matvec(weights, effective_n_jobs(n_jobs))

        return multiply

    def ids_for_norms(self, ids: np.ndarray) -> np.ndarray:
        """The features `ids` and all others that the norms of new examples need, in increasing order."""
        return ids

    def problem_counts(self) -> set[int]:
        """The numbers of problems whose features differ in value, as with weights by classes; empty if none differ."""
        return set()

    def n_factors(self, ids: np.ndarray) -> np.ndarray:
        """The number of an example's features that each of these features multiplies: 1, more for a product, 0 for a constant."""
        return np.ones(len(ids), np.int64)

    def families(self) -> tuple[Families | None, ...]:
        """Features with nearly equal columns, for each part of the rows; None: unknown. Compaction makes their rows shorter."""
        return (None,)

    def with_leaves(self, change: Callable[[FeatureMap], FeatureMap]) -> FeatureMap:
        """Returns the map with ``change(map)`` in place of each inner map that finds features in examples."""
        return change(self)

    def leaves(self, columns: np.ndarray, batch: Any, prefix: str = "") -> Iterator[Leaf]:
        """Each inner map that finds features in examples; `columns` and `batch`, or None, are those of this map."""
        yield prefix, self, columns, batch

    def refusal(self, ability: Any) -> InputError:
        """The error for an ability that these features do not have."""
        example = f" such as {self.name(0)!r}" if self.n_features else ""
        return InputError(f"the features of {type(self).__name__}{example} {ability.lacking}")


class ExplainingMap(FeatureMap):
    """Features whose values are sums over parts of an example, such as the symbols of a sequence.

    >>> from treille.kernels import NGram
    >>> features, _ = NGram(1).fit_features(NGram(1).batch(["ab"]))
    >>> features.contributions(NGram(1).batch(["aab"]), np.array([[0.5], [1.0]])).sums().tolist()
    [[2.0]]
    """

    lacking = "do not report where they occur: NGram does"

    @abstractmethod
    def contributions(self, batch: Any, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        """The contribution of each part of the examples to ``transform(batch) @ weights``, one row of weights per feature."""

    def contributor(self, weights: np.ndarray) -> Callable[[Any, int | None], Contributions]:
        """A function that returns the contributions for these weights. Work that depends on the weights alone is done once."""
        return lambda batch, n_jobs: self.contributions(batch, weights, n_jobs)


class LocatingMap(ExplainingMap):
    """Features that occur at positions of an example.

    >>> from treille.kernels import NGram
    >>> features, _ = NGram(2).fit_features(NGram(2).batch(["ab"]))
    >>> features.occurrences(NGram(2).batch(["aab"])).covered(0).tolist()
    [1, 2]
    """

    @abstractmethod
    def occurrences(self, batch: Any) -> Occurrences:
        """Returns the occurrences of the features in the examples. Their values sum to the feature's value in the row."""

    def contributions(self, batch: Any, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        """The weight of a feature is shared equally among the parts that each of its occurrences covers."""
        return Contributions.of_occurrences(batch, self.occurrences(batch), weights)


class MergingMap(FeatureMap):
    """Features of parts of a data set that can be merged to the features of the whole.

    >>> from treille.kernels import NGram
    >>> a, b = (NGram(1).fit_features(NGram(1).batch([text]))[0] for text in ("ab", "cb"))
    >>> both, ids_a, ids_b = a.merge(b)
    >>> [both.name(i) for i in range(3)], ids_a.tolist(), ids_b.tolist()
    (['a', 'b', 'c'], [0, 1], [2, 1])
    """

    lacking = "cannot be merged with others: their map does not provide merge; fit on all examples"

    @abstractmethod
    def merge(self, other: FeatureMap) -> tuple[FeatureMap, np.ndarray, np.ndarray]:
        """The map with the features of both maps, and the new ids of the features of each.

        The features of this map keep their ids; new features of `other` follow in their order. Sums number features term by term,
        and conjunctions depth first, so there the ids of this map change, too: they are returned. Maps fitted on parts of a data
        set and merged have the features of a map fitted on all of it, up to numbering; the rows of a part are the same with the
        ids replaced. A map of another kernel, unit or kind of data is refused; so are features that depend on all examples, by a
        `DependentFeaturesError`.
        """

    def absorb(self, other: FeatureMap) -> tuple[FeatureMap, np.ndarray, np.ndarray]:
        """Like `merge`, for a map that is not used any more: the merged map may be this one, changed.

        Merging many small maps into one then need not copy the large one every time.
        """
        return self.merge(other)


class StringMap(FeatureMap):
    """Features that are strings of symbols, which tries and automata can store.

    >>> from treille.kernels import NGram
    >>> NGram(2).fit_features(NGram(2).batch(["aab"]))[0].strings().symbols.tolist()
    [0, 0, 0, 1]
    """

    lacking = "are not strings of symbols: a trie or an automaton needs features such as those of NGram or Gappy"

    @abstractmethod
    def strings(self) -> FeatureStrings:
        """The features as strings of symbols, in the order of their ids."""

    @abstractmethod
    def with_strings(self, strings: FeatureStrings) -> FeatureMap:
        """The map whose features are these strings of the same symbols; the inverse of `strings`."""

    def has_strings(self) -> bool:
        """Returns whether all features are strings; for some kernels, this depends on the parameters."""
        return True


@dataclass(eq=False, repr=False)
class CoreMap(FeatureMap):
    """Features that an object of the core holds. ``kernel.map_of(parts, *names)`` makes the map from arrays and names."""

    kernel: Any
    features: Any  # of the core

    @property
    def names(self) -> tuple[Any, ...]:
        """The fields that follow, such as alphabets."""
        return tuple(getattr(self, field.name) for field in fields(self)[2:])

    @property
    def n_features(self) -> int:
        return len(self.features)

    def parts(self, ids: np.ndarray | None = None) -> Any:
        """The arrays of the features `ids`; None: of all."""
        ids = np.arange(self.n_features) if ids is None else ids
        return self.features.parts(np.ascontiguousarray(ids, np.int64))

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        return self.feature_name(id)

    @abstractmethod
    def feature_name(self, id: int) -> str:
        """The name of a feature that exists."""

    def restrict(self, ids: np.ndarray) -> Any:
        return self.kernel.map_of(self.parts(ids), *self.names)

    def __reduce__(self) -> tuple[Any, ...]:
        return self.kernel.map_of, (self.parts(), *self.names)


def check_id(id: int, n_features: int) -> None:
    """Refuses an id that no feature has."""
    if not 0 <= id < n_features:
        raise IndexError(f"feature {id} does not exist: there are {n_features:,}")
