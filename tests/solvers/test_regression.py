"""Support vector regression: DualCD finds LIBLINEAR's optimum, SMO that of LIBSVM, and both prove it."""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest
from problems import classification, regression

from treille import SVR, InputError
from treille.features import DenseRows
from treille.kernels import NGram
from treille.solvers import SMO, ConvergenceWarning, DualCD, FiniteNewton, Problem
from treille.solvers.problem import (
    REGRESSION_LOSSES,
    EpsilonInsensitive,
    Hinge,
    Huber,
    QuadraticLoss,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from treille.spaces import GramSpace, NystromSpace, RowsSpace
from twins import svr_dual, svr_primal, with_bias

LOSSES = pytest.mark.parametrize("loss", REGRESSION_LOSSES)
EPSILONS = pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5])
LOSSES_AND_EPSILONS = pytest.mark.parametrize(
    ("loss", "epsilon"), [pair for pair in product(REGRESSION_LOSSES, [0.0, 0.1, 0.5]) if pair != ("huber", 0.0)]
)
BOUNDS = {"epsilon_insensitive": lambda epsilon: 1.0, "huber": lambda epsilon: 2 * epsilon}  # of |beta_i| / C_i


class Task:
    """Strings with a number that their letters tell, and noise."""

    def __init__(self, n=120, seed=0, C=1.0, offset=0.0, weighted=False):
        rng = np.random.default_rng(seed)
        self.texts = ["".join(rng.choice(list("abcd"), rng.integers(3, 20))) for _ in range(n)]
        self.kernel = NGram(2, min_n=1).normalized()
        self.batch = self.kernel.batch(self.texts)
        self.rows = RowsSpace.build(self.kernel, self.batch)
        self.gram = GramSpace(self.kernel, self.batch)
        self.X = self.rows.rows.to_csr()
        self.K = (self.X @ self.X.T).toarray()
        noise = 0.3 * rng.normal(size=n)
        self.y = np.array([t.count("a") - t.count("bc") for t in self.texts]) + noise + offset
        self.C = C * (rng.integers(0, 3, n) if weighted else np.ones(n)).astype(float)

    def by_dual_cd(self, solver=None, loss="epsilon_insensitive", epsilon=0.1, intercept=True, **options):
        options = {"tol": 1e-9, "max_epochs": 100_000} | options
        problem = regression(self.y, self.C, loss, epsilon, intercept)
        return (solver or DualCD()).solve(problem, self.rows, **options)

    def by_smo(self, loss="epsilon_insensitive", epsilon=0.1, intercept="free", **options):
        options = {"tol": 1e-9, "max_epochs": 100_000} | options
        return SMO().solve(regression(self.y, self.C, loss, epsilon, intercept), self.gram, **options)


@LOSSES_AND_EPSILONS
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_report_of_dual_cd_is_what_weights_and_alphas_give(loss, epsilon, intercept, weighted):
    task = Task(offset=2.0, weighted=weighted)
    for tol in (1e-1, 1e-3, 1e-9):
        solution = task.by_dual_cd(loss=loss, epsilon=epsilon, intercept=intercept, tol=tol)
        beta, b, report = solution.alpha[0], solution.intercept[0], solution.report
        assert report.primal == pytest.approx(svr_primal(task.K, task.y, task.C, beta, b, epsilon, loss), rel=1e-10)
        assert report.dual == pytest.approx(
            svr_dual(with_bias(task.K, float(intercept)), task.y, task.C, beta, epsilon, loss), rel=1e-9
        )
        assert 0 <= report.gap <= tol * report.primal
        assert loss not in BOUNDS or (np.abs(beta) <= BOUNDS[loss](epsilon) * task.C).all()
        np.testing.assert_allclose(solution.weights[:, 0], task.X.T @ beta, atol=1e-10)
        assert intercept or b == 0


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
@EPSILONS
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("C", [0.05, 0.5])
def test_the_optimum_is_liblinears(loss, epsilon, intercept, C, capfd):
    liblinearutil = pytest.importorskip("liblinear.liblinearutil", reason="needs liblinear-official")
    task, kind = Task(n=200, C=C, offset=1.0), 13 if loss == "epsilon_insensitive" else 12
    options = f"-s {kind} -c {C} -p {epsilon} -e 1e-10 -B {1 if intercept else -1}"
    model = liblinearutil.train(liblinearutil.problem(task.y, task.X), options)
    gave_up = "reaching max number of iterations" in capfd.readouterr().out
    w, b = model.get_decfun()
    excess = np.maximum(0, np.abs(task.y - task.X @ np.array(w) - b) - epsilon)
    theirs = 0.5 * np.square(w).sum() + 0.5 * b**2 + C * (excess if kind == 13 else excess**2).sum()
    report = task.by_dual_cd(loss=loss, epsilon=epsilon, intercept=intercept).report
    assert report.status == "converged"
    assert report.dual <= theirs * (1 + 1e-12)  # equal at the optimum, up to the rounding of the two sums
    assert report.primal <= theirs * (1 + 1e-6)
    assert gave_up or report.primal == pytest.approx(theirs, rel=1e-6)


