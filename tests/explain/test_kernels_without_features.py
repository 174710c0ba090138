"""Models that keep examples explain: by part where the kernel is split by part, otherwise by support example."""

from itertools import combinations

import numpy as np
import pytest

import treille
from fragment_twins import fragment_shares, fragment_weights
from treille import SVC, SVR, Ridge, Trees
from treille.data.tree import Tree
from treille.kernels import (
    AllSubstrings,
    CallableKernel,
    Columns,
    Linear,
    NGram,
    PartialTree,
    RandomWalk,
    Subsequence,
    SubsetTree,
    SubTree,
)
from treille.spaces import Nystrom

RANDOM = np.random.default_rng(0)
CODES = np.array([0, 1, 2] * 8)
LABELS = np.array(["x", "y", "z"])[CODES]
TEXTS = ["".join(RANDOM.choice(list("abcd"[k:] + "d"), 12)) for k in CODES]
NEW = [*TEXTS[:3], "", "unseen", "a"]


def random_tree(rng, most, labels="abc"):
    parents = [-1] + [int(rng.integers(max(0, n - 4), n)) for n in range(1, int(rng.integers(1, most + 1)))]
    return Tree([str(rng.choice(list(labels))) for _ in parents], parents)


TREES = [
    *Trees(
        ["(S (NP he) (VP sat))", "(S (NP he) (VP (V ate) (NP it)))", "(S (NP (D the) (N cat)) (VP (V ate) (NP it)))"]
    ),
    *(random_tree(RANDOM, 9) for _ in range(12)),
    *(random_tree(RANDOM, 9, "a") for _ in range(3)),
]
TREE_KERNELS = [
    SubsetTree(0.4),
    SubsetTree(1.0, leaves=True),
    SubsetTree(0.7, sigma=0.5),
    SubsetTree(0.7, sigma=0.5, leaves=True),
    SubsetTree(0.6, sigma=0.0),
    PartialTree(0.4, 0.4),
    PartialTree(0.8, 1.2, "span"),
    PartialTree(1.0, 1.0),
]


@pytest.mark.parametrize("kernel", TREE_KERNELS, ids=repr)
def test_a_fragment_is_split_equally_among_its_nodes(kernel):
    batch = kernel.batch(TREES)
    support, new = batch[::2], batch[1::2]
    beta = np.random.default_rng(1).normal(size=(len(support), 2))
    found = kernel.expansion(support, beta).contributions(new)
    values = found.shares[id(new)][1]
    weights = fragment_weights(kernel, support, beta)
    expected = np.concatenate([fragment_shares(kernel, tree, weights) for tree in new])
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    np.testing.assert_allclose(found.sums(), kernel.expansion(support, beta).values(new), rtol=1e-11, atol=1e-11)


def test_complete_subtrees_are_split_as_features_are():
    batch = Trees(TREES)
    beta = np.random.default_rng(1).normal(size=(len(batch), 2))
    one, other = (k.expansion(batch, beta).contributions(batch) for k in (SubsetTree(0.6, sigma=0.0), SubTree(0.6)))
    np.testing.assert_allclose(one.shares[id(batch)][1], other.shares[id(batch)][1], atol=1e-12)


@pytest.mark.parametrize("kernel", [SubsetTree(1.0), SubsetTree(0.4, leaves=True), PartialTree(0.5, 0.5)], ids=repr)
def test_large_trees_are_split_exactly(kernel):
    rng = np.random.default_rng(0)
    parents = [-1, *(int(rng.integers(max(0, n - 3), n)) for n in range(1, 60))]
    chain = Trees([Tree(["a"] * 60, parents), Tree(["a", "b"] * 150, [-1, *range(299)])])
    found = kernel.expansion(chain, np.eye(2)).contributions(chain).sums()
    expected = kernel.expansion(chain, np.eye(2)).values(chain)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_many_support_trees_are_read_in_blocks(monkeypatch):
    batch, beta = Trees(TREES), np.random.default_rng(1).normal(size=(len(TREES), 2))
    whole = SubsetTree().expansion(batch, beta).contributions(batch).shares[id(batch)][1]
    monkeypatch.setattr("treille.kernels.tree_kernels.PAIRS", 100)
    np.testing.assert_allclose(
        SubsetTree().expansion(batch, beta).contributions(batch).shares[id(batch)][1], whole, atol=1e-12
    )


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_a_subsequence_is_split_equally_among_its_symbols(n):
    kernel = Subsequence(n, 0.7)
    support, new = (
        kernel.batch(["abacab", "ccba", "a", "aabb", "cabab", "abcabcabc", "", "bb", "ca"]),
        kernel.batch(NEW),
    )
    beta = np.random.default_rng(1).normal(size=(len(support), 2))
    expected = np.zeros((len(new.symbols), 2))
    for i, x in enumerate(new):
        for y, own in zip(support, beta, strict=True):
            for at in combinations(range(len(x)), n):
                for there in combinations(range(len(y)), n):
                    if [x[a] for a in at] == [y[b] for b in there]:
                        value = 0.7 ** (at[-1] - at[0] + there[-1] - there[0] + 2)
                        expected[new.offsets[i] + np.array(at)] += own * value / n
    for threads in (1, 3):
        values = kernel.expansion(support, beta, threads).contributions(new, threads).shares[id(new)][1]
        np.testing.assert_allclose(values, expected, atol=1e-12)


