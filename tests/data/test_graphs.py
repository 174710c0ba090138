"""Graphs: all kinds of input, views, and refusals."""

import pickle
import sys
import warnings
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import InputError
from treille.data import Graph, Graphs
from treille.kernels.parse import default_kernel

WATER = Graph(["O", "H", "H"], [(0, 1), (0, 2)])
LECTURE = [(0, 2), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4)]


def random_graph(draw, directed, labels, edge_labels, weights, width):
    n = draw(st.integers(0, 5))
    pairs = [(u, v) for u in range(n) for v in range(n) if directed or u <= v]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return Graph(
        draw(st.lists(st.sampled_from(["C", "O", "7"]), min_size=n, max_size=n)) if labels else n,
        edges,
        draw(st.lists(st.sampled_from("xy"), min_size=len(edges), max_size=len(edges))) if edge_labels else None,
        draw(st.lists(st.sampled_from([0.5, 2.0]), min_size=len(edges), max_size=len(edges))) if weights else None,
        [[float(v + j) for j in range(width)] for v in range(n)] if width else None,
        directed,
    )


@st.composite
def lists_of_graphs(draw):
    directed, labels, edge_labels, weights = (draw(st.booleans()) for _ in range(4))
    width, n = draw(st.integers(0, 2)), draw(st.integers(0, 4))
    return [random_graph(draw, directed, labels, edge_labels, weights, width) for _ in range(n)]


def content(graph):
    """A graph as plain values, edges in any order."""
    edges = [tuple(edge) if graph.directed else tuple(sorted(edge)) for edge in np.asarray(graph.edges).tolist()]
    names, weights = graph.edge_labels or [None] * len(edges), graph.weights
    weights = [1.0] * len(edges) if weights is None else weights
    nodes = list(range(graph.nodes)) if isinstance(graph.nodes, int) else graph.nodes
    rows = None if graph.attributes is None or not len(nodes) else np.asarray(graph.attributes).tolist()
    return nodes, sorted(zip(edges, names, map(float, weights), strict=True)), rows


def same(left, right):
    return [content(graph) for graph in left] == [content(graph) for graph in right]


def assert_refused(make):
    with pytest.raises(InputError) as caught:
        make()
    return str(caught.value)


# Input


@settings(deadline=None, max_examples=100)
@given(lists_of_graphs())
def test_graphs_in_every_representation_are_read_unchanged(graphs):
    batch = Graphs(graphs)
    assert len(batch) == len(graphs)
    assert same(graphs, batch)
    assert same(batch, Graphs(list(batch)))
    assert same(batch, pickle.loads(pickle.dumps(batch)))
    assert same(batch, treille.Batch.from_state(*batch.state()))
    known = Graphs.from_networkx(batch.to_networkx(), attributes="attributes" if batch.attributes.shape[1] else None)
    assert same(batch, known)
    rows = [3 % len(batch), 0] if len(batch) else []
    assert same(batch[rows], [batch[i] for i in rows])
    assert batch.n_edges.tolist() == [len(graph.edges) for graph in graphs]
    assert "nodes" in Graphs.summarise(batch, 3, 80).fields


WATERS = {
    "networkx": nx.Graph([("o", "h1"), ("o", "h2")]),
    "sparse": sp.csr_matrix([[0, 1, 1], [1, 0, 0], [1, 0, 0]]),
    "sparse array": sp.coo_array(np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]])),
    "matrix": np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]),
    "lists": [[0, 1, 1], [1, 0, 0], [1, 0, 0]],
    "GraKeL's matrix": [[[0, 1, 1], [1, 0, 0], [1, 0, 0]]],
    "GraKeL's set": ({(0, 1), (1, 0), (0, 2), (2, 0)},),
    "GraKeL's dict of pairs": ({(0, 1): 1, (1, 0): 1, (0, 2): 1, (2, 0): 1}, None),
    "GraKeL's dict of lists": ({0: [1, 2], 1: [0], 2: [0]}, {}),
    "GraKeL's dict of dicts": ({0: {1: 1.0, 2: 1.0}, 1: {0: 1.0}, 2: {0: 1.0}}, None, None),
    "edge_index": SimpleNamespace(edge_index=np.array([[0, 1, 0, 2], [1, 0, 2, 0]]), num_nodes=3),
    "edge_index in a dict": {"edge_index": [[0, 1, 0, 2], [1, 0, 2, 0]]},
    "dict": {"nodes": 3, "edges": [[0, 1], [0, 2]]},
    "dict without nodes": {"edges": [[0, 1], [0, 2]]},
    "node-link": {"nodes": [{"id": "o"}, {"id": 1}, {"id": 2}], "edges": [{"source": "o", "target": 1}] * 2}
    | {"edges": [{"source": "o", "target": 1}, {"source": 2, "target": "o"}]},
}


