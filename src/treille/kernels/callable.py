"""Python functions as kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np

from treille.data import Objects
from treille.io.errors import InputError
from treille.kernels.base import Kernel
from treille.kernels.precomputed import Precomputed, check_symmetric
from treille.kernels.reading import Reads


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
            found = np.asarray(self.function(two.items, three.items), dtype=np.float64)
            if found.shape == (2, 3):
                return True
        except Exception as error:  # it may be a function of two examples that fails for lists
            failed, found = error, None
        try:
            number = np.asarray(self.function(two[0], three[0]), dtype=np.float64)
        except Exception as error:
            if failed is None:
                raise InputError(_shapes(found)) from error
            raise InputError(
                f"the kernel function fails for lists of examples ({failed}) and for two examples ({error})"
            ) from error
        if number.ndim:
            raise InputError(_shapes(number if found is None else found))
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
