"""Kernels of counts on lattices: expected counts compared with the sum over all paths."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, cross_val_score

import treille
from lattice_twins import (
    DIAMONDS,
    assert_same_features,
    between_distributions,
    by_name,
    expected_features,
    machines,
    sausage,
)
from machine_twins import slow_paths
from treille import Fst, InputError, Lattices, Strings
from treille.kernels import (
    AllSubstrings,
    GappedKmer,
    Gappy,
    Mismatch,
    NGram,
    Subsequence,
    WeightedDegree,
    Wildcard,
)
from treille.testing import check_kernel
from twins import ngram_kernel

ABC = ["a", "b", "c"]
KERNELS = [
    NGram(1),
    NGram(2),
    NGram(3, min_n=1, order_weights=[0.25, 1.0, 4.0]),
    Gappy(2, decay=0.5, max_gap=2),
    Gappy(3, decay=0.3, max_total_gap=2),
    Gappy(3, decay=0.7, max_gap=2, max_total_gap=3, count="span"),
    Gappy(1, decay=0.5),
    Wildcard(3, m=1, decay=0.5),
    Mismatch(2, m=1, alphabet=ABC),
    GappedKmer(3, 2),
    GappedKmer(3, 2, skip=["c"]),
]
CAT = Fst.from_arcs(
    [
        (0, "the", "the", 0.6, 1),
        (0, "", "", 0.4, 1),
        (1, "cat", "cat", 0.5, 2),
        (1, "black", "black", 0.5, 3),
        (3, "", "", 0.2, 2),
        (3, "cat", "cat", 0.8, 2),
    ],
    {2: 1.0},
)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@settings(max_examples=40)
@given(items=st.lists(machines(signed=True), min_size=1, max_size=4))
def test_features_are_expected_values_over_all_paths(kernel, items):
    batch = Lattices(items, normalize=False)
    found = by_name(kernel, batch)
    for machine, features in zip(items, found, strict=True):
        slow = expected_features(kernel, machine)
        assert all(value != 0 for value in features.values())
        assert_same_features(features, slow)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@settings(max_examples=20)
@given(items=st.lists(st.lists(st.sampled_from(ABC), max_size=8), min_size=1, max_size=5))
def test_a_lattice_of_one_string_is_that_string(kernel, items):
    lattices, strings = by_name(kernel, Lattices(Strings(items))), by_name(kernel, Strings(items))
    for one, other in zip(lattices, strings, strict=True):
        assert one.keys() == other.keys()
        assert all(one[name] == pytest.approx(other[name], rel=1e-14) for name in one)


@given(st.lists(st.text("abcd", max_size=12), min_size=1, max_size=6), st.integers(1, 3), st.integers(0, 2))
def test_n_grams_have_the_same_ids_as_those_of_strings(items, n, more):
    kernel = NGram(n + more, min_n=n)
    (features, rows), (others, same) = (kernel.fit_features(x) for x in (Lattices(items), kernel.batch(items)))
    assert [features.name(i) for i in range(features.n_features)] == [others.name(i) for i in range(others.n_features)]
    assert (rows.to_csr() != same.to_csr()).nnz == 0
    np.testing.assert_array_equal(rows.diag(), same.diag())


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@settings(max_examples=15)
@given(
    fitted_on=st.lists(st.lists(st.sampled_from("ab"), max_size=6), min_size=1, max_size=4).filter(any),
    items=st.lists(machines(), min_size=1, max_size=3),
)
def test_fitted_on_strings_or_lattices_new_examples_may_be_either(kernel, fitted_on, items):
    strings, lattices = Strings(fitted_on), Lattices(items, normalize=False)
    known = set().union(*by_name(kernel, strings))
    for found, machine in zip(by_name(kernel, lattices, strings), items, strict=True):
        slow = expected_features(kernel, machine)
        for name in known:
            assert found.get(name, 0.0) == pytest.approx(slow[name], rel=1e-9, abs=1e-12)
    features, rows = kernel.fit_features(lattices)
    new = features.transform(strings)
    np.testing.assert_allclose((new.to_csr() @ rows.to_csr().T).toarray(), kernel(strings, lattices), atol=1e-12)
    np.testing.assert_allclose(new.diag(), kernel.diag(strings))  # with parts never seen


@pytest.mark.parametrize("kernel", [*KERNELS, NGram(2).normalized(), NGram(1) + Gappy(2, max_gap=1)], ids=repr)
def test_the_laws_hold_on_lattices(kernel):
    other = Fst.from_arcs([(0, "b", "b", 1.0, 1), (1, "c", "c", 0.1, 2), (1, "a", "a", 0.9, 2)], {2: 1.0})
    X = Lattices([DIAMONDS, other, Fst.from_arcs([], {}), list("abcab"), Fst.from_arcs([], {0: 1.0}), list("ab")])
    check_kernel(kernel, X)


def test_the_kernel_of_distributions_is_the_expected_kernel():
    X = Lattices([CAT, ["the", "cat"], ["black", "cat", "cat"], Fst.from_arcs([], {})])
    for n, min_n in ((1, None), (2, None), (3, 1)):
        check_kernel(NGram(n, min_n), X, between_distributions(ngram_kernel(n, min_n)))


def test_words_beside_an_empty_arc_are_neighbours():
    found = by_name(NGram(2), [CAT])[0]
    assert found == pytest.approx({"the cat": 0.3, "black cat": 0.4, "the black": 0.3})


def test_reverse_complements_count_in_lattices():
    arcs = [
        (0, "A", "A", 0.5, 1),
        (0, "C", "C", 0.5, 1),
        (1, "G", "G", 1.0, 2),
        (2, "T", "T", 0.25, 3),
        (2, "N", "N", 0.75, 3),
    ]
    machine = Fst.from_arcs(arcs, {3: 1.0})
    kernel = GappedKmer(2, 1, skip=["N"], reverse_complement=True)
    found, slow = by_name(kernel, [machine])[0], expected_features(kernel, machine)
    assert found == pytest.approx(dict(slow))


def test_a_long_lattice_is_not_its_paths():
    """2^400 paths, 799 bigrams."""
    batch = Lattices([sausage([(f"a{i}", f"b{i}") for i in range(400)])])
    rows = NGram(2).fit_features(batch)[1]
    assert rows.n_entries == 399 * 4
    np.testing.assert_allclose(rows.to_csr().data, 0.25)
    np.testing.assert_allclose(NGram(1).fit_features(batch)[1].to_csr().sum(), 400)


def test_equal_prefixes_are_one():
    """Every arc reads the same symbol: one n-gram for each order, though 3^60 paths spell it."""
    rows = NGram(30, min_n=1).fit_features(Lattices([sausage(["aaa"] * 60)]))[1]
    np.testing.assert_allclose(np.sort(rows.to_csr().data), np.arange(31, 61))


@pytest.mark.parametrize("kernel", [None, NGram(2, min_n=1), Gappy(2, max_gap=2).normalized()], ids=repr)
def test_svc_learns_saves_and_loads_on_lattices(kernel, tmp_path):
    def heard(good, bad, p):
        return Fst.from_arcs([(0, good, good, p, 1), (0, bad, bad, 1 - p, 1), (1, "so", "so", 1.0, 2)], {2: 1.0})

    X = [heard("yes", "guess", 0.9), heard("yes", "no", 0.7), heard("no", "know", 0.8), heard("no", "yes", 0.6)]
    y = ["yes", "yes", "no", "no"]
    model = treille.SVC(kernel).fit(X, y)
    assert model.predict(X).tolist() == y
    assert model.predict(Lattices([["yes", "so"], ["no", "so"]])).tolist() == ["yes", "no"]
    assert model.predict([["yes", "so"], ["no", "so"]]).tolist() == ["yes", "no"]
    assert model.report_.status == "converged"
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert pickle.loads(pickle.dumps(model)).predict(X).tolist() == y


def test_scikit_learn_splits_and_searches_lattices():
    def heard(word, weight):
        return Fst.from_arcs([(0, word, word, weight, 1), (0, "eh", "eh", 1 - weight, 1)], {1: 1.0})

    machines = [heard(word, weight) for weight in (0.5, 0.6, 0.7, 0.8) for word in ("yes", "no")]
    y = ["yes", "no"] * 4
    for X in (Lattices(machines), machines):
        assert cross_val_score(treille.SVC(NGram(1)), X, y, cv=2).tolist() == [1.0, 1.0]
    search = GridSearchCV(treille.SVC(NGram(1)), {"kernel__n": [1, 2]}, cv=2).fit(Lattices(machines), y)
    assert search.best_params_ == {"kernel__n": 1}


def test_training_on_kernel_values_works_too():
    X, y = Lattices([CAT, ["the", "cat"], ["a", "dog"], ["dog"]]), [1, 1, 0, 0]
    model = treille.SVC(NGram(1), solver=treille.solvers.SMO()).fit(X, y)
    assert model.predict(X).tolist() == y


@pytest.mark.parametrize(
    "kernel",
    [AllSubstrings(), Subsequence(2), WeightedDegree(2), GappedKmer(3, 2, alphabet=ABC, filter="full")],
    ids=repr,
)
def test_kernels_that_cannot_read_lattices_say_what_can(kernel):
    with pytest.raises(InputError, match=r"reads sequences, found lattices: use NGram"):
        kernel([CAT])


def test_the_fast_product_says_what_to_use_instead():
    with pytest.raises(InputError, match="found lattices: use explicit features"):
        NGram(2).fit_product(Lattices([CAT]))


def test_a_symbol_outside_the_alphabet_is_named():
    with pytest.raises(InputError, match="item 1: the symbol 'd' on arc 1 is not in the alphabet"):
        Mismatch(2, alphabet=ABC)(Lattices([["a"], ["a", "d"]]))


def test_characters_do_not_meet_words():
    features, _ = NGram(1).fit_features(Lattices([CAT]))
    with pytest.raises(InputError, match="unit"):
        features.transform(Strings(["abc"]))
    with pytest.raises(InputError, match="use the same unit"):
        NGram(1, unit="word")(Lattices(["abc"]))


def test_paths_of_the_twin_are_all_paths():
    assert sorted(weight for _, _, weight in slow_paths(CAT)) == pytest.approx([0.04, 0.06, 0.16, 0.2, 0.24, 0.3])
