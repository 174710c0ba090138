"""A solver that inherits from nothing of treille trains, warns and is saved like any other."""

import numpy as np
import pytest

import treille
from treille import SVC, ConvergenceWarning, InputError
from treille.kernels import NGram, Subsequence
from treille.solvers import Report, Solution
from treille.solvers.problem import Hinge
from treille.spaces import GramSpace
from treille.testing import check_solver

TEXTS, CODES = ["abab", "baba", "abba", "cdcd", "dcdc", "cddc"], [0, 0, 0, 1, 1, 1]


class Ascent:
    """Coordinate ascent on kernel values."""

    spaces, losses, intercepts = (GramSpace,), (Hinge,), (False, True)

    def __init__(self, sweeps_per_check=1):
        self.sweeps_per_check = sweeps_per_check

    def solve(self, problem, space, *, tol=1e-3, max_epochs=1000, seed=0, n_jobs=None, start=None, progress=None):
        K, C = space.matrix() + float(problem.intercept), problem.C
        alpha, reports = np.zeros((problem.n_problems, len(problem))), []
        for k, a in enumerate(alpha):
            y = problem.y(k)
            epoch, converged = 0, False
            while epoch < max_epochs and not converged:
                epoch += 1
                for i in np.flatnonzero(C):
                    step = (1 - y[i] * K[i] @ (a * y)) / K[i, i] if K[i, i] > 0 else np.inf
                    a[i] = np.clip(a[i] + step, 0, C[i])
                f = K @ (a * y)
                primal = 0.5 * a * y @ f + C @ problem.loss.value(y, f)
                dual = a.sum() - 0.5 * a * y @ f
                converged = primal - dual <= tol * primal
            status = "converged" if converged else "max_epochs"
            reports.append(Report(primal, dual, epoch, 0.0, status, seed))
        beta = np.stack([problem.y(k) * a for k, a in enumerate(alpha)], axis=1)
        return Solution(float(problem.intercept) * beta.sum(axis=0), alpha, Report.combined(reports), coefficients=beta)


def test_it_obeys_the_laws_of_solvers():
    check_solver(Ascent())


@pytest.mark.parametrize("kernel", [NGram(2), Subsequence(2)], ids=repr)
@pytest.mark.parametrize("intercept", [False, True])
def test_it_finds_the_optimum_of_the_others(kernel, intercept):
    own, others = (
        SVC(kernel, solver=s, fit_intercept=intercept, tol=1e-8, max_epochs=10**5).fit(TEXTS, CODES)
        for s in (Ascent(), "auto")
    )
    assert own.report_.primal == pytest.approx(others.report_.primal, rel=1e-6)
    assert own.plan_.solver_why == "as given"


def test_undeclared_losses_and_intercepts_are_refused():
    with pytest.raises(InputError, match="Ascent supports the intercepts False or True, not 'free'"):
        SVC(NGram(2), solver=Ascent(), fit_intercept="free").fit(TEXTS, CODES)
    with pytest.raises(InputError, match="Ascent solves problems with the losses Hinge, not SquaredHinge"):
        SVC(NGram(2), solver=Ascent(), loss="squared_hinge").fit(TEXTS, CODES)


def test_an_exhausted_budget_is_reported_as_for_other_solvers():
    with pytest.warns(ConvergenceWarning, match="stopped at max_epochs"):
        SVC(NGram(2), C=1e3, solver=Ascent(), tol=1e-12, max_epochs=1).fit(["ab", "ba", "abab"], [0, 1, 0])


def test_it_is_saved_once_it_is_registered(tmp_path, monkeypatch):
    monkeypatch.setattr("treille.registry._registered", {})
    model = SVC(NGram(2), solver=Ascent(3)).fit(TEXTS, CODES)
    with pytest.raises(InputError, match="register"):
        model.save(tmp_path / "m.treille")
    treille.register(Ascent)
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert again.solver.sweeps_per_check == 3
    assert np.array_equal(again.predict(TEXTS), model.predict(TEXTS))
