"""Support vector regression on structured examples."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from treille.estimators.base import Space, functions_of_examples, functions_of_weights
from treille.estimators.regressor import Regressor
from treille.io.errors import InputError
from treille.io.parameters import check_positive, check_whole
from treille.kernels import Kernel
from treille.solvers import SMO, DualCD
from treille.solvers.dual_cd import REGRESSION_LOSSES, check_loss
from treille.solvers.progress import progress_bar
from treille.spaces import Nystrom


class SVR(Regressor):
    """Support vector machine for numbers: errors up to `epsilon` cost nothing. Trained to a proven duality gap.

    Parameters
    ----------
    kernel : Kernel, "precomputed", function or None
        As in `SVC`.
    C : float
        Weight of the losses against the regulariser.
    epsilon : float
        Errors up to this cost nothing; in the unit of y.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
    tol : float
        Stop when the duality gap is at most this part of the primal value.
    max_epochs : int
        Budget of passes over the data; a `ConvergenceWarning` tells when it ended first.
    fit_intercept : bool
        Learn an intercept: with DualCD the mean of y plus the weight of a constant feature (regularised, like LIBLINEAR's), with
        SMO, which always learns one, free of regularisation (like LIBSVM's).
    solver : "auto", DualCD or SMO
        "auto" is DualCD where the kernel has explicit features, else SMO. Or a solver with options of its own, such as
        ``DualCD(max_seconds=60)``, ``SMO(cache_mb=2000)``.
    space : "auto", "nystrom" or Nystrom
        As in `SVC`.
    n_jobs : int or None
        Threads; None is 1, -1 is all. The result does not depend on it.
    random_state : int
        Seed of the order in which examples are visited.
    verbose : int
        1 shows progress on a terminal.

    Attributes
    ----------
    coef_, intercept_, n_iter_
        As in scikit-learn; ``coef_`` has a number per feature.
    report_ : Report
        Primal and dual value, gap, epochs, seconds, status, seed.
    plan_ : Plan
        Which kernel, space and solver were chosen, and why.
    features_ : FeatureMap
        The fitted features; ``features_.name(i)`` reads entry i of ``coef_``.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> model = treille.SVR(NGram(1), C=10.0, epsilon=0.01).fit(["a", "aa", "ab", "b"], [1.0, 2.0, 0.0, -1.0])
    >>> model.predict(["aab", "aaa"]).round(1).tolist(), model.report_.status
    ([1.0, 3.0], 'converged')
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[[Any, Any], Any] | None = None,
        C: float = 1.0,
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
        tol: float = 1e-3,
        max_epochs: int = 1000,
        fit_intercept: bool = True,
        solver: str | DualCD | SMO = "auto",
        space: str | Nystrom = "auto",
        n_jobs: int | None = None,
        random_state: int = 0,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.loss = loss
        self.tol = tol
        self.max_epochs = max_epochs
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.space = space
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVR:
        """Trains on examples X with the numbers y."""
        self.check_parameters()
        chosen, batch, numbers, weights = self._task(X, y, sample_weight)
        if numbers.ndim == 2 and numbers.shape[1] != 1:
            raise InputError(
                f"targets have the shape {numbers.shape}, expected one number per example: Ridge takes more"
            )
        numbers, C = numbers.ravel(), self.C * weights
        options: dict[str, Any] = {
            "epsilon": self.epsilon,
            "loss": self.loss,
            "tol": self.tol,
            "max_epochs": self.max_epochs,
        }
        space: Space
        with progress_bar(1, self.tol, self.verbose) as progress:
            if chosen.space != "gram":
                space, dual_cd = self._by_rows(chosen, batch)
                # A regularised bias would draw predictions towards 0; from the mean on, it is free to be far from there.
                mean = np.average(numbers, weights=weights) if self.fit_intercept else 0.0
                bias, seed = 1.0 if self.fit_intercept else 0.0, self.random_state
                solution = dual_cd.solve_regression(
                    space, numbers - mean, C, bias=bias, seed=seed, progress=progress, **options
                )
                functions = functions_of_weights(chosen.kernel, space, solution.weights, solution.bias + mean)
            else:
                space, smo = self._by_values(chosen, batch)
                solution = smo.solve_regression(space, numbers, C, n_jobs=self.n_jobs, progress=progress, **options)
                functions = functions_of_examples(space, solution.alpha.T, solution.bias)
        self._keep(chosen, space, functions, solution.report)
        self.one_target_ = True
        return self

    def check_parameters(self) -> None:
        """Raises an `InputError` where a parameter is out of its range. `fit` begins with it.

        >>> import treille
        >>> treille.SVR(epsilon=-1).check_parameters()
        Traceback (most recent call last):
        treille.io.errors.InputError: epsilon is -1, expected a number of at least 0
        """
        check_positive("C", self.C)
        known = isinstance(self.epsilon, Real) and not isinstance(self.epsilon, bool)
        if not (known and 0 <= float(self.epsilon) < np.inf):
            raise InputError(f"epsilon is {self.epsilon!r}, expected a number of at least 0")
        check_loss(self.loss, REGRESSION_LOSSES)
        check_whole("random_state", self.random_state, 0)
        self._check_shared((DualCD, SMO))
