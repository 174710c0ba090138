"""The parts, properties, weights and drawings of a machine."""

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from treille import _core
from treille.automata.symbols import code_string, merge_tables
from treille.automata.validation import ONE, ZERO, call_core, check_semiring
from treille.drawing.layered import Machine, draw_machine
from treille.io import openfst
from treille.io.errors import InputError
from treille.io.lattices import write_lattices
from treille.io.machine import EPSILON, MachineParts


class FstProperties:
    """Base class of `treille.Fst`: the properties and methods that do not create another machine."""

    machine: _core.Machine
    semiring: str
    input_symbols: list[str] | None
    output_symbols: list[str] | None
    origin: MachineParts | None

    def parts(self) -> MachineParts:
        """The machine as flat arrays, from which files are written."""
        start, sources, inputs, outputs, weights, targets, finals = self.machine.arrays()
        states = np.flatnonzero(finals != ZERO[self.semiring]).astype(np.int32)
        arrays = (sources, inputs, outputs, weights, targets, states, finals[states])
        return MachineParts(start, len(finals), *arrays, self.semiring, self.input_symbols, self.output_symbols)

    @property
    def n_states(self) -> int:
        """The number of states."""
        return self.machine.n_states

    @property
    def n_arcs(self) -> int:
        """The number of arcs."""
        return self.machine.n_arcs

    @property
    def start(self) -> int:
        """The state where paths begin; -1 where the machine accepts nothing."""
        return self.machine.start

    def arcs(self) -> Iterator[tuple[int, int, int, float, int]]:
        """All arcs ``(source, input, output, weight, target)``, labels as integers, state by state, sorted by input label."""
        parts = self.parts()
        columns = (parts.sources, parts.inputs, parts.outputs, parts.weights, parts.targets)
        return zip(*(column.tolist() for column in columns), strict=True)

    def __eq__(self, other: object) -> bool:
        """Returns whether states, arcs, weights and symbols are identical; `equivalent` compares the weights of strings."""
        if not isinstance(other, FstProperties):
            return NotImplemented
        kinds = [(fst.semiring, fst.input_symbols, fst.output_symbols) for fst in (self, other)]
        mine: Any = self.machine.arrays()
        theirs: Any = other.machine.arrays()
        return kinds[0] == kinds[1] and all(map(np.array_equal, mine, theirs))

    def __hash__(self) -> int:
        return hash((self.semiring, self.machine.start, self.machine.n_states, self.machine.n_arcs))

    def __repr__(self) -> str:
        tables = [self.input_symbols, self.output_symbols]
        counts = dict.fromkeys("no" if table is None else str(len(table) - 1) for table in tables)
        size = f"{self.machine.n_states} states, {self.machine.n_arcs} arcs, {len(self.finals)} final"
        name = f" {self.origin.name!r:.40}" if self.origin is not None and self.origin.name else ""
        return f"<Fst{name}: {size}, {' and '.join(counts)} symbols, {self.semiring}>"

    @property
    def finals(self) -> dict[int, float]:
        """The final states with their weights."""
        parts = self.parts()
        return dict(zip(parts.final_states.tolist(), parts.final_weights.tolist(), strict=True))

    @property
    def symbols(self) -> list[str] | None:
        """The symbol table of both sides; None where there is none."""
        if self.input_symbols != self.output_symbols:
            raise InputError("input and output have different symbols: see input_symbols and output_symbols")
        return self.input_symbols

    @cached_property
    def is_acyclic(self) -> bool:
        """Whether no path comes back to a state."""
        return not self.machine.cycle()

    @cached_property
    def is_acceptor(self) -> bool:
        """Whether every arc writes what it reads, so that only pairs (x, x) have a weight: ``A(x)``."""
        parts = self.parts()
        outputs = parts.outputs
        if self.input_symbols is not None and self.output_symbols is not None:
            _, recode = merge_tables(self.input_symbols, self.output_symbols)
            outputs = outputs if recode is None else recode[outputs]
        return bool(np.array_equal(parts.inputs, outputs))

    @cached_property
    def is_deterministic(self) -> bool:
        """Whether a string can be read in one way only: no arc reads the empty string, no two of a state read the same symbol."""
        parts = self.parts()
        again = (np.diff(parts.sources) == 0) & (np.diff(parts.inputs) == 0)
        return not (again.any() or (parts.inputs == 0).any())

    @cached_property
    def has_epsilons(self) -> bool:
        """Whether some arc reads and writes nothing; `remove_epsilon` removes such arcs."""
        parts = self.parts()
        return bool(((parts.inputs == 0) & (parts.outputs == 0)).any())

    def __call__(self, x: Any, y: Any = None) -> float:
        """T(x, y), the weight of a pair of strings, or A(x), the weight of one string; zero for unknown symbols."""
        if y is None and not self.is_acceptor:
            raise InputError(
                "this machine is a transducer: give two strings, T(x, y), or project it first, T.project('input')(x)"
            )
        strings: list[np.ndarray] = []
        for what, string, codes in zip("xy", (x, () if y is None else y), self._codes, strict=True):
            labels, unknown = code_string(what, string, codes)
            if unknown is not None:
                return ZERO[self.semiring]
            strings.append(labels)
        weight, cycle = call_core(self.machine.total_of_pair, strings[0], strings[1], y is not None, self.semiring)
        if cycle:
            raise InputError(
                "the sum over the paths of this pair diverges: the weights on a cycle that reads nothing are too large"
            )
        return float(weight)

    def total(self) -> float:
        """D(T), the sum of the weights of all accepting paths. If it diverges, the error names a cycle.

        One pass without cycles; n states that lie on cycles with each other cost a linear system of n equations.

        >>> from treille import Fst
        >>> Fst.from_arcs([(0, "a", "a", 0.5, 0)], {0: 1.0}).total()  # 1 + 1/2 + 1/4 + ...
        2.0
        """
        weight, cycle = call_core(self.machine.total, self.semiring)
        if cycle:
            raise InputError(
                f"the sum over all paths diverges: the weights on cycles such as {self._format_cycle(cycle)} are too large"
            )
        return float(weight)

    def to_text(self, semiring: str = "log") -> str:
        """The machine in OpenFst's text format, with weights as costs; with "real", which holds negative weights, too, as weights.

        >>> from treille import Fst
        >>> T = Fst.from_arcs([(0, "a", "b", 0.5, 1)], {1: 1.0})
        >>> T.to_text("real")
        '0\\t1\\ta\\tb\\t0.5\\n1\\t1.0\\n'
        >>> Fst.from_text(T.to_text()).astype("real")("a", "b")
        0.5
        """
        return openfst.format_text(self.parts(), "prob" if check_semiring(semiring) == "real" else "cost")

    def write(self, path: str | os.PathLike[str], *, format: str | None = None, weights: str | None = None) -> None:
        """Writes the machine in the format of the file's suffix, `.fst` for OpenFst's binary, or in `format`."""
        write_lattices(path, [self.parts()], format, weights)

    def to_dot(self) -> str:
        """The text from which Graphviz draws the machine.

        >>> from treille import Fst
        >>> print(Fst.from_string("a").to_dot().splitlines()[-2].strip())
        0 -> 1 [label="a"]
        """
        parts, one, finals = self.parts(), ONE[self.semiring], self.finals
        lines = ["digraph {", "  rankdir=LR", "  node [shape=circle]"]
        for state in range(parts.n_states):
            shape = ", shape=doublecircle" if state in finals else ""
            style = ", style=bold" if state == parts.start else ""
            lines.append(f'  {state} [label="{_weighted(str(state), finals.get(state, one), one)}"{shape}{style}]')
        labels = [label.replace("\\", "\\\\").replace('"', '\\"') for label in _arc_labels(parts, 6)]
        ends = zip(parts.sources.tolist(), parts.targets.tolist(), labels, strict=True)
        lines += [f'  {source} -> {target} [label="{label}"]' for source, target, label in ends]
        return "\n".join([*lines, "}", ""])

    def _repr_svg_(self) -> str:
        parts, one = self.parts(), ONE[self.semiring]
        finals = {state: "" if weight == one else f"{weight:.3g}" for state, weight in self.finals.items()}
        machine = Machine(parts.start, parts.n_states, parts.sources, parts.targets, _arc_labels(parts, 3), finals)
        return draw_machine(machine, alone=True)

    @cached_property
    def _codes(self) -> list[dict[str, int] | None]:
        tables = (self.input_symbols, self.output_symbols)
        return [None if table is None else {name: label for label, name in enumerate(table)} for table in tables]

    def _format_cycle(self, states: list[int]) -> str:
        """A cycle in words: its states, at most eight, with the symbols read and written between them."""
        parts = self.parts()
        tables = (self.input_symbols, self.output_symbols)
        text = str(states[0])
        for source, target in zip(states[:8], [*states[1:], states[0]], strict=False):
            arc = int(np.flatnonzero((parts.sources == source) & (parts.targets == target))[0])
            sides = (parts.inputs[arc], parts.outputs[arc])
            names = [_name(label, table, EPSILON) for label, table in zip(sides, tables, strict=True)]
            text += f" -{names[0]}:{names[1]}-> {target}"
        return text if len(states) <= 8 else f"{text} ... (and {len(states) - 8} more)"


def _arc_labels(parts: MachineParts, digits: int) -> list[str]:
    """The label of every arc in a drawing: input and output, and the weight if it is not one."""
    one, texts = ONE[parts.semiring], []
    for input, output, weight in zip(*(c.tolist() for c in (parts.inputs, parts.outputs, parts.weights)), strict=True):
        sides = [_name(input, parts.input_symbols, "ε"), _name(output, parts.output_symbols, "ε")]
        texts.append(_weighted(sides[0] if sides[0] == sides[1] else ":".join(sides), weight, one, digits))
    return texts


def _name(label: int, symbols: Sequence[str] | None, empty: str) -> str:
    return empty if label == 0 else str(label) if symbols is None else symbols[label]


def _weighted(text: str, weight: float, one: float, digits: int = 6) -> str:
    return text if weight == one else f"{text}/{weight:.{digits}g}"
