"""Wildcard against its definition."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import Features, InputError
from treille.kernels import NGram, Wildcard
from treille.testing import check_kernel

TEXTS = ["to be or not to be", "", "be", "or be, or not", "o", "TO BE \U0001f600", "\ud800 not", "not to be or to"]


def wildcard_kernel(k, m, decay=1.0):
    def features(x):
        phi = Counter()
        for i in range(len(x) - k + 1):
            for open_places in (p for j in range(m + 1) for p in combinations(range(k), j)):
                pattern = tuple(None if j in open_places else x[i + j] for j in range(k))
                phi[pattern] += decay ** len(open_places)
        return phi

    def kernel(x, y):
        phi, psi = features(x), features(y)
        return sum(value * psi[z] for z, value in phi.items())

    return kernel


@pytest.mark.parametrize("parameters", [(1, 0), (3, 0), (2, 1, 0.5), (4, 2, 0.7), (4, 3)], ids=str)
def test_the_battery_passes(parameters):
    check_kernel(Wildcard(*parameters), TEXTS, wildcard_kernel(*parameters))


def test_the_battery_passes_for_words_bytes_and_integers():
    slow = wildcard_kernel(3, 1, 0.5)
    check_kernel(Wildcard(3, 1, 0.5, unit="word"), TEXTS, slow)
    check_kernel(Wildcard(3, 1, 0.5, unit="byte"), [bytes(range(256)), b"", b"b\xffa"], slow)
    check_kernel(Wildcard(3, 1, 0.5), [np.arange(400), np.arange(9), np.arange(3)[::-1]], slow)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text("abc", max_size=12), min_size=2, max_size=5), st.integers(1, 5), st.data())
def test_random_strings_give_the_twins_values(texts, k, data):
    m, decay = data.draw(st.integers(0, k - 1)), data.draw(st.sampled_from([0.1, 0.5, 1.0]))
    slow = wildcard_kernel(k, m, decay)
    np.testing.assert_allclose(Wildcard(k, m, decay)(texts), [[slow(x, y) for y in texts] for x in texts], rtol=1e-12)


def test_without_wildcards_they_are_n_grams():
    assert np.array_equal(Wildcard(3, 0)(TEXTS), NGram(3)(TEXTS))


def test_names_show_wildcards_as_stars():
    assert Features(Wildcard(3, 1)).fit(["cat"]).get_feature_names_out().tolist() == ["cat", "*at", "c*t", "ca*"]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0}, "k is 0, expected a whole number of at least 1"),
        ({"k": 2.0}, "k is 2.0, expected a whole number"),
        ({"k": 3, "m": 3}, "m is 3, expected less than k, which is 3"),
        ({"k": 3, "m": -1}, "m is -1, expected a whole number of at least 0"),
        ({"decay": 0.0}, "decay is 0.0, expected a positive number"),
        ({"decay": float("inf")}, "decay is inf, expected a positive number"),
        ({"k": 60, "m": 30}, "more than 1,000,000 patterns per window"),
        ({"k": 32768, "m": 1}, "more than 100,000,000 symbols in the patterns of a window"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(params, message):
    with pytest.raises(InputError, match=message):
        Wildcard(**params)(["abba"])
