"""Patterns in windows whose kernel matrix needs no features: gapped k-mers, and n-grams at the same positions."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any, Literal

import numpy as np

from treille import _core
from treille.data import Lattices, Strings
from treille.io.errors import InputError
from treille.io.parameters import check_choice, check_flag, effective_n_jobs
from treille.kernels.counts import Counts, check_counts
from treille.kernels.fitting import KnownFeatures
from treille.kernels.patterns import PatternKernel, PatternMap, are_patterns
from treille.kernels.sequences import Unit, alphabet_symbols, joint_codes, whole

MOST = 100_000  # choices of positions
MOST_POSITIONS = 100 * MOST  # in all of them, which are held in memory
BUCKETS = 1 << 20  # of one choice of positions
# Patterns that the core counts in a table; others go through a dictionary, at 200 ns for each position and choice.
TABLE = 1 << 22
FEW = 2000  # examples, up to which the matrix costs less than a dictionary and epochs: 0.16 ns for each, position and choice
COMPLEMENT = dict(zip("ACGTacgt", "TGCAtgca", strict=True))


@dataclass(eq=False, repr=False)
class GappedKmer(PatternKernel):
    """Windows of `length` symbols that agree at k positions: k(x, y) = sum over pairs of windows of C(length - mismatches, k).

    A feature is a choice of k positions of the window and the symbols there; its value is the number of windows that match. With
    ``filter="full"`` or ``"truncated"``, gkm-SVM's filters weigh the pairs of windows instead; these have no such features, nor
    have kernels with `max_mismatches`.

    Parameters
    ----------
    length : int
        The length of the windows.
    k : int
        Number of positions that count.
    alphabet : str or list, or None
        The symbols, such as ``"ACGT"``: any other is an error. None: the symbols of the training data. Required by the filters.
    skip : str or list
        Symbols such as ``"N"``: windows that contain one are ignored.
    reverse_complement : bool
        Count every sequence together with its reverse complement. The alphabet must consist of ACGTacgt; the default is ACGT.
        A choice of positions and symbols and its reverse complement occur equally often: the two are one feature, named after one
        of them, whose value is sqrt(2) times the number of windows that match either.
    filter : {"count", "full", "truncated"}
        ``"full"``: c_m = b^-length sum over j <= k of Krawtchouk_j(m; length, b) for m mismatches and b symbols, the orthogonal
        projection on functions of at most k positions. ``"truncated"``: the filter c is set to 0 from the first m on where it is
        not positive, and then correlated with itself: the value of two windows is the sum over all words u of the products of
        their c with u (LS-GKM's ``-t 2``).
    max_mismatches : int or None
        Pairs of windows with more mismatches count 0 (LS-GKM's ``-d``); None: no bound. Such a kernel is not always positive
        semi-definite.
    unit : {"char", "word", "byte"}, one of these with modifiers such as "word+lower", or callable
        How texts are split into symbols, see `treille.Strings`.
    counts : {"raw", "log", "binary"}
        The number of windows c as it is, 1 + log(c), or 1 if c > 0; see `NGram`. Filters and `max_mismatches` need "raw".

    Examples
    --------
    >>> from treille.kernels import GappedKmer
    >>> GappedKmer(3, 2)(["ACG", "ACT", "TTT"])[0].tolist()
    [3.0, 1.0, 0.0]
    """

    always_printed = 2

    length: int = 10
    k: int = 6
    alphabet: str | Sequence[Any] | None = None
    skip: str | Sequence[Any] = ""
    reverse_complement: bool = False
    filter: Literal["count", "full", "truncated"] = "count"
    max_mismatches: int | None = None
    unit: Unit = "char"
    counts: Counts = "raw"

    any_symbol = "."

    def check(self) -> None:
        check_counts(self.counts)
        length, k = whole("length", self.length), whole("k", self.k)
        if k > length:
            raise InputError(f"k is {k}, more than length, which is {length}: k positions are chosen among `length`")
        if comb(length, k) > MOST:
            raise InputError(
                f"length is {length} and k is {k}: {comb(length, k):,} choices of positions, expected at most {MOST:,}"
            )
        if comb(length, k) * k > MOST_POSITIONS:
            raise InputError(
                f"length is {length} and k is {k}: more than {MOST_POSITIONS:,} positions in all choices; lower both of them"
            )
        check_choice("filter", self.filter, "count", "full", "truncated")
        if self.max_mismatches is not None:
            whole("max_mismatches", self.max_mismatches, 0)
        check_flag("reverse_complement", self.reverse_complement)
        symbols, skipped = self.declared(), self.left_out()
        both = [s for s in symbols or () if s in skipped]
        if both:
            raise InputError(f"the symbol {both[0]!r} is both in alphabet and in skip")
        if self.filter != "count" and symbols is None:
            raise InputError(
                f"filter={self.filter!r} depends on the number of symbols: declare them, for example alphabet='ACGT'"
            )
        if not self.has_features and self.counts != "raw":
            raise InputError(
                f"counts={self.counts!r} changes the values of features, which a kernel with a filter or max_mismatches does not"
                " have: use filter='count' and max_mismatches=None, or counts='raw'"
            )
        if not self.has_features and length > 255:
            raise InputError(f"length is {length}, expected at most 255 with a filter or max_mismatches")
        self._complement(symbols or [])

    def declared(self) -> list[Any] | None:
        if self.alphabet is not None:
            return alphabet_symbols("alphabet", self.alphabet, self.unit)
        return alphabet_symbols("alphabet", "ACGT", self.unit) if self.reverse_complement else None

    def left_out(self) -> list[Any]:
        return [] if isinstance(self.skip, str) and not self.skip else alphabet_symbols("skip", self.skip, self.unit)

    @property
    def has_features(self) -> bool:
        bounded = self.max_mismatches is not None and self.max_mismatches < self.length - self.k
        return self.filter == "count" and not bounded

    def family(self, alphabet: list[Any]) -> _core.GappedKmerPatterns:
        self.check()
        return _core.GappedKmerPatterns(int(self.length), int(self.k), self._complement(alphabet), paired=True)

    def former_family(self, alphabet: list[Any]) -> _core.GappedKmerPatterns:
        return _core.GappedKmerPatterns(int(self.length), int(self.k), self._complement(alphabet), paired=False)

    def prefers_features(self, batch: Any, n_jobs: int | None = None, known: KnownFeatures | None = None) -> bool:
        if not self.has_features or self.counts != "raw" or isinstance(batch, Lattices) or len(batch) > FEW:
            return self.has_features
        size, choices = len(set(batch.alphabet) - set(self.left_out())), comb(int(self.length), int(self.k))
        buckets = size ** int(self.k)
        return buckets > BUCKETS or choices * buckets <= TABLE

    def gram(self, left: Strings, right: Strings | None = None, n_jobs: int | None = None) -> np.ndarray:
        if self.counts != "raw" or isinstance(left, Lattices) or isinstance(right, Lattices):
            return super().gram(left, right, n_jobs)
        symbols, one, other = joint_codes(left, right, self.declared(), self.left_out())
        threads, family = effective_n_jobs(n_jobs), self.family(symbols)
        if not self.has_features:
            complement = np.array(self._complement(symbols), np.int32)
            K = _core.mismatch_gram(int(self.length), self.mismatch_values(), complement, one, other, threads)
        elif len(symbols) ** int(self.k) <= BUCKETS and max(len(left), len(right or ())) < 2**24:
            K = _core.gapped_kmer_gram(family, len(symbols), one, other, threads)
        else:
            return super().gram(left, right, n_jobs)
        return K.reshape(len(left), len(left if right is None else right))

    def diagonal(self, batch: Strings, n_jobs: int | None = None) -> np.ndarray:
        if self.counts != "raw" or isinstance(batch, Lattices):
            return super().diagonal(batch, n_jobs)
        symbols, one, _ = joint_codes(batch, None, self.declared(), self.left_out())
        threads, family = effective_n_jobs(n_jobs), self.family(symbols)
        if not self.has_features:
            complement = np.array(self._complement(symbols), np.int32)
            return _core.mismatch_diagonal(int(self.length), self.mismatch_values(), complement, one, threads)
        if len(symbols) ** int(self.k) <= BUCKETS:
            return _core.gapped_kmer_diagonal(family, len(symbols), one, threads)
        return super().diagonal(batch, n_jobs)

    def mismatch_values(self) -> np.ndarray:
        """The value of a pair of windows by its number of mismatches.

        >>> GappedKmer(3, 2).mismatch_values().tolist()
        [3.0, 1.0, 0.0, 0.0]
        >>> GappedKmer(3, 3, alphabet="ACGT", filter="full").mismatch_values().tolist()
        [1.0, 0.0, 0.0, 0.0]
        """
        length, k = int(self.length), int(self.k)
        if self.filter == "count":
            values = [float(comb(length - m, k)) for m in range(length + 1)]
        else:
            b = len(self.declared() or ())
            c = [sum(_krawtchouk(j, m, length, b) for j in range(k + 1)) for m in range(length + 1)]  # integers: exact
            scale = b**length
            if self.filter == "truncated":
                first = next((m for m, value in enumerate(c) if value <= 0), length + 1)
                c, scale = _autocorrelation(c[:first], length, b), scale**2
            values = [value / scale for value in c]
        bound = length if self.max_mismatches is None else int(self.max_mismatches)
        return np.array([value if m <= bound else 0.0 for m, value in enumerate(values)])

    def holds(self, cells: np.ndarray, lengths: np.ndarray, size: int) -> bool:
        free = int(self.length) - int(self.k)
        return are_patterns(cells, lengths, size, int(self.length), free, free)

    def _complement(self, alphabet: list[Any]) -> list[int]:
        """The number of each symbol's complement; none unless sequences count with their reverse complements."""
        if not self.reverse_complement:
            return []
        names = [chr(s) if isinstance(s, int) else s for s in alphabet]
        number = {name: code for code, name in enumerate(names)}
        for name in names:
            if COMPLEMENT.get(name) not in number:
                raise InputError(
                    f"the alphabet contains {name!r} without its complement: reverse_complement=True is for DNA, alphabet='ACGT';"
                    " put other letters such as N into skip"
                )
        return [number[COMPLEMENT[name]] for name in names]


def _krawtchouk(j: int, m: int, length: int, b: int) -> int:
    """The Krawtchouk polynomial K_j(m; length, b)."""
    return sum((-1) ** i * (b - 1) ** (j - i) * comb(m, i) * comb(length - m, j - i) for i in range(j + 1))


def _autocorrelation(c: list[int], length: int, b: int) -> list[int]:
    """For two words with m mismatches, m = 0 .. length: sum over all words u of c[mismatches of x, u] c[mismatches of u, y].

    Where x and y agree, u differs from both at r positions. Where they differ, u is x at p, y at q of the m positions.
    """
    out = []
    for m in range(length + 1):
        total = 0
        for p in range(m + 1):
            for q in range(m - p + 1):
                ways = comb(m, p) * comb(m - p, q) * (b - 2) ** (m - p - q)
                for r in range(min(length - m, len(c) - 1 - m + min(p, q)) + 1):
                    total += ways * comb(length - m, r) * (b - 1) ** r * c[m - p + r] * c[m - q + r]
        out.append(total)
    return out


class WeightedDegree(PatternKernel):
    """N-grams up to d at the same positions: k(x, y) = sum over n <= d of beta_n * (number of positions with the same n-gram).

    beta_n = 2 (d - n + 1) / (d (d + 1)). With `shift`, n-grams at positions that differ by s <= shift count as well, with weight
    1 / (2 (s + 1)) in each direction. A value costs (2 shift + 1) |x|. Without shift the explicit features are pairs
    (position, n-gram).

    Parameters
    ----------
    d : int
        Length of the longest n-gram.
    shift : int
        Maximum distance of positions.
    unit : {"char", "word", "byte"}, one of these with modifiers such as "word+lower", or callable
        How texts are split into symbols, see `treille.Strings`.

    Examples
    --------
    >>> from treille.kernels import WeightedDegree
    >>> WeightedDegree(2)(["ACGT", "ACCT", "CGTA"]).round(3).tolist()
    [[3.667, 2.333, 0.0], [2.333, 3.667, 0.0], [0.0, 0.0, 3.667]]
    >>> WeightedDegree(2, shift=1)(["ACGT"], ["CGTA"]).round(3).tolist()
    [[0.667]]
    """

    reads_lattices = False

    def __init__(self, d: int = 5, shift: int = 0, unit: Unit = "char"):
        self.d = d
        self.shift = shift
        self.unit = unit

    def check(self) -> None:
        super().check()
        whole("shift", self.shift, 0)

    @property
    def has_features(self) -> bool:
        return self.shift == 0

    def family(self, alphabet: list[Any]) -> _core.PlacedPatterns:
        return _core.PlacedPatterns(whole("d", self.d))

    def gram(self, left: Strings, right: Strings | None = None, n_jobs: int | None = None) -> np.ndarray:
        _, one, other = joint_codes(left, right)
        K = _core.weighted_degree_gram(int(self.d), int(self.shift), one, other, effective_n_jobs(n_jobs))
        return K.reshape(len(left), len(left if right is None else right))

    def diagonal(self, batch: Strings, n_jobs: int | None = None) -> np.ndarray:
        one = joint_codes(batch, None)[1]
        return _core.weighted_degree_diagonal(int(self.d), int(self.shift), one, effective_n_jobs(n_jobs))

    def pattern_name(self, fitted: PatternMap, cells: list[int]) -> str:
        return f"{fitted.joined(fitted.symbols(cells[1:]))} at {cells[0] + 1}"

    def holds(self, cells: np.ndarray, lengths: np.ndarray, size: int) -> bool:
        if cells.shape[1] != int(self.d) + 1 or len(lengths) != len(cells) or cells.min(initial=0) < 0:
            return False
        used = np.arange(1, cells.shape[1]) < lengths[:, None]
        symbols = cells[:, 1:]
        inside = (symbols <= size).all() and ((symbols > 0) == used).all()
        return bool(inside and (lengths >= 2).all() and (lengths <= cells.shape[1]).all())
