"""Weights of features or of groups by centred alignment with the targets.

For ridge regression, the best kernel matrix of a given trace is trace yy' / |y|^2 (Cortes, Mohri, Rostamizadeh: Learning sequence
kernels, Theorem 2). Kernels are therefore weighted by how well they match yy': each by itself, or all together by least squares.
Cortes, Mohri, Rostamizadeh: Algorithms for learning kernels based on centered alignment. JMLR 2012.
"""

import time
from typing import Any

import numpy as np
import scipy.sparse as sp

from treille.features import StoredRows
from treille.features.abilities import having
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import check_memory
from treille.learning.risk import LearnedKernel, check_learning, checked_groups, quotient, weights_of
from treille.solvers.problem import Problem
from treille.solvers.report import Report, check_outcome

BLOCK = 1 << 24  # inner products of columns at a time
MOST_ADDED = 50  # features that enter the working set at a time


def align_weights(
    problem: Problem,
    rows: Any,
    groups: np.ndarray | None = None,
    *,
    trace: float = 1.0,
    nonnegative_least_squares: bool = False,
    centered: bool = True,
    tol: float = 1e-3,
    max_epochs: int = 1000,
    n_jobs: int | None = None,
) -> list[LearnedKernel]:
    """Weights of features, or of `groups` as in `learn_weights`, by alignment with the targets, for each problem.

    With K_k the matrix of feature or group k, centred unless `centered` is False, and <., .> the sum of products of entries:
    its share of the trace is proportional to the alignment <K_k, yy'> / (|K_k| |yy'|); or, with `nonnegative_least_squares`,
    mu >= 0 minimises 1/2 |sum_k mu_k K_k - yy'|^2, scaled to the trace. In the `LearnedKernel` returned, u and coefficients are
    empty; the report states the minimum, with its gap as proof. Examples of C = 0 take no part; other values of C, and the
    loss, have no effect.

    Examples
    --------
    >>> import treille
    >>> from treille.solvers.problem import SquaredError
    >>> rows = treille.Features(treille.kernels.NGram(1)).fit_rows(["aab", "abc", "bbc", "bc"])
    >>> problem = Problem(SquaredError(), np.array([3.0, 2.0, 1.0, 0.0]), np.ones(4))
    >>> align_weights(problem, rows)[0].shares.round(2).tolist()
    [0.04, 0.39, 0.57]
    >>> align_weights(problem, rows, nonnegative_least_squares=True)[0].shares.round(2).tolist()
    [0.0, 0.0, 1.0]
    """
    begun = time.perf_counter()
    check_learning(problem, rows, trace, "optimal")
    groups = checked_groups(groups, rows.n_features)
    if len(rows.problems) > 1:
        options: dict[str, Any] = {"trace": trace, "centered": centered, "tol": tol, "max_epochs": max_epochs}
        options |= {"nonnegative_least_squares": nonnegative_least_squares, "n_jobs": n_jobs}
        each = enumerate(rows.problems)
        return [align_weights(problem.only(k), own, groups, **options)[0] for k, own in each]
    matrix = having(rows, StoredRows).to_csr(effective_n_jobs(n_jobs))
    taking_part = problem.C > 0
    part = matrix if taking_part.all() else matrix[taking_part]
    kernels = FeatureKernels(part, centered) if groups is None else GroupKernels(part, groups, centered)
    squares = np.bincount(matrix.indices, matrix.data**2, minlength=matrix.shape[1])
    squares = squares if groups is None else np.bincount(groups[groups >= 0], squares[groups >= 0])
    norms = np.sqrt(squares)  # |X_k|, or for a group the root of the trace of its kernel matrix
    found = []
    for k in range(problem.n_problems):
        y = problem.y(k)[taking_part]
        y = y - y.mean() if centered and len(y) else y
        if nonnegative_least_squares:
            mu, primal, dual, epochs, status = least_squares(kernels, y, tol, max_epochs)
            shares = mu * norms**2
        else:
            shares = quotient(kernels.targets(y), kernels.sizes)
            primal, dual, epochs, status = 0.0, 0.0, 1, "converged"
        shares = shares / shares.sum() if shares.any() else shares
        report = Report(primal, dual, epochs, time.perf_counter() - begun, status, seed=0)
        weights = weights_of(shares, norms, trace, groups)
        found.append(LearnedKernel(np.empty(0), shares, weights, 0.0, np.empty(0), np.flatnonzero(shares), report))
    check_outcome(Report.combined([each.report for each in found]), tol)
    return found


