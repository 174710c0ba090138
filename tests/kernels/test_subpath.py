"""Subpath and RootPaths against their definition, and their spaces and indexes against each other."""

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import treille
from treille import InputError, Trees, _core
from treille.kernels import Kernel, RootPaths, Subpath
from treille.solvers import CuttingPlane
from treille.spaces import ProductSpace
from treille.spaces.functions import KernelFunctions, read_functions
from treille.testing import check_kernel
from treille.trees import XBW
from twins import path_counts, path_kernel

RANDOM = np.random.default_rng(0)


def random_tree(size, n_labels, reach=4):
    """Parents lie at most `reach` nodes before: 1 makes a chain."""
    parents = [-1, *(int(RANDOM.integers(max(0, node - reach), node)) for node in range(1, size))]
    return [str(label) for label in RANDOM.integers(0, n_labels, size)], parents


FOREST = Trees.from_parents(
    [random_tree(int(size), 3) for size in RANDOM.integers(1, 30, 10)]
    + [random_tree(25, 1, 1), random_tree(12, 2, 1), random_tree(20, 1), (["0"], [-1]), (["unlike"], [-1])]
)


def gram_matrix(k, X):
    return np.array([[k(x, y) for y in X] for x in X])


@st.composite
def forests(draw):
    n_labels = draw(st.integers(1, 4))
    trees = []
    for _ in range(draw(st.integers(1, 5))):
        size = draw(st.integers(1, 12))
        labels = draw(st.lists(st.integers(0, n_labels - 1).map(str), min_size=size, max_size=size))
        trees.append((labels, [-1, *(draw(st.integers(0, node - 1)) for node in range(1, size))]))
    return Trees.from_parents(trees)


@pytest.mark.parametrize(
    ("kernel", "slow"),
    [
        (Subpath(0.5), path_kernel(0.5)),
        (Subpath(1.0), path_kernel(1.0)),
        (Subpath(0.8, 3), path_kernel(0.8, 3)),
        (Subpath(0.8, 1), path_kernel(0.8, 1)),
        (Subpath(0.3, index="xbw"), path_kernel(0.3)),
        (Subpath(1.0, 2, index="xbw"), path_kernel(1.0, 2)),
        (RootPaths(), path_kernel(1.0, from_root=True)),
        (RootPaths(0.3), path_kernel(0.3, from_root=True)),
    ],
    ids=lambda value: "" if callable(value) and not hasattr(value, "gram") else str(value),
)
def test_the_laws_of_kernels_hold(kernel, slow):
    check_kernel(kernel, FOREST, slow)


@settings(deadline=None, max_examples=100)
@given(forests(), st.sampled_from([0.2, 0.5, 1.0]), st.sampled_from([None, 1, 2, 5]))
def test_spaces_and_indexes_agree_with_the_definition(X, decay, max_length):
    K = gram_matrix(path_kernel(decay, max_length or np.inf), list(X))
    beta = RANDOM.normal(size=(len(X), 3))
    scale = K.max()
    for index in ("arrays", "xbw"):
        kernel = Subpath(decay, max_length, index)
        space = ProductSpace.build(kernel, kernel.batch(X))
        np.testing.assert_allclose(space.product(beta), K @ beta, atol=1e-12 * scale)
        np.testing.assert_allclose(space.product(beta[:, 0]), K @ beta[:, 0], atol=1e-12 * scale)
        np.testing.assert_allclose(kernel(X), K, rtol=1e-12)
        np.testing.assert_allclose(kernel(X[1:], X[:1]), K[1:, :1], rtol=1e-12)
        np.testing.assert_allclose(
            kernel.expansion(X[1:], beta[1:]).values(X[:1]), K[:1, 1:] @ beta[1:], atol=1e-12 * scale
        )
    kernel = Subpath(decay, max_length)
    features, rows = kernel.fit_features(X)
    phi = rows.to_csr()
    np.testing.assert_allclose((phi @ phi.T).toarray(), K, rtol=1e-12)
    features, rows = kernel.fit_features(X[::2])  # the others bring paths that match edges in part
    np.testing.assert_allclose((rows.to_csr() @ features.transform(X).to_csr().T).toarray(), K[::2], rtol=1e-12)


