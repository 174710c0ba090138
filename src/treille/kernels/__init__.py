"""Kernels: the parameters of a similarity. One module per family; base.py is the complete contract."""

from treille.kernels.algebra import Constant, Power, Product, Scaled, Sum
from treille.kernels.balanced import Balanced
from treille.kernels.base import Kernel
from treille.kernels.centered import Centered
from treille.kernels.columns import Columns
from treille.kernels.graphlets import Graphlets
from treille.kernels.histograms import EdgeHistogram, NodeAttributes, VertexHistogram
from treille.kernels.linear import Linear
from treille.kernels.ngram import NGram
from treille.kernels.normalized import Normalized
from treille.kernels.patterns import Gappy, Mismatch, Wildcard
from treille.kernels.polynomial import Conjunctions, Polynomial
from treille.kernels.precomputed import CallableKernel, Precomputed
from treille.kernels.random_walk import RandomWalk
from treille.kernels.rational import Rational
from treille.kernels.reading import Reads
from treille.kernels.shortest_path import ShortestPath
from treille.kernels.subpath import Subpath
from treille.kernels.subsequence import Subsequence
from treille.kernels.suffix import AllSubstrings
from treille.kernels.tree_features import RootPaths, SubTree
from treille.kernels.tree_kernels import PartialTree, SubsetTree
from treille.kernels.walks import Walks
from treille.kernels.weighted import Weighted
from treille.kernels.weisfeiler_lehman import WeisfeilerLehman
from treille.kernels.windows import GappedKmer, WeightedDegree

__all__ = [
    "AllSubstrings",
    "Balanced",
    "CallableKernel",
    "Centered",
    "Columns",
    "Conjunctions",
    "Constant",
    "EdgeHistogram",
    "GappedKmer",
    "Gappy",
    "Graphlets",
    "Kernel",
    "Linear",
    "Mismatch",
    "NGram",
    "NodeAttributes",
    "Normalized",
    "PartialTree",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RandomWalk",
    "Rational",
    "Reads",
    "RootPaths",
    "Scaled",
    "ShortestPath",
    "SubTree",
    "Subpath",
    "Subsequence",
    "SubsetTree",
    "Sum",
    "VertexHistogram",
    "Walks",
    "Weighted",
    "WeightedDegree",
    "WeisfeilerLehman",
    "Wildcard",
]
