"""Laws of kernels on random strings."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import Strings
from treille.kernels import NGram
from treille.testing import check_kernel
from twins import cosine, ngram_kernel

STRINGS = st.lists(st.text(st.sampled_from("abc\0é\U0001f600\ud800"), max_size=15), min_size=2, max_size=6)
ORDERS = st.tuples(st.integers(1, 6), st.integers(0, 3)).map(lambda pair: (max(1, pair[0] - pair[1]), pair[0]))


@st.composite
def kernels(draw):
    """A kernel, and its slow twin."""
    min_n, n = draw(ORDERS)
    weights = draw(st.none() | st.lists(st.floats(0.1, 10), min_size=n - min_n + 1, max_size=n - min_n + 1))
    kernel, slow = NGram(n, min_n=min_n, order_weights=weights), ngram_kernel(n, min_n, weights)
    return (kernel.normalized(), cosine(slow)) if draw(st.booleans()) else (kernel, slow)


@settings(deadline=None, max_examples=30)
@given(kernels(), STRINGS)
def test_every_kernel_on_any_strings_obeys_the_whole_battery(pair, texts):
    check_kernel(pair[0], texts, pair[1])


@settings(deadline=None, max_examples=15)
@given(kernels(), st.lists(st.lists(st.integers(-5, 5), max_size=12), min_size=2, max_size=5))
def test_integer_sequences_obey_it_too(pair, sequences):
    check_kernel(pair[0], [np.array(x, dtype=np.int64) for x in sequences], pair[1])


@settings(deadline=None, max_examples=40)
@given(STRINGS, st.integers(1, 5))
def test_reading_backwards_changes_nothing(texts, n):
    assert np.array_equal(NGram(n)(texts), NGram(n)([text[::-1] for text in texts]))


@settings(deadline=None, max_examples=40)
@given(STRINGS, st.integers(1, 5), st.permutations("abc\0é\U0001f600\ud800"))
def test_renaming_symbols_changes_nothing(texts, n, names):
    table = dict(zip("abc\0é\U0001f600\ud800", names, strict=True))
    assert np.array_equal(NGram(n)(texts), NGram(n)(["".join(table[c] for c in text) for text in texts]))


@settings(deadline=None, max_examples=40)
@given(STRINGS, st.integers(1, 4))
def test_several_orders_are_the_sum_of_each(texts, n):
    weights = np.arange(1.0, n + 1)
    expected = sum(w * NGram(k)(texts) for k, w in zip(range(1, n + 1), weights, strict=True))
    np.testing.assert_allclose(NGram(n, min_n=1, order_weights=weights)(texts), expected, rtol=1e-12)


@settings(deadline=None, max_examples=40)
@given(STRINGS)
def test_characters_bytes_tokens_and_integers_are_one_kernel(texts):
    plain = [text.encode("ascii", "ignore").decode() for text in texts]
    K = NGram(2)(plain)
    for data in ([list(text) for text in plain], [[ord(c) for c in text] for text in plain], Strings(plain)):
        assert np.array_equal(NGram(2)(data), K)
    assert np.array_equal(NGram(2, unit="byte")(plain), K)
    assert np.array_equal(NGram(2, unit="byte")([text.encode() for text in plain]), K)
