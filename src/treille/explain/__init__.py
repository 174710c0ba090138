"""Explanations: what in an example made the decision."""

from treille.explain.explanation import Explanation
from treille.explain.fragments import HeavyFragment
from treille.explain.merged import MergedFeature
from treille.explain.support import SupportExample

__all__ = ["Explanation", "HeavyFragment", "MergedFeature", "SupportExample"]
