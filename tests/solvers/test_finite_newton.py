"""FiniteNewton finds the optimum of DualCD with the squared hinge, of scikit-learn with the logistic loss, and proves it."""

import _thread
import threading

import numpy as np
import pytest
from problems import classification, random_problem
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

import treille
from timing import processor_seconds
from treille import InputError
from treille.kernels import AllSubstrings, Linear, NGram
from treille.solvers import ConvergenceWarning, DualCD, FiniteNewton, Problem
from treille.solvers.problem import ALL_LOSSES, Hinge, Logistic, SmoothLoss, SquaredHinge
from treille.spaces import Nystrom, ProductSpace, RowsSpace

INTERCEPTS = pytest.mark.parametrize("intercept", [False, True])
LOSSES = pytest.mark.parametrize("loss", [SquaredHinge(), Logistic()], ids=repr)
TIGHT = {"tol": 1e-12, "max_epochs": 10**6}


def assert_same_optimum(problem, space, reference=None, tol=1e-11):
    found = FiniteNewton().solve(problem, space, tol=tol, max_epochs=10**6)
    best = DualCD().solve(problem, reference or space, tol=1e-12, max_epochs=10**6)
    assert found.report.status == "converged"
    for one, other in zip(
        found.report.per_class or [found.report], best.report.per_class or [best.report], strict=True
    ):
        assert one.primal == pytest.approx(other.primal, rel=1e-8)
        assert one.dual <= other.primal
    weights = found.weights if found.weights is not None else reference.rmatvec(found.coefficients)
    np.testing.assert_allclose(weights, best.weights, atol=1e-5)
    np.testing.assert_allclose(found.intercept, best.intercept, atol=1e-5)


@INTERCEPTS
@pytest.mark.parametrize("weights", ["none", "class", "sample"])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_the_optimum_is_that_of_dual_cd(intercept, weights, C):
    problem = random_problem(n=120, n_classes=3, weights=weights, C=C)
    posed = classification(problem.codes, problem.C, "squared_hinge", intercept, range(3))
    assert_same_optimum(posed, problem.space)


@INTERCEPTS
@pytest.mark.parametrize("kernel", [AllSubstrings(0.5).normalized(), NGram(3, min_n=1).normalized()], ids=repr)
def test_the_optimum_is_the_same_on_products(intercept, kernel):
    problem = random_problem(n=60, n_classes=3, weights="sample")
    posed = classification(problem.codes, problem.C, "squared_hinge", intercept, range(3))
    space = ProductSpace.build(kernel, kernel.batch(list(problem.space.batch)))
    values, vectors = np.linalg.eigh(kernel(space.batch))
    X = vectors * np.sqrt(np.maximum(values, 0))  # rows with the same inner products
    assert_same_optimum(posed, space, RowsSpace.build(Linear(), Linear().batch(X)))


def test_products_leave_out_examples_beyond_the_margin():
    problem = random_problem(n=60, noise=0)
    kernel = AllSubstrings(0.5).normalized()
    posed = classification(problem.codes, problem.C, "squared_hinge")
    solution = FiniteNewton().solve(
        posed, ProductSpace.build(kernel, kernel.batch(list(problem.space.batch))), tol=1e-6
    )
    assert np.array_equal(solution.coefficients[:, 0], posed.y() * solution.alpha[0])
    assert (solution.coefficients == 0).any()


@INTERCEPTS
@pytest.mark.parametrize(
    "kernel",
    [
        NGram(4, min_n=2).normalized(),  # many features that occur once
        NGram(1) + NGram(3).normalized(),
        (NGram(2) + NGram(1)).centered(),
        NGram(3).weighted("idf").normalized(),
    ],
    ids=repr,
)
def test_all_kinds_of_rows_have_the_optimum(intercept, kernel):
    problem = random_problem(n=80)
    batch = kernel.batch(list(problem.space.batch))
    posed = classification(problem.codes, 0.1 * problem.C, "squared_hinge", intercept)
    assert_same_optimum(posed, RowsSpace.build(kernel, batch))


def test_rows_that_differ_by_class_and_dense_rows_have_the_optimum():
    problem = random_problem(n=80, n_classes=3)
    X, y = list(problem.space.batch), problem.codes
    options = {"loss": "squared_hinge", "tol": 1e-10, "C": 0.3}
    for more in ({"kernel": NGram(2).weighted("nb").normalized()}, {"kernel": NGram(2), "space": Nystrom(20)}):
        one, other = (treille.SVC(solver=s, **options, **more).fit(X, y) for s in (FiniteNewton(), DualCD()))
        np.testing.assert_allclose(one.decision_function(X), other.decision_function(X), atol=1e-4)
        assert one.report_.primal == pytest.approx(other.report_.primal, rel=1e-8)


