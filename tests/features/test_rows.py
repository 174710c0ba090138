"""Rows: the compact layout compared with the matrix that it represents."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import InputError
from treille.data import Strings
from treille.data.graph import Graph
from treille.features import Rows
from treille.kernels import Conjunctions, Gappy, NGram, Subpath, SubTree, Walks, WeisfeilerLehman


def rows_of(texts, n=2):
    return NGram(n).fit_features(Strings(texts))[1]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.text("abc", max_size=12), min_size=1, max_size=8), st.integers(1, 4), st.integers(1, 4))
def test_outputs_are_the_matrix_product(texts, functions, threads):
    rows = rows_of(texts)
    weights = np.random.default_rng(0).normal(size=(rows.n_features, functions))
    np.testing.assert_allclose(rows.matvec(weights, threads), rows.to_csr() @ weights, atol=1e-12)
    scaled = replace(rows, scale=np.linspace(0, 2, len(rows)))
    np.testing.assert_allclose(scaled.matvec(weights, threads), scaled.to_csr() @ weights, atol=1e-12)


def test_the_matrix_has_sorted_columns_and_float64():
    matrix = rows_of(["abcabca", "", "cabbac"]).to_csr()
    assert matrix.dtype == np.float64
    assert all((np.diff(matrix.indices[a:b]) > 0).all() for a, b in zip(matrix.indptr, matrix.indptr[1:], strict=False))
    assert matrix[1].nnz == 0


LONG_TREE = "(r " + " ".join(f"(n{i} leaf{i})" for i in range(200, 0, -1)) + ")"
LONG_GRAPH = Graph([f"label {i}" for i in range(300, 0, -1)], [(i, i + 1) for i in range(299)])


@pytest.mark.parametrize(
    ("kernel", "examples"),
    [
        (NGram(2), ["".join(map(chr, range(1000, 600, -1))), "b"]),
        (Gappy(2, max_gap=1), ["".join(map(chr, range(1000, 600, -1))), "b"]),
        (SubTree(1.0, leaves=True), [LONG_TREE, "(n1 leaf1)"]),
        (Subpath(), [LONG_TREE, "(n1 leaf1)"]),
        (Walks(2), [LONG_GRAPH, Graph(["label 1"], [])]),
        (WeisfeilerLehman(1), [LONG_GRAPH, Graph(["label 1"], [])]),
        (Conjunctions(2), [{f"x{i}" for i in range(30)}, {"x1"}]),
    ],
    ids=["NGram", "Gappy", "SubTree", "Subpath", "Walks", "WeisfeilerLehman", "Conjunctions"],
)
def test_ids_rise_in_rows_of_hundreds_of_features(kernel, examples):
    features, rows = kernel.fit_features(kernel.batch(examples))
    for each in (rows, features.transform(kernel.batch(examples))):
        ids = (each.entries >> each.code_bits).astype(np.int64)
        assert each.indptr[1] > 128
        assert all((np.diff(ids[a:b]) > 0).all() for a, b in itertools.pairwise(each.indptr))


def test_an_entry_takes_four_bytes():
    rows = rows_of(["abcabca", "cabbac"])
    assert rows.entries.dtype == np.uint32
    assert rows.nbytes == sum(a.nbytes for a in (rows.indptr, rows.entries, rows.codebook, rows.scale, rows.sq_norms))


def test_normalized_rows_have_norm_one_and_zero_rows_stay_zero():
    rows = rows_of(["abab", "", "a", "bb"]).normalized()
    assert rows.diag() == pytest.approx([1, 0, 0, 1])
    assert rows.normalized().diag() == pytest.approx([1, 0, 0, 1])
    assert np.isfinite(rows.to_csr().data).all()


def test_rows_without_features_are_an_empty_matrix():
    rows = rows_of(["", "a"])
    assert rows.to_csr().shape == (2, 0)
    assert rows.matvec(np.zeros((0, 3)), threads=2).tolist() == [[0, 0, 0], [0, 0, 0]]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("abc", max_size=12), min_size=1, max_size=20), st.integers(1, 3), st.integers(1, 5))
def test_sums_of_rows_are_the_transpose_for_any_number_of_threads(texts, width, threads):
    rows = NGram(3, 1).normalized().fit_features(Strings(texts))[1]
    coefficients = np.random.default_rng(0).normal(size=(len(rows), width))
    found = rows.rmatvec(coefficients, threads)
    np.testing.assert_allclose(found, rows.to_csr().T @ coefficients, atol=1e-12)
    assert np.array_equal(found, rows.rmatvec(coefficients, 1))


def test_rows_of_any_matrix_need_nothing_but_the_matrix():
    matrix = sp.random(20, 9, density=0.4, random_state=0, format="csr")
    rows = Rows.from_csr(matrix)
    np.testing.assert_array_equal(rows.to_csr().toarray(), matrix.toarray())
    np.testing.assert_allclose(rows.diag(), (matrix.toarray() ** 2).sum(axis=1))
    assert Rows.from_csr(matrix, np.full(20, 7.0)).diag().tolist() == [7.0] * 20
    duplicated = sp.csr_matrix((np.ones(3), np.array([1, 0, 1]), np.array([0, 3])), shape=(1, 2))
    assert Rows.from_csr(duplicated).to_csr().toarray().tolist() == [[1.0, 2.0]]


def test_weights_of_columns_multiply_values_and_unseen_parts_have_their_own_weight():
    features, _ = NGram(1).fit_features(Strings(["aab"]))
    rows = features.transform(Strings(["aabcc"])).scaled(0.5)  # c is unseen, with the squared norm 4
    weighted = rows.weighted(np.array([3.0, 10.0]))
    assert sorted(weighted.to_csr().toarray()[0]) == sorted((rows.to_csr().toarray() * [3.0, 10.0])[0])
    assert weighted.diag() == pytest.approx(weighted.to_csr().power(2).sum() + 0.25 * 4)
    assert rows.weighted(np.array([3.0, 10.0]), unseen=0).diag() == pytest.approx(weighted.to_csr().power(2).sum())
    with pytest.raises(InputError, match=r"column_weights has the shape \(3,\), expected 2 weights"):
        rows.weighted(np.ones(3))


@pytest.mark.parametrize("functions", [1, 3])
def test_products_of_few_rows_are_those_of_all_to_the_last_bit(functions):
    generator = np.random.default_rng(0)
    texts = ["".join(generator.choice(list("abcdefgh"), 30)) for _ in range(300)]
    features, rows = NGram(4, counts="log").fit_features(Strings(texts))
    column_weights = generator.uniform(size=features.n_features)
    weights = generator.normal(size=(features.n_features, functions))
    weighted = rows.weighted(column_weights).normalized()
    for few in (texts[:1], texts[7:9], [""]):
        own = features.transform(Strings(few)).weighted(column_weights).normalized()
        assert own.n_entries * 4 < features.n_features
        places = [texts.index(text) for text in few if text]
        assert own.matvec(weights)[: len(places)].tolist() == weighted.matvec(weights)[places].tolist()
        assert own.diag()[: len(places)].tolist() == weighted.diag()[places].tolist()
