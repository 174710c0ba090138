"""Dual coordinate descent, the face of core/solve/dual_cd.hpp."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator

from treille import _core
from treille.io.errors import InputError
from treille.solvers.report import Progress, Solution, check_budget, poll_until, summary, warn_unless_converged
from treille.spaces import NystromSpace, RowsSpace

LOSSES = ("hinge", "squared_hinge")
REGRESSION_LOSSES = ("epsilon_insensitive", "squared_epsilon_insensitive")


class DualCD(BaseEstimator):
    """Exact coordinate steps on the dual, with W' = sum_i alpha_i y_i Phi_i kept up to date. Needs rows.

    For classes (`solve`) and for numbers (`solve_regression`).

    Parameters
    ----------
    shrinking : bool
        Let examples rest that sit firmly at a bound. The answer is the same; off, it takes longer.
    stopping : {"gap", "gradient"}
        What `tol` bounds: the duality gap relative to the primal value, or, as in LIBLINEAR, the spread of the projected gradients.
    max_seconds : float or None
        Stop after this time with what there is, and warn.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi, Sundararajan: A dual coordinate descent method for large-scale linear SVM. ICML 2008.
    Allauzen, Cortes, Mohri: SVM optimization for lattice kernels. Algorithm 2.
    Ho, Lin: Large-scale linear support vector regression. JMLR 2012.

    Examples
    --------
    >>> import treille
    >>> model = treille.SVC(treille.kernels.NGram(1), solver=treille.solvers.DualCD(max_seconds=10))
    >>> model.fit(["ab", "cd"], [0, 1]).report_.status
    'converged'
    """

    needs = RowsSpace

    def __init__(self, shrinking: bool = True, stopping: str = "gap", max_seconds: float | None = None):
        self.shrinking = shrinking
        self.stopping = stopping
        self.max_seconds = max_seconds

    def solve(
        self,
        space: RowsSpace | NystromSpace,
        labels: np.ndarray,
        classes: np.ndarray,
        C: np.ndarray,
        *,
        loss: str = "hinge",
        bias: float = 1.0,
        tol: float = 1e-3,
        max_epochs: int = 1000,
        seed: int = 0,
        n_jobs: int | None = None,
        start: np.ndarray | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """One two-class problem per entry k of `classes`: examples with that label against the rest.

        `C` has one value per example, `start` a row of dual variables per class to begin from (those of a solution with another
        C, say). `progress(classes done, epochs, relative gap)` is called a few times a second.
        """
        labels, classes = np.ascontiguousarray(labels, np.int32), np.ascontiguousarray(classes, np.int32)

        def run(**shared: Any) -> _core.Answers:
            return _core.dual_cd(labels=labels, classes=classes, threads=effective_n_jobs(n_jobs), **shared)

        check_loss(loss, LOSSES)
        check_shape("labels", labels, (len(space.rows),))
        return self._solve(space, run, len(classes), C, loss, bias, tol, max_epochs, seed, start, progress)

    def solve_regression(
        self,
        space: RowsSpace | NystromSpace,
        y: np.ndarray,
        C: np.ndarray,
        *,
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
        bias: float = 1.0,
        tol: float = 1e-3,
        max_epochs: int = 1000,
        seed: int = 0,
        start: np.ndarray | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """One problem of regression on the numbers `y`: errors up to `epsilon` cost nothing. The rest is as in `solve`."""
        y = np.ascontiguousarray(y, np.float64)

        def run(**shared: Any) -> _core.Answers:
            return _core.dual_cd_regression(y=y, epsilon=float(epsilon), **shared)

        check_loss(loss, REGRESSION_LOSSES)
        check_shape("y", y, (len(space.rows),))
        return self._solve(space, run, 1, C, loss, bias, tol, max_epochs, seed, start, progress)

    def _solve(
        self,
        space: RowsSpace | NystromSpace,
        run: Callable[..., _core.Answers],
        n_problems: int,
        C: np.ndarray,
        loss: str,
        bias: float,
        tol: float,
        max_epochs: int,
        seed: int,
        start: np.ndarray | None,
        progress: Progress | None,
    ) -> Solution:
        if self.stopping not in ("gap", "gradient"):
            raise InputError(f"stopping is {self.stopping!r}, expected 'gap' or 'gradient'")
        check_budget(self.max_seconds)
        n, begun = len(space.rows), time.perf_counter()
        C = np.ascontiguousarray(C, np.float64)
        check_shape("C", C, (n,))
        if not ((C >= 0) & (np.inf > C)).all():
            raise InputError("C holds a value that is not a number of at least 0")
        start = np.empty((0, n)) if start is None else np.ascontiguousarray(start, np.float64)
        check_shape("start", start, (n_problems, n) if len(start) else (0, n))
        answers = run(
            rows=space.for_core(),
            C=C,
            start=start.ravel(),
            squared=loss.startswith("squared"),
            bias=float(bias),
            tol=float(tol),
            max_epochs=int(max_epochs),
            shrinking=bool(self.shrinking),
            gradient_stop=self.stopping == "gradient",
            seed=int(seed),
            poll=poll_until(begun, self.max_seconds, progress),
        )
        report = summary(answers, time.perf_counter() - begun, seed)
        warn_unless_converged(report, tol)
        return Solution(
            space.read_weights(answers.weights.reshape(-1, n_problems)),
            answers.bias,
            answers.alpha.reshape(n_problems, n),
            report,
        )


def check_loss(loss: str, known: tuple[str, str]) -> None:
    """Refuses a loss that is not one of the two known."""
    if loss not in known:
        raise InputError(f"loss is {loss!r}, expected {known[0]!r} or {known[1]!r}")


def check_shape(name: str, array: np.ndarray, expected: tuple[int, ...]) -> None:
    """Refuses an array of another shape."""
    if array.shape != expected:
        raise InputError(f"{name} has the shape {array.shape}, expected {expected}")
