"""Kernels: the parameters of a similarity. One file per family; base.py is the whole contract."""

from treille.kernels.base import FeatureMap, Kernel
from treille.kernels.gapped_kmer import GappedKmer
from treille.kernels.gappy import Gappy
from treille.kernels.mismatch import Mismatch
from treille.kernels.ngram import NGram
from treille.kernels.normalized import Normalized
from treille.kernels.weighted_degree import WeightedDegree
from treille.kernels.wildcard import Wildcard

__all__ = [
    "FeatureMap",
    "GappedKmer",
    "Gappy",
    "Kernel",
    "Mismatch",
    "NGram",
    "Normalized",
    "WeightedDegree",
    "Wildcard",
]