@pytest.mark.parametrize("name", WATERS)
def test_graphs_are_read_from_the_objects_of_other_libraries(name):
    assert Graphs.recognises([WATERS[name]])
    assert same(Graphs([WATERS[name]]), [Graph(3, [(0, 1), (0, 2)])])
    assert not Graphs([WATERS[name]]).directed


LABELLED = {
    "networkx": nx.Graph([(0, 1, {"label": "s"}), (0, 2, {"label": "t"})]),
    "GraKeL": (
        {(5, 6), (6, 5), (5, "b"), ("b", 5)},
        {5: "O", 6: "H", "b": "H"},
        {(5, 6): "s", (6, 5): "s", (5, "b"): "t", ("b", 5): "t"},
    ),
    "GraKeL's matrix": (
        np.array([[0, 1, 1], [1, 0, 0], [1, 0, 0]]),
        ["O", "H", "H"],
        {(0, 1): "s", (1, 0): "s", (0, 2): "t", (2, 0): "t"},
    ),
    "dict": {"nodes": ["O", "H", "H"], "edges": [[0, 1], [2, 0]], "edge_labels": ["s", "t"]},
    "node-link": {
        "nodes": [{"id": i, "label": name} for i, name in enumerate("OHH")],
        "edges": [{"source": 0, "target": 1, "label": "s"}, {"source": 0, "target": 2, "label": "t"}],
    },
}
nx.set_node_attributes(LABELLED["networkx"], dict(enumerate("OHH")), "label")


@pytest.mark.parametrize("name", LABELLED)
def test_labels_of_nodes_and_edges_are_read_from_the_objects_of_other_libraries(name):
    assert same(Graphs([LABELLED[name]]), [Graph(["O", "H", "H"], [(0, 1), (0, 2)], ["s", "t"])])


def test_a_graph_is_directed_if_one_arc_has_no_way_back():
    one_way = [[0, 1, 0], [0, 0, 1], [0, 1, 0]]
    for item in (
        np.array(one_way),
        sp.csr_matrix(one_way),
        ([(0, 1), (1, 2), (2, 1)], None),
        {"edge_index": [[0, 1, 2], [1, 2, 1]]},
        nx.DiGraph([(0, 1), (1, 2), (2, 1)]),
        {"nodes": 3, "edges": [[0, 1], [1, 2], [2, 1]], "directed": True},
    ):
        assert same(Graphs([item]), [Graph(3, [(0, 1), (1, 2), (2, 1)], directed=True)])
        assert Graphs([item]).directed
    mixed = Graphs([np.array(one_way), WATERS["matrix"]])
    assert mixed.directed
    assert mixed.n_edges.tolist() == [3, 4]


def test_directions_with_different_labels_or_weights_are_directed_edges():
    labelled = Graphs([([(0, 1), (1, 0)], ["C", "O"], {(0, 1): "up", (1, 0): "down"})])
    assert content(labelled[0])[1] == [((0, 1), "up", 1.0), ((1, 0), "down", 1.0)]
    assert content(Graphs([np.array([[0, 2.0], [3, 0]])])[0])[1] == [((0, 1), None, 2.0), ((1, 0), None, 3.0)]


def test_values_other_than_0_and_1_are_weights():
    assert Graphs([np.array([[0, 0.5], [0.5, 0]]), np.array([[0, 1], [1, 0]])]).weights.tolist() == [0.5, 0.5, 1, 1]
    assert len(Graphs([np.ones((2, 2))]).weights) == 0
    assert Graphs([{"nodes": 2, "edges": [[0, 1]], "weights": [-2]}]).weights.tolist() == [-2, -2]
    graph = nx.Graph()
    graph.add_edge("a", "b", weight=3)
    assert Graphs([graph]).weights.tolist() == [3, 3]
    assert len(Graphs.from_networkx([graph], weight=None).weights) == 0


