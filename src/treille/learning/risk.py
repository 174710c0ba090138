"""Kernel learning: weights of features or of groups of features, learned together with the predictor.

K_mu = sum_k mu_k X_k X_k', mu >= 0, has the trace sum_k mu_k |X_k|^2 = trace. The best mu for a `Problem` is the one whose optimum
is the lowest. With U_k = X_k / |X_k|, it is also the optimum of

    primal   min_{u, b}  |u|_1^2 / (2 trace) + sum_i C_i loss(y_i, (U u)_i + b)
    dual     max_beta    sum_i conj_i(beta_i) - trace/2 max_k (U_k' beta)^2

with the terms of the intercept as in `Problem`, and mu_k |X_k|^2 = trace |u_k| / |u|_1. For groups of columns, |u|_1 is the sum of
the norms |u_g|, and U_g is X_g divided by the root of the trace of its kernel matrix.

Cortes, Mohri, Rostamizadeh: Learning sequence kernels. MLSP 2008. Their objectives are twice these.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treille import _core
from treille.features import MatrixRows, StoredRows
from treille.features.abilities import having
from treille.io.errors import InputError
from treille.io.parameters import check_choice, check_positive, effective_n_jobs
from treille.solvers.problem import Hinge, Loss, Problem, SquaredError, SquaredHinge, check_shape
from treille.solvers.report import STATUS, Progress, Report, check_budget, check_outcome
from treille.solvers.solver import Run
from treille.solvers.time_shares import deadline_after

LOSSES: tuple[type[Loss], ...] = (Hinge, SquaredHinge, SquaredError)
SPREADS = ("optimal", "even")
MAX_EPOCHS = 10_000


@dataclass(frozen=True, eq=False)
class LearnedKernel:
    """The weights learned for one problem, and their proof.

    >>> report = Report(1.0, 1.0, epochs=1, seconds=0.0, status="converged", seed=0)
    >>> none = np.empty(0)
    >>> LearnedKernel(none, np.ones(1), np.ones(1), 0.0, none, np.zeros(1, int), report).report.status
    'converged'
    """

    u: np.ndarray  # one per feature, signed; for groups the norms |u_g|
    shares: np.ndarray  # of the trace, one per feature or group: they sum to 1, or are all 0 if u is
    weights: np.ndarray  # mu, one per feature, also for groups: rows.weighted(np.sqrt(weights)) are the rows of K_mu
    intercept: float
    coefficients: np.ndarray  # beta, one per example
    active: np.ndarray  # features (groups) with u_k != 0, or whose |U_k' beta| is within tol of the maximum
    report: Report


def learn_weights(
    problem: Problem,
    rows: Any,
    groups: np.ndarray | None = None,
    *,
    trace: float = 1.0,
    spread: str = "optimal",
    tol: float = 1e-3,
    max_epochs: int = MAX_EPOCHS,
    max_seconds: float | None = None,
    n_jobs: int | None = None,
    start: Sequence[LearnedKernel] | None = None,
    progress: Progress | None = None,
) -> list[LearnedKernel]:
    """One weight per feature, or per group of features, for each problem, such that the optimum of the problem is lowest.

    Parameters
    ----------
    problem : Problem
        With the loss Hinge, SquaredHinge or SquaredError; any intercept.
    rows : FeatureRows
    groups : array of int or None
        The group of each feature, or -1 to leave it out. None: every feature has its own weight.
    trace : float
        Of the learned kernel matrix.
    spread : {"optimal", "even"}
        "optimal": the weights of the optimum; features that are equal in all examples have equal shares. "even": the trace is
        shared evenly by the features in `active`, as in the paper.
    tol : float
        Stop when primal - dual <= tol * primal.
    max_epochs, max_seconds : limits; one epoch visits as many entries as the rows have.
    n_jobs : int or None
        Threads, which never change the result.
    start : list of LearnedKernel or None
        Results for another C or trace to begin from, one per problem.
    progress : function or None
        As in `Solver.solve`.

    Examples
    --------
    >>> import treille
    >>> rows = treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "acb", "bbc", "abcc"])
    >>> problem = Problem(Hinge(), np.array([1, 1, 0, 0]), np.ones(4), "free", np.array([1]))
    >>> [learned] = learn_weights(problem, rows, trace=10.0, tol=1e-6)
    >>> learned.shares.round(2).tolist(), learned.report.status
    ([0.0, 0.5, 0.5], 'converged')
    >>> [learned] = learn_weights(problem, rows, np.array([0, 0, 1]), trace=10.0, tol=1e-6)
    >>> learned.shares.round(2).tolist()
    [0.51, 0.49]
    """
    check_learning(problem, rows, trace, spread)
    check_budget(max_seconds)
    groups = checked_groups(groups, rows.n_features)
    if start is not None and len(start) != problem.n_problems:
        raise InputError(f"start has {len(start)} results, expected {problem.n_problems}, one per problem")
    run = Run(float(tol), int(max_epochs), 0, n_jobs, start, progress, deadline_after(max_seconds))
    n, spaces = len(rows.problems), enumerate(rows.problems)
    if n == 1:
        found = _learn(problem, rows, groups, trace, spread, run)
    else:  # the rows differ from problem to problem
        each = (_learn(problem.only(k), own, groups, trace, spread, run.of_problem(k, n)) for k, own in spaces)
        found = [learned for [learned] in each]
    check_outcome(Report.combined([learned.report for learned in found]), tol)
    return found


def _learn(
    problem: Problem, rows: Any, groups: np.ndarray | None, trace: float, spread: str, run: Run
) -> list[LearnedKernel]:
    """The weights for each problem, on the same rows."""
    begun = time.perf_counter()
    threads = effective_n_jobs(run.n_jobs)
    columns = Columns.of(rows, groups, threads)
    start: Sequence[LearnedKernel] = run.start or []
    answers = _core.squared_l1(
        columns.core,
        problem.core(),
        float(trace),
        problem.intercept is not False,
        float(problem.intercept is True),
        run.tol,
        run.max_epochs,
        [columns.start(each, rows, len(problem)) for each in start],
        np.array([each.intercept for each in start]),
        [np.ascontiguousarray(each.coefficients, np.float64) for each in start],
        threads,
        run.watch,
    )
    seconds = time.perf_counter() - begun
    return [columns.learned(answer, trace, spread, run.tol, seconds) for answer in answers]


@dataclass(frozen=True)
class Columns:
    """The columns of the rows in the core, and the map between these and the features or groups."""

    core: Any
    norms: np.ndarray  # |X_k|, or the root of the trace of a group's kernel matrix
    groups: np.ndarray | None  # of each feature
    order: np.ndarray  # for groups: the features in the order of the core's columns
    blocks: np.ndarray  # for groups: where each begins there, and the end
    column: np.ndarray  # for features: the core's column of each
    times: np.ndarray  # for features: the number that each column merges

    @classmethod
    def of(cls, rows: Any, groups: np.ndarray | None, threads: int) -> "Columns":
        order, position, blocks = np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64)
        if groups is not None:
            order = np.argsort(groups, kind="stable")[np.count_nonzero(groups < 0) :]
            position = np.full(len(groups), -1, np.int32)
            position[order] = np.arange(len(order))
            blocks = np.concatenate([[0], np.cumsum(np.bincount(groups[order]))]).astype(np.int64)
        if rows.n_features >= 2**31:
            raise InputError(f"kernel learning takes fewer than 2^31 features, found {rows.n_features:,}")
        # Joining the parts would take longer than the rest.
        parts = [having(part, StoredRows).to_csr(threads) for part in having(rows, MatrixRows).parts]
        core = _core.Columns.of_csr(
            [part.indptr.astype(np.int64) for part in parts],
            [part.indices.astype(np.int32, copy=False) for part in parts],
            [part.data for part in parts],
            np.cumsum([0, *(part.shape[1] for part in parts)]).tolist()[:-1],
            rows.n_features,
            position,
            blocks,
        )
        norms = core.norms()
        if not np.isfinite(norms).all():
            raise InputError(
                "a feature has values whose squares sum to no finite number: scale them, or use a normalized kernel"
            )
        column = core.merge_equal() if groups is None else np.empty(0, np.int64)
        return cls(core, norms, groups, order, blocks, column, np.bincount(column))

    def sizes(self, values: np.ndarray) -> np.ndarray:
        """|x_g| of numbers of the core's columns."""
        if self.groups is None:
            return np.abs(values)
        totals = np.concatenate([[0.0], np.cumsum(values**2)])
        return np.sqrt(np.maximum(0.0, np.diff(totals[self.blocks])))

    def start(self, learned: LearnedKernel, rows: Any, n: int) -> np.ndarray:
        """The u of the core's columns to begin from; the u of a group has the direction of U_g' beta at the optimum."""
        check_shape("u of start", learned.u, self.norms.shape)
        check_shape("coefficients of start", learned.coefficients, (n,))
        if self.groups is None:
            return np.bincount(self.column, learned.u)
        directions = rows.rmatvec(learned.coefficients[:, None])[self.order, 0]
        sizes = self.sizes(directions)
        return directions * np.repeat(quotient(learned.u, sizes), np.diff(self.blocks))

    def learned(self, answer: Any, trace: float, spread: str, tol: float, seconds: float) -> LearnedKernel:
        """Converts the core's answer to features or groups."""
        status = STATUS.get(answer.status, answer.status)
        report = Report(answer.primal, answer.dual, answer.epochs, seconds, status, seed=0)
        u, scores = answer.u, answer.scores
        if self.groups is None:
            u, scores = (u / self.times)[self.column], scores[self.column]
        scores, sizes = self.sizes(scores), self.sizes(u)
        active = np.flatnonzero((sizes > 0) | ((scores > 0) & (scores >= (1 - min(tol, 0.5)) * scores.max())))
        shares = sizes / sizes.sum() if sizes.any() else sizes
        if spread == "even" and sizes.any():
            shares = np.bincount(active, minlength=len(sizes)) / len(active)
        weights = weights_of(shares, self.norms, trace, self.groups)
        return LearnedKernel(
            u if self.groups is None else sizes, shares, weights, answer.intercept, answer.beta, active, report
        )


