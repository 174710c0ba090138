"""Kernel learning: weights of features or of groups of features, learned together with the predictor.

K_mu = sum_k mu_k X_k X_k', mu >= 0, has the trace sum_k mu_k |X_k|^2 = trace. The best mu for a `Problem` is the one whose optimum
is the lowest. With U_k = X_k / |X_k|, that optimum is that of

    primal   min_{u, b}  |u|_1^2 / (2 trace) + sum_i C_i loss(y_i, (U u)_i + b)      dual   max_beta  sum_i conj_i(beta_i) - trace/2 max_k (U_k' beta)^2

with the terms of the intercept as in `Problem`, and mu_k |X_k|^2 = trace |u_k| / |u|_1. For groups of columns, |u|_1 is the sum of
the norms |u_g|, and U_g is X_g divided by the root of the trace of its kernel matrix.

Cortes, Mohri, Rostamizadeh: Learning sequence kernels. MLSP 2008. Their objectives are twice these.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from treille import _core
from treille.features import PerProblemRows
from treille.io.errors import InputError
from treille.io.parameters import check_positive, effective_n_jobs
from treille.solvers.problem import Hinge, Loss, Problem, SquaredError, SquaredHinge, check_shape
from treille.solvers.report import Progress, Report, check_outcome, poll_until

LOSSES: dict[type[Loss], str] = {Hinge: "hinge", SquaredHinge: "squared_hinge", SquaredError: "squared_error"}
SPREADS = ("optimal", "even")
MAX_EPOCHS = 10_000


@dataclass(frozen=True, eq=False)
class Learned:
    """The weights learned for one problem, and their proof."""

    u: np.ndarray  # one per feature, signed; for groups the norms |u_g|
    shares: np.ndarray  # of the trace, one per feature or group: they sum to 1, or are all 0 if u is
    weights: np.ndarray  # mu, one per feature, also for groups: rows.weighted(np.sqrt(weights)) are the rows of K_mu
    intercept: float
    coefficients: np.ndarray  # beta, one per example
    active: np.ndarray  # features (groups) whose |U_k' beta| is within tol of the maximum
    report: Report


def learn_features(
    problem: Problem,
    rows: Any,
    *,
    trace: float = 1.0,
    spread: str = "optimal",
    tol: float = 1e-3,
    max_epochs: int = MAX_EPOCHS,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
    start: Sequence[Learned] | None = None,
    progress: Progress | None = None,
) -> list[Learned]:
    """One weight per feature, for each problem.

    Parameters
    ----------
    problem : Problem
        With the loss Hinge, SquaredHinge or SquaredError; any intercept.
    rows : FeatureRows
    trace : float
        Of the learned kernel matrix.
    spread : {"optimal", "even"}
        "optimal": the weights of the optimum. "even": the trace is shared evenly by the features in `active`, as in the paper.
    tol : float
        Stop when primal - dual <= tol * primal.
    max_epochs, max_seconds : limits; one epoch is one pass over all entries.
    start : list of Learned or None
        Results for another C or trace to begin from, one per problem.
    progress : function or None
        As in `Solver.solve`.

    Examples
    --------
    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "ab", "bbc", "bc"])
    >>> problem = Problem(Hinge(), np.array([1, 1, 0, 0]), np.ones(4), "free", np.array([1]))
    >>> [learned] = learn_features(problem, rows)
    >>> learned.shares.round(2).tolist(), learned.report.status
    ([0.0, 0.41, 0.59], 'converged')
    """
    begun = time.perf_counter()
    check_learning(problem, rows, trace, spread)
    if start is not None and len(start) != problem.n_problems:
        raise InputError(f"start has {len(start)} results, expected {problem.n_problems}, one per problem")
    if isinstance(rows, PerProblemRows):
        options: dict[str, Any] = {"trace": trace, "spread": spread, "tol": tol, "max_epochs": max_epochs, "n_jobs": n_jobs}
        options |= {"max_seconds": max_seconds, "progress": progress}
        starts = [None] * problem.n_problems if start is None else [[each] for each in start]
        each = zip(split(problem), rows.problems, starts, strict=True)
        return [learn_features(one, own, start=given, **options)[0] for one, own, given in each]
    threads = effective_n_jobs(n_jobs)
    matrix = rows.to_csr(threads)
    columns = columns_of(matrix)
    sizes = columns.norms()
    if start is not None:
        for each in start:
            check_shape("u of start", each.u, sizes.shape)
            check_shape("coefficients of start", each.coefficients, (len(problem),))
    answers = _core.squared_l1(
        columns,
        [np.ascontiguousarray(problem.y(k), np.float64) for k in range(problem.n_problems)],
        problem.C,
        LOSSES[type(problem.loss)],
        float(trace),
        problem.intercept is not False,
        float(problem.intercept is True),
        float(tol),
        int(max_epochs),
        [] if start is None else [np.ascontiguousarray(each.u, np.float64) for each in start],
        np.array([] if start is None else [each.intercept for each in start]),
        [] if start is None else [np.ascontiguousarray(each.coefficients, np.float64) for each in start],
        threads,
        poll_until(begun, max_seconds, progress),
    )
    seconds = time.perf_counter() - begun
    found = []
    for answer in answers:
        status = "max_seconds" if answer.status == "stopped" else answer.status
        report = Report(answer.primal, answer.dual, answer.epochs, seconds, status, seed=0)
        active = near_maximum(answer.scores, tol)
        shares = shared(np.abs(answer.u), active, spread)
        weights = np.divide(trace * shares, sizes**2, out=np.zeros_like(shares), where=sizes > 0)
        found.append(Learned(answer.u, shares, weights, answer.intercept, answer.beta, active, report))
    check_outcome(Report.combined([each.report for each in found]), tol)
    return found


def columns_of(matrix: sp.csr_matrix) -> _core.Columns:
    """The columns of a matrix, divided by their norms, as the core takes them."""
    if matrix.shape[1] >= 2**31:
        raise InputError(f"kernel learning takes fewer than 2^31 features, found {matrix.shape[1]:,}")
    indices = matrix.indices.astype(np.int32, copy=False)
    columns = _core.Columns.of_csr(matrix.indptr.astype(np.int64), indices, matrix.data, matrix.shape[1], np.empty(0, np.int32), np.empty(0, np.int64))
    if not np.isfinite(columns.norms()).all():
        raise InputError("a feature has values whose squares sum to no finite number: scale them, or use a normalized kernel")
    return columns


def check_learning(problem: Problem, rows: Any, trace: float, spread: str) -> None:
    """Refuses what kernel learning cannot solve, before any work is done."""
    check_positive("trace", trace)
    if spread not in SPREADS:
        raise InputError(f"spread is {spread!r}, expected 'optimal' or 'even'")
    if type(problem.loss) not in LOSSES:
        known = ", ".join(loss.__name__ for loss in LOSSES)
        raise InputError(f"kernel learning solves problems with the losses {known}, not {type(problem.loss).__name__}")
    if len(rows) != len(problem):
        raise InputError(f"there are {len(problem):,} targets, but {len(rows):,} examples")


def near_maximum(scores: np.ndarray, tol: float) -> np.ndarray:
    """Indices of the scores whose absolute value is within tol of the largest; none if all are 0."""
    sizes = np.abs(scores)
    most = sizes.max(initial=0.0)
    return np.flatnonzero(sizes >= (1 - min(tol, 0.5)) * most) if most > 0 else np.empty(0, np.int64)


def shared(norms: np.ndarray, active: np.ndarray, spread: str) -> np.ndarray:
    """Shares of the trace: in proportion to the norms, or even over the active ones; all 0 if the norms are."""
    shares = np.zeros_like(norms)
    total = norms.sum()
    if total == 0:
        return shares
    if spread == "optimal":
        return norms / total
    shares[active] = 1 / len(active)
    return shares


def split(problem: Problem) -> list[Problem]:
    """Each problem on its own."""
    if problem.classes is not None:
        return [replace(problem, classes=problem.classes[k : k + 1]) for k in range(problem.n_problems)]
    return [replace(problem, targets=problem.y(k)) for k in range(problem.n_problems)]
