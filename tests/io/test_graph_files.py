"""Files of graphs: JSON lines, TU sets, GML, GraphML and SMILES, with their labels."""

import gzip
import json
import sys
import zipfile

import networkx as nx
import pytest
from refusals import assert_refused

from treille.data import Graph, Graphs
from treille.io import read
from treille.io.graphs import write_graphs
from treille.io.guess import guess

LINES = [
    {"y": 1, "nodes": ["C", "O"], "edges": [[0, 1]], "edge_labels": ["double"], "id": "a"},
    {"y": 0, "nodes": ["C", "C", "N"], "edges": [[0, 1], [1, 2]], "edge_labels": ["single", "single"], "id": "b"},
]
TU = {
    "_A.txt": "1, 2\n2, 1\n3, 4\n4, 3\n4, 5\n5, 4\n",
    "_graph_indicator.txt": "1\n1\n2\n2\n2\n",
    "_graph_labels.txt": "1\n-1\n",
    "_node_labels.txt": "6\n8\n6\n6\n7\n",
    "_edge_labels.txt": "2\n2\n1\n1\n1\n1\n",
    "_node_attributes.txt": "0.5, 1\n1, 1\n2, 1\n3, 1\n4.25, 1\n",
}


@pytest.fixture
def write(tmp_path):
    def writer(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return writer


@pytest.fixture
def lines(write):
    return write("a.jsonl", "".join(json.dumps(row) + "\n" for row in LINES))


@pytest.fixture
def tu(write, tmp_path):
    def writer(**changes):
        for end, text in (TU | {f"_{name}.txt": text for name, text in changes.items()}).items():
            if text is not None:
                write(f"mols/DS{end}", text)
        return tmp_path / "mols"

    return writer


def written_out(examples):
    return [str(graph) for graph in Graphs(examples.X)]


# JSON lines


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("a.jsonl", '{"nodes": ["C"], "edges": []}', ("graphs", "content")),
        ("a.json", '[{"edges": [[0, 1]], "y": 1},', ("graphs", "content")),
        ("-", '{"edge_index": [[0], [1]], "num_nodes": 2}', ("graphs", "content")),
        ("a.graphs", "{", ("graphs", "name")),
        ("a.jsonl", '{"text": "a vine", "edges": [[0, 1]]}', ("jsonl", "name")),
        ("a.jsonl", '{"text": "\\"edges\\": [", "label": 1}', ("jsonl", "name")),
        ("a.jsonl", '{"sentence": {"edges": []}}', ("jsonl", "name")),
        ("a.jsonl", '{"edges": 3, "nodes": 4}', ("jsonl", "name")),
        ("a.txt", 'he said: "edges": [', ("lines", "content")),
        ("a.gml", "graph [", ("gml", "name")),
        ("a.graphml.gz", "<graphml>", ("graphml", "name")),
        ("a.smi", "CC=O", ("smiles", "name")),
    ],
)
def test_the_format_is_recognised_where_that_is_safe(name, line, expected):
    assert guess(name, line) == expected


def test_json_lines_hold_nodes_edges_and_labels(lines):
    examples = read(lines)
    assert written_out(examples) == ["2 nodes C O, 1 edge 0-1:double", "3 nodes C C N, 2 edges 0-1:single 1-2:single"]
    assert (examples.labels, examples.ids, examples.lines) == (["1", "0"], ["a", "b"], [1, 2])
    assert examples.note.endswith("2 examples, JSON lines of graphs (guessed from its content), 5 nodes, label = y")
    assert read(lines, labelled=False).labels is None
    assert read(lines, label="y=1").labels == ["1", "not 1"]
    assert read(lines, labels={"a": "x", "b": "z"}).labels == ["x", "z"]
    assert read([lines, lines], label="y").labels == ["1", "0", "1", "0"]
    assert written_out(read(lines).take([1])) == written_out(read(lines))[1:]


def test_a_field_may_hold_the_graph(write):
    path = write("a.jsonl", json.dumps({"graph": LINES[0], "label": "x"}) + "\n")
    assert written_out(read(path, format="graphs", text="graph")) == ["2 nodes C O, 1 edge 0-1:double"]
    assert "line 1: found 3, expected an object with nodes and edges" in assert_refused(
        write("b.jsonl", '{"graph": 3, "y": 1}\n'), format="graphs", text="graph"
    )


