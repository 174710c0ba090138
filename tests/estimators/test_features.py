"""Features: a kernel's explicit features as a sparse matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import Features, InputError, Strings
from treille.features import Rows
from treille.kernels import NGram
from twins import ngram_counts

TEXTS = ["abab", "ba", "", "cabba"]


@settings(deadline=None, max_examples=30)
@given(st.lists(st.text("abc", max_size=10), min_size=1), st.lists(st.text("abcx", max_size=10)), st.integers(1, 3))
def test_the_matrix_holds_the_counts(X, Y, n):
    features = Features(NGram(n)).fit(X)
    names = features.get_feature_names_out()
    assert sorted(names) == sorted({"".join(z) for x in X for z in ngram_counts(x, n)})
    for texts in (X, Y):
        matrix = features.transform(texts).toarray()
        expected = [[ngram_counts(text, n)[tuple(name)] for name in names] for text in texts]
        assert matrix.tolist() == expected


def test_the_product_of_the_matrix_is_the_kernel():
    for kernel in (NGram(2), NGram(3, 1, [1, 2, 3]), NGram(2).normalized()):
        matrix = Features(kernel).fit_transform(TEXTS)
        np.testing.assert_allclose((matrix @ matrix.T).toarray(), kernel(TEXTS), atol=1e-12)


def test_fit_transform_is_fit_then_transform():
    kernel = NGram(2, min_n=1).normalized()
    both = Features(kernel).fit_transform(TEXTS, ["y is not read"])
    one = Features(kernel).fit(TEXTS).transform(TEXTS)
    assert isinstance(both, sp.csr_matrix)
    assert (both != one).nnz == 0


def test_a_column_goes_back_to_its_n_gram():
    features = Features(NGram(2)).fit(TEXTS)
    names = features.get_feature_names_out()
    assert names.dtype == object
    assert [features.inverse(i) for i in range(len(names))] == names.tolist()
    assert features.inverse(np.int64(1)) == names[1]
    with pytest.raises(IndexError, match="feature 4 does not exist: there are 4"):
        features.inverse(4)


def test_rows_are_the_compact_representation_of_the_matrix():
    features = Features(NGram(2))
    rows = features.fit_rows(TEXTS)
    assert isinstance(rows, Rows)
    assert (rows.to_csr() != features.transform(TEXTS)).nnz == 0


def test_features_unseen_in_fit_are_left_out():
    features = Features(NGram(2)).fit(["ab"])
    assert features.transform(["abc", "cab", "xyz", ""]).toarray().tolist() == [[1], [1], [0], [0]]
    assert features.transform([]).shape == (0, 1)


def test_batches_and_threads_give_the_same_matrix():
    texts = ["abcab" * k for k in range(300)]
    one = Features(NGram(3)).fit(texts)
    for other in (Features(NGram(3), n_jobs=2).fit(texts), Features(NGram(3), n_jobs=-1).fit(Strings(texts))):
        assert other.get_feature_names_out().tolist() == one.get_feature_names_out().tolist()
        assert (other.transform(texts) != one.transform(texts)).nnz == 0


def test_the_columns_are_frozen_in_fit():
    features = Features(NGram(1)).fit(["ab"])
    features.transform(["xyz"])
    assert features.get_feature_names_out().tolist() == ["a", "b"]


def test_a_kernel_may_be_an_expression_as_in_estimators():
    features = Features("ngram(2).normalized()").fit(TEXTS)
    assert (features.transform(TEXTS) != Features(NGram(2).normalized()).fit_transform(TEXTS)).nnz == 0
    with pytest.raises(InputError, match="kernel is None, expected a kernel such as"):
        Features(None).fit(TEXTS)
