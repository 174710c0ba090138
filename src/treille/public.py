"""The public names of treille. They are imported when the first of them is used, see `treille`."""

from importlib.metadata import version

from treille import automata, estimators, kernels, learning, solvers, tagging, trees
from treille.automata import Fst
from treille.data import Batch, Graphs, Lattices, Strings, Trees, Vectors, dna, protein, reverse_complement
from treille.estimators import *  # noqa: F403  # its __all__ is the list of estimators
from treille.io.errors import DataWarning, InputError
from treille.registry import register
from treille.solvers import ConvergenceWarning, Report

__version__ = version("treille")
__all__ = [
    "Batch",
    "ConvergenceWarning",
    "DataWarning",
    "Fst",
    "Graphs",
    "InputError",
    "Lattices",
    "Report",
    "Strings",
    "Trees",
    "Vectors",
    "automata",
    "dna",
    "kernels",
    "learning",
    "protein",
    "register",
    "reverse_complement",
    "solvers",
    "tagging",
    "trees",
]
__all__ += estimators.__all__
