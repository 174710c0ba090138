"""Ridge regression on structured examples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from treille.data import Batch
from treille.estimators.base import functions_of_examples
from treille.estimators.functions import KernelFunctions, LinearFunctions
from treille.estimators.regressor import Regressor
from treille.io.errors import InputError
from treille.io.parameters import check_positive
from treille.kernels import Kernel
from treille.kernels.base import check_memory
from treille.solvers.least_squares import LeastSquares
from treille.spaces import GramSpace, Plan, ProductSpace, RowsSpace, plan

SOLVERS = ("auto", "primal", "cg", "cholesky")
FEW_FEATURES = 2000


class Ridge(Regressor):
    """Kernel ridge regression: squared errors, several targets if wished, and a proven duality gap.

    Minimises ``sum_i s_i (y_i - f(x_i))^2 + alpha |w|^2``; the intercept is not regularised.

    Parameters
    ----------
    kernel : Kernel, "precomputed", function or None
        As in `SVC`.
    alpha : float
        Weight of the regulariser against the sum of the squared errors.
    fit_intercept : bool
        Learn an intercept.
    tol : float
        Stop when the duality gap is at most this part of the primal value.
    max_epochs : int
        Budget of passes over the data for "cg"; a `ConvergenceWarning` tells when it ended first.
    solver : {"auto", "primal", "cg", "cholesky"}
        Normal equations of the features; conjugate gradients on the rows of features, or on the products of a kernel that has
        them; Cholesky on the kernel's matrix.
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
    >>> model.predict(["aab", "aaa"]).round(1).tolist(), model.report_.status
    ([1.0, 3.0], 'converged')
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[[Any, Any], Any] | None = None,
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
        chosen, batch, numbers, weights = self._task(X, y, sample_weight)
        one_target = numbers.ndim == 1
        columns = numbers[:, None] if one_target else numbers
        problem = LeastSquares(columns, weights, self.alpha, self.fit_intercept, self.tol, self.max_epochs)
        solve = {"rows": self._on_rows, "product": self._on_products, "gram": self._on_matrix}[chosen.space]
        solve(problem, batch, chosen)
        self.one_target_ = one_target
        return self

    def _choose(self, kernel: Any, X: Any) -> Plan:
        chosen = plan(kernel, X)
        kernel, given = chosen.kernel, "as given"
        if self.solver == "cholesky" or not (kernel.has_features or kernel.has_product):
            why = "because the solver needs the matrix" if self.solver == "cholesky" else chosen.space_why
            solver_why = given if self.solver == "cholesky" else "because it needs the matrix only"
            return replace(chosen, space="gram", space_why=why, solver="cholesky", solver_why=solver_why)
        if not kernel.has_features:
            solver_why = given if self.solver == "cg" else "because it needs products only"
            return replace(chosen, solver="cg", solver_why=solver_why)
        if self.solver == "auto":
            return replace(chosen, solver="primal or cg", solver_why="as the number of features asks")
        return replace(chosen, solver=self.solver, solver_why=given)

    def _on_rows(self, problem: LeastSquares, batch: Batch, chosen: Plan) -> None:
        space, threads = RowsSpace.of(chosen.kernel, batch, self.n_jobs), effective_n_jobs(self.n_jobs)
        rows = space.rows
        if self.solver == "auto":
            few = rows.n_features <= FEW_FEATURES and rows.n_features < len(rows)
            solver, why = ("primal", "are few") if few else ("cg", "are many")
            chosen = replace(chosen, solver=solver, solver_why=f"because features {why}")
        if chosen.solver == "primal":
            fit = problem.by_normal_equations(rows, threads)
            weights = fit.coefficients
        else:
            sums = np.empty((rows.n_features, problem.y.shape[1]))
            fit = problem.by_conjugate_gradients(lambda beta: rows.matvec(rows.rmatvec(beta, threads, sums), threads))
            weights = rows.rmatvec(fit.coefficients, threads)
        self._keep(chosen, space, LinearFunctions(space.features, weights, fit.intercept), fit.report)

    def _on_products(self, problem: LeastSquares, batch: Batch, chosen: Plan) -> None:
        space = ProductSpace.of(chosen.kernel, batch, self.n_jobs)
        fit = problem.by_conjugate_gradients(space.product)
        self._keep(chosen, space, KernelFunctions.of(chosen.kernel, batch, fit.coefficients, fit.intercept), fit.report)

    def _on_matrix(self, problem: LeastSquares, batch: Batch, chosen: Plan) -> None:
        space = GramSpace(chosen.kernel, batch, self.n_jobs)
        check_memory(len(batch), len(batch))
        fit = problem.by_cholesky(space.matrix().copy() if space.is_stored else space.matrix())  # it is overwritten
        self._keep(chosen, space, functions_of_examples(space, fit.coefficients, fit.intercept), fit.report)

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
        kernel = self._check_shared()
        if kernel is None or kernel.has_features or self.solver in ("auto", "cholesky"):
            return
        if self.solver == "primal" or not kernel.has_product:
            raise InputError(
                f"solver is {self.solver!r}, but {kernel!r} has no explicit features: use 'auto' or 'cholesky'"
            )
