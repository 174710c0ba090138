"""Logistic regression on structured examples: a classifier whose outputs are probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treille.estimators.base import KernelParameter
from treille.estimators.classifier import Classifier
from treille.explain.tasks import ProbabilisticClassification, log_probabilities
from treille.io.errors import InputError
from treille.io.parameters import check_positive
from treille.scale.dask_parts import is_collection, lazily
from treille.solvers import Solver
from treille.solvers.problem import Logistic, Loss
from treille.spaces import Nystrom


@dataclass(eq=False, repr=False)
class LogisticRegression(Classifier):
    """Logistic regression for classes of strings and other structured examples, trained to a proven duality gap.

    Minimises ``1/2 |w|^2 + sum_i C_i log(1 + exp(-y_i f(x_i)))`` with f(x) = w.phi(x) + b. The probability of the positive class
    is 1 / (1 + exp(-f(x))). Several classes are learned one against the rest, and their probabilities divided by their sum.

    Parameters
    ----------
    kernel, C, tol, max_epochs, fit_intercept, class_weight, solver, space, n_jobs, random_state, verbose
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
    C: float = 1.0
    tol: float = 1e-3
    max_epochs: int = 1000
    fit_intercept: bool = True
    class_weight: dict[Any, float] | str | None = None
    solver: str | Solver = "auto"
    space: str | Nystrom = "auto"
    n_jobs: int | None = None
    random_state: int = 0
    verbose: int = 0

    def check_parameters(self) -> None:
        """Raises an `InputError` where a parameter is out of its range. `fit` begins with it."""
        check_positive("C", self.C)
        if isinstance(self.fit_intercept, str):
            raise InputError(
                f"fit_intercept is {self.fit_intercept!r}, expected True or False: only SMO has a free intercept, and it does "
                "not solve problems with this loss"
            )
        self._check_shared(Logistic, self.fit_intercept)

    def _loss(self) -> Loss:
        return Logistic()

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class: one row per example, one column per class, in the order of ``classes_``."""
        if is_collection(X):
            return lazily(self.predict_proba, X, np.zeros((0, len(self.classes_))))
        return np.exp(log_probabilities(self.decision_function(X)))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of `predict_proba`, precise also where a probability is close to 0."""
        if is_collection(X):
            return lazily(self.predict_log_proba, X, np.zeros((0, len(self.classes_))))
        return log_probabilities(self.decision_function(X))
