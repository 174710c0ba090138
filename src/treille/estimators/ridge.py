"""Ridge regression on structured examples, also with parameters chosen by cross-validation."""

import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from treille.estimators.base import KernelParameter, MachineParameters
from treille.estimators.held_out import Examples, Planned, Split, TrainedFold
from treille.estimators.regressor import Regressor
from treille.estimators.search import SearchCV
from treille.estimators.sources import check_sample_weight
from treille.io.errors import InputError
from treille.io.parameters import check_positive
from treille.kernels import Centered
from treille.scikit_learn import RegressorMixin
from treille.solvers.folds import FoldOutputs
from treille.solvers.least_squares import leave_one_out
from treille.solvers.problem import Loss, SquaredError
from treille.spaces import Nystrom


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
    kernel : Kernel, an expression such as "ngram(5)", "precomputed", function or None
        As in `SVC`.
    alpha : float
        Weight of the regulariser against the sum of the squared errors.
    fit_intercept : bool or "free"
        As in `SVC`; the regularised intercept (True) is learned relative to the mean of y. By default it is not regularised, as
        in scikit-learn's Ridge.
    tol, max_epochs : float, int
        As in `SVC`.
    solver : "auto" or Solver
        `NormalEquations` (few features), `ConjugateGradient` (rows or products), `Cholesky` (kernel values); "auto" picks
        one in that order. They support every intercept. The solvers of `SVR` are slower here.
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


@dataclass(eq=False, repr=False)
class RidgeCV(RidgeParameters, RegressorMixin, SearchCV):
    """`Ridge` with alpha, and other parameters, chosen by cross-validation, by default leave-one-out in closed form.

    Parameters
    ----------
    kernel, grid
        As in `SVCCV`.
    alphas : list of float, or int
        The values of alpha to try; a number of values is spread evenly on a logarithmic scale from 0.001 to 1000.
    cv : None, int, splitter, or iterable of splits
        None is leave-one-out: exact, for all alphas from one eigen-decomposition of the smaller of the kernel matrix and the
        covariance of the features. Otherwise as in `SVCCV`.
    scoring : str, callable or None
        As in scikit-learn. None is R^2, and for leave-one-out minus the squared error. For leave-one-out, a scorer is called once
        with the predictions for all examples.
    fit_intercept, tol, max_epochs, solver, space, n_jobs, verbose
        As in `Ridge`.

    Attributes
    ----------
    alpha_ : float
        The best alpha.
    best_params_, best_score_, best_index_, cv_results_, best_estimator_
        As in `SVCCV`; ``cv_results_`` of leave-one-out has one score for all examples.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> model = treille.RidgeCV(NGram(1), alphas=[0.01, 1, 100]).fit(["a", "aa", "ab", "b"], [1.0, 2.0, 0.0, -1.0])
    >>> model.alpha_, model.predict(["aab", "aaa"]).round(1).tolist()
    (0.01, [1.0, 3.0])
    """

    estimator = Ridge
    path = ("alpha", "alphas")
    unit = 0.5

    alphas: Sequence[float] | int = 10
    _: KW_ONLY
    cv: Any = None

    def strength(self, value: float) -> float:
        return 0.5 / value

    def _leaves_one_out(self) -> bool:
        return self.cv is None

    def _splits(self, X: Any, y: Any, groups: Any, n: int) -> list[Split]:
        return [] if self.cv is None else super()._splits(X, y, groups, n)

    def _evaluate(self, model: Any, examples: Examples) -> tuple[list[TrainedFold], FoldOutputs, Planned | None]:
        if self.cv is not None:
            return super()._evaluate(model, examples)
        kernel, n = examples.source.kernel, len(examples.source)
        inner = kernel.kernel if isinstance(kernel, Centered) and model.fit_intercept == "free" else kernel
        if inner.needs_features or isinstance(model.space, Nystrom) or model.space == "nystrom":
            raise InputError(
                f"cv is None, leave-one-out in closed form, but the features of {kernel!r} depend on all training examples: "
                "use folds, such as cv=5"
            )
        values, everything, whole = self._values(), np.arange(n), examples.posed(model).problem
        planned = model._planned(examples.source, whole, examples.known)
        begun = time.perf_counter()
        numbers = np.asarray(examples.y, np.float64).reshape(n, -1)
        weights = check_sample_weight(examples.sample_weight, n)
        outputs = leave_one_out(planned[1], numbers, weights, values, model.fit_intercept, model.n_jobs)
        seconds = np.full((len(values), 1), (time.perf_counter() - begun) / len(values))
        fold = TrainedFold(whole, everything, everything, np.zeros(whole.n_problems), np.empty(0, int))
        return [fold], FoldOutputs([outputs], np.zeros((len(values), 1)), seconds), planned