@settings(deadline=None, max_examples=50)
@given(forests(), forests())
def test_the_upward_order_is_that_of_the_strings(X, Y):
    assert_upward_order_is_that_of_strings(X)
    assert_upward_order_is_that_of_strings(Y)


def assert_upward_order_is_that_of_strings(X):
    strings = sorted((upward(tree, node), i) for i, tree in enumerate(X) for node in range(len(tree.labels)))
    owner, lcp, length = _core.upward_order(X.arrays)
    assert [(len(s), i) for s, i in strings] == list(zip(length.tolist(), owner.tolist(), strict=True))
    assert lcp.tolist() == [0] + [common(a, b) for (a, _), (b, _) in pairwise(strings)]


def upward(tree, node):
    labels = []
    while node >= 0:
        labels.append(tree.labels[node])
        node = tree.parents[node]
    return labels


def common(a, b):
    return next((k for k, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@pytest.mark.parametrize("n_labels", [1, 2, 7, 1000])
def test_long_chains_are_sorted_by_doubling(n_labels):
    labels = [RANDOM.integers(0, n_labels, 400).tolist() for _ in range(3)]
    labels += [labels[0][:200] + labels[1][200:], [0] * 500, ([0] * 9 + [n_labels - 1]) * 40]
    alphabet = [f"{label:04}" for label in range(n_labels)]
    X = Trees.from_parents([([alphabet[x] for x in row], range(-1, len(row) - 1)) for row in labels])
    assert_upward_order_is_that_of_strings(X)


def test_rows_are_the_counts_of_paths_on_edges():
    X = Trees(["(a (b c))", "(b c)", "(a (d c))"])
    features, rows = Subpath(0.5).fit_features(X)
    names = [features.name(id) for id in range(features.n_features)]
    assert sorted(names) == ["(a/)d", "(a/)d/c", "a", "a/b", "a/b/c", "b", "b/c", "c"]
    phi = rows.to_csr().toarray()
    column = dict(zip(names, phi.T, strict=True))
    np.testing.assert_allclose(column["c"], np.sqrt(0.5) * np.ones(3))
    np.testing.assert_allclose(column["(a/)d/c"], [0, 0, np.sqrt(0.25 + 0.125)])


def test_names_of_root_paths_begin_with_a_slash():
    features, _ = RootPaths().fit_features(Trees(["(a (b) (b (c)))"]))
    assert [features.name(id) for id in range(3)] == ["/a", "/a/b", "/a/b/c"]
    with pytest.raises(IndexError, match="feature 3 does not exist: there are 3"):
        features.name(3)


def test_there_are_at_most_two_features_for_each_path_from_a_root():
    features, _ = Subpath(1.0).fit_features(FOREST)
    distinct = set().union(*(path_counts(tree, from_root=True) for tree in FOREST))
    assert features.n_features <= 2 * len(distinct)
    with pytest.raises(IndexError, match="does not exist"):
        features.name(features.n_features)


def chains(size):
    labels = [np.zeros(size), RANDOM.integers(0, 2, size), np.arange(size) % 7, np.zeros(3)]
    parents = [np.arange(-1, len(row) - 1) for row in labels]
    offsets = np.cumsum([0, *map(len, labels)])
    return Trees.from_arrays(np.concatenate(labels), np.concatenate(parents), offsets, list("abcdefg"))


def test_chains_of_a_hundred_thousand_nodes_are_no_trouble():
    X, n = chains(100_000), 100_000
    for index in ("arrays", "xbw"):
        kernel = Subpath(1.0, index=index)
        products = ProductSpace.build(kernel, kernel.batch(X)).product(np.eye(4))
        np.testing.assert_allclose(
            products[0, 0], sum((n - length + 1.0) ** 2 for length in range(1, n + 1)), rtol=1e-12
        )
        np.testing.assert_allclose(products[0, 3], 3 * n + 2 * (n - 1) + n - 2, rtol=1e-9)
    _, rows = Subpath(0.5).fit_features(X)
    np.testing.assert_allclose(rows.diag(), Subpath(0.5).diag(X), rtol=1e-10)
    with pytest.raises(
        InputError, match=r"the rows of these trees would take up to .* or bound the paths by max_length"
    ):
        Subpath(1.0).fit_features(X)


def test_features_predict_what_examples_predict():
    y = np.array([str(len(tree.labels) > 12) for tree in FOREST])
    for kernel in (Subpath(0.5), Subpath(0.7, 4).normalized(), RootPaths(0.5), RootPaths().normalized()):
        model = treille.SVC(kernel).fit(FOREST[::2], y[::2])
        K = kernel(FOREST, FOREST[::2])
        _, rows = kernel.fit_features(FOREST[::2])
        beta = np.linalg.lstsq(rows.to_csr().toarray().T, model.coef_[0], rcond=None)[0]
        np.testing.assert_allclose(model.decision_function(FOREST), K @ beta + model.intercept_, atol=1e-8)


def test_outputs_of_raw_paths_need_no_norms(monkeypatch):
    features, _ = Subpath().fit_features(Trees(["(a (b c))", "(b)"]))
    batch, weights = Trees(["(a (b c) d)"]), np.arange(float(features.n_features))[:, None]
    expected = features.transform(batch).matvec(weights)
    monkeypatch.setattr(Subpath, "diagonal", None)
    assert features.row_products(weights)(batch, 1).tolist() == expected.tolist()


def test_features_and_products_by_either_index_reach_one_optimum():
    X = Trees.from_parents([random_tree(int(size), 3) for size in RANDOM.integers(1, 30, 60)])
    y = RANDOM.random(60) < 0.4
    for kernel in (Subpath(0.5).normalized(), Subpath(0.9, 4).normalized()):
        rows = treille.SVC(kernel, tol=1e-6, max_epochs=100_000).fit(X, y)
        for index in ("arrays", "xbw"):
            by_products = clone(kernel).set_params(kernel__index=index)
            model = treille.SVC(by_products, tol=1e-6, max_epochs=100_000, solver=CuttingPlane()).fit(X, y)
            assert model.plan_.space.name == "product"
            np.testing.assert_allclose(model.report_.primal, rows.report_.primal, rtol=1e-5)
            np.testing.assert_allclose(model.decision_function(X), rows.decision_function(X), atol=0.01)


@pytest.mark.parametrize("kernel", [Subpath(0.5), Subpath(0.7, 2).normalized(), RootPaths(0.9)], ids=str)
def test_models_come_back_from_their_files(kernel, tmp_path):
    y = [str(len(tree.labels) > 12) for tree in FOREST]
    model = treille.SVC(kernel).fit(FOREST, y)
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    new = Trees(["(0 (1 (2) (1 0)))", "(unlike (unseen))", "(unseen (0))"])
    assert np.array_equal(again.decision_function(new), model.decision_function(new))
    assert again.top_features(3) == model.top_features(3)


@pytest.mark.parametrize("index", ["arrays", "xbw"])
def test_functions_of_examples_come_back_from_their_state(index):
    kernel = Subpath(0.5, index=index).normalized()
    kept = KernelFunctions.of(kernel, kernel.batch(FOREST), RANDOM.normal(size=(len(FOREST), 2)), np.ones(2))
    spec, arrays = kept.state()
    again = read_functions(kernel, json.loads(json.dumps(spec)), arrays, 2)
    new = kernel.batch(["(0 (1 (2) (1 0)))", "(unlike (unseen))"])
    assert np.array_equal(again.outputs(new), kept.outputs(new))
    np.testing.assert_allclose(kept.outputs(new), kernel(new, FOREST) @ kept.coefficients + 1, atol=1e-12)


def test_an_index_is_read_as_trees_are():
    index, K = XBW(FOREST), Subpath(0.5)(FOREST)
    np.testing.assert_array_equal(Subpath(0.5)(index), K)
    assert isinstance(Subpath(index="xbw").batch(FOREST), XBW)
    assert Subpath(index="xbw").batch(index) is index
    assert Subpath(0.5).fit_features(Subpath(0.5).batch(index))[0].n_features > 0


def test_the_index_alone_has_products_but_no_features():
    kernel = Subpath(index="xbw")
    assert kernel.multiplies(kernel.batch(FOREST))
    assert not kernel.has_features
    with pytest.raises(InputError, match="has no explicit features"):
        kernel.fit_features(kernel.batch(FOREST))
    assert Kernel.from_spec(kernel.spec()).index == "xbw"


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("index", ["arrays", "xbw"])
def test_the_number_of_threads_changes_nothing(threads, index):
    kernel = Subpath(0.7, index=index)
    batch = kernel.batch(FOREST[np.tile(np.arange(len(FOREST)), 300)])
    beta = RANDOM.normal(size=(len(batch), 19))
    for use in (
        lambda n_jobs: kernel.fit_product(batch, n_jobs).matvec(beta),
        lambda n_jobs: kernel.diagonal(batch, n_jobs),
        lambda n_jobs: kernel.expansion(batch[30:], beta[30:], n_jobs).values(batch[:30], n_jobs),
    ):
        assert np.array_equal(use(1), use(threads))


def test_no_trees_give_an_empty_matrix():
    for kernel in (Subpath(), Subpath(index="xbw"), RootPaths()):
        assert kernel([]).shape == (0, 0)
        assert kernel(["(a)"], []).shape == (1, 0)
        assert kernel([], ["(a)"]).shape == (0, 1)
        assert kernel.diag([]).tolist() == []
        empty, some = kernel.batch([]), kernel.batch(["(a)", "(b)"])
        assert kernel.expansion(some, np.ones((2, 3))).values(empty).shape == (0, 3)
        assert kernel.expansion(empty, np.ones((0, 3))).values(some).tolist() == [[0] * 3] * 2


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Subpath(0), "decay is 0, expected a positive number"),
        (Subpath(float("inf")), "decay is inf, expected"),
        (Subpath("a"), "decay is 'a', expected"),
        (Subpath(0.5, 0), "max_length is 0, expected a whole number of at least 1"),
        (Subpath(0.5, 1.5), "max_length is 1.5, expected a whole number"),
        (Subpath(0.5, None, "tree"), "index is 'tree', expected 'arrays' or 'xbw'"),
        (RootPaths(True), "decay is True, expected"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_where_they_are_used(kernel, message):
    for use in (kernel, kernel.diag):
        with pytest.raises(InputError, match=message):
            use(FOREST)


@pytest.mark.parametrize(
    "damage",
    [
        lambda a: a.update(path_parent=a["path_parent"] + 1),
        lambda a: a.update(path_label=a["path_label"] + 100),
        lambda a: a.update(node_parent=a["node_parent"][::-1]),
        lambda a: a.update(node_depth=a["node_depth"] + 50),
        lambda a: a.update(node_depth=a["node_depth"] * 0),
        lambda a: a.update(edge_start=a["edge_start"][:-1]),
        lambda a: a.update(edge_start=a["edge_start"] - 100),
        lambda a: a.update(feature=a["feature"] * 0),
    ],
)
def test_features_that_do_not_fit_together_are_refused(damage):
    spec, arrays = Subpath(0.5).fit_features(FOREST)[0].state()
    damage(arrays)
    with pytest.raises(InputError, match="the paths in the file do not fit its kernel"):
        Subpath(0.5).load_features(spec, arrays)


@pytest.mark.parametrize("name", ["label", "parent", "feature"])
def test_root_paths_that_do_not_fit_together_are_refused(name):
    spec, arrays = RootPaths().fit_features(FOREST)[0].state()
    with pytest.raises(InputError, match=rf"the array '{name}' has numbers outside of"):
        RootPaths().load_features(spec, arrays | {name: arrays[name] + 1000})


def test_new_trees_are_never_encoded_as_an_index(monkeypatch):
    trees = ["(S (NP he) (VP sat))", "(S (NP she) (VP ran))", "(Q (A b) (C d))", "(Q (A b) (E f))"]
    model = treille.SVC(Subpath(index="xbw")).fit(trees, [0, 0, 1, 1])
    support = model.functions_.support
    assert isinstance(support, XBW)
    assert support._source is None, "the model keeps the index, not the trees"
    expected = model.decision_function(trees)
    monkeypatch.setattr("treille.data.xbw._core.Xbw", None)
    assert np.array_equal(model.decision_function(trees), expected)
