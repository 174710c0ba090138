"""Support vector machine for one class."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from treille.estimators.base import KernelMachine, KernelParameter, SolverParameters
from treille.estimators.sources import Posed, require_memory
from treille.explain.tasks import OutlierDetection
from treille.io.errors import InputError
from treille.io.parameters import check_positive
from treille.scikit_learn import OutlierMixin, Self
from treille.solvers import Problem
from treille.solvers.problem import Loss, OneClass


@dataclass(eq=False, repr=False)
class OneClassSVM(SolverParameters, OutlierMixin, KernelMachine):
    """Learns a region that contains most examples, without labels, to detect novelties and outliers.

    min 1/2 |w|^2 + sum_i max(0, rho - w.x_i) - nu n rho: at most a fraction nu of the examples lies outside, and at least a
    fraction nu are support vectors. Decisions, f(x) - rho, are the same as in LIBSVM.

    Parameters
    ----------
    kernel : Kernel, "precomputed", function or None
        As in `SVC`.
    nu : float
        Above 0, at most 1.
    tol, max_epochs : float, int
        As in `SVC`; an epoch is as many steps as there are examples.
    solver : "auto" or Solver
        "auto" is `SMO`.
    n_jobs, verbose : int
        As in `SVC`.

    Attributes
    ----------
    report_, plan_, intercept_, n_iter_
        As in `SVC`; ``intercept_`` is -rho.
    offset_ : float
        rho: decisions are ``score_samples(X) - offset_``.

    References
    ----------
    Schoelkopf, Platt, Shawe-Taylor, Smola, Williamson: Estimating the support of a high-dimensional distribution. 2001.

    Examples
    --------
    >>> import treille
    >>> model = treille.OneClassSVM(treille.kernels.NGram(2).normalized(), nu=0.2).fit(["abab", "baba", "abba", "baab", "aabb"])
    >>> model.predict(["ababab", "xyz"]).tolist()
    [1, -1]
    """

    _task = OutlierDetection
    fit_intercept = "free"  # not a parameter here

    kernel: KernelParameter = None
    nu: float = 0.5

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]  # there are no weights
        """Trains on examples X; `y` is ignored."""
        require_memory(X, self, "fit it on some of them", "fit it on some of them")
        return super().fit(X)

    def _loss(self) -> Loss:
        return OneClass(float(self.nu))

    def _posed(self, y: Any, sample_weight: Any, n: int) -> Posed:
        return Posed(Problem(self._loss(), np.zeros(n), np.ones(n), self.fit_intercept))

    def check_parameters(self) -> None:
        check_positive("nu", self.nu)
        if self.nu > 1:
            raise InputError(f"nu is {self.nu!r}, expected a number above 0 and at most 1")
        super().check_parameters()

    @property
    def offset_(self) -> float:
        """Decisions are ``score_samples(X) - offset_``."""
        return -float(self.intercept_[0])

    def decision_function(self, X: Any) -> np.ndarray:
        """Above 0 inside the region, below 0 outside."""
        return self._outputs(X)[:, 0]

    def score_samples(self, X: Any) -> np.ndarray:
        """f(x), the decision without the offset."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> np.ndarray:
        """+1 inside the region, -1 outside."""
        return np.where(self.decision_function(X) > 0, 1, -1)

    def _classes_to_save(self) -> np.ndarray:
        return np.array([-1, 1])