@EPSILONS
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
def test_the_optimum_is_libsvms(epsilon, C):
    svmutil = pytest.importorskip("libsvm.svmutil", reason="needs libsvm-official")
    task = Task(C=C, offset=30.0)
    table = [[i + 1, *row] for i, row in enumerate(task.K)]
    model = svmutil.svm_train(
        svmutil.svm_problem(task.y, table, isKernel=True), f"-s 3 -t 4 -c {C} -p {epsilon} -e 1e-8 -q"
    )
    theirs = np.zeros(len(task.y))
    theirs[np.array(model.get_sv_indices()) - 1] = np.ravel(model.get_sv_coef())
    solution = task.by_smo(epsilon=epsilon, tol=1e-10)
    beta, b = solution.alpha[0], solution.intercept[0]
    best = svr_primal(task.K, task.y, task.C, theirs, -model.rho[0], epsilon, bias=0)
    assert solution.report.status == "converged"
    assert svr_primal(task.K, task.y, task.C, beta, b, epsilon, bias=0) == pytest.approx(best, rel=1e-6)
    assert solution.report.primal == pytest.approx(best, rel=1e-6)
    np.testing.assert_allclose(task.K @ beta + b, task.K @ theirs - model.rho[0], rtol=1e-4)


@LOSSES_AND_EPSILONS
@pytest.mark.parametrize("weighted", [False, True])
def test_the_report_of_smo_is_what_its_variables_give(loss, epsilon, weighted):
    task = Task(weighted=weighted)
    solution = task.by_smo(loss=loss, epsilon=epsilon)
    beta, b, report = solution.alpha[0], solution.intercept[0], solution.report
    assert abs(beta.sum()) < 1e-9 * np.abs(beta).sum()
    assert report.primal == pytest.approx(svr_primal(task.K, task.y, task.C, beta, b, epsilon, loss, bias=0), rel=1e-9)
    assert report.dual == pytest.approx(svr_dual(task.K, task.y, task.C, beta, epsilon, loss), rel=1e-9)
    assert report.gap <= 1e-9 * report.primal


@LOSSES_AND_EPSILONS
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_both_solvers_have_one_optimum(loss, epsilon, intercept, weighted):
    task = Task(offset=2.0, weighted=weighted)
    rows, gram = (solve(loss=loss, epsilon=epsilon, intercept=intercept) for solve in (task.by_dual_cd, task.by_smo))
    assert gram.report.status == "converged"
    assert gram.report.primal == pytest.approx(rows.report.primal, rel=1e-8)
    assert gram.intercept[0] == pytest.approx(rows.intercept[0], abs=1e-3)
    np.testing.assert_allclose(task.X.T @ gram.coefficients, rows.weights, atol=1e-3)


@LOSSES
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_unit_of_y_does_not_matter(loss, scale):
    task, other = Task(), Task()
    other.y = scale * task.y
    other.C = task.C * (scale if loss == "epsilon_insensitive" else 1.0)
    plain, scaled = (t.by_dual_cd(loss=loss, epsilon=0.1 * s) for t, s in ((task, 1.0), (other, scale)))
    assert scaled.report.primal == pytest.approx(scale**2 * plain.report.primal, rel=1e-8)
    assert scaled.report.epochs <= 2 * plain.report.epochs


