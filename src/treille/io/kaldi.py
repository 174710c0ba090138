"""Kaldi's lattices, as text (`lattice-copy ark:- ark,t:-`) or binary. Text: the utterance's id on a line, its arcs, a blank line.

Lattices have arcs `source target input output graph,acoustic`, where inputs are transitions and outputs words; compact lattices
`source target word graph,acoustic,alignment`. Weights are pairs of costs: what counts is their sum.

In binary archives, the utterance's id and a blank come before a machine as in OpenFst's binary files. The weight of an arc is two
costs, graph and acoustic, of 4 or 8 bytes each; in compact lattices follow the number of transitions and these, 4 bytes each.
"""

import math
import re
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from io import BufferedIOBase

import numpy as np

from .blocks import Limits, runs
from .errors import InputError
from .machine import MachineParts
from .openfst import MAGIC, Bytes, checked_machine, header
from .symbols import ArcLines, are_numbers, coded, columns, machine_lines, number, written_sides
from .weights import as_kind, difference

NONE = np.empty(0, np.int32)  # the alignment without transitions
TRANSITION = re.compile(r"-?[0-9]{1,9}")
ARC_TYPES = {"lattice4": "f", "lattice8": "d", "compactlattice44": "f", "compactlattice84": "d"}
LATTICE = re.compile(re.escape(struct.pack("<ii", MAGIC, 6)) + rb"vector.\x00\x00\x00(compact)?lattice", re.DOTALL)
START = re.compile(rb"[^\s\x00]+ " + re.escape(struct.pack("<i", MAGIC)))


class _Lattice(ArcLines):
    """Arcs of one utterance, with the two components of their costs."""

    def __init__(self, source: str, name: str):
        super().__init__(source, name)
        self.pairs, self.final_pairs = list[tuple[float, float]](), list[tuple[float, float]]()
        self.alignments, self.final_alignments = list[np.ndarray](), list[np.ndarray]()
        self.compact: bool | None = None  # not known before the first arc

    def line(self, at: int, row: list[str]) -> None:
        pair, aligned = self._pair(row.pop(), at) if len(row) > 1 and "," in row[-1] else ((0.0, 0.0), NONE)
        if len(row) == 1:
            if max(pair) < math.inf == sum(pair):
                raise InputError(f"{self.place(at)}: the costs add up to more than a number can hold, 1e308")
            self.final(at, row[0], sum(pair))
            if np.isfinite(sum(pair)):
                self.final_pairs.append(pair)
                self.final_alignments.append(aligned)
        elif len(row) in (3, 4):
            if self.compact is (len(row) == 4):
                raise InputError(
                    f"{self.place(at)}: lattice {self.name} has arcs of both kinds, with one label and with two"
                )
            self.compact = len(row) == 3
            self.arc(at, row[0], row[1], row[2], row[-1], sum(pair))
            self.pairs.append(pair)
            self.alignments.append(aligned)
        else:
            raise InputError(
                f"{self.place(at)}: found {' '.join(row)[:40]!r}, expected an arc: source target input output graph,acoustic,"
                " or source target word graph,acoustic,alignment"
            )

    def _pair(self, text: str, at: int) -> tuple[tuple[float, float], np.ndarray]:
        graph, _, rest = text.partition(",")
        acoustic, _, alignment = rest.partition(",")
        pair = number(graph, self.place(at)), number(acoustic, self.place(at))
        transitions = alignment.split("_") if alignment else []
        if not all(map(TRANSITION.fullmatch, transitions)):
            raise InputError(
                f"{self.place(at)}: the alignment is {alignment[:40]!r}, expected transitions with _ between them"
            )
        return pair, np.array(transitions, np.int32) if transitions else NONE


