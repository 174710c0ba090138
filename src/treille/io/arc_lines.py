"""Lines of arcs and final states, as OpenFst and Kaldi write them: what both readers share."""

import math
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import InputError
from .machine import EPSILON, MachineParts
from .parameters import to_float
from .symbols import Coder, arc_words, whole, without_gaps

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

    Words are looked up in `symbols`; with none given, numbers are labels as they are, and words get a table of their own.
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
