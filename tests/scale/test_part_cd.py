"""Dual coordinate descent on one part against its twin in plain Python."""

from dataclasses import replace

import numpy as np
import part_twins
import pytest
from small_parts import some_texts

from treille import _core
from treille.features import ConcatenatedRows
from treille.kernels import NGram
from treille.solvers.dual_cd import core_rows, true_weights, weights_of
from treille.solvers.problem import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    Problem,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)

LOSSES = [Hinge(), SquaredHinge(), Logistic(), EpsilonInsensitive(0.1), SquaredEpsilonInsensitive(0.05)]
X, labels = some_texts(24, 3)


def two_terms(weighted):
    """The rows of a sum of two kernels, scaled, and one of them with weights of columns, some of them 0."""
    one, two = (NGram(n).fit_features(NGram(n).batch(X))[1].normalized() for n in (1, 2))
    weights = np.random.default_rng(1).uniform(0.5, 2.0, one.n_features)
    weights[:2] = 0.0
    return ConcatenatedRows([one.weighted(weights) if weighted else one, two.scaled(0.7)])


def problem_of(loss, n_problems=2):
    C = np.random.default_rng(2).uniform(0.3, 2.0, len(X))
    C[5] = 0.0  # does not take part
    if loss.of_classes:
        return Problem(loss, labels, C, classes=np.arange(n_problems))
    return Problem(loss, np.random.default_rng(3).normal(size=(len(X), n_problems)), C)


def in_segments(rows):
    """The same rows as two parts and some rows of a third: segments with codebooks of their own."""
    cuts = [np.arange(10), np.arange(10, 11), np.arange(11, len(X))]
    return core_rows([rows.taken(own) for own in cuts])


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weights of columns"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_improving_a_part_does_what_its_twin_does(loss, weighted):
    rows, problem, bias = two_terms(weighted), problem_of(loss), 1.0
    phi, n, F = rows.to_csr().toarray(), len(X), rows.n_features
    mine = np.zeros((2, F)), np.zeros(2), np.zeros((2, n))
    visits, seed = 0, 7
    while visits < 3:  # each begins where the one before ended
        seed += 2**59
        u, b, alpha = (values.copy() for values in mine)
        w, b_twin, alpha_twin = true_weights(u, weights_of(rows)).copy(), b.reshape(2, 1).copy(), alpha.copy()
        twin = [
            (loss, phi, problem.y(k), problem.C, bias, 4, 0.05, seed + k, w[k], b_twin[k], alpha_twin[k], 15)
            for k in range(2)
        ]
        try:
            expected = [part_twins.improve_part(*each) for each in twin]
        except part_twins.Tie:
            continue
        visits, free = visits + 1, np.ones((2, n), np.uint8)
        met = _core.improve_part(
            in_segments(rows), problem.core(), bias, 4, 0.05, seed, u.reshape(-1), b,
            alpha.reshape(-1), 15, free.reshape(-1), 2,
        )  # fmt: skip
        assert met == pytest.approx([each for each, _ in expected], abs=1e-9)
        assert (free == [each for _, each in expected]).all()
        assert np.allclose(alpha, alpha_twin, atol=1e-9)
        assert np.allclose(true_weights(u, weights_of(rows)), w, atol=1e-9)
        assert np.allclose(b, b_twin[:, 0], atol=1e-9)
        mine = u, b, alpha
    assert (alpha[:, 5] == 0).all()


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weights of columns"])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_measuring_a_part_does_what_its_twin_does(loss, weighted):
    rows, problem, bias = two_terms(weighted), problem_of(loss), 1.0
    phi, n, F, random = rows.to_csr().toarray(), len(X), rows.n_features, np.random.default_rng(4)
    w, b, alpha = random.normal(size=(2, F)), random.normal(size=2), random.uniform(0, 0.3, (2, n))
    s = weights_of(rows)
    u = w if s is None else w * s  # w of columns with the weight 0 does not count
    sum_u, sum_b = np.zeros((2, F)), np.zeros(2)
    losses, dual = _core.measure_part(
        in_segments(rows), problem.core(), bias, u.reshape(-1), b, alpha.reshape(-1),
        sum_u.reshape(-1), sum_b, 1,
    )  # fmt: skip
    for k in range(2):
        expected = part_twins.measure_part(loss, phi, problem.y(k), problem.C, bias, w[k], b[k : k + 1], alpha[k])
        assert losses[k] == pytest.approx(expected[0])
        assert dual[k] == pytest.approx(expected[1])
        assert np.allclose(true_weights(sum_u, s)[k], expected[2])
        assert sum_b[k] == pytest.approx(expected[3])


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_no_visit_lowers_the_dual_value(loss):
    rows, problem = two_terms(weighted=True), problem_of(loss, 1)
    s, n = weights_of(rows), len(X)
    u, b, alpha, duals = np.zeros((1, rows.n_features)), np.zeros(1), np.zeros((1, n)), []
    for visit in range(6):
        own = np.arange(n)[visit % 3 :: 3]  # a third of the examples, the others fixed
        part, free = np.ascontiguousarray(alpha[:, own]), np.ones((1, len(own)), np.uint8)
        targets = problem.take(own).core()
        _core.improve_part(
            core_rows([rows.taken(own)]), targets, 1.0, 2, 0.0, visit, u.reshape(-1), b,
            part.reshape(-1), len(own), free.reshape(-1), 1,
        )  # fmt: skip
        alpha[:, own] = part
        beta = alpha[0] * (problem.y() if loss.of_classes else 1.0)
        w = true_weights(u, s)[0]
        assert np.allclose(w, rows.rmatvec(beta[:, None])[:, 0])  # w is that of alpha
        duals.append(problem.dual(beta, w @ w + b[0] ** 2))
    assert (np.diff([0.0, *duals]) >= -1e-12).all()


def test_the_number_of_threads_does_not_change_a_visit():
    rows, problem, n = two_terms(weighted=True), problem_of(Hinge(), 3), len(X)
    found = []
    for threads in (1, 2, 5):
        u, b, alpha, free = np.zeros((3, rows.n_features)), np.zeros(3), np.zeros((3, n)), np.ones((3, n), np.uint8)
        _core.improve_part(
            in_segments(rows), problem.core(), 1.0, 3, 0.0, 1, u.reshape(-1), b,
            alpha.reshape(-1), n, free.reshape(-1), threads,
        )  # fmt: skip
        found.append((u, b, alpha, free))
    for other in found[1:]:
        assert all((mine == theirs).all() for mine, theirs in zip(other, found[0], strict=True))


def test_weights_of_the_wrong_size_are_refused_by_the_core():
    rows, problem, n = two_terms(weighted=False), problem_of(Hinge(), 1), len(X)
    targets = problem.core()
    with pytest.raises((ValueError, IndexError), match="the weights do not fit the rows"):
        _core.measure_part(
            in_segments(rows), targets, 1.0, np.zeros(3), np.zeros(1), np.zeros(n), np.zeros(3), np.zeros(1), 1
        )
    one = two_terms(weighted=False).parts[0]
    with pytest.raises((ValueError, IndexError), match="different numbers of features"):
        _core.PartRows([[one.coded()], [replace(one, n_features=one.n_features + 1).coded()]])
