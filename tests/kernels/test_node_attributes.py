"""Attributes of nodes: laws, definition, names and refusals."""

import numpy as np
import pytest
from graph_twins import node_labels, random_graphs

from treille import InputError
from treille.data import Graph, Graphs
from treille.kernels import NodeAttributes
from treille.testing import check_kernel


def with_attributes(graphs, width=2):
    random = np.random.default_rng(0)
    return [graph._replace(attributes=random.standard_normal((graph.n_nodes, width))) for graph in graphs]


def slow(labels, mean):
    def k(x, y):
        mine, theirs = node_labels(x, labels), node_labels(y, labels)
        pairs = [(u, v) for u in range(x.n_nodes) for v in range(y.n_nodes) if mine[u] == theirs[v]]
        total = sum(float(x.attributes[u] @ y.attributes[v]) for u, v in pairs)
        return total / (x.n_nodes * y.n_nodes) if mean and pairs else total

    return k


@pytest.mark.parametrize("labels", ["nodes", "none"])
@pytest.mark.parametrize("mean", [False, True])
def test_laws(labels, mean):
    graphs = with_attributes(random_graphs(12, seed=3))
    check_kernel(NodeAttributes(labels, mean), graphs, slow(labels, mean))


def test_names_are_the_label_and_the_column():
    graphs = Graphs(with_attributes([Graph(["a", "x y"], [(0, 1)])]))
    features, _ = NodeAttributes().fit_features(graphs)
    assert [features.name(id) for id in range(4)] == ["a 0", "a 1", '"x y" 0', '"x y" 1']
    features, _ = NodeAttributes(labels="none").fit_features(graphs)
    assert [features.name(id) for id in range(2)] == ["0", "1"]


def test_graphs_without_attributes_or_with_others_are_refused():
    graphs = [Graph(["a", "b"], [(0, 1)])]
    with pytest.raises(InputError, match="no attributes of nodes"):
        NodeAttributes()(graphs)
    features, _ = NodeAttributes().fit_features(Graphs(with_attributes(graphs)))
    with pytest.raises(InputError, match="the nodes have 3 attributes, expected 2"):
        features.transform(Graphs(with_attributes(graphs, 3)))
    assert NodeAttributes()([Graph([], [])]).tolist() == [[0.0]]


def test_damaged_features_are_refused():
    features, _ = NodeAttributes().fit_features(Graphs(with_attributes(random_graphs(5))))
    spec, arrays = features.state()
    for bad in ({"ids": arrays["ids"] + 3}, {"ids": arrays["ids"] // 2}, {}):
        with pytest.raises(InputError):
            NodeAttributes().load_features(spec, bad)
    for bad in (spec | {"width": -1}, spec | {"alphabet": [1]}):
        with pytest.raises(InputError):
            NodeAttributes().load_features(bad, arrays)


@pytest.mark.parametrize("kernel", [NodeAttributes("edges"), NodeAttributes(mean=2)])
def test_bad_parameters_are_refused(kernel):
    with pytest.raises(InputError, match="expected"):
        kernel(with_attributes(random_graphs(3)))
