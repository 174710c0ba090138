"""Confusion networks in two formats: SRILM's meshes, and the columns of Moses. Weights are probabilities in both.

A mesh has the lines `name ID`, `numaligns N`, `posterior P` and, for every slot, `align I word p word p ...`; other lines are not
used. The format of Moses has a line `word p word p ...` for every slot, and a blank line after every network.
`*DELETE*` of SRILM and `*EPS*` of Moses are the empty string in both formats.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from .blocks import Limits, runs
from .errors import InputError
from .machine import MachineParts
from .symbols import Coder, arc_words, columns, number, whole
from .weights import ONE, SEMIRING, as_kind, in_order, in_semiring, one_final

EPSILONS = DELETE, EPS = ("*DELETE*", "*EPS*")
Slot = list[tuple[str, float]]
Network = tuple[str, list[Slot]]


def _slot(row: list[str], place: str) -> Slot:
    if len(row) % 2:
        raise InputError(f"{place}: found {len(row)} words and numbers, expected pairs: a word and its probability")
    slot = [(word, number(value, place)) for word, value in zip(row[::2], row[1::2], strict=True)]
    if not all(np.isfinite(value) for _, value in slot):
        raise InputError(f"{place}: a weight is infinite, expected a finite number")
    return slot


def _parts(networks: Iterable[Network], source: str, kind: str) -> list[MachineParts]:
    """The machines of networks, over one symbol table."""
    coder = Coder(EPSILONS)
    coded = [(name, slots, [coder.labels(word for word, _ in slot) for slot in slots]) for name, slots in networks]
    symbols, semiring = coder.symbols(), SEMIRING[kind]
    machines = []
    for name, slots, labels in coded:
        sizes = [len(slot) for slot in slots]
        sources = np.repeat(np.arange(len(slots), dtype=np.int32), sizes)
        words = np.array([label for slot in labels for label in slot], np.int32)
        values = np.array([value for slot in slots for _, value in slot], np.float64)
        arcs = (sources, words, words, in_semiring(values, kind, source), sources + np.int32(1))
        final = (np.array([len(slots)], np.int32), np.array([ONE[semiring]]))
        parts = MachineParts(0, len(slots) + 1, *arcs, *final, semiring, symbols, symbols, name)
        machines.append(parts if slots else MachineParts.nothing(name, symbols, semiring))
    return machines


def blocks(
    lines: Iterable[str], source: str, kind: str, is_mesh: bool, limits: Limits | None
) -> Iterator[list[MachineParts]]:
    """The networks of a file in blocks, one symbol table per block.

    >>> lines = ["name utt-1", "numaligns 1", "posterior 1", "align 0 vine 0.75 *DELETE* 0.25"]
    >>> ((mesh,),) = blocks(lines, "a.mesh", "prob", True, None)
    >>> mesh.name, mesh.words(), mesh.weights.tolist()
    ('utt-1', ['vine', ''], [0.75, 0.25])
    >>> ((one, other),) = blocks(["a 0.5 the 0.5", "vine 1", "", "wine 1"], "a.cn", "prob", False, None)
    >>> one.words(), other.words()
    (['a', 'the', 'vine'], ['wine'])
    """
    networks = (_mesh if is_mesh else _of_columns)(lines, source)
    for run in runs(networks, limits, lambda network: 20 * sum(map(len, network[1]))):
        yield _parts(run, source, kind)


def _mesh(lines: Iterable[str], source: str) -> Iterator[Network]:
    name, slots, expected, begins = "", dict[int, Slot](), -1, 0

    def ended() -> Iterator[Network]:
        if expected >= 0:
            missing = next((i for i in range(min(expected, len(slots) + 1)) if i not in slots), None)
            if missing is not None or len(slots) != expected:
                raise InputError(
                    f"{source}, line {begins}: says numaligns {expected}, but {len(slots)} slots follow"
                    + (f", none numbered {missing}" if missing is not None else "")
                )
            yield name, [slots[i] for i in range(expected)]

    for line, text_line in enumerate(lines, 1):
        row = columns(text_line)
        if row[:1] == ["name"] or (row[:1] == ["numaligns"] and expected >= 0):
            yield from ended()
            expected, slots = -1, {}
            name = row[1] if row[0] == "name" and len(row) > 1 else ""
        if row[:1] == ["numaligns"]:
            expected, begins = _whole(row, line, source), line
        elif row[:1] == ["align"]:
            index = _whole(row, line, source)
            if expected < 0 or index in slots:
                raise InputError(
                    f"{source}, line {line}: slot {index} " + ("occurs twice" if slots else "comes before numaligns")
                )
            slots[index] = _slot(row[2:], f"{source}, line {line}")
    yield from ended()


def _whole(row: list[str], line: int, source: str) -> int:
    index = whole(row[1]) if len(row) > 1 else -1
    if index < 0:
        raise InputError(f"{source}, line {line}: found {' '.join(row)[:40]!r}, expected {row[0]} and a whole number")
    return index


def _of_columns(lines: Iterable[str], source: str) -> Iterator[Network]:
    slots = list[Slot]()
    for line, text_line in enumerate(chain(lines, [""]), 1):
        row = columns(text_line)
        if row:
            slots.append(_slot(row, f"{source}, line {line}"))
        elif slots:
            yield "", slots
            slots = []


def format_mesh(parts: MachineParts) -> str:
    """A network in SRILM's format."""
    slots = _slots(parts, DELETE, "prob")
    out = [f"name {'_'.join(columns(parts.name)) or 'lattice'}", f"numaligns {len(slots)}", "posterior 1"]
    return "".join(f"{line}\n" for line in [*out, *(f"align {k} {slot}" for k, slot in enumerate(slots))])


def format_columns(parts: MachineParts, kind: str = "prob") -> str:
    """A network in the format of Moses, which cannot represent empty ones."""
    slots = _slots(parts, EPS, kind)
    if not slots:
        raise InputError("is empty, which this form of confusion networks cannot say: leave it out")
    return "".join(f"{slot}\n" for slot in [*slots, ""])


def _slots(parts: MachineParts, epsilon: str, kind: str) -> Sequence[str]:
    if not parts.is_acceptor:
        raise InputError("is a transducer, and confusion networks are acceptors: take one side of it with project")
    parts = in_order(one_final(parts))
    skips = np.flatnonzero(parts.targets != parts.sources + 1)
    if len(skips):
        arc = int(skips[0])
        raise InputError(
            f"is not a confusion network: an arc leads from state {parts.sources[arc]} to {parts.targets[arc]}, past others;"
            " write it as a lattice, such as plf"
        )
    if parts.n_states == 1:
        return [f"{epsilon} {1.0 if kind == 'prob' else 0.0}"]
    parts = as_kind(parts, kind)
    slots: list[list[str]] = [[] for _ in range(max(parts.n_states - 1, 0))]
    words = arc_words(parts, "inputs", epsilon, EPSILONS)
    for source, word, weight in zip(parts.sources.tolist(), words, parts.weights.tolist(), strict=True):
        slots[source].append(f"{word} {weight!r}")
    return [" ".join(slot) for slot in slots]