def test_a_wide_tube_needs_no_weights():
    task = Task()
    solution = task.by_dual_cd(epsilon=100.0)
    assert solution.report.primal == 0
    assert solution.report.status == "converged"
    assert not solution.weights.any()
    assert not task.by_smo(epsilon=100.0).alpha.any()


def test_examples_without_features_go_to_their_bound():
    kernel = NGram(1)
    space = RowsSpace.build(kernel, kernel.batch(["", "a", ""]))
    problem = regression(np.array([1.0, 0.0, -1.0]), np.array([2.0, 1.0, 0.5]), intercept=False)
    solution = DualCD().solve(problem, space)
    assert solution.alpha[0].tolist() == [2.0, 0.0, -0.5]


@LOSSES
def test_a_good_start_saves_epochs(loss):
    task = Task(n=200)
    first = task.by_dual_cd(loss=loss, tol=1e-6)
    again = task.by_dual_cd(loss=loss, tol=1e-6, start=first.alpha)
    assert again.report.epochs <= 2 < first.report.epochs


@LOSSES
@pytest.mark.parametrize("solver", [DualCD(shrinking=False), DualCD(stopping="gradient")], ids=repr)
def test_options_of_the_solver_do_not_change_the_answer(loss, solver):
    task = Task()
    expected = task.by_dual_cd(loss=loss).report.primal
    assert task.by_dual_cd(solver, loss=loss, tol=1e-7).report.primal == pytest.approx(expected, rel=1e-5)


@LOSSES
def test_dense_rows_are_rows(loss):
    task = Task(weighted=True)
    given = {"kernel": task.kernel, "batch": task.batch, "landmarks": task.batch, "projection": np.eye(len(task.y))}
    space = NystromSpace(DenseRows(task.X.toarray()), **given)
    dense = DualCD().solve(regression(task.y, task.C, loss), space, tol=1e-9, max_epochs=10**5)
    coded = task.by_dual_cd(loss=loss)
    assert dense.report.primal == pytest.approx(coded.report.primal, rel=1e-8)
    np.testing.assert_allclose(dense.weights, coded.weights, atol=1e-3)
    labels = (task.y > 0).astype(int)
    for tol in (1e-3, 1e-8):
        both = [DualCD().solve(classification(labels, task.C), s, tol=tol).report for s in (space, task.rows)]
        assert both[0].primal == pytest.approx(both[1].primal, rel=2 * tol)


def test_a_budget_that_ends_first_is_reported():
    with pytest.warns(ConvergenceWarning, match="stopped at max_epochs with a relative duality gap of"):
        report = Task(C=1000.0).by_dual_cd(max_epochs=2).report
    assert report.status == "max_epochs"
    assert report.gap > 0


def test_each_of_several_targets_is_a_problem():
    task = Task()
    y = np.stack([task.y, 3 - task.y, task.y**2], axis=1)
    together = DualCD().solve(regression(y, task.C), task.rows, tol=1e-6, n_jobs=2)
    values = SMO().solve(regression(y, task.C), task.gram, tol=1e-6)
    for k in range(3):
        alone = DualCD().solve(regression(y[:, k], task.C), task.rows, tol=1e-6, seed=k)
        assert np.array_equal(alone.weights[:, 0], together.weights[:, k])
        assert values.report.per_class[k].primal == pytest.approx(alone.report.primal, rel=1e-5)


def test_a_problem_that_does_not_fit_the_space_is_refused():
    task = Task()
    task.y, task.C = task.y[1:], task.C[1:]
    with pytest.raises(InputError, match="there are 119 targets, but 120 examples"):
        task.by_dual_cd()


def huber(r, epsilon):
    return np.where(np.abs(r) <= epsilon, r**2, 2 * epsilon * np.abs(r) - epsilon**2)