def test_attributes_of_nodes_are_rows_of_numbers():
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: 1.5, 1: 2.5}, "mass")
    nx.set_node_attributes(graph, {0: [0, 1], 1: [2, 3]}, "place")
    assert Graphs.from_networkx([graph], attributes=["mass", "place"]).attributes.tolist() == [[1.5, 0, 1], [2.5, 2, 3]]
    assert Graphs([({(0, 1), (1, 0)}, {0: [1.0, 2.0], 1: [3.0, 4.0]})]).attributes.tolist() == [[1, 2], [3, 4]]
    data = {"edge_index": np.empty((2, 0), int), "x": np.array([[0.5, 1], [2, 3]])}
    assert Graphs([data]).attributes.tolist() == [[0.5, 1], [2, 3]]


def test_features_of_pytorch_geometric_are_labels_weights_or_attributes():
    index = [[0, 1], [1, 0]]
    whole = Graphs([{"edge_index": index, "x": [[6], [8]], "edge_attr": [2, 2]}])
    assert str(whole[0]) == "2 nodes 6 8, 1 edge 0-1:2"
    assert Graphs([{"edge_index": index, "edge_attr": [[0.5], [0.5]]}]).weights.tolist() == [0.5, 0.5]
    hot = {"edge_index": index, "x": [[0.0, 1.0], [1.0, 0.0]], "edge_attr": [[0, 1], [0, 1]]}
    assert str(Graphs.from_edge_index([hot], one_hot=True)[0]) == "2 nodes 1 0, 1 edge 0-1:1"
    assert "one_hot=True" in assert_refused(lambda: Graphs([hot | {"edge_attr": [[0.0, 1.0]] * 2}]))
    assert "x is not one-hot" in assert_refused(
        lambda: Graphs.from_edge_index([hot | {"x": [[1, 1], [0, 1]]}], one_hot=True)
    )


def test_labels_may_be_given_with_adjacency_matrices():
    batch = Graphs.from_adjacency([np.array([[0, 1], [1, 0]])], labels=[["C", "O"]])
    assert str(batch[0]) == "2 nodes C O, 1 edge 0-1"
    assert Graphs.from_adjacency([np.array([[0, 1], [1, 0]])], directed=True).directed
    asymmetric = [np.array([[0, 1], [0, 0]])]
    assert "item 0: its adjacency matrix is not symmetric" in assert_refused(
        lambda: Graphs.from_adjacency(asymmetric, directed=False)
    )
    assert "labels for 1, expected" in assert_refused(
        lambda: Graphs.from_adjacency(asymmetric * 2, labels=[["C", "O"]])
    )


def test_edges_given_twice_count_once():
    assert same(Graphs([Graph(2, [(0, 1), (1, 0), (0, 1), (1, 1)])]), [Graph(2, [(0, 1), (1, 1)])])


def test_numbers_as_labels_are_sorted_by_size():
    assert Graphs([Graph([10, 9, "C", "Br"], [])]).alphabet == ["9", "10", "Br", "C"]


def test_the_graph_of_the_lecture_has_its_adjacency():
    batch = Graphs([Graph(5, LECTURE)])
    assert batch.arcs.tolist() == [0, 1, 3, 7, 10, 12]
    assert batch.targets.tolist() == [2, 2, 3, 0, 1, 3, 4, 1, 2, 4, 2, 3]


def test_graphs_of_grakel_are_read_unchanged():
    grakel = pytest.importorskip("grakel")
    items = [LABELLED["GraKeL"], (WATERS["matrix"], dict(enumerate("OHH")), LABELLED["GraKeL's matrix"][2])]
    batch = Graphs(items)
    for graph, item in zip(batch, items, strict=True):
        theirs = grakel.Graph(*item)
        assert same(Graphs([theirs]), [graph])
        assert sorted(theirs.get_labels(purpose="any").values()) == sorted(graph.nodes)
        assert len(theirs.get_edges(purpose="any")) == 2 * len(graph.edges)


