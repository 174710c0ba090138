"""A problem as an estimator poses it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treille.solvers import Problem


@dataclass(frozen=True)
class Posed:
    """A problem, and what its solution means: attributes of the fitted estimator, and what is added to the functions found."""

    problem: Problem
    fitted: dict[str, Any] = field(default_factory=dict)
    shift: np.ndarray = field(default_factory=lambda: np.zeros(1))
