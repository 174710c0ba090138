"""Leave-one-out predictions of ridge regression in closed form, for many alphas from one eigen-decomposition.

With sample weights s, D = diag(sqrt(s)) and t = D y, and centred by s where the intercept is free, the fit minimises
|t - D X w|^2 + alpha |w|^2. Its residuals are r = alpha (M + alpha)^-1 t with M = D X X' D, and its leverages

    1 - h_i = alpha [(M + alpha)^-1]_ii  (minus s_i / sum(s) with a free intercept).

The residual of example i in the fit without it is r_i / (1 - h_i): exact, since the fit is linear in y.
O(m^3) once and O(n m) per alpha, where m is the smaller of the numbers of examples and of features.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from treille.features import StoredRows
from treille.features.abilities import having
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import check_memory
from treille.solvers.least_squares import ScaledTargets
from treille.solvers.problem import Problem, SquaredError
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
    s, own, constant = weights[some], y[some], intercept is True
    scaled = ScaledTargets(Problem(SquaredError(), own, 0.5 * s, intercept))
    basis, values = _spectrum(space, some, scaled, constant, n_jobs)
    # For a regularised intercept the constant 1 is a target, too: the mean of the others is subtracted after the fact.
    target = np.hstack([scaled.target, scaled.root]) if constant else scaled.target
    found = np.empty((len(alphas), *y.shape))
    for a, alpha in enumerate(alphas):
        residual, rest = _residuals(basis, values, target, alpha)
        left_out = (target - residual / (rest - scaled.share)[:, None]) / scaled.root
        if len(some) < len(y):  # examples without weight: the fit on all, which does not use them
            found[a] = _fitted(space, some, scaled.spread(residual / alpha), scaled, constant)
        if constant:
            others = (s @ own - s[:, None] * own) / (s.sum() - s[:, None])
            found[a, some] = others + left_out[:, :-1] - others * left_out[:, -1:]
        else:
            found[a, some] = left_out + scaled.mean(own)
    return found


def _residuals(
    basis: np.ndarray, values: np.ndarray, target: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """r, and 1 - h without the part of a free intercept. `basis` has orthonormal columns, those of eigenvectors of M."""
    if basis.shape[0] == basis.shape[1]:  # complete: no difference of nearly equal numbers
        kept = alpha / (values + alpha)
        return basis @ (kept[:, None] * (basis.T @ target)), (basis**2) @ kept
    shrunk = values / (values + alpha)
    return target - basis @ (shrunk[:, None] * (basis.T @ target)), 1 - (basis**2) @ shrunk


def _spectrum(
    space: Any, some: np.ndarray, scaled: ScaledTargets, constant: bool, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvectors and eigenvalues of M = D X X' D, from M or from the smaller matrix X' D D X."""
    threads, n = effective_n_jobs(n_jobs), len(some)
    if isinstance(space, RowsSpace) and space.n_features + constant < n:
        check_memory(n, space.n_features + constant)
        X = having(space.rows, StoredRows).to_csr(threads)[some].toarray()
        X = scaled.centred(np.hstack([X, np.ones((n, 1))]) if constant else X)
        values, vectors = np.linalg.eigh(X.T @ X)
        kept = values > max(values[-1], 0.0) * len(values) * np.finfo(float).eps
        return X @ vectors[:, kept] / np.sqrt(values[kept]), values[kept]
    check_memory(n, 3 * n)
    if isinstance(space, RowsSpace):
        K = space.rows.gram(None, threads)
    else:
        K = space.matrix() if isinstance(space, GramSpace) else space.product(np.eye(len(space)))
    values, vectors = np.linalg.eigh(scaled.centred(scaled.centred(K[np.ix_(some, some)] + float(constant)).T))
    return vectors, np.maximum(values, 0.0)


def _fitted(space: Any, some: np.ndarray, beta: np.ndarray, scaled: ScaledTargets, constant: bool) -> np.ndarray:
    """The predictions of the fit on all examples, for all of them."""
    mean = scaled.C @ scaled.y / scaled.C.sum()
    if constant:  # the fit to y minus its mean, from those to y and to 1
        beta = beta[:, :-1] - mean * beta[:, -1:]
    whole = np.zeros((len(space), beta.shape[1]))
    whole[some] = beta
    values = space.product(whole)
    return values + (beta.sum(axis=0) + mean if constant else scaled.intercept(values[some]))
