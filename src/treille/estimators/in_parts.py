"""Which estimators, problems and solvers take data in parts, see `treille.scale.Parts`."""

from typing import Any

from treille.estimators.plan import SOLVERS
from treille.io.errors import InputError
from treille.kernels.callable import as_kernel
from treille.scale.parts import Parts
from treille.solvers.problem import Loss
from treille.solvers.solver import supports


def refuse_parts(X: Any, estimator: Any, instead: str) -> None:
    """Refuses data in parts, for an estimator that needs all examples at once."""
    if isinstance(X, Parts):
        raise InputError(f"{type(estimator).__name__} needs all examples in memory, and these are in parts: {instead}")


def check_in_parts(estimator: Any, loss: type[Loss], space: Any, where: str) -> None:
    """Refuses, before anything is read, what cannot be trained on data in parts, whose space is `space`."""
    kernel = as_kernel(estimator.kernel)
    if kernel is not None:
        kernel.check_parts()
    if estimator.space != "auto":
        raise InputError(
            f"space is {estimator.space!r}, which needs all examples in memory: use 'auto' for data {where}"
        )
    given, intercept = estimator.solver, estimator.fit_intercept
    offered: list[Any] = list(SOLVERS)
    known = [each for each in offered if space in each.spaces and issubclass(loss, each.losses)]
    solvers = known if isinstance(given, str) else [given]
    if not any(space in each.spaces for each in solvers):
        names = " or ".join(f"{each.__name__}()" for each in known)
        raise InputError(f"solver is {given!r}, which needs all rows in memory: use 'auto' or {names} for data {where}")
    if not any(supports(each, loss, intercept) for each in solvers):
        kinds = " or ".join(dict.fromkeys(repr(each) for solver in solvers for each in solver.intercepts))
        raise InputError(
            f"fit_intercept is {intercept!r}, which needs all examples in memory: use {kinds} for data {where}"
        )
