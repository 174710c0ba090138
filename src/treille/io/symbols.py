"""Symbol tables: which word a label stands for. As text, `word label` a line; label 0 is the empty string."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import count

from .errors import InputError
from .machine import EPSILON
from .source import open_text, source_name

MOST_LABELS = 1 << 26


class Coder:
    """Labels of words in order of first use. Words of `epsilons` are the empty string.

    >>> coder = Coder(["*EPS*"])
    >>> coder.labels(["a", "*EPS*", "b", "a"]), coder.symbols()
    ([1, 0, 2, 1], ['<eps>', 'a', 'b'])
    """

    def __init__(self, epsilons: Iterable[str]):
        self._labels: defaultdict[str, int] = defaultdict(count(1).__next__, {word: 0 for word in epsilons})

    def labels(self, words: Iterable[str]) -> list[int]:
        """The label of every word."""
        return list(map(self._labels.__getitem__, words))

    def symbols(self) -> list[str]:
        """The symbol of every label so far."""
        return [EPSILON, *(word for word, label in self._labels.items() if label)]


def read_symbols(table: str | os.PathLike[str] | Sequence[str] | None) -> list[str] | None:
    """The symbol of every label, from a file `word label` a line; lists and None pass as they are.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "words.txt"
    >>> _ = path.write_text("<eps> 0\\nvine 1\\n")
    >>> read_symbols(path)
    ['<eps>', 'vine']
    """
    if table is None or not isinstance(table, str | os.PathLike):
        return None if table is None else list(table)
    pairs, source = [], source_name(table)
    with open_text(table) as lines:
        for number, line in enumerate(lines, 1):
            words = line.split()
            if not words:
                continue
            if len(words) != 2 or not words[1].isdecimal():
                raise InputError(f"{source}, line {number}: found {line.strip()[:40]!r}, expected a symbol and its label")
            pairs.append((words[0], int(words[1])))
    return symbol_list(pairs, source)


def symbol_list(pairs: Sequence[tuple[str, int]], source: str) -> list[str]:
    """The symbols of labels 0, 1, 2 and so on, from pairs in any order; "" where a label has none.

    >>> symbol_list([("b", 3), ("a", 1)], "words.txt")
    ['<eps>', 'a', '', 'b']
    """
    most = max((label for _, label in pairs), default=0)
    if most >= max(MOST_LABELS, 2 * len(pairs)) or any(label < 0 for _, label in pairs):
        raise InputError(f"{source}: the table has {len(pairs)} symbols with labels up to {most}, expected 0, 1, 2 and so on")
    symbols = [EPSILON] + [""] * most
    for symbol, label in pairs:
        symbols[label] = symbol
    return symbols


def spell_symbols(symbols: Sequence[str]) -> str:
    """A table as text. A symbol with white space in it cannot be written.

    >>> spell_symbols(["<eps>", "vine"])
    '<eps>\\t0\\nvine\\t1\\n'
    """
    for label, symbol in enumerate(symbols):
        if len(symbol.split()) > 1 or symbol != symbol.strip():
            raise InputError(f"the symbol {symbol!r} of label {label} holds white space, which this format separates by")
    return "".join(f"{symbol}\t{label}\n" for label, symbol in enumerate(symbols) if symbol)