def test_losses_have_the_values_of_their_definitions():
    y, f = np.array([1.0, -1.0, 1.0, -1.0]), np.array([0.3, 0.4, 1.7, -2.0])
    slack, r = np.maximum(0, 1 - y * f), y - f
    expected = {
        Hinge(): slack,
        SquaredHinge(): slack**2,
        EpsilonInsensitive(0.5): np.maximum(0, np.abs(r) - 0.5),
        SquaredEpsilonInsensitive(0.5): np.maximum(0, np.abs(r) - 0.5) ** 2,
        Huber(0.8): huber(r, 0.8),
    }
    for loss, values in expected.items():
        np.testing.assert_allclose(loss.value(y, f), values, atol=1e-15)
        h, C = 1e-6, np.array([0.5, 1.0, 2.0, 3.0])
        slopes = -C * (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
        np.testing.assert_allclose(loss.subgradient(y, f, C), slopes, atol=1e-5)
        beta = loss.subgradient(y, f, C)  # where the conjugate is an equality
        np.testing.assert_allclose(loss.conjugate(y, beta, C) - beta * f, C * loss.value(y, f), atol=1e-12)
        assert np.array_equal(loss.feasible(y, beta, C), beta)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("intercept", [False, True, "free"])
def test_every_solver_has_one_optimum_with_the_huber_loss(epsilon, intercept):
    task = Task(offset=1.0, weighted=True)
    task.y[::10] += 20
    problem = regression(task.y, task.C, "huber", epsilon, intercept)

    def objective(beta, b):
        regular = 0.5 * b**2 if intercept is True else 0.0
        return 0.5 * beta @ task.K @ beta + regular + task.C @ huber(task.y - task.K @ beta - b, epsilon)

    gram = task.by_smo("huber", epsilon, intercept)
    beta, b = gram.alpha[0], gram.intercept[0]
    assert gram.report.primal == pytest.approx(objective(beta, b), rel=1e-9)
    assert gram.report.gap <= 1e-9 * gram.report.primal
    assert (np.abs(beta) <= 2 * epsilon * task.C).all()
    if intercept == "free":
        return
    others = [(DualCD(), task.rows), (FiniteNewton(), task.rows), (FiniteNewton(), task.gram)]
    for solver, space in others:
        solution = solver.solve(problem, space, tol=1e-7, max_epochs=100_000)
        assert solution.report.status == "converged", solver
        assert solution.report.primal == pytest.approx(gram.report.primal, rel=2e-7), solver


@dataclass(frozen=True)
class SquaredErrorOfClasses(QuadraticLoss):
    """(1 - y f)^2, the loss of least-squares support vector machines: dual variables have either sign."""

    of_classes = True

    def shape(self):
        return np.inf, np.inf, 0.0, 0.5


def test_dual_variables_of_classes_may_have_either_sign_with_smo_and_are_refused_by_others():
    task = Task()
    problem = Problem(SquaredErrorOfClasses(), (task.y > 0).astype(int), task.C, False, np.array([1]))
    solution, y = SMO().solve(problem, task.gram, tol=1e-9, max_epochs=10**5), problem.y(0)
    expected = np.linalg.solve(task.K + 0.5 * np.eye(len(y)), y)
    assert solution.alpha.min() < 0 < solution.alpha.max()
    np.testing.assert_allclose(task.K @ (y * solution.alpha[0]), task.K @ expected, atol=1e-3)
    with pytest.raises(InputError, match="with lower=inf and epsilon=0: both must be 0, or use SMO"):
        DualCD().solve(problem, task.rows)


def test_the_huber_loss_is_the_squared_error_where_epsilon_is_large():
    task = Task(C=0.5)
    smooth = task.by_dual_cd(loss="huber", epsilon=1e3, intercept=False)
    expected = np.linalg.solve(task.K + np.eye(len(task.y)) / (2 * 0.5), task.y)
    np.testing.assert_allclose(task.K @ smooth.alpha[0], task.K @ expected, atol=1e-3)


def test_a_width_of_0_is_refused_by_the_huber_loss():
    with pytest.raises(InputError, match=r"epsilon is 0.0, expected a number above 0 with the loss 'huber'"):
        SVR(loss="huber", epsilon=0).fit(["a", "b"], [1.0, 2.0])
