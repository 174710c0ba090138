"""The laws of solvers."""

import warnings
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from treille.kernels import Kernel, NGram
from treille.solvers import SMO, Cholesky, ConvergenceWarning, CuttingPlane, DualCD, FiniteNewton, Problem, Solution
from treille.solvers.problem import (
    ALL_LOSSES,
    DualLoss,
    Hinge,
    Logistic,
    Loss,
    OneClass,
    Separation,
    SquaredError,
    SquaredHinge,
)
from treille.spaces import GramSpace, ProductSpace, RowsSpace
from treille.testing.laws import assert_same, laws_of, run

TOLERANCE = 1e-6
WIDEST = 1e12  # ratio of squared norms
KERNEL = NGram(2, min_n=1).normalized()


def check_solver(solver: Any, n: int = 40, tol: float = 1e-4) -> None:
    """Checks a solver against the laws of solvers, on every space and with every loss and intercept that it declares.

    The report states the primal and dual values of the solution, which enclose the optimum; a converged run has the gap it
    was asked for; dual variables are feasible, and examples with C = 0 have none; the same seed returns the same
    bits; `max_epochs` is respected. An AssertionError names the law that is broken, and the problem.

    Parameters
    ----------
    solver : Solver
        The solver to check; see `treille.solvers.Solver` for what it declares.
    n : int
        The number of examples.
    tol : float
        The gap to ask for.

    Examples
    --------
    >>> from treille.solvers import DualCD
    >>> from treille.testing import check_solver
    >>> check_solver(DualCD())
    """
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abcd"), rng.integers(0, 12))) for _ in range(n)]
    batch = KERNEL.batch(texts)
    spaces = [space for space in solver.spaces if space in (RowsSpace, ProductSpace, GramSpace)]
    losses = [loss for loss in ALL_LOSSES if issubclass(loss, solver.losses)]
    for space, loss, intercept in product(spaces, losses, solver.intercepts):
        if intercept not in loss.intercepts:
            continue
        built, problem = space.build(KERNEL, batch), _problem(loss, intercept, n, rng)
        if issubclass(loss, Separation):  # few different examples can be separated
            few = [i for i, text in enumerate(texts) if text and text not in texts[:i]][:12]
            problem = replace(problem, C=np.where(np.isin(np.arange(n), few), problem.C, 0.0))
        case = _Case(solver, built, problem, tol, KERNEL(batch))
        run(LAWS, case, f"{solver!r} on {space.name} with {problem.loss!r} and intercept={intercept!r}")


def one_optimum(kernel: Kernel, batch: Any, K: np.ndarray) -> None:
    """Every solver, in every space that the kernel offers, with and without intercept, finds the same optimum."""
    n = len(batch)
    for intercept in (False, True):
        squares = K.diagonal() + intercept
        if squares.max() > WIDEST * squares[squares > 0].min(initial=squares.max()):
            continue  # beyond what float64 resolves in one problem
        # This keeps the problem well conditioned at any scale.
        C = np.divide(1.0, squares, out=np.ones(n), where=squares > 0)
        problem = Problem(SquaredHinge(), np.arange(n) % 2, C, intercept, np.array([1]))
        found = {}
        for solver in (DualCD(), FiniteNewton(), CuttingPlane(), SMO()):
            space = solver.spaces[0]
            if space.offered(kernel, batch):
                report = solver.solve(problem, space.build(kernel, batch), tol=TOLERANCE / 4, max_epochs=10**6).report
                found[f"{type(solver).__name__} on {space.name}"] = report.primal
        lowest, highest = min(found.values()), max(found.values())
        assert highest - lowest <= TOLERANCE * abs(highest), f"with intercept={intercept}, the optimum is {found}"


@dataclass(frozen=True)
class _Case:
    solver: Any
    space: Any
    problem: Problem
    tol: float
    K: np.ndarray

    def solve(self, **options: Any) -> Solution:
        return self.solver.solve(
            self.problem, self.space, **{"tol": self.tol, "max_epochs": 10**6, "seed": 3} | options
        )

    def values(self, solution: Solution, k: int) -> tuple[float, float]:
        """The primal and the dual value of a solution, by their definitions."""
        problem, b = self.problem, float(solution.intercept[k])
        functions = self.space.functions(solution)
        f = functions.outputs(self.space.batch)[:, k]
        square = float(np.square(functions.weights[:, k]).sum())
        alpha, y = solution.alpha[k], problem.y(k)
        beta = y * alpha if problem.classes is not None else alpha
        K = self.K + 1 if problem.intercept is True else self.K
        dual = problem.dual(beta, float(beta @ K @ beta), k)
        return problem.primal(square, f, b, k), dual


def _problem(loss: type[Loss], intercept: Any, n: int, rng: np.random.Generator) -> Problem:
    C = rng.uniform(0.1, 2, n)
    C[::7] = 0
    if loss.of_classes:
        return Problem(loss(), rng.integers(0, 3, n), C, intercept, np.arange(3))
    if issubclass(loss, OneClass):
        return Problem(loss(), np.zeros(n), C, intercept)
    several = issubclass(loss, SquaredError)
    return Problem(loss(), rng.normal(size=(n, 2) if several else n) + 1, C, intercept)


