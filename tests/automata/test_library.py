"""Transducers of the library compared with string kernels, by the features of all short strings."""

from collections import Counter
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from automata_twins import strings
from treille import Fst
from treille.automata import library
from treille.kernels import Gappy, Mismatch, NGram, Wildcard

TEXTS = ["abab", "aabba", "", "b", "cab", "abcabc"]


def features(T, x, symbols, longest):
    """Phi_x(z) = T(x, z) for every z of at most `longest` symbols."""
    return [T(x, z) for z in strings(symbols, longest)]


def gram_matrix(T, symbols, longest, texts=TEXTS):
    Phi = np.array([features(T, x, symbols, longest) for x in texts])
    return Phi @ Phi.T


@pytest.mark.parametrize(("n", "min_n"), [(1, None), (2, None), (3, None), (3, 1), (3, 2)])
def test_the_transducer_of_n_grams_has_the_kernel_of_ngram(n, min_n):
    found = gram_matrix(library.ngram(n, "abc", min_n), "abc", n + 1)
    np.testing.assert_allclose(found, NGram(n, min_n=min_n)(TEXTS))


@pytest.mark.parametrize("max_gap", [None, 0, 1, 3])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_transducer_of_gappy_n_grams_has_the_kernel_of_gappy(n, max_gap):
    found = gram_matrix(library.gappy(n, "abc", 0.5, max_gap), "abc", n + 1)
    np.testing.assert_allclose(found, Gappy(n, decay=0.5, max_gap=9 if max_gap is None else max_gap)(TEXTS))


def test_the_lecture_s_gappy_bigrams():
    T = library.gappy(2, "acrtb", decay=0.5)
    K = gram_matrix(T, "acrtb", 2, ["cat", "cart", "bar"])
    assert K[0, 1] == 1 + 0.5 + 0.5**3
    assert K[0, 2] == 0
    assert K[1, 2] == 1


@pytest.mark.parametrize(("k", "m"), [(1, 0), (2, 1), (3, 0), (3, 1), (3, 2)])
def test_the_transducer_of_mismatches_has_the_kernel_of_mismatch(k, m):
    found = gram_matrix(library.mismatch(k, m, "abc"), "abc", k + 1)
    np.testing.assert_allclose(found, Mismatch(k, m, alphabet="abc")(TEXTS))


@pytest.mark.parametrize(("k", "m"), [(2, 1), (3, 0), (3, 1), (3, 2)])
def test_the_transducer_of_wildcards_has_the_kernel_of_wildcard(k, m):
    found = gram_matrix(library.wildcard(k, m, "abc", decay=0.5), "abc*", k + 1)
    np.testing.assert_allclose(found, Wildcard(k, m, decay=0.5)(TEXTS))


def test_the_library_accepts_words_as_symbols():
    T = library.ngram(2, ["to", "be", "or"])
    assert T(["to", "be", "or", "to", "be"], ["to", "be"]) == 2


def test_counting_accepts_any_acyclic_acceptor():
    A = Fst.from_string("ab") + 0.5 * Fst.from_string("b") + Fst.from_string("", symbols="ab")
    T = library.counting(A, "abc")
    for x in strings("abc", 4):
        text = "".join(x)
        expected = Counter({("a", "b"): text.count("ab"), ("b",): 0.5 * text.count("b"), (): len(text) + 1})
        for z in strings("abc", 2):
            assert T(x, z) == expected[z]
    assert library.counting(Fst.from_string("ab"))("aab", "ab") == 1


def test_counting_all_bigrams_is_the_bigram_transducer():
    bigrams = Fst.from_arcs([(i, c, c, 1.0, i + 1) for i in range(2) for c in "ab"], {2: 1.0})
    direct, counted = library.ngram(2, "ab"), library.counting(bigrams)
    for x, z in product(strings("ab", 4), strings("ab", 3)):
        assert direct(x, z) == counted(x, z)


def test_counting_works_over_costs():
    T = library.counting(Fst.from_string("ab", weight=0.5).astype("log"), "abc")
    assert T("abcab", "ab") == pytest.approx(0.0, abs=1e-12)  # 2 x 0.5 = 1


def distance(x, z):
    @lru_cache(None)
    def d(i, j):
        if i == 0 or j == 0:
            return i + j
        return min(d(i - 1, j) + 1, d(i, j - 1) + 1, d(i - 1, j - 1) + (x[i - 1] != z[j - 1]))

    return d(len(x), len(z))


def scripts(x, z, most, weight):
    """Sum over the ways to turn x into z by at most `most` edits of weight^edits."""
    if not x and not z:
        return 1.0
    total = 0.0
    if x and z and (x[0] == z[0] or most):
        same = x[0] == z[0]
        total += scripts(x[1:], z[1:], most - (not same), weight) * (1 if same else weight)
    if x and most:
        total += scripts(x[1:], z, most - 1, weight) * weight
    if z and most:
        total += scripts(x, z[1:], most - 1, weight) * weight
    return total


@settings(deadline=None, max_examples=60)
@given(st.text("abc", max_size=6), st.text("abc", max_size=6), st.integers(0, 3))
def test_edit_neighbourhoods_weigh_strings_by_their_distance(x, z, most):
    found = library.edit_neighbourhood(most, "abc", semiring="tropical")(x, z)
    assert found == (distance(x, z) if distance(x, z) <= most else np.inf)
    assert library.edit_neighbourhood(most, "abc", 0.5)(x, z) == pytest.approx(scripts(x, z, most, 0.5))


@pytest.mark.parametrize(
    ("make", "states"),
    [
        (lambda: library.ngram(3, "ab"), 4),
        (lambda: library.ngram(3, "ab", min_n=1), 4),
        (lambda: library.gappy(3, "ab"), 4),
        (lambda: library.gappy(3, "ab", max_gap=2), 8),
        (lambda: library.mismatch(3, 1, "ab"), 6),
        (lambda: library.wildcard(3, 1, "ab"), 6),
        (lambda: library.edit_neighbourhood(2, "ab"), 3),
    ],
)
def test_machines_of_the_library_have_the_documented_sizes_and_no_empty_arcs(make, states):
    T = make()
    assert T.connect().n_states == states
    assert not T.has_epsilons
