"""Symbol tables, and lines of arcs and final states, as OpenFst and Kaldi write them.

A table has the word of each label, as text one `word label` per line; label 0 is the empty string.
"""

import math
import os
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np

from .errors import InputError
from .machine import EPSILON, MachineParts
from .open import open_text, source_name
from .parameters import to_float
from .paths import file_name, is_file_object

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
    if table is None:
        return None
    if not isinstance(table, str | os.PathLike) and not is_file_object(table):
        return list(table)
    table = file_name(table)
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


MOST_STATES = 2**31 - 1
SPARSEST = 1000  # times more states than lines are taken for a mistake


def number(text: str, place: str) -> float:
    """A weight. Infinity, which OpenFst writes for zero, is allowed."""
    value = to_float(text)
    if math.isnan(value) or value == -math.inf:
        raise InputError(f"{place}: the weight is {text[:40]!r}, expected a finite number")
    return value


class ArcLines:
    """The arcs of one machine, collected line by line; labels as the file has them."""

    def __init__(self, source: str, name: str):
        self.source, self.name = source, name
        self.sources, self.targets, self.weights = array("i"), array("i"), array("d")
        self.inputs, self.outputs, self.lines = list[str](), list[str](), list[int]()
        self.finals: dict[int, float] = {}
        self.start = -1

    def place(self, line: int) -> str:
        """The location of a line, for messages."""
        return f"{self.source}, line {line}"

    def arc(self, line: int, source: str, target: str, input: str, output: str, weight: float) -> None:
        """One arc. The first state is the start."""
        if math.isinf(weight):
            raise InputError(
                f"{self.place(line)}: the weight of an arc is {weight}, expected a finite number: leave the arc out"
            )
        first, second = self._state(line, source), self._state(line, target)
        self.sources.append(first)
        self.targets.append(second)
        self.inputs.append(input)
        self.outputs.append(output)
        self.weights.append(weight)
        self.lines.append(line)

    def final(self, line: int, state: str, weight: float) -> None:
        """A final state; with an infinite weight it is not final."""
        number = self._state(line, state)
        if number in self.finals:
            raise InputError(f"{self.place(line)}: state {number} is made final a second time, expected once")
        self.finals[number] = weight

    def _state(self, line: int, text: str) -> int:
        number = whole(text)
        if not 0 <= number < MOST_STATES:
            raise InputError(f"{self.place(line)}: found the state {text[:40]!r}, expected a number from 0")
        if self.start < 0:
            self.start = number
        return number

    def _check_numbers(self) -> None:
        """Refuses state numbers with large gaps: memory is allocated for every number."""
        most = SPARSEST * (len(self.lines) + len(self.finals) + 1)
        for line, *ends in zip(self.lines, self.sources, self.targets, strict=True):
            if max(ends) > most:
                raise InputError(f"{self.place(line)}: found the state '{max(ends)}', expected states numbered from 0")
        if (last := max(self.finals, default=0)) > most:
            raise InputError(f"{self.source}: found the final state {last}, expected states numbered from 0")

    def parts(
        self, labels: Sequence[Sequence[int]], symbols: Sequence[Sequence[str] | None], semiring: str
    ) -> MachineParts:
        """The machine with coded labels and symbols of its two sides, inputs and outputs."""
        self._check_numbers()
        whole = (np.array(column, np.int32) for column in (self.sources, *labels, self.targets))
        sources, reads, writes, targets = whole
        arcs = (sources, reads, writes, np.array(self.weights, np.float64), targets)
        kept = {state: weight for state, weight in self.finals.items() if not math.isinf(weight)}
        finals = np.array(list(kept), np.int32), np.array(list(kept.values()), np.float64)
        n_states = 1 + max([self.start, *self.finals, int(targets.max(initial=-1)), int(sources.max(initial=-1))])
        return MachineParts(self.start, n_states, *arcs, *finals, semiring, symbols[0], symbols[1], self.name)


