"""Support vector machines on structured data: exact, in time linear in the data, with a scikit-learn API.

>>> import treille
>>> from treille.kernels import NGram
>>> texts, labels = ["to be or not", "be to not or", "01101", "10110"], ["text", "text", "bits", "bits"]
>>> model = treille.SVC(kernel=NGram(3), C=1.0).fit(texts, labels)
>>> model.predict(["not to be", "111011"]).tolist()
['text', 'bits']
"""

from importlib.metadata import version

from treille import automata, kernels, learning, solvers, tagging, trees
from treille.automata import Fst
from treille.data import Batch, Graphs, Lattices, Strings, Trees, Vectors, dna, protein, reverse_complement
from treille.estimators import (
    SVC,
    SVCCV,
    SVR,
    SVRCV,
    Features,
    LearnedRidge,
    LearnedRidgeCV,
    LearnedSVC,
    LearnedSVCCV,
    LogisticRegression,
    LogisticRegressionCV,
    OneClassSVM,
    Perceptron,
    Plan,
    Ridge,
    RidgeCV,
    Tagger,
    load,
)
from treille.io.errors import InputError
from treille.registry import register
from treille.solvers import ConvergenceWarning, Report

__version__ = version("treille")
__all__ = [
    "SVC",
    "SVCCV",
    "SVR",
    "SVRCV",
    "Batch",
    "ConvergenceWarning",
    "Features",
    "Fst",
    "Graphs",
    "InputError",
    "Lattices",
    "LearnedRidge",
    "LearnedRidgeCV",
    "LearnedSVC",
    "LearnedSVCCV",
    "LogisticRegression",
    "LogisticRegressionCV",
    "OneClassSVM",
    "Perceptron",
    "Plan",
    "Report",
    "Ridge",
    "RidgeCV",
    "Strings",
    "Tagger",
    "Trees",
    "Vectors",
    "automata",
    "dna",
    "kernels",
    "learning",
    "load",
    "protein",
    "register",
    "reverse_complement",
    "solvers",
    "tagging",
    "trees",
]
