"""Kernels that come from outside: a matrix of values, or a function."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from treille.data import Batch, KernelValues, Objects
from treille.io.errors import InputError
from treille.kernels.base import Kernel

EXACT, STEPS = 1000, 10  # up to so many examples all eigenvalues are computed; of more, by so many steps of Lanczos
TILE = 256


class Precomputed(Kernel):
    """Values computed elsewhere: X is the square matrix of the training examples, then a row of n_train values for each new one.

    >>> import treille
    >>> K = [[2.0, 0.0, 1.0], [0.0, 2.0, 1.0], [1.0, 1.0, 2.0]]
    >>> model = treille.SVC(kernel="precomputed").fit(K, ["x", "y", "x"])
    >>> model.predict([[2.0, 0.0, 1.0]]).tolist()
    ['x']
    """

    def batch(self, X: Any, n_jobs: int | None = None) -> KernelValues:
        return X if isinstance(X, KernelValues) else KernelValues(X)

    def gram(self, left: Batch, right: Batch | None = None, n_jobs: int | None = None) -> np.ndarray:
        assert isinstance(left, KernelValues)
        if right is None:
            first = np.array_equal(left.ids, np.arange(len(left)))
            if first and len(left) != left.n_columns:
                raise InputError(
                    f"the kernel matrix is {len(left)} by {left.n_columns}, expected a square one: "
                    "the training examples with themselves"
                )
            own = left.values if first else left.values[:, left.ids]
            check_symmetric(own)
            return own
        assert isinstance(right, KernelValues)
        if left.n_columns != right.n_columns:
            raise InputError(
                f"X has {left.n_columns} columns, expected {right.n_columns}: one for each training example, in their order"
            )
        return left.values if _in_order(right) else left.values[:, right.ids]

    def diagonal(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        assert isinstance(batch, KernelValues)
        if len(batch) > batch.n_columns:
            raise InputError(f"the kernel matrix is {len(batch)} by {batch.n_columns}, expected a square one")
        return batch.values[np.arange(len(batch)), batch.ids]

    def normalized(self) -> Any:
        """Refused: the norms of new examples are not in the matrix."""
        raise InputError("a precomputed kernel cannot be normalized here: k(x, x) of new examples is not in the matrix")


class FromFunction(Kernel):
    """A Python function as a kernel: k(X, Y) that gives a matrix, or k(x, y) that gives a number. Which, is found out.

    >>> overlap = FromFunction(lambda x, y: len(set(x) & set(y)))
    >>> overlap(["ab", "bc", "cd"], ["abc"]).tolist()
    [[2.0], [2.0], [1.0]]
    >>> import numpy as np
    >>> FromFunction(lambda X, Y: np.outer(X, Y))(np.array([1.0, 2.0])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """

    def __init__(self, function: Callable[[Any, Any], Any]):
        self.function = function

    def check(self) -> None:
        if not callable(self.function):
            raise InputError(f"function is {self.function!r}, expected a function k(X, Y) or k(x, y)")

    def batch(self, X: Any, n_jobs: int | None = None) -> Objects:
        return X if isinstance(X, Objects) else Objects(X)

    def gram(self, left: Batch, right: Batch | None = None, n_jobs: int | None = None) -> np.ndarray:
        other = left if right is None else right
        if len(left) == 0 or len(other) == 0:
            return np.zeros((len(left), len(other)))
        assert isinstance(left, Objects)
        assert isinstance(other, Objects)
        if self._gives_matrices(left, other):
            K = np.asarray(self.function(left.items, other.items), dtype=np.float64)
            if K.shape != (len(left), len(other)):
                raise InputError(
                    f"the kernel function gave the shape {K.shape} for {len(left)} and {len(other)} examples, "
                    f"expected {(len(left), len(other))}"
                )
        else:
            K = np.empty((len(left), len(other)))
            for i, x in enumerate(left):
                for j in range(i if right is None else 0, len(other)):
                    K[i, j] = self.function(x, other[j])
                    if right is None:
                        K[j, i] = K[i, j]
        bad = ~np.isfinite(K)
        if bad.any():
            i, j = np.argwhere(bad)[0]
            where = f"examples {i} and {j}, " if right is None else ""
            raise InputError(
                f"the kernel function gave {K[i, j]} for {where}{_short(left[i])} and {_short(other[j])}, expected a finite number"
            )
        if right is None:
            check_symmetric(K)
            K = 0.5 * (K + K.T)
        return K

    def diagonal(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        some = 64 if len(batch) and self._gives_matrices(batch, batch) else 1
        parts = [self.gram(part, part).diagonal() for part in (batch[i : i + some] for i in range(0, len(batch), some))]
        return np.concatenate([np.empty(0), *parts])

    def spec(self) -> dict[str, Any]:
        """Refused: a model file holds no functions."""
        raise InputError(
            "a kernel that is a function cannot be written to a model file, which holds no code: pickle the model, "
            "or compute the matrix yourself and use kernel='precomputed'"
        )

    def _gives_matrices(self, left: Any, right: Any) -> bool:
        """Asks for two examples with three: nothing but a matrix has that shape."""
        two, three = left[np.arange(2) % len(left)], right[np.arange(3) % len(right)]
        failed = None
        try:
            found = np.asarray(self.function(two.items, three.items), dtype=np.float64)
            if found.shape == (2, 3):
                return True
        except Exception as error:  # it may be a function of two examples, which lists do not suit
            failed, found = error, None
        try:
            number = np.asarray(self.function(two[0], three[0]), dtype=np.float64)
        except Exception as error:
            if failed is None:
                raise InputError(_shapes(found)) from error
            raise InputError(
                f"the kernel function fails, given lists of examples ({failed}) and given two examples ({error})"
            ) from error
        if number.ndim:
            raise InputError(_shapes(number if found is None else found))
        return False


def _short(example: Any) -> str:
    shown = repr(example)
    return shown if len(shown) <= 40 else shown[:37] + "..."


def _shapes(found: Any) -> str:
    return f"the kernel function gave the shape {found.shape} for 2 and 3 examples, expected (2, 3); or a number for two examples"


def _in_order(batch: KernelValues) -> bool:
    return len(batch) == batch.n_columns and bool((batch.ids == np.arange(len(batch))).all())


def check_symmetric(K: np.ndarray) -> None:
    """Refuses a matrix that is not symmetric, saying where; warns where it is not positive semi-definite.

    >>> check_symmetric(np.array([[1.0, 0.5], [0.5, 1.0]]))
    """
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
                    f"the other way round {mirrored[at]}"
                )
    smallest = smallest_eigenvalue(K)
    if smallest < -1e-7 * scale * np.sqrt(n):
        warnings.warn(
            f"the kernel matrix is not positive semi-definite: it has the eigenvalue {smallest:.3g}. Training ends, but its "
            "answer need not be the best one, and the gap proves nothing",
            UserWarning,
            stacklevel=3,
        )


def smallest_eigenvalue(K: np.ndarray) -> float:
    """The smallest eigenvalue of a symmetric matrix; of a large one an upper bound, by some steps of Lanczos.

    >>> round(smallest_eigenvalue(np.array([[0.0, 1.0], [1.0, 0.0]])), 6)
    -1.0
    """
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
    T = np.diag(diagonal) + np.diag(beside[: len(diagonal) - 1], 1) + np.diag(beside[: len(diagonal) - 1], -1)
    return float(np.linalg.eigvalsh(T)[0])


def as_kernel(kernel: Any) -> Kernel | None:
    """What may stand for a kernel, as one: "precomputed", a function, a kernel; None stays None.

    >>> as_kernel("precomputed")
    Precomputed()
    """
    if kernel is None or isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel == "precomputed":
        return Precomputed()
    if callable(kernel) and not isinstance(kernel, type):
        return FromFunction(kernel)
    raise InputError(
        f"kernel is {kernel!r}, expected a kernel such as treille.kernels.NGram(5), 'precomputed', a function, or None"
    )
