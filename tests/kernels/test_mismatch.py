"""Mismatch against its definition: all words of the alphabet, in a table or in a dictionary."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import Features, InputError, Strings
from treille.kernels import Mismatch, NGram
from treille.testing import check_kernel
from twins import cosine

DNA = ["ACGTACGT", "", "AC", "TTTTACG", "GATTACA", "GATTACAGATTACA", "CCCC"]


def mismatch_kernel(k, m, alphabet):
    def features(x):
        windows = [x[i : i + k] for i in range(len(x) - k + 1)]
        return [
            sum(sum(a != b for a, b in zip(z, w, strict=True)) <= m for w in windows)
            for z in product(alphabet, repeat=k)
        ]

    return lambda x, y: float(np.dot(features(x), features(y)))


@pytest.mark.parametrize(("k", "m"), [(1, 0), (3, 0), (3, 1), (4, 2), (4, 3)])
def test_the_battery_passes(k, m):
    slow = mismatch_kernel(k, m, "ACGT")
    check_kernel(Mismatch(k, m, "ACGT"), DNA, slow)
    check_kernel(Mismatch(k, m, "TGCA").normalized(), DNA, cosine(slow))


def test_words_too_many_for_a_table_obey_the_laws_too():
    """27^6 words have no table; the value follows from how many words are near both windows."""
    letters = "abcdefghijklmnopqrstuvwxyz "

    def shared(a, b):
        d = sum(p != q for p, q in zip(a, b, strict=True))
        return {0: 1 + 6 * 26, 1: 27, 2: 2}.get(d, 0)

    def slow(x, y):
        return sum(shared(x[i : i + 6], y[j : j + 6]) for i in range(len(x) - 5) for j in range(len(y) - 5))

    check_kernel(Mismatch(6, 1, letters), ["to be or not to be", "", "be", "not two bees", "or not to be"], slow)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text("abc", max_size=10), min_size=2, max_size=4), st.integers(1, 4), st.data())
def test_random_strings_give_the_twins_values(texts, k, data):
    m = data.draw(st.integers(0, k - 1))
    slow = mismatch_kernel(k, m, "abcd")
    assert np.array_equal(Mismatch(k, m, "abcd")(texts), [[slow(x, y) for y in texts] for x in texts])


def test_without_mismatches_they_are_n_grams():
    assert np.array_equal(Mismatch(3, 0, "ACGT")(DNA), NGram(3)(DNA))


def test_words_and_bytes_have_alphabets_too():
    words = Mismatch(2, 1, ["to", "be", "or"], unit="word")
    assert words(["to be", "to or"]).tolist() == Mismatch(2, 1, "tbo")(["tb", "to"]).tolist()
    assert (
        Mismatch(2, 1, "ACGT", unit="byte")([b"ACG", b"CCC"]).tolist()
        == Mismatch(2, 1, "ACGT")(["ACG", "CCC"]).tolist()
    )


def test_a_model_is_saved_and_read_back(tmp_path):
    model = treille.SVC(Mismatch(3, 1, "ACGT")).fit(DNA, [0, 1, 0, 1, 0, 1, 0])
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert np.array_equal(again.decision_function(DNA), model.decision_function(DNA))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0, "alphabet": "AC"}, "k is 0, expected a whole number of at least 1"),
        ({"k": 3, "m": 3, "alphabet": "AC"}, "m is 3, expected less than k, which is 3"),
        ({"k": 3, "m": 4, "alphabet": "AC"}, "m is 4, expected less than k"),
        ({"k": 3, "m": 1.0, "alphabet": "AC"}, "m is 1.0, expected a whole number"),
        ({"k": 3}, "alphabet is None.*for example alphabet='ACGT'"),
        ({"k": 3, "alphabet": ""}, "alphabet is '', which has no symbol"),
        ({"k": 3, "alphabet": "ACA"}, "alphabet is 'ACA': a symbol occurs in it twice"),
        ({"k": 3, "alphabet": 4}, "alphabet is 4, expected a string"),
        ({"k": 30, "m": 10, "alphabet": "ACGT"}, "more than 1,000,000 neighbours per window"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(params, message):
    for use in (Mismatch(**params), Features(Mismatch(**params)).fit):
        with pytest.raises(InputError, match=message):
            use(["ACCA"])


def test_a_symbol_outside_the_alphabet_is_named_with_its_place():
    message = "item 1: the symbol 'N' at position 2 is not in the alphabet 'ACGT'"
    for X in (["ACG", "ACNT"], Strings(["ACG", "ACNT"])):
        with pytest.raises(InputError, match=message):
            Mismatch(3, 1, "ACGT")(X)
    assert Mismatch(3, 1, "ACGT")(Strings(["ACG", "ACNT"])[:1]).tolist() == [[10.0]]
    with pytest.raises(InputError, match="item 0: the symbol 'N' at position 0"):
        treille.SVC(Mismatch(2, 1, "ACGT")).fit(["AC", "GT"], [0, 1]).predict(["NA"])
