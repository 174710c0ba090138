"""Ridge regression: three roads, one answer, and a gap that is a proof."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import ConvergenceWarning, InputError
from treille.kernels import NGram
from treille.solvers.least_squares import LeastSquares
from treille.spaces import RowsSpace
from twins import ridge

WAYS = pytest.mark.parametrize("way", ["primal", "cg", "cholesky"])


def texts_and_rows(n=60, seed=0, longest=12):
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list("abc"), rng.integers(0, longest))) for _ in range(n)]
    return RowsSpace.of(NGram(2, 1), NGram(2, 1).batch(texts)).rows, rng


def solve(problem, rows, way, threads=1):
    """Weights of features and the fit."""
    if way == "primal":
        fit = problem.by_normal_equations(rows, threads)
        return fit.coefficients, fit
    if way == "cg":
        fit = problem.by_conjugate_gradients(lambda beta: rows.matvec(rows.rmatvec(beta, threads), threads))
    else:
        fit = problem.by_cholesky(rows.gram(None, threads))
    return rows.rmatvec(fit.coefficients, threads), fit


def objective(X, y, s, alpha, w, b):
    return s @ (y - X @ w - b) ** 2 + alpha * (w**2).sum(axis=0)


@WAYS
@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 10**6),
    alpha=st.sampled_from([1e-3, 0.5, 100.0]),
    intercept=st.booleans(),
    weighted=st.booleans(),
    targets=st.integers(1, 3),
)
def test_every_way_leads_to_the_twins_answer(way, n, seed, alpha, intercept, weighted, targets):
    rows, rng = texts_and_rows(n, seed)
    X, y = rows.to_csr().toarray(), rng.normal(size=(n, targets)) + 10
    s = rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    s[rng.integers(n)] += 1
    w, b = ridge(X, y, s, alpha, intercept)
    found, fit = solve(LeastSquares(y, s, alpha, intercept, tol=1e-16, max_epochs=1000), rows, way)
    np.testing.assert_allclose(X @ found + fit.intercept, X @ w + b, atol=1e-5)
    best = objective(X, y, s, alpha, w, b)
    for report, optimum in zip(fit.report.per_class or [fit.report], best, strict=True):
        assert report.primal == pytest.approx(optimum, rel=1e-9, abs=1e-9)


@WAYS
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-6, 1e-12])
def test_the_optimum_lies_between_dual_and_primal(way, tol):
    rows, rng = texts_and_rows(200, longest=40)
    X, y, s = rows.to_csr().toarray(), rng.normal(size=(200, 1)), rng.uniform(0.1, 2, 200)
    w, b = ridge(X, y, s, 0.1)
    found, fit = solve(LeastSquares(y, s, 0.1, tol=tol), rows, way)
    report, best = fit.report, objective(X, y, s, 0.1, w, b)[0]
    assert report.status == "converged"
    assert report.primal == pytest.approx(objective(X, y, s, 0.1, found, fit.intercept)[0], rel=1e-9)
    assert report.dual <= best * (1 + 1e-12)
    assert best <= report.primal * (1 + 1e-12)
    assert report.gap <= tol * report.primal
    # The objective is quadratic: the gap bounds the distance of the fitted values, too.
    far = X @ (found - w) + fit.intercept - b
    assert s @ far[:, 0] ** 2 <= report.gap + 1e-9


def test_the_gap_is_that_of_the_dual_value():
    rows, rng = texts_and_rows(50)
    X, y, alpha = rows.to_csr().toarray(), rng.normal(size=(50, 1)), 0.7
    problem = LeastSquares(y, np.ones(50), alpha, fit_intercept=False, tol=0.05)
    fit = problem.by_conjugate_gradients(lambda beta: rows.matvec(rows.rmatvec(beta, 1), 1))
    u = fit.coefficients
    dual = 2 * alpha * (u * y).sum() - alpha**2 * (u**2).sum() - alpha * ((X.T @ u) ** 2).sum()
    assert fit.report.gap > 1e-6
    assert fit.report.dual == pytest.approx(dual, rel=1e-9)


@WAYS
def test_constant_targets_need_no_weights(way):
    rows, _ = texts_and_rows(20)
    w, fit = solve(LeastSquares(np.full((20, 1), 3.0), np.ones(20), 1.0), rows, way)
    np.testing.assert_allclose(w, 0, atol=1e-12)
    np.testing.assert_allclose(fit.intercept, 3.0)
    assert fit.report.status == "converged"


@WAYS
def test_targets_do_not_know_of_each_other(way):
    rows, rng = texts_and_rows(80)
    y = rng.normal(size=(80, 3)) * [1.0, 1e-4, 1e4]
    together, fit = solve(LeastSquares(y, np.ones(80), 0.5, tol=1e-14), rows, way)
    assert len(fit.report.per_class) == 3
    for k in range(3):
        alone, _ = solve(LeastSquares(y[:, [k]], np.ones(80), 0.5, tol=1e-14), rows, way)
        np.testing.assert_allclose(together[:, k], alone[:, 0], rtol=1e-5, atol=1e-7 * np.abs(alone).max())


@WAYS
def test_threads_do_not_matter(way):
    rows, rng = texts_and_rows(300, longest=50)
    y = rng.normal(size=(300, 2))
    one, three = (solve(LeastSquares(y, np.ones(300), 0.5), rows, way, threads)[0] for threads in (1, 3))
    assert np.array_equal(one, three)


def test_dense_blocks_and_sparse_products_give_the_same_matrix(monkeypatch):
    rows, rng = texts_and_rows(300)
    problem = LeastSquares(rng.normal(size=(300, 1)), rng.uniform(0, 2, 300), 0.5)
    dense = problem._normal_matrix(rows, 1)
    monkeypatch.setattr("treille.solvers.least_squares.BLOCK", 100)
    blocks = problem._normal_matrix(rows, 1)
    monkeypatch.setattr("treille.solvers.least_squares.DENSE", 2.0)
    sparse = problem._normal_matrix(rows, 1)
    np.testing.assert_allclose(dense, blocks, atol=1e-10)
    np.testing.assert_allclose(dense, sparse, atol=1e-10)


def test_a_budget_that_ends_first_is_told():
    rows, rng = texts_and_rows(300, longest=60)
    problem = LeastSquares(rng.normal(size=(300, 1)), np.ones(300), 1e-3, tol=1e-12, max_epochs=3)
    with pytest.warns(ConvergenceWarning, match="raise max_epochs, use a larger tol, a larger alpha, or a normalized"):
        _, fit = solve(problem, rows, "cg")
    assert fit.report.status == "max_epochs"
    assert fit.report.epochs == 3


def test_a_singular_matrix_is_told():
    K = np.ones((50, 50)) * 1e20
    with pytest.raises(InputError, match="alpha is 1e-05, too small for this kernel"):
        LeastSquares(np.ones((50, 1)), np.ones(50), 1e-5, fit_intercept=False).by_cholesky(K)
