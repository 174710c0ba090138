"""Conjunctions of binary features: the polynomial kernel by explicit features, all of them or the frequent ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from treille.io.errors import InputError
from treille.kernels.linear import Linear
from treille.kernels.polynomial import Polynomial, conjunction_coefficients


class Conjunctions(Polynomial):
    """Stub: being written."""

    def __init__(self, degree: int = 2, min_support: int | float = 1, coef0: float = 1.0):
        self.degree = degree
        self.min_support = min_support
        self.coef0 = coef0


def conjunctions_of(kernel: Any, n_examples: int) -> tuple[np.ndarray, int]:
    """The squared values c_1, c_2, ... of conjunctions of 1, 2, ... features, and in how many of the examples they must occur."""
    if isinstance(kernel, Linear):
        return np.ones(1), 1
    if isinstance(kernel, Conjunctions):
        return conjunction_coefficients(kernel.degree, kernel.coef0)[1:], int(kernel.min_support)
    if isinstance(kernel, Polynomial):
        return conjunction_coefficients(kernel.degree, kernel.coef0)[1:], 1
    raise InputError(f"kernel is {kernel!r}, expected Linear, Polynomial or Conjunctions of the features of a token")