def test_nodes_without_edges_are_kept_where_they_are_named():
    assert str(Graphs([({0: [1], 1: [0], 2: []},)])[0]) == "3 nodes, 1 edge 0-1"
    assert str(Graphs([({(0, 0): [(0, 1)], (0, 1): {(0, 0): 1.0}, (1, 1): {}}, None)])[0]) == "3 nodes, 1 edge 0-1"
    assert str(Graphs([({(0, 1), (1, 0)}, {0: "C", 1: "C", 2: "O"})])[0]) == "3 nodes C C O, 1 edge 0-1"


def test_data_of_nodes_and_edges_with_other_names_than_label_are_named_in_one_warning():
    ring = nx.cycle_graph(3)
    nx.set_node_attributes(ring, "C", "element")
    nx.set_node_attributes(ring, 0.5, "mass")
    nx.set_edge_attributes(ring, "single", "bond")
    expected = (
        "not used: 'element' of nodes (2 graphs, first item 1), 'mass' of nodes (2 graphs, first item 1), "
        "'bond' of edges (2 graphs, first item 1); labels are called 'label', and "
        "Graphs.from_networkx(graphs, label='element', edge_label='bond') reads others"
    )
    readers = (
        Graphs,
        Graphs.from_networkx,
        lambda graphs: treille.kernels.WeisfeilerLehman(1)(graphs),
        lambda graphs: treille.SVC().fit(graphs, [0, 1, 1]),
    )
    for read in readers:
        with pytest.warns(UserWarning, match="^not used") as caught:
            read([nx.path_graph(2), ring, ring])
        assert [str(warning.message) for warning in caught] == [expected]
        assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chosen = Graphs.from_networkx([ring], label="element", edge_label="bond")
        assert str(chosen[0]) == "3 nodes C C C, 3 edges 0-1:single 0-2:single 1-2:single"
        assert Graphs(chosen.to_networkx()).alphabet == ["C"]
        Graphs.from_networkx([ring], label=None, edge_label=None)
        Graphs.from_networkx([ring], label=None, edge_label=None, attributes="mass")
        Graphs([nx.path_graph(3), nx.Graph()])


def test_a_label_of_networkx_that_is_named_must_exist():
    ring = nx.cycle_graph(3)
    assert "none of the nodes has 'element' in its data, expected its label; there are no data" in assert_refused(
        lambda: Graphs.from_networkx([ring], label="element")
    )
    nx.set_edge_attributes(ring, "single", "kind")
    assert "none of the edges has 'bond' in its data, expected its label; there are: kind" in assert_refused(
        lambda: Graphs.from_networkx([ring], edge_label="bond")
    )
    assert len(Graphs.from_networkx([nx.Graph()], label="element", edge_label="bond")) == 1


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        ({"nodes": 2, "edges": [[0, 1]], "node_labels": ["C", "O"], "y": 1}, "not used: node_labels (1 graph, item 0)"),
        (
            {"edge_index": [[0, 1], [1, 0]], "z": [6, 8], "pos": [[0.5], [1]], "y": [1]},
            "not used: z (1 graph, item 0), pos ",
        ),
        (
            SimpleNamespace(edge_index=np.array([[0, 1], [1, 0]]), z=np.array([6, 8]), x=None, y=1),
            "not used: z (1 graph, item 0)",
        ),
        (
            {"nodes": [{"id": 1, "atom": "C"}, {"id": 2}], "links": [{"source": 1, "target": 2, "bond": 1}]},
            "not used: 'atom' of nodes (1 graph, item 0), 'bond' of edges (1 graph, item 0); labels are called 'label'",
        ),
    ],
)
def test_fields_of_objects_that_are_not_read_are_named(graph, expected):
    with pytest.warns(UserWarning, match="^not used") as caught:
        Graphs([graph])
    assert len(caught) == 1
    assert str(caught[0].message).startswith(expected)


def test_edge_weight_of_pytorch_geometric_is_the_weight_of_edges():
    index = [[0, 1], [1, 0]]
    assert Graphs([{"edge_index": index, "edge_weight": [0.5, 0.5]}]).weights.tolist() == [0.5, 0.5]
    labelled = Graphs([{"edge_index": index, "edge_attr": [2, 2], "edge_weight": [0.5, 0.5]}])
    assert (labelled.edge_alphabet, labelled.weights.tolist()) == (["2"], [0.5, 0.5])
    both = {"edge_index": index, "edge_attr": [0.5, 0.5], "edge_weight": [0.5, 0.5]}
    assert "edge_weight and edge_attr are both weights" in assert_refused(lambda: Graphs([both]))


