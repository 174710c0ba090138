"""The suffix array and its shared runs against sorting and comparing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import InputError, Strings, _core
from treille.kernels import AllSubstrings

RANDOM = np.random.default_rng(0)


def shared(x, y):
    """How many symbols two sequences have in common from their beginnings on."""
    return next((h for h, (a, b) in enumerate(zip(x, y, strict=False)) if a != b), min(len(x), len(y)))


def assert_suffix_array_is_right(sequences, threads=1):
    batch = Strings([np.asarray(s, dtype=np.int64) for s in sequences])
    text = batch.symbols.tolist()
    for build in (_core.suffix_array, _core.suffix_array_wide):
        suffix, sequence, lcp = build(batch.symbols, batch.offsets, len(batch.alphabet), threads)
        assert sorted(suffix) == list(range(len(text)))
        assert np.array_equal(sequence, np.searchsorted(batch.offsets, suffix, side="right") - 1)
        suffixes = [text[begin:end] for begin, end in zip(suffix, batch.offsets[sequence + 1], strict=True)]
        assert suffixes == sorted(suffixes)
        assert lcp.tolist() == [0, *map(shared, suffixes, suffixes[1:])][: len(text)]


@settings(deadline=None, max_examples=150)
@given(st.lists(st.lists(st.integers(0, 3), max_size=30), max_size=6))
def test_suffixes_of_random_sequences_are_sorted_with_their_common_prefixes(sequences):
    assert_suffix_array_is_right(sequences)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(1, 12), max_size=12), st.lists(st.integers(0, 2), min_size=1, max_size=4))
def test_suffixes_of_repetitive_sequences_are_sorted_with_their_common_prefixes(times, run):
    assert_suffix_array_is_right([run * k for k in times])


def fibonacci(n):
    a, b = [0], [0, 1]
    while len(b) < n:
        a, b = b, b + a
    return b[:n]


def thue_morse(n):
    return [bin(i).count("1") % 2 for i in range(n)]


NASTY = {
    "nothing": [],
    "empty sequences": [[], [], []],
    "one symbol": [[5]],
    "one symbol each": [[1], [0], [1], [1], [0], [2]],
    "all one symbol": [[7] * 400, [7] * 399, [], [7]],
    "rising": [list(range(300)), list(range(150))],
    "falling": [list(range(300))[::-1], list(range(300))[::-1]],
    "Fibonacci": [fibonacci(600), fibonacci(377)],
    "Thue-Morse": [thue_morse(512), thue_morse(100)[::-1]],
    "periods": [[0, 1] * 200, [0, 0, 1] * 100, [1, 0] * 100],
    "equal sequences": [[0, 1, 1, 0, 2]] * 40,
    "powers of two": [([0] * 2**k + [1]) for k in range(8)],
}


@pytest.mark.parametrize("name", NASTY)
def test_nasty_sequences_are_sorted_and_share_what_they_share(name):
    assert_suffix_array_is_right(NASTY[name])


@pytest.mark.parametrize("size", [1, 2, 254, 255, 256, 257, 65534, 65535, 65536, 70_000])
def test_alphabets_of_every_size_are_sorted(size):
    """The separator is one symbol more: types change a symbol earlier than the alphabet says."""
    batch = Strings([RANDOM.permutation(size), RANDOM.integers(0, size, 50), np.arange(size)])
    suffix, sequence, lcp = _core.suffix_array(batch.symbols, batch.offsets, size, 1)
    assert (np.diff(batch.symbols[suffix]) >= 0).all()
    ends = batch.offsets[sequence + 1]
    for r in RANDOM.integers(1, len(suffix), 2000):
        x, y = (batch.symbols[suffix[i] : min(suffix[i] + 100, ends[i])].tolist() for i in (r - 1, r))
        assert x <= y
        assert shared(x, y) == min(lcp[r], 100)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_the_number_of_threads_changes_nothing(threads):
    batch = Strings([RANDOM.integers(0, 4, length) for length in RANDOM.integers(0, 2000, 200)])
    one = _core.suffix_array(batch.symbols, batch.offsets, 4, 1)
    many = _core.suffix_array(batch.symbols, batch.offsets, 4, threads)
    assert len(batch.symbols) > 100_000
    assert all(np.array_equal(a, b) for a, b in zip(one, many, strict=True))


def test_a_large_text_is_sorted():
    batch = Strings([RANDOM.integers(0, 2, 200_000), np.tile([0, 0, 1], 30_000), np.zeros(50_000, dtype=int)])
    suffix, sequence, lcp = _core.suffix_array(batch.symbols, batch.offsets, 2, 1)
    assert np.array_equal(np.sort(suffix), np.arange(len(batch.symbols)))
    ends = batch.offsets[sequence + 1]
    where = suffix[1:], suffix[:-1]
    lengths = [ends[1:] - where[0], ends[:-1] - where[1]]
    assert (lcp[1:] <= np.minimum(*lengths)).all()
    go_on = (lcp[1:] < lengths[0]) & (lcp[1:] < lengths[1])
    late, early = (batch.symbols[(w + lcp[1:])[go_on]] for w in where)
    assert (early < late).all()
    assert (lengths[1][~go_on] == lcp[1:][~go_on]).all()  # the shorter comes first
    for r in RANDOM.integers(1, len(suffix), 200):
        a, b, h = suffix[r - 1], suffix[r], lcp[r]
        assert np.array_equal(batch.symbols[a : a + h], batch.symbols[b : b + h])


def test_batches_split_by_different_units_are_refused():
    kernel = AllSubstrings()
    with pytest.raises(InputError, match="one batch has the unit 'char', the other 'token'"):
        kernel(["a b"], [["a", "b"]])
    assert kernel(["a b"], [[]]).tolist() == [[0.0]]
    words = AllSubstrings(unit="word")
    assert words(["a b"], [["a", "b"]]).tolist() == [[1.25]]