def has_the_gap_it_was_asked_for(case: _Case) -> None:
    report = case.solve().report
    assert report.status == "converged", f"the status is {report.status!r} after {report.epochs:,} epochs"
    separated = isinstance(case.problem.loss, Separation) and report.mistakes[-1] == 0  # which is all that it asks for
    small = separated or report.relative_gap <= case.tol
    assert small, f"the relative gap is {report.relative_gap:.3g}, asked for {case.tol:g}"
    assert report.dual <= report.primal, f"the dual value {report.dual!r} is above the primal value {report.primal!r}"


def reports_the_values_of_its_solution(case: _Case) -> None:
    solution = case.solve()
    for k, report in enumerate(solution.report.per_class or [solution.report]):
        primal, dual = case.values(solution, k)
        for name, found, expected in (("primal", report.primal, primal), ("dual", report.dual, dual)):
            near = abs(found - expected) <= 1e-8 * max(1.0, abs(expected))
            assert near, f"problem {k} has the {name} value {expected!r}, the report says {found!r}"


def encloses_the_optimum(case: _Case) -> None:
    lower, upper = _optimum(case)
    found = case.solve().report
    slack = 1e-6 * abs(upper)
    assert found.dual <= upper + slack, f"the dual value {found.dual!r} is above the optimum, {upper!r}"
    assert found.primal >= lower - slack, f"the primal value {found.primal!r} is below the optimum, {lower!r}"


def _optimum(case: _Case) -> tuple[float, float]:
    """Bounds on the sum of the problems' optima."""
    problem = case.problem
    if isinstance(problem.loss, Logistic):
        best = sum(_logistic_optimum(case, k) for k in range(problem.n_problems))
        return best, best
    if isinstance(problem.loss, Separation):
        bounds = [_margins(case, k) for k in range(problem.n_problems)]
        return -sum(most for _, most in bounds), -sum(least for least, _ in bounds)
    reference: Any = Cholesky() if isinstance(problem.loss, SquaredError) else SMO()
    report = reference.solve(problem, GramSpace.build(KERNEL, case.space.batch), tol=1e-9, max_epochs=10**6).report
    return report.dual, report.primal


def _margins(case: _Case, k: int) -> tuple[float, float]:
    """Bounds on the largest margin, by a support vector machine whose C is too large to matter: it minimises 1 / (2 margin^2)."""
    problem = case.problem
    assert problem.classes is not None
    C = np.where(problem.C > 0, 1e6, 0.0)
    hard = replace(problem, loss=Hinge(), C=C, classes=problem.classes[k : k + 1])
    report = SMO().solve(hard, GramSpace.build(KERNEL, case.space.batch), tol=1e-7, max_epochs=10**6).report
    return (2 * report.primal) ** -0.5, (2 * report.dual) ** -0.5


def _logistic_optimum(case: _Case, k: int) -> float:
    """The optimum by a general method, on the features that the eigenvectors of the kernel matrix give."""
    problem, y = case.problem, case.problem.y(k)
    values, vectors = np.linalg.eigh(case.K + 1 if problem.intercept is True else case.K)
    X = vectors * np.sqrt(np.maximum(values, 0))

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        f = X @ w
        loss = float(problem.C @ problem.loss.value(y, f))
        return 0.5 * float(w @ w) + loss, w - X.T @ (problem.C * y * expit(-y * f))

    options = {"maxiter": 10**5, "ftol": 1e-15, "gtol": 1e-10}
    return float(minimize(objective, np.zeros(len(y)), jac=True, method="L-BFGS-B", options=options).fun)


def has_feasible_dual_variables(case: _Case) -> None:
    alpha, C = case.solve().alpha, case.problem.C
    assert alpha.shape == (case.problem.n_problems, len(C)), f"alpha has the shape {alpha.shape}"
    assert not alpha[:, C == 0].any(), "an example with C = 0 has a dual variable other than 0"
    if case.problem.classes is not None:
        assert alpha.min() >= 0, f"a dual variable is {alpha.min()!r}, below 0"
    if isinstance(loss := case.problem.loss, DualLoss):
        for k, own in enumerate(alpha):
            beta = case.problem.signs(k) * own
            nearest = loss.feasible(case.problem.y(k), beta, C)
            assert np.allclose(beta, nearest, rtol=1e-12, atol=0), "a dual variable is beyond its bounds"


def returns_the_same_bits_for_the_same_seed(case: _Case) -> None:
    one, two = case.solve(), case.solve()
    assert_same(two.alpha, one.alpha, "alpha")
    assert_same(two.intercept, one.intercept, "intercept")


def keeps_within_max_epochs(case: _Case) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        report = case.solve(max_epochs=1, tol=1e-13).report
    assert report.epochs <= 1, f"there were {report.epochs:,} epochs, asked for 1"
    converged = report.mistakes[-1] == 0 if report.mistakes else report.relative_gap <= 1e-13
    assert converged == (report.status == "converged"), f"status {report.status!r}, gap {report.relative_gap:.3g}"


LAWS = laws_of(globals())
