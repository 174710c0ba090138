"""The ids of n-grams: by falling frequency, and the same for any number of threads."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import Strings
from treille.features import Rows, represent
from treille.kernels import NGram
from twins import ngram_ids


def grams(features):
    """Every feature as a tuple of symbols, by id."""
    alphabet = features.alphabet
    return [tuple(alphabet[s] for s in features.features.gram(id)) for id in range(features.n_features)]


@settings(deadline=None, max_examples=80)
@given(st.lists(st.text("abcd", max_size=15), max_size=8), st.integers(1, 4), st.integers(1, 3))
def test_ids_fall_with_document_frequency_and_ties_go_by_first_occurrence(texts, n, least):
    min_n = min(n, least)
    features, _ = NGram(n, min_n=min_n).fit_features(Strings(texts))
    assert grams(features) == ngram_ids(texts, n, min_n)


def test_a_feature_counts_once_per_example_however_often_it_occurs_there():
    features, _ = NGram(1).fit_features(Strings(["aaaaab", "b", "c"]))
    assert grams(features) == [("b",), ("a",), ("c",)]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text("abc", max_size=10), max_size=8), st.integers(1, 3))
def test_compaction_folds_the_n_grams_of_one_example_only(texts, n):
    features, rows = NGram(n).fit_features(Strings(texts))
    holders = np.bincount(rows.to_csr().indices, minlength=rows.n_features)
    assert represent(features, rows).core.n_shared == (holders > 1).sum()


@pytest.fixture(scope="module")
def large():
    """About 300,000 symbols in sequences of very unequal length: work enough for ten threads."""
    rng = np.random.default_rng(1)
    sizes = [0, 90_000, 1, *rng.integers(0, 2000, 200), 0]
    source = "".join(rng.choice(list("abcdefgh     "), 20_000))
    starts = rng.integers(0, 10_000, len(sizes))
    return Strings([(source * 6)[a : a + size] for a, size in zip(starts, sizes, strict=True)])


@pytest.mark.parametrize(
    "kernel", [NGram(1), NGram(4), NGram(5, min_n=2, order_weights=[1, 0.5, 2, 3]), NGram(40)], ids=repr
)
def test_threads_change_no_bit(kernel, large):
    assert large.offsets[-1] > 8 * 20_000
    one, expected = kernel.fit_features(large, 1)
    for threads in (2, 3, 8):
        many, rows = kernel.fit_features(large, threads)
        assert grams(many) == grams(one)
        assert_same_rows(rows, expected)
        assert_same_rows(many.transform(large[::-1], threads), one.transform(large[::-1], 1))


def assert_same_rows(found, expected):
    for field in fields(Rows):
        left, right = np.asarray(getattr(found, field.name)), np.asarray(getattr(expected, field.name))
        assert left.dtype == right.dtype, field.name
        assert np.array_equal(left, right), field.name
