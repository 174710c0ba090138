"""Places of the nodes of a connected graph: least stress by stochastic gradient descent, Zheng, Pawar and Goodman (2018)."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

PASSES, MORE = 20, 80  # over large and over small graphs


def distances(n: int, edges: Sequence[tuple[int, int]]) -> np.ndarray:
    """The number of edges between each two nodes; infinite in different components.

    >>> distances(3, [(0, 1)]).tolist()
    [[0.0, 1.0, inf], [1.0, 0.0, inf], [inf, inf, 0.0]]
    """
    u, v = np.array(edges, int).reshape(-1, 2).T
    links = csr_array((np.ones(len(u)), (u, v)), (n, n))
    return shortest_path(links, directed=False, unweighted=True)


def lay_out(d: np.ndarray) -> np.ndarray:
    """Places in the plane whose distances are close to d > 0: min sum_ij (|x_i - x_j| - d_ij)^2 / d_ij^2. Deterministic.

    Every pass moves each pair of nodes towards its distance, with steps that become smaller; the n / 2 pairs of a round of a
    tournament have no node in common, and are moved at once. O(n^2) per pass, and it ends far from bad local minima.

    >>> places = lay_out(distances(3, [(0, 1), (1, 2)]))
    >>> bool(abs(np.hypot(*(places[0] - places[2])) - 2) < 0.05)
    True
    """
    if len(d) == 1:
        return np.zeros((1, 2))
    n, random = len(d), np.random.default_rng(0)
    even = n + n % 2  # with one that has nobody to meet
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
    return _turned(places[:n])


def _turned(x: np.ndarray) -> np.ndarray:
    """The same places with the longest direction horizontal, since screens are wide."""
    x = x - x.mean(axis=0)
    angle = 0.5 * np.arctan2(2 * (x[:, 0] * x[:, 1]).sum(), (x[:, 0] ** 2).sum() - (x[:, 1] ** 2).sum())
    c, s = np.cos(angle), np.sin(angle)
    return np.column_stack([c * x[:, 0] + s * x[:, 1], c * x[:, 1] - s * x[:, 0]])
