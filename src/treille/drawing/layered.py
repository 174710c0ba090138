"""Pictures of weighted automata and lattices, from left to right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from treille.drawing import layers, svg
from treille.drawing.layers import Layers
from treille.drawing.svg import Shares

MOST_ARCS, MOST_ITEMS = 160, 2000
MERGED = 4  # parallel arcs without shares that are drawn apart; more are one arc with a list
STATE, LABEL, LOOP, MARGIN, FREE = 38.0, 21.0, 34.0, 14.0, 22.0  # pixels
RADIUS = 13.0


@dataclass(frozen=True)
class Machine:
    """What is drawn of a machine: its arcs with their labels, its states with their texts."""

    start: int
    n_states: int
    sources: np.ndarray
    targets: np.ndarray
    labels: Sequence[str]
    finals: Mapping[int, str]  # the final states, with the text of their weights


@dataclass(frozen=True)
class Arc:
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
    """The arcs that are drawn: all, or neighbours in the order of their sources, from the start or around the largest shares."""
    n = len(machine.sources)
    order, most = np.argsort(machine.sources, kind="stable"), min(MOST_ARCS, n)
    while True:
        sums = np.concatenate([[0.0], np.cumsum(shares.sizes(n)[order])])
        first = int(np.argmax(sums[most:] - sums[: n - most + 1])) if most < n else 0
        arcs = order[first : first + most]
        states, ends = np.unique(np.stack([machine.sources[arcs], machine.targets[arcs]]), return_inverse=True)
        sources, targets = ends.reshape(2, -1)
        if most <= 10 or layers.count_items(len(states), sources, targets) <= MOST_ITEMS:
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
    plan = layers.lay_out(len(states), ends[:, 0], ends[:, 1], STATE + LOOP * bool(loops), LABEL)
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
