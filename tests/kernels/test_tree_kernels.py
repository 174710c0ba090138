"""SubTree, SubsetTree and PartialTree against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_twins import EXAMPLES, nested, partial_tree_kernel, subset_tree_kernel, subtree_kernel

import treille
from treille import InputError, Trees
from treille.kernels import PartialTree, SubsetTree, SubTree
from treille.testing import check_kernel
from twins import cosine

KERNELS = [
    (SubsetTree(0.4), subset_tree_kernel(0.4)),
    (SubsetTree(1.0), subset_tree_kernel(1.0)),
    (SubsetTree(0.7, sigma=0.0), subtree_kernel(0.7)),
    (SubsetTree(0.7, sigma=0.5), subset_tree_kernel(0.7, 0.5)),
    (SubsetTree(1.0, leaves=True), subset_tree_kernel(1.0, leaves=True)),
    (SubsetTree(0.3, sigma=0.0, leaves=True), subtree_kernel(0.3, leaves=True)),
    (SubTree(0.4), subtree_kernel(0.4)),
    (SubTree(1.0, leaves=True), subtree_kernel(1.0, leaves=True)),
    (PartialTree(0.4, 0.4), partial_tree_kernel(0.4, 0.4)),
    (PartialTree(0.7, 0.3, count="span"), partial_tree_kernel(0.7, 0.3, "span")),
    (PartialTree(1.0, 1.0), partial_tree_kernel(1.0, 1.0)),
]
BY_NAME = [pytest.param(*pair, id=repr(pair[0])) for pair in KERNELS]
FORESTS = st.lists(nested(), min_size=2, max_size=5)


def matrix(k, X, Y):
    return np.array([[k(x, y) for y in Y] for x in X])


@pytest.mark.parametrize(("kernel", "slow"), BY_NAME)
def test_it_obeys_the_whole_battery(kernel, slow):
    check_kernel(kernel, EXAMPLES, slow)
    check_kernel(kernel.normalized(), EXAMPLES, cosine(slow))


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(KERNELS), FORESTS)
def test_random_trees_give_the_twin_s_values(pair, trees):
    batch = Trees(trees)
    np.testing.assert_allclose(pair[0](batch), matrix(pair[1], batch, batch), rtol=1e-12)


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(KERNELS), FORESTS, st.lists(nested("bcd"), min_size=1, max_size=4))
def test_two_batches_with_different_labels_have_the_values_of_the_definition(pair, trees, others):
    left, right = Trees(trees), Trees(others)
    np.testing.assert_allclose(pair[0](left, right), matrix(pair[1], left, right), rtol=1e-12)
    np.testing.assert_allclose(pair[0].diag(left), pair[0](left).diagonal(), rtol=1e-12)


@settings(deadline=None, max_examples=15)
@given(st.sampled_from(KERNELS), FORESTS)
def test_random_trees_obey_the_battery(pair, trees):
    check_kernel(pair[0], trees, pair[1])


def test_the_lecture_s_count_is_an_option_of_subset_trees():
    # f(leaf, leaf) = 1, f(b, b) = 1 + 1 = 2, f(a, a) = (1 + 2)(1 + 1) = 6, and 1, 1, 2, 6 over all pairs
    assert SubsetTree(1.0, leaves=True)(["(a (b (c)) (d))"]).item() == 1 + 1 + 2 + 6
    assert SubsetTree(1.0)(["(a (b (c)) (d))"]).item() == 1 + 2


def test_words_are_no_nodes_of_subset_trees_but_are_of_partial_trees():
    assert SubsetTree(0.5)(["(NN vine)"], ["(vine (NN))"]).item() == 0
    assert SubsetTree(0.5)(["(vine)"]).item() == 0
    assert PartialTree(0.5, 0.5)(["(vine)"]).item() == 0.125


def test_gaps_and_span_are_two_readings_of_partial_trees():
    wide = ["(a (b) (c) (d) (e))"]
    gaps, span = (PartialTree(0.4, 0.4, count).diag(wide).item() for count in ("gaps", "span"))
    assert gaps > span
    one = ["(a (b))", "(a (b) (b))"]  # with one child taken, there is neither gap nor span
    assert PartialTree(0.4, 0.4)(one)[0, 1] == PartialTree(0.4, 0.4, "span")(one)[0, 1]


@pytest.mark.parametrize("kernel", [SubsetTree(0.9), SubsetTree(0.1, leaves=True), PartialTree(0.1, 0.1), SubTree(0.9)])
def test_deep_and_wide_trees_are_no_trouble(kernel):
    deep = "(a " * 2000 + ")" * 2000
    wide = "(a " + "(b) " * 2000 + ")"
    other = "(a (b) (a (b)))"
    K = kernel([deep, wide, other])
    assert np.isfinite(K).all()
    assert np.array_equal(K, K.T)


def test_subtrees_of_a_very_deep_tree_are_features_in_linear_time():
    deep = "(a " * 100_000 + ")" * 100_000
    assert SubTree(1.0)([deep, "(a (a))"])[0].tolist() == [99_999.0, 1.0]


def test_features_have_names_in_brackets():
    features, _ = SubTree(0.5).fit_features(Trees(["(S (NP he) (VP (V sat)))", "(S (NP he) (VP))"]))
    names = [features.name(i) for i in range(features.n_features)]
    assert names[0] == "(NP he)"
    assert set(names) == {"(NP he)", "(V sat)", "(VP (V sat))", "(S (NP he) (VP (V sat)))", "(S (NP he) (VP))"}


@pytest.mark.parametrize("kernel", [SubTree(0.5).normalized(), SubsetTree(0.5).normalized(), PartialTree()])
def test_models_are_saved_and_loaded(kernel, tmp_path):
    model = treille.SVC(kernel).fit(EXAMPLES, ["a", "b", "a", "b", "a", "b", "a"])
    model.save(tmp_path / "trees.treille")
    again = treille.load(tmp_path / "trees.treille")
    np.testing.assert_allclose(again.decision_function(EXAMPLES), model.decision_function(EXAMPLES), rtol=1e-12)


def test_the_default_kernel_of_trees_counts_fragments():
    X = Trees(EXAMPLES)
    model = treille.SVC().fit(X, ["a", "b", "a", "b", "a", "b", "a"])
    assert "Tree" in str(model.plan_)
    assert model.score(X, ["a", "b", "a", "b", "a", "b", "a"]) > 0.5


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (SubsetTree(0), "decay is 0, expected a positive number"),
        (SubsetTree(float("inf")), "decay is inf"),
        (SubsetTree(0.5, sigma=-1), "sigma is -1, expected a number from 0 to 1"),
        (SubsetTree(0.5, leaves=1), "leaves is 1, expected True or False"),
        (SubTree("a"), "decay is 'a'"),
        (SubTree(0.4, leaves="no"), "leaves is 'no'"),
        (PartialTree(0.4, 0), "mu is 0"),
        (PartialTree(count="all"), "count is 'all', expected 'gaps' or 'span'"),
    ],
)
def test_parameters_out_of_range_are_refused(kernel, message):
    with pytest.raises(InputError, match=message):
        kernel(EXAMPLES)


def test_a_value_too_large_for_a_float_is_refused():
    full = "(a b)"
    for _ in range(12):
        full = f"(a {full} {full})"
    with pytest.raises(InputError, match="of examples 0 and 0 is inf, too large for a float64"):
        SubsetTree(1.0)([full])


def test_deep_trees_keep_their_digits():
    n, decay = 4000, 0.4
    chain = "(a " * (n - 1) + "a" + ")" * (n - 1)
    subset, partial = [decay], [decay**3]  # Delta of two nodes, by the height of the lower one
    for _ in range(n - 2):
        subset.append(decay * (1 + subset[-1]))
    for _ in range(n - 1):
        partial.append(decay * (decay**2 + partial[-1]))
    for kernel, values in ((SubsetTree(decay), subset), (PartialTree(decay, decay), partial)):
        pairs = (value * (2 * (len(values) - height) - 1) for height, value in enumerate(values))
        np.testing.assert_allclose(kernel([chain])[0, 0], math.fsum(pairs), rtol=2e-13)
