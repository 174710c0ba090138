"""Solvers: optimisation algorithms. Each declares the spaces and problems it supports, and returns a solution with its proof."""

from treille.solvers.block_minimization import BlockMinimization
from treille.solvers.bundle_method import BundleMethod
from treille.solvers.cutting_plane import CuttingPlane
from treille.solvers.dual_cd import DualCD, GatheredDualCD
from treille.solvers.finite_newton import FiniteNewton
from treille.solvers.least_squares import Cholesky, ClusterGradients, ConjugateGradient, NormalEquations
from treille.solvers.perceptron import PerceptronSolver
from treille.solvers.problem import Problem
from treille.solvers.report import ConvergenceWarning, LongTrainingWarning, Report, Solution
from treille.solvers.smo import SMO
from treille.solvers.solver import Solver

__all__ = [
    "SMO",
    "BlockMinimization",
    "BundleMethod",
    "Cholesky",
    "ClusterGradients",
    "ConjugateGradient",
    "ConvergenceWarning",
    "CuttingPlane",
    "DualCD",
    "FiniteNewton",
    "GatheredDualCD",
    "LongTrainingWarning",
    "NormalEquations",
    "PerceptronSolver",
    "Problem",
    "Report",
    "Solution",
    "Solver",
]
