"""Strings: input, splitting, and the items of a batch."""

import pickle
import re
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import Strings

TEXTS = ["abba", "", "cab"]
WORDS = [["to", "be"], [], ["or", "not", "to"]]


def items(batch):
    return [item.tolist() if isinstance(item, np.ndarray) else item for item in batch]


@pytest.mark.parametrize(
    "data",
    [
        TEXTS,
        tuple(TEXTS),
        np.array(TEXTS),
        np.array(TEXTS, dtype=object),
        pd.Series(TEXTS),
        pd.Series(TEXTS, index=[7, 3, 5]),
        pd.Series(TEXTS, dtype="string"),
        pd.Series(TEXTS, dtype=object),
        pd.Series(TEXTS).astype("category"),
        pd.Index(TEXTS),
        dict.fromkeys(TEXTS).keys(),
        (text for text in TEXTS),
        [np.str_(text) for text in TEXTS],
    ],
    ids=lambda data: f"{type(data).__name__}-{getattr(data, 'dtype', '')}",
)
def test_texts_of_any_container_are_the_same_batch(data):
    batch = Strings(data)
    assert items(batch) == TEXTS
    assert (batch.unit, batch.alphabet) == ("char", ["a", "b", "c"])
    assert batch.symbols.tolist() == [0, 1, 1, 0, 2, 0, 1]
    assert batch.offsets.tolist() == [0, 4, 4, 7]


@pytest.mark.parametrize(
    "data",
    [WORDS, [tuple(x) for x in WORDS], [np.array(x, dtype=object) for x in WORDS], [np.array(x, "U3") for x in WORDS]],
    ids=["lists", "tuples", "object arrays", "U arrays"],
)
def test_token_lists_are_not_split_again(data):
    batch = Strings(data)
    assert items(batch) == WORDS
    assert (batch.unit, batch.alphabet) == ("token", ["be", "not", "or", "to"])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_integer_arrays_are_sequences_of_any_integers(dtype):
    data = [np.array([5, 100, 5], dtype), np.array([], dtype), np.array([7], dtype)]
    batch = Strings(data)
    assert items(batch) == [[5, 100, 5], [], [7]]
    assert (batch.unit, batch.alphabet) == ("integer", [5, 7, 100])
    assert batch[0].dtype == np.int64


def test_lists_of_integers_and_rows_of_a_matrix_are_integer_sequences():
    assert items(Strings([[3, -1], [], [2**40]])) == [[3, -1], [], [2**40]]
    assert items(Strings(np.array([[1, 2], [3, 1]]))) == [[1, 2], [3, 1]]


def test_bytes_are_sequences_of_bytes():
    batch = Strings([b"ab\x00\xff", b""])
    assert items(batch) == [b"ab\x00\xff", b""]
    assert (batch.unit, batch.alphabet) == ("byte", [0, 97, 98, 255])
    assert items(Strings(np.array([b"ab", b"c"]))) == [b"ab", b"c"]


def test_the_unit_byte_splits_texts_into_utf8_bytes():
    assert items(Strings(["é", "a"], unit="byte")) == ["é".encode(), b"a"]


def test_the_unit_word_keeps_every_visible_character():
    batch = Strings(["I came,\tI  saw_1.", "naïve!?", " \n"], unit="word")
    assert items(batch) == [["I", "came", ",", "I", "saw_1", "."], ["naïve", "!", "?"], []]
    assert batch.unit == "word"


def test_a_function_as_unit_splits_texts():
    batch = Strings(["a-b", "b"], unit=lambda text: text.split("-"))
    assert items(batch) == [["a", "b"], ["b"]]
    assert batch.unit == "token"


def test_empty_batches_and_batches_of_empty_strings_are_allowed():
    assert len(Strings([])) == 0
    assert Strings([]).offsets.tolist() == [0]
    assert items(Strings(["", ""])) == ["", ""]
    assert items(Strings([[], []])) == [[], []]


def test_code_points_outside_the_basic_plane_are_one_symbol():
    batch = Strings(["a\U0001f600b", "\U0010ffff"])
    assert np.diff(batch.offsets).tolist() == [3, 1]
    assert batch.alphabet == ["a", "b", "\U0001f600", "\U0010ffff"]


