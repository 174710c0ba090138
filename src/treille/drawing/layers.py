"""A layered layout of directed graphs: Sugiyama, Tagawa and Toda (1981), with an extra node for the label of every arc."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

SWEEPS = 8


@dataclass(frozen=True)
class Layers:
    """States in even layers, labels of arcs in odd ones; the first items are the states, then come the others of each arc."""

    layer: np.ndarray  # of every item
    y: np.ndarray
    chains: list[list[int]]  # the items that an arc passes, from left to right, both ends included
    labels: list[int]  # the item that holds the label of each arc
    forward: list[bool]  # whether an arc leads from left to right


def count_items(n_states: int, sources: np.ndarray, targets: np.ndarray) -> int:
    """How many items `lay_out` places: states, and one for every layer that an arc passes."""
    layer = longest_paths(n_states, sources, targets)
    return n_states + int(np.maximum(2 * np.abs(layer[sources] - layer[targets]) - 1, 0).sum())


def lay_out(
    n_states: int, sources: np.ndarray, targets: np.ndarray, state_height: float, label_height: float
) -> Layers:
    """Layers by longest paths, order by barycentres, then heights as close to the neighbours' heights as order and space allow.

    Arcs from a state to itself must have been removed. Deterministic. O(sweeps * items).

    >>> found = lay_out(2, np.array([0, 0]), np.array([1, 1]), 30.0, 20.0)
    >>> found.layer.tolist(), found.labels, abs(float(found.y[2] - found.y[3]))
    ([0, 2, 1, 1], [2, 3], 20.0)
    """
    rank = longest_paths(n_states, sources, targets)
    layer, chains, labels, forward = list(2 * rank), [], [], []
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        ahead = bool(rank[source] < rank[target])
        first, last = (source, target) if ahead else (target, source)
        between = list(range(2 * int(rank[first]) + 1, 2 * int(rank[last])))
        items = list(range(len(layer), len(layer) + len(between)))
        layer += between
        chains.append([first, *items, last])
        labels.append(items[0 if ahead else -1])  # next to the source
        forward.append(ahead)
    links = np.array([pair for chain in chains for pair in pairwise(chain)], int).reshape(-1, 2)
    layers, heights = np.array(layer), np.full(len(layer), label_height)
    heights[:n_states] = state_height
    unlabelled = np.ones(len(layer), bool)
    unlabelled[:n_states] = unlabelled[labels] = False
    heights[unlabelled] = label_height / 2
    left = layers[links[:, 0]]
    by_layer = [links[left == k] for k in range(int(layers.max(initial=0)) + 1)]  # from layer k to the next
    orders = _ordered(layers, by_layer)
    return Layers(layers, _heights(by_layer, orders, heights), chains, labels, forward)


def longest_paths(n_states: int, sources: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """The layer of each state: the length of the longest path to it, with arcs that close a cycle reversed.

    >>> longest_paths(3, np.array([0, 1, 2, 0]), np.array([1, 2, 0, 2])).tolist()
    [0, 1, 2]
    """
    after: list[list[int]] = [[] for _ in range(n_states)]
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        if source != target:
            after[source].append(target)
    order = _finished(after)[::-1]
    place = {state: k for k, state in enumerate(order)}
    ahead: list[list[int]] = [[] for _ in range(n_states)]
    for source, own in enumerate(after):
        for target in own:
            first, last = (source, target) if place[source] < place[target] else (target, source)
            ahead[first].append(last)
    layer = np.zeros(n_states, int)
    for state in order:
        for target in ahead[state]:
            layer[target] = max(layer[target], layer[state] + 1)
    for state in order:  # all but the first that no arc leads to are next to where they lead
        if not layer[state] and ahead[state] and state != 0:
            layer[state] = max(layer[ahead[state]].min() - 1, 0)
    return layer


def _finished(after: Sequence[Sequence[int]]) -> list[int]:
    """States in the order in which a depth-first search leaves them: the reverse is topological, up to arcs back."""
    seen, done, stack = set[int](), list[int](), list(range(len(after)))[::-1]
    while stack:
        state = stack.pop()
        if state < 0:  # all that it leads to has been left
            done.append(~state)
        elif state not in seen:
            seen.add(state)
            stack += [~state, *reversed(after[state])]
    return done


def _ordered(layers: np.ndarray, between: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The items of each layer from top to bottom, with few crossings: sweeps of barycentres, the best one kept."""
    orders = [np.flatnonzero(layers == k) for k in range(len(between))]
    place = np.zeros(len(layers))
    for order in orders:
        place[order] = np.arange(len(order))
    best, fewest = orders.copy(), _crossings(between, place)
    for sweep in range(SWEEPS):
        for k, pairs in _sweep(between, sweep):
            orders[k] = orders[k][np.argsort(_means(orders[k], pairs, place), kind="stable")]
            place[orders[k]] = np.arange(len(orders[k]))
        found = _crossings(between, place)
        if found < fewest:
            best, fewest = orders.copy(), found
    return best


