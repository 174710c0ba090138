"""Kaldi's lattices in binary archives: for each the utterance's id, a blank, and a machine as in OpenFst's binary files.

The weight of an arc is a pair of costs, graph and acoustic, of 4 or 8 bytes each; in compact lattices an alignment follows: the
number of its transitions, then these, 4 bytes each.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BufferedIOBase

import numpy as np

from .errors import InputError
from .kaldi import NONE, scores
from .machine import MachineParts
from .openfst_binary import MAGIC, Bytes, checked_machine, header

ARC_TYPES = {"lattice4": "f", "lattice8": "d", "compactlattice44": "f", "compactlattice84": "d"}
START = re.compile(rb"[^\s\x00]+ " + re.escape(struct.pack("<i", MAGIC)))


def looks_like_archive(head: bytes) -> bool:
    """Whether a file begins like a binary archive of lattices."""
    return START.match(head) is not None


def looks_like_lattice(head: bytes) -> bool:
    """Whether a file of OpenFst holds one of Kaldi's lattices."""
    return (
        head[:4] == struct.pack("<i", MAGIC)
        and re.match(rb".{4}\x06\x00\x00\x00vector.\x00\x00\x00(compact)?lattice", head, re.DOTALL) is not None
    )


def lattices(stream: BufferedIOBase, head: bytes, source: str, symbols: Sequence[str] | None) -> Iterator[MachineParts]:
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
    return pair, np.frombuffer(bytes_.take(4 * n, f"an alignment of {n} transitions"), "<i4").astype(
        np.int32
    ) if n else NONE
