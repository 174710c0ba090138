"""Rows of numbers, validated as scikit-learn's estimators do, and the tags that say so."""

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import validate_data

from treille.data import Vectors
from treille.data.base import is_frame
from treille.io.errors import InputError
from treille.kernels import Kernel, Precomputed
from treille.kernels.precomputed import as_kernel
from treille.scikit_learn import BaseEstimator


class KernelInput(BaseEstimator):
    """An estimator whose parameter `kernel` says what it reads."""

    kernel: Any

    def _validated(self, X: Any, kernel: Kernel, reset: bool) -> Any:
        """Validates arrays of numbers as scikit-learn's estimators do, which also sets ``n_features_in_``."""
        if Vectors not in kernel.reads.kinds or not (hasattr(X, "__array__") or issparse(X)):
            return X
        if getattr(X, "ndim", 2) == 1 and X.dtype == object:  # a list of rows in another container
            return X
        try:
            # The batch reads a DataFrame itself, and names the column that is not of numbers.
            options: Any = {"skip_check_array": True} if is_frame(X) else {"accept_sparse": True, "dtype": np.float64}
            return validate_data(self, X, reset=reset, **options)
        except ValueError as error:
            raise InputError(str(error)) from None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            kernel = as_kernel(self.kernel)
        except InputError:  # `fit` will say so
            kernel = None
        numbers = kernel is not None and Vectors in kernel.reads.kinds
        tags.input_tags.two_d_array = tags.input_tags.sparse = numbers
        tags.input_tags.string = not numbers
        tags.input_tags.pairwise = isinstance(kernel, Precomputed)
        return tags