def test_arrays_edge_index_and_node_link_are_read_too(write):
    array, spread = write("a.json", json.dumps(LINES)), write("b.json", json.dumps(LINES, indent=1))
    assert written_out(read(array)) == written_out(read(spread, format="graphs"))
    index = {"edge_index": [[0, 1], [1, 0]], "num_nodes": 3, "y": 2}
    assert written_out(read(write("c.jsonl", json.dumps(index)))) == ["3 nodes, 1 edge 0-1"]
    graph = nx.Graph([("a", "b")])
    nx.set_node_attributes(graph, {"a": "C", "b": "O"}, "label")
    for name in ("edges", "links"):
        link = nx.node_link_data(graph, edges=name)
        assert written_out(read(write("d.jsonl", json.dumps(link)))) == ["2 nodes C O, 1 edge 0-1"]


def test_one_hot_features_of_all_graphs_are_labels(write):
    rows = [
        {"edge_index": [[0, 1], [1, 0]], "node_feat": [[0, 1], [1, 0]], "edge_attr": [[0, 1]] * 2, "y": [1]},
        {"edge_index": [[], []], "node_feat": [[1, 0]], "edge_attr": [], "y": [0]},
    ]
    examples = read(write("a.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert written_out(examples) == ["2 nodes 1 0, 1 edge 0-1:1", "1 node 0, 0 edges"]
    assert examples.labels == ["1", "0"]
    assert examples.note.endswith("3 nodes, labels = one-hot features, label = y")
    del rows[0]["edge_attr"]
    rows[1]["node_feat"] = [[0.5, 0]]
    examples = read(write("b.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    assert examples.X.attributes.tolist() == [[0, 1], [1, 0], [0.5, 0]]
    assert "one-hot" not in examples.note


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"nodes": ["C", "O"], "edges": [[0, 2]]}',
            "line 2, edge 0: joins the nodes 0 and 2, but the graph has 2 nodes",
        ),
        ('{"nodes": ["C"]}', "line 2: there is no field 'edges'"),
        ('{"nodes": ["C", null], "edges": []}', "line 2, node 1: has no label"),
        (
            '{"nodes": ["C"], "edges": [[0, 0, 0]]}',
            "line 2, edge 0: found [0, 0, 0], expected the positions of two nodes",
        ),
        ('{"nodes": 1000000000, "edges": []}', "line 2: states 1,000,000,000 nodes, most without an edge"),
        ('{"nodes": "CO", "edges": []}', "line 2: the field 'nodes' is 'CO'"),
        ('{"nodes": ["C"], "edges": [], "edge_labels": 3}', "line 2: the field 'edge_labels' is 3"),
        ('{"nodes": ["C"], "edges": 0}', "line 2: its edges are int"),
        ("[3]", "line 2: found [3], expected one object per line"),
        ('{"nodes": 2, "edges": []}', "line 2: has 2 nodes and no labels for them, but "),
    ],
)
def test_a_line_that_is_no_graph_is_refused(write, line, message):
    assert message in assert_refused(write("a.jsonl", f'{{"nodes": ["C"], "edges": []}}\n{line}\n'))


def test_written_graphs_are_read_back(tmp_path):
    graphs = [
        Graph(["C", "O"], [(0, 1)], ["x"], [0.5], [[1.0], [2.0]], True),
        Graph(["N"], [], [], [], [[0.25]], True),
    ]
    write_graphs(tmp_path / "a.jsonl.gz", list(Graphs(graphs)), ["yes", "no"])
    examples = read(tmp_path / "a.jsonl.gz")
    assert examples.labels == ["yes", "no"]
    state, back = (batch.state() for batch in (Graphs(graphs), Graphs(examples.X)))
    assert state[0] == back[0]
    assert all(state[1][name].tolist() == back[1][name].tolist() for name in state[1])


# TU sets


def test_a_folder_of_the_tu_collection_is_read(tu):
    examples = read(tu())
    assert written_out(examples) == ["2 nodes 6 8, 1 edge 0-1:2", "3 nodes 6 6 7, 2 edges 0-1:1 1-2:1"]
    assert examples.labels == ["1", "-1"]
    assert Graphs(examples.X).attributes.tolist() == [[0.5, 1], [1, 1], [2, 1], [3, 1], [4.25, 1]]
    assert examples.note.endswith("2 examples, TU set DS (guessed from its content), 5 nodes, label = label")


def test_an_archive_of_the_tu_collection_may_hold_a_folder_and_a_readme(tu, tmp_path):
    with zipfile.ZipFile(tmp_path / "DS.zip", "w") as archive:
        for file in tu().iterdir():
            archive.write(file, f"DS/{file.name}")
        archive.writestr("DS/README.txt", "about")
    assert written_out(read(tmp_path / "DS.zip")) == written_out(read(tu()))
    assert read(tmp_path / "DS.zip", format="tu").labels == ["1", "-1"]


