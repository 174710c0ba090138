"""Pictures of graphs: components one after another, the nodes of each placed by least stress."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from treille.drawing import svg
from treille.drawing.svg import Shares

MOST_NODES, MOST_EDGES, PUSHES = 100, 400, 100
PASSES, MORE = 20, 80  # of the descent to least stress, over large and over small graphs
HEIGHT, EDGE, GAP, MARGIN, LOOP, WIDEST = 24.0, 62.0, 8.0, 16.0, 22.0, 900.0  # pixels


class Graph(NamedTuple):
    """What is drawn of a graph; labels may be empty."""

    labels: Sequence[str]  # one per node
    edges: Sequence[tuple[int, int]]
    edge_labels: Sequence[str]
    directed: bool


def draw_graph(graph: Graph, shares: Shares | None = None, alone: bool = False) -> str:
    """A graph; its parts are the nodes, then the edges. Of a large one, a neighbourhood is drawn, and the picture says so."""
    shares, n, m = shares or Shares(), len(graph.labels), len(graph.edges)
    if n == 0:
        return svg.document(0, 8, [], "a graph without nodes", "no nodes", alone)
    sizes = shares.sizes(n + m)
    nodes = _chosen(graph, sizes)
    position = {node: k for k, node in enumerate(nodes)}
    inside = [e for e, (u, v) in enumerate(graph.edges) if u in position and v in position]
    drawn = sorted(sorted(inside, key=lambda e: -sizes[n + e])[:MOST_EDGES])
    ends = [(position[graph.edges[e][0]], position[graph.edges[e][1]]) for e in drawn]
    texts = [svg.clipped(str(graph.labels[node]), 14) for node in nodes]
    widths = np.array([max(svg.text_width(text) + 12, HEIGHT) for text in texts])
    names = [svg.clipped(str(graph.edge_labels[e]), 14) if len(graph.edge_labels) else "" for e in drawn]
    places, size = lay_out(widths, ends, max((svg.text_width(name, 11) for name in names), default=0.0))
    both = set(ends) if graph.directed else set()
    body = [
        _edge(graph, e, name, places[[u, v]], widths[[u, v]], (v, u) in both, shares)
        for e, name, (u, v) in zip(drawn, names, ends, strict=True)
    ]
    body += [_node(graph, node, places[k], widths[k], texts[k], shares) for k, node in enumerate(nodes)]
    note = ""
    if len(nodes) < n or len(drawn) < m:
        around = "around the largest contribution" if shares else "around the node with the most edges"
        note = f"{len(nodes):,} of {n:,} nodes, {len(drawn):,} of {m:,} edges, {around}"
    return svg.document(*size, body, f"a graph of {n:,} nodes and {m:,} edges", note, alone)


def lay_out(
    widths: np.ndarray, edges: Sequence[tuple[int, int]], named: float = 0.0
) -> tuple[np.ndarray, tuple[float, float]]:
    """The centres of nodes, and the size of the picture. No two nodes overlap. `named` is the width of the widest label of an edge.

    >>> places, size = lay_out(np.full(3, 24.0), [(0, 1)])
    >>> bool(((places > 0) & (places < size)).all())
    True
    """
    apart = distances(len(widths), edges)
    places, seen, x, y, lowest, widest = np.zeros((len(widths), 2)), set[int](), MARGIN, MARGIN, 0.0, 0.0
    for node in range(len(widths)):
        if node in seen:
            continue
        own = np.flatnonzero(np.isfinite(apart[node]))
        seen.update(own.tolist())
        found = _separated(least_stress(apart[np.ix_(own, own)]) * (EDGE + named), widths[own])
        half = np.column_stack([widths[own] / 2, np.full(len(own), HEIGHT / 2)])
        corner, end = (found - half).min(axis=0), (found + half).max(axis=0)
        width, height = end - corner
        if x > MARGIN and x + width > WIDEST:
            x, y, lowest = MARGIN, y + lowest + 2 * GAP, 0.0
        places[own] = found - corner + (x, y)
        x, lowest, widest = x + width + 2 * GAP, max(lowest, float(height)), max(widest, x + float(width))
    above = LOOP * any(u == v for u, v in edges)  # loops are drawn above their nodes
    places[:, 1] += above
    return places, (widest + MARGIN, y + lowest + MARGIN + above)


def distances(n: int, edges: Sequence[tuple[int, int]]) -> np.ndarray:
    """The number of edges between each two nodes; infinite in different components.

    >>> distances(3, [(0, 1)]).tolist()
    [[0.0, 1.0, inf], [1.0, 0.0, inf], [inf, inf, 0.0]]
    """
    u, v = np.array(edges, int).reshape(-1, 2).T
    links = csr_array((np.ones(len(u)), (u, v)), (n, n))
    return shortest_path(links, directed=False, unweighted=True)


def least_stress(d: np.ndarray) -> np.ndarray:
    """Places in the plane whose distances are close to d > 0: min sum_ij (|x_i - x_j| - d_ij)^2 / d_ij^2. Deterministic.

    Stochastic gradient descent: Zheng, Pawar and Goodman (2018). Every pass moves each pair of nodes towards its distance, with
    steps that become smaller; the n / 2 pairs of a round of a tournament have no node in common, and are moved at once. O(n^2) per
    pass, and it ends far from bad local minima.

    >>> places = least_stress(distances(3, [(0, 1), (1, 2)]))
    >>> bool(abs(np.hypot(*(places[0] - places[2])) - 2) < 0.05)
    True
    """
    if len(d) == 1:
        return np.zeros((1, 2))
    n, random = len(d), np.random.default_rng(0)
    even = n + n % 2  # an odd number gets a partner for the node left over
    places = random.random((even, 2)) * d.max()
    turns = 1 + (np.arange(even - 1) + np.arange(even - 1)[:, None]) % (even - 1)
    table = np.column_stack([np.zeros(even - 1, int), turns])  # a row per round: the first meets the last, and so on
    for step in np.geomspace(max(float(d.max()), 1.0) ** 2, 0.05, int(np.clip(800 / n, PASSES, MORE))):
        for row in random.permutation(even)[table]:
            a, b = row[: even // 2], row[: even // 2 - 1 : -1]
            if even > n:
                met = (a < n) & (b < n)
                a, b = a[met], b[met]
            apart, wanted = places[a] - places[b], d[a, b]
            length = np.maximum(np.sqrt((apart * apart).sum(axis=1)), 1e-9)
            move = (np.minimum(step / wanted**2, 1.0) * (length - wanted) / length / 2)[:, None] * apart
            places[a] -= move
            places[b] += move
    x = places[:n] - places[:n].mean(axis=0)
    angle = 0.5 * np.arctan2(2 * (x[:, 0] * x[:, 1]).sum(), (x[:, 0] ** 2).sum() - (x[:, 1] ** 2).sum())
    c, s = np.cos(angle), np.sin(angle)  # turned so that the longest direction is horizontal, since screens are wide
    return np.column_stack([c * x[:, 0] + s * x[:, 1], c * x[:, 1] - s * x[:, 0]])


def _separated(places: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Moves nodes until none overlap: scales all places by up to 2.5, so that few overlap, pushes these apart, and moves those that
    still overlap downwards."""
    wide, tall = (widths[:, None] + widths) / 2 + GAP, HEIGHT + GAP
    with np.errstate(divide="ignore"):
        dx, dy = np.abs(places[:, None] - places).transpose(2, 0, 1)
        needed = np.minimum(wide / dx, tall / dy)
    np.fill_diagonal(needed, 0.0)
    places = places * np.clip(np.quantile(needed.max(axis=1), 0.8), 1.0, 2.5)
    earlier = np.where(np.arange(len(widths))[:, None] < np.arange(len(widths)), -1.0, 1.0)
    for _ in range(PUSHES):
        apart = places[:, None] - places[None]
        over = np.stack([wide, np.full_like(wide, tall)], axis=2) - np.abs(apart)
        both = (over > 0).all(axis=2) & ~np.eye(len(widths), dtype=bool)
        if not both.any():
            return places
        sideways = over[:, :, 0] < over[:, :, 1]
        sign = np.where(apart == 0, earlier[:, :, None], np.sign(apart))
        push = np.where(both[:, :, None] & np.stack([sideways, ~sideways], axis=2), (over + 0.5) * sign, 0.0)
        places = places + push.sum(axis=1) / np.maximum(both.sum(axis=1), 1)[:, None] / 2
    order = np.lexsort((places[:, 0], places[:, 1]))
    for k, node in enumerate(order):
        above = order[:k]
        near = above[np.abs(places[above, 0] - places[node, 0]) < wide[node, above]]
        for other in near[np.argsort(places[near, 1], kind="stable")]:
            if places[node, 1] - places[other, 1] < tall:
                places[node, 1] = places[other, 1] + tall
    return places


