"""Pictures of weighted automata and lattices, from left to right: a layered layout, Sugiyama, Tagawa and Toda (1981)."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treille.drawing import svg
from treille.drawing.svg import Shares

MOST_ARCS, MOST_ITEMS = 160, 2000
MERGED = 4  # parallel arcs without shares that are drawn apart; more are one arc with a list
STATE, LABEL, LOOP, MARGIN, FREE = 38.0, 21.0, 34.0, 14.0, 22.0  # pixels
RADIUS = 13.0
SWEEPS = 8  # of the layout


class Machine(NamedTuple):
    """A machine to be drawn: its arcs with their labels, its states with their texts."""

    start: int
    n_states: int
    sources: np.ndarray
    targets: np.ndarray
    labels: Sequence[str]
    finals: Mapping[int, str]  # the final states, with the text of their weights


class Layers(NamedTuple):
    """A layout: states in even layers, labels of arcs in odd ones; the first items are the states, then the items of each arc."""

    layer: np.ndarray  # of every item
    y: np.ndarray
    chains: list[list[int]]  # the items that an arc passes, from left to right, both ends included
    labels: list[int]  # the item that holds the label of each arc
    forward: list[bool]  # whether an arc leads from left to right


class Arc(NamedTuple):
    """An arc of the picture, or several that are drawn as one."""

    source: int
    target: int
    label: str
    hint: str
    part: int


def draw_machine(machine: Machine, shares: Shares | None = None, alone: bool = False) -> str:
    """A machine; large ones are drawn in part, and the picture says so. A double circle is a final state, a bold one the start."""
    shares = shares or Shares()
    n_arcs = len(machine.sources)
    if machine.n_states == 0:
        return svg.document(0, 8, [], "a machine without states", "no states", alone)
    arcs = _chosen(machine, shares)
    states = np.unique(np.concatenate([machine.sources[arcs], machine.targets[arcs]])).tolist()
    if len(arcs) == n_arcs and machine.n_states <= MOST_ARCS:
        states = list(range(machine.n_states))
    drawn = _merged(machine, arcs, bool(shares))
    first = sorted(states, key=lambda state: state != machine.start)
    body, width, height = _picture(machine, first, drawn, shares)
    title = f"a machine of {machine.n_states:,} states and {n_arcs:,} arcs"
    note = ""
    if len(arcs) < n_arcs or len(states) < machine.n_states:
        where = f", from state {states[0]} to {states[-1]}" if states else ""
        most = ", where contributions are largest" if shares else ""
        note = f"{len(states):,} of {machine.n_states:,} states, {len(arcs):,} of {n_arcs:,} arcs{where}{most}"
    return svg.document(width, height, body, title, note, alone)


def _chosen(machine: Machine, shares: Shares) -> list[int]:
    """Chooses the arcs to draw: all, or neighbours in the order of their sources, from the start or around the largest shares."""
    n = len(machine.sources)
    order, most = np.argsort(machine.sources, kind="stable"), min(MOST_ARCS, n)
    while True:
        sums = np.concatenate([[0.0], np.cumsum(shares.sizes(n)[order])])
        first = int(np.argmax(sums[most:] - sums[: n - most + 1])) if most < n else 0
        arcs = order[first : first + most]
        states, ends = np.unique(np.stack([machine.sources[arcs], machine.targets[arcs]]), return_inverse=True)
        sources, targets = ends.reshape(2, -1)
        if most <= 10 or count_items(len(states), sources, targets) <= MOST_ITEMS:
            return sorted(arcs.tolist())
        most //= 2


def _merged(machine: Machine, arcs: Sequence[int], apart: bool) -> list[Arc]:
    """Arcs between the same states: one after another if they are few, or if each has its share; loops always as one."""
    groups: dict[tuple[int, int], list[int]] = {}
    for a in arcs:
        groups.setdefault((int(machine.sources[a]), int(machine.targets[a])), []).append(a)
    drawn = []
    for (source, target), own in groups.items():
        if len(own) == 1 or (source != target and (apart or len(own) <= MERGED)):
            drawn += [Arc(source, target, svg.clipped(machine.labels[a]), machine.labels[a], a) for a in own]
        else:
            names = [machine.labels[a] for a in own[:40]]
            some = ", ".join(svg.clipped(name, 12) for name in names[:3])
            more = f", … ({len(own)})" if len(own) > 3 else ""
            full = ", ".join(names) + (", …" if len(own) > len(names) else "")
            drawn.append(Arc(source, target, some + more, full, own[0]))
    return drawn


def _picture(
    machine: Machine, states: list[int], drawn: Sequence[Arc], shares: Shares
) -> tuple[list[str], float, float]:
    position = {state: k for k, state in enumerate(states)}
    arcs = [arc for arc in drawn if arc.source != arc.target]
    loops = [arc for arc in drawn if arc.source == arc.target]
    ends = np.array([(position[arc.source], position[arc.target]) for arc in arcs], int).reshape(-1, 2)
    plan = lay_out(len(states), ends[:, 0], ends[:, 1], STATE + LOOP * bool(loops), LABEL)
    widths = np.zeros(len(plan.layer))
    texts = [str(state) for state in states]
    widths[: len(states)] = [2 * max(RADIUS, svg.text_width(text) / 2 + 6) for text in texts]
    widths[plan.labels] = [svg.text_width(arc.label) + 10 for arc in arcs]
    columns = np.zeros(int(plan.layer.max(initial=0)) + 1)
    np.maximum.at(columns, plan.layer, widths)
    for arc in loops:  # as wide as the labels of its loops
        column = plan.layer[position[arc.source]]
        columns[column] = max(columns[column], svg.text_width(arc.label))
    centres = MARGIN + np.cumsum(columns) - columns / 2 + np.arange(len(columns)) * FREE
    x, y = centres[plan.layer], plan.y + MARGIN + LOOP * bool(loops) / 2
    spans = np.append(widths[: len(states)], columns[plan.layer[len(states) :]])  # lines cross columns horizontally
    finals = [_final(machine, state, x[k] + widths[k] / 2, y[k]) for k, state in enumerate(states)]
    body = [_arc(arc, k, plan, x, y, widths, spans, shares) for k, arc in enumerate(arcs)]
    body += [_loop(arc, x[position[arc.source]], y[position[arc.source]], shares) for arc in loops]
    body += [_state(machine, state, x[k], y[k], widths[k]) for k, state in enumerate(states)]
    right = max([float((centres + columns / 2).max()), *(edge for _, edge in finals)])
    bottom = max(float(y.max()) + STATE / 2, float(plan.y.max()) + MARGIN + LABEL)
    return body + [text for text, _ in finals], right + MARGIN, bottom + MARGIN


def _arc(
    arc: Arc, k: int, plan: Layers, x: np.ndarray, y: np.ndarray, widths: np.ndarray, spans: np.ndarray, shares: Shares
) -> str:
    """A smooth line through the layers that the arc passes, its label, and its head."""
    chain, at = plan.chains[k], plan.labels[k]
    path = f"M{svg.number(x[chain[0]] + widths[chain[0]] / 2)} {svg.number(y[chain[0]])}"
    for a, b in pairwise(chain):
        begin, end = x[a] + spans[a] / 2, x[b] - spans[b] / 2
        middle = (begin + end) / 2
        path += "C" + " ".join(map(svg.number, (middle, y[a], middle, y[b], end, y[b])))
        if b == at:  # the line does not run through the label
            path += f"H{svg.number(x[b] - widths[b] / 2)}M{svg.number(x[b] + widths[b] / 2)} {svg.number(y[b])}"
        if b != chain[-1]:
            path += f"H{svg.number(x[b] + spans[b] / 2)}"
    end, side = (chain[-1], -1) if plan.forward[k] else (chain[0], 1)
    line = f'<path d="{path}" fill="none" stroke="currentColor"/>'
    line += svg.arrow(x[end] + side * widths[end] / 2, y[end], -side, 0)
    text = svg.box(x[at], y[at], widths[at], 18) + svg.label(x[at], y[at], arc.label, 12)
    return f"<g{shares.attributes(arc.part)}>{shares.title(arc.part, arc.hint)}{line}{text}</g>"


def _loop(arc: Arc, x: float, y: float, shares: Shares) -> str:
    top = y - RADIUS
    places = (x - 7, top + 2, x - 16, top - 20, x + 16, top - 20, x + 7, top + 2)
    path = "M{} {}C{} {} {} {} {} {}".format(*map(svg.number, places))
    line = f'<path d="{path}" fill="none" stroke="currentColor"/>' + svg.arrow(x + 7, top + 2, -4, 12)
    inside = shares.title(arc.part, arc.hint) + line + svg.label(x, top - 22, arc.label, 12)
    return f"<g{shares.attributes(arc.part)}>{inside}</g>"


def _state(machine: Machine, state: int, x: float, y: float, width: float) -> str:
    line = ' stroke="currentColor"'
    bold = f'{line} stroke-width="2.5"' if state == machine.start else line
    shape = svg.box(x, y, width, 2 * RADIUS, RADIUS, bold)
    if state in machine.finals:
        shape += svg.box(x, y, width - 7, 2 * RADIUS - 7, RADIUS - 3.5, line)
    return shape + svg.label(x, y, str(state), 11)


def _final(machine: Machine, state: int, x: float, y: float) -> tuple[str, float]:
    """The weight of a final state, below it on the right; and where it ends."""
    text = machine.finals.get(state, "")
    if not text:
        return "", 0.0
    return svg.label(x - 6, y + RADIUS + 6, text, 10, "start"), x + svg.text_width(text, 10)


def count_items(n_states: int, sources: np.ndarray, targets: np.ndarray) -> int:
    """The number of items that `lay_out` places: states, and one for every layer that an arc passes."""
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
    for state in order:  # a state without incoming arcs, except the first, goes next to its targets
        if not layer[state] and ahead[state] and state != 0:
            layer[state] = max(layer[ahead[state]].min() - 1, 0)
    return layer


def _finished(after: Sequence[Sequence[int]]) -> list[int]:
    """States in the order in which a depth-first search leaves them: the reverse is topological, up to arcs back."""
    seen, done, stack = set[int](), list[int](), list(range(len(after)))[::-1]
    while stack:
        state = stack.pop()
        if state < 0:  # all its successors are finished
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
        crossings = _crossings(between, place)
        if crossings < fewest:
            best, fewest = orders.copy(), crossings
    return best


def _sweep(between: Sequence[np.ndarray], number: int) -> Iterator[tuple[int, np.ndarray]]:
    """The layers of a sweep, to the right and to the left in turn, each with the links from the layer before it."""
    last = len(between) - 1
    if number % 2 == 0:
        yield from ((k, between[k - 1]) for k in range(1, last + 1))
    else:
        yield from ((k, between[k][:, ::-1]) for k in range(last - 1, -1, -1))


def _means(order: np.ndarray, pairs: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The mean of the values of the items linked to each item of a layer; the item's own value if it has no links."""
    count = np.bincount(pairs[:, 1], minlength=len(values))
    mean = np.bincount(pairs[:, 1], values[pairs[:, 0]], minlength=len(values)) / np.maximum(count, 1)
    return np.where(count[order] > 0, mean[order], values[order])


def _crossings(between: Sequence[np.ndarray], place: np.ndarray) -> int:
    """The number of pairs of links that cross: they are in one order on the left, and in the other on the right."""
    ends = [place[pairs].T for pairs in between if len(pairs) <= 400]
    return sum(int(((a[:, None] < a) & (b[:, None] > b)).sum()) for a, b in ends)


def _heights(between: Sequence[np.ndarray], orders: list[np.ndarray], heights: np.ndarray) -> np.ndarray:
    """The y of every item: the least-squares fit to the mean of its neighbours, given order and heights."""
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
    """The closest non-decreasing values in the least-squares sense, by pooling adjacent violators.

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
