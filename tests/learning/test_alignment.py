"""Weights of features and groups by alignment follow the definitions."""

import numpy as np
import pytest
import scipy.sparse as sp
from learning_twins import alignment

from treille.features import Rows
from treille.learning import align_weights
from treille.solvers import ConvergenceWarning, Problem
from treille.solvers.problem import Hinge, SquaredError

CENTERED = pytest.mark.parametrize("centered", [True, False])
GROUPED = pytest.mark.parametrize("grouped", [False, True])


def data(n=25, p=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.8, (n, p)).astype(float)
    X[:, 2], X[:, 3] = 0, 1  # no kernel, and none once centred
    groups = np.where(np.arange(p) < 2, -1, np.arange(p) // 3)
    return X, X @ rng.normal(size=p) + rng.normal(size=n), groups


def regression(y, C=1.0):
    return Problem(SquaredError(), y, np.broadcast_to(C, len(y)))


def traces(X, groups):
    squares = (X**2).sum(axis=0)
    return squares if groups is None else np.bincount(groups[groups >= 0], squares[groups >= 0])


@CENTERED
@GROUPED
def test_independent_weights_are_proportional_to_the_alignment(centered, grouped):
    X, y, groups = data()
    groups = groups if grouped else None
    [learned] = align_weights(regression(y), Rows.from_csr(sp.csr_matrix(X)), groups, trace=3.0, centered=centered)
    expected, _, _ = alignment(X, y, groups, centered)
    np.testing.assert_allclose(learned.shares, expected / expected.sum(), atol=1e-9)
    assert learned.weights @ (X**2).sum(axis=0) == pytest.approx(3.0)


@CENTERED
@GROUPED
@pytest.mark.parametrize("size", [(25, 12), (12, 200), (60, 30)])
def test_least_squares_weights_are_the_best(centered, grouped, size):
    X, y, groups = data(*size)
    groups = groups if grouped else None
    options = {"nonnegative_least_squares": True, "centered": centered, "tol": 1e-10}
    [learned] = align_weights(regression(y), Rows.from_csr(sp.csr_matrix(X)), groups, **options)
    _, mu, value = alignment(X, y, groups, centered)
    assert learned.report.status == "converged"
    assert learned.report.dual <= value * (1 + 1e-6)
    assert learned.report.primal == pytest.approx(value, rel=1e-6)
    shares = mu * traces(X, groups)
    np.testing.assert_allclose(learned.shares, shares / shares.sum(), atol=1e-3)


def test_classes_are_aligned_one_by_one_and_examples_without_weight_take_no_part():
    X, _, _ = data()
    codes, C = np.arange(25) % 3, (np.arange(25) > 4).astype(float)
    rows = Rows.from_csr(sp.csr_matrix(X))
    both = align_weights(Problem(Hinge(), codes, C, True, np.array([0, 2])), rows)
    for learned, code in zip(both, [0, 2], strict=True):
        expected, _, _ = alignment(X[5:], np.where(codes[5:] == code, 1.0, -1.0))
        np.testing.assert_allclose(learned.shares, expected / expected.sum(), atol=1e-9)


def test_constant_targets_have_no_alignment():
    X, _, _ = data()
    [learned] = align_weights(regression(np.ones(25)), Rows.from_csr(sp.csr_matrix(X)))
    assert not learned.shares.any()
    assert not learned.weights.any()


def test_a_gap_that_is_not_reached_is_reported_with_a_warning():
    X, y, _ = data(60, 300)
    with pytest.warns(ConvergenceWarning, match="max_epochs"):
        align_weights(
            regression(y), Rows.from_csr(sp.csr_matrix(X)), nonnegative_least_squares=True, tol=1e-12, max_epochs=2
        )
