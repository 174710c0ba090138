"""Solvers: optimisation algorithms. Each states the space it needs, and returns a solution with its proof."""

from treille.solvers.cutting_plane import CuttingPlane
from treille.solvers.dual_cd import DualCD
from treille.solvers.report import ConvergenceWarning, Report, Solution
from treille.solvers.smo import SMO

__all__ = ["SMO", "ConvergenceWarning", "CuttingPlane", "DualCD", "Report", "Solution"]
