"""Weisfeiler-Lehman: laws, definitions, names, the parts that a label covers, and kernels on refined labels."""

import json

import numpy as np
import pytest
from graph_twins import counting_kernel, graph_sets, random_graphs, refined_labels, renumbered
from hypothesis import given

import treille
from treille import SVC, InputError
from treille.data import Graph, Graphs
from treille.kernels import EdgeHistogram, NGram, ShortestPath, VertexHistogram, WeisfeilerLehman
from treille.kernels import weisfeiler_lehman as module
from treille.kernels.graph_features import GraphKernel
from treille.testing import check_kernel

PROPANOL = Graph(["C", "C", "C", "O"], [(0, 1), (1, 2), (2, 3)], [1, 1, 1])


def names(kernel, graphs):
    features, _ = kernel.fit_features(Graphs(graphs))
    return [features.name(id) for id in range(features.n_features)]


@pytest.mark.parametrize("h", [0, 1, 3])
@pytest.mark.parametrize("labels", ["all", "nodes", "edges", "none"])
@pytest.mark.parametrize("directed", [False, True])
def test_laws(h, labels, directed):
    slow = counting_kernel(refined_labels(h, labels))
    check_kernel(WeisfeilerLehman(h, labels=labels), random_graphs(12, directed=directed), slow)


@pytest.mark.parametrize("counts", ["log", "binary"])
def test_laws_of_counts(counts):
    check_kernel(WeisfeilerLehman(2, counts=counts), random_graphs(12), counting_kernel(refined_labels(2), counts))


@pytest.mark.parametrize(
    "base",
    [
        VertexHistogram(),
        EdgeHistogram(ends=True),
        ShortestPath(),
        WeisfeilerLehman(1),
        VertexHistogram().normalized(),
        VertexHistogram().weighted("idf"),
        VertexHistogram() * EdgeHistogram(),
    ],
    ids=repr,
)
def test_laws_with_a_base_kernel(base):
    check_kernel(WeisfeilerLehman(2, base=base), random_graphs(12))


def test_laws_with_a_base_kernel_without_features():
    def common(x, y):
        return float(sum(x.nodes.count(a) * y.nodes.count(a) for a in set(x.nodes)))

    class Common(GraphKernel):
        def gram(self, left, right=None, n_jobs=None):
            return np.array([[common(x, y) for y in (left if right is None else right)] for x in left])

        def diagonal(self, batch, n_jobs=None):
            return self.gram(batch).diagonal()

    graphs = [graph for graph in random_graphs(12) if graph.n_nodes]
    assert np.array_equal(WeisfeilerLehman(2, base=Common())(graphs), WeisfeilerLehman(2)(graphs))
    K = WeisfeilerLehman(2, base=Common()).normalized()(graphs[:4], graphs)
    assert np.allclose(K, WeisfeilerLehman(2).normalized()(graphs[:4], graphs), rtol=1e-12)
    with pytest.raises(InputError, match="no explicit features"):
        WeisfeilerLehman(2, base=Common()).fit_features(Graphs(graphs))


def test_the_base_kernel_that_counts_labels_is_the_default():
    graphs = random_graphs(30)
    assert np.array_equal(WeisfeilerLehman(3, base=VertexHistogram())(graphs), WeisfeilerLehman(3)(graphs))
    K = WeisfeilerLehman(3, base=VertexHistogram()).normalized()(graphs[:9], graphs)
    assert np.allclose(K, WeisfeilerLehman(3).normalized()(graphs[:9], graphs), rtol=1e-12)


@given(graph_sets())
def test_random_graphs_have_the_values_of_the_definition(graphs):
    slow = counting_kernel(refined_labels(3))
    K = WeisfeilerLehman(3)(graphs)
    assert K.tolist() == [[slow(x, y) for y in graphs] for x in graphs]
    assert np.array_equal(WeisfeilerLehman(3)([renumbered(graph) for graph in graphs], graphs), K)


