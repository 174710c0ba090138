"""Support vector regression on structured examples."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from treille.estimators.base import KernelParameter
from treille.estimators.posed import Posed
from treille.estimators.regressor import Regressor
from treille.io.errors import InputError
from treille.io.parameters import check_positive
from treille.solvers import Solver
from treille.solvers.problem import REGRESSION_LOSSES, Loss
from treille.spaces import Nystrom


@dataclass(eq=False, repr=False)
class SVR(Regressor):
    """Support vector regression: errors up to `epsilon` cost nothing. Trained to a proven duality gap.

    Parameters
    ----------
    kernel : Kernel, "precomputed", function or None
        As in `SVC`.
    C : float
        Weight of the losses against the regulariser.
    epsilon : float
        Errors up to this cost nothing; with the loss "huber", larger ones cost in proportion to the error, not to its square.
        In the unit of y.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive", "huber"}
        "huber" is the squared error for errors up to epsilon, and linear beyond: outliers have little influence.
    tol, max_epochs : float, int
        As in `SVC`.
    fit_intercept : bool or "free"
        As in `SVC`. The regularised intercept (True) is learned relative to the mean of y.
    solver : "auto" or Solver
        "auto" is `DualCD` where the kernel has explicit features, else `SMO`.
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
        As in scikit-learn; ``coef_`` has one weight per feature.
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

    kernel: KernelParameter = None
    C: float = 1.0
    epsilon: float = 0.1
    loss: str = "epsilon_insensitive"
    tol: float = 1e-3
    max_epochs: int = 1000
    fit_intercept: bool | str = True
    solver: str | Solver = "auto"
    space: str | Nystrom = "auto"
    n_jobs: int | None = None
    random_state: int = 0
    verbose: int = 0

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> SVR:
        """Trains on examples X with targets y, one number per example."""
        self.check_parameters()
        self._train(X, y, sample_weight)
        return self

    def _posed(self, y: Any, sample_weight: Any, n: int) -> Posed:
        return self._regression_problem(y, sample_weight, n, *self._loss_and_C(), most_targets=1)

    def _loss_and_C(self) -> tuple[Loss, float]:
        return REGRESSION_LOSSES[self.loss](float(self.epsilon)), self.C

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
        if self.loss not in REGRESSION_LOSSES:
            raise InputError(f"loss is {self.loss!r}, expected {' or '.join(map(repr, REGRESSION_LOSSES))}")
        REGRESSION_LOSSES[self.loss](float(self.epsilon))  # which checks it, too
        self._check_shared(REGRESSION_LOSSES[self.loss], self.fit_intercept)