def _chosen(graph: Graph, sizes: np.ndarray) -> list[int]:
    """The nodes that are drawn: all, or those closest to the one with the largest contribution, or with the most edges."""
    n = len(graph.labels)
    if n <= MOST_NODES:
        return list(range(n))
    near: list[list[int]] = [[] for _ in range(n)]
    weight = sizes[:n].copy()
    for e, (u, v) in enumerate(graph.edges):
        near[u].append(v)
        near[v].append(u)
        weight[u] += sizes[n + e]
        weight[v] += sizes[n + e]
    degrees = np.array(list(map(len, near)))
    kept: dict[int, None] = {}
    for first in np.lexsort((-degrees, -weight)).tolist():
        queue = [first]
        for node in queue:
            if node in kept:
                continue
            kept[node] = None
            if len(kept) == MOST_NODES:
                return sorted(kept)
            queue += near[node]
    return sorted(kept)


def _node(graph: Graph, node: int, place: np.ndarray, width: float, text: str, shares: Shares) -> str:
    x, y = place
    name = f"{node} {graph.labels[node]}".rstrip()
    shape = svg.box(x, y, width, HEIGHT, HEIGHT / 2, ' stroke="currentColor"')
    return f"<g{shares.attributes(node)}>{shares.title(node, name)}{shape}{svg.label(x, y, text, 12)}</g>"


