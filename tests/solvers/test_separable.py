"""Data that a machine separates: the optimum does not depend on a large C, and is proven as fast."""

import numpy as np
import pytest

from treille import SVC, SVCCV
from treille.kernels import NGram

RANDOM = np.random.default_rng(0)
TEXTS = ["".join(RANDOM.choice(list("abcdef"), 30)) for _ in range(200)]
Y = RANDOM.integers(0, 2, 200)


def fitted(C, **params):
    return SVC(NGram(4), C=C, **params).fit(TEXTS, Y)


def test_a_large_C_takes_no_more_epochs():
    epochs = [fitted(C).n_iter_ for C in (1.0, 1e3, 1e6)]
    assert epochs[0] == epochs[1] == epochs[2]


def test_the_reported_values_belong_to_the_solution():
    model, exact = fitted(1e6), fitted(1e6, tol=1e-9, max_epochs=100_000)
    margins = np.where(Y == 1, 1, -1) * model.decision_function(TEXTS)
    assert margins.min() >= 1 - 1e-9
    w = np.append(model.coef_.ravel(), model.intercept_)
    assert model.report_.primal == pytest.approx(0.5 * w @ w, rel=1e-9)
    assert model.report_.dual <= exact.report_.primal * (1 + 1e-9)
    assert exact.report_.primal <= model.report_.primal * (1 + 1e-9)


def test_alphas_at_their_bound_are_not_scaled():
    model, exact = fitted(1e-4), fitted(1e-4, tol=1e-9)
    assert model.report_.primal == pytest.approx(exact.report_.primal, rel=1e-3)
    assert (np.where(Y == 1, 1, -1) * model.decision_function(TEXTS)).min() < 1


def test_a_path_ends_where_the_examples_are_separated():
    search = SVCCV(NGram(4), Cs=[1e-4, 1.0, 1e3, 1e6], cv=3).fit(TEXTS, Y)
    assert (search.gaps_ <= search.tol).all()
    assert (search.gaps_[1:] == search.gaps_[1]).all()