@pytest.mark.parametrize(
    "kernel",
    [AllSubstrings(0.5), AllSubstrings(1.5, min_length=2), AllSubstrings(0.9, min_length=2, max_length=3)],
    ids=repr,
)
def test_a_substring_is_split_equally_among_its_symbols(kernel):
    support, new = (
        kernel.batch(["abacab", "ccba", "", "aaaa", "abcabcabc", "q"]),
        kernel.batch([*NEW, "aaaaa", "abacab"]),
    )
    beta = np.random.default_rng(1).normal(size=(len(support), 2))
    expected = np.zeros((len(new.symbols), 2))
    for i, x in enumerate(new):
        for size in range(kernel.min_length, min(len(x), kernel.max_length or len(x)) + 1):
            for at in range(len(x) - size + 1):
                counts = [sum(y[j : j + size] == x[at : at + size] for j in range(len(y))) for y in support]
                own = new.offsets[i] + at
                expected[own : own + size] += kernel.decay**size * np.array(counts) @ beta / size
    values = kernel.expansion(support, beta, 2).contributions(new, 2).shares[id(new)][1]
    np.testing.assert_allclose(values, expected, atol=1e-12 * max(1.0, np.abs(expected).max()))


def test_substrings_as_n_grams_are_split_as_n_grams_are():
    one, other = AllSubstrings(0.5, 2, 4), NGram(4, min_n=2, order_weights=[0.25, 0.125, 0.0625])
    batch, beta = one.batch(TEXTS), np.random.default_rng(1).normal(size=(len(TEXTS), 2))
    found = [kernel.expansion(batch, beta).contributions(batch).shares[id(batch)][1] for kernel in (one, other)]
    np.testing.assert_allclose(*found, atol=1e-12)


def test_an_empty_support_adds_nothing():
    for kernel, new in (
        (AllSubstrings(), TEXTS),
        (Subsequence(2), TEXTS),
        (SubsetTree(), TREES),
        (PartialTree(), TREES),
    ):
        batch = kernel.batch(new)
        assert not kernel.expansion(batch[:0], np.zeros((0, 2))).contributions(batch).shares[id(batch)][1].any()


MODELS = [
    (AllSubstrings(0.7).normalized(), TEXTS, NEW),
    (Subsequence(2) * NGram(1), TEXTS, NEW),
    ((1 + Subsequence(2)) ** 3, TEXTS, NEW),
    ((Subsequence(2) * AllSubstrings()).normalized() + Subsequence(1), TEXTS, NEW),
    (SubsetTree().normalized() ** 2, TREES + TREES[:6], TREES[:4]),
    (Subsequence(2), TEXTS, NEW),
    (Subsequence(3, 0.8).normalized(), TEXTS, NEW),
    (0.5 * Subsequence(2) + NGram(2).normalized(), TEXTS, NEW),
    ((1 + Subsequence(2)).normalized(), TEXTS, NEW),
    (SubsetTree().normalized(), TREES + TREES[:6], TREES[:4]),
    (2 * PartialTree() + SubTree(), TREES + TREES[:6], TREES[:4]),
]


@pytest.mark.parametrize(("kernel", "X", "new"), MODELS, ids=[repr(kernel) for kernel, _, _ in MODELS])
@pytest.mark.parametrize("labels", [LABELS, LABELS == "x"], ids=["three classes", "two classes"])
def test_contributions_and_shares_sum_to_the_decision(kernel, X, new, labels):
    model = SVC(kernel).fit(X, labels)
    scores = model.decision_function(new).reshape(len(new), -1)
    for found, expected in zip(model.explain_all(new), scores, strict=True):
        assert not found.by_support
        np.testing.assert_allclose(found.scores, expected, rtol=0, atol=1e-9)
        shares = np.sum([one.shares for one in found.support], axis=0)
        np.testing.assert_allclose(shares + found.intercept, expected, rtol=0, atol=1e-9)


def test_support_examples_come_by_size_of_their_share():
    model = SVC(Subsequence(2)).fit(TEXTS, LABELS)
    found = model.explain(TEXTS[0])
    function, _ = found.function()
    sizes = [abs(one.shares[function]) for one in found.support]
    assert sizes == sorted(sizes, reverse=True)
    first = found.support[0]
    assert first.example == model.functions_.support[first.place]
    assert SVC(NGram(2)).fit(TEXTS, LABELS).explain(TEXTS[0]).support == []


