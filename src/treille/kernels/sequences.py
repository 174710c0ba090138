"""What kernels of sequences share: how examples are read, how symbols of two batches meet, checks of parameters."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from treille.data import Batch, Lattices, Rows, Strings
from treille.data.alphabet import align, codes_of
from treille.data.strings import UNITS
from treille.io.errors import InputError
from treille.io.parameters import check_whole
from treille.kernels.base import FeatureMap, Kernel


class SequenceKernel(Kernel):
    """A kernel of sequences of symbols; has a parameter `unit`, how texts are cut.

    Those that count may say that they read lattices too: of these, the count is the expected one.
    """

    unit: str | Callable[[str], Iterable[str]]

    @property
    def reads_lattices(self) -> bool:
        """Whether examples may be distributions over sequences."""
        return False

    def batch(self, X: Any, n_jobs: int | None = None) -> Batch:
        if Lattices.recognises(X) and not isinstance(X, Lattices):
            X = Lattices(X, n_jobs=n_jobs)
        if isinstance(X, Lattices) and not self.reads_lattices:
            raise InputError(f"{self!r} reads sequences, found lattices: use NGram, Gappy or Rational, or X.best()")
        if not isinstance(X, (Strings, Lattices)):
            return Strings(X, self.unit, n_jobs)
        if isinstance(self.unit, str) and X.unit in UNITS and X.unit != self.unit:
            raise InputError(
                f"the batch is cut into units of {X.unit!r}, the kernel has unit={self.unit!r}: make them agree"
            )
        return X


class SequenceMap(FeatureMap):
    """Features made of symbols, with their ids. `features` is the core's own map, `alphabet` the symbols it numbers."""

    def __init__(self, features: Any, alphabet: list[Any], unit: str):
        self.features = features
        self.alphabet = alphabet
        self.unit = unit

    @property
    def n_features(self) -> int:
        return len(self.features)

    @cached_property
    def _codes(self) -> dict[Any, int]:
        return codes_of(self.alphabet)

    def recode(self, batch: Strings | Lattices) -> np.ndarray:
        """The code here of each symbol of the batch. Those never seen get codes of their own: they match no feature, but are told
        apart in the norm."""
        agree = batch.unit == self.unit or {batch.unit, self.unit} == {"word", "token"}
        if not agree and batch.symbols.max(initial=-1) >= 0:  # arcs of lattices may read nothing
            raise InputError(
                f"the features are of sequences with unit {self.unit!r}, the new ones have unit {batch.unit!r}: make them agree"
            )
        return align(batch.alphabet, self._codes)

    def rows(self, arrays: Any, n_shared: int) -> Rows:
        indptr, entries, code_bits, palette, sq_norms = arrays
        return Rows(indptr, entries, code_bits, palette, np.ones(len(sq_norms)), sq_norms, self.n_features, n_shared)

    def name(self, id: int) -> str:
        if not 0 <= id < self.n_features:
            raise IndexError(f"feature {id} does not exist: there are {self.n_features:,}")
        return self.spell(id)

    @abstractmethod
    def spell(self, id: int) -> str:
        """The name of a feature that exists."""

    def symbol_names(self) -> list[str]:
        """The symbols of the alphabet as people read them."""
        return [self.joined([symbol]) for symbol in self.alphabet]

    def joined(self, symbols: Iterable[Any], between: str = "") -> str:
        """Symbols as people read them, words with blanks between them."""
        if self.unit == "byte":
            return between.join(s if isinstance(s, str) else repr(bytes([s]))[2:-1] for s in symbols)
        return (between if self.unit == "char" else f" {between} " if between else " ").join(map(str, symbols))


class CountMap(SequenceMap):
    """Features that are counted in strings, or in lattices, where the counts are expected ones."""

    def transform(self, batch: Batch, n_jobs: int | None = None) -> Rows:
        assert isinstance(batch, (Strings, Lattices))
        threads, codes = effective_n_jobs(n_jobs), self.recode(batch)
        if isinstance(batch, Lattices):
            rows = self.features.transform_lattices(batch.for_core(), codes, threads)
        else:
            rows = self.features.transform(batch.symbols, batch.offsets, codes, threads)
        return self.rows(rows, self.n_features)


