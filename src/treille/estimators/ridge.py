"""Ridge regression on structured examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treille.estimators.base import KernelParameter
from treille.estimators.parameters import MachineParameters
from treille.estimators.regressor import Regressor
from treille.io.parameters import check_positive
from treille.solvers.problem import Loss, SquaredError


@dataclass(eq=False, repr=False, kw_only=True)
class RidgeParameters(MachineParameters):
    """Parameters of `Ridge`, and of its search by cross-validation."""

    fit_intercept: bool | str = "free"
    tol: float = 1e-6


@dataclass(eq=False, repr=False)
class Ridge(RidgeParameters, Regressor):
    """Kernel ridge regression: squared errors, one or several targets, trained to a proven duality gap.

    Minimises ``sum_i s_i (y_i - f(x_i))^2 + alpha |w|^2`` for sample weights s, that is, 2 alpha times
    ``1/2 |w|^2 + sum_i C_i (y_i - f(x_i))^2`` with C_i = s_i / (2 alpha); ``report_`` has the values of the latter.

    Parameters
    ----------
    kernel : Kernel, "precomputed", function or None
        As in `SVC`.
    alpha : float
        Weight of the regulariser against the sum of the squared errors.
    fit_intercept : bool or "free"
        As in `SVC`; the regularised intercept (True) is learned relative to the mean of y. All solvers support all three; by
        default it is not regularised, as in scikit-learn's Ridge.
    tol, max_epochs : float, int
        As in `SVC`.
    solver : "auto" or Solver
        `NormalEquations` (few features), `ConjugateGradient` (rows or products), `Cholesky` (kernel values); "auto" picks
        one in that order.
    space, n_jobs, verbose
        As in `SVC`.

    Attributes
    ----------
    coef_, intercept_, n_iter_
        As in scikit-learn; ``coef_`` has one weight per feature; with several targets, one row per target.
    report_, plan_, features_
        As in `SVC`; with several targets, ``report_.per_class`` has one report per target.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> model = treille.Ridge(NGram(1), alpha=0.01).fit(["a", "aa", "ab", "b"], [1.0, 2.0, 0.0, -1.0])
    >>> model.predict(["aab", "aaa"]).round(1).tolist(), model.report_.status
    ([1.0, 3.0], 'converged')
    """

    kernel: KernelParameter = None
    alpha: float = 1.0

    def _loss_and_C(self) -> tuple[Loss, float]:
        return SquaredError(), 0.5 / self.alpha

    def check_parameters(self) -> None:
        check_positive("alpha", self.alpha)
        super().check_parameters()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
