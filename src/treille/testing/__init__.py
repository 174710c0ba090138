"""Batteries of laws for kernels and estimators on structured examples. Public: run them on your own."""

from treille.testing.estimator_checks import check_estimator
from treille.testing.kernel_checks import check_kernel

__all__ = ["check_estimator", "check_kernel"]
