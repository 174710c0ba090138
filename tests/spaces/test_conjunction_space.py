"""Rows and functions of conjunctions against their definition."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from treille import InputError
from treille.kernels import Precomputed
from treille.kernels.conjunction_features import conjunction_coefficients
from treille.solvers import SMO, DualCD, Problem
from treille.solvers.problem import SquaredHinge
from treille.spaces import GramSpace
from treille.spaces.conjunctions import ConjunctionSpace, ConjunctionWeights


def examples(seed, n=40, n_columns=12, density=0.4):
    rng = np.random.default_rng(seed)
    dense = rng.random((n, n_columns)) < density * rng.random(n_columns) * 2
    dense[n // 2] = False  # an example without features
    return dense


def arrays(dense):
    rows = [np.flatnonzero(row).astype(np.int32) for row in dense]
    indptr = np.cumsum([0, *map(len, rows)])
    order = np.lexsort((np.arange(dense.shape[1]), dense.sum(axis=0)))
    item_of = np.empty(dense.shape[1], np.uint32)
    item_of[order] = np.arange(dense.shape[1])
    return indptr, np.concatenate(rows).astype(np.int32), item_of


def space_of(dense, degree, min_support=1, n_jobs=1):
    return ConjunctionSpace.of(*arrays(dense), conjunction_coefficients(degree)[1:], min_support, n_jobs)


def slow_kernel(left, right, train, degree, min_support):
    """Sum over all frequent conjunctions of their squared values."""
    c = conjunction_coefficients(degree)
    K = np.zeros((len(left), len(right)))
    for k in range(1, degree + 1):
        for columns in combinations(range(train.shape[1]), k):
            if train[:, columns].all(axis=1).sum() >= min_support:
                K += c[k] * np.outer(left[:, columns].all(axis=1), right[:, columns].all(axis=1))
    return K


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
@pytest.mark.parametrize("min_support", [1, 2, 5])
def test_inner_products_of_rows_are_those_of_the_frequent_conjunctions(degree, min_support):
    dense = examples(degree)
    space = space_of(dense, degree, min_support)
    K = slow_kernel(dense, dense, dense, degree, min_support)
    assert np.allclose(space.rows.gram(None, 1), K * space.scale**2, rtol=1e-12, atol=1e-12)
    assert np.allclose(space.rows.diag(), K.diagonal() * space.scale**2)
    assert np.isclose(space.rows.diag().mean(), 1.0)
    n = sum(
        dense[:, columns].all(axis=1).sum() >= min_support
        for k in range(1, degree + 1)
        for columns in combinations(range(dense.shape[1]), k)
    )
    assert space.cells.n_patterns == n


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_all_conjunctions_are_the_polynomial_kernel(degree):
    dense = examples(7)
    space = space_of(dense, degree)
    common = dense.astype(int) @ dense.astype(int).T
    K = (1.0 + common) ** degree - 1
    assert np.allclose(space.rows.gram(None, 2), K * space.scale**2, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("degree", "min_support"), [(1, 1), (2, 1), (2, 3), (3, 1), (4, 2)])
def test_scores_of_new_examples_are_sums_of_kernel_values(degree, min_support):
    dense, new = examples(3), examples(4)
    space = space_of(dense, degree, min_support)
    rng = np.random.default_rng(0)
    for n_functions in (1, 2, 7, 32, 40):
        coefficients = rng.normal(size=(len(dense), n_functions)) * (rng.random((len(dense), n_functions)) < 0.3)
        weights = space.weights_of(coefficients, first_late=9)
        indptr, columns, _ = arrays(new)
        found = (
            weights.scorer.scores(indptr, columns, arrays(dense)[2], 2).reshape(len(new), n_functions) * weights.scale
        )
        K = slow_kernel(new, dense, dense, degree, min_support) * space.scale**2
        assert np.allclose(found, K @ coefficients, rtol=1e-4, atol=1e-4)


def test_a_few_columns_that_are_always_together_share_their_cells():
    dense = examples(5)
    space, doubled = space_of(dense, 2), space_of(np.hstack([dense, dense]), 2)
    assert doubled.rows.n_entries == space.rows.n_entries
    assert doubled.cells.n_patterns > space.cells.n_patterns


@pytest.mark.parametrize("degree", [2, 3])
def test_rows_and_weights_do_not_depend_on_the_number_of_threads(degree):
    dense = examples(6, n=200, n_columns=30)
    one, many = space_of(dense, degree, n_jobs=1), space_of(dense, degree, n_jobs=3)
    assert one.rows.indptr.tolist() == many.rows.indptr.tolist()
    assert one.rows.entries.tolist() == many.rows.entries.tolist()
    assert one.rows.column_weights.tolist() == many.rows.column_weights.tolist()
    coefficients = np.random.default_rng(0).normal(size=(200, 3))
    left, right = one.weights_of(coefficients).state()[1], many.weights_of(coefficients).state()[1]
    assert all(left[name].tolist() == right[name].tolist() for name in left)


def test_a_solver_finds_the_optimum_of_the_matrix():
    dense = examples(8, n=60)
    codes = np.random.default_rng(1).integers(0, 3, len(dense))
    space = space_of(dense, 2)
    problem = Problem(SquaredHinge(), codes, np.ones(len(dense)), True, np.arange(3))
    found = DualCD().solve(problem, space, tol=1e-8)
    K = slow_kernel(dense, dense, dense, 2, 1) * space.scale**2
    kernel = Precomputed()
    gram = GramSpace.build(kernel, kernel.batch(K))
    expected = SMO().solve(problem, gram, tol=1e-8)
    assert np.isclose(found.report.primal, expected.report.primal, rtol=1e-6)
    assert np.allclose(found.coefficients, expected.coefficients, atol=1e-3)


def test_examples_without_features_have_empty_rows():
    space = space_of(np.zeros((3, 2), bool), 2)
    assert space.rows.n_entries == 0
    assert space.rows.diag().tolist() == [0, 0, 0]


def damaged(arrays, name, change):
    copy = {k: v.copy() for k, v in arrays.items()}
    change(copy[name])
    return copy


def test_conjunctions_of_a_file_are_checked():
    space = space_of(examples(9), 2)
    spec, state = space.weights_of(np.random.default_rng(0).normal(size=(40, 3))).state()
    assert np.array_equal(ConjunctionWeights.load(spec, state, space.n_items, 3).words, state["words"])

    def put(at, value):
        return lambda array: array.__setitem__(at, value)

    for name, change in [
        ("levels", put(0, 2)),
        ("levels", put(3, 9)),
        ("items", put(0, 2**31)),
        ("items", put(-1, 0)),
        ("lists", put(0, 2**31)),
        ("words", put(int(state["lists"][0]), 100)),
    ]:
        with pytest.raises(InputError, match="do not agree"):
            ConjunctionWeights.load(spec, damaged(state, name, change), space.n_items, 3)


def test_counts_follow_the_binomials():
    dense = np.ones((3, 5), bool)
    assert space_of(dense, 3).cells.n_patterns == comb(5, 1) + comb(5, 2) + comb(5, 3)
    assert space_of(dense, 3).rows.n_entries == 3


def test_conjunctions_that_would_not_fit_are_refused(monkeypatch):
    from treille.spaces import conjunctions

    monkeypatch.setattr(conjunctions, "available_memory", lambda: 1000)
    with pytest.raises(InputError, match=r"about \d+ conjunctions of up to 2 features.*use a larger min_support"):
        space_of(examples(1), 2)
    assert space_of(examples(1)[:3, :2], 1).rows.n_entries > 0
