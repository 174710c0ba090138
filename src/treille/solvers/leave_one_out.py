"""Leave-one-out predictions of ridge regression in closed form, for many alphas from one eigen-decomposition.

With sample weights s, D = diag(sqrt(s)) and t = D y, and centred by s where the intercept is free, the fit minimises
|t - D X w|^2 + alpha |w|^2. Its residuals are r = alpha (M + alpha)^-1 t with M = D X X' D, and its leverages

    1 - h_i = alpha [(M + alpha)^-1]_ii  (minus s_i / sum(s) with a free intercept).

The residual of example i in the fit without it is r_i / (1 - h_i): exact, since the fit is linear in y.
O(m^3) once and O(n m) per alpha, where m is the smaller of the numbers of examples and of features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treille.features import MatrixRows, StoredRows
from treille.features.abilities import having
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import check_memory
from treille.spaces import GramSpace, RowsSpace


def leave_one_out(
    space: Any,
    y: np.ndarray,
    weights: np.ndarray,
    alphas: Sequence[float],
    intercept: bool | str,
    n_jobs: int | None = None,
) -> np.ndarray:
    """The prediction for each example by the fit on all others: by alpha, example and target.

    As in `Ridge`, the regularised intercept (True) is learned relative to the mean of the targets of those others.

    >>> from treille.kernels import Linear
    >>> space = RowsSpace.build(Linear(), Linear().batch([[1.0], [2.0], [3.0]]))
    >>> leave_one_out(space, np.array([[1.0], [2.0], [4.0]]), np.ones(3), [1e-9], "free").round(3).ravel().tolist()
    [0.0, 2.5, 3.0]
    """
    some = np.flatnonzero(weights > 0)
    if len(some) < 2:
        raise InputError(f"leave-one-out needs at least two examples with weight, found n_samples = {len(some)}")
    s = weights[some]
    root, share = np.sqrt(s)[:, None], s[:, None] / s.sum()
    free, constant = intercept == "free", intercept is True
    basis, values = _spectrum(space, some, root, share if free else None, constant, n_jobs)
    own = y[some]
    mean = (share * own).sum(axis=0)
    # Targets, and for a regularised intercept the constant 1: the mean of the others is subtracted after the fact.
    target = root * (own - mean if free else np.hstack([own, np.ones((len(some), 1))]) if constant else own)
    found = np.empty((len(alphas), *y.shape))
    for a, alpha in enumerate(alphas):
        residual, rest = _residuals(basis, values, target, alpha)
        rest = rest - share[:, 0] * free
        left_out = (target - residual / rest[:, None]) / root
        if constant:
            others = (s @ own - s[:, None] * own) / (s.sum() - s[:, None])
            predicted = others + left_out[:, :-1] - others * left_out[:, -1:]
        else:
            predicted = left_out + mean * free
        if len(some) < len(y):  # examples without weight: the fit on all, which does not use them
            found[a] = _fitted(space, some, residual / alpha, root, share, mean, intercept, own)
        found[a, some] = predicted
    return found


def _residuals(
    basis: np.ndarray, values: np.ndarray, target: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """r, and 1 - h without the part of a free intercept. `basis` has orthonormal columns, those of eigenvectors of M."""
    shrunk = values / (values + alpha)
    residual = target - basis @ (shrunk[:, None] * (basis.T @ target))
    if basis.shape[0] == basis.shape[1]:  # complete: no difference of nearly equal numbers
        kept = alpha / (values + alpha)
        return basis @ (kept[:, None] * (basis.T @ target)), (basis**2) @ kept
    return residual, 1 - (basis**2) @ shrunk


def _spectrum(
    space: Any, some: np.ndarray, root: np.ndarray, share: np.ndarray | None, constant: bool, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvectors and eigenvalues of M = D X X' D, from M or from the smaller matrix X' D D X."""
    threads, n = effective_n_jobs(n_jobs), len(some)
    if isinstance(space, RowsSpace) and space.n_features + constant < n:
        check_memory(n, space.n_features + constant)
        X = having(space.rows, StoredRows).to_csr(threads)[some].toarray()
        X = np.hstack([X, np.ones((n, 1))]) if constant else X
        X = root * (X if share is None else X - (share * X).sum(axis=0))
        values, vectors = np.linalg.eigh(X.T @ X)
        kept = values > max(values[-1], 0.0) * len(values) * np.finfo(float).eps
        return X @ vectors[:, kept] / np.sqrt(values[kept]), values[kept]
    check_memory(n, 3 * n)
    K = _matrix(space, threads)[np.ix_(some, some)] + float(constant)
    if share is not None:
        K = K - (share * K).sum(axis=0)
        K = K - (K * share[:, 0]).sum(axis=1)[:, None]
    values, vectors = np.linalg.eigh(root * K * root.T)
    return vectors, np.maximum(values, 0.0)


def _matrix(space: Any, threads: int) -> np.ndarray:
    if isinstance(space, RowsSpace):
        return having(space.rows, MatrixRows).gram(None, threads)
    return space.matrix() if isinstance(space, GramSpace) else space.product(np.eye(len(space)))


def _fitted(
    space: Any,
    some: np.ndarray,
    u: np.ndarray,
    root: np.ndarray,
    share: np.ndarray,
    mean: np.ndarray,
    intercept: bool | str,
    own: np.ndarray,
) -> np.ndarray:
    """The predictions of the fit on all examples, for all of them."""
    beta = root * u
    if intercept == "free":
        beta = beta - share * beta.sum(axis=0)
    if intercept is True:  # the fit to y minus its mean, from those to y and to 1
        beta = beta[:, :-1] - mean * beta[:, -1:]
    whole = np.zeros((len(space), beta.shape[1]))
    whole[some] = beta
    values = space.matrix() @ whole if isinstance(space, GramSpace) else space.product(whole)
    if intercept is True:
        return values + beta.sum(axis=0) + mean
    return values + (mean - (share * values[some]).sum(axis=0) if intercept == "free" else 0.0)
