"""The common base of kernels of sequences: reading examples, aligning the symbols of two batches, checking parameters."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from treille.data import Lattices, Strings, Texts
from treille.data.base import align, codes_of
from treille.features import Contributions, ExplainingMap, Rows
from treille.features.feature_map import CoreMap
from treille.features.merging import different
from treille.io.errors import InputError
from treille.io.parameters import check_whole, effective_n_jobs
from treille.io.units import TextUnit, canonical
from treille.kernels.base import Kernel
from treille.kernels.counts import Counts, lattices_to_count
from treille.kernels.reading import Reads, refuse_other_kinds

Sequences = Strings | Lattices
Unit = str | Callable[[str], Iterable[str]]  # how texts are split into symbols, see `treille.Strings`


class SequenceKernel(Kernel):
    """A kernel of sequences of symbols. Its parameter `unit` says how texts are split into symbols.

    Kernels that count may also read lattices, for which they use expected counts.
    """

    unit: Unit

    @property
    def reads(self) -> Reads:
        return Reads((Strings, Lattices) if self.reads_lattices else (Strings,), (canonical(self.unit),))

    @property
    def reads_lattices(self) -> bool:
        """Whether examples may be lattices, that is, distributions over sequences."""
        return False

    @property
    def stops_at_borders(self) -> bool:
        """Whether texts may be split by the unit "char_wb"."""
        return False

    def batch(self, X: Any, n_jobs: int | None = None) -> Sequences:
        if Lattices.recognises(X) and not isinstance(X, Lattices):
            X = Lattices(X, n_jobs=n_jobs)
        if isinstance(X, Lattices) and not self.reads_lattices:
            raise InputError(f"{self!r} reads sequences, found lattices: use NGram, Gappy or Rational, or X.best()")
        if isinstance(X, Texts):
            batch: Sequences = X.part(self.unit)
        elif isinstance(X, (Strings, Lattices)):
            batch = X
            named = isinstance(canonical(self.unit), str) and TextUnit.of(X.unit).splits_texts
            if named and X.unit != canonical(self.unit):
                raise InputError(
                    f"the batch is split into units of {X.unit!r}, but the kernel has unit={self.unit!r}: use the same unit"
                )
        else:
            refuse_other_kinds(X, Strings)
            batch = Strings(X, self.unit, n_jobs)
        if TextUnit.of(batch.unit).stops_at_borders and not self.stops_at_borders:
            raise InputError(f"{self!r} does not stop at the borders of words: use NGram, or unit='char' or 'word'")
        return batch


@dataclass(eq=False, repr=False)
class SequenceMap(CoreMap):
    """Features that consist of symbols. `features` is the map of the core, `alphabet` the symbols it numbers."""

    alphabet: list[Any]
    unit: str

    @cached_property
    def _codes(self) -> dict[Any, int]:
        return codes_of(self.alphabet)

    def recode(self, batch: Sequences) -> np.ndarray:
        """The code in this map of each symbol of the batch. Unseen symbols get new codes: they match no feature, but count
        as different symbols in the norm."""
        agree = TextUnit.of(batch.unit).agrees(TextUnit.of(self.unit))
        if not agree and batch.symbols.max(initial=-1) >= 0:  # arcs of lattices may read nothing
            raise InputError(
                f"the features have the unit {self.unit!r}, but the new sequences {batch.unit!r}: use the same unit"
            )
        return align(batch.alphabet, self._codes)

    def merged_unit(self, other: "SequenceMap", has_symbols: bool, other_has: bool) -> str:
        """The unit of both maps. That of a map without symbols does not count: a part may have none."""
        if has_symbols and other_has and self.unit != other.unit:
            raise different("unit", repr(self.unit), repr(other.unit))
        return self.unit if has_symbols or not other_has else other.unit

    def symbol_names(self) -> list[str]:
        """Readable names of the symbols."""
        return [self.joined([symbol]) for symbol in self.alphabet]

    def joined(self, symbols: Iterable[Any], between: str = "") -> str:
        """Readable symbols, with spaces between words."""
        unit = TextUnit.of(self.unit)
        if unit.base == "byte":
            return between.join(s if isinstance(s, str) else repr(bytes([s]))[2:-1] for s in symbols)
        space = unit.separator
        return (f"{space}{between}{space}" if between else space).join(map(str, symbols))


class CountMap(SequenceMap, ExplainingMap):
    """Features that are counted: exactly in strings, expected counts in lattices."""

    @property
    @abstractmethod
    def counts(self) -> Counts:
        """The transform of counts to values."""

    def transform(self, batch: Sequences, n_jobs: int | None = None) -> Rows:
        return self._rows(batch, self.features, n_jobs)

    def _rows(self, batch: Sequences, features: Any, n_jobs: int | None, *options: Any) -> Rows:
        threads, codes = effective_n_jobs(n_jobs), self.recode(batch)
        if isinstance(batch, Lattices):
            rows = features.transform_lattices(lattices_to_count(batch, self.counts), codes, threads)
        else:
            rows = features.transform(batch.symbols, batch.offsets, codes, *options, threads)
        return Rows.from_core(rows, self.n_features)

    def contributions(self, batch: Sequences, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        options = self.recode(batch), np.ascontiguousarray(weights, np.float64), effective_n_jobs(n_jobs)
        if isinstance(batch, Lattices):
            data = lattices_to_count(batch, self.counts)
            return Contributions.of(batch, self.features.contributions_of_arcs(data, *options))
        return Contributions.of(batch, self.features.contributions(batch.symbols, batch.offsets, *options))


def narrow(cells: np.ndarray, size: int) -> np.ndarray:
    """The same numbers, all below `size`, in the fewest bytes."""
    return cells.astype(np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.int32)


def whole(name: str, value: Any, least: int = 1) -> int:
    """A number of symbols, which the core stores in 31 bits, or an InputError."""
    return check_whole(name, value, least, bits=31)


def alphabet_symbols(name: str, value: Any, unit: Any) -> list[Any]:
    """The distinct symbols of a declared alphabet, in its order: symbols of a string, or items of a list."""
    if not isinstance(value, (str, Sequence, np.ndarray)) or isinstance(value, bytes):
        raise InputError(f"{name} is {value!r}, expected a string such as 'ACGT', or a list of symbols")
    symbols: list[Any] = list(value.encode() if isinstance(value, str) and canonical(unit) == "byte" else value)
    symbols = [s.item() if isinstance(s, np.generic) else s for s in symbols]
    if not symbols:
        raise InputError(f"{name} is {value!r}, which has no symbol")
    if len(set(symbols)) != len(symbols):
        raise InputError(f"{name} is {value!r}: a symbol occurs in it twice")
    return symbols


def check_alphabet(batch: Sequences, alphabet: list[Any], skip: Sequence[Any] = ()) -> None:
    """Refuses a batch with a symbol that is neither in the alphabet nor to be skipped."""
    known = {*alphabet, *skip}
    outside = [code for code, symbol in enumerate(batch.alphabet) if symbol not in known]
    wrong = np.flatnonzero(np.isin(batch.symbols, outside)) if outside else np.empty(0, np.int64)
    if len(wrong):
        item = int(np.searchsorted(batch.offsets, wrong[0], side="right")) - 1
        symbol = batch.alphabet[batch.symbols[wrong[0]]]
        shown = "".join(map(str, alphabet)) if TextUnit.of(batch.unit).base == "char" else alphabet
        place = "on arc" if isinstance(batch, Lattices) else "at position"
        lower = isinstance(symbol, str) and symbol.upper() in known and symbol.upper() in "ACGT"
        fold = "treille.dna(X) folds lower case (--alphabet dna on the command line)"
        raise InputError(
            f"item {item}: the symbol {symbol!r} {place} {int(wrong[0] - batch.offsets[item])} is not in the alphabet"
            f" {shown!r}: {fold if lower else 'correct the sequence, or declare the symbol'}"
        )


def check_units_agree(left: Strings, right: Strings) -> None:
    """Refuses two batches whose symbols are of different kinds, so that nothing could match."""
    agree = TextUnit.of(left.unit).agrees(TextUnit.of(right.unit))
    if not agree and len(left.symbols) and len(right.symbols):
        raise InputError(f"one batch has the unit {left.unit!r}, the other {right.unit!r}: use the same unit")


Coded = tuple[np.ndarray, np.ndarray, np.ndarray]  # symbols, offsets, and the code of each symbol


def joint_codes(
    left: Strings, right: Strings | None, alphabet: list[Any] | None = None, skip: Sequence[Any] = ()
) -> tuple[list[Any], Coded, Coded | None]:
    """The common alphabet of two batches, and both batches with codes in it for the core; symbols to skip get -1."""
    if right is not None:
        check_units_agree(left, right)
    skipped = set(skip)
    if alphabet is None:
        found = dict.fromkeys([*left.alphabet, *(right.alphabet if right is not None else ())])
        alphabet = [symbol for symbol in found if symbol not in skipped]
    codes = codes_of(alphabet)

    def coded(batch: Strings) -> Coded:
        # A symbol of the batch's alphabet that no sequence contains may be missing from a declared alphabet.
        return batch.symbols, batch.offsets, align(batch.alphabet, codes, unknown=-1)

    return alphabet, coded(left), None if right is None else coded(right)