def least_squares(
    kernels: "FeatureKernels | GroupKernels", y: np.ndarray, tol: float, max_epochs: int
) -> tuple[np.ndarray, float, float, int, str]:
    """mu >= 0 of least 1/2 |sum_k mu_k K_k - yy'|^2, by coordinate descent on a working set that grows by the largest violations.

    With matrices of trace 1, weights v, residual R = yy' - sum_k v_k K_k and e = max(0, max_k <K_k, R>), R - e I is feasible for
    the dual, max <T, yy'> - 1/2 |T|^2 over T with all <K_k, T> <= 0, and so are its multiples. One epoch
    is one pass over all kernels.
    """
    inverse = quotient(1.0, kernels.traces)
    r, square = inverse * kernels.targets(y), float(y @ y)
    v, working, dual = np.zeros(len(r)), np.empty(0, np.int64), 0.0
    for epoch in range(1, max_epochs + 1):
        descent = r - inverse * kernels.combined(working, (inverse * v)[working])
        fit, norm = float(r @ v), float(square**2 - v @ (r + descent))  # norm: |R|^2
        e = max(0.0, float(descent.max(initial=0.0)))
        along, size = square**2 - fit - e * square, norm - 2 * e * (square - v.sum()) + e**2 * kernels.rank
        if along > 0 and size > 0:
            dual = max(dual, 0.5 * along**2 / size)
        primal = 0.5 * max(0.0, norm)
        if primal - dual <= tol * primal or primal <= 1e-15 * square**2:
            return inverse * v, primal, min(dual, primal), epoch, "converged"
        others = np.setdiff1d(np.argsort(-descent, kind="stable")[:MOST_ADDED], working)
        working = np.concatenate([working[v[working] > 0], others[descent[others] > 0]])
        Q = kernels.products(working) * np.outer(inverse[working], inverse[working])
        inside = v[working]
        descend(Q, r[working] - Q @ inside, inside)
        v[:] = 0.0
        v[working] = inside
    return inverse * v, primal, dual, epoch, "max_epochs"


def descend(Q: np.ndarray, g: np.ndarray, v: np.ndarray) -> None:
    """Minimises 1/2 v'Qv - r'v over v >= 0 in place, g = r - Qv, to 1 % of the violation of the conditions."""

    def violation() -> float:
        return float(np.where(v > 0, np.abs(g), g).max(initial=0.0))

    diagonal, goal = Q.diagonal().copy(), 0.01 * violation()
    for _ in range(1000):
        if violation() <= goal:
            return
        for j in range(len(v)):
            change = max(0.0, v[j] + g[j] / diagonal[j]) - v[j]
            if change != 0:
                v[j] += change
                g -= change * Q[j]


class FeatureKernels:
    """One matrix K_k = X_k X_k' per feature, centred or not; none is formed."""

    def __init__(self, X: sp.csr_matrix, centered: bool):
        n, p = X.shape
        self.X, self.columns, self.transposed = X, X.tocsc(), X.T.tocsr()
        squares = np.bincount(X.indices, X.data**2, minlength=p)
        sums = np.bincount(X.indices, X.data, minlength=p)
        self.means = sums / n if centered and n else np.zeros(p)
        traces = squares - n * self.means**2
        self.traces = np.where(traces > 1e-12 * squares, traces, 0.0)  # a constant column is 0 when centred
        self.sizes = self.traces  # |K_k|
        self.rank = n - centered  # of the projection that centres

    def targets(self, y: np.ndarray) -> np.ndarray:
        """<K_k, yy'> of all k."""
        return (self.transposed @ y - self.means * y.sum()) ** 2

    def combined(self, ids: np.ndarray, mu: np.ndarray) -> np.ndarray:
        """<K_k, sum_j mu_j K_j> of all k, for j in ids."""
        total, step = np.zeros(self.X.shape[1]), max(1, BLOCK // max(self.X.shape))
        for first in range(0, len(ids), step):
            part = ids[first : first + step]
            dense = self.columns[:, part].toarray()
            inner = self.transposed @ dense - len(dense) * np.outer(self.means, self.means[part])
            total += inner**2 @ mu[first : first + step]
        return total

    def products(self, ids: np.ndarray) -> np.ndarray:
        """<K_j, K_k> for j and k in ids."""
        part, means = self.columns[:, ids], self.means[ids]
        return ((part.T @ part).toarray() - part.shape[0] * np.outer(means, means)) ** 2


class GroupKernels:
    """One matrix per group of features, all in memory; it has the methods of `FeatureKernels`."""

    def __init__(self, X: sp.csr_matrix, groups: np.ndarray, centered: bool):
        n, n_groups, columns = X.shape[0], int(groups.max(initial=-1)) + 1, X.tocsc()
        check_memory(n_groups * n, n)
        self.matrices = np.zeros((n_groups, n, n))
        for g in range(n_groups):
            part = columns[:, np.flatnonzero(groups == g)]
            K = (part @ part.T).toarray()
            if centered:
                K -= K.mean(axis=0)
                K -= K.mean(axis=1)[:, None]
            self.matrices[g] = K
        flat = self.matrices.reshape(n_groups, -1)
        self.gram = flat @ flat.T
        self.traces = np.trace(self.matrices, axis1=1, axis2=2)
        self.sizes = np.sqrt(self.gram.diagonal())
        self.rank = n - centered

    def targets(self, y: np.ndarray) -> np.ndarray:
        return np.array([y @ K @ y for K in self.matrices])

    def combined(self, ids: np.ndarray, mu: np.ndarray) -> np.ndarray:
        return self.gram[:, ids] @ mu

    def products(self, ids: np.ndarray) -> np.ndarray:
        return self.gram[np.ix_(ids, ids)]
