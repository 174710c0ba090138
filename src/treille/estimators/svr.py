"""Support vector regression on structured examples, also with parameters chosen by cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass

from treille.estimators.base import KernelParameter, SeededParameters
from treille.estimators.regressor import Regressor
from treille.estimators.search import SearchCV
from treille.io.parameters import check_choice, check_positive
from treille.scikit_learn import RegressorMixin
from treille.solvers.problem import REGRESSION_LOSSES, Loss


@dataclass(eq=False, repr=False, kw_only=True)
class SVRParameters(SeededParameters):
    """Parameters of `SVR`, and of its search by cross-validation."""

    epsilon: float = 0.1
    loss: str = "epsilon_insensitive"


@dataclass(eq=False, repr=False)
class SVR(SVRParameters, Regressor):
    """Support vector regression: errors up to `epsilon` cost nothing. Trained to a proven duality gap.

    Parameters
    ----------
    kernel : Kernel, an expression such as "ngram(5)", "precomputed", function or None
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
        "auto" is `DualCD` where the kernel has explicit features, else `SMO`. For the squared and the Huber loss, it is
        `FiniteNewton` if there are few features, or if the kernel multiplies its matrix fast and has no features.
    space, n_jobs, random_state, verbose
        As in `SVC`.

    Attributes
    ----------
    coef_, intercept_, n_iter_
        As in scikit-learn; ``coef_`` has one weight per feature.
    report_, plan_, features_
        As in `SVC`.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> model = treille.SVR(NGram(1), C=10.0, epsilon=0.01).fit(["a", "aa", "ab", "b"], [1.0, 2.0, 0.0, -1.0])
    >>> model.predict(["aab", "aaa"]).round(1).tolist(), model.report_.status
    ([1.0, 3.0], 'converged')
    """

    most_targets = 1

    kernel: KernelParameter = None
    C: float = 1.0

    def _loss_and_C(self) -> tuple[Loss, float]:
        return REGRESSION_LOSSES[self.loss](self.epsilon), self.C

    def check_parameters(self) -> None:
        check_positive("C", self.C)
        check_choice("loss", self.loss, *REGRESSION_LOSSES)
        self._loss()  # which checks epsilon
        super().check_parameters()


@dataclass(eq=False, repr=False)
class SVRCV(SVRParameters, RegressorMixin, SearchCV):
    """`SVR` with C, and other parameters such as epsilon, chosen by cross-validation. Features are computed once, see `SVCCV`.

    Parameters
    ----------
    kernel, Cs, grid, cv, scoring
        As in `SVCCV`; ``grid={"epsilon": [0.01, 0.1]}`` tries values of epsilon. scoring None is R^2.
    epsilon, loss, tol, max_epochs, fit_intercept, solver, space, n_jobs, random_state, verbose
        As in `SVR`.

    Attributes
    ----------
    C_ : float
        The best C.
    best_params_, best_score_, best_index_, cv_results_, best_estimator_
        As in `SVCCV`; fitted attributes are taken from ``best_estimator_``.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> X, y = ["a", "aa", "ab", "b", "aab", "bb"], [1.0, 2.0, 0.0, -1.0, 1.0, -2.0]
    >>> model = treille.SVRCV(NGram(1), Cs=[0.01, 10], grid={"epsilon": [0.1, 1.0]}, cv=3).fit(X, y)
    >>> model.best_params_
    {'epsilon': 0.1, 'C': 10.0}
    """

    estimator = SVR

    Cs: Sequence[float] | int = 10
