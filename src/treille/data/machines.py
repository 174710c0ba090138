"""Machines from any source in flat arrays, validated; `Lattices` is built from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from treille.automata import Fst
from treille.data.base import running_sum
from treille.data.strings import Strings
from treille.io.errors import InputError
from treille.io.machine import SEMIRINGS, MachineParts
from treille.io.weights import Scale, parse_scale, scaled

SMALLEST, LARGEST = -709.0, 708.0  # costs whose exp(-cost) a double holds with all its digits
HIGHEST = 1e300  # largest cost: sums along a path must stay finite
ENDS = ("sources", "targets")


@dataclass(frozen=True)
class FlatMachines:
    """Machines in the arrays `states, offsets, sources, symbols, targets, weights, finals`, not trimmed or sorted yet."""

    arrays: tuple[np.ndarray, ...]
    starts: np.ndarray
    costs: np.ndarray  # whether weights are costs
    alphabet: list[Any]
    unit: str
    items: list[str]  # how messages name each machine

    def format_cycle(self, i: int, cycle: Sequence[int]) -> str:
        """A cycle, state by state."""
        offsets, sources, symbols, targets = self.arrays[1:5]
        arcs = [int(offsets[i]) + arc for arc in cycle]
        steps = [f"-{'' if symbols[a] < 0 else self.alphabet[symbols[a]]}-> {targets[a]}" for a in arcs]
        return " ".join([str(sources[arcs[0]]), *steps])


def is_machine(item: Any) -> bool:
    """Returns whether this is an automaton, of treille, of a file or of pynini."""
    module = type(item).__module__.split(".")[0].lstrip("_")
    return isinstance(item, (Fst, MachineParts)) or module in ("pynini", "pywrapfst")


def flatten(items: list[Any], scale: Scale | None, normalize: bool) -> FlatMachines:
    """Machines and sequences in flat arrays, validated."""
    for i, item in enumerate(items):
        if not is_machine(item) and not isinstance(item, (str, bytes, Sequence, np.ndarray)):
            raise InputError(f"item {i} is {type(item).__name__} ({item!r:.40}), expected a machine or a sequence")
    sequences = iter(Strings([item for item in items if not is_machine(item)]))
    parts = [machine_parts(item) if is_machine(item) else _line(next(sequences)) for item in items]
    item_names = [f"item {i} ({p.name})" if p.name else f"item {i}" for i, p in enumerate(parts)]
    for i, p in enumerate(parts):
        _check_machine(p, item_names[i])
    factors = parse_scale(scale)
    if factors is not None:
        parts = [scaled(p, factors, item) for p, item in zip(parts, item_names, strict=True)]
    states = running_sum([p.n_states for p in parts])
    offsets = running_sum([len(p.sources) for p in parts])
    costs = np.array([p.semiring != "real" for p in parts], np.uint8)
    finals = np.where(np.repeat(costs, np.diff(states)) > 0, np.inf, 0.0)
    for p, first in zip(parts, states[:-1], strict=True):
        finals[first + p.final_states] = p.final_weights
    symbols, alphabet, unit = _symbols(parts, item_names)
    sources, targets = (np.concatenate([getattr(p, end) for p in parts]).astype(np.int32) for end in ENDS)
    all_weights = np.concatenate([p.weights for p in parts]).astype(np.float64)
    _check_weights("arc", all_weights, offsets, costs, normalize, item_names)
    _check_weights("the final state", finals, states, costs, normalize, item_names)
    arrays = (states, offsets, sources, symbols, targets, all_weights, finals)
    starts = np.array([p.start for p in parts], np.int32)
    return FlatMachines(arrays, starts, costs, alphabet, unit, item_names)


def machine_parts(item: Any) -> MachineParts:
    """The arrays of an `Fst`, of a machine of pynini, or of a machine of a file."""
    if isinstance(item, MachineParts):
        return item
    machine = item if isinstance(item, Fst) else Fst.from_pynini(item)
    return machine.parts() if machine.origin is None else machine.origin


def _line(sequence: Any) -> MachineParts:
    """The machine of one sequence, each symbol a label."""
    if isinstance(sequence, bytes):
        raise InputError("a sequence is bytes: decode it first, lattices hold characters or tokens")
    names: Sequence[str] | None
    if isinstance(sequence, np.ndarray):
        labels, names = sequence.astype(np.int32), None
    else:
        symbols = list(dict.fromkeys(sequence))
        codes = {symbol: code for code, symbol in enumerate(symbols, 1)}
        labels, names = np.array([codes[symbol] for symbol in sequence], np.int32), ["", *symbols]
    at = np.arange(len(labels) + 1, dtype=np.int32)
    columns = (at[:-1], labels, labels, np.ones(len(labels)), at[1:], at[-1:], np.ones(1))
    return MachineParts(0, len(at), *columns, "real", names, names)


def _check_machine(p: MachineParts, item: str) -> None:
    """Checks states and semiring."""
    # Not check_parts, which validates Fst: it reads labels, weights and the symbol table of each machine, which takes 1 to 80 times
    # as long as making the batch for machines of 20 to 200 arcs, most of all if they share a large table. Here labels and weights
    # of all machines are checked together, and arcs may have infinite costs, as in some lattices.
    if p.semiring not in SEMIRINGS:
        raise InputError(f"{item}: the semiring is {p.semiring!r}, expected one of {', '.join(SEMIRINGS)}")
    if p.n_states and not 0 <= p.start < p.n_states:
        found = "no start" if p.start == -1 else f"the start {p.start}"
        raise InputError(f"{item} has {found}, but {p.n_states} states: expected one of 0..{p.n_states - 1}")
    for side in ENDS:
        ends = getattr(p, side)
        if len(ends) and not 0 <= ends.min() <= ends.max() < p.n_states:
            arc = int(np.flatnonzero((ends < 0) | (ends >= p.n_states))[0])
            verb = "comes from" if side == "sources" else "leads to"
            raise InputError(f"{item}: arc {arc} {verb} state {ends[arc]}, but there are {p.n_states} states")
    wrong = (p.final_states < 0) | (p.final_states >= p.n_states)
    if wrong.any():
        raise InputError(f"{item}: state {p.final_states[wrong][0]} is final, but there are {p.n_states} states")


def _symbols(parts: list[MachineParts], item_names: list[str]) -> tuple[np.ndarray, list[Any], str]:
    """The symbol of every arc, by name, as an index into the alphabet; the alphabet, and its unit."""
    named = [p.input_symbols is not None for p in parts if p.inputs.any()]  # a machine may read the empty string alone
    if any(named) and not all(named):
        have = [item for item, p in zip(item_names, parts, strict=True) if p.inputs.any()]
        with_, without = have[named.index(True)], have[named.index(False)]
        raise InputError(f"{with_} has symbols, {without} has labels alone: give all machines symbol tables, or none")
    codes: dict[Any, int] = {}
    labels, outputs = (np.concatenate([getattr(p, side) for p in parts]) for side in ("inputs", "outputs"))
    ends = running_sum([len(p.inputs) for p in parts])
    symbols = np.empty(len(labels), np.int32)
    last = 0
    for _, run in groupby(parts, key=lambda p: (id(p.input_symbols), id(p.output_symbols))):
        first, last = last, last + len(list(run))  # files share one table: then their labels are looked up at once
        arcs = slice(ends[first], ends[last])

        def place(arc: int, start: int = int(ends[first])) -> str:
            item = int(np.searchsorted(ends, start + arc, side="right")) - 1
            return f"{item_names[item]}: arc {start + arc - ends[item]}"

        tables = parts[first].input_symbols, parts[first].output_symbols
        read = symbols[arcs] = _coded(labels[arcs], tables[0], codes, place)
        same = tables[0] is tables[1] or tables[0] == tables[1]
        alike = same and np.array_equal(labels[arcs], outputs[arcs])
        written = read if alike else _coded(outputs[arcs], tables[1], codes, place)
        wrong = np.flatnonzero(read != written)
        if len(wrong):
            names = [*codes, None]
            shown = ["nothing" if side[wrong[0]] < 0 else repr(names[side[wrong[0]]]) for side in (read, written)]
            raise InputError(
                f"{place(wrong[0])} reads {shown[0]} and writes {shown[1]}, expected the same: a lattice is an acceptor,"
                " take one side of the transducer, say T.project('output')"
            )
    alphabet = sorted(codes)
    rank = np.empty(len(codes) + 1, np.int32)
    rank[[codes[name] for name in alphabet]] = np.arange(len(codes), dtype=np.int32)
    rank[-1] = -1  # of the empty string
    return rank[symbols], alphabet, "integer" if named and not any(named) else "token"


def _coded(
    labels: np.ndarray, table: Sequence[str] | None, codes: dict[Any, int], place: Callable[[int], str]
) -> np.ndarray:
    """The code of each label, by the name of its symbol; -1 for 0, the empty string."""
    wrong = np.flatnonzero(labels < 0)
    if len(wrong):
        raise InputError(f"{place(wrong[0])} has the label {labels[wrong[0]]}, expected 0, the empty string, or more")
    wrong = np.flatnonzero(labels >= (2**31 if table is None else len(table)))
    if len(wrong):
        raise InputError(
            f"{place(wrong[0])} has the label {labels[wrong[0]]}, which has no symbol: the table ends at"
            f" {len(table or ()) - 1}; give the whole table"
        )
    used, places = np.unique(labels, return_inverse=True)
    names = used.tolist() if table is None else [table[label] for label in used.tolist()]
    own = [codes.setdefault(name, len(codes)) if label else -1 for label, name in zip(used, names, strict=True)]
    return np.array(own, np.int32)[places]


def _check_weights(
    what: str, values: np.ndarray, ends: np.ndarray, costs: np.ndarray, normalize: bool, item_names: list[str]
) -> None:
    cost = np.repeat(costs, np.diff(ends)) > 0
    nothing = cost & (values == np.inf)
    checks = {"a number; NaN and infinity are no weights": ~np.isfinite(values) & ~nothing}
    if normalize:
        checks[f"a cost from {-HIGHEST:g} to {HIGHEST:g}: sums of larger ones are no numbers"] = (
            cost & ~nothing & (np.abs(values) > HIGHEST)
        )
        checks["0 or more in a distribution; for signed weights use normalize=False"] = ~cost & (values < 0)
    else:
        limits = f"a cost from {SMALLEST:g} to {LARGEST:g}, whose exp(-cost) is a number; use normalize=True"
        checks[limits] = cost & ~nothing & ((values < SMALLEST) | (values > LARGEST))
    for expected, wrong in checks.items():
        if wrong.any():
            at = int(np.argmax(wrong))
            item = int(np.searchsorted(ends, at, side="right")) - 1
            place = f"{item_names[item]}: {what} {at - ends[item]}"
            raise InputError(f"{place} has the weight {values[at]}, expected {expected}")
