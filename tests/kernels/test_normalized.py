"""The cosine of any kernel, over all features of an example."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import Features
from treille.kernels import NGram, Normalized, Subpath
from twins import cosine, ngram_kernel

TEXTS = st.lists(st.text("abc", max_size=12), min_size=1, max_size=5)


@settings(deadline=None, max_examples=40)
@given(TEXTS, TEXTS, st.integers(1, 3))
def test_it_is_the_true_cosine_also_for_texts_with_unseen_parts(X, Y, n):
    expected = [[cosine(ngram_kernel(n))(x, y) for y in Y] for x in X]
    np.testing.assert_allclose(NGram(n).normalized()(X, Y), expected, atol=1e-14)


def test_an_unseen_part_lowers_the_cosine():
    features = Features(NGram(1).normalized()).fit(["ab"])
    assert features.transform(["ab", "abxy"]).toarray() == pytest.approx(np.array([[0.5**0.5] * 2, [0.5] * 2]))


def test_a_zero_vector_stays_zero():
    K = NGram(2).normalized()(["", "a", "ab"])
    assert K.tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert NGram(2).normalized().diag(["", "a", "ab"]).tolist() == [0, 0, 1]


def test_normalizing_twice_is_normalizing_once():
    texts = ["abba", "cab", ""]
    once = NGram(2).normalized()
    np.testing.assert_allclose(once.normalized()(texts), once(texts), rtol=1e-15)


def test_weights_of_orders_count_in_the_norm():
    kernel = NGram(2, min_n=1, order_weights=[1.0, 3.0])
    k = ngram_kernel(2, 1, [1.0, 3.0])
    assert kernel.normalized()(["aab"], ["abb"])[0, 0] == pytest.approx(cosine(k)("aab", "abb"))


def test_it_shows_the_kernel_inside():
    assert repr(NGram(3).normalized()) == "NGram(n=3).normalized()"
    assert Normalized(NGram(3)).set_params(kernel__n=4).kernel.n == 4


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (NGram(2, min_n=1), ["abab", "cab", ""]),
        (NGram(1) + 0.5 * NGram(2).normalized(), ["abab", "cab", ""]),
        (Subpath(), ["(a (b c) b)", "(a b)", "(d (a b))"]),
    ],
)
def test_explanations_match_the_features_once(kernel, X, monkeypatch):
    features, _ = kernel.normalized().fit_features(kernel.batch(X[:2]))
    batch, weights = kernel.batch(X), np.arange(2.0 * features.n_features).reshape(-1, 2)
    expected = features.transform(batch).matvec(weights)
    explain = features.contributor(weights)
    monkeypatch.setattr(features.inner, "transform", None)  # rows with features are not needed for the norms
    found = explain(batch, 1).sums()
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


def test_norms_by_weights_of_features_need_all_features():
    kernel = NGram(1).weighted({"a": 2.0}).normalized()
    features, _ = kernel.fit_features(kernel.batch(["ab", "b"]))
    found = features.contributions(kernel.batch(["aab"]), np.ones((2, 1))).sums()
    assert found == pytest.approx(5 / 17**0.5)
