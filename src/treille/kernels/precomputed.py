"""Kernel values computed elsewhere: matrices with checks, and Python functions."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from treille.data import KernelValues, Objects
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
        return left.values if np.array_equal(right.ids, np.arange(right.n_columns)) else left.values[:, right.ids]

    def diagonal(self, batch: KernelValues, n_jobs: int | None = None) -> np.ndarray:
        if len(batch) > batch.n_columns:
            raise InputError(f"the kernel matrix is {len(batch)} by {batch.n_columns}, expected a square one")
        return batch.values[np.arange(len(batch)), batch.ids]

    def normalized(self) -> Any:
        """Refused: the norms of new examples are not in the matrix."""
        raise InputError("a precomputed kernel cannot be normalized here: k(x, x) of new examples is not in the matrix")


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


class CallableKernel(Kernel):
    """A Python function as a kernel: k(X, Y) that returns a matrix, or k(x, y) that returns a number.

    The form is detected by calling it on two and three examples.

    >>> overlap = CallableKernel(lambda x, y: len(set(x) & set(y)))
    >>> overlap(["ab", "bc", "cd"], ["abc"]).tolist()
    [[2.0], [2.0], [1.0]]
    >>> import numpy as np
    >>> CallableKernel(lambda X, Y: np.outer(X, Y))(np.array([1.0, 2.0])).tolist()
    [[1.0, 2.0], [2.0, 4.0]]
    """

    reads = Reads((Objects,))

    def __init__(self, function: Callable[[Any, Any], Any]):
        self.function = function

    def check(self) -> None:
        if not callable(self.function):
            raise InputError(f"function is {self.function!r}, expected a function k(X, Y) or k(x, y)")

    def gram(self, left: Objects, right: Objects | None = None, n_jobs: int | None = None) -> np.ndarray:
        other = left if right is None else right
        if len(left) == 0 or len(other) == 0:
            return np.zeros((len(left), len(other)))
        if self._returns_matrices(left, other):
            K = np.array(self.function(left.items, other.items), dtype=np.float64)  # the function may keep its own
            if K.shape != (len(left), len(other)):
                raise InputError(
                    f"the kernel function returned the shape {K.shape} for {len(left)} and {len(other)} examples, "
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
                f"the kernel function returned {K[i, j]} for {where}{_short(left[i])} and {_short(other[j])}, "
                "expected a finite number"
            )
        if right is None:
            check_symmetric(K)
            K = 0.5 * (K + K.T)
        return K

    def diagonal(self, batch: Objects, n_jobs: int | None = None) -> np.ndarray:
        some = 64 if len(batch) and self._returns_matrices(batch, batch) else 1
        parts = [self.gram(part, part).diagonal() for part in (batch[i : i + some] for i in range(0, len(batch), some))]
        return np.concatenate([np.empty(0), *parts])

    def spec(self) -> dict[str, Any]:
        """Refused: a model file contains no functions."""
        raise InputError(
            "a kernel that is a function cannot be saved to a model file, which contains no code: pickle the model, "
            "or compute the matrix yourself and use kernel='precomputed'"
        )

    def _returns_matrices(self, left: Any, right: Any) -> bool:
        """Calls it with two and three examples: only a matrix has that shape."""
        two, three = left[np.arange(2) % len(left)], right[np.arange(3) % len(right)]
        failed = None
        try:
            matrix = np.asarray(self.function(two.items, three.items), dtype=np.float64)
            if matrix.shape == (2, 3):
                return True
        except Exception as error:  # it may be a function of two examples that fails for lists
            failed, matrix = error, None
        try:
            number = np.asarray(self.function(two[0], three[0]), dtype=np.float64)
        except Exception as error:
            if failed is None:
                raise InputError(_shapes(matrix)) from error
            raise InputError(
                f"the kernel function fails for lists of examples ({failed}) and for two examples ({error})"
            ) from error
        if number.ndim:
            raise InputError(_shapes(number if matrix is None else matrix))
        return False


def _short(example: Any) -> str:
    shown = repr(example)
    return shown if len(shown) <= 40 else shown[:37] + "..."


def _shapes(found: Any) -> str:
    return f"the kernel function returned the shape {found.shape} for 2 and 3 examples, expected (2, 3), or a number for two"


def as_kernel(kernel: Any) -> Kernel | None:
    """The kernel for "precomputed", an expression such as "ngram(5)", a function, a kernel, or None, which stays None."""
    if kernel is None or isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel == "precomputed":
        return Precomputed()
    if isinstance(kernel, str):
        from treille.kernels.parse import parse_kernel

        return parse_kernel(kernel)
    if callable(kernel) and not isinstance(kernel, type):
        return CallableKernel(kernel)
    raise InputError(
        f"kernel is {kernel!r}, expected a kernel such as treille.kernels.NGram(5), an expression such as 'ngram(5)', "
        "'precomputed', a function, or None"
    )