def test_molecules_that_differ_in_charge_isotopes_or_hydrogens_differ():
    pytest.importorskip("rdkit")
    labels = lambda smiles, **options: Graphs.from_smiles([smiles], **options)[0].nodes  # noqa: E731
    assert labels("CC(=O)[O-]") == ["C", "C", "O", "O-"]
    assert labels("CC(=O)O") == ["C", "C", "O", "O"]
    assert labels("[13CH4].[Fe+3].[2H]Cl") == ["13C", "Fe+3", "2H", "Cl"]
    assert labels("CC(=O)O", hydrogens=True) == ["CH3", "C", "O", "OH"]
    assert labels("C[NH3+]", hydrogens=True) == ["CH3", "NH3+"]


def test_one_warning_says_what_of_molecules_is_not_part_of_their_graphs():
    pytest.importorskip("rdkit")
    texts = ["CC", "C[C@H](N)C(=O)O", "C/C=C/C", "[CH3:1][CH2]"]
    with pytest.warns(UserWarning, match="^not used") as caught:
        Graphs.from_smiles(texts)
    assert [str(warning.message) for warning in caught] == [
        "not used: stereochemistry (2 graphs, first item 1, 'C[C@H](N)C(=O)O'), "
        "radicals (1 graph, item 3, '[CH3:1][CH2]'), atom maps (1 graph, item 3, '[CH3:1][CH2]')"
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Graphs.from_smiles(["CC(=O)[O-]", "[Fe+3]", "C[N+](=O)[O-]"])
        Graphs.from_smiles(["C[CH2]"], hydrogens=True)


def test_smiles_are_read_by_rdkit_if_it_is_there():
    pytest.importorskip("rdkit")
    assert str(Graphs.from_smiles(["CC=O"])[0]) == "3 nodes C C O, 2 edges 0-1:single 1-2:double"
    assert "item 1: rdkit cannot read 'C(('" in assert_refused(lambda: Graphs.from_smiles(["C", "C(("]))
    assert "item 0 is int, expected SMILES" in assert_refused(lambda: Graphs.from_smiles([3]))


def test_without_rdkit_or_networkx_the_message_says_what_to_install(monkeypatch):
    for name in ("rdkit", "networkx"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "pip install rdkit" in assert_refused(lambda: Graphs.from_smiles(["C"]))
    assert "pip install networkx" in assert_refused(lambda: Graphs([WATER]).to_networkx())


# Views


def test_arrays_cannot_be_written_and_selections_keep_the_alphabet():
    batch = Graphs([WATER, Graph([], []), Graph(["C"], [])])
    with pytest.raises(ValueError, match="read-only"):
        batch.labels[0] = 0
    assert [str(graph) for graph in batch[np.array([False, True, True])]] == ["0 nodes, 0 edges", "1 node C, 0 edges"]
    assert str(batch[-1]) == "1 node C, 0 edges"
    assert batch[1:].alphabet == batch.alphabet
    assert [len(run) for run in batch.chunks(3)] == [2, 1]
    assert repr(batch) == "Graphs(3 graphs, 4 nodes, 2 edges, 3 labels)"


def test_a_batch_of_graphs_may_be_empty():
    assert len(Graphs([])) == 0
    assert Graphs.summarise(Graphs([]), 3, 80).fields["nodes"] == "none"


def test_labels_of_new_graphs_are_coded_as_in_fitting():
    fitted, new = Graphs([WATER]), Graphs([Graph(["Na", "H"], [(0, 1)])])
    assert new.core_arrays_over(fitted.alphabet, [])[0].tolist() == [2, 0]
    bare = Graphs([Graph(2, [(0, 1)])])
    assert "these graphs have no node labels" in assert_refused(lambda: bare.core_arrays_over(fitted.alphabet, []))
    assert bare.core_arrays_over(fitted.alphabet, [], "none")[0].tolist() == [0, 0]


# Refusals


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            Graph(2, [(0, 1), (0, 2)]),
            "item 1, edge 1: joins the nodes 0 and 2, but the graph has 2 nodes, counted from 0",
        ),
        (Graph(2, [(0, -1)]), "item 1, edge 0: joins the nodes 0 and -1"),
        (Graph(2, [(0, 1, 2)]), "item 1, edge 0: found (0, 1, 2), expected the positions of two nodes"),
        (Graph(2, [(0, 1.5)]), "item 1, edge 0: found (0, 1.5), expected the positions of two nodes"),
        (Graph(2, [0, 1]), "item 1, edge 0: found 0, expected the positions of two nodes"),
        (Graph(2, {(0, 1)}), "item 1: its edges are set, expected a list of pairs of nodes"),
        (Graph(2, None), "item 1: its edges are NoneType"),
        (Graph(2, [(0, 2**70)]), "item 1, edge 0: found (0, 1180591620717411303424)"),
        (Graph(-1, []), "item 1: its nodes are -1, expected a list of labels or the number of nodes"),
        (Graph(10**12, []), "item 1: its nodes are 1000000000000"),
        (Graph(b"CO", []), "item 1: its nodes are b'CO', expected a list of labels"),
        ({"nodes": "CO", "edges": []}, "item 1: the field 'nodes' is 'CO', expected a list of labels"),
        (Graph(["C", None], []), "item 1, node 1: has no label, expected a str or a whole number for every node"),
        (Graph(["C", ["O"]], []), "item 1, node 1: has the label ['O']"),
        (Graph(["C", 0.5], []), "item 1, node 1: has the label 0.5"),
        (Graph(2, [(0, 1)], ["x", "y"]), "item 1: has 1 edges and 2 labels for them"),
        (Graph(2, [(0, 1), (1, 0)], ["x", "y"]), "item 1, edge 1: joins 1 and 0 like edge 0, with another label"),
        (Graph(2, [(0, 1)], None, [1, 2]), "item 1: has 1 edges and 2 weights for them"),
        (Graph(2, [(0, 1)], None, [np.nan]), "item 1, edge 0: its weight is nan, expected a finite number"),
        (Graph(2, [(0, 1)], None, ["heavy"]), "item 1: its weights are not one number for each edge"),
        (Graph(2, [], None, None, [[1], [np.inf]]), "item 1, node 1: an attribute is not a finite number"),
        (Graph(2, [], None, None, [[1]]), "item 1: has 2 nodes, and attributes of the shape (1, 1), expected (2, 1)"),
        (Graph(2, [], None, None, [["a"], ["b"]]), "item 1: its attributes are not one row of numbers"),
        (np.ones((2, 3)), "item 1 is ndarray, expected a graph"),
        (sp.csr_matrix((2, 3)), "item 1: is a matrix of shape (2, 3), expected a square one"),
        (None, "item 1 is NoneType, expected a graph"),
        ("C-O", "item 1 is str, expected a graph"),
        (([(0, 1)], {0: "C"}), "item 1, edge (0, 1): there is no node 1: label every node, or none"),
        (([(0, 1)], None, {(1, 0): "x"}), "item 1, edge (0, 1): has no label, expected one for every edge"),
        (([(0, 1, "x")], None), "item 1, edge 0, 0 to 1: its weight is 'x', expected a number"),
        ({"edge_index": [[0, 1]]}, "item 1: edge_index is of the shape (1, 2)"),
        ({"edge_index": [[0], [0.5]]}, "item 1: edge_index is of the shape (2, 1) and float64"),
        ({"edge_index": [[0], [3]], "num_nodes": 2}, "item 1, edge 0: joins the nodes 0 and 3"),
        ({"nodes": [{"id": 1}, {}], "edges": []}, "item 1, node 1: found {}, expected an object with an id"),
        ({"nodes": [{"id": 1}], "edges": [{"source": 1, "target": 2}]}, "item 1, edge 0: there is no node '2'"),
        ({"edges": [], "directed": "yes"}, "item 1: the field 'directed' is 'yes'"),
    ],
    ids=repr,
)
def test_invalid_graphs_are_refused_with_their_place(bad, message):
    assert message in assert_refused(lambda: Graphs([Graph(0, []), bad]))


