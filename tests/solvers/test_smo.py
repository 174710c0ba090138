"""SMO compared with LIBSVM and with a general solver; shrinking, caches, threads and budgets."""

import numpy as np
import pytest
from problems import classification, regression

from timing import processor_seconds
from treille import ConvergenceWarning, InputError
from treille.kernels import CallableKernel, NGram, Precomputed
from treille.solvers import SMO
from treille.spaces import GramSpace
from twins import dual, primal, solve_dual, with_bias

LOSSES = ["hinge", "squared_hinge"]


def random_problem(n=60, seed=0, n_classes=2, noise=0.15):
    """A kernel matrix of strings whose letters lean to their class, and codes, some of them wrong."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    texts = ["".join(rng.choice(list("abcdef"[k:]), rng.integers(5, 15))) for k in codes]
    codes = np.where(rng.random(n) < noise, rng.integers(0, n_classes, n), codes)
    return NGram(2, min_n=1).normalized()(texts), codes


def space_of(K):
    return GramSpace(Precomputed(), Precomputed().batch(K))


def rows_of(K):
    """The same values from a function, row by row."""
    kernel = CallableKernel(lambda X, Y: K[np.ix_(np.ravel(X), np.ravel(Y))])
    return GramSpace(kernel, kernel.batch(np.arange(len(K))))


def solve(K, codes, C, solver=None, space=None, loss="hinge", intercept="free", **options):
    options = {"tol": 1e-10, "max_epochs": 100_000} | options
    return (solver or SMO()).solve(classification(codes, C, loss, intercept), space or space_of(K), **options)


def libsvm(K, y, options):
    """Decisions on the training examples, and rho, for label +1."""
    svmutil = pytest.importorskip("libsvm.svmutil", reason="libsvm-official is not installed")
    X = np.column_stack([np.arange(1, len(K) + 1), K])
    model = svmutil.svm_train(svmutil.svm_problem(y, X, isKernel=True), svmutil.svm_parameter(f"-t 4 -q {options}"))
    sign = 1 if "-s 2" in options else model.get_labels()[0]
    coefficients = np.zeros(len(K))
    coefficients[np.array(model.get_sv_indices()) - 1] = np.ravel(model.get_sv_coef())
    rho = sign * model.rho[0]
    return sign * (K @ coefficients) - rho, rho, sign * coefficients


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("factors", [(1.0, 1.0), (0.5, 4.0)])
@pytest.mark.parametrize("stopping", ["gap", "violation"])
def test_objective_bias_and_decisions_are_libsvms(C, factors, stopping):
    K, codes = random_problem(120, seed=3)
    K = K.astype(np.float32).astype(np.float64)  # LIBSVM keeps its matrix in float32: so both have the same one
    y = np.where(codes == 1, 1.0, -1.0)
    decisions, rho, coefficients = libsvm(K, y, f"-c {C} -w1 {factors[1]} -w-1 {factors[0]} -e 1e-10")
    solution = solve(K, codes, C * np.array(factors)[codes], SMO(stopping=stopping))
    assert solution.report.status == "converged"
    theirs = np.abs(coefficients).sum() - 0.5 * coefficients @ K @ coefficients
    assert solution.report.dual == pytest.approx(theirs, rel=1e-6)
    assert -solution.intercept[0] == pytest.approx(rho, rel=1e-6, abs=1e-6)
    ours = K @ (solution.alpha[0] * y) + solution.intercept[0]
    np.testing.assert_allclose(ours, decisions, atol=1e-6 * np.abs(decisions).max())
    clear = np.abs(decisions) > 1e-6
    assert np.array_equal((ours > 0)[clear], (decisions > 0)[clear])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_a_general_solver(loss, seed):
    cvxpy = pytest.importorskip("cvxpy", reason="cvxpy is not installed")
    K, codes = random_problem(16, seed)
    y, C = np.where(codes == 1, 1.0, -1.0), np.random.default_rng(seed).uniform(0.1, 5, 16)
    root = np.linalg.cholesky(K + 1e-12 * np.eye(16))
    w, b = cvxpy.Variable(16), cvxpy.Variable()
    slack = cvxpy.pos(1 - cvxpy.multiply(y, root @ w + b))
    losses = C @ (slack if loss == "hinge" else cvxpy.square(slack))
    value = cvxpy.Problem(cvxpy.Minimize(0.5 * cvxpy.sum_squares(w) + losses)).solve(solver="CLARABEL")
    report = solve(K, codes, C, loss=loss).report
    assert report.primal == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_report_is_the_twins(loss):
    K, codes = random_problem(50, seed=1)
    y, C = np.where(codes == 1, 1.0, -1.0), np.random.default_rng(0).uniform(0, 3, 50)
    C[::7] = 0
    for tol in (0.1, 1e-3, 1e-9):
        s = solve(K, codes, C, loss=loss, tol=tol)
        alpha, b, squared = s.alpha[0], s.intercept[0], loss == "squared_hinge"
        assert s.report.primal == pytest.approx(primal(K, y, C, alpha, b, squared) - 0.5 * b**2, rel=1e-9)
        assert s.report.dual == pytest.approx(dual(K, y, C, alpha, squared), rel=1e-9)
        assert 0 <= s.report.gap <= tol * s.report.primal
        assert abs(alpha @ y) <= 1e-9
        assert (alpha >= 0).all()
        assert not alpha[::7].any()
        assert squared or (alpha <= C).all()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("stopping", ["gap", "violation"])
def test_shrinking_and_caches_give_the_same_optimum(loss, stopping):
    K, codes = random_problem(150, seed=5, noise=0.3)
    C = np.full(150, 5.0)
    first = solve(K, codes, C, SMO(shrinking=False, stopping=stopping), loss=loss)
    for solver in (SMO(stopping=stopping), SMO(cache_mb=0.01, stopping=stopping), SMO(0.2, False, stopping)):
        space = space_of(K) if solver.cache_mb == 500 else rows_of(K)
        other = solve(K, codes, C, solver, space, loss=loss, tol=1e-7)
        assert other.report.status == "converged"
        assert other.report.dual == pytest.approx(first.report.dual, rel=1e-6)
        assert other.intercept[0] == pytest.approx(first.intercept[0], abs=1e-3)
    whole = solve(K, codes, C, loss=loss, tol=1e-7)
    few_rows = solve(K, codes, C, SMO(cache_mb=0.01), rows_of(K), loss=loss, tol=1e-7)
    assert np.array_equal(whole.alpha, few_rows.alpha)


def test_rows_of_features_give_what_the_matrix_gives():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abcd"), 12)) for _ in range(80)]
    kernel = NGram(3).normalized()
    space, C = GramSpace(kernel, kernel.batch(texts)), np.ones(80)
    codes = rng.integers(0, 2, 80)
    whole, rows = (SMO(cache_mb=mb).solve(classification(codes, C), space, tol=1e-8) for mb in (500, 0.01))
    np.testing.assert_allclose(rows.alpha, whole.alpha, atol=1e-9)
    np.testing.assert_array_equal(np.array([space.row(i) for i in range(80)]), space.matrix())


def test_many_classes_share_a_cache_and_threads_do_not_matter():
    K, codes = random_problem(90, seed=2, n_classes=4)
    one, two = (
        SMO(cache_mb=0.02).solve(
            classification(codes, np.ones(90), classes=range(4)), rows_of(K), tol=1e-6, n_jobs=jobs
        )
        for jobs in (1, 3)
    )
    assert np.array_equal(one.alpha, two.alpha)
    assert len(one.report.per_class) == 4
    for k in range(4):
        alone = SMO().solve(classification(codes, np.ones(90), classes=[k]), space_of(K), tol=1e-6)
        assert np.array_equal(alone.alpha[0], one.alpha[k])


def test_a_start_near_the_optimum_saves_work():
    K, codes = random_problem(200, seed=4)
    C = np.ones(200)
    cold = solve(K, codes, C, tol=1e-6)
    warm = solve(K, codes, C, tol=1e-6, start=cold.alpha)
    assert warm.report.status == "converged"
    assert warm.report.epochs <= 1
    assert warm.report.primal == pytest.approx(cold.report.primal, rel=1e-5)


@pytest.mark.parametrize("intercept", [False, True, "free"])
def test_the_optimum_of_regression_is_that_of_a_general_solver(intercept):
    cvxpy = pytest.importorskip("cvxpy", reason="cvxpy is not installed")
    K, _ = random_problem(20, seed=7)
    z, eps, C, n = np.random.default_rng(0).standard_normal(20), 0.1, 2.0, 20
    solution = SMO().solve(
        regression(z, np.full(n, C), epsilon=eps, intercept=intercept), space_of(K), tol=1e-10, max_epochs=10**6
    )
    root = np.linalg.cholesky(K + 1e-12 * np.eye(n))
    w, b = cvxpy.Variable(n), cvxpy.Variable()
    losses = C * cvxpy.sum(cvxpy.pos(cvxpy.abs(root @ w + b - z) - eps))
    regulariser = 0.5 * cvxpy.sum_squares(w) + (0.5 * b**2 if intercept is True else 0)
    value = cvxpy.Problem(cvxpy.Minimize(regulariser + losses), [] if intercept else [b == 0]).solve(solver="CLARABEL")
    report, beta, b = solution.report, solution.coefficients[:, 0], solution.intercept[0]
    assert report.primal == pytest.approx(value, rel=1e-6)
    slack = np.maximum(0, np.abs(K @ beta + b - z) - eps)
    own = 0.5 * b**2 if intercept is True else 0
    assert report.primal == pytest.approx(0.5 * beta @ K @ beta + own + C * slack.sum(), rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("shrinking", [False, True])
def test_without_or_with_a_regularised_intercept_the_report_is_the_twins(loss, intercept, shrinking):
    K, codes = random_problem(80, seed=1, noise=0.3)
    y, C, squared = (
        np.where(codes == 1, 1.0, -1.0),
        np.random.default_rng(0).uniform(0, 3, 80),
        loss == "squared_hinge",
    )
    best = solve_dual(with_bias(K, float(intercept)), y, C, squared)
    for tol in (0.1, 1e-3, 1e-9):
        s = solve(K, codes, C, SMO(shrinking=shrinking), loss=loss, intercept=intercept, tol=tol)
        alpha, b = s.alpha[0], s.intercept[0]
        assert s.report.primal == pytest.approx(primal(K, y, C, alpha, b, squared), rel=1e-9)
        assert s.report.dual == pytest.approx(dual(with_bias(K, float(intercept)), y, C, alpha, squared), rel=1e-9)
        assert 0 <= s.report.gap <= tol * s.report.primal
        assert intercept or b == 0
    assert s.report.primal == pytest.approx(dual(with_bias(K, float(intercept)), y, C, best, squared), rel=1e-7)


def test_equal_examples_of_both_classes_and_zero_rows_do_no_harm():
    for K in (np.zeros((4, 4)), np.ones((4, 4))):
        solution = solve(K, np.array([0, 1, 0, 1]), np.ones(4))
        assert solution.report.status == "converged"
        assert solution.report.primal == pytest.approx(4.0)


def test_the_budget_of_epochs_holds_and_is_reported():
    K, codes = random_problem(300, noise=1.0)
    with pytest.warns(ConvergenceWarning, match="stopped at max_epochs with a relative duality gap of"):
        solution = solve(K, codes, np.full(300, 1e4), max_epochs=1)
    assert solution.report.epochs == 1
    assert solution.report.dual <= solution.report.primal


def test_the_budget_of_time_holds_and_is_reported():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((1500, 3))
    K = np.exp(-((Z[:, None] - Z) ** 2).sum(-1))
    with processor_seconds(10), pytest.warns(ConvergenceWarning, match="stopped at max_seconds"):
        solution = solve(K, rng.integers(0, 2, 1500), np.full(1500, 1e6), SMO(max_seconds=0.2), max_epochs=10**6)
    assert solution.report.status == "max_seconds"


def test_exceptions_raised_while_a_row_is_computed_are_passed_on():
    K, codes = random_problem(60)
    space, asked = rows_of(K), []

    def row(i):
        asked.append(i)
        if len(asked) > 3:
            raise KeyboardInterrupt
        return K[i]

    object.__setattr__(space, "row", row)
    with pytest.raises(KeyboardInterrupt):
        solve(K, codes, np.ones(60), SMO(cache_mb=0.001), space)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"stopping": "gradient"}, "stopping is 'gradient', expected 'gap' or 'violation'"),
        ({"cache_mb": 0}, "cache_mb is 0, expected a positive number"),
        ({"cache_mb": "500"}, "cache_mb is '500', expected a positive number"),
        ({"max_seconds": -1}, "max_seconds is -1, expected a positive number or None"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(params, message):
    K, codes = random_problem(10)
    with pytest.raises(InputError, match=message):
        solve(K, codes, np.ones(10), SMO(**params))
