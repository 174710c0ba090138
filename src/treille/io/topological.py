"""Machines with one final state and with states in topological order, as some formats of lattices require."""

from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from .errors import InputError
from .fields import listed
from .machine import OF_ARCS, MachineParts
from .weights import ONE


def one_final(parts: MachineParts) -> MachineParts:
    """The same strings and weights with at most one final state, of weight one and with no arc out of it.

    If necessary, a state is added, with an empty arc to it from every state that was final.

    >>> parts = one_final(MachineParts.of([(0, 1, 1, 0.5, 1)], {1: 0.25}))
    >>> parts.n_states, parts.weights.tolist(), parts.final_weights.tolist()
    (3, [0.5, 0.25], [1.0])
    """
    one, finals = ONE[parts.semiring], parts.final_states
    if not len(finals) or (len(finals) == 1 and parts.final_weights[0] == one and finals[0] not in parts.sources):
        return parts
    empty, end = np.zeros(len(finals), np.int32), np.full(len(finals), parts.n_states, np.int32)
    added = zip(OF_ARCS, (finals, empty, empty, parts.final_weights, end), strict=True)
    longer: dict[str, Any] = {name: np.concatenate([getattr(parts, name), values]) for name, values in added}
    at_end = {name: parts.final_scores.get(name, np.zeros(len(finals))) for name in parts.scores}
    return replace(
        parts,
        n_states=parts.n_states + 1,
        **longer,
        final_states=np.array([parts.n_states], np.int32),
        final_weights=np.array([one]),
        scores={name: np.concatenate([values, at_end[name]]) for name, values in parts.scores.items()},
        final_scores={},
    )


def in_order(parts: MachineParts) -> MachineParts:
    """The states that are on a path from the start to a final state, numbered so that every arc leads to a larger number.

    A machine without such a path becomes empty. A cycle raises an `InputError` that shows it.

    >>> in_order(MachineParts.of([(2, 1, 1, 0.5, 0), (2, 1, 1, 0.5, 1)], {0: 1.0}, start=2)).targets.tolist()
    [1]
    """
    arcs = list(zip(parts.sources.tolist(), parts.targets.tolist(), strict=True))
    after, before = _neighbours(parts.n_states, arcs), _neighbours(parts.n_states, [(t, s) for s, t in arcs])
    useful = _reached(after, [parts.start] if parts.start >= 0 else []) & _reached(before, parts.final_states.tolist())
    if not useful:
        nothing = MachineParts.nothing(parts.name, parts.input_symbols, parts.semiring)
        return replace(nothing, output_symbols=parts.output_symbols)
    try:
        order = list(TopologicalSorter({state: useful.intersection(before[state]) for state in useful}).static_order())
    except CycleError as error:
        shown = listed(list(map(str, error.args[1][:-1])), 10)
        raise InputError(f"the states {shown} make a cycle, which this format cannot hold") from None
    number = np.full(parts.n_states, -1, np.int32)
    number[order] = np.arange(len(order))
    kept = np.flatnonzero((number[parts.sources] >= 0) & (number[parts.targets] >= 0))
    by_source = kept[np.argsort(number[parts.sources[kept]], kind="stable")]
    part = parts.select(by_source, np.flatnonzero(number[parts.final_states] >= 0))
    states = {name: number[getattr(part, name)] for name in ("sources", "targets", "final_states")}
    return replace(part, start=int(number[parts.start]), n_states=len(order), **states)


def _neighbours(n: int, arcs: list[tuple[int, int]]) -> list[list[int]]:
    lists: list[list[int]] = [[] for _ in range(n)]
    for source, target in arcs:
        lists[source].append(target)
    return lists


def _reached(neighbours: list[list[int]], first: list[int]) -> set[int]:
    seen, stack = set(first), list(first)
    while stack:
        for state in neighbours[stack.pop()]:
            if state not in seen:
                seen.add(state)
                stack.append(state)
    return seen
