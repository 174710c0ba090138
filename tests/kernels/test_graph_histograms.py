"""Histograms of labels: laws, definitions, names, graphs without labels."""

import pytest
from graph_twins import counting_kernel, edge_labels, graph_sets, node_labels, random_graphs
from hypothesis import given

from treille import InputError
from treille.data import Graph, Graphs
from treille.kernels import EdgeHistogram, VertexHistogram
from treille.testing import check_kernel

COUNTS = ("raw", "log", "binary")


def names(kernel, graphs):
    features, _ = kernel.fit_features(Graphs(graphs))
    return [features.name(id) for id in range(features.n_features)]


@pytest.mark.parametrize("counts", COUNTS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("labels", ["abc", ""])
def test_laws(counts, directed, labels):
    graphs = random_graphs(12, labels=labels, edge_labels="xy" if labels else "", directed=directed)
    check_kernel(VertexHistogram(counts), graphs, counting_kernel(node_labels, counts))
    for ends in (False, True):
        check_kernel(EdgeHistogram(ends, counts), graphs, counting_kernel(edge_labels(ends), counts))


@given(graph_sets())
def test_random_graphs_have_the_values_of_the_definition(graphs):
    for kernel, slow in (
        (VertexHistogram(), counting_kernel(node_labels)),
        (EdgeHistogram(), counting_kernel(edge_labels())),
        (EdgeHistogram(ends=True), counting_kernel(edge_labels(True))),
    ):
        assert kernel(graphs).tolist() == [[slow(x, y) for y in graphs] for x in graphs]


def test_names_are_labels_and_edges():
    ring = Graph(["C", "a b", "C"], [(0, 1), (1, 2), (2, 2)], [1, 2, 2])
    assert names(VertexHistogram(), [ring]) == ["C", "a b"]
    assert names(EdgeHistogram(), [ring]) == ["1", "2"]
    assert names(EdgeHistogram(ends=True), [ring]) == ['"a b" -1- C', '"a b" -2- C', "C -2- C"]
    assert names(EdgeHistogram(ends=True), [ring._replace(directed=True)])[1] == '"a b" -2-> C'
    assert names(EdgeHistogram(ends=True), [ring._replace(edge_labels=None)]) == ['"a b" - C', "C - C"]
    assert names(VertexHistogram(), [Graph(2, [(0, 1)])]) == ["node"]
    assert names(EdgeHistogram(), [Graph(2, [(0, 1)])]) == ["edge"]


def test_an_edge_covers_itself_and_with_ends_its_nodes():
    graphs = Graphs([Graph([], []), Graph(["C", "O", "C"], [(1, 2), (0, 2), (1, 1)], [1, 2, 1])])
    edges = graphs[1].edges
    for ends in (False, True):
        features, _ = EdgeHistogram(ends).fit_features(graphs)
        found = features.occurrences(graphs)
        covered = [sorted(found.covered(o).tolist()) for o in range(len(found))]
        assert covered == [sorted({u, v, 3 + e} if ends else {3 + e}) for e, (u, v) in enumerate(edges)]
    features, _ = VertexHistogram().fit_features(graphs)
    found = features.occurrences(graphs)
    assert [found.covered(o).tolist() for o in range(len(found))] == [[0], [1], [2]]


def test_directed_graphs_are_refused_by_features_of_undirected_ones():
    graph = Graph(["a", "b"], [(0, 1)])
    features, _ = EdgeHistogram(ends=True).fit_features(Graphs([graph]))
    with pytest.raises(
        InputError, match="these graphs are directed, but those that the features were fitted on are not"
    ):
        features.transform(Graphs([graph._replace(directed=True)]))


@pytest.mark.parametrize("kernel", [VertexHistogram("many"), EdgeHistogram(counts=3), EdgeHistogram(ends=1)])
def test_bad_parameters_are_refused(kernel):
    with pytest.raises(InputError, match="expected"):
        kernel([Graph(2, [(0, 1)])])
