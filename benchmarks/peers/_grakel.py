"""Graphs as GraKeL reads them, and pairs of kernels of both programs with the same definition."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treille import Graphs
from treille.data import Graph
from treille.kernels import Graphlets, Kernel, RandomWalk, ShortestPath, WeisfeilerLehman

DECAY = 0.01  # below 1 / the square of the spectral radius of every graph of the sets
REPORTED = 1e-300


@dataclass(frozen=True)
class Pair:
    """A kernel of treille, and a kernel of GraKeL with the same definition."""

    name: str
    ours: Kernel
    theirs: Callable[[], Any]
    matrices: bool  # whether GraKeL reads adjacency matrices, or edges
    note: str = ""

    def our_matrix(self, graphs: Sequence[Graph]) -> np.ndarray:
        return self.ours(Graphs(graphs))

    def their_matrix(self, graphs: Sequence[Any]) -> np.ndarray:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(self.theirs().fit_transform(graphs), np.float64)

    def given(self, graphs: Sequence[Graph]) -> list[Any]:
        """The graphs for GraKeL."""
        return [(_matrix if self.matrices else _edges)(graph) for graph in graphs]


def _edges(graph: Graph) -> list[Any]:
    both = {arc: 1.0 for u, v in graph.edges for arc in ((u, v), (v, u))}
    return [both, dict(enumerate(graph.nodes))]


def _matrix(graph: Graph) -> list[Any]:
    A = np.zeros((graph.n_nodes, graph.n_nodes))
    for u, v in graph.edges:
        A[u, v] = A[v, u] = 1.0
    return [A, dict(enumerate(graph.nodes))]


def pairs() -> dict[str, Pair]:
    """The kernels that both programs compute."""
    import grakel

    class Mended(grakel.RandomWalk):  # type: ignore[misc]
        """Its exponential series returns a matrix of one value, which numpy 2 refuses as a number."""

        def pairwise_operation(self, X: Any, Y: Any) -> float:
            return float(np.ravel(super().pairwise_operation(X, Y))[0])

    def walk(cls: Any, **options: Any) -> Callable[[], Any]:
        return lambda: cls(lamda=DECAY, **options)

    geometric = {"decay": DECAY, "series": "geometric", "start": "all"}
    labelled, plain = grakel.kernels.RandomWalkLabeled, grakel.RandomWalk
    found = [
        Pair(
            "labelled random walks, geometric",
            RandomWalk(**geometric, labels="nodes"),
            walk(labelled, method_type="fast"),
            True,
        ),
        Pair(
            "labelled random walks, geometric, baseline",
            RandomWalk(**geometric, labels="nodes"),
            walk(labelled, method_type="baseline"),
            True,
        ),
        Pair(
            "labelled random walks, exponential",
            RandomWalk(DECAY, start="all", labels="nodes"),
            walk(labelled, kernel_type="exponential", method_type="baseline"),
            True,
        ),
        Pair("random walks, geometric", RandomWalk(**geometric, labels="none"), walk(plain), True),
        Pair(
            "random walks, exponential",
            RandomWalk(DECAY, start="all", labels="none"),
            walk(Mended, kernel_type="exponential"),
            True,
        ),
        Pair(
            "random walks, exponential, baseline",
            RandomWalk(DECAY, start="all", labels="none"),
            walk(plain, kernel_type="exponential", method_type="baseline"),
            True,
        ),
        Pair(
            "Weisfeiler-Lehman, h = 5",
            WeisfeilerLehman(5, labels="nodes"),
            lambda: grakel.WeisfeilerLehman(n_iter=5, base_graph_kernel=grakel.VertexHistogram),
            False,
        ),
        Pair("shortest paths", ShortestPath(labels="nodes"), grakel.ShortestPath, False),
        Pair("graphlets of 3 nodes", Graphlets(3), lambda: grakel.GraphletSampling(k=3), True),
        Pair("graphlets of 4 nodes", Graphlets(4), lambda: grakel.GraphletSampling(k=4), True),
    ]
    return {pair.name: pair for pair in found}


def molecules() -> list[Graph]:
    """The molecules of the page From GraKeL: ethanol, dimethyl ether, acetic acid and cyclopropanol."""
    return [
        Graph(list("CCO"), [(0, 1), (1, 2)]),
        Graph(list("COC"), [(0, 1), (1, 2)]),
        Graph(list("CCOO"), [(0, 1), (1, 2), (1, 3)]),
        Graph(list("CCCO"), [(0, 1), (1, 2), (2, 0), (0, 3)]),
    ]


def difference(K: np.ndarray, other: np.ndarray) -> float:
    """The largest relative difference of two matrices."""
    return float((np.abs(K - other) / np.maximum(np.abs(K), REPORTED)).max())


def least_eigenvalue(K: np.ndarray) -> float:
    """The smallest eigenvalue of the symmetric part, relative to the largest."""
    values = np.linalg.eigvalsh((K + K.T) / 2)
    return float(values[0] / values[-1])