def test_labels_and_weights_for_some_only_are_refused():
    assert assert_refused(lambda: Graphs([WATER, Graph(2, [])])) == (
        "item 1: has 2 nodes and no labels for them, but item 0 has: label the nodes of every graph or of none"
    )
    graph = nx.path_graph(3)
    graph.nodes[0]["label"] = "C"
    assert (
        assert_refused(lambda: Graphs([graph]))
        == "item 0, node 1: has no 'label', expected one for every node, or for none"
    )
    graph = nx.path_graph(3)
    graph.edges[0, 1]["weight"] = 2
    assert "item 0, edge 1 to 2: has no 'weight'" in assert_refused(lambda: Graphs([graph]))


def test_a_single_graph_instead_of_a_list_is_refused():
    for one in (WATER, nx.path_graph(2), np.eye(2), {"nodes": 1, "edges": []}):
        assert "expected a list of graphs: write [graph]" in assert_refused(lambda one=one: Graphs(one))
    assert "found str, expected a list" in assert_refused(lambda: Graphs("C"))
    assert "expected graphs" in assert_refused(lambda: Graphs(treille.Trees(["(a)"])))
    assert "one str was given" in assert_refused(lambda: Graphs.from_smiles("CC"))


STATE = {
    "labels": [[0, 2, 0], [0, -1, 0], [0.5, 0, 0], [0, 1]],
    "offsets": [[0, 4], [1, 3], [0, 2, 1, 3], []],
    "arcs": [[0, 2, 3, 5], [0, 2, 1, 4], [0, 4], [0, 2, 3, 4, 4]],
    "targets": [[1, 2, 0, 3], [1, 2, 0, -1], [2, 1, 0, 0], [1, 1, 0, 0], [1, 2, 0, 1]],
    "edge_labels": [[0, 1, 0], [0, 1, 0, 2], [0, 1, 1, 0], []],
    "weights": [[1.0], [1.0, 2.0, 3.0, 2.0], [np.nan] * 4],
    "attributes": [[[0.0]], [[np.inf]] * 3, [0.0, 0.0, 0.0]],
}


