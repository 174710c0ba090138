"""Contributions of words and characters are placed on their text, and their sum stays the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import SVC
from treille.explain.characters import on_characters, stretches
from treille.kernels import NGram

TEXTS = ["Red  wine,\tfine", "pale ale; Bitter", "İstanbul ſo ẞ", "a b c"] * 2
KERNELS = [
    NGram(2),
    NGram(1, unit="word"),
    NGram(2, min_n=1, unit="word+lower") + NGram(3, unit="char+lower"),
    NGram(3, min_n=1, unit="char_wb"),
    NGram(1, unit="word+lower+alnum"),
]
MODELS = [SVC(kernel).fit(TEXTS, [0, 1] * 4) for kernel in KERNELS]


@pytest.mark.parametrize("model", MODELS, ids=[repr(kernel) for kernel in KERNELS])
@settings(max_examples=60)
@given(st.text(st.sampled_from("aRd w,\tiİſẞé\n"), max_size=20))
def test_contributions_of_characters_sum_to_those_of_the_parts(model, text):
    found = model.explain(text)
    placed = on_characters(text, found, found.contributions(1))
    if placed is not None:
        assert len(placed) == len(text)
        assert placed.sum() == pytest.approx(found.contributions(1).sum(), abs=1e-12)


def test_words_are_placed_on_their_letters():
    model = MODELS[2]
    found = model.explain("Red ale")
    values = np.zeros(len(found.names))
    values[found.names.index("ale")] = 0.3
    np.testing.assert_allclose(on_characters("Red ale", found, values), [0, 0, 0, 0, 0.1, 0.1, 0.1])


def test_stretches_sum_to_the_words():
    parts = stretches("a fine\n wine ", np.arange(13.0))
    assert [name for name, _ in parts] == ["a", "fine", "wine"]
    assert stretches("", np.empty(0)) == []
    assert sum(value for _, value in parts) == np.arange(13.0).sum()


def test_scripts_without_blanks_are_divided_where_contributions_change_sign():
    text = "good房间不错 太贵 bad"
    values = np.array([1.0] * 4 + [0.5, 0.5, -1.0, -1.0] + [0.0] + [2.0, -2.0] + [0.0] + [-1.0] * 3)
    parts = stretches(text, values)
    assert parts == [("good", 4.0), ("房间", 1.0), ("不错", -2.0), ("太", 2.0), ("贵", -2.0), ("bad", -3.0)]