def narrow(cells: np.ndarray, size: int) -> np.ndarray:
    """The same numbers, all below `size`, in the fewest bytes."""
    return cells.astype(np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.int32)


def whole(name: str, value: Any, least: int = 1) -> int:
    """A count of symbols, which the core keeps in 31 bits, or an InputError."""
    return check_whole(name, value, least, bits=31)


def decay_factor(value: Any) -> float:
    """A number in (0, 1], or an InputError."""
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) <= 1:
        raise InputError(f"decay is {value!r}, expected a number above 0 and at most 1")
    return float(value)


def alphabet_symbols(name: str, value: Any, unit: Any) -> list[Any]:
    """The distinct symbols of a declared alphabet, in its order: those of a string, or the items of a list."""
    if not isinstance(value, (str, Sequence, np.ndarray)) or isinstance(value, bytes):
        raise InputError(f"{name} is {value!r}, expected a string such as 'ACGT', or a list of symbols")
    symbols: list[Any] = list(value.encode() if isinstance(value, str) and unit == "byte" else value)
    symbols = [s.item() if isinstance(s, np.generic) else s for s in symbols]
    if not symbols:
        raise InputError(f"{name} is {value!r}, which holds no symbol")
    if len(set(symbols)) != len(symbols):
        raise InputError(f"{name} is {value!r}: a symbol stands in it twice")
    return symbols


def check_alphabet(batch: Strings | Lattices, alphabet: list[Any], skip: Sequence[Any] = ()) -> None:
    """Stops at the first symbol that is neither in the alphabet nor to be skipped."""
    known = {*alphabet, *skip}
    outside = [code for code, symbol in enumerate(batch.alphabet) if symbol not in known]
    wrong = np.flatnonzero(np.isin(batch.symbols, outside)) if outside else np.empty(0, np.int64)
    if len(wrong):
        item = int(np.searchsorted(batch.offsets, wrong[0], side="right")) - 1
        symbol = batch.alphabet[batch.symbols[wrong[0]]]
        shown = "".join(map(str, alphabet)) if batch.unit == "char" else alphabet
        place = "on arc" if isinstance(batch, Lattices) else "at position"
        raise InputError(
            f"item {item}: the symbol {symbol!r} {place} {int(wrong[0] - batch.offsets[item])} is not in the alphabet"
            f" {shown!r}: correct the sequence, or declare the symbol"
        )


def check_units_agree(left: Strings, right: Strings) -> None:
    """Stops where the symbols of two batches are of different kinds, so that nothing could match."""
    agree = left.unit == right.unit or {left.unit, right.unit} == {"word", "token"}
    if not agree and len(left.symbols) and len(right.symbols):
        raise InputError(f"one batch has the unit {left.unit!r}, the other {right.unit!r}: make them agree")


Coded = tuple[np.ndarray, np.ndarray, np.ndarray]  # symbols, offsets, and the code of each symbol


def joint_codes(
    left: Strings, right: Strings | None, alphabet: list[Any] | None = None, skip: Sequence[Any] = ()
) -> tuple[list[Any], Coded, Coded | None]:
    """Two batches for a routine of the core that wants one code for one symbol; symbols to skip get -1. The symbols come first."""
    if right is not None:
        check_units_agree(left, right)
    skipped = set(skip)
    if alphabet is None:
        found = dict.fromkeys([*left.alphabet, *(right.alphabet if right is not None else ())])
        alphabet = [symbol for symbol in found if symbol not in skipped]
    codes = codes_of(alphabet)

    def coded(batch: Strings) -> Coded:
        # A symbol of the batch's alphabet that no sequence holds may be outside a declared alphabet.
        return batch.symbols, batch.offsets, align(batch.alphabet, codes, unknown=-1)

    return alphabet, coded(left), None if right is None else coded(right)
