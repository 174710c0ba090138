"""Solvers: optimisation algorithms. Each states the space it needs, and returns a solution with its proof."""

from treille.solvers.dual_cd import DualCD
from treille.solvers.report import ConvergenceWarning, Report, Solution

__all__ = ["ConvergenceWarning", "DualCD", "Report", "Solution"]
