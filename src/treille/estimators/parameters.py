"""The parameters that estimators share. Each is declared here once, and only by keyword; `SVC` documents them."""

from dataclasses import dataclass
from typing import Any

from treille.solvers import Solver
from treille.spaces import Nystrom


@dataclass(eq=False, repr=False, kw_only=True)
class TrainingParameters:
    """Parameters of every estimator."""

    max_epochs: int = 1000
    n_jobs: int | None = None
    verbose: int = 0


@dataclass(eq=False, repr=False, kw_only=True)
class SolverParameters(TrainingParameters):
    """Parameters of estimators that are trained to a duality gap."""

    tol: float = 1e-3
    solver: str | Solver = "auto"


@dataclass(eq=False, repr=False, kw_only=True)
class MachineParameters(SolverParameters):
    """Parameters of estimators for every space and kind of intercept."""

    fit_intercept: bool | str = True
    space: str | Nystrom = "auto"


@dataclass(eq=False, repr=False, kw_only=True)
class SeededParameters(MachineParameters):
    """Parameters of estimators whose solvers visit the examples in random order."""

    random_state: int = 0


@dataclass(eq=False, repr=False, kw_only=True)
class ClassifierParameters(SeededParameters):
    """Parameters of classifiers."""

    class_weight: dict[Any, float] | str | None = None