def _sweep(between: Sequence[np.ndarray], number: int) -> Iterator[tuple[int, np.ndarray]]:
    """The layers of a sweep, to the right and to the left in turn, each with the links from the layer before it."""
    last = len(between) - 1
    if number % 2 == 0:
        yield from ((k, between[k - 1]) for k in range(1, last + 1))
    else:
        yield from ((k, between[k][:, ::-1]) for k in range(last - 1, -1, -1))


def _means(order: np.ndarray, pairs: np.ndarray, values: np.ndarray) -> np.ndarray:
    """For the items of a layer, the mean of the values of those linked to them; the value of an item without links."""
    count = np.bincount(pairs[:, 1], minlength=len(values))
    mean = np.bincount(pairs[:, 1], values[pairs[:, 0]], minlength=len(values)) / np.maximum(count, 1)
    return np.where(count[order] > 0, mean[order], values[order])


def _crossings(between: Sequence[np.ndarray], place: np.ndarray) -> int:
    """The number of pairs of links that cross: they are in one order on the left, and in the other on the right."""
    ends = [place[pairs].T for pairs in between if len(pairs) <= 400]
    return sum(int(((a[:, None] < a) & (b[:, None] > b)).sum()) for a, b in ends)


def _heights(between: Sequence[np.ndarray], orders: list[np.ndarray], heights: np.ndarray) -> np.ndarray:
    """The y of every item: as close as possible to the mean of its neighbours, in squares, given order and heights."""
    y, offsets = np.zeros(len(heights)), []
    for order in orders:
        space = np.concatenate([[0.0], np.cumsum((heights[order][1:] + heights[order][:-1]) / 2)])
        offsets.append(space)
        y[order] = space - space[-1] / 2
    for sweep in range(SWEEPS):
        for k, pairs in _sweep(between, sweep):
            if sweep >= SWEEPS - 2:  # at last from both sides
                pairs = np.concatenate([*between[max(k - 1, 0) : k], between[k][:, ::-1]])
            y[orders[k]] = rising(_means(orders[k], pairs, y) - offsets[k]) + offsets[k]
    return y - (y - heights / 2).min(initial=0.0)


def rising(values: np.ndarray) -> np.ndarray:
    """The closest values, in squares, that never fall: pool adjacent violators.

    >>> rising(np.array([1.0, 3.0, 1.0, 4.0])).tolist()
    [1.0, 2.0, 2.0, 4.0]
    """
    pools: list[tuple[float, int]] = []
    for value in values.tolist():
        size = 1
        while pools and pools[-1][0] > value:
            mean, count = pools.pop()
            value, size = (mean * count + value * size) / (count + size), count + size
        pools.append((value, size))
    return np.repeat([mean for mean, _ in pools], [size for _, size in pools]) if pools else values
