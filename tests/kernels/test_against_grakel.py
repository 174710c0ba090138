"""Values of graph kernels against those of GraKeL, on random graphs and on MUTAG."""

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from graph_twins import random_graphs

from treille.data import Graph
from treille.kernels import EdgeHistogram, ShortestPath, VertexHistogram, WeisfeilerLehman

grakel = pytest.importorskip("grakel")


def mutag():
    file = Path(os.environ.get("TREILLE_DATA", "data")) / "graphs" / "MUTAG.jsonl.gz"
    if not file.exists():
        pytest.skip("MUTAG is not here")
    with gzip.open(file, "rt") as lines:
        rows = list(map(json.loads, lines))
    return [Graph(row["nodes"], row["edges"], row.get("edge_labels")) for row in rows]


def random():
    """GraKeL drops isolated nodes: graphs without them."""
    graphs = map(without_loops, random_graphs(80, n=10))
    return [graph for graph in graphs if graph.edges and len(set(sum(graph.edges, ()))) == graph.n_nodes]


def without_loops(graph):
    kept = [place for place, (u, v) in enumerate(graph.edges) if u != v]
    return graph._replace(edges=[graph.edges[e] for e in kept], edge_labels=[graph.edge_labels[e] for e in kept])


def theirs(graph):
    labelled = zip(graph.edges, graph.edge_labels, strict=True)
    both = {edge: label for (u, v), label in labelled for edge in ((u, v), (v, u))}
    return grakel.Graph(dict.fromkeys(both, 1), dict(enumerate(graph.nodes)), both)


def refining(h, base, **options):
    return lambda: grakel.WeisfeilerLehman(n_iter=h, base_graph_kernel=(base, options))


PATHS = {"algorithm_type": "floyd_warshall"}  # its other algorithm fails for graphs that are not connected
KERNELS = {
    "WL": (WeisfeilerLehman(3, labels="nodes"), refining(3, grakel.VertexHistogram)),
    "WL of paths": (WeisfeilerLehman(2, ShortestPath(), "nodes"), refining(2, grakel.ShortestPath, **PATHS)),
    "paths": (ShortestPath(), lambda: grakel.ShortestPath(**PATHS)),
    "lengths of paths": (ShortestPath("none"), lambda: grakel.ShortestPath(with_labels=False, **PATHS)),
    "nodes": (VertexHistogram(), lambda: grakel.VertexHistogram()),
    "edges": (
        4 * EdgeHistogram(),
        lambda: grakel.EdgeHistogram(),
    ),  # there an edge is given in both directions, and counts twice
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("graphs", [random, mutag])
def test_values_are_those_of_grakel(name, graphs):
    kernel, make = KERNELS[name]
    examples = graphs()
    half = len(examples) // 2
    other = make()
    K = other.fit_transform([theirs(graph) for graph in examples[:half]])
    assert np.allclose(kernel(examples[:half]), K, rtol=1e-9)
    K = other.transform([theirs(graph) for graph in examples[half:]])
    assert np.allclose(kernel(examples[half:], examples[:half]), K, rtol=1e-9)
