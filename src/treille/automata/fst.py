"""Fst: a weighted finite-state transducer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from treille import _core
from treille.io.errors import InputError
from treille.io.machine import SEMIRINGS, MachineParts

ZERO = {"real": 0.0, "log": np.inf, "tropical": np.inf}
EPSILON = "<eps>"


class Fst:
    """A weighted transducer: states, and arcs that read a symbol, write a symbol and carry a weight. Immutable.

    Labels are integers; 0 is the empty string. Symbol tables, where there are some, list the symbol of every label.

    >>> T = Fst.from_arcs([(0, "a", "b", 0.5, 1)], {1: 2.0})
    >>> T.n_states, T.n_arcs, list(T.arcs())
    (2, 1, [(0, 1, 1, 0.5, 1)])
    """

    machine: _core.Machine
    semiring: str
    input_symbols: list[str] | None
    output_symbols: list[str] | None

    def __init__(
        self,
        machine: _core.Machine,
        semiring: str = "real",
        input_symbols: Sequence[str] | None = None,
        output_symbols: Sequence[str] | None = None,
    ):
        self.machine = machine
        self.semiring = semiring
        self.input_symbols = None if input_symbols is None else list(input_symbols)
        self.output_symbols = None if output_symbols is None else list(output_symbols)

    @classmethod
    def from_arcs(
        cls,
        arcs: Iterable[tuple[int, Any, Any, float, int]],
        finals: dict[int, float],
        start: int = 0,
        semiring: str = "real",
    ) -> Fst:
        """From arcs ``(source, input, output, weight, target)`` and the weights of final states.

        Labels are integers, or strings, which get symbol tables in order of first use; 0, "" and "<eps>" are the empty string.

        >>> Fst.from_arcs([(0, 1, 2, 1.0, 0)], {0: 1.0}).n_arcs
        1
        """
        arcs = list(arcs)
        if any(isinstance(label, str) for arc in arcs for label in arc[1:3]):
            inputs, outputs = [EPSILON], [EPSILON]
            coded = [(s, _code(i, inputs), _code(o, outputs), w, t) for s, i, o, w, t in arcs]
        else:
            inputs = outputs = None
            coded = arcs
        parts = MachineParts.of(coded, finals, start, semiring)
        fst = cls.from_parts(parts)
        fst.input_symbols, fst.output_symbols = inputs, outputs
        return fst

    @classmethod
    def from_parts(cls, parts: MachineParts) -> Fst:
        """A machine as a file held it, checked."""
        if parts.semiring not in SEMIRINGS:
            raise InputError(f"semiring is {parts.semiring!r}, expected one of {', '.join(SEMIRINGS)}")
        finals = np.full(parts.n_states, ZERO[parts.semiring])
        finals[parts.final_states] = parts.final_weights
        arrays = (parts.sources, parts.inputs, parts.outputs, parts.weights, parts.targets)
        machine = _core.Machine.from_arrays(parts.start, *arrays, finals)
        return cls(machine, parts.semiring, parts.input_symbols, parts.output_symbols)

    def __reduce__(self) -> tuple[Any, ...]:
        return Fst.from_parts, (self.parts(),)

    def __repr__(self) -> str:
        return f"<Fst: {self.n_states} states, {self.n_arcs} arcs, {self.semiring}>"

    def parts(self) -> MachineParts:
        """The machine in flat arrays: what files are written from."""
        start, sources, inputs, outputs, weights, targets, finals = self.machine.arrays()
        states = np.flatnonzero(finals != ZERO[self.semiring]).astype(np.int32)
        arrays = (sources, inputs, outputs, weights, targets, states, finals[states])
        return MachineParts(start, len(finals), *arrays, self.semiring, self.input_symbols, self.output_symbols)

    @property
    def n_states(self) -> int:
        """How many states there are."""
        return self.machine.n_states

    @property
    def n_arcs(self) -> int:
        """How many arcs there are."""
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


def _code(label: Any, symbols: list[str]) -> int:
    if label in ("", EPSILON, 0):
        return 0
    if label not in symbols:
        symbols.append(label)
    return symbols.index(label)
