"""Laws of kernels, solvers and estimators, as public checks for your classes."""

from treille.testing.estimator_checks import check_estimator
from treille.testing.kernel_checks import check_kernel
from treille.testing.solver_checks import check_solver

__all__ = ["check_estimator", "check_kernel", "check_solver"]
