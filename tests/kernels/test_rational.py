"""Rational kernels: features by a transducer compared with all paths and with kernels that count."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from lattice_twins import DIAMONDS, assert_same_features, by_name, machines, outputs, sausage
from machine_twins import slow_paths
from treille import Fst, InputError, Lattices, Strings
from treille.automata import library
from treille.kernels import Gappy, Kernel, Mismatch, NGram, Rational, Wildcard
from treille.testing import check_kernel
from twins import ngram_kernel

ABC = "abc"


def ngram_transducer(n, alphabet=ABC):
    """Sigma*:eps, n symbols as they are, Sigma*:eps."""
    skip = [(state, symbol, "", 1.0, state) for state in (0, n) for symbol in alphabet]
    keep = [(k, symbol, symbol, 1.0, k + 1) for k in range(n) for symbol in alphabet]
    return Fst.from_arcs([*skip, *keep], {n: 1.0})


def gappy_bigram_transducer(decay, alphabet=ABC):
    """Two symbols with at most one between them, which contributes the factor `decay`."""
    skip = [(state, symbol, "", 1.0, state) for state in (0, 3) for symbol in alphabet]
    keep = [(k, symbol, symbol, 1.0, t) for k, t in ((0, 1), (1, 3), (2, 3)) for symbol in alphabet]
    gap = [(1, symbol, "", decay, 2) for symbol in alphabet]
    return Fst.from_arcs([*skip, *keep, *gap], {3: 1.0})


@st.composite
def transducers(draw, most_states=4):
    """Small and acyclic, with empty strings on either side or both."""
    n = draw(st.integers(1, most_states))
    label = st.sampled_from(["", *ABC])
    arcs = []
    for _ in range(draw(st.integers(0, 3 * n)) if n > 1 else 0):
        source = draw(st.integers(0, n - 2))
        target = draw(st.integers(source + 1, n - 1))
        arcs.append((source, draw(label), draw(label), draw(st.floats(-2, 2)), target))
    finals = draw(st.dictionaries(st.integers(0, n - 1), st.floats(-2, 2), max_size=2))
    nowhere = [(n, symbol, symbol, 1.0, n + 1) for symbol in ABC]  # so that every symbol has a label
    return Fst.from_arcs(arcs + nowhere, finals)


@settings(max_examples=150)
@given(T=transducers(), items=st.lists(machines(signed=True, most_states=4), min_size=1, max_size=3))
def test_features_are_sums_over_all_pairs_of_paths(T, items):
    found = by_name(Rational(T), Lattices(items, normalize=False))
    for machine, features in zip(items, found, strict=True):
        assert_same_features(features, outputs(T, machine))


@settings(max_examples=60)
@given(items=st.lists(machines(), min_size=1, max_size=4), n=st.integers(1, 3))
def test_the_n_gram_transducer_is_ngram(items, n):
    X = Lattices(items, normalize=False)
    T = ngram_transducer(n)
    np.testing.assert_allclose(Rational(T)(X), NGram(n)(X), rtol=1e-9, atol=1e-9)
    names = [
        {features.name(id) for id in range(features.n_features)}
        for features, _ in (kernel.fit_features(X) for kernel in (Rational(T), NGram(n)))
    ]
    assert names[0] == names[1]


@settings(max_examples=25)
@given(items=st.lists(machines(), min_size=1, max_size=4))
def test_transducers_of_the_library_are_the_kernels_that_count(items):
    X = Lattices(items, normalize=False)
    for T, kernel in (
        (library.ngram(2, ABC), NGram(2)),
        (library.ngram(3, ABC, min_n=1), NGram(3, min_n=1)),
        (library.gappy(2, ABC, decay=0.5, max_gap=2), Gappy(2, decay=0.5, max_gap=2)),
        (library.mismatch(2, 1, ABC), Mismatch(2, 1, alphabet=list(ABC))),
        (library.wildcard(3, 1, ABC, decay=0.5), Wildcard(3, 1, decay=0.5)),
    ):
        np.testing.assert_allclose(Rational(T)(X), kernel(X), rtol=1e-9, atol=1e-9, err_msg=repr(kernel))


@given(items=st.lists(machines(), min_size=1, max_size=4))
def test_a_gappy_transducer_is_gappy(items):
    X = Lattices(items, normalize=False)
    expected = Gappy(2, decay=0.5, max_gap=1)(X)
    np.testing.assert_allclose(Rational(gappy_bigram_transducer(0.5))(X), expected, rtol=1e-9, atol=1e-9)


def test_the_battery_passes_on_strings_and_on_lattices():
    T = ngram_transducer(2)
    check_kernel(Rational(T), ["abba", "", "cab", "abab", "c"], ngram_kernel(2))
    check_kernel(Rational(T), Lattices([DIAMONDS, list("abc"), Fst.from_arcs([], {}), list("cab"), list("bb")]))


def test_the_battery_passes_for_a_kernel_without_factors():
    X = ["abba", "", "cab", "abab", "c"]
    check_kernel(Rational(bigram_pairs(), factored=False), X, ngram_kernel(2))
    lattice = Fst.from_arcs([(0, "a", "a", 0.3, 1), (0, "", "", 0.7, 1), (1, "b", "b", 1.0, 2)], {2: 1.0})
    batch = Lattices([lattice, list("ab"), Fst.from_arcs([], {}), list("bb")])
    check_kernel(Rational(bigram_pairs(), factored=False), batch)
    np.testing.assert_allclose(Rational(bigram_pairs(), factored=False)(batch), NGram(2)(batch), rtol=1e-12)


def bigram_pairs(alphabet=ABC):
    """U = T o T^-1 for bigrams: skip on either side, two symbols on both, skip on either side; skips of x come first."""
    arcs = []
    for before, after in ((0, 1), (3, 4)):
        arcs += [(before, symbol, "", 1.0, before) for symbol in alphabet]
        arcs += [(before, "", "", 1.0, after)]
        arcs += [(after, "", symbol, 1.0, after) for symbol in alphabet]
    arcs += [(1, symbol, symbol, 1.0, 2) for symbol in alphabet] + [(2, symbol, symbol, 1.0, 3) for symbol in alphabet]
    return Fst.from_arcs(arcs, {4: 1.0})


@settings(max_examples=60)
@given(U=transducers(), X=machines(most_states=4, signed=True), Y=machines(most_states=4, signed=True))
def test_a_kernel_without_factors_sums_over_all_triples_of_paths(U, X, Y):
    kernel = Rational(U, factored=False)
    left, right = (Lattices([machine], normalize=False) for machine in (X, Y))
    slow = sum(
        u * v * w
        for x, _, u in slow_paths(X)
        for read, written, w in slow_paths(U)
        if read == x
        for y, _, v in slow_paths(Y)
        if y == written
    )
    assert kernel._values(left, right, None)[0, 0] == pytest.approx(slow, rel=1e-9, abs=1e-9)


def test_many_paths_cost_no_more_than_their_grams():
    """2^300 paths: no path is listed, and what the last loop of T reads is not read again for each bigram."""
    X = Lattices([sausage(["ab"] * 300)])
    np.testing.assert_allclose(Rational(ngram_transducer(2))(X), 4 * (299 / 4) ** 2)


def test_the_empty_output_is_a_feature():
    T = Fst.from_arcs([(0, "a", "", 2.0, 0)], {0: 1.0})
    features, rows = Rational(T).fit_features(Strings(["aaa", "", "b"]))
    assert [features.name(i) for i in range(features.n_features)] == ["<eps>"]
    assert rows.to_csr().toarray().ravel().tolist() == [8.0, 1.0, 0.0]


def test_labels_without_symbols_are_numbers():
    T = Fst.from_arcs([(0, 5, 7, 1.0, 0), (0, 6, 8, 1.0, 0)], {0: 1.0})
    features, rows = Rational(T).fit_features(Strings([[5, 6], [5, 5, 9]]))
    assert features.name(0) == "7 8"
    assert rows.n_entries == 1


def test_svc_learns_saves_and_loads(tmp_path):
    kernel = Rational(ngram_transducer(2, "abcd"))
    X, y = ["abab", "abba", "cdcd", "ccdd"], ["ab", "ab", "cd", "cd"]
    model = treille.SVC(kernel).fit(X, y)
    assert model.predict(["aab", "dcd"]).tolist() == ["ab", "cd"]
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert repr(again.kernel) == repr(kernel)
    assert Kernel.from_spec(kernel.spec()).spec() == kernel.spec()


def test_a_kernel_without_factors_trains_by_its_values(tmp_path):
    X, y = Lattices(["abab", "abba", "cbcb", "ccbb"]), [1, 1, 0, 0]
    model = treille.SVC(Rational(bigram_pairs(), factored=False)).fit(X, y)
    assert model.plan_.space.name == "gram"
    assert model.predict(X).tolist() == y
    model.save(tmp_path / "m.treille")
    np.testing.assert_allclose(treille.load(tmp_path / "m.treille").decision_function(X), model.decision_function(X))


def test_features_that_do_not_fit_the_kernel_are_refused():
    kernel = Rational(ngram_transducer(2))
    spec, arrays = kernel.fit_features(kernel.batch(["abba"]))[0].state()
    for wrong in (
        {"labels": arrays["labels"] + 9},
        {"offsets": arrays["offsets"] + 1},
        {"offsets": arrays["offsets"][::-1].copy()},
    ):
        with pytest.raises(InputError, match=r"do not fit its kernel|'offsets' does not rise from 0 to 6"):
            kernel.load_features(spec, arrays | wrong)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Rational("abc"), "T is str, expected a transducer"),
        (Rational(ngram_transducer(1), factored="yes"), "factored is 'yes'"),
        (Rational(Fst.from_arcs([], {0: 0.0}, semiring="log")), "semiring 'log', expected 'real'"),
        (
            Rational(Fst.from_arcs([(0, "a", "a", 1.0, 1), (1, "", "b", 2.0, 2), (2, "", "", 0.5, 1)], {1: 1.0})),
            r"T has a cycle that reads nothing and writes symbols: T o T\^-1: the sum .* diverges",
        ),
        (
            Rational(Fst.from_arcs([(0, "a", "a", 1.0, 0), (0, "", "", 1.0, 0)], {0: 1.0})),
            r"T: the sum over the paths of epsilon arcs from state 0 diverges",
        ),
        (
            Rational(Fst.from_arcs([(0, "a", "a", 1.0, 0), (0, "", "", -1.5, 0)], {0: 1.0}), factored=False),
            r"T: the sum over the paths of epsilon arcs from state 0 diverges",
        ),
        (
            Rational(ngram_transducer(1, "xyz")),
            "T reads no symbol of the examples: it has 'x', 'y', 'z', they have 'a'",
        ),
        (
            Rational(Fst.from_arcs([(0, 1, 1, 1.0, 0)], {0: 1.0})),
            r"the symbols of T are numbers, .* \('a'\): give T symbol",
        ),
        (
            Rational(Fst.from_arcs([(0, "a", "b", 1.0, 0), (0, "b", "b", 1.0, 0)], {0: 1.0}), factored=False),
            r"T is not symmetric: its value for examples 0 and 1 is 1.0, but 0.0 for examples 1 and 0",
        ),
    ],
)
def test_bad_transducers_are_refused(kernel, message):
    with pytest.raises(InputError, match=message):
        kernel(["a", "b"])


def test_cycles_that_read_and_write_nothing_are_summed():
    arcs = [(0, s, s, 0.5, 0) for s in "ab"] + [
        (0, "a", "", 0.25, 1),
        (0, "", "", 0.5, 2),
        (2, "", "", -0.5, 0),
        (1, "b", "b", 1.0, 0),
    ]
    T = Fst.from_arcs(arcs, {0: 1.0, 2: 2.0})
    X = ["ab", "aabb", "ba", "b"]
    for factored in (True, False):
        U = T if factored else T @ ~T
        expected = Rational(U.remove_epsilon(), factored)(X)
        assert Rational(T, factored).has_features is factored
        np.testing.assert_allclose(Rational(U, factored)(X), expected, rtol=1e-14)
    z = "b"
    assert Rational(T, factored=False).diag(["b"])[0] == pytest.approx(T(z, z), rel=1e-15)


def test_cycles_that_only_write_are_summed_in_the_gram_form():
    # a^n is written as a^n followed by any number of b, each of weight r
    r = 0.6
    T = Fst.from_arcs([(0, "a", "a", 1.0, 0), (0, "", "", 1.0, 1), (1, "", "b", r, 1)], {1: 1.0}, input_symbols="ab")
    kernel = Rational(T)
    assert not kernel.has_features
    np.testing.assert_allclose(kernel(["a", "aa"]), np.eye(2) / (1 - r * r), rtol=1e-14)
    np.testing.assert_allclose(kernel.diag(["a", "aa"]), 1 / (1 - r * r), rtol=1e-14)
    # after each a any number of c: k(a^n, a^m) = [n = m] (1 / (1 - r^2))^n
    T = Fst.from_arcs([(0, "a", "a", 1.0, 0), (0, "", "c", r, 0)], {0: 1.0})
    np.testing.assert_allclose(
        Rational(T)(["a", "aa"]), np.diag([1 / (1 - r * r) ** 2, 1 / (1 - r * r) ** 3]), rtol=1e-14
    )
    X, y = ["a", "aa", "aaa", "aaaa"], [0, 1, 0, 1]
    model = treille.SVC(Rational(T), C=100.0).fit(X, y)
    assert model.predict(X).tolist() == y


@pytest.mark.parametrize(
    "weights", [[1e200, 1e200, 1e-200, 1e-200], [1e-200, 1e-200, 1e200, 1e200], [5e-324, 2.0**1000, 2.0**74, 1.0]]
)
def test_values_are_kept_where_weights_leave_the_range_of_numbers_on_the_way(weights):
    T = Fst.from_arcs([(k, "a", "a", weight, k + 1) for k, weight in enumerate(weights)], {4: 1.0})
    for kernel in (Rational(T), Rational(T, factored=False)):
        assert kernel(["aaaa"])[0, 0] == pytest.approx(1.0, rel=1e-14)
    with pytest.raises(InputError, match=r"about 10\^400, too large"):
        Rational(Fst.from_arcs([(k, "a", "a", 1e200, k + 1) for k in range(2)], {2: 1.0}))(["aa"])


def test_asymmetry_is_found_between_two_batches_too():
    kernel = Rational(Fst.from_arcs([(0, "a", "b", 1.0, 0), (0, "b", "b", 1.0, 0)], {0: 1.0}), factored=False)
    with pytest.raises(InputError, match="T is not symmetric"):
        kernel(["a"], ["b", "a"])


def test_a_model_is_saved_as_an_automaton_of_outputs(tmp_path):
    X, y = ["abab", "baba", "aabb", "bbaa", "abba"], [0, 0, 1, 1, 1]
    model = treille.SVC(Rational(library.ngram(2, "ab", min_n=1))).fit(X, y)
    model.save(tmp_path / "m.treille", representation="automaton")
    again = treille.load(tmp_path / "m.treille")
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), rtol=1e-10)
    for name, weight in zip(map(model.features_.name, range(model.features_.n_features)), model.coef_[0], strict=True):
        assert model.weight_automaton()(name) == pytest.approx(weight)


def test_empty_arcs_are_removed_once_per_batch(monkeypatch):
    arcs = [(0, "a", "a", 0.5, 1), (0, "", "", 0.5, 1), (1, "b", "b", 1.0, 2)]
    batch = Lattices([Fst.from_arcs(arcs, {2: 1.0})] * 3)
    kernel, calls = Rational(library.ngram(1, "ab")), []
    plain = treille._core.without_epsilon
    monkeypatch.setattr(treille._core, "without_epsilon", lambda *args: calls.append(1) or plain(*args))
    features, rows = kernel.fit_features(batch)
    features.transform(batch)
    kernel(batch)
    assert len(calls) == 1
    assert np.allclose(rows.to_csr().toarray(), features.transform(Lattices([batch[0]] * 3)).to_csr().toarray())