def test_kernel_values_with_the_support_are_computed_when_they_are_asked_for(monkeypatch):
    model, calls = SVC(Subsequence(2).normalized()).fit(TEXTS, LABELS), []
    gram = Subsequence.gram
    monkeypatch.setattr(Subsequence, "gram", lambda *arguments: calls.append(1) or gram(*arguments))
    found = model.explain_all(NEW)
    assert not calls
    assert len(found[0].support) == len(found[1].support) == len(model.functions_.support)
    assert len(calls) == 1


def common(x, y):
    return len(set(x) & set(y))


@pytest.mark.parametrize(
    ("kernel", "X", "new"),
    [
        (CallableKernel(common), TEXTS, NEW),
        (CallableKernel(common).normalized(), TEXTS, NEW),
        (
            Columns({"a": CallableKernel(common), "b": Linear()}),
            {"a": TEXTS, "b": CODES * 1.0},
            {"a": NEW, "b": [0.5] * 6},
        ),
    ],
    ids=["function", "normalised function", "one column of two"],
)
def test_support_examples_are_the_parts_if_no_part_is_known(kernel, X, new):
    model = SVC(kernel).fit(X, LABELS)
    for found, expected in zip(model.explain_all(new), model.decision_function(new), strict=True):
        assert found.by_support
        assert len(found.names) == len(model.functions_.support)
        np.testing.assert_allclose(found.scores, expected, rtol=0, atol=1e-9)


def test_precomputed_values_and_walks_are_explained_by_support_example(tmp_path):
    K = NGram(2)(TEXTS)
    model = SVC("precomputed").fit(K, LABELS)
    found = model.explain(K[4])
    assert found.by_support
    assert all(name.startswith("training example ") for name in found.names)
    np.testing.assert_allclose(found.scores, model.decision_function(K[4:5])[0], atol=1e-9)
    model.save(tmp_path / "m.treille")
    assert treille.load(tmp_path / "m.treille").explain(K[4]).names == found.names

    graphs = [treille.data.Graph("CCO"[:2] + "OHN"[k], [(0, 1), (1, 2)]) for k in CODES]
    walks = SVC(RandomWalk()).fit(graphs, LABELS)
    found = walks.explain(graphs[0])
    assert found.by_support
    np.testing.assert_allclose(found.scores, walks.decision_function(graphs[:1])[0], atol=1e-9)


@pytest.mark.parametrize("kernel", [NGram(2), Subsequence(2), SubsetTree()], ids=repr)
def test_landmarks_explain(kernel):
    X = TREES + TREES[:6] if isinstance(kernel, SubsetTree) else TEXTS
    model = SVC(kernel, space=Nystrom(n_landmarks=6)).fit(X, LABELS)
    found = model.explain(X[0])
    assert not found.by_support
    np.testing.assert_allclose(found.scores, model.decision_function(X[:1])[0], atol=1e-9)


@pytest.mark.parametrize("estimator", [SVR(Subsequence(2)), Ridge(Subsequence(2))], ids=repr)
def test_regressors_explain(estimator):
    model = estimator.fit(TEXTS, CODES.astype(float))
    assert model.explain(TEXTS[0]).scores[0] == pytest.approx(model.predict(TEXTS[:1])[0], abs=1e-9)


def test_a_power_is_split_as_its_base_where_that_is_homogeneous():
    kernel, beta = Subsequence(2, 1.0), np.random.default_rng(1).normal(size=(len(TEXTS), 1))
    batch = kernel.batch(TEXTS)
    K = kernel.gram(batch, batch)
    one = batch[:1]
    found = (kernel**2).expansion(batch, beta).contributions(one).shares[id(one)][1]
    expected = kernel.expansion(batch, beta * K[0][:, None]).contributions(one).shares[id(one)][1]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_an_empty_example_has_no_contributions():
    model = SVC(Subsequence(2)).fit(TEXTS, LABELS)
    found = model.explain("")
    assert found.names == []
    np.testing.assert_array_equal(found.scores, found.intercept)


@pytest.mark.parametrize(
    "kernel",
    [NGram(2) * NGram(1), (1 + NGram(2)) ** 3, (2 + NGram(1)) * (1 + NGram(2)), NGram(1) * NGram(2) * NGram(3)],
    ids=repr,
)
def test_products_are_split_alike_with_and_without_features(kernel, monkeypatch):
    batch, beta = kernel.batch(TEXTS[:6]), np.random.default_rng(1).normal(size=(6, 2))
    by_features = kernel.expansion(batch, beta).contributions(batch)
    monkeypatch.setattr(type(kernel), "prefers_features", lambda self, batch, n_jobs=None, known=None: False)
    by_values = kernel.expansion(batch, beta).contributions(batch)
    np.testing.assert_allclose(by_values.base, by_features.base, atol=1e-9)
    expected = by_features.shares[id(batch)][1]
    np.testing.assert_allclose(by_values.shares[id(batch)][1], expected, atol=1e-9 * np.abs(expected).max())
