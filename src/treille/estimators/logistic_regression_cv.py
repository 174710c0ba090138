"""Logistic regression with parameters chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from treille.estimators.base import KernelParameter
from treille.estimators.held_out import HeldOutClassifier
from treille.estimators.logistic_regression import LogisticRegression
from treille.estimators.search import SearchCV
from treille.explain.tasks import log_probabilities
from treille.solvers import Solver
from treille.spaces import Nystrom


class HeldOutProbabilities(HeldOutClassifier):
    """A fold whose outputs are probabilities, for scorers such as "neg_log_loss"."""

    def predict_proba(self, X: Any) -> np.ndarray:
        """One row per held-out example."""
        return np.exp(log_probabilities(self.outputs))


@dataclass(eq=False, repr=False)
class LogisticRegressionCV(ClassifierMixin, SearchCV):
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

    kernel: KernelParameter | Sequence[KernelParameter] = None
    Cs: Sequence[float] | int = 10
    grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    cv: Any = 5
    scoring: Any = None
    tol: float = 1e-3
    max_epochs: int = 1000
    fit_intercept: bool = True
    class_weight: dict[Any, float] | str | None = None
    solver: str | Solver = "auto"
    space: str | Nystrom = "auto"
    n_jobs: int | None = None
    random_state: int = 0
    verbose: int = 0

    def decision_function(self, X: Any) -> np.ndarray:
        """As in `LogisticRegression`."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.decision_function(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """As in `LogisticRegression`."""
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)
