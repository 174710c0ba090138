"""DualCD finds the optimum, and its report proves it."""

from dataclasses import replace

import numpy as np
import pytest
from problems import Problem, random_problem

from treille import InputError
from treille.kernels import NGram
from treille.solvers import ConvergenceWarning, DualCD
from treille.spaces import RowsSpace
from twins import coordinate_descent, dual, ngram_kernel, solve_dual, with_bias

LOSSES = pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
BIASES = pytest.mark.parametrize("bias", [0.0, 1.0])
WEIGHTS = pytest.mark.parametrize("weights", ["none", "class", "sample"])


def test_the_papers_worked_example_holds_step_by_step():
    """Allauzen et al., Tables 1 and 2; row 3 by its definition, since the printed one fits no string."""
    x, y = ["ababa", "abbab", "abbaa"], np.array([1.0, 1.0, -1.0])
    K = NGram(2)(x)
    assert np.array_equal(K, [[ngram_kernel(2)(a, b) for b in x] for a in x])
    assert K.diagonal().tolist() == [8, 6, 4]
    first, second, third = coordinate_descent(K, y, C=np.ones(3))
    assert first == (0, 0 - 1, 1 / 8)
    assert second == (1, 3 / 4 - 1, 1 / 24)
    assert third == (2, pytest.approx(-2 / 3 - 1), pytest.approx(5 / 12))


@LOSSES
@BIASES
@WEIGHTS
@pytest.mark.parametrize("seed", range(3))
def test_the_optimum_is_that_of_the_dense_twin(loss, bias, weights, seed):
    problem = random_problem(seed=seed, weights=weights)
    squared = loss == "squared_hinge"
    K = with_bias(problem.K, bias)
    best = dual(K, problem.y, problem.C, solve_dual(K, problem.y, problem.C, squared), squared)
    report = problem.solve(loss=loss, bias=bias).report
    assert report.status == "converged"
    assert report.primal == pytest.approx(best, rel=1e-8)
    assert report.dual <= best * (1 + 1e-12)
    assert report.primal >= best * (1 - 1e-12)


@LOSSES
@BIASES
@WEIGHTS
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-9])
def test_the_report_is_what_weights_and_alphas_give(loss, bias, weights, tol):
    problem, squared = random_problem(n=60, seed=5, weights=weights), loss == "squared_hinge"
    solution = problem.solve(loss=loss, bias=bias, tol=tol)
    alpha, b, report = solution.alpha[0], solution.bias[0], solution.report
    upper, lower = problem.values(alpha, b, bias, squared)
    assert report.primal == pytest.approx(upper, rel=1e-12)
    assert report.dual == pytest.approx(lower, rel=1e-12)
    assert 0 <= report.gap <= tol * report.primal
    assert (alpha >= 0).all()
    assert squared or (alpha <= problem.C).all()
    w = problem.space.rows.to_csr().T @ (alpha * problem.y)
    np.testing.assert_allclose(solution.weights[:, 0], w, atol=1e-12)


@LOSSES
def test_a_gap_of_a_billionth_is_reached(loss):
    for C in (0.01, 1, 10):
        report = random_problem(n=40, C=C).solve(loss=loss, tol=1e-9).report
        assert report.status == "converged"
        assert report.relative_gap <= 1e-9


def test_examples_without_features_go_to_their_bound():
    texts = ["", "a", "", "b"]
    space = RowsSpace.of(NGram(1), NGram(1).batch(texts))
    problem = Problem(space, np.array([1, 1, 0, 0]), np.array([0.5, 1.0, 2.0, 1.0]))
    alpha = problem.solve(bias=0).alpha[0]
    assert alpha.tolist() == [0.5, 1.0, 2.0, 1.0]  # the paper's Algorithm 2 prints 0 for the first and third
    squared = problem.solve(loss="squared_hinge", bias=0).alpha[0]
    assert squared[[0, 2]] == pytest.approx([1.0, 4.0])  # 2 C_i


@LOSSES
@BIASES
def test_all_examples_empty_is_no_obstacle(loss, bias):
    space = RowsSpace.of(NGram(1), NGram(1).batch(["", "", ""]))
    solution = Problem(space, np.array([1, 0, 0]), np.ones(3)).solve(loss=loss, bias=bias)
    assert solution.report.status == "converged"
    assert solution.weights.shape == (0, 1)


@LOSSES
def test_an_example_of_no_weight_takes_no_part(loss):
    problem = random_problem(n=40)
    C = np.where(np.arange(40) % 4 == 0, 0.0, 1.0)
    solution = replace(problem, C=C).solve(loss=loss)
    assert not solution.alpha[0][C == 0].any()
    kept = np.flatnonzero(C)
    K, y = with_bias(problem.K, 1.0)[np.ix_(kept, kept)], problem.y[kept]
    alpha = solve_dual(K, y, C[kept], loss == "squared_hinge")
    assert solution.report.primal == pytest.approx(dual(K, y, C[kept], alpha, loss == "squared_hinge"), rel=1e-8)


