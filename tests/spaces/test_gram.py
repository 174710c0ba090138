"""Gram matrices by the inverted index, against products of sparse matrices."""

import numpy as np
import pytest

from treille.kernels import NGram, Subsequence
from treille.spaces import GramSpace

RANDOM = np.random.default_rng(0)
TEXTS = ["".join(RANDOM.choice(list("abcdefgh"), RANDOM.integers(0, 40))) for _ in range(150)]


@pytest.mark.parametrize("kernel", [NGram(1), NGram(3), NGram(3).normalized(), NGram(4, 1, [1, 2, 3, 4.5])], ids=repr)
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_products_are_those_of_sparse_matrices(kernel, threads):
    features, rows = kernel.fit_features(kernel.batch(TEXTS))
    phi = rows.to_csr()
    expected = (phi @ phi.T).toarray()
    row = rows.row_products()
    K = rows.gram(None, threads)
    np.testing.assert_allclose(K, expected, rtol=1e-13, atol=1e-13)
    assert np.array_equal(K, K.T)
    assert np.array_equal(np.array([row(i) for i in range(len(TEXTS))]), K)
    other = features.transform(kernel.batch(["abcabc", "zzz", "", *TEXTS[:9]]))
    np.testing.assert_allclose(rows.gram(other, threads), (phi @ other.to_csr().T).toarray(), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(other.gram(rows, threads), (other.to_csr() @ phi.T).toarray(), rtol=1e-13, atol=1e-13)


def test_entries_of_eight_bytes_are_read_too():
    kernel = NGram(12, min_n=1, order_weights=np.sqrt(np.arange(2.0, 14.0)) + RANDOM.random(12))
    runs = [np.full(k, -1) for k in range(1, 401, 7)]
    _, rows = kernel.fit_features(kernel.batch([np.arange(100_000), *[np.full(k, -1) for k in range(1, 401)]]))
    assert rows.entries.dtype == np.uint64
    small = kernel(runs)
    np.testing.assert_allclose(rows.gram(None, 2)[1::7, 1::7], small, rtol=1e-12)


@pytest.mark.parametrize("kernel", [NGram(2), Subsequence(2), Subsequence(3).normalized()], ids=repr)
def test_a_space_gives_rows_diagonal_and_matrix(kernel):
    space = GramSpace(kernel, kernel.batch(TEXTS[:30]))
    K = kernel(TEXTS[:30])
    np.testing.assert_allclose(space.matrix(), K, rtol=1e-13)
    np.testing.assert_allclose(space.diag(), K.diagonal(), rtol=1e-13)
    for i in (0, 7, 29):
        np.testing.assert_allclose(space.row(i), K[i], rtol=1e-12, atol=1e-12)
    assert space.sizes() == "30 examples, 465 kernel values"
