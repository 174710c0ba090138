"""Overlapping n-grams joined to the longer stretches that they come from: `transport`, not `ransp`, `anspo` and `nspor`."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from treille.data import Batch, Strings
from treille.data.base import align, running_sum
from treille.features import FeatureMap
from treille.features.feature_map import Leaf
from treille.io.units import TextUnit
from treille.kernels.ngram import NGramMap

CANDIDATES = 50  # features examined for each one asked for
LONGEST = 60  # symbols of a stretch
SHARED = 0.5  # least share of the first n-gram's examples that have the joined stretch
ALIKE = 0.5  # least weight of joined n-grams, as a share of the first one's, if there are no examples
CONTEXT = 0.9  # share of a stretch's examples that must agree on the character beside it to extend the stretch
WIDTH = 100  # characters of a sentence


class MergedFeature(NamedTuple):
    """A stretch of symbols, the sum of the weights of the features in it, and where it occurs.

    `frequency` is the number of examples with it, `sentence` the text around one occurrence; both are None without examples.
    """

    name: str
    weight: float
    frequency: int | None = None
    sentence: str | None = None


def merged_features(
    features: FeatureMap, weights: np.ndarray, count: int, batch: Batch | None = None, examples: Any = None
) -> list[list[MergedFeature]]:
    """For every column of weights, the `count` stretches with the largest weights.

    Begins with the heaviest n-gram and joins others that overlap it in all symbols but one. With examples, a batch of them and
    the texts: where more than half of the examples with the first n-gram have the joined stretch, and at least two, unless it
    is within a word; characters within a word that nearly all occurrences share are added. Without examples: within words,
    where each n-gram is the heaviest to follow, or to precede, the other, and has at least half of the first one's weight.
    Parts of other words at the ends are left out, and so are stretches that mostly repeat others.
    """
    every = features.leaves(np.arange(features.n_features), batch)
    leaves = [leaf for leaf in every if isinstance(leaf[1], NGramMap)]
    read = {id(own): own for *_, own in leaves if isinstance(own, Strings) and len(own)}
    places = {key: _Places(own) for key, own in read.items()}
    return [_merged(features, column, count, leaves, places, examples) for column in weights.T]


def _merged(
    features: FeatureMap,
    weights: np.ndarray,
    count: int,
    leaves: list[Leaf],
    places: "dict[int, _Places]",
    examples: Any,
) -> list[MergedFeature]:
    best = np.argsort(-weights, kind="stable")[: CANDIDATES * count]
    best = best[weights[best] > 0]
    pools: dict[tuple[str, str], _Pool] = {}
    for prefix, own, columns, read in leaves:
        pool = _Pool(prefix, TextUnit.of(own.unit), places.get(id(read)), weights)
        pools.setdefault((prefix, own.unit), pool).add(own, columns, best)
    owner = {column: pool for pool in pools.values() for column in pool.grams}
    used: set[int] = set()
    found: dict[str, MergedFeature] = {}
    for column in best.tolist():
        if column in used or len(found) >= 2 * count:
            continue
        one, inside = MergedFeature(features.name(column), float(weights[column])), {column}
        if column in owner:
            one, inside = owner[column].stretch(column, used, examples)
        new = sum(weights[each] for each in inside - used)
        used |= inside
        if new > 0.5 * one.weight and one.name not in found:  # otherwise it mostly repeats others
            found[one.name] = one
    return sorted(found.values(), key=lambda one: -one.weight)[:count]


class _Places:
    """The places of strings of symbols in a batch."""

    def __init__(self, batch: Strings):
        self.batch = batch
        self.codes = {symbol: code for code, symbol in enumerate(batch.alphabet)}
        self.order = np.argsort(batch.symbols, kind="stable")
        self.starts = running_sum(np.bincount(batch.symbols, minlength=len(batch.alphabet)))

    def of(self, symbols: Sequence[Any]) -> np.ndarray:
        """The beginning of each occurrence."""
        codes = [self.codes.get(symbol, -1) for symbol in symbols]
        if -1 in codes:
            return np.empty(0, np.int64)
        rarest = min(range(len(codes)), key=lambda step: self.starts[codes[step] + 1] - self.starts[codes[step]])
        at = self.order[self.starts[codes[rarest]] : self.starts[codes[rarest] + 1]] - rarest
        at = at[(at >= 0) & (at + len(codes) <= len(self.batch.symbols))]
        for step, code in enumerate(codes):
            at = at[self.batch.symbols[at + step] == code]
        return at[at + len(codes) <= self.batch.offsets[self.examples(at) + 1]]

    def examples(self, at: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.batch.offsets, at, side="right") - 1

    def frequency(self, at: np.ndarray) -> int:
        """The number of examples that contain the places."""
        return len(np.unique(self.examples(at)))

    def beside(self, at: np.ndarray, length: int, right: bool) -> tuple[Any, np.ndarray, int]:
        """The most frequent symbol beside a stretch, the new places of the stretch, and the number of examples; None: no symbol."""
        batch, owners = self.batch, self.examples(at)
        beside = at + length if right else at - 1
        inside = beside < batch.offsets[owners + 1] if right else beside >= batch.offsets[owners]
        if not inside.any():
            return None, at, 0
        codes = batch.symbols[beside[inside]].astype(np.int64)
        kinds, counts = np.unique(np.unique(codes * len(batch) + owners[inside]) // len(batch), return_counts=True)
        code = int(kinds[counts.argmax()])
        places = at[inside][codes == code]
        return batch.alphabet[code], places if right else places - 1, int(counts.max())


@dataclass(eq=False)
class _Pool:
    """The n-grams of one unit: the maps that contain them, each with the columns of its features."""

    prefix: str
    unit: TextUnit
    places: _Places | None
    weights: np.ndarray
    maps: list[tuple[NGramMap, np.ndarray]] = field(default_factory=list)
    grams: dict[int, tuple[Any, ...]] = field(default_factory=dict)  # of the candidates, by column

    def add(self, own: NGramMap, columns: np.ndarray, best: np.ndarray) -> None:
        self.maps.append((own, columns))
        for place in np.flatnonzero(np.isin(columns, best)).tolist():
            self.grams[int(columns[place])] = tuple(own.alphabet[code] for code in own.features.gram(place))

    def stretch(self, id: int, used: set[int], examples: Any) -> tuple[MergedFeature, set[int]]:
        """The stretch around a candidate, and the columns of all features in it."""
        gram = list(self.grams[id])
        places = self.places
        joined = None if places is None else self.in_examples(gram, places)
        symbols = self._whole_words(self.chained(gram, used), 2) if joined is None else joined
        inside = np.concatenate([self._columns_in(symbols, *each) for each in self.maps])
        weight = float(self.weights[inside].sum())
        for end in (-1, 0):
            while self._has_blanks and len(symbols) > 1 and str(symbols[end]).isspace():
                del symbols[end]
        name = self.maps[0][0].joined(symbols)
        frequency, sentence = None, None
        if places is not None:
            at = places.of(symbols)
            frequency = places.frequency(at)
            sentence = self._sentence(int(at[0]), name, places, examples) if len(at) else None
        return MergedFeature(self.prefix + name, weight, frequency, sentence), {id, *inside.tolist()}

    @property
    def _has_blanks(self) -> bool:
        return self.unit.base in ("char", "char_wb")

    def _whole_words(self, symbols: list[Any], shorter: int) -> list[Any]:
        """Removes parts of other words at the ends: at most `shorter` characters and a blank."""
        if not self._has_blanks:
            return symbols
        blanks = [place for place, symbol in enumerate(symbols) if str(symbol).isspace()]
        first = max((b for b in blanks if 0 < b <= shorter), default=0)
        last = min((b + 1 for b in blanks if len(symbols) - 1 - shorter <= b < len(symbols) - 1), default=len(symbols))
        trimmed = symbols[first:last]
        return trimmed if sum(not str(symbol).isspace() for symbol in trimmed) > 2 else symbols

    def _columns_in(self, symbols: Sequence[Any], features: NGramMap, columns: np.ndarray) -> np.ndarray:
        codes = align(list(symbols), features._codes)  # each symbol has one code
        ends = np.array([0, len(symbols)])
        ids, _, _ = features.features.occurrences(np.arange(len(symbols), dtype=np.int32), ends, codes, 1)
        found = columns[ids]
        return found[found >= 0]

    @cached_property
    def _heaviest(self) -> dict[tuple[bool, tuple[Any, ...]], tuple[Any, ...]]:
        """The heaviest candidate to follow these symbols, (True, symbols), or to precede them, (False, symbols)."""
        found: dict[tuple[bool, tuple[Any, ...]], tuple[Any, ...]] = {}
        for id in sorted(self.grams, key=lambda id: -self.weights[id]):
            gram = self.grams[id]
            if len(gram) > 1:
                found.setdefault((True, gram[:-1]), gram)
                found.setdefault((False, gram[1:]), gram)
        return found

    @cached_property
    def _ids(self) -> dict[tuple[Any, ...], int]:
        return {gram: id for id, gram in self.grams.items()}

    def chained(self, gram: list[Any], used: set[int]) -> list[Any]:
        """The n-gram with those that overlap it, by their strings alone."""
        symbols, n, taken = list(gram), len(gram), {tuple(gram)}
        least = ALIKE * self.weights[self._ids[tuple(gram)]]
        for right in (True, False):
            while n > 1 and len(symbols) < LONGEST:
                edge = tuple(symbols[-n:] if right else symbols[:n])
                shared = edge[1:] if right else edge[:-1]
                new, mutual = self._heaviest.get((right, shared)), self._heaviest.get((not right, shared)) == edge
                if new is None or new in taken or not mutual or self._ids[new] in used:
                    break
                symbol = new[-1 if right else 0]
                if self.weights[self._ids[new]] < least or (self.unit.separator == "" and str(symbol).isspace()):
                    break
                taken.add(new)
                symbols = [*symbols, symbol] if right else [symbol, *symbols]
        return symbols

    def in_examples(self, gram: list[Any], places: _Places) -> list[Any] | None:
        """The n-gram with those that overlap it in most examples; None if it occurs in none."""
        at, symbols, n = places.of(gram), list(gram), len(gram)
        whole, spare = places.frequency(at), {True: n, False: n}
        growing = whole > 0
        while growing and len(symbols) < LONGEST:
            growing = False
            for right in (True, False):
                symbol, new, frequency = places.beside(at, len(symbols), right)
                longer = [*symbols, symbol] if right else [symbol, *symbols]
                edge = tuple(longer[-n:] if right else longer[:n])
                if n > 1 and edge in self._ids:
                    accepted = frequency > SHARED * whole and (frequency > 1 or self._in_a_word(symbol))
                else:
                    inner = symbols[-1] if right else symbols[0]
                    accepted = self._in_a_word(symbol) and self._in_a_word(inner) and spare[right] > 0
                    accepted = accepted and frequency >= CONTEXT * places.frequency(at)
                    spare[right] -= accepted
                if accepted:
                    symbols, at, growing = longer, new, True
        return self._whole_words(symbols, n - 2) if whole else None

    def _in_a_word(self, symbol: Any) -> bool:
        return self._has_blanks and isinstance(symbol, str) and symbol.isalnum()

    def _sentence(self, at: int, name: str, places: _Places, examples: Any) -> str:
        batch, i = places.batch, int(places.examples(np.array([at]))[0])
        text = examples[i] if isinstance(examples, Sequence) else None
        if not isinstance(text, str) or _span(name, text) is None:
            codes = batch.symbols[batch.offsets[i] : batch.offsets[i + 1]]
            text = self.maps[0][0].joined(batch.alphabet[code] for code in codes)
        return sentence_around(name, text)


def sentence_around(name: str, text: str) -> str:
    """The sentence of a text in which a name first occurs, at most about 100 characters of it.

    >>> sentence_around("port", "Ships left. A transport\\n came! Then nothing.")
    'A transport came!'
    """
    begin, end = _span(name, text) or (0, 0)
    before = [m.end() for m in re.finditer(r"[.!?]\s+|\n\s*\n", text[:begin])]
    after = re.search(r"[.!?](?=\s)|\n\s*\n", text[end:])
    first, last = before[-1] if before else 0, end + after.end() if after else len(text)
    spare = max(0, WIDTH - (end - begin)) // 2
    if begin - first > spare:
        first = text.find(" ", begin - spare, begin) + 1 or begin - spare
    if last - end > spare:
        cut = text.rfind(" ", end, end + spare)
        last = cut if cut > 0 else end + spare
    return " ".join(text[first:last].split())


def _span(name: str, text: str) -> tuple[int, int] | None:
    """The first occurrence of a name, preferably as a word, and in the same case."""
    pattern = r"\s+".join(re.escape(word) for word in name.split()) or re.escape(name)
    for whole in (rf"(?<!\w){pattern}(?!\w)", pattern):
        found = re.search(whole, text) or re.search(whole, text, re.IGNORECASE)
        if found:
            return found.span()
    return None
