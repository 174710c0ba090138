"""Dual coordinate descent, the face of core/solve/dual_cd.hpp."""

from __future__ import annotations

import time

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator

from treille import _core
from treille.io.errors import InputError
from treille.solvers.report import Progress, Solution, check_budget, poll_until, summary, warn_unless_converged
from treille.spaces import RowsSpace

LOSSES = ("hinge", "squared_hinge")


class DualCD(BaseEstimator):
    """Exact coordinate steps on the dual, with W' = sum_i alpha_i y_i Phi_i kept up to date. Needs rows.

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
        space: RowsSpace,
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
        rows, begun = space.rows, time.perf_counter()
        labels, classes = np.ascontiguousarray(labels, np.int32), np.ascontiguousarray(classes, np.int32)
        C = np.ascontiguousarray(C, np.float64)
        start = np.empty((0, len(rows))) if start is None else np.ascontiguousarray(start, np.float64)
        self._check(len(rows), labels, classes, C, start, loss)

        answers = _core.dual_cd(
            indptr=rows.indptr,
            entries=rows.entries,
            code_bits=rows.code_bits,
            palette=rows.palette,
            scale=rows.scale,
            n_features=rows.n_features,
            n_shared=rows.n_shared,
            labels=labels,
            classes=classes,
            C=C,
            start=start.ravel(),
            squared_hinge=loss == "squared_hinge",
            bias=float(bias),
            tol=float(tol),
            max_epochs=int(max_epochs),
            shrinking=bool(self.shrinking),
            gradient_stop=self.stopping == "gradient",
            seed=int(seed),
            threads=effective_n_jobs(n_jobs),
            poll=poll_until(begun, self.max_seconds, progress),
        )
        report = summary(answers, time.perf_counter() - begun, seed)
        warn_unless_converged(report, tol)
        n_classes = len(classes)
        return Solution(
            answers.weights.reshape(rows.n_features, n_classes),
            answers.bias,
            answers.alpha.reshape(n_classes, len(rows)),
            report,
        )

    def _check(
        self, n: int, labels: np.ndarray, classes: np.ndarray, C: np.ndarray, start: np.ndarray, loss: str
    ) -> None:
        if self.stopping not in ("gap", "gradient"):
            raise InputError(f"stopping is {self.stopping!r}, expected 'gap' or 'gradient'")
        check_budget(self.max_seconds)
        if loss not in LOSSES:
            raise InputError(f"loss is {loss!r}, expected 'hinge' or 'squared_hinge'")
        for name, found, expected in (
            ("labels", labels.shape, (n,)),
            ("C", C.shape, (n,)),
            ("start", start.shape, (len(classes), n) if len(start) else (0, n)),
        ):
            if found != expected:
                raise InputError(f"{name} has the shape {found}, expected {expected}")
        if not ((C >= 0) & (np.inf > C)).all():
            raise InputError("C holds a value that is not a number of at least 0")
