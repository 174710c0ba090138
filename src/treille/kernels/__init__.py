"""Kernels: the parameters of a similarity. One file per family; base.py is the whole contract."""

from treille.kernels.base import FeatureMap, Kernel
from treille.kernels.linear import Linear
from treille.kernels.ngram import NGram
from treille.kernels.normalized import Normalized

__all__ = ["FeatureMap", "Kernel", "Linear", "NGram", "Normalized"]