def _edge(graph: Graph, e: int, text: str, places: np.ndarray, widths: np.ndarray, bent: bool, shares: Shares) -> str:
    """A line from border to border, bent where another leads back; its label, where the line has a gap; its head."""
    (u, v), (a, b), part = graph.edges[e], places, len(graph.labels) + e
    width = svg.text_width(text, 11) + 6 if text else 0.0
    if u == v:
        x, y = a[0], a[1] - HEIGHT / 2
        path = f"M{svg.number(x - 6)} {svg.number(y + 1)}c-10 -22 22 -22 12 0"
        at, head = np.array([x, y - 24]), svg.arrow(x + 6, y + 1, -3, 10)
    else:
        across = np.array([a[1] - b[1], b[0] - a[0]]) / (np.hypot(*(b - a)) or 1.0)
        middle = (a + b) / 2 + across * (16 if bent else 0)
        begin, end = _border(a, middle, widths[0]), _border(b, middle, widths[1])
        at, along = (begin + 2 * middle + end) / 4, np.abs(b - a) + 1e-9
        gap = min(width / along[0], 16 / along[1]) / 2 * float(np.hypot(*along)) if text else 0.0
        half = min(gap / (float(np.hypot(*(end - begin))) or 1.0), 0.45)
        pieces = ((0.0, 0.5 - half), (0.5 + half, 1.0)) if text else ((0.0, 1.0),)
        path, head = "".join(_curve(begin, middle, end, *piece) for piece in pieces), svg.arrow(*end, *(end - middle))
    line = f'<path d="{path}" fill="none" stroke="currentColor"/>{head if graph.directed else ""}'
    if text:
        line += svg.box(at[0], at[1], width, 14, 4) + svg.label(at[0], at[1], text, 11)
    name = f"{u} {'>' if graph.directed else '-'} {v} {graph.edge_labels[e] if len(graph.edge_labels) else ''}"
    return f"<g{shares.attributes(part)}>{shares.title(part, name.rstrip())}{line}</g>"


def _curve(a: np.ndarray, b: np.ndarray, c: np.ndarray, start: float, stop: float) -> str:
    """A part of a quadratic curve."""

    def point(s: float, t: float) -> np.ndarray:  # the polar form
        return (1 - s) * (1 - t) * a + (s * (1 - t) + t * (1 - s)) * b + s * t * c

    first, *others = (" ".join(map(svg.number, point(s, t))) for s, t in ((start, start), (start, stop), (stop, stop)))
    return f"M{first}Q{' '.join(others)}"


def _border(centre: np.ndarray, towards: np.ndarray, width: float) -> np.ndarray:
    """Where the line from the centre of a node leaves it: a box with round ends."""
    step = towards - centre
    norm = float(np.hypot(*step)) or 1.0
    inner, radius = max(width / 2 - HEIGHT / 2, 0.0), HEIGHT / 2
    # The distance at which the line crosses the straight sides, or else the circle at the end.
    flat = radius * norm / abs(step[1]) if step[1] else np.inf
    if flat * abs(step[0]) / norm <= inner:
        return np.asarray(centre + step / norm * flat)
    c, s = abs(step[0]) / norm, abs(step[1]) / norm
    return np.asarray(centre + step / norm * (inner * c + np.sqrt(max(radius**2 - (inner * s) ** 2, 0.0))))