def quotient(numerators: float | np.ndarray, denominators: np.ndarray) -> np.ndarray:
    """Quotients; 0 where the denominator is 0."""
    return np.divide(numerators, denominators, out=np.zeros_like(denominators), where=denominators > 0)


def weights_of(shares: np.ndarray, norms: np.ndarray, trace: float, groups: np.ndarray | None) -> np.ndarray:
    """mu of each feature, from the shares and norms of features or of groups."""
    weights = quotient(trace * shares, norms**2)
    return weights if groups is None else np.append(weights, 0.0)[groups]


def checked_groups(groups: np.ndarray | None, n_features: int) -> np.ndarray | None:
    """Groups of features as integers, if there are any; other values are refused."""
    if groups is None:
        return None
    groups = np.asarray(groups)
    check_shape("groups", groups, (n_features,))
    if groups.dtype.kind not in "iu" or groups.min(initial=-1) < -1:
        raise InputError("groups holds a value that is not a whole number of at least 0, or -1 for features left out")
    return groups.astype(np.int64)


def check_learning(problem: Problem, rows: Any, trace: float, spread: str) -> None:
    """Refuses what kernel learning cannot solve, before any work is done."""
    check_positive("trace", trace)
    check_choice("spread", spread, *SPREADS)
    if not isinstance(problem.loss, LOSSES):
        known = ", ".join(loss.__name__ for loss in LOSSES)
        raise InputError(f"kernel learning solves problems with the losses {known}, not {type(problem.loss).__name__}")
    if len(problem) == 0:
        raise InputError("there are no examples: kernel learning needs some")
    if len(rows) != len(problem):
        raise InputError(f"there are {len(problem):,} targets, but {len(rows):,} examples")
