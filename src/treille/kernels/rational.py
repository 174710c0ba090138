"""Rational kernels: any similarity that a weighted transducer can describe."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from treille import _core
from treille.automata import Fst
from treille.automata.validation import call_core
from treille.data.base import align, selection
from treille.data.lattices import as_lattices
from treille.features import Contributions, ExplainingMap, FeatureMap, FeatureStrings, MergingMap, Rows, StringMap
from treille.features.merging import Merged, Records, alike, different, merge_records
from treille.io import stored
from treille.io.errors import InputError
from treille.io.machine import EPSILON
from treille.io.parameters import check_flag, effective_n_jobs
from treille.kernels.base import Fitted
from treille.kernels.sequences import SequenceKernel, SequenceMap, Sequences

SYMMETRIC = 1e-9  # relative to the largest value


class Rational(SequenceKernel):
    """The kernel of a weighted transducer T: phi_z(x) = T(x, z), the weight of the transduction of x into z, and k = T o T^-1.

    For lattices, k(X, Y) = sum over x, y of X(x) k(x, y) Y(y): phi_z(X) is the expected weight. Features are found by composition:
    states are pairs of a state of X and a state of T, and equal outputs are merged; paths are never enumerated. Symbols of T and of
    the examples are matched by name.

    Parameters
    ----------
    T : Fst
        A transducer over the reals. Cycles that read and write nothing are summed; an error where the sum diverges. A cycle that
        reads nothing and writes symbols gives an example infinitely many features: then k is computed for each pair.
    factored : bool
        False: T is the kernel itself, k(x, y) = T(x, y), computed for each pair. It must be symmetric, which is checked on the
        data, and positive semi-definite, which is not checked.
    unit : {"char", "word", "byte"}, one of these with modifiers such as "word+lower", or callable
        How texts are split into symbols, see `treille.Strings`.

    Examples
    --------
    >>> from treille import Fst
    >>> from treille.kernels import Rational
    >>> skip = [(state, symbol, "", 1.0, state) for state in (0, 2) for symbol in "ab"]
    >>> T = Fst.from_arcs([*skip, *((k, symbol, symbol, 1.0, k + 1) for k in (0, 1) for symbol in "ab")], {2: 1.0})
    >>> Rational(T)(["ababa", "abbab"]).tolist()  # T writes each bigram once
    [[8.0, 6.0], [6.0, 6.0]]
    """

    reads_lattices = True

    def __init__(self, T: Fst, factored: bool = True, unit: str | Callable[[str], Iterable[str]] = "char"):
        self.T = T
        self.factored = factored
        self.unit = unit

    @property
    def has_features(self) -> bool:
        return bool(self.factored) and not (isinstance(self.T, Fst) and _core.epsilon_cycle(self._machine(), True))

    def check(self) -> None:
        if not isinstance(self.T, Fst):
            raise InputError(f"T is {type(self.T).__name__}, expected a transducer, treille.Fst")
        check_flag("factored", self.factored)
        if self.T.semiring != "real":
            raise InputError(f"T is over the semiring {self.T.semiring!r}, expected 'real': use T.astype('real')")
        self._machine() if self.has_features else self._pair_machine()

    def _machine(self) -> _core.Machine:
        """T without cycles that read and write nothing."""
        if self.T.semiring != "real":
            return self.T.machine
        return self.T.derived("without cycles", lambda: _without_cycles(self.T, "T"))

    def _pair_machine(self) -> _core.Machine:
        """The machine U of k(x, y) = U(x, y): T, or T o T^-1."""
        if not self.factored:
            return self._machine()
        name = "T has a cycle that reads nothing and writes symbols: T o T^-1"
        return self.T.derived("times inverse", lambda: _without_cycles(self.T @ ~self.T, name))

    def fit_features(self, batch: Sequences, n_jobs: int | None = None) -> Fitted:
        if not self.has_features:
            return super().fit_features(batch, n_jobs)
        self.check()
        threads = effective_n_jobs(n_jobs)
        data, codes = _read(batch, self.T.input_symbols, threads)
        _check_known(batch, codes, self.T.input_symbols)
        features, rows = call_core(_core.RationalFeatures.fit, self._machine(), data, codes, threads)
        fitted = RationalMap(self, features, self.T.output_symbols or [], batch.unit)
        return fitted, Rows.from_core(rows, fitted.n_features)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        if not self.has_features:
            return super().load_features(spec, arrays)
        labels = stored.array(arrays, "labels", np.int32)
        offsets = stored.offsets(arrays, "offsets", len(labels))
        written = self.T.parts().outputs
        if not np.isin(labels, written[written > 0]).all():
            raise InputError("the strings in the file do not fit its kernel")
        return self.map_of((labels, offsets), stored.unit(spec))

    def map_of(self, parts: Iterable[np.ndarray], unit: str) -> FeatureMap:
        """The map of output strings: their labels, and where each string begins."""
        return RationalMap(self, _core.RationalFeatures.from_strings(*parts), self.T.output_symbols or [], unit)

    def gram(self, left: Sequences, right: Sequences | None = None, n_jobs: int | None = None) -> np.ndarray:
        if self.has_features:
            return super().gram(left, right, n_jobs)
        K = self._values(left, left if right is None else right, n_jobs)
        if right is None:
            _check_symmetric(K, K.T)
            return np.triu(K) + np.triu(K, 1).T
        if len(left) and len(right):  # one row of the transposed matrix is a cheap check
            _check_symmetric(self._values(left[:1], right, n_jobs), self._values(right, left[:1], n_jobs).T)
        return K

    def diagonal(self, batch: Sequences, n_jobs: int | None = None) -> np.ndarray:
        if self.has_features:
            return super().diagonal(batch, n_jobs)
        return call_core(_core.rational_diagonal, self._pair_machine(), *self._sides(batch, batch, n_jobs))

    def _values(self, left: Sequences, right: Sequences, n_jobs: int | None) -> np.ndarray:
        values = call_core(_core.rational_gram, self._pair_machine(), *self._sides(left, right, n_jobs))
        return values.reshape(len(left), len(right))

    def _sides(self, left: Sequences, right: Sequences, n_jobs: int | None) -> tuple[Any, ...]:
        """The input side of T, its output side, and the number of threads, for the core."""
        threads = effective_n_jobs(n_jobs)
        right_symbols = self.T.input_symbols if self.factored else self.T.output_symbols
        return *_read(left, self.T.input_symbols, threads), *_read(right, right_symbols, threads), threads


class RationalMap(SequenceMap, ExplainingMap, MergingMap, StringMap):
    """Output strings and their ids. Unseen strings have none."""

    features: _core.RationalFeatures

    @property
    def names(self) -> tuple[Any, ...]:
        return (self.unit,)

    def parts(self, ids: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        labels, offsets = self.features.strings()
        if ids is None:
            return labels, offsets
        places, ends = selection(offsets, ids)
        return np.ascontiguousarray(labels[places]), ends

    def transform(self, batch: Sequences, n_jobs: int | None = None) -> Rows:
        threads = effective_n_jobs(n_jobs)
        data, codes = _read(batch, self.kernel.T.input_symbols, threads)
        rows = call_core(self.features.transform, self.kernel._machine(), data, codes, threads)
        return Rows.from_core(rows, self.n_features)

    def contributions(self, batch: Sequences, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        codes = _codes(batch, self.kernel.T.input_symbols)  # epsilon arcs stay, since they are parts
        values = np.ascontiguousarray(weights, np.float64), effective_n_jobs(n_jobs)
        arguments = self.kernel._machine(), as_lattices(batch).for_core(), codes, *values
        shares, base = call_core(self.features.contributions, *arguments)
        return Contributions.of(batch, shares).plus(base)

    def feature_name(self, id: int) -> str:
        labels = self.features.string(id)
        return self.joined(_name(self.kernel.T.output_symbols, label) for label in labels) if labels else EPSILON

    def merge(self, other: FeatureMap) -> Merged:
        other = alike(RationalMap, self, other)
        if self.kernel.T != other.kernel.T:
            raise different("T", repr(self.kernel.T), repr(other.kernel.T))
        unit = self.merged_unit(other, self.n_features > 0, other.n_features > 0)
        mine, theirs = (Records(*each.parts(), np.arange(each.n_features)) for each in (self, other))
        merged, ids = merge_records(mine, theirs)
        return self.kernel.map_of(merged[:2], unit), mine.features, ids

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"unit": self.unit}, dict(zip(("labels", "offsets"), self.parts(), strict=True))

    def strings(self) -> FeatureStrings:
        labels, offsets = self.parts()
        table = self.kernel.T.output_symbols
        names = table[1:] if table else [str(label) for label in range(1, labels.max(initial=0) + 1)]
        return FeatureStrings(labels - 1, offsets, names)  # label 0 is epsilon, which no feature contains

    def with_strings(self, strings: FeatureStrings) -> FeatureMap:
        return self.kernel.load_features(
            {"unit": self.unit}, {"labels": strings.symbols + 1, "offsets": strings.offsets}
        )


def _without_cycles(T: Fst, name: str) -> _core.Machine:
    """The machine of T without cycles of epsilon arcs, which are summed."""
    if not _core.epsilon_cycle(T.machine, False):
        return T.machine
    try:
        return T.remove_epsilon().machine
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _name(table: Sequence[str] | None, label: int) -> str:
    if label == 0:
        return ""
    return str(label) if table is None else table[label]


def _read(batch: Sequences, table: Sequence[str] | None, threads: int) -> tuple[_core.Lattices, np.ndarray]:
    """A batch as lattices without epsilon arcs, and the label of each symbol on one side of T."""
    codes = _codes(batch, table)
    return as_lattices(batch).without_epsilon(threads), codes


def _codes(batch: Sequences, table: Sequence[str] | None) -> np.ndarray:
    """The label of each symbol on one side of T, 0 for none."""
    if table is None:
        wrong = next((symbol for symbol in batch.alphabet if not isinstance(symbol, int)), None)
        if wrong is not None:
            raise InputError(
                f"the symbols of T are numbers, but those of the examples are not ({wrong!r}): give T symbol tables"
            )
        return np.array([symbol if 0 < symbol < 2**31 else 0 for symbol in batch.alphabet], np.int32)
    return align(batch.alphabet, table, unknown=0)


def _check_known(batch: Sequences, codes: np.ndarray, table: Sequence[str] | None) -> None:
    """Refuses examples of which T reads no symbol: all features would be 0."""
    used = np.unique(batch.symbols)
    used = used[used >= 0]
    if len(used) and not codes[used].any():
        known = "numbers from 1" if table is None else ", ".join(map(repr, table[1:6])) or "none"
        raise InputError(
            f"T reads no symbol of the examples: it has {known}, they have {batch.alphabet[used[0]]!r}: use the same symbols"
        )


def _check_symmetric(one: np.ndarray, other: np.ndarray) -> None:
    off = np.abs(one - other)
    if off.size and off.max() > SYMMETRIC * max(np.abs(one).max(), np.abs(other).max()):
        i, j = np.unravel_index(int(off.argmax()), off.shape)
        raise InputError(
            f"T is not symmetric: its value for examples {i} and {j} is {float(one[i, j])!r}, but {float(other[i, j])!r} for"
            f" examples {j} and {i}: use U + ~U, or factored=True"
        )
