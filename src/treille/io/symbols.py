"""Symbol tables: the word of each label. As text, one `word label` per line; label 0 is the empty string."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from .errors import InputError
from .machine import EPSILON, MachineParts
from .open import open_text, source_name

MOST_LABELS = 1 << 21  # of a table with gaps: every label takes memory
SIDES = {"inputs": "input_symbols", "outputs": "output_symbols"}
BLANKS = re.compile("[ \t]+")


def whole(text: str) -> int:
    """A whole number from 0; -1 for any other text. Numbers of more than 18 digits count as 10^18, beyond any limit.

    >>> whole("12"), whole("-1"), whole("9" * 5000)
    (12, -1, 1000000000000000000)
    """
    if not text.isdecimal():
        return -1
    return int(text) if len(text) <= 18 else 10**18


def columns(line: str) -> list[str]:
    """The columns of a line: blanks and tabs separate, other white space may be part of a word.

    >>> columns("0 1\\ta  b\\r\\n")
    ['0', '1', 'a', 'b']
    """
    stripped = line.strip(" \t\r\n")
    return BLANKS.split(stripped) if stripped else []


class Coder:
    """Labels of words in order of first use. Words of `epsilons`, "" and "<eps>" are the empty string.

    >>> coder = Coder(["*EPS*"])
    >>> coder.labels(["a", "*EPS*", "b", "a"]), coder.symbols()
    ([1, 0, 2, 1], ['<eps>', 'a', 'b'])
    """

    def __init__(self, epsilons: Iterable[str] = ()):
        self._labels: defaultdict[str, int] = defaultdict(count(1).__next__, dict.fromkeys(["", EPSILON, *epsilons], 0))

    def labels(self, words: Iterable[str]) -> list[int]:
        """The label of every word."""
        return list(map(self._labels.__getitem__, words))

    def symbols(self) -> list[str]:
        """The symbol of every label so far."""
        return [EPSILON, *(word for word, label in self._labels.items() if label)]


def arc_words(
    parts: MachineParts, side: str, epsilon: str, used: Sequence[str] = (), blanks: bool = False
) -> list[str]:
    """The word of every arc as a format writes it: `epsilon` for the empty string.

    Refused are words that the format would read as the empty string (`used`), and, if not `blanks`, those with white space.
    """
    words = parts.words(side)
    for word in set(words) - {""}:
        if word in (epsilon, EPSILON, *used):
            raise InputError(f"the word {word!r} would be read as the empty string: rename it, or give it label 0")
        if re.search(r"[\r\n]" if blanks else r"[ \t\r\n]", word):
            raise InputError(f"the word {word!r} holds white space, which this format separates by: rename it")
    return [word or epsilon for word in words]


def over_one_table(machines: Sequence[MachineParts]) -> list[MachineParts]:
    """The same machines over one symbol table; those whose labels are plain numbers are unchanged."""
    if all(len({id(getattr(machine, table)) for machine in machines}) == 1 for table in SIDES.values()):
        return list(machines)
    return with_words_used(machines)


def with_words_used(machines: Sequence[MachineParts]) -> list[MachineParts]:
    """The machines over one symbol table of the words on their arcs."""
    coder, recoded = Coder(), list[dict[str, Any]]()
    for machine in machines:
        sides = [side for side, table in SIDES.items() if getattr(machine, table) is not None]
        recoded.append({side: np.array(coder.labels(machine.words(side)), np.int32) for side in sides})
    symbols = coder.symbols()
    changes = [labels | {SIDES[side]: symbols for side in labels} for labels in recoded]
    return [replace(machine, **change) for machine, change in zip(machines, changes, strict=True)]


def read_symbols(table: str | os.PathLike[str] | Sequence[str] | None) -> list[str] | None:
    """The symbol of every label, from a file with one `word label` per line; lists and None are returned unchanged."""
    if table is None or not isinstance(table, str | os.PathLike):
        return None if table is None else list(table)
    pairs, source = [], source_name(table)
    with open_text(table) as lines:
        for number, line in enumerate(lines, 1):
            words = columns(line)
            if not words:
                continue
            if len(words) != 2 or not words[1].isdecimal() or len(words[1]) > 18:
                raise InputError(f"{source}, line {number}: found {line.strip()[:40]!r}, expected a symbol and a label")
            pairs.append((words[0], whole(words[1])))
    return symbol_list(pairs, source)


def symbol_list(pairs: Sequence[tuple[str, int]], source: str) -> list[str]:
    """The symbols of labels 0, 1, 2 and so on, from pairs in any order; "" for a label without one.

    >>> symbol_list([("b", 3), ("a", 1)], "words.txt")
    ['<eps>', 'a', '', 'b']
    """
    most = max((label for _, label in pairs), default=0)
    if most >= max(MOST_LABELS, 10 * len(pairs)) or any(label < 0 for _, label in pairs):
        raise InputError(
            f"{source}: the table has {len(pairs)} symbols with labels up to {most}, expected 0, 1, 2 and so on"
        )
    symbols = [EPSILON] + [""] * most
    for symbol, label in pairs:
        symbols[label] = symbol if label else EPSILON
    return symbols


def without_gaps(symbols: Sequence[str]) -> list[str]:
    """The table with a name for labels that have no symbol, which the machines do not use.

    >>> without_gaps(["<eps>", "a", "", "b"])
    ['<eps>', 'a', '<unused-2>', 'b']
    """
    return [symbol or f"<unused-{label}>" for label, symbol in enumerate(symbols)]


def format_symbols(symbols: Sequence[str]) -> str:
    """A table as text. A symbol with white space in it cannot be written."""
    for label, symbol in enumerate(symbols):
        if re.search(r"[ \t\r\n]", symbol):
            raise InputError(f"the symbol {symbol!r} of label {label} holds white space, which the table separates by")
    return "".join(f"{symbol}\t{label}\n" for label, symbol in enumerate(symbols) if symbol)