def blocks(
    lines: Iterable[str], source: str, symbols: Sequence[str] | None, limits: Limits | None
) -> Iterator[list[MachineParts]]:
    """The lattices of an archive in blocks, one symbol table per block, in the log semiring.

    The first block decides whether labels are numbers. `scores` and `final_scores` hold the costs "language" (Kaldi's graph) and
    "acoustic", whose sum is the weight. For compact lattices, `alignments` and `final_alignments` hold the transitions.

    >>> ((lattice,),) = blocks(["utt-1", "0 1 vine 1.5,2.0,7_8", "1 0.5,0,", ""], "a.lat", None, None)
    >>> lattice.name, lattice.weights.tolist(), lattice.final_weights.tolist(), lattice.scores["acoustic"].tolist()
    ('utt-1', [3.5], [0.5], [2.0])
    >>> lattice.alignments[0].tolist()
    [7, 8]
    """
    numbers = dict[str, bool | None]()
    for run in runs(_entries(lines, source), limits, lambda lattice: 30 * len(lattice.lines)):
        yield _parts(list(run), symbols, numbers)


def _entries(lines: Iterable[str], source: str) -> Iterator[_Lattice]:
    current = None
    for at, line in enumerate(lines, 1):
        row = columns(line)
        if not row:
            if current is not None:
                yield current
            current = None
        elif current is not None:
            current.line(at, row)
        elif len(row) == 1:
            current = _Lattice(source, row[0])
        else:
            raise InputError(
                f"{source}, line {at}: found {line.strip()[:40]!r}, expected the id of an utterance alone on its line"
            )
    if current is not None:
        yield current


def _parts(
    lattices: list[_Lattice], symbols: Sequence[str] | None, numbers: dict[str, bool | None]
) -> list[MachineParts]:
    """The lattices over one symbol table; `numbers` says whether labels of each side are numbers, once that is known."""
    transducers = [lattice for lattice in lattices if lattice.compact is False]
    inputs, input_symbols = coded(transducers, "inputs", None, numbers.get("inputs"))
    outputs, output_symbols = coded(lattices, "outputs", symbols, numbers.get("outputs"))
    for side, machines in (("inputs", transducers), ("outputs", lattices)):
        if numbers.get(side) is None:
            numbers[side] = are_numbers(machines, side)
    of_inputs = dict(zip(map(id, transducers), inputs, strict=True))
    parts = []
    for lattice, words in zip(lattices, outputs, strict=True):
        table = input_symbols if lattice.compact is False else output_symbols
        one = lattice.parts((of_inputs.get(id(lattice), words), words), (table, output_symbols), "log")
        if any(map(len, [*lattice.alignments, *lattice.final_alignments])):
            one = replace(one, alignments=lattice.alignments, final_alignments=lattice.final_alignments)
        parts.append(replace(one, scores=scores(lattice.pairs), final_scores=scores(lattice.final_pairs)))
    return parts


def scores(pairs: Sequence[tuple[float, float]]) -> dict[str, np.ndarray]:
    """The two components of costs, by name."""
    language, acoustic = np.array(pairs, np.float64).reshape(-1, 2).T
    return {"language": language, "acoustic": acoustic}


def format_machine(parts: MachineParts) -> str:
    """The lattice as an entry of an archive: compact if it is an acceptor, with its alignments, if it has some.

    The acoustic cost is written as it is, 0 where a machine has none; the graph cost is the rest of the weight.
    """
    name = "_".join(columns(parts.name)) or "lattice"
    parts = as_kind(parts, "cost")
    compact = parts.is_acceptor
    costs = _pairs(parts.weights, parts.scores, parts.alignments, compact)
    final_costs = _pairs(parts.final_weights, parts.final_scores, parts.final_alignments, compact)
    sides = written_sides(parts)[compact:]
    return "\n".join([name, *machine_lines(parts, sides, costs, final_costs)]) + "\n\n"