@pytest.mark.parametrize(("C", "solver"), [(0.01, DualCD), (100.0, FiniteNewton)])
def test_the_plan_for_rows_that_differ_by_class_depends_on_C(C, solver):
    X, y = ["a", "aab", "abb", "b", "ac", "bcc"] * 5, [0, 0, 1, 1, 2, 2] * 5
    model = treille.SVC(NGram(1).weighted("nb"), loss="squared_hinge", C=C).fit(X, y)
    assert isinstance(model.plan_.solver, solver)
    assert model.report_.status == "converged"


@pytest.fixture(scope="module")
def numbers():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 6)) * [1, 2, 0.5, 1, 1, 3]
    return X, (X @ random.normal(size=6) + random.normal(size=300) > 0).astype(int)


def logistic(y, C, intercept=True):
    return Problem(Logistic(), y, np.broadcast_to(C, len(y)), intercept, np.array([1]))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_logistic_optimum_is_scikit_learns(numbers, C, weighted):
    X, y = numbers
    weights = np.random.default_rng(1).uniform(0.2, 2, len(y)) if weighted else np.ones(len(y))
    solution = FiniteNewton().solve(logistic(y, C * weights), RowsSpace.build(Linear(), Linear().batch(X)), **TIGHT)
    extended = np.hstack([X, np.ones((len(y), 1))])
    model = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=10**5)
    expected = model.fit(extended, y, weights).coef_[0]
    np.testing.assert_allclose(np.append(solution.weights[:, 0], solution.intercept), expected, rtol=1e-4, atol=1e-6)


@INTERCEPTS
@pytest.mark.parametrize("space", [RowsSpace, ProductSpace])
def test_the_logistic_optimum_is_that_of_a_general_method(intercept, space):
    problem = random_problem(n=60, weights="sample", C=3)
    posed, K = logistic(problem.codes, problem.C, intercept), problem.K + intercept
    kernel = problem.space.kernel
    solution = FiniteNewton().solve(posed, space.build(kernel, problem.space.batch), **TIGHT)

    values, vectors = np.linalg.eigh(K)
    X = vectors * np.sqrt(np.maximum(values, 0))

    def objective(w):
        f = X @ w
        slope = -problem.C * problem.y / (1 + np.exp(problem.y * f))
        return posed.primal(w @ w, f, 0), w + X.T @ slope

    best = minimize(objective, np.zeros(60), jac=True, method="L-BFGS-B", options={"maxiter": 10**5, "ftol": 1e-15})
    assert solution.report.primal <= best.fun * (1 + 1e-12)
    assert solution.report.primal == pytest.approx(best.fun, rel=1e-7)
    assert (solution.alpha > 0).all()
    assert (solution.alpha < problem.C).all()


@LOSSES
@pytest.mark.parametrize("data", ["strings", "numbers"])
def test_the_number_of_threads_changes_no_bit(loss, data):
    random = np.random.default_rng(0)
    if data == "numbers":
        X, kernel = random.normal(size=(20_000, 30)), Linear()
    else:
        X, kernel = ["".join(row) for row in random.choice(list("abcd"), (3000, 150))], NGram(4)
    codes = random.integers(0, 3, len(X))
    space = RowsSpace.build(kernel, kernel.batch(X))
    for classes in ([1], [0, 1, 2]):
        posed = Problem(loss, codes, np.full(len(X), 0.01), True, np.array(classes))
        one, *others = (FiniteNewton().solve(posed, space, tol=1e-4, n_jobs=jobs) for jobs in (1, 2, 5))
        for other in others:
            assert np.array_equal(one.weights, other.weights)
            assert np.array_equal(one.alpha, other.alpha)


@LOSSES
@pytest.mark.parametrize("space", [RowsSpace, ProductSpace])
def test_a_warm_start_from_the_optimum_is_soon_done(loss, space):
    problem = random_problem(n=200, C=0.1)
    built = space.build(problem.space.kernel, problem.space.batch)
    posed = Problem(loss, problem.codes, problem.C, True, np.array([1]))
    cold = FiniteNewton().solve(posed, built, tol=1e-12)
    warm = FiniteNewton().solve(posed, built, tol=1e-6, start=cold.alpha)
    assert warm.report.epochs <= 3 < cold.report.epochs
    assert warm.report.primal == pytest.approx(cold.report.primal, rel=1e-6)


@LOSSES
@pytest.mark.parametrize("space", [RowsSpace, ProductSpace])
def test_a_start_that_is_not_feasible_is_clipped(loss, space):
    problem = random_problem(n=50)
    built = space.build(problem.space.kernel, problem.space.batch)
    posed = Problem(loss, problem.codes, problem.C * (np.arange(50) % 5 > 0), True, np.array([1]))
    wild = np.random.default_rng(0).normal(0, 100, (1, 50))
    one, other = (FiniteNewton().solve(posed, built, start=start, **TIGHT) for start in (None, wild))
    assert one.report.primal == pytest.approx(other.report.primal, rel=1e-8)
    assert not other.alpha[0][::5].any()


