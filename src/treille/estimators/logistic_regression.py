"""Logistic regression on structured examples: a classifier whose outputs are probabilities, and its search."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from treille.estimators.base import ClassifierParameters, KernelParameter
from treille.estimators.classifier import Classifier
from treille.estimators.held_out import HeldOutClassifier
from treille.estimators.search import ClassifierSearchCV
from treille.explain.tasks import ProbabilisticClassification, log_probabilities
from treille.io.errors import InputError
from treille.io.parameters import check_positive
from treille.solvers.problem import Logistic, Loss


@dataclass(eq=False, repr=False)
class LogisticRegression(ClassifierParameters, Classifier):
    """Logistic regression for classes of strings and other structured examples, trained to a proven duality gap.

    Minimises ``1/2 |w|^2 + sum_i C_i log(1 + exp(-y_i f(x_i)))`` with f(x) = w.phi(x) + b. The probability of the positive class
    is 1 / (1 + exp(-f(x))). Several classes are learned one against the rest, and their probabilities divided by their sum.

    Parameters
    ----------
    C : float
        As in `SVC`, but 30 by default: the logistic loss needs larger weights than the hinge loss for confident probabilities.
    kernel, tol, max_epochs, fit_intercept, class_weight, solver, space, n_jobs, random_state, verbose
        As in `SVC`; there is no free intercept. "auto" is `DualCD` or `FiniteNewton`.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, report_, plan_, features_
        As in `SVC`.

    References
    ----------
    Yu, Huang, Lin: Dual coordinate descent methods for logistic regression. Machine Learning 2011.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> model = treille.LogisticRegression(NGram(2), C=10.0).fit(["abab", "baba", "ccdd", "dccd"], ["ab", "ab", "cd", "cd"])
    >>> model.predict(["aabb", "cdcd"]).tolist()
    ['ab', 'cd']
    >>> model.predict_proba(["abba", "ccdd", "x"]).round(2).tolist()
    [[0.89, 0.11], [0.05, 0.95], [0.43, 0.57]]
    """

    _task = ProbabilisticClassification
    kernel: KernelParameter = None
    C: float = 30.0

    def check_parameters(self) -> None:
        check_positive("C", self.C)
        if isinstance(self.fit_intercept, str):
            raise InputError(
                f"fit_intercept is {self.fit_intercept!r}, expected True or False: only SMO has a free intercept, and it does "
                "not solve problems with this loss"
            )
        super().check_parameters()

    def _loss(self) -> Loss:
        return Logistic()

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class: one row per example, one column per class, in the order of ``classes_``."""
        return self._predicted(X, lambda outputs: np.exp(log_probabilities(self._decisions(outputs))))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of `predict_proba`, precise also where a probability is close to 0."""
        return self._predicted(X, lambda outputs: log_probabilities(self._decisions(outputs)))


class HeldOutProbabilities(HeldOutClassifier):
    """A fold whose outputs are probabilities, for scorers such as "neg_log_loss"."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """One row per held-out example."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """One row per held-out example."""
        return log_probabilities(self.outputs)


@dataclass(eq=False, repr=False)
class LogisticRegressionCV(ClassifierParameters, ClassifierSearchCV):
    """`LogisticRegression` with C, and other parameters, chosen by cross-validation, see `SVCCV`.

    Parameters
    ----------
    kernel, Cs, grid, cv, scoring
        As in `SVCCV`. With ``scoring="neg_log_loss"`` the best probabilities are chosen instead of the best decisions.
    tol, max_epochs, fit_intercept, class_weight, solver, space, n_jobs, random_state, verbose
        As in `LogisticRegression`.

    Attributes
    ----------
    C_, best_params_, best_score_, best_index_, cv_results_, best_estimator_, refit_time_, scorer_, gaps_
        As in `SVCCV`.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> X = ["abab", "baba", "abba", "aabb", "ccdd", "dccd", "cdcd", "ddcc"]
    >>> model = treille.LogisticRegressionCV(NGram(2), Cs=[0.01, 1, 100], cv=2, scoring="neg_log_loss")
    >>> model.fit(X, [0] * 4 + [1] * 4).C_
    100.0
    """

    estimator = LogisticRegression
    held_out = HeldOutProbabilities

    Cs: Sequence[float] | int = 10

    def predict_proba(self, X: Any) -> np.ndarray:
        """As in `LogisticRegression`."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)
