"""Kernel learning: weights of features, or of groups of features, that suit a problem."""

from treille.learning.alignment import align_weights
from treille.learning.risk import LearnedKernel, learn_weights

__all__ = ["LearnedKernel", "align_weights", "learn_weights"]