def test_lone_surrogates_are_symbols_like_any_other():
    assert items(Strings(["\ud800a", "\udfff"])) == ["\ud800a", "\udfff"]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text(st.characters(exclude_categories=()))), st.sampled_from([1, 2, 3]))
def test_texts_come_back_as_given(texts, threads):
    batch = Strings(texts, n_jobs=threads)
    assert list(batch) == texts
    assert batch.alphabet == sorted(set("".join(texts)))


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1))))
def test_integers_come_back_as_given(sequences):
    assert items(Strings(sequences)) == sequences


def test_threads_do_not_change_a_large_batch():
    rng = np.random.default_rng(0)
    texts = ["".join(map(chr, rng.integers(32, 500, size))) for size in rng.integers(0, 3000, 300)]
    one = Strings(texts)
    for threads in (2, 3, 8):
        other = Strings(texts, n_jobs=threads)
        assert other.alphabet == one.alphabet
        assert np.array_equal(other.symbols, one.symbols)
        assert np.array_equal(other.offsets, one.offsets)


def test_arrays_are_compact_and_cannot_be_written():
    batch = Strings(TEXTS)
    assert (batch.symbols.dtype, batch.offsets.dtype) == (np.int32, np.int64)
    assert batch.nbytes == 7 * 4 + 4 * 8
    for array in (batch.symbols, batch.offsets, pickle.loads(pickle.dumps(batch)).symbols, batch[1:].symbols):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize("data", [TEXTS, WORDS, [[1, 2], [], [3]], [b"x", b""]], ids=["str", "tokens", "int", "bytes"])
def test_pickling_keeps_a_batch(data):
    batch = Strings(data)
    again = pickle.loads(pickle.dumps(batch))
    assert items(again) == items(batch)
    assert (again.unit, again.alphabet) == (batch.unit, batch.alphabet)


def test_a_slice_is_pickled_alone():
    batch = Strings(["a" * 100_000, "b"])
    assert len(pickle.dumps(batch[1:])) < 1000


def test_the_repr_states_the_sizes():
    assert repr(Strings(TEXTS)) == "Strings(3 sequences, 7 symbols, 3 distinct, unit='char')"


def test_from_arrays_builds_a_batch_from_arrays():
    symbols = np.array([1, 0, 0], dtype=np.int32)
    batch = Strings.from_arrays(symbols, [0, 1, 3], ["x", "y"])
    assert items(batch) == [["y"], ["x", "x"]]
    symbols[0] = 0  # the batch has its own copy
    assert batch[0] == ["y"]


def words_by_definition(texts):
    pattern = re.compile(r"\w+|[^\w\s]")
    return [pattern.findall(text) for text in texts]


@pytest.mark.parametrize("n_jobs", [1, 2])
@given(texts=st.lists(st.text(max_size=30), max_size=8))
def test_words_are_what_the_regular_expression_finds(n_jobs, texts):
    batch = Strings(texts, unit="word", n_jobs=n_jobs)
    expected = words_by_definition(texts)
    assert [batch[i] for i in range(len(batch))] == expected
    assert batch.alphabet == sorted({word for words in expected for word in words})


def test_every_code_point_is_classified_as_the_regular_expression_does():
    points = [chr(c) for c in range(sys.maxunicode + 1)]
    texts = ["".join(f"a{c}a{c}{c}" for c in points[i : i + 4096]) for i in range(0, len(points), 4096)]
    batch = Strings(texts, unit="word", n_jobs=2)
    assert [batch[i] for i in range(len(batch))] == words_by_definition(texts)


def test_the_words_of_many_texts_do_not_depend_on_the_number_of_threads():
    texts = [f"text {i % 97}, número {i % 89} of {'ёж' * (i % 3)}…" for i in range(20_000)]
    one, two = (Strings(texts, unit="word", n_jobs=n) for n in (1, 2))
    assert np.array_equal(one.symbols, two.symbols)
    assert np.array_equal(one.offsets, two.offsets)
    assert one.alphabet == two.alphabet == sorted({word for words in words_by_definition(texts) for word in words})
