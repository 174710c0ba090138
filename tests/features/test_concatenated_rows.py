"""Rows of several parts, concatenated: one matrix that is never written out."""

import numpy as np
import pytest
import scipy.sparse as sp

from treille import Features
from treille.features import ConcatenatedRows
from treille.kernels import NGram

TEXTS = ["abba", "", "cabab", "b", "bbbbb"]


@pytest.fixture
def rows():
    return [Features(kernel).fit_rows(TEXTS) for kernel in (NGram(2), NGram(1).normalized(), NGram(3, min_n=2))]


def test_it_equals_the_stacked_matrix(rows):
    both = ConcatenatedRows(rows)
    matrix = sp.hstack([each.to_csr() for each in rows]).toarray()
    assert len(both) == 5
    assert both.parts == tuple(rows)
    assert both.n_features == matrix.shape[1]
    assert both.n_entries == sum(each.n_entries for each in rows)
    assert both.nbytes == sum(each.nbytes for each in rows)
    assert np.array_equal(both.to_csr().toarray(), matrix)
    np.testing.assert_allclose(both.diag(), (matrix**2).sum(axis=1), rtol=1e-14)
    weights = np.linspace(-1, 1, 3 * both.n_features).reshape(-1, 3)
    np.testing.assert_allclose(both.matvec(weights, 2), matrix @ weights, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(both.rmatvec(np.ones((5, 2)), 2), matrix.T @ np.ones((5, 2)), rtol=1e-12)
    np.testing.assert_allclose(both.gram(None, 2), matrix @ matrix.T, rtol=1e-12)


def test_nested_rows_have_the_parts_of_the_inner_rows(rows):
    nested = ConcatenatedRows([ConcatenatedRows(rows[:2]), rows[2]])
    assert nested.parts == tuple(rows)


def test_scaling_touches_no_entry(rows):
    both = ConcatenatedRows(rows)
    factors = np.arange(1.0, 6.0)
    scaled = both.scaled(factors)
    np.testing.assert_allclose(scaled.to_csr().toarray(), factors[:, None] * both.to_csr().toarray(), rtol=1e-14)
    assert all(a.entries is b.entries for a, b in zip(scaled.parts, both.parts, strict=True))


def test_a_normalized_row_has_norm_1_over_all_parts(rows):
    normalized = ConcatenatedRows(rows).normalized()
    norms = np.linalg.norm(normalized.to_csr().toarray(), axis=1)
    np.testing.assert_allclose(norms, [1, 0, 1, 1, 1], rtol=1e-14)
    np.testing.assert_allclose(normalized.diag(), [1, 0, 1, 1, 1], rtol=1e-14)
