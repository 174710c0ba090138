"""Selections of a batch: by number, slice, list and mask, and in chunks."""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import Batch, Strings

TEXTS = ["abba", "", "cab", "b", "", "ccc"]


@pytest.fixture
def batch():
    return Strings(TEXTS)


def test_a_batch_is_a_batch_and_has_a_length(batch):
    assert isinstance(batch, Batch)
    assert len(batch) == 6
    assert batch.shape == (6,)


@pytest.mark.parametrize("i", [0, 5, -1, -6, np.int64(2), np.int32(-2)])
def test_an_integer_gives_one_example(batch, i):
    assert batch[i] == TEXTS[i]


@pytest.mark.parametrize("i", [6, -7, 10**20])
def test_an_integer_outside_is_an_index_error(batch, i):
    with pytest.raises(IndexError):
        batch[i]


SLICES = [
    slice(None),
    slice(2, 4),
    slice(4, 2),
    slice(-2, None),
    slice(None, None, 2),
    slice(None, None, -1),
    slice(9, 99),
]


@pytest.mark.parametrize("key", SLICES, ids=str)
def test_a_slice_gives_a_batch(batch, key):
    assert list(batch[key]) == TEXTS[key]
    assert batch[key].alphabet == batch.alphabet
    assert batch[key].unit == "char"


@pytest.mark.parametrize("key", [[2, 0, 2], np.array([5, -1]), [], np.array([], dtype=int)], ids=str)
def test_a_list_of_integers_gives_a_batch(batch, key):
    assert list(batch[key]) == [TEXTS[i] for i in key]
    assert list(batch[key, ...]) == [TEXTS[i] for i in key]


@pytest.mark.parametrize("make", [list, np.array, pd.Series])
def test_a_mask_gives_a_batch(batch, make):
    mask = [True, False, True, False, False, True]
    assert list(batch[make(mask)]) == ["abba", "cab", "ccc"]


@pytest.mark.parametrize("key", ["a", 1.5, [True, False], [7]], ids=repr)
def test_other_keys_are_index_errors(batch, key):
    with pytest.raises(IndexError):
        batch[key]


def test_selections_of_selections_are_selections(batch):
    assert list(batch[1:][::-1][[0, 2]][1:]) == ["b"]


def test_a_slice_shares_memory_with_the_whole(batch):
    assert np.shares_memory(batch[2:5].symbols, batch.symbols)
    assert batch[2:5].nbytes == 4 * 4 + 4 * 8


def test_iteration_goes_through_all_examples(batch):
    assert list(batch) == TEXTS
    assert list(iter(Strings([["a"], []]))) == [["a"], []]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text("ab", max_size=9)), st.integers(0, 20))
def test_chunks_are_bounded_and_contain_all_examples_in_order(texts, n_symbols):
    chunks = list(Strings(texts).chunks(n_symbols))
    assert [text for chunk in chunks for text in chunk] == texts
    for chunk in chunks:
        assert chunk.offsets[-1] <= n_symbols or len(chunk) == 1
    for one, other in itertools.pairwise(chunks):
        assert one.offsets[-1] + len(other[0]) > n_symbols  # no chunk could have held the next example


def test_a_batch_within_the_bound_is_one_chunk(batch):
    (chunk,) = batch.chunks(11)
    assert chunk is batch
    assert [len(c) for c in Strings([]).chunks(5)] == [0]
