"""Ridge regression: three solvers, one answer, and a gap that is a proof."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import ConvergenceWarning, InputError
from treille.kernels import NGram, Precomputed
from treille.solvers import Cholesky, ConjugateGradient, NormalEquations, Problem
from treille.solvers.least_squares import ScaledTargets, normal_matrix
from treille.solvers.problem import SquaredError
from treille.spaces import GramSpace, RowsSpace
from twins import ridge

SOLVERS = pytest.mark.parametrize("solver", [NormalEquations(), ConjugateGradient(), Cholesky()], ids=repr)
INTERCEPTS = pytest.mark.parametrize("intercept", [False, True, "free"])


def texts_and_batch(n=60, seed=0, longest=12):
    rng = np.random.default_rng(seed)
    texts = ["".join(rng.choice(list("abc"), rng.integers(0, longest))) for _ in range(n)]
    return NGram(2, 1).batch(texts), rng


def problem_of(y, s, alpha, intercept="free"):
    """2 alpha times its objective is sum_i s_i (y_i - f(x_i))^2 + alpha |w|^2."""
    return Problem(SquaredError(), y, s / (2 * alpha), intercept)


def solve(problem, batch, solver, n_jobs=None, **options):
    """Weights of features, and the solution."""
    space = solver.spaces[0].build(NGram(2, 1), batch, n_jobs)
    solution = solver.solve(problem, space, n_jobs=n_jobs, **options)
    functions = space.functions(solution)
    return functions.weights, solution


def matrix_of(batch):
    return RowsSpace.build(NGram(2, 1), batch).rows.to_csr().toarray()


def twin(X, y, s, alpha, intercept):
    """The best weights and intercepts. A regularised intercept is the weight of a column of ones."""
    if intercept is True:
        w, _ = ridge(np.column_stack([X, np.ones(len(X))]), y, s, alpha, False)
        return w[:-1], w[-1]
    return ridge(X, y, s, alpha, intercept == "free")


def objective(X, y, s, alpha, w, b, intercept="free"):
    value = s @ (y - X @ w - b) ** 2 + alpha * (w**2).sum(axis=0)
    return (value + alpha * np.square(b) * (intercept is True)) / (2 * alpha)


@SOLVERS
@INTERCEPTS
@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(1, 40),
    seed=st.integers(0, 10**6),
    alpha=st.sampled_from([1e-3, 0.5, 100.0]),
    weighted=st.booleans(),
    targets=st.integers(1, 3),
)
def test_every_solver_finds_the_twins_answer(solver, intercept, n, seed, alpha, weighted, targets):
    batch, rng = texts_and_batch(n, seed)
    X, y = matrix_of(batch), rng.normal(size=(n, targets)) + 10
    s = rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    s[rng.integers(n)] += 1
    w, b = twin(X, y, s, alpha, intercept)
    found, solution = solve(problem_of(y, s, alpha, intercept), batch, solver, tol=1e-16, max_epochs=1000)
    np.testing.assert_allclose(X @ found + solution.intercept, X @ w + b, atol=1e-5)
    best = objective(X, y, s, alpha, w, b, intercept)
    for report, optimum in zip(solution.report.per_class or [solution.report], best, strict=True):
        assert report.primal == pytest.approx(optimum, rel=1e-9, abs=1e-9)


@SOLVERS
@INTERCEPTS
@pytest.mark.parametrize("tol", [0.3, 1e-2, 1e-6, 1e-12])
def test_the_optimum_lies_between_dual_and_primal(solver, intercept, tol):
    batch, rng = texts_and_batch(200, longest=40)
    X, y, s = matrix_of(batch), rng.normal(size=(200, 1)), rng.uniform(0.1, 2, 200)
    w, b = twin(X, y, s, 0.1, intercept)
    found, solution = solve(problem_of(y, s, 0.1, intercept), batch, solver, tol=tol)
    report, best = solution.report, objective(X, y, s, 0.1, w, b, intercept)[0]
    assert report.status == "converged"
    reached = objective(X, y, s, 0.1, found, solution.intercept, intercept)[0]
    assert report.primal == pytest.approx(reached, rel=1e-9)
    assert report.dual <= best * (1 + 1e-12)
    assert best <= report.primal * (1 + 1e-12)
    assert report.gap <= tol * report.primal
    # The objective is quadratic: the gap bounds the distance of the fitted values, too.
    far = X @ (found - w) + solution.intercept - b
    assert s @ far[:, 0] ** 2 <= 2 * 0.1 * report.gap + 1e-9


@SOLVERS
@INTERCEPTS
def test_the_gap_is_computed_from_the_dual_value_of_alpha(solver, intercept):
    batch, rng = texts_and_batch(50)
    X, y, C = matrix_of(batch), rng.normal(size=(50, 1)), np.full(50, 0.7)
    _, solution = solve(Problem(SquaredError(), y, C, intercept), batch, solver, tol=0.05)
    u, K = solution.alpha[0], X @ X.T + (intercept is True)
    assert intercept != "free" or abs(u.sum()) < 1e-9
    dual = SquaredError().conjugate(y[:, 0], u, C).sum() - 0.5 * u @ K @ u
    assert solution.report.dual == pytest.approx(dual, rel=1e-9)


@SOLVERS
def test_constant_targets_need_no_weights(solver):
    batch, _ = texts_and_batch(20)
    w, solution = solve(problem_of(np.full((20, 1), 3.0), np.ones(20), 1.0), batch, solver)
    np.testing.assert_allclose(w, 0, atol=1e-12)
    np.testing.assert_allclose(solution.intercept, 3.0)
    assert solution.report.status == "converged"


@SOLVERS
def test_targets_do_not_affect_each_other(solver):
    batch, rng = texts_and_batch(80)
    y = rng.normal(size=(80, 3)) * [1.0, 1e-4, 1e4]
    together, solution = solve(problem_of(y, np.ones(80), 0.5), batch, solver, tol=1e-14)
    assert len(solution.report.per_class) == 3
    for k in range(3):
        alone, _ = solve(problem_of(y[:, [k]], np.ones(80), 0.5), batch, solver, tol=1e-14)
        np.testing.assert_allclose(together[:, k], alone[:, 0], rtol=1e-5, atol=1e-7 * np.abs(alone).max())


@SOLVERS
def test_threads_do_not_matter(solver):
    batch, rng = texts_and_batch(300, longest=50)
    problem = problem_of(rng.normal(size=(300, 2)), np.ones(300), 0.5)
    one, three = (solve(problem, batch, solver, n_jobs=threads)[0] for threads in (1, 3))
    assert np.array_equal(one, three)


def test_dense_blocks_and_sparse_products_give_the_same_matrix(monkeypatch):
    batch, rng = texts_and_batch(300)
    rows = RowsSpace.build(NGram(2, 1), batch).rows
    scaled = ScaledTargets(problem_of(rng.normal(size=(300, 1)), rng.uniform(0, 2, 300), 0.5))
    for constant in (False, True):
        dense = normal_matrix(rows, scaled, constant, 1)
        with monkeypatch.context() as patch:
            patch.setattr("treille.solvers.least_squares.BLOCK", 100)
            blocks = normal_matrix(rows, scaled, constant, 1)
            patch.setattr("treille.solvers.least_squares.DENSE", 2.0)
            sparse = normal_matrix(rows, scaled, constant, 1)
        np.testing.assert_allclose(dense, blocks, atol=1e-10)
        np.testing.assert_allclose(dense, sparse, atol=1e-10)


def test_an_exhausted_budget_is_reported():
    batch, rng = texts_and_batch(300, longest=60)
    problem = problem_of(rng.normal(size=(300, 1)), np.ones(300), 1e-3)
    with pytest.warns(
        ConvergenceWarning, match=r"raise max_epochs, use a larger tol, .*a larger alpha.*a normalized kernel"
    ):
        _, solution = solve(problem, batch, ConjugateGradient(), tol=1e-12, max_epochs=3)
    assert solution.report.status == "max_epochs"
    assert solution.report.epochs == 3


def test_a_singular_matrix_is_refused():
    space = GramSpace.build(Precomputed(), Precomputed().batch(np.ones((50, 50)) * 1e20))
    with pytest.raises(InputError, match="too large for this kernel: its matrix is singular to working precision"):
        Cholesky().solve(problem_of(np.ones((50, 1)), np.ones(50), 1e-5, False), space)
