"""Sequential minimal optimisation, the face of core/solve/smo.hpp."""

from __future__ import annotations

import time
from numbers import Real

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator

from treille import _core
from treille.io.errors import InputError
from treille.solvers.dual_cd import LOSSES, REGRESSION_LOSSES, check_loss
from treille.solvers.report import Progress, Report, Solution, check_budget, poll_until, summary, warn_unless_converged
from treille.spaces import GramSpace


class SMO(BaseEstimator):
    """Pairs of dual variables, moved one after the other, with kernel values only. Needs gram. The bias is not regularised.

    Parameters
    ----------
    cache_mb : float
        Memory for rows of the kernel matrix, in megabytes (10^6 bytes). A matrix that fits is computed once, whole; of a larger one
        rows are computed when they are needed, and the most recently used are kept.
    shrinking : bool
        Set variables aside that sit firmly at a bound. The answer is the same; off, it takes longer.
    stopping : {"gap", "violation"}
        What `tol` bounds: the duality gap relative to the primal value, or, as in LIBSVM, the largest violation of the optimality
        conditions by a pair.
    max_seconds : float or None
        Stop after this time with what there is, and warn.

    References
    ----------
    Fan, Chen, Lin: Working set selection using second order information for training support vector machines. JMLR 2005.

    Examples
    --------
    >>> import treille
    >>> model = treille.SVC(treille.kernels.NGram(1), solver=treille.solvers.SMO(cache_mb=100))
    >>> model.fit(["ab", "cd"], [0, 1]).report_.status
    'converged'
    """

    needs = GramSpace

    def __init__(
        self,
        cache_mb: float = 500,
        shrinking: bool = True,
        stopping: str = "gap",
        max_seconds: float | None = None,
    ):
        self.cache_mb = cache_mb
        self.shrinking = shrinking
        self.stopping = stopping
        self.max_seconds = max_seconds

    def solve(
        self,
        space: GramSpace,
        labels: np.ndarray,
        classes: np.ndarray,
        C: np.ndarray,
        *,
        loss: str = "hinge",
        tol: float = 1e-3,
        max_epochs: int = 1000,
        n_jobs: int | None = None,
        start: np.ndarray | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """One two-class problem per entry k of `classes`: examples with that label against the rest, on one cache of rows.

        `C` has one value per example, `start` a row of dual variables per class to begin from, whose sum over the class equals that
        over the rest. `progress(classes done, epochs, relative gap)` is called a few times a second.
        """
        check_loss(loss, LOSSES)
        y = np.where(np.asarray(labels) == np.asarray(classes)[:, None], 1.0, -1.0)
        C, d = _box(C, loss)
        alpha, bias, report = self.minimize(
            space,
            y,
            np.full_like(y, -1.0),
            C,
            d=d,
            start=start,
            tol=tol,
            max_epochs=max_epochs,
            n_jobs=n_jobs,
            progress=progress,
        )
        return Solution(None, bias, alpha, report)

    def solve_regression(
        self,
        space: GramSpace,
        y: np.ndarray,
        C: np.ndarray,
        *,
        epsilon: float = 0.1,
        loss: str = "epsilon_insensitive",
        tol: float = 1e-3,
        max_epochs: int = 1000,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> Solution:
        """One problem of regression on the numbers `y`: errors up to `epsilon` cost nothing. The rest is as in `solve`.

        An example has two variables, a for errors above and a' for those below; `alpha` of the solution is a - a'.
        """
        check_loss(loss, REGRESSION_LOSSES)
        y = np.asarray(y, np.float64)
        C, d = _box(C, loss)
        pairs, bias, report = self.minimize(
            space,
            np.repeat([1.0, -1.0], len(y)),
            np.concatenate([epsilon - y, epsilon + y]),
            np.tile(C, 2),
            d=np.tile(d, 2),
            examples=np.tile(np.arange(len(y)), 2),
            tol=tol,
            max_epochs=max_epochs,
            n_jobs=n_jobs,
            progress=progress,
        )
        above, below = pairs.reshape(2, len(y))
        return Solution(None, bias, (above - below)[None], report)

    def minimize(
        self,
        space: GramSpace,
        y: np.ndarray,
        p: np.ndarray,
        C: np.ndarray,
        *,
        d: np.ndarray | float = 0.0,
        examples: np.ndarray | None = None,
        start: np.ndarray | None = None,
        tol: float = 1e-3,
        max_epochs: int = 1000,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> tuple[np.ndarray, np.ndarray, Report]:
        """min 1/2 a'Qa + p'a with y'a as in `start` and 0 <= a_i <= C_i, where Q_ij = y_i y_j k(x_ei, x_ej), plus d_i if i = j.

        One problem per row of `y` (+1 or -1), a column per variable; `p`, `C`, `d` and `start` have that shape or are spread out to
        it. `examples` gives the example e_i of each variable, by default the i-th. Where d_i > 0, C_i is infinite. Returns the
        variables (a row per problem), the biases and the report, and warns where the budget ended first.
        """
        begun = time.perf_counter()
        y = np.ascontiguousarray(np.atleast_2d(y), np.float64)
        spread = [np.broadcast_to(0.0 if a is None else a, y.shape) for a in (p, C, d, start)]
        p, C, d, start = (np.ascontiguousarray(a, np.float64).ravel() for a in spread)
        examples = np.arange(y.shape[1]) if examples is None else np.asarray(examples)
        self._check(len(space), examples, y, C)
        diagonal = np.ascontiguousarray(space.diag(), np.float64)
        shared = {
            "diagonal": diagonal,
            "examples": np.ascontiguousarray(examples, np.int64),
            "y": y.ravel(),
            "p": p,
            "C": C,
            "d": d,
            "start": start,
            "tol": float(tol),
            "violation_stop": self.stopping == "violation",
            "max_epochs": int(max_epochs),
            "shrinking": bool(self.shrinking),
            "threads": effective_n_jobs(n_jobs),
            "poll": poll_until(begun, self.max_seconds, progress),
        }
        if space.is_stored or 8 * len(space) ** 2 <= self.cache_mb * 1e6:
            answers = _core.smo_stored(matrix=space.matrix().ravel(), **shared)
        else:
            answers = _core.smo_cached(row=space.row, cache_bytes=int(self.cache_mb * 1e6), **shared)
        report = summary(answers, time.perf_counter() - begun, seed=0)
        warn_unless_converged(report, tol)
        return answers.alpha.reshape(y.shape), answers.bias, report

    def _check(self, n: int, examples: np.ndarray, y: np.ndarray, C: np.ndarray) -> None:
        if self.stopping not in ("gap", "violation"):
            raise InputError(f"stopping is {self.stopping!r}, expected 'gap' or 'violation'")
        if not isinstance(self.cache_mb, Real) or isinstance(self.cache_mb, bool) or not 0 < self.cache_mb < np.inf:
            raise InputError(f"cache_mb is {self.cache_mb!r}, expected a positive number of megabytes")
        check_budget(self.max_seconds)
        if examples.shape != y.shape[1:] or (len(examples) and not 0 <= examples.min() <= examples.max() < n):
            raise InputError(f"there are {n:,} examples, but variables of {examples.shape} of them")
        if not (np.abs(y) == 1).all():
            raise InputError("y holds a value other than +1 and -1")
        if not (C >= 0).all():
            raise InputError("C holds a value that is not a number of at least 0")


def _box(C: np.ndarray, loss: str) -> tuple[np.ndarray, np.ndarray]:
    """Upper bounds, and what a squared loss adds to the diagonal instead."""
    C = np.asarray(C, np.float64)
    if not loss.startswith("squared"):
        return C, np.zeros_like(C)
    return np.where(C > 0, np.inf, 0.0), np.divide(0.5, C, out=np.zeros_like(C), where=C > 0)
