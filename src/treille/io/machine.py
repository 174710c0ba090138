"""A machine as files hold it: what every format of automata and lattices is read into and written from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

SEMIRINGS = ("real", "log", "tropical")
EPSILONS = (
    "",
    "<eps>",
    "<epsilon>",
    "!NULL",
    "*EPS*",
    "-",
)  # what formats write for label 0; each reader says which it means


@dataclass(frozen=True)
class MachineParts:
    """States, arcs and finals of one machine in flat arrays, not checked yet: `treille.Fst` is what checks them.

    Arc a goes from ``sources[a]`` to ``targets[a]``, reads the label ``inputs[a]`` and writes ``outputs[a]``; label 0 is the empty
    string. Symbol tables list the symbol of every label, that of label 0 included; None where labels are plain numbers.

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
    name: str = ""  # the utterance, where a file names it
    scores: dict[str, np.ndarray] = field(
        default_factory=dict
    )  # per arc: "acoustic", "language", as the file holds them

    @classmethod
    def of(
        cls,
        arcs: Sequence[tuple[int, int, int, float, int]],
        finals: dict[int, float],
        start: int = 0,
        semiring: str = "real",
        symbols: Sequence[str] | None = None,
    ) -> MachineParts:
        """From arcs ``(source, input, output, weight, target)``; both sides share `symbols`."""
        columns = list(zip(*arcs, strict=True)) or [(), (), (), (), ()]
        sources, inputs, outputs, targets = (np.array(columns[k], np.int32) for k in (0, 1, 2, 4))
        states = np.array(list(finals), np.int32)
        weights = np.array(list(finals.values()), np.float64)
        n_states = 1 + max([-1, start, *sources.tolist(), *targets.tolist(), *states.tolist()])
        arrays = (sources, inputs, outputs, np.array(columns[3], np.float64), targets, states, weights)
        return cls(start, n_states, *arrays, semiring, symbols, symbols)
