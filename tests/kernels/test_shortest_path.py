"""Shortest paths: laws, definitions, weights, names and refusals."""

import json
from math import sqrt

import numpy as np
import pytest
from graph_twins import counting_kernel, graph_sets, random_graphs, renumbered, shortest_paths
from hypothesis import given

from treille import InputError
from treille.data import Graph, Graphs
from treille.kernels import ShortestPath
from treille.kernels import shortest_path as module
from treille.testing import check_kernel

PATH = Graph(["C", "C", "O", "N"], [(0, 1), (1, 2)], None, [0.1, 0.2])


def names(kernel, graphs):
    features, _ = kernel.fit_features(Graphs(graphs))
    return [features.name(id) for id in range(features.n_features)]


@pytest.mark.parametrize("labels", ["nodes", "none"])
@pytest.mark.parametrize("max_length", [None, 2])
@pytest.mark.parametrize("use_weights", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_laws(labels, max_length, use_weights, directed):
    max_length = max_length and (0.5 if use_weights else max_length)
    slow = counting_kernel(shortest_paths(labels, max_length or np.inf, use_weights))
    graphs = random_graphs(12, directed=directed, weights=use_weights)
    check_kernel(ShortestPath(labels, max_length, use_weights), graphs, slow)


@pytest.mark.parametrize("counts", ["log", "binary"])
def test_laws_of_counts(counts):
    def slow(x, y):  # of an undirected graph, paths and their reversals have equal counts
        return counting_kernel(shortest_paths(), counts)(x, y)

    check_kernel(ShortestPath(counts=counts), random_graphs(12), slow)


@given(graph_sets(weighted=True))
def test_random_graphs_have_the_values_of_the_definition(graphs):
    for use_weights in (False, True):
        slow = counting_kernel(shortest_paths(use_weights=use_weights))
        K = ShortestPath(use_weights=use_weights)(graphs)
        assert np.allclose(K, [[slow(x, y) for y in graphs] for x in graphs], rtol=1e-12)
        again = ShortestPath(use_weights=use_weights)([renumbered(graph) for graph in graphs], graphs)
        assert np.allclose(again, K, rtol=1e-12)


def test_a_path_and_its_reversal_are_one_feature():
    assert names(ShortestPath(), [PATH]) == ["C -1- C", "C -2- O", "C -1- O"]
    rows = ShortestPath().fit_features(Graphs([PATH]))[1].to_csr().toarray()
    assert rows.tolist() == [[2.0, sqrt(2), sqrt(2)]]
    directed = PATH._replace(directed=True)
    assert names(ShortestPath(), [directed]) == ["C -1-> C", "C -2-> O", "C -1-> O"]
    assert names(ShortestPath(labels="none"), [PATH]) == ["* -1- *", "* -2- *"]


def test_lengths_by_weights_agree_up_to_nine_digits():
    assert names(ShortestPath("none", use_weights=True), [PATH]) == ["* -0.1- *", "* -0.3- *", "* -0.2- *"]
    other = Graph(2, [(0, 1)], None, [0.3])  # 0.1 + 0.2 is another float64
    assert ShortestPath("none", use_weights=True)([PATH._replace(nodes=4), other]).tolist()[0][1] == 4.0
    exponents = [Graph(2, [(0, 1)], None, [w]) for w in (1e-300, 5e-324, 1e300, 9.9999999999, 10.0, 0.0)]
    found = names(ShortestPath(use_weights=True), exponents)
    assert found == ["* -10- *", "* -1e-300- *", "* -4.94065646e-324- *", "* -1e+300- *", "* -0- *"]


def test_a_path_covers_its_ends():
    batch = Graphs([PATH])
    features, _ = ShortestPath().fit_features(batch)
    found = features.occurrences(batch)
    assert [found.covered(o).tolist() for o in range(len(found))] == [[0, 1], [0, 2], [1, 2]]
    assert found.values.tolist() == [2.0, sqrt(2), sqrt(2)]


def test_occurrences_that_do_not_fit_into_memory_are_refused(monkeypatch):
    batch = Graphs([PATH])
    features, _ = ShortestPath().fit_features(batch)
    monkeypatch.setattr(module, "available_memory", lambda: 100)
    with pytest.raises(InputError, match=r"would take .* are free: explain fewer or smaller graphs"):
        features.occurrences(batch)


def test_a_negative_weight_is_refused_with_its_place():
    graphs = [PATH, PATH._replace(weights=[0.5, -1.0])]
    with pytest.raises(
        InputError, match=r"item 1, edge 1-2: its weight is -1.0, but a path needs weights of at least 0"
    ):
        ShortestPath(use_weights=True)(graphs)
    ShortestPath()(graphs)


def test_graphs_that_take_hours_are_refused_and_alternatives_named():
    n = 400_000
    ring = Graphs([PATH, Graph(["C"] * n, [(v, (v + 1) % n) for v in range(n)])])
    with pytest.raises(InputError, match=r"hours, item 1 alone, which has 400,000 nodes.*max_length.*WeisfeilerLehman"):
        ShortestPath().fit_features(ring)
    _, rows = ShortestPath(max_length=3).fit_features(ring)
    assert sorted(rows.to_csr()[1].data.tolist()) == [2.0 * n] * 3


def test_a_limit_on_lengths_does_not_help_around_hubs(monkeypatch):
    star = Graphs([Graph(30_001, [(0, v) for v in range(1, 30_001)])])
    monkeypatch.setattr(module, "MOST_SECONDS", 5)
    assert ShortestPath(max_length=1)(star).tolist() == [[60_000.0**2]]
    with pytest.raises(InputError, match="a smaller max_length"):
        ShortestPath(max_length=2)(star)


@pytest.mark.parametrize(
    "change",
    [
        lambda spec, arrays: arrays.update(cells=arrays["cells"] - 1),
        lambda spec, arrays: arrays.update(cells=arrays["cells"] + 50),
        lambda spec, arrays: arrays.update(starts=arrays["starts"] * 2),
        lambda spec, arrays: arrays.update(features=arrays["features"] - 1),
        lambda spec, arrays: spec.update(alphabet=["a"]),
        lambda spec, arrays: spec.update(directed=1),
    ],
)
def test_damaged_features_are_refused(change):
    spec, arrays = ShortestPath().fit_features(Graphs(random_graphs(12)))[0].state()
    spec = json.loads(json.dumps(spec))
    change(spec, arrays)
    with pytest.raises((InputError, ValueError)):
        ShortestPath().load_features(spec, arrays)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (ShortestPath("all"), "labels is 'all', expected 'nodes' or 'none'"),
        (ShortestPath(max_length=0), "max_length is 0"),
        (ShortestPath(max_length=1.5), "max_length is 1.5"),
        (ShortestPath(max_length=-1.0, use_weights=True), "max_length is -1.0"),
        (ShortestPath(use_weights="yes"), "use_weights is 'yes'"),
    ],
)
def test_bad_parameters_are_refused(kernel, message):
    with pytest.raises(InputError, match=message):
        kernel([PATH])
