"""Walks against their enumeration, and the powers of the lecture's adjacency matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walk_twins import BATCHES, BENZENE, DIRECTED, FIVE, PLAIN, product_matrix, random_graphs, walks_kernel, walks_of

from treille import InputError
from treille.data import Graph, Graphs
from treille.kernels import Walks, walks
from treille.testing import check_kernel
from twins import cosine

PARAMETERS = [
    (2,),
    (3, 1),
    (2, 0, "nodes"),
    (3, None, "edges"),
    (4, None, "none"),
    (2, None, "all", "log"),
    (2, 1, "nodes", "binary"),
]


def matrix(k, X, Y):
    return np.array([[k(x, y) for y in Y] for x in X])


@pytest.fixture
def without_features(monkeypatch):
    monkeypatch.setattr(walks, "MANY", -1)


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_it_obeys_the_whole_battery(parameters):
    kernel, slow = Walks(*parameters), walks_kernel(*parameters)
    check_kernel(kernel, PLAIN, slow)
    check_kernel(kernel.normalized(), PLAIN, cosine(slow))


@pytest.mark.parametrize("batch", ["weighted", "directed"])
def test_weighted_and_directed_graphs_obey_the_whole_battery(batch):
    check_kernel(Walks(2, 1), BATCHES[batch], walks_kernel(2, 1))


@pytest.mark.usefixtures("without_features")
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("parameters", PARAMETERS[:5], ids=str)
def test_matrices_without_features_are_the_same(parameters, batch):
    X, slow = BATCHES[batch], walks_kernel(*parameters)
    assert not Walks(*parameters).prefers_features(Graphs(X))
    np.testing.assert_allclose(Walks(*parameters)(X), matrix(slow, X, X), rtol=1e-12)
    np.testing.assert_allclose(Walks(*parameters)(X[:3], X[2:]), matrix(slow, X[:3], X[2:]), rtol=1e-12)
    np.testing.assert_allclose(Walks(*parameters).diag(X), [slow(x, x) for x in X], rtol=1e-12)


@settings(max_examples=50)
@given(st.lists(random_graphs(signed=True), min_size=2, max_size=4), st.integers(0, 3))
def test_random_graphs_give_the_twin_s_values(graphs, k):
    graphs = [*graphs, BENZENE]
    np.testing.assert_allclose(Walks(k)(graphs), matrix(walks_kernel(k), graphs, graphs), rtol=1e-10, atol=1e-12)


POWERS = {
    1: [[0, 0, 1, 0, 0], [0, 0, 1, 1, 0], [1, 1, 0, 1, 1], [0, 1, 1, 0, 1], [0, 0, 1, 1, 0]],
    2: [[1, 1, 0, 1, 1], [1, 2, 1, 1, 2], [0, 1, 4, 2, 1], [1, 1, 2, 3, 1], [1, 2, 1, 1, 2]],
    3: [[0, 1, 4, 2, 1], [1, 2, 6, 5, 2], [4, 6, 4, 6, 6], [2, 5, 6, 4, 5], [1, 2, 6, 5, 2]],
}


@pytest.mark.parametrize("k", POWERS)
def test_walks_of_the_lecture_s_graph_are_powers_of_its_adjacency_matrix(k):
    features, rows = Walks(k).fit_features(Graphs([FIVE]))  # every node has a label of its own
    found = np.zeros((5, 5))
    for z, count in enumerate(rows.to_csr().toarray()[0]):
        name = features.name(z)
        found["ABCDE".index(name[0]), "ABCDE".index(name[-1])] += count
    assert found.tolist() == POWERS[k]
    total = np.sum(POWERS[k])
    assert Walks(k, labels="none")([FIVE]).item() == total**2
    assert product_matrix(FIVE, FIVE, "none").sum() == np.sum(POWERS[1]) ** 2


def test_features_are_named_by_their_labels():
    def names(kernel, graphs):
        features, _ = kernel.fit_features(Graphs(graphs))
        return {features.name(z) for z in range(features.n_features)}

    ethanol = Graph("CCO", [(0, 1), (1, 2)], "sd")
    assert names(Walks(1), [ethanol]) == {"C -s- C", "C -d- O", "O -d- C"}
    assert names(Walks(1, labels="nodes"), [ethanol]) == {"C-C", "C-O", "O-C"}
    assert names(Walks(1, labels="edges"), [ethanol]) == {"* -s- *", "* -d- *"}
    assert names(Walks(2, 0, labels="none"), [ethanol]) == {"*", "*-*", "*-*-*"}
    assert names(Walks(2, labels="nodes"), [ethanol._replace(directed=True)]) == {"C>C>O"}
    assert names(Walks(1), [ethanol._replace(directed=True)]) == {"C -s> C", "C -d> O"}
    assert names(Walks(3), DIRECTED[4:6]) == {
        "".join(s if k % 2 == 0 else f" -{s}> " for k, s in enumerate(walk))
        for graph in DIRECTED[4:6]
        for walk in walks_of(graph, 3)
    }


def test_many_steps_without_labels_have_one_feature_each():
    ring = Graph(50, [(v, (v + 1) % 50) for v in range(50)])
    features, rows = Walks(200, 198).fit_features(Graphs([ring]))
    assert features.n_features == 3
    assert sorted(rows.to_csr().toarray()[0].tolist()) == [50 * 2.0**n for n in (198, 199, 200)]


def test_long_walks_with_labels_are_counted_without_features():
    complete = Graph(list(range(9)), [(u, v) for u in range(9) for v in range(u)])
    assert not Walks(30).prefers_features(Graphs([complete]))
    assert Walks(30)([complete]).item() == pytest.approx(9 * 8.0**30)
    with pytest.raises(InputError, match=r"may have .* different walks of 30 steps: use a smaller k"):
        Walks(30).fit_features(Graphs([complete]))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Walks(-1), "k is -1"),
        (Walks(2.5), "k is 2.5"),
        (Walks(1001), "k is 1001, expected at most 1000 steps"),
        (Walks(2, 3), "min_k is 3, expected at most k, 2"),
        (Walks(labels="edge"), "labels is 'edge'"),
        (Walks(counts="tf"), "counts is 'tf'"),
    ],
)
def test_parameters_out_of_range_are_refused(kernel, message):
    with pytest.raises(InputError, match=message):
        kernel(PLAIN)


def test_transformed_counts_are_refused_for_weighted_graphs():
    with pytest.raises(InputError, match="counts='log' needs graphs without weights"):
        Walks(2, counts="log")(BATCHES["weighted"])


def test_features_that_do_not_fit_together_are_refused():
    features, _ = Walks(2).fit_features(Graphs(PLAIN))
    spec, arrays = features.state()
    for name, change in (
        ("steps", [(0, 5)]),
        ("steps", [(2, 99)]),
        ("sequences", [(0, 9999)]),
        ("sequences", [(0, -1)]),
    ):
        damaged = {key: array.copy() for key, array in arrays.items()}
        for place, value in change:
            damaged[name][place] = value
        with pytest.raises((InputError, ValueError), match="do not fit"):
            Walks(2).load_features(spec, damaged)