def test_names_spell_out_the_neighbours():
    plain = PROPANOL._replace(edge_labels=None)
    assert names(WeisfeilerLehman(1), [plain]) == ["C", "O", "C(C)", "C(C,C)", "C(C,O)", "O(C)"]
    assert "C(C(C),C(C,O))" in names(WeisfeilerLehman(2), [plain])
    assert "C(-1-C,-1-O)" in names(WeisfeilerLehman(1), [PROPANOL])
    assert names(WeisfeilerLehman(1, labels="none"), [plain]) == ["*", "*(*)", "*(*,*)"]
    assert names(WeisfeilerLehman(1), [Graph(["a(b", "x"], [(0, 1)], ["-"])])[2:] == ['"a(b"(-"-"-x)', 'x(-"-"-"a(b")']


def test_a_node_without_neighbours_has_one_name_for_each_round():
    assert names(WeisfeilerLehman(3), [Graph(["C"], [])]) == ["C", "C()", "C()^2", "C()^3"]
    directed = names(WeisfeilerLehman(3), [Graph(["a", "b"], [(0, 1)], directed=True)])
    assert len(set(directed)) == len(directed)
    assert "a(b()^2)" in directed


def test_long_names_are_shortened_and_stay_distinct():
    found = names(WeisfeilerLehman(6), random_graphs(20, n=14, labels=["carbon", "nitrogen"]))
    assert len(set(found)) == len(found)
    assert max(map(len, found)) < 130
    assert any("…#" in name for name in found)


def test_the_name_of_a_label_of_many_rounds_is_spelled_in_little_time():
    random = np.random.default_rng(0)
    edges = [(u, v) for u in range(40) for v in range(u) if random.random() < 0.5]
    assert len(names(WeisfeilerLehman(60), [Graph(40, edges)])) > 1000


def test_the_name_of_a_node_with_very_many_neighbours_is_short():
    star = Graph(["hub", *["leaf"] * 200_000], [(0, v) for v in range(1, 200_001)])
    found = names(WeisfeilerLehman(2), [star])
    assert len(set(found)) == len(found) == 6
    assert max(map(len, found)) < 130


def test_names_do_not_depend_on_the_order_of_graphs():
    graphs = random_graphs(30, n=10)
    assert sorted(names(WeisfeilerLehman(4), graphs)) == sorted(names(WeisfeilerLehman(4), graphs[::-1]))


def test_names_with_a_base_kernel_have_the_round_and_spell_labels_out():
    plain = PROPANOL._replace(edge_labels=None)
    assert names(WeisfeilerLehman(1, base=VertexHistogram()), [plain])[:3] == ["0: C", "0: O", "1: C(C)"]
    assert "1: C(C) - C(C,C)" in names(WeisfeilerLehman(1, base=EdgeHistogram(ends=True)), [plain])


def test_a_label_covers_the_nodes_and_edges_that_it_saw():
    batch = Graphs([Graph(["x"], []), PROPANOL])
    features, _ = WeisfeilerLehman(2).fit_features(batch)
    found = features.occurrences(batch)
    covered = {(features.name(int(z)), tuple(sorted(found.covered(o).tolist()))) for o, z in enumerate(found.features)}
    assert {("O", (3,)), ("x()^2", (0,))} <= covered
    assert ("O(-1-C)", (2, 3, 6)) in covered
    assert ("O(-1-C(-1-C,-1-O))", (1, 2, 3, 5, 6)) in covered


def test_occurrences_that_do_not_fit_into_memory_are_refused(monkeypatch):
    batch = Graphs([PROPANOL, PROPANOL])
    features, _ = WeisfeilerLehman(2).fit_features(batch)
    monkeypatch.setattr(module, "available_memory", lambda: 16 * 40)
    with pytest.raises(InputError, match="item 0: its refined labels cover so many nodes and edges"):
        features.occurrences(batch)


