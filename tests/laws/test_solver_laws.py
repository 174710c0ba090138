"""Laws of the support vector machine on random problems."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from treille.kernels import NGram
from treille.solvers import DualCD
from treille.spaces import RowsSpace
from twins import dual, primal, solve_dual, with_bias

KERNEL = NGram(2, min_n=1).normalized()
LOSSES, BIASES = st.sampled_from(["hinge", "squared_hinge"]), st.sampled_from([0.0, 0.5, 1.0, 3.0])


@st.composite
def problems(draw):
    """Texts (some empty, some alike), labels, and a C for each, of any size, 0 among them."""
    size = draw(st.integers(2, 14))
    texts = draw(st.lists(st.text("ab", max_size=5), min_size=size, max_size=size))
    codes = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    C = draw(st.lists(st.sampled_from([0.0, 0.01, 0.3, 1.0, 10.0]), min_size=size, max_size=size))
    space = RowsSpace.of(KERNEL, KERNEL.batch(texts))
    matrix = space.rows.to_csr()
    return space, (matrix @ matrix.T).toarray(), np.array(codes), np.array(C)


def solve(problem, loss, bias, **options):
    space, _, codes, C = problem
    options = {"tol": 1e-7, "max_epochs": 1_000_000} | options
    return DualCD().solve(space, codes, np.array([1]), C, loss=loss, bias=bias, **options)


@settings(deadline=None, max_examples=60)
@given(problems(), LOSSES, BIASES, st.integers(0, 5))
def test_dual_and_primal_enclose_the_optimum_and_are_what_the_variables_give(problem, loss, bias, seed):
    _, K, codes, C = problem
    y, squared = np.where(codes == 1, 1.0, -1.0), loss == "squared_hinge"
    solution = solve(problem, loss, bias, seed=seed)
    report, alpha, b = solution.report, solution.alpha[0], solution.bias[0]
    best = dual(with_bias(K, bias), y, C, solve_dual(with_bias(K, bias), y, C, squared, tol=1e-9), squared)
    slack = 1e-8 * max(1.0, best)
    assert report.dual - slack <= best <= report.primal + slack
    assert abs(report.dual - dual(with_bias(K, bias), y, C, alpha, squared)) <= slack
    shifted = primal(K, y, C, alpha, b * bias, squared) + 0.5 * b**2 - 0.5 * (b * bias) ** 2
    assert abs(report.primal - shifted) <= slack
    assert report.relative_gap <= 1e-7
    assert (alpha >= 0).all()
    assert (alpha[C == 0] == 0).all()
    assert squared or (alpha <= C).all()


@settings(deadline=None, max_examples=40)
@given(problems(), LOSSES, st.sampled_from([0.0, 1.0]))
def test_swapping_the_labels_turns_the_sign(problem, loss, bias):
    space, K, codes, C = problem
    one, other = solve(problem, loss, bias), solve((space, K, 1 - codes, C), loss, bias)
    assert np.array_equal(one.weights, -other.weights)
    assert np.array_equal(one.alpha, other.alpha)


@settings(deadline=None, max_examples=40)
@given(problems(), LOSSES, st.sampled_from([0.0, 1.0]))
def test_more_weight_never_lowers_the_objective(problem, loss, bias):
    space, K, codes, C = problem
    less, more = solve(problem, loss, bias).report, solve((space, K, codes, 2 * C), loss, bias).report
    assert more.primal >= less.dual * (1 - 1e-9)
    assert more.dual <= 2 * less.primal * (1 + 1e-9)