def _pairs(
    weights: np.ndarray, scores: dict[str, np.ndarray], alignments: Sequence[np.ndarray], compact: bool
) -> list[str]:
    acoustic = scores.get("acoustic", np.zeros(len(weights)))
    aligned = alignments if len(alignments) else [NONE] * len(weights)
    ends = ["," + "_".join(map(str, one.tolist())) if compact else "" for one in aligned]
    pairs = zip(difference(weights, acoustic).tolist(), acoustic.tolist(), ends, strict=True)
    return [f"{graph},{cost}{end}" for graph, cost, end in pairs]


def looks_binary(head: bytes) -> bool:
    """Returns whether a file begins like a binary archive of lattices, or like one of its lattices."""
    return START.match(head) is not None or looks_like_lattice(head)


def looks_like_lattice(head: bytes) -> bool:
    """Returns whether a file of OpenFst holds one of Kaldi's lattices."""
    return LATTICE.match(head) is not None


def binary_lattices(
    stream: BufferedIOBase, head: bytes, source: str, symbols: Sequence[str] | None
) -> Iterator[MachineParts]:
    """The lattices of a file that begins with `head`, in the log semiring, read as they are asked for."""
    bytes_, alone = Bytes(stream, source), looks_like_lattice(head)
    while not bytes_.at_end():
        name = "" if alone else bytes_.until(b" ", "the id of an utterance and a blank").decode("utf-8", "replace")
        yield replace(_lattice(bytes_, f"{source}, {name}" if name else source, symbols), name=name)


def _lattice(bytes_: Bytes, place: str, symbols: Sequence[str] | None) -> MachineParts:
    arc_type, start, n_states, _ = header(bytes_, ARC_TYPES)
    compact, real = arc_type.startswith("compact"), ARC_TYPES[arc_type]
    rows, pairs, alignments = list[tuple[int, int, int, int]](), list[tuple[float, float]](), list[np.ndarray]()
    finals, final_pairs, final_alignments = list[int](), list[tuple[float, float]](), list[np.ndarray]()
    if n_states < 0:
        raise InputError(f"{place}: does not count its states, so its end is unknown: lattice-copy writes it again")
    for state in range(n_states):
        what = f"state {state} of {n_states}"
        pair, aligned = _weight(bytes_, real, compact, what)
        if not all(cost == np.inf for cost in pair):
            finals.append(state)
            final_pairs.append(pair)
            final_alignments.append(aligned)
        for _ in range(bytes_.number("<q", what)):
            input, output = bytes_.pair("<ii", f"an arc of {what}")
            pair, aligned = _weight(bytes_, real, compact, f"an arc of {what}")
            rows.append((state, input, output, bytes_.number("<i", f"an arc of {what}")))
            pairs.append(pair)
            alignments.append(aligned)
    columns = np.array(rows, np.int32).reshape(-1, 4).T
    sources, inputs, outputs, targets = (np.ascontiguousarray(column) for column in columns)
    costs, final_costs = scores(pairs), scores(final_pairs)
    with np.errstate(over="ignore", invalid="ignore"):  # checked below
        weights, final_weights = (one["language"] + one["acoustic"] for one in (costs, final_costs))
    arrays = (sources, inputs, outputs, weights, targets, np.array(finals, np.int32), final_weights)
    tables = (symbols if compact else None, symbols)
    parts = checked_machine(MachineParts(start, n_states, *arrays, "log", *tables), place)
    if start < 0:
        return parts
    if compact:
        parts = replace(parts, alignments=alignments, final_alignments=final_alignments)
    return replace(parts, scores=costs, final_scores=final_costs)


def _weight(bytes_: Bytes, real: str, compact: bool, what: str) -> tuple[tuple[float, float], np.ndarray]:
    pair = bytes_.pair(f"<{real}{real}", what)
    if not compact:
        return pair, NONE
    n = bytes_.number("<i", what)
    return pair, np.frombuffer(bytes_.take(4 * n, f"an alignment of {n} transitions"), "<i4").astype(np.int32)
