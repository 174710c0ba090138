"""Contributions of symbols, words for example, placed on the characters of the text that they were read from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from treille.data import Strings
from treille.data.scripts import RUNS
from treille.io.units import TextUnit

if TYPE_CHECKING:
    from treille.explain.explanation import Explanation


def on_characters(text: str, found: Explanation, values: np.ndarray) -> np.ndarray | None:
    """The contribution of every character of a text, with `values` one number for each part; None if a part is not found in it.

    A symbol shares its value equally among its characters. Contributions by several units, such as words and characters, are added.

    >>> import treille
    >>> model = treille.SVC(treille.kernels.NGram(1, unit="word+lower")).fit(["Red wine", "pale ale"], [0, 1])
    >>> found = model.explain("Red ale!")
    >>> on_characters("Red ale!", found, np.array([0.3, 0.6, 0.0])).round(1).tolist()
    [0.1, 0.1, 0.1, 0.0, 0.2, 0.2, 0.2, 0.0]
    """
    lowered = [c.lower() for c in text]
    plain = "".join(lowered)
    owners = np.repeat(np.arange(len(text)), [len(c) for c in lowered])  # a letter in lower case may be two characters
    out, first = np.zeros(len(text)), 0
    for size in [n for _, n in found.columns] or [len(found.names)]:
        placed = _placed(plain, found.names[first : first + size])
        if placed is None:
            return None
        starts, lengths = placed[:, 0], placed[:, 1] - placed[:, 0]
        characters = np.arange(lengths.sum()) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
        shares = np.repeat(values[first : first + size] / lengths, lengths)
        out += np.bincount(owners[characters], shares, minlength=len(text))
        first += size
    return out


def text_of(found: Explanation) -> str | None:
    """The text that an explanation is about: as it was given, or its characters; None for anything else.

    >>> import treille
    >>> model = treille.SVC(treille.kernels.NGram(1)).fit(["aa", "cc"], [0, 1])
    >>> text_of(model.explain(treille.Strings(["abc"])))
    'abc'
    """
    leaves = [(batch, i) for batch, i in found.leaves if isinstance(batch, Strings)]
    if not leaves or len(leaves) < len(found.leaves):
        return None
    if isinstance(found.example, str):
        return found.example
    for batch, i in leaves:
        names = batch.part_names(i)
        if not TextUnit.of(batch.unit).separator and all(len(name) == 1 for name in names):
            return "".join(names)
    return None


def joined_parts(found: Explanation, values: np.ndarray) -> list[tuple[str, float]]:
    """Words of a text, runs of a sequence, or parts, with their values, which sum to the sum of `values`."""
    text = text_of(found) if len(values) else None
    placed = None if text is None else on_characters(text, found, values)
    if text is not None and placed is not None:
        return stretches(text, placed)
    return list(zip(found.names, values.tolist(), strict=True))


def stretches(text: str, contributions: np.ndarray) -> list[tuple[str, float]]:
    """The words of a text, each with the sum of its characters; blanks between two words contribute to both alike.

    Where words are not separated by blanks, in a text without them or in scripts such as Chinese and Thai, runs of characters that
    contribute with one sign take their place.

    >>> stretches("a fine", np.array([0.5, 0.5, 0.25, 0.25, 0.0, -0.25]))
    [('a', 0.75), ('fine', 0.5)]
    >>> stretches("ACGT", np.array([0.5, 0.5, 0.0, -1.0]))
    [('AC', 1.0), ('G', 0.0), ('T', -1.0)]
    >>> stretches("a 很不错", np.array([0.5, 0.0, 0.25, 0.25, -0.25]))
    [('a', 0.5), ('很不', 0.5), ('错', -0.25)]
    """
    if not any(c.isspace() for c in text.strip()):
        return [(text[a:b], float(contributions[a:b].sum())) for a, b in _of_one_sign(0, len(text), contributions)]
    spans = list[tuple[int, int]]()
    for word in re.finditer(r"\S+", text):
        at = word.start()
        for run in RUNS.finditer(word[0]):
            begin, end = word.start() + run.start(), word.start() + run.end()
            spans += [(at, begin)] * (begin > at) + _of_one_sign(begin, end, contributions)
            at = end
        spans += [(at, word.end())] * (word.end() > at)
    sums = np.array([contributions[a:b].sum() for a, b in spans])
    between = [contributions[b:c].sum() / 2 for (_, b), (c, _) in pairwise(spans)]
    sums[:-1] += between
    sums[1:] += between
    sums[0] += contributions[: spans[0][0]].sum()
    sums[-1] += contributions[spans[-1][1] :].sum()
    return [(text[a:b], value) for (a, b), value in zip(spans, sums.tolist(), strict=True)]


def _of_one_sign(begin: int, end: int, contributions: np.ndarray) -> list[tuple[int, int]]:
    cuts = np.flatnonzero(np.diff(np.sign(contributions[begin:end]))) + begin + 1
    return [(a, b) for a, b in pairwise([begin, *cuts.tolist(), end]) if b > a]


def _placed(text: str, symbols: Sequence[str]) -> np.ndarray | None:
    """The place of each symbol in the text, in order; blanks that were added have the place of the symbol before them."""
    at, places = 0, list[tuple[int, int]]()
    for symbol in symbols:
        wanted = symbol.lower()
        begin = text.find(wanted, at)
        if begin >= 0 and not (wanted.isspace() and text[at:begin].strip()):
            at = begin + len(wanted)
            places.append((begin, at))
        elif wanted.isspace() and text:  # a run of blanks is one, and texts have one at each end
            begin = min(at, len(text) - 1)
            places.append((begin, begin + 1))
            at += text[at : at + 1].isspace()
        else:
            return None
    return np.array(places, int).reshape(-1, 2)
