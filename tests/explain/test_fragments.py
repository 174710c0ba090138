"""The search finds the same heaviest tree fragments as an enumeration of all."""

import numpy as np
import pytest

from fragment_twins import fragment_weights, fragments_of
from treille import SVC, InputError, Trees
from treille.data.tree import Tree
from treille.explain import fragments as search
from treille.kernels import NGram, PartialTree, Subsequence, SubsetTree, SubTree

KERNELS = [
    SubsetTree(0.4),
    SubsetTree(1.0),
    SubsetTree(1.5),
    SubsetTree(0.4, leaves=True),
    SubsetTree(0.7, sigma=0.5),
    SubsetTree(0.7, sigma=0.3, leaves=True),
    SubsetTree(0.6, sigma=0.0),
    PartialTree(0.4, 0.4),
    PartialTree(0.8, 1.2, "span"),
    PartialTree(1.3, 0.7),
    PartialTree(1.0, 1.0),
]


def random_trees(seed, n, most=8):
    rng, trees = np.random.default_rng(seed), []
    for _ in range(n):
        parents = [-1] + [int(rng.integers(max(0, k - 3), k)) for k in range(1, int(rng.integers(1, most + 1)))]
        trees.append(Tree([str(rng.choice(list("abc"))) for _ in parents], parents))
    return Trees(trees)


def assert_heaviest(found, weights, count):
    """Weights may be equal, so names are compared through their weights."""
    expected = sorted((w for w in weights.values() if w > 1e-12), reverse=True)[:count]
    np.testing.assert_allclose([one.weight for one in found], expected, rtol=1e-9)
    for one in found:
        assert weights[one.name] == pytest.approx(one.weight)
    assert len({one.name for one in found}) == len(found)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("stored", [search.MOST_STORED, 0], ids=["best first", "depth first"])
def test_the_search_finds_the_same_fragments_as_enumeration(kernel, stored, monkeypatch):
    monkeypatch.setattr(search, "MOST_STORED", stored)
    for seed in range(3):
        trees = random_trees(seed, 8)
        beta = np.random.default_rng(seed).normal(size=(8, 2))
        every = fragment_weights(kernel, trees, beta)
        for count in (1, 5, 10**6):
            for column, found in enumerate(search.heavy_fragments(kernel, trees, beta, count)):
                assert_heaviest(found, {z: w[column] for z, w in every.items()}, count)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_weights_times_values_are_the_kernel(kernel):
    trees, beta = random_trees(0, 6), np.random.default_rng(0).normal(size=(6, 1))
    heavy = search.heavy_fragments(kernel, trees, np.hstack([beta, -beta]), 10**6)
    weights = {one.name: one.weight for one in heavy[0]} | {one.name: -one.weight for one in heavy[1]}
    sums = [sum(weights.get(z, 0.0) * value for z, value, _ in fragments_of(kernel, tree)) for tree in trees]
    np.testing.assert_allclose(sums, kernel.expansion(trees, beta).values(trees)[:, 0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "kernel", [SubsetTree().normalized(), 3 * SubsetTree(leaves=True).normalized() + SubTree()], ids=repr
)
def test_models_with_wrapped_kernels_have_fragments(kernel):
    trees, labels = random_trees(1, 12), np.array(["x", "y", "z"] * 4)
    model = SVC(kernel).fit(trees, labels)
    top = model.fragments(3)
    assert list(top) == ["x", "y", "z"]
    two = SVC(kernel).fit(trees, labels == "x").fragments(2)
    assert all(fragment.weight > 0 for found in (*top.values(), *two.values()) for fragment in found)


def test_a_normalised_kernel_weighs_by_norms():
    trees, kernel = random_trees(2, 6), SubsetTree(0.5)
    beta = np.random.default_rng(0).normal(size=(6, 1))
    norms = np.sqrt(kernel.diagonal(trees))
    (found,) = search.heavy_fragments(4 * kernel.normalized(), trees, beta, 4)
    (plain,) = search.heavy_fragments(kernel, trees, 2 * beta / norms[:, None], 4)
    assert [one.name for one in found] == [one.name for one in plain]
    np.testing.assert_allclose([one.weight for one in found], [one.weight for one in plain])


def test_a_stopped_search_causes_a_warning(monkeypatch):
    monkeypatch.setattr(search, "MOST_VISITED", 5)
    trees = random_trees(0, 20)
    with pytest.warns(UserWarning, match="search for fragments was stopped after 5 occurrences"):
        search.heavy_fragments(PartialTree(), trees, np.ones((20, 1)), 100)


def test_errors_of_models_without_fragments_name_an_alternative():
    texts = ["abab", "cdcd"]
    for kernel in (NGram(2), Subsequence(2)):
        with pytest.raises(
            InputError, match="has no tree fragments to search: use SubsetTree or PartialTree, or top_features"
        ):
            SVC(kernel).fit(texts, [0, 1]).fragments()
    model = SVC(SubsetTree()).fit(["(a (b))", "(a (c))"], [0, 1])
    with pytest.raises(AttributeError, match=r"or fragments\(count\), the heaviest tree fragments"):
        model.top_features()
    assert model.fragments(0) == {0: [], 1: []}


def test_empty_trees_and_no_trees():
    assert search.heavy_fragments(SubsetTree(), Trees([]), np.zeros((0, 1)), 3) == [[]]


def test_a_node_with_many_children_is_searched():
    n, decay, mu = 600, 0.4, 0.4
    trees = Trees([Tree(["r"] + ["a"] * n, [-1] + [0] * n)])
    (found,) = search.heavy_fragments(PartialTree(decay, mu), trees, np.ones((1, 1)), 3)
    pairs = sum((n - 1 - gap) * decay**gap for gap in range(n - 1))
    expected = [n * mu**0.5 * decay, n * mu * decay, pairs * mu**1.5 * decay**2]
    assert [one.name for one in found] == ["(a)", "(r (a))", "(r (a) (a))"]
    np.testing.assert_allclose([one.weight for one in found], expected)
