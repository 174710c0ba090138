"""Support vector machines on structured data: exact, in time linear in the data, with a scikit-learn API.

>>> import treille
>>> from treille.kernels import NGram
>>> texts, labels = ["to be or not", "be to not or", "01101", "10110"], ["text", "text", "bits", "bits"]
>>> model = treille.SVC(kernel=NGram(3), C=1.0).fit(texts, labels)
>>> model.predict(["not to be", "111011"]).tolist()
['text', 'bits']
"""

from importlib.metadata import version

from treille import automata, estimators, kernels, learning, solvers, tagging, trees
from treille.automata import Fst
from treille.data import Batch, Graphs, Lattices, Strings, Trees, Vectors, dna, protein, reverse_complement
from treille.estimators import *  # noqa: F403  # its __all__ is the list of estimators
from treille.io.errors import InputError
from treille.registry import register
from treille.solvers import ConvergenceWarning, Report

__version__ = version("treille")
__all__ = [
    "Batch",
    "ConvergenceWarning",
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
