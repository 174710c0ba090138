"""Graphs on the command line: every command reads their files."""

import json

import numpy as np
import pytest

RING = [[0, 1], [1, 2], [2, 3], [3, 0]]
GRAPHS = [
    {"y": label, "nodes": [a, "C", "O", "C"], "edges": edges, "id": f"{label}{a}"}
    for label, edges in (("ring", RING), ("chain", RING[:3]))
    for a in ("C", "O", "N")
]


@pytest.fixture
def graphs(tmp_path):
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(graph) + "\n" for graph in GRAPHS))
    return "train.jsonl"


@pytest.fixture
def model(cli, graphs):
    answer = cli("train", graphs, "--model", "g.treille")
    assert answer.code == 0, answer.err
    assert "train.jsonl: 6 examples, JSON lines of graphs (guessed from its content), 24 nodes, label = y" in answer.err
    return "g.treille"


def test_a_model_predicts_and_is_evaluated_and_inspected(cli, graphs, model):
    assert cli("predict", model, graphs).out.split() == [x for g in GRAPHS for x in (g["id"], g["y"])]
    assert cli("evaluate", model, graphs).out.startswith("accuracy 1.0000")
    assert "weisfeilerlehman" in cli("inspect", model).out
    new = json.dumps({"nodes": ["Zn", "C", "O", "C"], "edges": RING}).encode()
    assert cli("predict", model, "-", stdin=new).out in ("ring\n", "chain\n")
    wrong = json.dumps({"nodes": ["C"], "edges": [[0, 1]]}).encode()
    answer = cli("predict", model, "-", stdin=wrong)
    assert answer.code == 1
    assert "standard input, line 1, edge 0: joins the nodes 0 and 1, but the graph has 1 node, counted" in answer.err


def test_inspect_shows_sizes_labels_and_first_graphs(cli, graphs):
    out = cli("inspect", graphs).out
    assert "classes:  chain (3, 50.0%), ring (3, 50.0%)" in out
    assert "nodes:    4 to 4, median 4, 24 in all" in out
    assert "edges:    3 to 4, median 4, 21 in all, undirected" in out
    assert "labels:   3 of nodes: C, N, O" in out
    assert "  ring  4 nodes C C O C, 4 edges 0-1 0-3 1-2 2-3" in out
    value = cli("inspect", graphs, "--json").json()
    assert (value["format"], value["nodes"], value["edges"], value["labels"]) == ("graphs", 24, 21, 3)


def test_features_and_matrices_of_graphs_are_written(cli, graphs):
    assert cli("features", graphs, "--json").code == 0
    assert cli("gram", graphs, "--output", "g.npy").code == 0
    K = np.load("g.npy")
    assert K.shape == (6, 6)
    assert np.allclose(np.diag(K), 2)  # twice a normalised kernel


def test_graphs_in_folders_are_labelled_by_these(cli, tmp_path):
    for i, graph in enumerate(GRAPHS):
        nodes = "".join(f'node [ id {v} label "{name}" ]\n' for v, name in enumerate(graph["nodes"]))
        edges = "".join(f"edge [ source {u} target {v} ]\n" for u, v in graph["edges"])
        (tmp_path / "gml" / graph["y"]).mkdir(parents=True, exist_ok=True)
        (tmp_path / "gml" / graph["y"] / f"{i}.gml").write_text(f"graph [\n{nodes}{edges}]\n")
    answer = cli("train", "gml", "--model", "g.treille")
    assert answer.code == 0, answer.err
    assert "2 classes: chain (3, 50.0%), ring (3, 50.0%)" in answer.err
    assert cli("evaluate", "g.treille", "gml").out.startswith("accuracy 1.0000")
    assert cli("convert", "gml", "back.jsonl").code == 0
    assert cli("evaluate", "g.treille", "back.jsonl").out.startswith("accuracy 1.0000")
