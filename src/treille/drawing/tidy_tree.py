"""Pictures of rooted, ordered trees: the tidy layout of Reingold and Tilford (1981), with nodes as wide as their labels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from treille.drawing import svg
from treille.drawing.svg import Shares

MOST_NODES, MOST_LEVELS = 160, 40
ROW, HEIGHT, GAP, MARGIN = 46.0, 22.0, 10.0, 12.0  # pixels: of levels and boxes; between neighbours; around all


class Layout(NamedTuple):
    """The nodes that are drawn, in preorder: their places, texts, and the number of hidden nodes below each."""

    nodes: list[int]
    parents: list[int]  # positions in `nodes`, -1 for the root
    x: np.ndarray
    levels: np.ndarray
    widths: np.ndarray
    texts: list[str]


def draw_tree(labels: Sequence[str], parents: Sequence[int], shares: Shares | None = None, alone: bool = False) -> str:
    """A tree with nodes in preorder, the parent of the root is -1. Large trees are drawn in part, and the picture says so."""
    shares = shares or Shares()
    if not len(labels):
        return svg.document(0, 8, [], "an empty tree", "an empty tree", alone)
    plan = lay_out(labels, parents, shares.sizes(len(labels)))
    x, y = plan.x + MARGIN, plan.levels * ROW + HEIGHT / 2 + MARGIN
    lines, boxes = [], []
    for k, (node, parent) in enumerate(zip(plan.nodes, plan.parents, strict=True)):
        if parent >= 0:
            top, bottom, middle = y[parent] + HEIGHT / 2, y[k] - HEIGHT / 2, (y[parent] + y[k]) / 2
            bend = [svg.number(v) for v in (x[parent], top, x[parent], middle, x[k], middle, x[k], bottom)]
            lines.append("M{} {}C{} {} {} {} {} {}".format(*bend))
        shape = svg.box(x[k], y[k], plan.widths[k], HEIGHT)
        inside = shares.title(node, str(labels[node])) + shape + svg.label(x[k], y[k], plan.texts[k])
        boxes.append(f"<g{shares.attributes(node)}>{inside}</g>")
    edges = f'<path d="{"".join(lines)}" fill="none" stroke="currentColor" opacity="0.5"/>' if lines else ""
    size = (float((x + plan.widths / 2).max()) + MARGIN, float(y.max()) + HEIGHT / 2 + MARGIN)
    n, left_out = len(labels), len(labels) - len(plan.nodes)
    which = "those with the largest contributions" if shares else "the upper ones"
    note = f"{len(plan.nodes):,} of {n:,} nodes, {which}; +n: n more below" if left_out else ""
    return svg.document(*size, [edges, *boxes], f"a tree of {n:,} nodes", note, alone)


def lay_out(labels: Sequence[str], parents: Sequence[int], sizes: np.ndarray) -> Layout:
    """Places the nodes that are drawn: parents above the middle of their children; no two nodes of a level overlap.

    Every subtree is laid out by itself; then it is moved to the right of its siblings, as close as their outlines allow.
    O(nodes * levels).

    >>> plan = lay_out(["S", "NP", "VP"], [-1, 0, 0], np.zeros(3))
    >>> plan.levels.tolist(), bool(plan.x[1] < plan.x[0] < plan.x[2])
    ([0, 1, 1], True)
    """
    nodes, depths = chosen_nodes(parents, sizes)
    position = {node: k for k, node in enumerate(nodes)}
    above = [position.get(parents[node], -1) for node in nodes]
    hidden = _hidden(parents, nodes)
    texts = [
        svg.clipped(str(labels[node])) + f" +{more:,}" * (more > 0) for node, more in zip(nodes, hidden, strict=True)
    ]
    widths = np.array([max(svg.text_width(text) + 12, HEIGHT) for text in texts])
    children: list[list[int]] = [[] for _ in nodes]
    for k, parent in enumerate(above):
        if parent >= 0:
            children[parent].append(k)
    shift = np.zeros(len(nodes))  # of a subtree, against its parent
    outlines: list[tuple[list[float], list[float]]] = [([], []) for _ in nodes]  # left and right, by level
    for k in range(len(nodes) - 1, -1, -1):
        left, right, places = list[float](), list[float](), list[float]()
        for child in children[k]:
            own_left, own_right = outlines[child]
            at = max((r - l + GAP for r, l in zip(right, own_left, strict=False)), default=0.0)
            places.append(at)
            left += [at + v for v in own_left[len(left) :]]
            right = [at + v for v in own_right] + right[len(own_right) :]
            outlines[child] = ([], [])
        middle = (places[0] + places[-1]) / 2 if places else 0.0
        shift[children[k]] = [at - middle for at in places]
        half = widths[k] / 2
        outlines[k] = ([-half, *(v - middle for v in left)], [half, *(v - middle for v in right)])
    x = shift
    for k, parent in enumerate(above):
        if parent >= 0:
            x[k] += x[parent]
    return Layout(nodes, above, x - (x - widths / 2).min(), depths[nodes], widths, texts)


def chosen_nodes(parents: Sequence[int], sizes: np.ndarray) -> tuple[list[int], np.ndarray]:
    """The nodes to draw (all, or the heaviest and the upper ones with their ancestors), and the depth of every node."""
    n, depths = len(parents), np.zeros(len(parents), int)
    for node, parent in enumerate(parents):
        if parent >= 0:
            depths[node] = depths[parent] + 1
    if n <= MOST_NODES and depths.max() < MOST_LEVELS:
        return list(range(n)), depths
    kept: set[int] = {0}
    for node in np.lexsort((np.arange(n), depths, -sizes)).tolist():
        if depths[node] >= MOST_LEVELS:
            continue
        path = []
        while node not in kept:
            path.append(node)
            node = parents[node]
        if len(kept) + len(path) > MOST_NODES:
            if len(kept) > MOST_NODES * 3 // 4:
                break
            continue
        kept.update(path)
    return sorted(kept), depths


def _hidden(parents: Sequence[int], nodes: list[int]) -> list[int]:
    """The number of hidden nodes below each drawn node. A hidden node counts for its lowest drawn ancestor."""
    hidden = [0] * len(nodes)
    if len(nodes) == len(parents):
        return hidden
    position = {node: k for k, node in enumerate(nodes)}
    owner = [0] * len(parents)
    for node, parent in enumerate(parents):
        owner[node] = position[node] if node in position else owner[parent]
        hidden[owner[node]] += node not in position
    return hidden