def are_numbers(machines: Sequence[ArcLines], side: str) -> bool | None:
    """Returns whether all labels of a side are numbers; None if there are no labels."""
    words = [word for machine in machines for word in getattr(machine, side)]
    return all(map(str.isdecimal, words)) if words else None


def coded(
    machines: Sequence[ArcLines], side: str, symbols: Sequence[str] | None, numbers: bool | None = None
) -> tuple[list[list[int]], Sequence[str] | None]:
    """The labels of one side of several machines, and their symbols.

    Words are looked up in `symbols`; with none given, numbers are labels as they are, and words get a new table.
    `numbers` says whether labels that were read before were numbers.

    >>> lines = ArcLines("a.txt", "")
    >>> lines.arc(1, "0", "1", "vine", "<eps>", 0.5)
    >>> coded([lines], "inputs", None), coded([lines], "outputs", None)
    (([[1]], ['<eps>', 'vine']), ([[0]], ['<eps>']))
    """
    written = [(machine, getattr(machine, side)) for machine in machines]
    if numbers is not False and are_numbers(machines, side) is not False:
        labels = [_numbers(machine, words, symbols) for machine, words in written]
        return labels, symbols if symbols is None else without_gaps(symbols)
    if numbers:
        each = ((m.place(line), word) for m, words in written for line, word in zip(m.lines, words, strict=True))
        place, word = next((place, word) for place, word in each if not word.isdecimal())
        raise InputError(f"{place}: found the word {word[:40]!r}, but numbers on the lines before: expected either")
    if symbols is None:
        coder = Coder()
        return [coder.labels(words) for _, words in written], coder.symbols()
    known = {symbol: label for label, symbol in enumerate(symbols) if symbol} | {EPSILON: 0}
    return [_looked_up(machine, words, known) for machine, words in written], without_gaps(symbols)


def _numbers(machine: ArcLines, words: Sequence[str], symbols: Sequence[str] | None) -> list[int]:
    labels = list(map(whole, words))
    most = 2**31 if symbols is None else len(symbols)
    for line, label in zip(machine.lines, labels, strict=True):
        if label >= most or (symbols is not None and label and not symbols[label]):
            last = f"the table ends at {most - 1}" if label >= most else "the table leaves it out"
            raise InputError(f"{machine.place(line)}: label {label} has no symbol: {last}")
    return labels


def _looked_up(machine: ArcLines, words: Sequence[str], known: dict[str, int]) -> list[int]:
    labels = [known.get(word, -1) for word in words]
    if -1 in labels:
        at = labels.index(-1)
        raise InputError(
            f"{machine.place(machine.lines[at])}: {words[at][:40]!r} is not in the symbol table of {len(known):,} symbols:"
            " give the table that this file was written with"
        )
    return labels


def machine_lines(parts: MachineParts, sides: Sequence[list[str]], weights: list[Any], finals: list[Any]) -> list[str]:
    """Lines of arcs and final states, the start first; none if the start leads nowhere, so that no string is accepted."""
    columns = (parts.sources.tolist(), parts.targets.tolist(), *sides, weights)
    rows = [(row[0], "\t".join(map(str, row))) for row in zip(*columns, strict=True)]
    rows += [(state, f"{state}\t{weight}") for state, weight in zip(parts.final_states.tolist(), finals, strict=True)]
    if not any(state == parts.start for state, _ in rows):
        return []
    return [line for _, line in sorted(rows, key=lambda row: row[0] != parts.start)]


def written_sides(parts: MachineParts) -> list[list[str]]:
    """Inputs and outputs as these formats write them: words, or labels if there is no table.

    Words that are all numbers are read back as labels; then a word 0 would be the empty string, and is refused.
    """
    sides = []
    for side, table in (("inputs", parts.input_symbols), ("outputs", parts.output_symbols)):
        words = arc_words(parts, side, "0" if table is None else EPSILON)
        if table is not None and "0" in words and all(word.isdecimal() for word in words):
            raise InputError("all words are numbers, and '0' would be read as the empty string: rename it")
        sides.append(words)
    return sides
