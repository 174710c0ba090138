"""Several classes: a separate two-class problem for each, whatever the number of threads."""

from dataclasses import replace

import numpy as np
import pytest
from problems import Problem, random_problem

from treille.kernels import GappedKmer
from treille.spaces import RowsSpace


@pytest.fixture(scope="module")
def problem():
    return random_problem(n=120, n_classes=4, weights="sample")


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_each_class_is_its_own_two_class_problem(problem, loss):
    together = problem.solve(classes=range(4), loss=loss, tol=1e-5, seed=3)
    assert together.weights.shape == (problem.space.rows.n_features, 4)
    assert together.alpha.shape == (4, 120)
    for k in range(4):
        alone = problem.solve(classes=[k], loss=loss, tol=1e-5, seed=3 + k)  # every class has a seed of its own
        assert np.array_equal(alone.weights[:, 0], together.weights[:, k])
        assert np.array_equal(alone.alpha[0], together.alpha[k])
        assert alone.intercept[0] == together.intercept[k]
        assert alone.report.primal == together.report.per_class[k].primal
        assert alone.report.epochs == together.report.per_class[k].epochs


def test_each_class_has_the_optimum_of_its_own_labels(problem):
    together = problem.solve(classes=range(4), tol=1e-7)
    for k, report in enumerate(together.report.per_class):
        binary = replace(problem, codes=(problem.codes == k).astype(int)).solve(tol=1e-9)
        assert report.primal == pytest.approx(binary.report.primal, rel=1e-6)


def test_threads_change_no_bit(problem):
    one = problem.solve(classes=range(4), tol=1e-4, n_jobs=1)
    for threads in (2, 3, 8):
        many = problem.solve(classes=range(4), tol=1e-4, n_jobs=threads)
        assert np.array_equal(many.weights, one.weights)
        assert np.array_equal(many.alpha, one.alpha)
        assert np.array_equal(many.intercept, one.intercept)


def test_two_threads_within_long_rows_change_no_bit():
    rng = np.random.default_rng(1)
    kernel = GappedKmer(10, 6, "ACGT").normalized()
    batch = kernel.batch(["".join(rng.choice(list("ACGT"), 60)) for _ in range(40)])
    problem = Problem(RowsSpace.build(kernel, batch), np.arange(40) % 2, np.ones(40))
    assert len(problem.space.rows.entries) > 4096 * 40  # from this length on, rows are cut in two
    one, two = (problem.solve(tol=1e-6, n_jobs=threads) for threads in (1, 2))
    assert np.array_equal(one.alpha, two.alpha)
    assert np.array_equal(one.weights, two.weights)
    primal, dual = problem.values(two.alpha[0], two.intercept[0])
    assert primal == pytest.approx(two.report.primal)
    assert dual == pytest.approx(two.report.dual)


def test_the_report_sums_the_values_and_shows_the_worst_gap(problem):
    report = problem.solve(classes=range(4), tol=1e-3).report
    assert report.primal == pytest.approx(sum(r.primal for r in report.per_class))
    assert report.dual == pytest.approx(sum(r.dual for r in report.per_class))
    assert report.epochs == max(r.epochs for r in report.per_class)
    assert report.relative_gap == max(r.relative_gap for r in report.per_class) <= 1e-3
    assert report.status == "converged"


def test_a_warm_start_has_a_row_for_each_class(problem):
    cold = problem.solve(classes=range(4), tol=1e-7)
    warm = problem.solve(classes=range(4), tol=1e-6, start=cold.alpha)
    assert warm.report.epochs <= 3
