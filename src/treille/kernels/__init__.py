"""Kernels: the parameters of a similarity. One file per family; base.py is the whole contract."""

from treille.kernels.all_substrings import AllSubstrings
from treille.kernels.base import FeatureMap, Kernel, Product
from treille.kernels.given import FromFunction, Precomputed
from treille.kernels.ngram import NGram
from treille.kernels.normalized import Normalized
from treille.kernels.subsequence import Subsequence

__all__ = [
    "AllSubstrings",
    "FeatureMap",
    "FromFunction",
    "Kernel",
    "NGram",
    "Normalized",
    "Precomputed",
    "Product",
    "Subsequence",
]