def test_no_weight_at_all_is_solved_by_zero():
    problem = random_problem()
    solution = replace(problem, C=np.zeros(30)).solve()
    assert (solution.report.status, solution.report.primal) == ("converged", 0)
    assert not solution.weights.any()


@LOSSES
@BIASES
def test_a_warm_start_from_the_optimum_is_soon_done(loss, bias):
    problem = random_problem(n=200, C=10)
    cold = problem.solve(loss=loss, bias=bias, tol=1e-8)
    warm = problem.solve(loss=loss, bias=bias, tol=1e-7, start=cold.alpha)
    assert warm.report.epochs <= 3 < cold.report.epochs
    assert warm.report.primal == pytest.approx(cold.report.primal, rel=1e-6)


@LOSSES
def test_a_start_outside_the_box_is_clipped_into_it(loss):
    problem = random_problem(n=50)
    wild = np.random.default_rng(0).normal(0, 100, (1, 50))
    report = problem.solve(loss=loss, start=wild).report
    assert report.primal == pytest.approx(problem.solve(loss=loss).report.primal, rel=1e-8)


def test_a_path_of_warm_starts_ends_at_the_optimum():
    problem, alpha = random_problem(n=100), None
    for C in (0.1, 1.0, 10.0):
        step = replace(problem, C=np.full(100, C))
        alpha = step.solve(start=alpha).alpha
    assert step.values(alpha[0], 0)[1] == pytest.approx(step.solve().report.dual, rel=1e-8)


@LOSSES
@BIASES
def test_shrinking_does_not_change_the_optimum(loss, bias):
    problem = random_problem(n=150, C=5)
    on, off = (problem.solve(DualCD(shrinking=s), loss=loss, bias=bias).report for s in (True, False))
    assert on.primal == pytest.approx(off.primal, rel=1e-8)


@LOSSES
@BIASES
@pytest.mark.parametrize("shrinking", [True, False])
def test_stopping_by_gradient_reaches_the_optimum_too(loss, bias, shrinking):
    problem = random_problem(n=100)
    report = problem.solve(DualCD(shrinking, stopping="gradient"), loss=loss, bias=bias, tol=1e-7).report
    assert report.status == "converged"
    assert report.relative_gap <= 1e-6


def test_an_unknown_stopping_rule_is_refused():
    with pytest.raises(InputError, match="stopping is 'time', expected 'gap' or 'gradient'"):
        random_problem().solve(DualCD(stopping="time"))


@LOSSES
@BIASES
def test_folding_singletons_changes_nothing(loss, bias):
    problem = random_problem(n=60, kernel=NGram(4, min_n=2).normalized())
    problem, shared = (replace(problem, space=problem.space.keeping(name)) for name in ("auto", "flat"))
    assert 0 < problem.space.form.core.n_shared < problem.space.features.n_features
    apart, together = (p.solve(loss=loss, bias=bias, tol=1e-11) for p in (problem, shared))
    assert apart.report.primal == pytest.approx(together.report.primal, rel=1e-11)
    np.testing.assert_allclose(apart.weights, together.weights, atol=1e-4)  # w is unique: |w - w*|^2 <= 2 gap
    with pytest.warns(ConvergenceWarning):
        first, same = (p.solve(loss=loss, bias=bias, tol=1e-11, max_epochs=2) for p in (problem, shared))
    np.testing.assert_allclose(first.weights, same.weights, atol=1e-13)  # every iterate is exact, too
    np.testing.assert_allclose(first.alpha, same.alpha, atol=1e-13)


def test_the_same_seed_gives_the_same_bits_and_another_the_same_optimum():
    problem = random_problem(n=100)
    one, same, other = (problem.solve(seed=seed, tol=1e-4) for seed in (7, 7, 8))
    assert np.array_equal(one.weights, same.weights)
    assert not np.array_equal(one.weights, other.weights)
    assert other.report.dual <= one.report.primal
    assert one.report.dual <= other.report.primal


@pytest.mark.parametrize("length", [5, 150, 1500])
@pytest.mark.parametrize("C", [1e-4, 1.0, 1e4])
def test_rounding_on_the_way_never_keeps_a_run_from_its_gap(length, C):
    """Counts by the thousand and a large C: 32-bit weights cannot resolve a gap of 1e-4 here, so the run goes on in 64 bits."""
    random = np.random.default_rng(0)
    mixtures = ([0.3, 0.2, 0.2, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.2, 0.2, 0.3])
    texts = ["".join(random.choice(list("abcdef"), p=p, size=length * random.integers(1, 10))) for p in mixtures * 50]
    space = RowsSpace.of(NGram(2), NGram(2).batch(texts))
    problem = Problem(space, np.tile([0, 1], 50).astype(np.int32), np.full(100, C))
    for tol in (1e-3, 1e-4):
        solution = problem.solve(tol=tol, max_epochs=100_000)
        assert solution.report.status == "converged"
        upper, lower = problem.values(solution.alpha[0], solution.bias[0])
        assert (upper - lower) / upper <= tol * (1 + 1e-3)