def test_nodes_and_edges_of_a_set_may_be_in_any_order(tu):
    path = tu(A="4, 3\n2, 5\n1, 3\n3, 1\n", graph_indicator="2\n1\n2\n2\n1\n", edge_labels="d\ns\nt\nt\n")
    assert written_out(read(path)) == ["2 nodes 8 7, 1 edge 0-1:s", "3 nodes 6 6 6, 2 edges 0-1:t 1-2:d"]
    assert Graphs(read(path).X).attributes[:, 0].tolist() == [1, 4.25, 0.5, 2, 3]


def test_graphs_of_a_set_may_be_empty_and_labelled_by_numbers(tu):
    path = tu(graph_labels=None, graph_attributes="0.5\n-1\n2e3\n", edge_attributes="1\n" * 6)
    examples = read(path)
    assert written_out(examples)[2] == "0 nodes, 0 edges"
    assert examples.targets() == [0.5, -1, 2000]
    assert "DS_edge_attributes.txt not read" in examples.note
    several = tu(graph_attributes="1, 2\n3, 4\n", graph_labels="1\n2\n")
    assert read(several).labels == ["1", "2"]
    assert read(several, label="target2").targets() == [2, 4]


def test_a_set_that_labels_directions_differently_is_directed(tu):
    examples = read(tu(edge_labels="2\n3\n1\n1\n1\n1\n"))
    assert written_out(examples)[0] == "2 nodes 6 8, 2 edges 0>1:2 1>0:3"
    assert "directed" in examples.note


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"A": "1, 2\n2, 9\n"}, "DS_A.txt, line 2: joins the nodes 2, 9, but there are 5"),
        ({"A": "1, 2\n2, 3\n"}, "DS_A.txt, line 2: joins a node of graph 1 and one of graph 2"),
        ({"A": "1, 2\n2\n"}, "DS_A.txt, line 2: found '2', expected the numbers of two nodes, counted from 1"),
        ({"A": "1, x\n"}, "DS_A.txt, line 1: found '1, x', expected the numbers of two nodes"),
        ({"A": "1, 99999999999999999999\n"}, "DS_A.txt, line 1: found '1, 9999"),
        ({"graph_indicator": "1\n1\n3\n2\n2\n"}, "indicator.txt, line 3: there is no graph 3, expected 1 to 2"),
        ({"graph_indicator": "1\n1\n\n2\n2\n"}, "indicator.txt, line 3: found '', expected the number of the graph"),
        (
            {"graph_indicator": "1\n1\n2\n2\n10000000000\n", "graph_labels": None},
            "the largest number is 10,000,000,000",
        ),
        ({"graph_indicator": None}, "there is no file DS_graph_indicator.txt"),
        ({"node_labels": "6\n"}, "DS_node_labels.txt: has 1 lines, expected one for each of the 5 nodes"),
        ({"edge_labels": "6\n"}, "DS_edge_labels.txt: has 1 lines, expected one for each of the 6 edges"),
        ({"node_attributes": "1\n2\n3\nx\n5\n"}, "DS_node_attributes.txt, line 4: found 'x', expected numbers"),
        ({"node_attributes": "1\n2\n3\nnan\n5\n"}, "DS_node_attributes.txt, line 4: found 'nan', expected numbers"),
        ({"graph_attributes": "1\n2\n3\n"}, "DS_graph_attributes.txt: has 3 lines, but there are 2 graphs"),
    ],
    ids=str,
)
def test_a_set_with_a_fault_is_refused_with_file_and_line(tu, changes, message):
    assert message in assert_refused(tu(**changes))


def test_two_sets_in_one_folder_are_refused(tu, write):
    write("mols/OTHER_A.txt", "1, 2\n")
    assert "holds the sets DS, OTHER, expected the files of one set" in assert_refused(tu())
    assert "expected the folder or the .zip" in assert_refused(tu() / "DS_A.txt", format="tu")
    assert "holds no file DS_A.txt" in assert_refused(write("other/a.txt", "x").parent, format="tu")


# GML and GraphML


GML = 'graph [ node [ id 3 label "C" ] node [ id 7 label "O" ] edge [ source 3 target 7 label "double" ] ]'


