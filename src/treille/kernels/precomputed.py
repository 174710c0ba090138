"""Kernel matrices computed elsewhere, and checks of such matrices."""

import warnings
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from treille.data import KernelValues
from treille.io.errors import InputError
from treille.kernels.base import Kernel
from treille.kernels.reading import Reads

EXACT, STEPS = 1000, 10  # number of examples up to which all eigenvalues are computed; steps of Lanczos beyond
TILE = 256


class Precomputed(Kernel):
    """Values computed elsewhere: X is the square matrix of the training examples, then one row of n_train values per new example.

    >>> import treille
    >>> K = [[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [1.0, 1.0, 2.0]]
    >>> model = treille.SVC(kernel="precomputed").fit(K, ["x", "y", "x"])
    >>> model.predict([[2.0, 0.0, 1.0]]).tolist()
    ['x']
    """

    reads = Reads((KernelValues,))

    def gram(self, left: KernelValues, right: KernelValues | None = None, n_jobs: int | None = None) -> np.ndarray:
        if right is None:
            first = np.array_equal(left.ids, np.arange(len(left)))
            if first and len(left) != left.n_columns:
                raise InputError(
                    f"the kernel matrix is {len(left)} by {left.n_columns}, expected a square one: "
                    "one row and one column per training example"
                )
            own = left.values if first else left.values[:, left.ids]
            check_symmetric(own)
            return own
        if left.n_columns != right.n_columns:
            raise InputError(
                f"X has {left.n_columns} columns, expected {right.n_columns}: one per training example, in their order"
            )
        return left.values if _in_order(right) else left.values[:, right.ids]

    def diagonal(self, batch: KernelValues, n_jobs: int | None = None) -> np.ndarray:
        if len(batch) > batch.n_columns:
            raise InputError(f"the kernel matrix is {len(batch)} by {batch.n_columns}, expected a square one")
        return batch.values[np.arange(len(batch)), batch.ids]

    def normalized(self) -> Any:
        """Refused: the norms of new examples are not in the matrix."""
        raise InputError("a precomputed kernel cannot be normalized here: k(x, x) of new examples is not in the matrix")


def _in_order(batch: KernelValues) -> bool:
    return len(batch) == batch.n_columns and bool((batch.ids == np.arange(len(batch))).all())


def check_symmetric(K: np.ndarray) -> None:
    """Refuses a matrix that is not symmetric; warns if it is not positive semi-definite."""
    n = len(K)
    if n == 0:
        return
    scale = float(max(K.max(), -K.min()))
    for top in range(0, n, TILE):
        for left in range(top, n, TILE):
            tile, mirrored = K[top : top + TILE, left : left + TILE], K[left : left + TILE, top : top + TILE].T
            far = np.abs(tile - mirrored)
            if far.max() > 1e-6 * scale:
                at = np.unravel_index(np.argmax(far), far.shape)
                raise InputError(
                    f"the kernel matrix is not symmetric: k of examples {top + at[0]} and {left + at[1]} is {tile[at]}, "
                    f"but {mirrored[at]} in the opposite order"
                )
    smallest = smallest_eigenvalue(K)
    if smallest < -1e-7 * scale * np.sqrt(n):
        warnings.warn(
            f"the kernel matrix is not positive semi-definite: it has the eigenvalue {smallest:.3g}. Training "
            "terminates, but its solution may not be optimal, and the gap is no proof",
            UserWarning,
            stacklevel=3,
        )


def smallest_eigenvalue(K: np.ndarray) -> float:
    """The smallest eigenvalue of a symmetric matrix; for a large matrix an upper bound, from a few steps of Lanczos."""
    n = len(K)
    if n <= EXACT:
        return float(np.linalg.eigvalsh(K)[0])
    v, before, beta = np.random.default_rng(0).standard_normal(n), np.zeros(n), 0.0
    v /= np.linalg.norm(v)
    diagonal, beside = [], []
    for _ in range(STEPS):
        u = K @ v - beta * before
        diagonal.append(float(v @ u))
        u -= diagonal[-1] * v
        beta = float(np.linalg.norm(u))
        if beta <= 1e-12 * max(map(abs, diagonal)):
            break
        beside.append(beta)
        before, v = v, u / beta
    return float(eigvalsh_tridiagonal(diagonal, beside[: len(diagonal) - 1])[0])
