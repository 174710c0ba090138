"""Ridge regression on structured examples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from treille.data import Batch
from treille.estimators.functions import Functions, KernelFunctions, LinearFunctions
from treille.estimators.regressor import Regressor
from treille.estimators.targets import check_positive
from treille.io.errors import InputError
from treille.kernels import Kernel
from treille.solvers.least_squares import LeastSquares
from treille.solvers.report import Report
from treille.spaces import GramSpace, Plan, RowsSpace

SOLVERS = ("auto", "primal", "cg", "cholesky")
FEW_FEATURES = 2000


class Ridge(Regressor):
    """Kernel ridge regression: squared errors, several targets if wished, and a proven duality gap.

    Minimises ``sum_i s_i (y_i - f(x_i))^2 + alpha |w|^2``; the intercept is not regularised.

    Parameters
    ----------
    kernel : Kernel or None
        The similarity; None picks one for the kind of the data, and `plan_` says which.
    alpha : float
        Weight of the regulariser against the sum of the squared errors.
    fit_intercept : bool
        Learn an intercept.
    tol : float
        Stop when the duality gap is at most this part of the primal value.
    max_epochs : int
        Budget of passes over the data for "cg"; a `ConvergenceWarning` tells when it ended first.
    solver : {"auto", "primal", "cg", "cholesky"}
        Normal equations of the features; conjugate gradients on the rows of features; Cholesky on the kernel's matrix.
    n_jobs : int or None
        Threads; None is 1, -1 is all. The result does not depend on it.

    Attributes
    ----------
    coef_, intercept_, n_iter_
        As in scikit-learn; ``coef_`` has a number per feature, or with several targets a row of them for each.
    report_ : Report
        Primal and dual value, gap, epochs, seconds, status; with several targets, ``per_class`` has one for each.
    plan_ : Plan
        Which kernel, space and solver were chosen, and why.
    features_ : FeatureMap
        The fitted features; ``features_.name(i)`` reads column i of ``coef_``.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> model = treille.Ridge(NGram(1), alpha=0.01).fit(["a", "aa", "ab", "b"], [1.0, 2.0, 0.0, -1.0])
    >>> model.predict(["aab", ""]).round(1).tolist(), model.report_.status
    ([1.0, 0.0], 'converged')
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_epochs: int = 1000,
        solver: str = "auto",
        n_jobs: int | None = None,
    ):
        self.kernel = kernel
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_epochs = max_epochs
        self.solver = solver
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Ridge:
        """Trains on examples X with the numbers y: one for each example, or a row of them."""
        self.check_parameters()
        chosen, batch, numbers, weights = self._read(X, y, sample_weight)
        one_target = numbers.ndim == 1
        columns = numbers[:, None] if one_target else numbers
        problem = LeastSquares(columns, weights, self.alpha, self.fit_intercept, self.tol, self.max_epochs)
        functions, report, chosen = self._solve(problem, batch, chosen)
        self._keep(functions, report, chosen, one_target)
        return self

    def _solve(self, problem: LeastSquares, batch: Batch, chosen: Plan) -> tuple[Functions, Report, Plan]:
        kernel, threads = chosen.kernel, effective_n_jobs(self.n_jobs)
        if self.solver == "cholesky" or not kernel.has_features:
            fit = problem.by_cholesky(kernel(batch, n_jobs=self.n_jobs))  # refused where memory would not do
            functions = KernelFunctions.of(kernel, batch, fit.coefficients, fit.intercept)
            why = f"because {kernel!r} has no explicit features" if not kernel.has_features else "as the solver needs it"
            sizes = GramSpace(kernel, batch).sizes()
            return functions, fit.report, self._plan(chosen, "gram", why, "cholesky", "because it needs the matrix", sizes)
        space = RowsSpace.of(kernel, batch, self.n_jobs)
        rows = space.rows
        few = rows.n_features <= FEW_FEATURES and rows.n_features < len(rows)
        if self.solver == "primal" or (self.solver == "auto" and few):
            fit = problem.by_normal_equations(rows, threads)
            weights, solver, why = fit.coefficients, "primal", "because features are few: normal equations, by Cholesky"
        else:
            fit = problem.by_conjugate_gradients(lambda beta: rows.outputs(rows.combine(beta, threads), threads))
            weights, solver = rows.combine(fit.coefficients, threads), "cg"
            why = "because features are many: conjugate gradients, two passes over the rows an epoch"
        functions = LinearFunctions(space.features, weights, fit.intercept)
        return functions, fit.report, self._plan(chosen, chosen.space, chosen.space_why, solver, why, space.sizes())

    def _plan(self, chosen: Plan, space: str, space_why: str, solver: str, why: str, sizes: str) -> Plan:
        why = why if self.solver == "auto" else "as given"
        return replace(chosen, space=space, space_why=space_why, solver=solver, solver_why=why, sizes=sizes)

    def check_parameters(self) -> None:
        """Raises an `InputError` where a parameter is out of its range. `fit` begins with it.

        >>> import treille
        >>> treille.Ridge(alpha=0).check_parameters()
        Traceback (most recent call last):
        treille.io.errors.InputError: alpha is 0, expected a positive number
        """
        check_positive("alpha", self.alpha)
        if self.solver not in SOLVERS:
            raise InputError(f"solver is {self.solver!r}, expected one of {', '.join(map(repr, SOLVERS))}")
        super().check_parameters()
        if self.solver in ("primal", "cg") and self.kernel is not None and not self.kernel.has_features:
            raise InputError(
                f"solver is {self.solver!r}, but {self.kernel!r} has no explicit features: use 'auto' or 'cholesky'"
            )
