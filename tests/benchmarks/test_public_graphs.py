"""Public sets of graphs, skipped where they are missing."""

import json
from collections import Counter

import pytest
from test_public_sets import fill, folder, need

from public_sets import graphs

__all__ = ["folder"]


@pytest.mark.parametrize(
    ("name", "classes", "nodes", "edges", "labels"),
    [
        ("MUTAG", {1: 125, -1: 63}, 17.93, 19.79, 7),
        ("PTC_MR", {-1: 192, 1: 152}, 14.29, 14.69, 18),
        ("ENZYMES", dict.fromkeys(range(1, 7), 100), 32.63, 62.14, 3),
        ("PROTEINS", {1: 663, 2: 450}, 39.06, 72.82, 3),
        ("NCI1", {1: 2057, 0: 2053}, 29.87, 32.30, 37),
    ],
)
def test_graphs_have_the_published_counts(name, classes, nodes, edges, labels):
    need("graphs")
    batch, y = graphs(name)
    assert Counter(y) == classes
    assert len(batch.labels) / len(batch) == pytest.approx(nodes, abs=0.006)
    assert batch.n_edges.mean() == pytest.approx(edges, abs=0.006)
    assert len(batch.alphabet) == labels


def test_atoms_and_bonds_have_their_names_and_other_labels_are_numbers(folder):
    lines = [{"y": 1, "nodes": [0, 1], "edges": [[0, 1]], "edge_labels": [2]}, {"y": -1, "nodes": [], "edges": []}]
    for name in ("MUTAG", "OTHER"):
        fill(folder, f"graphs/{name}.jsonl.gz", "\n".join(map(json.dumps, lines)))
    batch, y = graphs("MUTAG")
    assert ([str(graph) for graph in batch], y) == (["2 nodes C N, 1 edge 0-1:double", "0 nodes, 0 edges"], [1, -1])
    assert str(graphs("OTHER")[0][0]) == "2 nodes 0 1, 1 edge 0-1:2"


def test_attributes_of_nodes_are_read(folder):
    fill(folder, "graphs/X.jsonl.gz", json.dumps({"y": 0, "nodes": [0, 1], "edges": [], "node_attr": [[0.5], [1.5]]}))
    assert graphs("X")[0].attributes.tolist() == [[0.5], [1.5]]
