"""Kernels whose features are patterns of symbols: each kernel defines its patterns, the core finds them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from treille import _core
from treille.data import Lattices
from treille.data.alphabet import united
from treille.features import Families, FeatureMap, FeatureRows, FeatureStrings, MergingMap, Rows, StringMap
from treille.features.merging import alike, merged_ids, number_rows
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.counts import Counts, check_counts, lattices_to_count
from treille.kernels.sequences import CountMap, SequenceKernel, Sequences, narrow


class PatternKernel(SequenceKernel):
    """phi_z(x) is the sum over the occurrences in x of the pattern z of their weights, or a function of it, see `counts`."""

    counts: Counts = "raw"

    @property
    def reads_lattices(self) -> bool:
        return self.has_features

    def check(self) -> None:
        check_counts(self.counts)

    @abstractmethod
    def family(self, alphabet: list[Any]) -> Any:
        """The definition of the patterns over these symbols, for the core."""

    def spell(self, fitted: PatternMap, cells: list[int]) -> str:
        """The readable name of a pattern. A cell is 1 + the number of a symbol in the alphabet, or 0 for any symbol."""
        return fitted.joined(fitted.symbols(cells))

    def declared(self) -> list[Any] | None:
        """The alphabet, if it is a parameter."""
        return None

    def left_out(self) -> list[Any]:
        """Symbols that no window may contain."""
        return []

    def fit_features(self, batch: Any, n_jobs: int | None = None) -> tuple[FeatureMap, FeatureRows]:
        if not self.has_features:
            return super().fit_features(batch, n_jobs)
        fitted, family, rest = self._to_fit(batch, n_jobs)
        if isinstance(batch, Lattices):
            found = _core.PatternFeatures.fit_lattices(family, lattices_to_count(batch, self.counts), *rest)
        else:
            found = _core.PatternFeatures.fit(family, batch.symbols, batch.offsets, *rest)
        fitted.features, rows = found
        return fitted, Rows.from_core(rows, fitted.n_features)

    def _to_fit(self, batch: Sequences, n_jobs: int | None) -> tuple[PatternMap, Any, tuple[Any, ...]]:
        """A map without features yet, the patterns, and how the core reads the batch."""
        alphabet = self.declared()
        if alphabet is None:
            alphabet = [s for s in batch.alphabet if s not in self.left_out()]
        fitted = PatternMap(None, alphabet, batch.unit, self)
        rest = fitted.recode(batch), len(alphabet), check_counts(self.counts), effective_n_jobs(n_jobs)
        return fitted, self.family(alphabet), rest

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        if not self.has_features:
            return super().load_features(spec, arrays)
        alphabet, unit = stored.alphabet(spec)
        cells = stored.array(arrays, "patterns", np.int32, ndim=2)
        lengths = stored.array(arrays, "lengths", np.int32) if "lengths" in arrays else np.empty(0, np.int32)
        sound = self.declared() in (None, alphabet) and self.holds(cells, lengths, len(alphabet))
        if not sound:
            raise InputError("the patterns in the file do not fit its kernel")
        return _rebuild(cells, lengths, alphabet, unit, self)

    @abstractmethod
    def holds(self, cells: np.ndarray, lengths: np.ndarray, size: int) -> bool:
        """Whether these are patterns of this kernel over `size` symbols: the content of a model file is not trusted."""


def are_patterns(cells: np.ndarray, lengths: np.ndarray, size: int, width: int, least: int, most: int) -> bool:
    """Whether each row has `width` cells, no symbol outside the alphabet, and from `least` to `most` cells for any symbol."""
    if cells.shape[1] != width or len(lengths) or not 0 <= cells.min(initial=0) <= cells.max(initial=0) <= size:
        return False
    open_cells = (cells == 0).sum(axis=1)
    return bool((least <= open_cells).all() and (open_cells <= most).all())


class PatternMap(CountMap, MergingMap, StringMap):
    """Patterns and their ids. Unseen patterns have none."""

    def __init__(self, features: Any, alphabet: list[Any], unit: str, kernel: PatternKernel):
        super().__init__(features, alphabet, unit)
        self.kernel = kernel

    @property
    def counts(self) -> Counts:
        return self.kernel.counts

    def recode(self, batch: Sequences) -> np.ndarray:
        codes = super().recode(batch)
        left_out = set(self.kernel.left_out())
        codes[np.array([s in left_out for s in batch.alphabet], dtype=bool)] = -1
        return codes

    def spell(self, id: int) -> str:
        return self.kernel.spell(self, self.features.pattern(id))

    def symbols(self, cells: list[int], any_symbol: str = "") -> list[Any]:
        """The symbols of the cells."""
        return [self.alphabet[cell - 1] if cell else any_symbol for cell in cells]

    def _parts(self, ids: Any = slice(None)) -> tuple[np.ndarray, np.ndarray]:
        cells = self.features.patterns().reshape(-1, self.features.width)[ids]
        lengths = self.features.lengths()
        return np.ascontiguousarray(cells), lengths[ids] if len(lengths) else lengths

    def restrict(self, ids: np.ndarray) -> PatternMap:
        return _rebuild(*self._parts(ids), self.alphabet, self.unit, self.kernel)

    def merge(self, other: FeatureMap) -> tuple[PatternMap, np.ndarray, np.ndarray]:
        other = alike(PatternMap, self, other, "kernel")
        unit = self.merged_unit(other, bool(self.alphabet), bool(other.alphabet))
        alphabet, codes = united(self.alphabet, other.alphabet)
        recode = np.append(0, codes + 1)
        (cells, lengths), (more, longer) = self._parts(), other._parts()
        symbols = more if len(longer) == 0 else more[:, 1:]  # otherwise the first cell is a position
        symbols[:] = recode[symbols]
        varied = len(lengths) + len(longer) > 0
        numbers = number_rows(_keys(cells, lengths, varied), _keys(more, longer, varied))
        theirs, new = merged_ids(np.arange(self.n_features), numbers)
        longer = longer[new] if len(longer) else longer
        patterns = np.concatenate([cells, more[new]]), np.concatenate([lengths, longer])
        return _rebuild(*patterns, alphabet, unit, self.kernel), np.arange(self.n_features), theirs

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        cells, lengths = self._parts()
        arrays = {"patterns": narrow(cells, 1 + int(cells.max(initial=0)))}
        if len(lengths):
            arrays["lengths"] = lengths
        return {"alphabet": self.alphabet, "unit": self.unit}, arrays

    def families(self) -> tuple[Families | None, ...]:
        found = self.features.families()
        return (None if found is None else Families(*found),)

    def has_strings(self) -> bool:
        return len(self.features.lengths()) == 0  # otherwise the first cell is a position

    def strings(self) -> FeatureStrings:
        if not self.has_strings():
            raise self.refusal(StringMap)
        cells, _ = self._parts()
        return FeatureStrings.of_matrix(cells, ["*", *self.symbol_names()])

    def with_strings(self, strings: FeatureStrings) -> FeatureMap:
        cells = strings.matrix(int(np.diff(strings.offsets).max(initial=0)))[0]
        return self.kernel.load_features(self.state()[0], {"patterns": cells})

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (*self._parts(), self.alphabet, self.unit, self.kernel)


def _keys(cells: np.ndarray, lengths: np.ndarray, varied: bool) -> np.ndarray:
    """One row per pattern, different for different ones; where lengths vary, they are part of it."""
    return np.column_stack([cells, lengths]) if varied else cells


def _rebuild(
    cells: np.ndarray, lengths: np.ndarray, alphabet: list[Any], unit: str, kernel: PatternKernel
) -> PatternMap:
    parts = cells.ravel(), lengths, len(alphabet), check_counts(kernel.counts)
    features = _core.PatternFeatures.from_patterns(kernel.family(alphabet), *parts)
    return PatternMap(features, alphabet, unit, kernel)
