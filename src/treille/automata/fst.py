"""Fst: a weighted finite-state transducer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from treille import _core
from treille.automata import algorithms
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

    def __matmul__(self, other: Fst) -> Fst:
        """Composition: (A @ B)(x, y) is the sum over z of A(x, z) B(z, y); every pair of paths counts once.

        >>> A, B = Fst.from_arcs([(0, "a", "b", 2.0, 1)], {1: 1.0}), Fst.from_arcs([(0, "b", "c", 3.0, 1)], {1: 1.0})
        >>> list((A @ B).arcs())
        [(0, 1, 1, 6.0, 1)]
        """
        if not isinstance(other, Fst):
            return NotImplemented
        return Fst(algorithms.compose(self, other), self.semiring, self.input_symbols, other.output_symbols)

    def remove_epsilon(self) -> Fst:
        """The same weights without arcs that read and write nothing. Cycles of such arcs are summed; they must converge.

        >>> Fst.from_arcs([(0, 0, 0, 0.5, 0), (0, 1, 1, 1.0, 1)], {1: 1.0}).remove_epsilon().parts().weights.tolist()
        [2.0]
        """
        return self._changed(algorithms.asked(_core.remove_epsilon, self.machine, self.semiring))

    def determinize(self) -> Fst:
        """The same weights with at most one arc for a label, or pair of labels, out of a state. Needs no cycle, no epsilon arc.

        >>> Fst.from_arcs([(0, 1, 1, 2.0, 1), (0, 1, 1, 3.0, 2)], {1: 1.0, 2: 1.0}).determinize().n_arcs
        1
        """
        return self._changed(algorithms.asked(_core.determinize, self.machine, self.semiring))

    def push(self) -> Fst:
        """The same weights, moved towards the start: out of every other state they sum to one.

        >>> Fst.from_arcs([(0, 1, 1, 2.0, 1), (1, 1, 1, 3.0, 2)], {2: 0.5}).push().parts().weights.tolist()
        [3.0, 1.0]
        """
        return self._changed(algorithms.asked(_core.push, self.machine, self.semiring))

    def minimize(self) -> Fst:
        """The same weights with the fewest states. Needs a deterministic machine without cycles: `determinize` makes one.

        >>> Fst.from_arcs([(0, 1, 1, 2.0, 1), (0, 2, 2, -3.0, 2)], {1: 1.0, 2: 5.0}).minimize().n_states
        2
        """
        return self._changed(algorithms.asked(_core.minimize, self.machine, self.semiring))

    def equivalent(self, other: Fst, tolerance: float = 1e-9) -> bool:
        """Whether both machines give every string, or every sequence of pairs of labels, the same weight, up to rounding.

        >>> A = Fst.from_arcs([(0, 1, 1, 2.0, 1)], {1: 3.0})
        >>> A.equivalent(A.push()), A.equivalent(A @ A)
        (True, False)
        """
        return algorithms.equivalent(self, other, tolerance)

    def _changed(self, machine: _core.Machine) -> Fst:
        return Fst(machine, self.semiring, self.input_symbols, self.output_symbols)


def _code(label: Any, symbols: list[str]) -> int:
    if label in ("", EPSILON, 0):
        return 0
    if label not in symbols:
        symbols.append(label)
    return symbols.index(label)
