"""Machines with one final state and with states in topological order, as some formats of lattices require."""

from dataclasses import replace
from typing import Any

import numpy as np

from .errors import InputError
from .machine import MachineParts
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
    empty = np.zeros(len(finals), np.int32)
    added = {
        "sources": finals,
        "inputs": empty,
        "outputs": empty,
        "weights": parts.final_weights,
        "targets": np.full(len(finals), parts.n_states, np.int32),
    }
    longer: dict[str, Any] = {name: np.concatenate([getattr(parts, name), added[name]]) for name in added}
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
    waits = {s: sum(p in useful for p in before[s]) for s in useful}
    order, ready = dict[int, int](), [s for s, n in waits.items() if n == 0]
    while ready:
        state = ready.pop()
        order[state] = len(order)
        for target in after[state]:
            if target in useful:
                waits[target] -= 1
                if not waits[target]:
                    ready.append(target)
    if len(order) < len(useful):
        raise InputError(
            f"the states {_cycle(before, useful - order.keys())} make a cycle, which this format cannot hold"
        )
    number = np.full(parts.n_states, -1, np.int32)
    number[list(order)] = list(order.values())
    kept = (number[parts.sources] >= 0) & (number[parts.targets] >= 0)
    by_source = np.argsort(number[parts.sources[kept]], kind="stable")
    columns = {name: getattr(parts, name)[kept][by_source] for name in ("inputs", "outputs", "weights")}
    final = number[parts.final_states] >= 0
    return replace(
        parts,
        start=int(number[parts.start]),
        n_states=len(order),
        sources=number[parts.sources[kept]][by_source],
        targets=number[parts.targets[kept]][by_source],
        **columns,
        final_states=number[parts.final_states[final]],
        final_weights=parts.final_weights[final],
        scores={name: values[kept][by_source] for name, values in parts.scores.items()},
        final_scores={name: values[final] for name, values in parts.final_scores.items()},
    )


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


def _cycle(before: list[list[int]], left: set[int], most: int = 10) -> str:
    """A cycle: every state that could not be ordered has a predecessor among them, so going back closes one."""
    walk, state = dict[int, int](), min(left)
    while state not in walk:
        walk[state] = len(walk)
        state = next(p for p in before[state] if p in left)
    cycle = list(walk)[walk[state] :][::-1]
    shown = ", ".join(map(str, cycle[:most]))
    return shown + (f" and {len(cycle) - most} more" if len(cycle) > most else "")
