"""Gappy against its definition: every choice of places, gaps bounded."""

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import Features, InputError
from treille.kernels import Gappy, NGram
from treille.testing import check_kernel
from twins import cosine

TEXTS = ["to be or not to be", "", "be", "or be, or not", "o", "TO BE \U0001f600", "\ud800 not", "not to be or to"]


def gappy_features(x, n, decay, max_gap=None, max_total_gap=None, count="gaps"):
    phi = Counter()
    for places in combinations(range(len(x)), n):
        gaps = [b - a - 1 for a, b in pairwise(places)]
        if (max_gap is None or max(gaps, default=0) <= max_gap) and (
            max_total_gap is None or sum(gaps) <= max_total_gap
        ):
            phi[tuple(x[p] for p in places)] += decay ** (sum(gaps) + (n if count == "span" else 0))
    return phi


def gappy_kernel(*parameters):
    def k(x, y):
        phi, psi = gappy_features(x, *parameters), gappy_features(y, *parameters)
        return sum(value * psi[z] for z, value in phi.items())

    return k


@pytest.mark.parametrize("decay", [0.5, 0.25, 1.0])
def test_cat_cart_bar_has_the_column_a_t(decay):
    """The lecture's table has no column a-t, and so lacks the term decay of k(cat, cart)."""
    K = Gappy(2, decay, max_gap=2)(["cat", "cart", "bar"])
    expected = [
        [2 + decay**2, 1 + decay + decay**3, 0],
        [1 + decay + decay**3, 3 + 2 * decay**2 + decay**4, 1],
        [0, 1, 2 + decay**2],
    ]
    np.testing.assert_allclose(K, expected, rtol=1e-15)
    span = Gappy(2, decay, max_gap=2, count="span")(["cat", "cart", "bar"])
    np.testing.assert_allclose(span, decay**4 * K, rtol=1e-15)


@pytest.mark.parametrize(
    "parameters",
    [
        (1, 0.5),
        (2, 0.5, 2),
        (2, 0.3, None, 3, "span"),
        (3, 0.7, 1),
        (3, 0.9, 2, 2),
        (4, 1.0, 3, 3, "span"),
        (3, 0.5, 0),
    ],
    ids=str,
)
def test_the_battery_passes(parameters):
    check_kernel(Gappy(*parameters), TEXTS, gappy_kernel(*parameters))
    check_kernel(Gappy(*parameters).normalized(), TEXTS, cosine(gappy_kernel(*parameters)))


def test_the_battery_passes_for_words_bytes_and_integers():
    slow = gappy_kernel(2, 0.5, 2)
    check_kernel(Gappy(2, 0.5, 2, unit="word"), TEXTS, slow)
    check_kernel(Gappy(2, 0.5, 2, unit="byte"), [b"ab\xff\0", b"", b"b\xffa"], slow)
    check_kernel(Gappy(2, 0.5, 2), [np.arange(400), np.arange(9), np.arange(3)[::-1]], slow)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.text("abc", max_size=9), min_size=2, max_size=5),
    st.integers(1, 4),
    st.sampled_from([0.1, 0.5, 1.0]),
    st.integers(0, 4),
    st.none() | st.integers(0, 5),
    st.sampled_from(["gaps", "span"]),
)
def test_random_strings_give_the_twins_values(texts, n, decay, max_gap, total, count):
    k = gappy_kernel(n, decay, max_gap, total, count)
    expected = [[k(x, y) for y in texts] for x in texts]
    np.testing.assert_allclose(Gappy(n, decay, max_gap, total, count)(texts), expected, rtol=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text("ab", max_size=20), min_size=1, max_size=5), st.integers(1, 4))
def test_without_gaps_they_are_n_grams(texts, n):
    assert np.array_equal(Gappy(n, max_gap=0)(texts), NGram(n)(texts))


def test_long_patterns_are_no_trouble():
    x = "ab" * 3000
    assert Gappy(2000, max_gap=0).diag([x]).tolist() == NGram(2000).diag([x]).tolist()


@pytest.mark.parametrize(
    ("unit", "text", "names"),
    [
        ("char", "cat", ["c-a", "c-t", "a-t"]),
        ("word", "to be or", ["to - be", "to - or", "be - or"]),
        ("byte", "a\n", ["a-\\n"]),
    ],
)
def test_names_show_the_symbols_in_order(unit, text, names):
    assert Features(Gappy(2, max_gap=1, unit=unit)).fit([text]).get_feature_names_out().tolist() == names


def test_a_model_is_saved_and_read_back(tmp_path):
    texts = ["cat", "cart", "carrot", "bar", "barn", "bard"]
    model = treille.SVC(Gappy(2, max_gap=2).normalized()).fit(texts, ["c", "c", "c", "b", "b", "b"])
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert np.array_equal(
        again.decision_function(["cab", "xyz", "brat"]), model.decision_function(["cab", "xyz", "brat"])
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n": 0, "max_gap": 1}, "n is 0, expected a whole number of at least 1"),
        ({"n": 1.5, "max_gap": 1}, "n is 1.5, expected a whole number"),
        ({"decay": 0, "max_gap": 1}, "decay is 0, expected a positive number"),
        ({"decay": float("inf"), "max_gap": 1}, "decay is inf, expected a positive number"),
        ({"decay": float("nan"), "max_gap": 1}, "decay is nan, expected"),
        ({"decay": "1", "max_gap": 1}, "decay is '1', expected"),
        ({"max_gap": -1}, "max_gap is -1, expected a whole number of at least 0"),
        ({"max_total_gap": 0.5}, "max_total_gap is 0.5, expected a whole number"),
        ({"max_gap": 1, "count": "both"}, "count is 'both', expected 'gaps' or 'span'"),
        ({"n": 3}, r"neither max_gap nor max_total_gap is given.*use Subsequence\(3, 0.5\)"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(params, message):
    kernel = Gappy(**params)
    for use in (kernel, kernel.diag, Features(kernel).fit):
        with pytest.raises(InputError, match=message):
            use(["abba"])


@pytest.mark.parametrize(
    "cells", [np.zeros((1, 2)), np.full((1, 2), 3), np.full((1, 3), 1), np.full((1, 2), -1), np.ones(2)], ids=str
)
def test_patterns_that_do_not_fit_the_kernel_are_refused(cells):
    with pytest.raises(InputError, match=r"the patterns in the file do not fit its kernel|'patterns' has 1 dimensions"):
        Gappy(2, max_gap=1).load_features(
            {"alphabet": ["a", "b"], "unit": "char"}, {"patterns": cells.astype(np.int32)}
        )