def test_gml_and_graphml_are_one_graph_per_file(write, tmp_path):
    assert written_out(read(write("a.gml", GML))) == ["2 nodes C O, 1 edge 0-1:double"]
    graph = nx.DiGraph([("a", "b", {"weight": 2.5, "kind": "x"})])
    nx.set_node_attributes(graph, {"a": "C", "b": "O"}, "label")
    nx.set_node_attributes(graph, {"a": 6, "b": 8}, "number")
    nx.write_graphml(graph, tmp_path / "a.graphml")
    examples = read(tmp_path / "a.graphml")
    assert written_out(examples) == ["2 nodes C O, 1 edge 0>1"]
    assert examples.X.weights.tolist() == [2.5]
    assert written_out(read(tmp_path / "a.graphml", text="number")) == ["2 nodes 6 8, 1 edge 0>1"]
    assert "no node has a field 'colour'" in assert_refused(tmp_path / "a.graphml", text="colour")


def test_names_of_nodes_that_networkx_writes_to_gml_are_no_labels(tmp_path):
    nx.write_gml(nx.path_graph(3), tmp_path / "a.gml")
    assert written_out(read(tmp_path / "a.gml")) == ["3 nodes, 2 edges 0-1 1-2"]


def test_folders_of_such_files_are_labels(write, tmp_path):
    for name in ("red/1", "red/2", "white/3"):
        write(f"vines/{name}.gml", GML.replace("O", name[0]))
    for labelled in (None, True):
        examples = read(tmp_path / "vines", labelled=labelled)
        assert examples.labels == ["red", "red", "white"]
        assert Graphs(examples.X).alphabet == ["C", "r", "w"]
    assert written_out(examples)[2] == "2 nodes C w, 1 edge 0-1:double"
    write("vines/white/4.gml", "graph [ node [ id 0 ] ]")
    assert "1.gml has labels of nodes, but " in assert_refused(tmp_path / "vines")


@pytest.mark.parametrize("name", ["a.gml", "a.graphml"])
def test_files_that_networkx_cannot_read_are_refused(write, name, monkeypatch):
    path = write(name, "graph [ node [ id 3 ")
    assert f"{path}: networkx cannot read it as " in assert_refused(path)
    assert "no field is called label" in assert_refused(write("b.gml", GML), labelled=True)
    monkeypatch.setitem(sys.modules, "networkx", None)
    assert "pip install 'treille[formats]'" in assert_refused(path)


# SMILES


def test_files_of_smiles_hold_names_or_labels(write):
    pytest.importorskip("rdkit")
    examples = read(write("a.smi", "CC=O x\nC#N y\nO x\n"))
    assert written_out(examples)[:2] == [
        "3 nodes C C O, 2 edges 0-1:single 1-2:double",
        "2 nodes C N, 1 edge 0-1:triple",
    ]
    assert examples.labels == ["x", "y", "x"]
    named = read(write("b.smi", "CC=O acetaldehyde\nC#N hydrogen cyanide\nO water\n"))
    assert (named.labels, named.ids) == (None, ["acetaldehyde", "hydrogen cyanide", "water"])
    assert "line 2: rdkit cannot read 'C(('" in assert_refused(write("c.smi", "C\nC((\n"))


def test_notes_name_what_of_graphs_is_not_read(write):
    line = '{"nodes": ["C", "O"], "edges": [[0, 1]], "class": "a", "node_labels": [1, 2], "id": 4}\n'
    assert "not used: node_labels (2 graphs, first " in read(write("a.jsonl", line + line.replace("4", "5"))).note
    index = '{"edge_index": [[0, 1], [1, 0]], "x": [[1], [2]], "pos": [[0.5], [1]], "y": [1]}\n'
    assert ", not used: pos (1 graph, " in read(write("b.jsonl", index)).note
    assert "not used" not in read(write("c.jsonl", index.replace(', "pos": [[0.5], [1]]', ""))).note
    gml = 'graph [ node [ id 1 atom "C" ] node [ id 5 atom "O" ] edge [ source 1 target 5 bond 2 ] ]'
    path = write("a.gml", gml)
    assert f"not used: 'atom' of nodes (1 graph, {path}), 'bond' of edges" in read(path).note
    assert "'atom'" not in read(path, text="atom").note


def test_notes_name_what_of_molecules_is_not_read(write):
    pytest.importorskip("rdkit")
    note = read(write("a.smi", "CC(=O)[O-] x\nC[C@H](N)C(=O)O y\nO x\n")).note
    assert "not used: stereochemistry (1 graph, " in note


def test_smiles_without_rdkit_say_what_to_install(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    assert "pip install rdkit" in assert_refused(write("a.smi", "CC=O\n"))


def test_compressed_files_are_graphs_too(lines, tmp_path):
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(lines.read_bytes()))
    assert written_out(read(tmp_path / "b.jsonl.gz")) == written_out(read(lines))
