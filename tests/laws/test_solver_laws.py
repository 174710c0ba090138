"""Laws of the support vector machine on random problems."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from treille.kernels import NGram
from treille.solvers import DualCD, Problem
from treille.solvers.problem import LOSSES as LOSS_CLASSES
from treille.spaces import RowsSpace
from twins import dual, primal, solve_dual, with_bias

KERNEL = NGram(2, min_n=1).normalized()
LOSSES, INTERCEPTS = st.sampled_from(["hinge", "squared_hinge"]), st.booleans()


@st.composite
def problems(draw):
    """Texts (some empty, some alike), labels, and a C for each, of any size, 0 among them."""
    size = draw(st.integers(2, 14))
    texts = draw(st.lists(st.text("ab", max_size=5), min_size=size, max_size=size))
    codes = draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    C = draw(st.lists(st.sampled_from([0.0, 0.01, 0.3, 1.0, 10.0]), min_size=size, max_size=size))
    space = RowsSpace.build(KERNEL, KERNEL.batch(texts))
    matrix = space.rows.to_csr()
    return space, (matrix @ matrix.T).toarray(), np.array(codes), np.array(C)


def solve(problem, loss, intercept, **options):
    space, _, codes, C = problem
    options = {"tol": 1e-7, "max_epochs": 1_000_000} | options
    posed = Problem(LOSS_CLASSES[loss](), codes, C, intercept, np.array([1]))
    return DualCD().solve(posed, space, **options)


@settings(deadline=None, max_examples=60)
@given(problems(), LOSSES, INTERCEPTS, st.integers(0, 5))
def test_dual_and_primal_enclose_the_optimum_and_are_what_the_variables_give(problem, loss, intercept, seed):
    _, K, codes, C = problem
    y, squared = np.where(codes == 1, 1.0, -1.0), loss == "squared_hinge"
    solution = solve(problem, loss, intercept, seed=seed)
    report, alpha, b = solution.report, solution.alpha[0], solution.intercept[0]
    best = dual(
        with_bias(K, float(intercept)),
        y,
        C,
        solve_dual(with_bias(K, float(intercept)), y, C, squared, tol=1e-9),
        squared,
    )
    slack = 1e-8 * max(1.0, best)
    assert report.dual - slack <= best <= report.primal + slack
    assert abs(report.dual - dual(with_bias(K, float(intercept)), y, C, alpha, squared)) <= slack
    assert abs(report.primal - primal(K, y, C, alpha, b, squared)) <= slack
    assert report.relative_gap <= 1e-7
    assert (alpha >= 0).all()
    assert (alpha[C == 0] == 0).all()
    assert squared or (alpha <= C).all()


@settings(deadline=None, max_examples=40)
@given(problems(), LOSSES, st.booleans())
def test_swapping_the_labels_turns_the_sign(problem, loss, intercept):
    space, K, codes, C = problem
    one, other = solve(problem, loss, intercept), solve((space, K, 1 - codes, C), loss, intercept)
    assert np.array_equal(one.weights, -other.weights)
    assert np.array_equal(one.alpha, other.alpha)


@settings(deadline=None, max_examples=40)
@given(problems(), LOSSES, st.booleans())
def test_more_weight_never_lowers_the_objective(problem, loss, intercept):
    space, K, codes, C = problem
    less, more = solve(problem, loss, intercept).report, solve((space, K, codes, 2 * C), loss, intercept).report
    assert more.primal >= less.dual * (1 - 1e-9)
    assert more.dual <= 2 * less.primal * (1 + 1e-9)
