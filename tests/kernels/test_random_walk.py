"""RandomWalk against the matrix exponential and the inverse of the product's adjacency matrix, and against GraKeL."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walk_twins import BATCHES, BENZENE, DIRECTED, FIVE, PLAIN, product_matrix, random_graphs, random_walk_kernel

from public_sets import data_folder
from treille import InputError
from treille.data import Graph, Graphs
from treille.kernels import RandomWalk, random_walk
from treille.testing import check_kernel
from twins import cosine

PARAMETERS = [
    (0.1,),
    (0.3, "exponential", "nodes"),
    (0.3, "exponential", "edges"),
    (0.2, "exponential", "none"),
    (0.2, "exponential", "all", 3),
    (0.04, "geometric"),
    (0.04, "geometric", "nodes", None, "all"),
    (0.04, "geometric", "none"),
    (0.04, "geometric", "edges"),
    (0.5, "geometric", "all", 4),
    (0.5, "geometric", "none", 5),
]


def matrix(k, X, Y):
    return np.array([[k(x, y) for y in Y] for x in X])


def molecules(name, n=None):
    folder = data_folder()
    path = None if folder is None else folder / "graphs" / f"{name}.jsonl.gz"
    if path is None or not path.exists():
        pytest.skip(f"needs {name}: set TREILLE_DATA to the folder of public data")
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines][:n]
    return Graphs([Graph(row["nodes"], row["edges"], row.get("edge_labels")) for row in rows])


@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_values_equal_the_dense_exponential_and_inverse(parameters, batch):
    X, slow = BATCHES[batch], random_walk_kernel(*parameters)
    np.testing.assert_allclose(RandomWalk(*parameters)(X), matrix(slow, X, X), rtol=1e-10)
    np.testing.assert_allclose(RandomWalk(*parameters)(X[1:3], X[3:]), matrix(slow, X[1:3], X[3:]), rtol=1e-10)
    np.testing.assert_allclose(RandomWalk(*parameters).diag(X), [slow(x, x) for x in X], rtol=1e-10)


@pytest.mark.parametrize("parameters", [PARAMETERS[k] for k in (0, 3, 4, 6, 7)], ids=str)
def test_it_obeys_the_whole_battery(parameters):
    kernel, slow = RandomWalk(*parameters), random_walk_kernel(*parameters)
    check_kernel(kernel, PLAIN, slow)
    check_kernel(kernel.normalized(), PLAIN, cosine(slow))


@pytest.mark.parametrize("parameters", [PARAMETERS[k] for k in (0, 5)], ids=str)
def test_directed_graphs_obey_the_whole_battery(parameters):
    check_kernel(RandomWalk(*parameters), DIRECTED, random_walk_kernel(*parameters))


@settings(max_examples=60)
@given(st.lists(random_graphs(), min_size=2, max_size=4), st.sampled_from(["all", "nodes", "edges", "none"]))
def test_random_graphs_give_the_twin_s_values(graphs, labels):
    graphs = [*graphs, BENZENE]  # so that there are labels
    for parameters in ((0.2, "exponential", labels), (0.01, "geometric", labels)):
        slow = matrix(random_walk_kernel(*parameters), graphs, graphs)
        np.testing.assert_allclose(RandomWalk(*parameters)(graphs), slow, rtol=1e-10)


@settings(max_examples=40)
@given(st.lists(random_graphs(labelled=False, signed=True), min_size=2, max_size=4))
def test_negative_weights_have_an_exponential(graphs):
    for kernel in (RandomWalk(0.2), RandomWalk(0.2, "geometric", steps=4)):
        slow = matrix(random_walk_kernel(0.2, kernel.series, "all", kernel.steps), graphs, graphs)
        np.testing.assert_allclose(kernel(graphs), slow, rtol=1e-10, atol=1e-12)
    labelled = [graph._replace(nodes="ab"[:1] * graph.n_nodes) for graph in graphs]
    slow = matrix(random_walk_kernel(0.2), labelled, labelled)
    if any(graph.n_nodes for graph in graphs):
        np.testing.assert_allclose(RandomWalk(0.2)(labelled), slow, rtol=1e-10, atol=1e-12)


def test_series_of_many_terms_are_solved_as_products():
    X = [Graph(6, [(u, v) for u in range(6) for v in range(u)]), Graph(3, [(0, 1), (1, 2)]), Graph(0, [])]
    for decay, series in ((0.0399, "geometric"), (24.0, "exponential")):  # the radius is 25
        slow = matrix(random_walk_kernel(decay, series), X, X)
        np.testing.assert_allclose(RandomWalk(decay, series)(X), slow, rtol=1e-9)
    assert random_walk.WalkSums("geometric", 0.0399)._coefficients(25.0) is None


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("labels", ["all", "none"])
def test_a_decay_just_below_the_limit_converges(gap, labels):
    radius = max(np.abs(np.linalg.eigvalsh(product_matrix(BENZENE, BENZENE, labels))))
    kernel = ((1 - gap) / radius, "geometric", labels)
    np.testing.assert_allclose(
        RandomWalk(*kernel)([BENZENE]), [[random_walk_kernel(*kernel)(BENZENE, BENZENE)]], rtol=1e-9
    )


def test_graphs_of_thousands_of_nodes_without_labels_take_no_time():
    n = 20_000
    ring = Graph(n, [(v, (v + 1) % n) for v in range(n)])
    np.testing.assert_allclose(RandomWalk(0.1)([ring, ring._replace(nodes=n)]), np.full((2, 2), n**2 * np.exp(0.4)))
    np.testing.assert_allclose(RandomWalk(0.1).diag([ring]), [n**2 * np.exp(0.4)])


@pytest.mark.parametrize("labels", ["all", "none"])
@pytest.mark.parametrize("start", ["matching", "all"])
def test_it_is_positive_semi_definite_on_real_molecules(labels, start):
    X = molecules("MUTAG")
    K = RandomWalk(0.1, "geometric", labels, start=start)(X, n_jobs=2)
    values = np.linalg.eigvalsh(K)
    assert values[0] > -1e-12 * values[-1]


def in_grakel_s_form(batch):
    def arcs(graph):
        return {arc: 1.0 for u, v in graph.edges for arc in ((u, v), (v, u))}

    return [[arcs(graph), dict(enumerate(graph.nodes))] for graph in batch]


@pytest.mark.parametrize("series", ["geometric", "exponential"])
def test_labelled_values_equal_grakel_s(series):
    grakel = pytest.importorskip("grakel")
    X = molecules("MUTAG", 12)
    decay = 0.05
    theirs = grakel.RandomWalkLabeled(lamda=decay, kernel_type=series, method_type="baseline").fit_transform(
        in_grakel_s_form(X)
    )
    ours = RandomWalk(decay, series, labels="nodes", start="all")(X)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10)


@pytest.mark.parametrize("series", ["geometric", "exponential"])
def test_unlabelled_values_equal_grakel_s(series):
    grakel = pytest.importorskip("grakel")
    X = molecules("MUTAG", 12)
    theirs = grakel.RandomWalk(lamda=0.05, kernel_type=series, method_type="baseline").fit_transform(
        in_grakel_s_form(X)
    )
    np.testing.assert_allclose(RandomWalk(0.05, series, labels="none")(X), theirs, rtol=1e-10)


def test_steps_equal_grakel_s():
    grakel = pytest.importorskip("grakel")
    X = molecules("MUTAG", 8)
    for series in ("geometric", "exponential"):
        theirs = grakel.RandomWalkLabeled(lamda=0.1, kernel_type=series, method_type="baseline", p=3)
        ours = RandomWalk(0.1, series, labels="nodes", steps=3, start="all")(X)
        np.testing.assert_allclose(ours, theirs.fit_transform(in_grakel_s_form(X)), rtol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (RandomWalk(0), "decay is 0, expected a positive number"),
        (RandomWalk(series="p-step"), "series is 'p-step', expected 'exponential' or 'geometric'"),
        (RandomWalk(labels="node"), "labels is 'node', expected 'all'"),
        (RandomWalk(steps=-1), "steps is -1"),
        (RandomWalk(steps=2.5), "steps is 2.5"),
        (RandomWalk(start="none"), "start is 'none', expected 'matching' or 'all'"),
    ],
)
def test_parameters_out_of_range_are_refused(kernel, message):
    with pytest.raises(InputError, match=message):
        kernel(PLAIN)


@pytest.mark.parametrize("labels", ["nodes", "none"])
def test_a_decay_beyond_the_limit_is_refused_with_the_limit(labels):
    complete = Graph("CCCC", [(u, v) for u in range(4) for v in range(u)])
    for decay in (1 / 9, 0.5):
        with pytest.raises(InputError, match=r"item 1: .* radius .* is 9\. .* below 0\.111111"):
            RandomWalk(decay, "geometric", labels)([Graph("CO", [(0, 1)]), complete])
        with pytest.raises(InputError, match=r"item 0: .* below 0\.111111"):
            RandomWalk(decay, "geometric", labels).diag([complete])
    assert RandomWalk(0.111, "geometric", labels)([complete]).item() == pytest.approx(16 / (1 - 0.111 * 9))


def test_both_of_two_batches_are_checked():
    star, edge = Graph(5, [(0, v) for v in range(1, 5)]), Graph(2, [(0, 1)])
    for X, Y in (([edge, star], [edge]), ([edge], [edge, star])):
        with pytest.raises(InputError, match=r"item 1: .* below 0\.25;"):
            RandomWalk(0.3, "geometric")(X, Y)


def test_negative_weights_are_refused_by_the_geometric_series():
    X = [Graph(2, [(0, 1)], None, [1.0]), Graph(3, [(0, 1), (1, 2)], None, [0.5, -2.0])]
    for labels in ("all", "none"):
        with pytest.raises(InputError, match="item 1, edge 1: its weight is -2, but a geometric series needs"):
            RandomWalk(0.1, "geometric", labels)(X)


def test_products_too_large_are_refused_before_any_work(monkeypatch):
    n = 3000
    ends = np.random.default_rng(0).integers(n, size=n)
    large = [Graph("a", []), Graph("a" * n, list(enumerate(ends.tolist())))]
    monkeypatch.setattr(random_walk, "available_memory", lambda: 10**8)
    for work in (lambda: RandomWalk()(large), lambda: RandomWalk().diag(large)):
        with pytest.raises(InputError, match=r"largest has 3,000 nodes; WeisfeilerLehman is linear"):
            work()
    monkeypatch.setattr(random_walk, "available_memory", lambda: 10**12)
    monkeypatch.setattr(random_walk, "SECONDS", 0.001)
    with pytest.raises(
        InputError, match=r"would take about 0 hours: their products have .* arcs in all; WeisfeilerLehman"
    ):
        RandomWalk()(large)


def test_a_value_too_large_for_a_float_is_refused():
    with pytest.raises(InputError, match="too large for a float64"):
        RandomWalk(500.0)([FIVE._replace(nodes=5)])


def test_labels_on_one_side_only_are_refused():
    with pytest.raises(InputError, match="no node labels"):
        RandomWalk()([FIVE], [FIVE._replace(nodes=5)])
    assert RandomWalk(labels="none")([FIVE], [FIVE._replace(nodes=5)]).shape == (1, 1)
