"""Kernels whose features are patterns of symbols, some with gaps or mismatches: a kernel defines them, the core finds them."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, Literal

import numpy as np

from treille import _core
from treille.data import Lattices
from treille.data.base import united
from treille.features import Families, FeatureMap, FeatureStrings, MergingMap, Rows, StringMap
from treille.features.merging import Merged, alike, different, merged_ids, number_rows
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_choice, check_positive, effective_n_jobs
from treille.kernels.base import Fitted
from treille.kernels.counts import Counts, check_counts, lattices_to_count
from treille.kernels.sequences import (
    CountMap,
    SequenceKernel,
    Sequences,
    Unit,
    alphabet_symbols,
    check_alphabet,
    narrow,
    whole,
)

MOST = 1_000_000  # neighbours of a window, or patterns that match it
MOST_SYMBOLS = 100 * MOST  # in these patterns, which are held in memory


class PatternKernel(SequenceKernel):
    """phi_z(x) is the sum over the occurrences in x of the pattern z of their weights, or a function of it, see `counts`."""

    counts: Counts = "raw"
    any_symbol, between = "", ""  # in names of patterns: a position for any symbol, and what separates symbols

    @property
    def reads_lattices(self) -> bool:
        return self.has_features

    def check(self) -> None:
        check_counts(self.counts)
        self.family(self.declared() or [])

    def batch(self, X: Any, n_jobs: int | None = None) -> Sequences:
        batch = super().batch(X, n_jobs)
        symbols = self.declared()
        if symbols is not None:
            check_alphabet(batch, symbols, self.left_out())
        return batch

    @abstractmethod
    def family(self, alphabet: list[Any]) -> Any:
        """The definition of the patterns over these symbols, for the core."""

    def former_family(self, alphabet: list[Any]) -> Any:
        """The definition that model files of earlier versions have."""
        return self.family(alphabet)

    def pattern_name(self, fitted: "PatternMap", cells: list[int]) -> str:
        """The readable name of a pattern. A cell is 1 + the number of a symbol in the alphabet, or 0 for any symbol."""
        return fitted.joined(fitted.symbols(cells, self.any_symbol), self.between)

    def declared(self) -> list[Any] | None:
        """The alphabet, if it is a parameter."""
        return None

    def left_out(self) -> list[Any]:
        """Symbols that no window may contain."""
        return []

    def fit_features(self, batch: Any, n_jobs: int | None = None) -> Fitted:
        if not self.has_features:
            return super().fit_features(batch, n_jobs)
        alphabet = self.declared()
        if alphabet is None:
            alphabet = [s for s in batch.alphabet if s not in self.left_out()]
        fitted = PatternMap(self, None, alphabet, batch.unit)
        rest = fitted.recode(batch), len(alphabet), check_counts(self.counts), effective_n_jobs(n_jobs)
        family = self.family(alphabet)
        if isinstance(batch, Lattices):
            found = _core.PatternFeatures.fit_lattices(family, lattices_to_count(batch, self.counts), *rest)
        else:
            found = _core.PatternFeatures.fit(family, batch.symbols, batch.offsets, *rest)
        fitted.features, rows = found
        return fitted, Rows.from_core(rows, fitted.n_features)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        if not self.has_features:
            return super().load_features(spec, arrays)
        alphabet, unit = stored.alphabet(spec)
        cells = stored.array(arrays, "patterns", np.int32, ndim=2)
        lengths = stored.array(arrays, "lengths", np.int32) if "lengths" in arrays else np.empty(0, np.int32)
        sound = self.declared() in (None, alphabet) and self.holds(cells, lengths, len(alphabet))
        if not sound:
            raise InputError("the patterns in the file do not fit its kernel")
        return self.map_of((cells, lengths), alphabet, unit, paired="paired" in spec)

    def map_of(
        self, parts: tuple[np.ndarray, np.ndarray], alphabet: list[Any], unit: str, paired: bool = True
    ) -> FeatureMap:
        """The map of the patterns that are the rows of a matrix of cells, of which the first `lengths` are used where they vary."""
        cells, lengths = parts
        arrays = cells.ravel(), lengths, len(alphabet), check_counts(self.counts)
        family = self.family(alphabet) if paired else self.former_family(alphabet)
        return PatternMap(self, _core.PatternFeatures.from_patterns(family, *arrays), alphabet, unit)

    @abstractmethod
    def holds(self, cells: np.ndarray, lengths: np.ndarray, size: int) -> bool:
        """Returns whether these are patterns of this kernel over `size` symbols: the content of a model file is not trusted."""


def are_patterns(cells: np.ndarray, lengths: np.ndarray, size: int, width: int, least: int, most: int) -> bool:
    """Returns whether each row has `width` cells, no symbol outside the alphabet, and `least` to `most` cells for any symbol."""
    if cells.shape[1] != width or len(lengths) or not 0 <= cells.min(initial=0) <= cells.max(initial=0) <= size:
        return False
    open_cells = (cells == 0).sum(axis=1)
    return bool((least <= open_cells).all() and (open_cells <= most).all())


class PatternMap(CountMap, MergingMap, StringMap):
    """Patterns and their ids. Unseen patterns have none."""

    @property
    def counts(self) -> Counts:
        return self.kernel.counts

    @property
    def names(self) -> tuple[Any, ...]:
        return self.alphabet, self.unit, self.features.paired

    def recode(self, batch: Sequences) -> np.ndarray:
        codes = super().recode(batch)
        left_out = set(self.kernel.left_out())
        codes[np.array([s in left_out for s in batch.alphabet], dtype=bool)] = -1
        return codes

    def feature_name(self, id: int) -> str:
        return self.kernel.pattern_name(self, self.features.pattern(id))

    def symbols(self, cells: list[int], any_symbol: str = "") -> list[Any]:
        """The symbols of the cells."""
        return [self.alphabet[cell - 1] if cell else any_symbol for cell in cells]

    def parts(self, ids: Any = None) -> tuple[np.ndarray, np.ndarray]:
        ids = slice(None) if ids is None else ids
        cells = self.features.patterns().reshape(-1, self.features.width)[ids]
        lengths = self.features.lengths()
        return np.ascontiguousarray(cells), lengths[ids] if len(lengths) else lengths

    def merge(self, other: FeatureMap) -> Merged:
        other = alike(PatternMap, self, other, "kernel")
        if self.features.paired != other.features.paired:
            raise different("version of treille, which paired no reverse complements", "one", "the other")
        unit = self.merged_unit(other, bool(self.alphabet), bool(other.alphabet))
        alphabet, codes = united(self.alphabet, other.alphabet)
        recode = np.append(0, codes + 1)
        (cells, lengths), (more, longer) = self.parts(), other.parts()
        symbols = more if len(longer) == 0 else more[:, 1:]  # otherwise the first cell is a position
        symbols[:] = recode[symbols]
        varied = len(lengths) + len(longer) > 0
        numbers = number_rows(_keys(cells, lengths, varied), _keys(more, longer, varied))
        theirs, new = merged_ids(np.arange(self.n_features), numbers)
        longer = longer[new] if len(longer) else longer
        patterns = np.concatenate([cells, more[new]]), np.concatenate([lengths, longer])
        return self.kernel.map_of(patterns, alphabet, unit, self.features.paired), np.arange(self.n_features), theirs

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        cells, lengths = self.parts()
        arrays = {"patterns": narrow(cells, 1 + int(cells.max(initial=0)))}
        if len(lengths):
            arrays["lengths"] = lengths
        pairs = {"paired": True} if self.features.paired else {}  # otherwise as in earlier versions
        return {"alphabet": self.alphabet, "unit": self.unit} | pairs, arrays

    def families(self) -> tuple[Families | None, ...]:
        found = self.features.families()
        return (None if found is None else Families(*found),)

    def has_strings(self) -> bool:
        return len(self.features.lengths()) == 0  # otherwise the first cell is a position

    def strings(self) -> FeatureStrings:
        if not self.has_strings():
            raise self.refusal(StringMap)
        cells, _ = self.parts()
        return FeatureStrings.of_matrix(cells, ["*", *self.symbol_names()])

    def with_strings(self, strings: FeatureStrings) -> FeatureMap:
        cells = strings.matrix(int(np.diff(strings.offsets).max(initial=0)))[0]
        return self.kernel.load_features(self.state()[0], {"patterns": cells})


def _keys(cells: np.ndarray, lengths: np.ndarray, varied: bool) -> np.ndarray:
    """One row per pattern, different for different ones; where lengths vary, they are part of it."""
    return np.column_stack([cells, lengths]) if varied else cells


@dataclass(eq=False, repr=False)
class Gappy(PatternKernel):
    """Subsequences of n symbols with bounded gaps: phi_z(x) = sum over the occurrences of z in x of their weight.

    An occurrence with g symbols in its gaps weighs decay^g (``count="gaps"``), or decay^(n + g) (``count="span"``, Lodhi et al.).
    One step per occurrence: at most (1 + max_gap)^(n - 1) per position.

    Parameters
    ----------
    n : int
        Number of symbols.
    decay : float
        Positive; 1: gaps do not count.
    max_gap : int or None
        Maximum number of symbols in one gap.
    max_total_gap : int or None
        Maximum number of symbols in all gaps of an occurrence together. One of the two bounds is required. For gaps of any length
        use ``Subsequence(n, decay)``, which has no explicit features.
    count : {"gaps", "span"}
        What decay counts: each skipped symbol, or each symbol from the first to the last.
    unit : {"char", "word", "byte"}, one of these with modifiers such as "word+lower", or callable
        How texts are split into symbols, see `treille.Strings`.
    counts : {"raw", "log", "binary"}
        In place of a sum c of decay^g: c, 1 + log(c), or 1 if c > 0; see `NGram`. The factor decay^n of ``count="span"`` stays
        outside. "log" needs a decay of at least 1.

    Examples
    --------
    >>> from treille.kernels import Gappy
    >>> Gappy(2, decay=0.5, max_gap=2)(["cat", "cart", "bar"])[0].tolist()  # with cart: 1 + decay + decay^3
    [2.25, 1.625, 0.0]
    """

    n: int = 2
    decay: float = 0.5
    max_gap: int | None = None
    max_total_gap: int | None = None
    count: Literal["gaps", "span"] = "gaps"
    unit: Unit = "char"
    counts: Counts = "raw"

    between = "-"

    def family(self, alphabet: list[Any]) -> _core.GappyPatterns:
        n, decay = whole("n", self.n), check_positive("decay", self.decay)
        check_choice("count", self.count, "gaps", "span")
        if self.counts == "log" and decay < 1:
            raise InputError(
                f"counts='log' needs counts of at least 1, but decay={self.decay} weighs occurrences with gaps less: "
                "use decay=1, or counts='binary'"
            )
        bounds = {"max_gap": self.max_gap, "max_total_gap": self.max_total_gap}
        gap, total = (2**31 - 1 if value is None else whole(name, value, 0) for name, value in bounds.items())
        if n > 1 and self.max_gap is None and self.max_total_gap is None:
            raise InputError(
                "neither max_gap nor max_total_gap is given: features need a bound on the gaps, for example max_gap=3."
                f" For gaps of any length use Subsequence({n}, {decay})"
            )
        return _core.GappyPatterns(n, gap, total, decay, decay**n if self.count == "span" else 1.0)

    def holds(self, cells: np.ndarray, lengths: np.ndarray, size: int) -> bool:
        return are_patterns(cells, lengths, size, int(self.n), 0, 0)


@dataclass(eq=False, repr=False)
class Mismatch(PatternKernel):
    """phi_z(x) = the number of windows of x that differ from z in at most m places, for every z of k symbols of the alphabet.

    Costs sum over j <= m of C(k, j) (b - 1)^j features per window, for an alphabet of b symbols.

    Parameters
    ----------
    k : int
        The length of the windows.
    m : int
        Maximum number of mismatches, less than k; 0: plain k-mers.
    alphabet : str or list
        The symbols, such as ``"ACGT"``. Required: the number of common neighbours of two windows grows with the number of symbols,
        so without it k(x, y) would depend on the symbols of the other examples.
    unit : {"char", "word", "byte"}, one of these with modifiers such as "word+lower", or callable
        How texts are split into symbols, see `treille.Strings`.
    counts : {"raw", "log", "binary"}
        The number of windows c as it is, 1 + log(c), or 1 if c > 0; see `NGram`.

    Examples
    --------
    >>> from treille.kernels import Mismatch
    >>> Mismatch(3, m=1, alphabet="ACGT")(["ACG", "ACT", "TTT"])[0].tolist()
    [10.0, 4.0, 0.0]
    """

    k: int = 5
    m: int = 1
    alphabet: str | Sequence[Any] | None = None
    unit: Unit = "char"
    counts: Counts = "raw"

    def declared(self) -> list[Any]:
        if self.alphabet is None:
            raise InputError(
                "alphabet is None: the number of common neighbours of two windows depends on the number of symbols:"
                " declare them, for example alphabet='ACGT'"
            )
        return alphabet_symbols("alphabet", self.alphabet, self.unit)

    def family(self, alphabet: list[Any]) -> _core.MismatchPatterns:
        k, m, b = whole("k", self.k), whole("m", self.m, 0), len(alphabet)
        if m >= k:
            raise InputError(f"m is {m}, expected less than k, which is {k}: every window would match every k-mer")
        if sum(comb(k, j) * (b - 1) ** j for j in range(m + 1)) > MOST:
            raise InputError(
                f"k is {k}, m is {m} and the alphabet has {b} symbols: more than {MOST:,} neighbours per window; lower k or m"
            )
        return _core.MismatchPatterns(k, m, b)

    def holds(self, cells: np.ndarray, lengths: np.ndarray, size: int) -> bool:
        return are_patterns(cells, lengths, size, int(self.k), 0, 0)


class Wildcard(PatternKernel):
    """Patterns of k positions, at most m of them wildcards: phi_z(x) = decay^(wildcards in z) * (matching windows of x).

    Needs no alphabet: a wildcard matches any symbol. Costs sum over j <= m of C(k, j) patterns per window.

    Parameters
    ----------
    k : int
        The length of the windows.
    m : int
        Maximum number of wildcards in a pattern, less than k; 0: plain k-mers.
    decay : float
        Positive: the factor of each wildcard in phi.
    unit : {"char", "word", "byte"}, one of these with modifiers such as "word+lower", or callable
        How texts are split into symbols, see `treille.Strings`.
    counts : {"raw", "log", "binary"}
        The number of windows c as it is, 1 + log(c), or 1 if c > 0, times decay^(wildcards in z); see `NGram`.

    Examples
    --------
    >>> from treille.kernels import Wildcard
    >>> Wildcard(3, m=1, decay=0.5)(["cat", "car"]).tolist()  # both have ca*
    [[1.75, 0.25], [0.25, 1.75]]
    """

    any_symbol = "*"

    def __init__(self, k: int = 4, m: int = 1, decay: float = 1.0, unit: Unit = "char", counts: Counts = "raw"):
        self.k = k
        self.m = m
        self.decay = decay
        self.unit = unit
        self.counts = counts

    def family(self, alphabet: list[Any]) -> _core.WildcardPatterns:
        k, m, decay = whole("k", self.k), whole("m", self.m, 0), check_positive("decay", self.decay)
        if m >= k:
            raise InputError(
                f"m is {m}, expected less than k, which is {k}: a pattern of wildcards only matches everything"
            )
        patterns = sum(comb(k, j) for j in range(m + 1))
        if patterns > MOST:
            raise InputError(f"k is {k} and m is {m}: more than {MOST:,} patterns per window; lower one of them")
        if patterns * k > MOST_SYMBOLS:
            raise InputError(
                f"k is {k} and m is {m}: more than {MOST_SYMBOLS:,} symbols in the patterns of a window; lower k"
            )
        return _core.WildcardPatterns(k, m, decay)

    def holds(self, cells: np.ndarray, lengths: np.ndarray, size: int) -> bool:
        return are_patterns(cells, lengths, size, int(self.k), 0, int(self.m))