def test_a_restricted_map_keeps_what_its_features_are_made_of():
    graphs = Graphs(random_graphs(40))
    features, _ = WeisfeilerLehman(3).fit_features(graphs)
    last = features.restrict(np.array([features.n_features - 1]))
    assert last.name(0) == features.name(features.n_features - 1)
    cells = last.state()[1]["cells"]
    assert 0 < len(cells) < len(features.state()[1]["cells"]) / 4
    assert np.array_equal(
        last.transform(graphs).to_csr().toarray()[:, 0], features.transform(graphs).to_csr().toarray()[:, -1]
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda spec, arrays: arrays.update(features=arrays["features"] + 10_000),
        lambda spec, arrays: arrays.update(features=np.zeros_like(arrays["features"])),
        lambda spec, arrays: arrays.update(starts=arrays["starts"][:-1]),
        lambda spec, arrays: arrays.update(starts=np.zeros_like(arrays["starts"])),
        lambda spec, arrays: arrays.update(cells=np.full_like(arrays["cells"], -9)),
        lambda spec, arrays: arrays.update(cells=np.full_like(arrays["cells"], 99)),
        lambda spec, arrays: arrays.update(cells=arrays["cells"] * 0 - 1),
        lambda spec, arrays: spec.update(alphabet=["a"]),
        lambda spec, arrays: spec.update(alphabet="abc"),
        lambda spec, arrays: spec.update(edge_alphabet=["x"]),
        lambda spec, arrays: spec.pop("directed"),
        lambda spec, arrays: arrays.pop("cells"),
    ],
)
def test_damaged_features_are_refused(change):
    kernel = WeisfeilerLehman(2)
    spec, arrays = kernel.fit_features(Graphs(random_graphs(12)))[0].state()
    spec = json.loads(json.dumps(spec))
    change(spec, arrays)
    with pytest.raises((InputError, ValueError)):
        kernel.load_features(spec, arrays)


def test_damaged_features_of_a_base_kernel_are_refused():
    kernel = WeisfeilerLehman(1, base=VertexHistogram())
    spec, arrays = kernel.fit_features(Graphs(random_graphs(12)))[0].state()
    for bad in ("a", "-1", "99999", "9" * 5000, "٣"):
        damaged = json.loads(json.dumps(spec))
        damaged["rounds"]["terms"][1]["alphabet"][0] = bad
        with pytest.raises(InputError, match="other labels"):
            kernel.load_features(damaged, arrays)


def test_a_name_may_have_any_characters():
    assert "\ud800(b)" in names(WeisfeilerLehman(1), [Graph(["\ud800", "b"], [(0, 1)])])


def test_features_of_different_kinds_are_not_merged():
    graphs = random_graphs(12)
    one = WeisfeilerLehman(2).fit_features(Graphs(graphs))[0]
    bare = [graph._replace(edge_labels=None) for graph in graphs]
    for kernel, others, message in (
        (WeisfeilerLehman(3), graphs, r"differ in kernel: WeisfeilerLehman\(h=2\) and WeisfeilerLehman\(h=3\)"),
        (VertexHistogram(), graphs, "differ in kernel"),
        (WeisfeilerLehman(2), bare, "with and without labels of edges: label all"),
        (WeisfeilerLehman(2), random_graphs(9, directed=True), "of undirected and of directed graphs"),
    ):
        with pytest.raises(InputError, match=message):
            one.merge(kernel.fit_features(Graphs(others))[0])


def test_a_model_gives_the_same_predictions_after_saving(tmp_path):
    graphs = random_graphs(60, seed=2)
    y = ["many" if graph.n_nodes > 4 else "few" for graph in graphs]
    for base in (None, VertexHistogram()):
        model = SVC(WeisfeilerLehman(2, base=base).normalized()).fit(graphs, y)
        model.save(tmp_path / "model")
        again = treille.load(tmp_path / "model")
        assert np.array_equal(again.decision_function(graphs), model.decision_function(graphs))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (WeisfeilerLehman(-1), "h is -1, expected a whole number of at least 0"),
        (WeisfeilerLehman(1.5), "h is 1.5"),
        (WeisfeilerLehman(1, base="vertices"), "base is 'vertices', expected a kernel of graphs or None"),
        (WeisfeilerLehman(1, labels="some"), "labels is 'some'"),
        (WeisfeilerLehman(1, counts="tf"), "counts is 'tf'"),
        (WeisfeilerLehman(1, base=VertexHistogram("tf")), "counts is 'tf'"),
    ],
)
def test_bad_parameters_are_refused(kernel, message):
    with pytest.raises(InputError, match=message):
        kernel([PROPANOL])


def test_a_base_of_other_data_is_refused():
    with pytest.raises(InputError, match="found graphs, expected strings: the default kernel for graphs is"):
        WeisfeilerLehman(1, base=NGram(2))([Graph("ab", [(0, 1)])])