@LOSSES
def test_separable_data_with_a_huge_C_is_solved(loss):
    texts = ["ab" * k for k in range(1, 20)] + ["cd" * k for k in range(1, 20)]
    space = RowsSpace.build(NGram(2).normalized(), NGram(2).normalized().batch(texts))
    posed = Problem(loss, np.repeat([0, 1], 19), np.full(38, 1e8), True, np.array([1]))
    solution = FiniteNewton().solve(posed, space, tol=1e-6, max_epochs=10**5)
    assert solution.report.status == "converged"
    assert (posed.y() * (space.matvec(solution.weights)[:, 0] + solution.intercept[0]) > 0.999).all()


@LOSSES
@INTERCEPTS
@pytest.mark.parametrize("texts", [["", "", ""], ["", "a", "b"]])
def test_examples_without_features_are_no_obstacle(loss, intercept, texts):
    space = RowsSpace.build(NGram(1), NGram(1).batch(texts))
    solution = FiniteNewton().solve(Problem(loss, np.array([1, 0, 0]), np.ones(3), intercept, np.array([1])), space)
    assert solution.report.status == "converged"
    if not intercept:  # f = 0
        assert solution.alpha[0, 0] == (2.0 if isinstance(loss, SquaredHinge) else 0.5)


@LOSSES
def test_no_weight_at_all_is_solved_by_zero(loss):
    problem = random_problem()
    for space in (problem.space, ProductSpace.build(problem.space.kernel, problem.space.batch)):
        solution = FiniteNewton().solve(Problem(loss, problem.codes, np.zeros(30), True, np.array([1])), space)
        assert (solution.report.status, solution.report.primal) == ("converged", 0)


@pytest.fixture(scope="module")
def noise():
    random = np.random.default_rng(0)
    texts = ["".join(row) for row in random.choice(list("abcd"), (40_000, 60))]
    posed = classification(random.integers(0, 2, 40_000), np.full(40_000, 1e9), "squared_hinge", classes=[0, 1])
    spaces = {RowsSpace: NGram(5), ProductSpace: AllSubstrings()}
    return posed, {space.name: space.build(kernel, kernel.batch(texts)) for space, kernel in spaces.items()}


@pytest.fixture(params=["rows", "product"])
def unending(request, noise):
    """Raw counts, noise and a huge C: conjugate gradients would take minutes."""
    return noise[0], noise[1][request.param]


def test_max_epochs_and_max_seconds_end_a_run_with_a_valid_solution(unending):
    problem, space = unending
    for solver, options, status in (
        (FiniteNewton(), {"max_epochs": 5}, "max_epochs"),
        (FiniteNewton(max_seconds=0.2), {"max_epochs": 10**9}, "max_seconds"),
    ):
        with processor_seconds(3), pytest.warns(ConvergenceWarning, match=f"stopped at {status}"):
            solution = solver.solve(problem, space, tol=1e-12, **options)
        for k, report in enumerate(solution.report.per_class):
            assert report.status == status
            beta = problem.y(k) * solution.alpha[k]
            lower = problem.loss.conjugate(problem.y(k), beta, problem.C).sum() - 0.5 * (
                beta @ space.product(beta) + beta.sum() ** 2
            )
            assert report.dual == pytest.approx(lower, rel=1e-6)
            assert report.dual < report.primal


def test_ctrl_c_ends_a_run_at_once(unending):
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    try:
        with processor_seconds(4), pytest.raises(KeyboardInterrupt):
            FiniteNewton(max_seconds=30).solve(*unending, tol=1e-12, max_epochs=10**9, n_jobs=2)
    finally:
        timer.cancel()


def test_progress_follows_the_epochs(unending):
    told = []
    with pytest.warns(ConvergenceWarning):
        FiniteNewton(max_seconds=0.5).solve(
            *unending, tol=1e-12, max_epochs=10**9, progress=lambda *state: told.append(state)
        )
    assert 2 <= len(told) <= 20
    assert all(gap > 0 for _, _, gap in told)


def test_unsupported_problems_are_refused():
    problem = random_problem()
    known = ", ".join(loss.__name__ for loss in ALL_LOSSES if issubclass(loss, SmoothLoss))
    with pytest.raises(InputError, match=f"losses {known}, not Hinge"):
        FiniteNewton().solve(Problem(Hinge(), problem.codes, problem.C, True, np.array([1])), problem.space)
    with pytest.raises(InputError, match="supports the intercepts False or True, not 'free'"):
        FiniteNewton().solve(Problem(Logistic(), problem.codes, problem.C, "free", np.array([1])), problem.space)
    with pytest.raises(InputError, match="classes are for losses of classes"):
        Problem(Logistic(), problem.codes, problem.C)
