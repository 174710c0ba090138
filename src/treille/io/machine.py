"""Machines as files hold them: every format of automata and lattices is read into these classes and written from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from .errors import InputError
from .packed import PackedExamples

SEMIRINGS = ("real", "log", "tropical")
OF_ARCS = ("sources", "inputs", "outputs", "weights", "targets")  # the arrays of one value per arc
EPSILON = "<eps>"  # the symbol of label 0


@dataclass(frozen=True, repr=False)
class MachineParts:
    """States, arcs and final states of one machine in flat arrays, not validated yet: `treille.Fst` does that.

    Arc a goes from ``sources[a]`` to ``targets[a]``, reads the label ``inputs[a]`` and writes ``outputs[a]``; label 0 is the empty
    string. Symbol tables list the symbols of all labels from 0 on; None where labels are plain numbers.

    >>> parts = MachineParts.of([(0, 1, 1, 0.5, 1)], {1: 1.0})
    >>> parts.n_states, parts.weights.tolist(), parts.final_states.tolist()
    (2, [0.5], [1])
    """

    start: int  # -1: the machine accepts nothing
    n_states: int
    sources: np.ndarray
    inputs: np.ndarray
    outputs: np.ndarray
    weights: np.ndarray
    targets: np.ndarray
    final_states: np.ndarray
    final_weights: np.ndarray
    semiring: str = "real"
    input_symbols: Sequence[str] | None = None
    output_symbols: Sequence[str] | None = None
    name: str = ""  # the utterance, if the file names it
    scores: dict[str, np.ndarray] = field(default_factory=dict)  # such as "acoustic", of arcs, as unscaled costs
    final_scores: dict[str, np.ndarray] = field(default_factory=dict)  # of final weights, if the file has them
    alignments: Sequence[np.ndarray] = ()  # the transitions of each arc, in Kaldi's compact lattices
    final_alignments: Sequence[np.ndarray] = ()  # of final states

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        return f"MachineParts({name}{self.n_states:,} states, {len(self.sources):,} arcs)"

    @classmethod
    def of(
        cls,
        arcs: Sequence[tuple[int, int, int, float, int]],
        finals: dict[int, float],
        start: int = 0,
        semiring: str = "real",
        symbols: Sequence[str] | None = None,
    ) -> MachineParts:
        """Builds it from arcs ``(source, input, output, weight, target)``; both sides share `symbols`."""
        columns = list(zip(*arcs, strict=True)) or [(), (), (), (), ()]
        sources, inputs, outputs, targets = (np.array(columns[k], np.int32) for k in (0, 1, 2, 4))
        states = np.array(list(finals), np.int32)
        weights = np.array(list(finals.values()), np.float64)
        n_states = 1 + max([-1, start, *sources.tolist(), *targets.tolist(), *states.tolist()])
        arrays = (sources, inputs, outputs, np.array(columns[3], np.float64), targets, states, weights)
        return cls(start, n_states, *arrays, semiring, symbols, symbols)

    @classmethod
    def nothing(cls, name: str = "", symbols: Sequence[str] | None = None, semiring: str = "real") -> MachineParts:
        """An empty lattice: no state, hence no string."""
        return replace(cls.of([], {}, -1, semiring, symbols), name=name)

    @property
    def is_acceptor(self) -> bool:
        """Whether every arc writes what it reads."""
        same = self.input_symbols is self.output_symbols or self.input_symbols == self.output_symbols
        return same and bool(np.array_equal(self.inputs, self.outputs))

    def select(self, arcs: np.ndarray, finals: np.ndarray) -> MachineParts:
        """The machine with the arcs, and the final states, at these positions."""
        return replace(
            self,
            **{name: getattr(self, name)[arcs] for name in OF_ARCS},
            final_states=self.final_states[finals],
            final_weights=self.final_weights[finals],
            scores={name: values[arcs] for name, values in self.scores.items()},
            final_scores={name: values[finals] for name, values in self.final_scores.items()},
            alignments=[self.alignments[arc] for arc in arcs] if self.alignments else (),
            final_alignments=[self.final_alignments[at] for at in finals] if self.final_alignments else (),
        )

    def words(self, side: str = "inputs") -> list[str]:
        """The symbol of every arc, its number as text if there is no table; "" for the empty string.

        >>> MachineParts.of([(0, 1, 1, 0.5, 1), (0, 0, 0, 0.5, 1)], {1: 1.0}, symbols=["<eps>", "vine"]).words()
        ['vine', '']
        """
        labels = self.inputs if side == "inputs" else self.outputs
        symbols = self.input_symbols if side == "inputs" else self.output_symbols
        if symbols is None:
            return [str(label) if label else "" for label in labels.tolist()]
        lost = np.flatnonzero((labels < 0) | (labels >= len(symbols)))
        if len(lost):
            what = f"arc {lost[0]} {'reads' if side == 'inputs' else 'writes'} label {labels[lost[0]]}"
            raise InputError(f"{what}, which has no symbol: the table ends at {len(symbols) - 1}; give the whole table")
        return [symbols[label] if label else "" for label in labels.tolist()]


class MachineList(PackedExamples, Sequence[Any]):
    """The machines of files of lattices: `machines`, as the files hold them.

    An item is a `treille.Fst`, made when it is asked for, and an acceptor: a lattice of two sides, such as Kaldi's, is read by
    its outputs. Its `origin` has what an `Fst` does not: name, scores and alignments.

    >>> machines = MachineList([MachineParts.of([(0, 1, 2, 0.5, 1)], {1: 1.0})])
    >>> machines, machines[0], machines.machines[0].inputs.tolist()
    (MachineList(1 machine), <Fst: 2 states, 1 arcs, 1 final, no symbols, real>, [1])
    """

    title = "lattices"
    make_item: ClassVar[Callable[[MachineParts], Any]]  # set by `treille.automata`, which is not imported here

    def __init__(self, machines: Sequence[MachineParts]):
        self.machines = list(machines)

    def acceptors(self) -> list[MachineParts]:
        """The machines by their outputs."""
        return [
            machine
            if machine.is_acceptor
            else replace(machine, inputs=machine.outputs, input_symbols=machine.output_symbols)
            for machine in self.machines
        ]

    def __len__(self) -> int:
        return len(self.machines)

    def _item(self, i: int) -> Any:
        return type(self).make_item(MachineList([self.machines[i]]).acceptors()[0])

    def __repr__(self) -> str:
        return f"MachineList({len(self):,} machine{'s' * (len(self) != 1)})"

    def take(self, rows: Sequence[int]) -> MachineList:
        return MachineList([self.machines[i] for i in rows])

    @classmethod
    def join(cls, each: Sequence[MachineList]) -> MachineList:
        from .symbols import over_one_table  # which is made of machines

        return cls(over_one_table([machine for part in each for machine in part.machines]))

    @property
    def volume(self) -> int:
        return 30 * sum(len(machine.sources) for machine in self.machines)
