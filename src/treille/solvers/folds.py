"""Folds of cross-validation on one space: many values of C, and the outputs of held-out examples."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treille.solvers.problem import Problem
from treille.solvers.report import ConvergenceWarning, Solution

# The outputs and gaps of each fold for one C, and the start for the next larger C.
Solved = tuple[list[np.ndarray], list[float], Any]


@dataclass(frozen=True, eq=False)
class Fold:
    """A problem on all examples in which those held out have C = 0, so that rows are shared by all folds."""

    problem: Problem  # for C = 1: its C are the weights of the examples
    held_out: np.ndarray


@dataclass(frozen=True, eq=False)
class FoldOutputs:
    """The outputs and gaps that cross-validation needs."""

    outputs: list[np.ndarray]  # of each fold: by C, held-out example and function
    gaps: np.ndarray  # relative, by C and fold; the largest of all functions
    seconds: np.ndarray  # by C and fold

    @classmethod
    def joined(cls, each: "Sequence[FoldOutputs]") -> "FoldOutputs":
        """Joins the outputs of single folds."""
        outputs = [one for folds in each for one in folds.outputs]
        return cls(outputs, np.hstack([f.gaps for f in each]), np.hstack([f.seconds for f in each]))


def solve_path(Cs: Sequence[float] | np.ndarray, solve: Callable[[int, Any], Solved]) -> FoldOutputs:
    """The outputs of one or more folds: ``solve(c, start)`` for all values of C, from small to large."""
    outputs, gaps, seconds, start = list[Any](Cs), list[Any](Cs), list[Any](Cs), None
    for c in np.argsort(Cs, kind="stable").tolist():
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # gaps are reported for all folds together: the largest
            outputs[c], gaps[c], start = solve(c, start)
        seconds[c] = [(time.perf_counter() - begun) / len(gaps[c])] * len(gaps[c])
    return FoldOutputs([np.stack(own) for own in zip(*outputs, strict=True)], np.array(gaps), np.array(seconds))


def held_out_outputs(space: Any, solution: Solution, fold: Fold) -> np.ndarray:
    """The outputs for the held-out examples of a fold: one row per example, one column per function."""
    weighted = solution.weights is not None
    values = space.matvec(solution.weights) if weighted else space.product(solution.coefficients)
    return values[fold.held_out] + solution.intercept