@pytest.mark.parametrize(("name", "values"), [(name, values) for name in STATE for values in STATE[name]], ids=str)
def test_inconsistent_arrays_are_refused(name, values):
    batch = Graphs([Graph(["O", "H", "H"], [(0, 1), (0, 2)], ["s", "t"], [1, 2], [[0], [1], [2]])])
    spec, arrays = batch.state()
    assert same(treille.Batch.from_state(spec, arrays), batch)
    assert_refused(lambda: treille.Batch.from_state(spec, arrays | {name: np.array(values)}))


def test_arrays_of_another_type_are_refused():
    for labels in ([2**40, 0], ["C", "O"], None, [[0], [0]]):
        assert_refused(lambda labels=labels: Graphs.from_arrays(labels, [0, 2], [0, 1, 2], [1, 0]))


@pytest.mark.parametrize(
    "change", [{"alphabet": ["O"]}, {"alphabet": None}, {"edge_alphabet": []}, {"directed": 1}], ids=str
)
def test_an_inconsistent_state_is_refused(change):
    spec, arrays = Graphs([Graph(["O", "H"], [(0, 1)], ["s"])]).state()
    assert_refused(lambda: treille.Batch.from_state(spec | change, arrays))


class Tensor:
    """An array that must be detached and copied from its device first, as those of PyTorch."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.values


def test_tensors_are_copied_from_where_they_are():
    index, x = Tensor([[0, 1], [1, 0]]), Tensor([[6], [8]])
    for item in (SimpleNamespace(edge_index=index, x=x, edge_attr=None), {"edge_index": index, "x": x}):
        assert Graphs.recognises([item])
        assert str(Graphs([item])[0]) == "2 nodes 6 8, 1 edge 0-1"


def test_large_graphs_have_a_default_kernel_in_linear_time():
    path = [Graph(["a"] * n, [(i, i + 1) for i in range(n - 1)]) for n in (3, 500)]
    small, large = (default_kernel(Graphs([graph]))[0] for graph in path)
    assert "ShortestPath" in str(small)
    assert "ShortestPath" not in str(large)
    assert str(default_kernel([path[1]])[0]) == str(large)
