"""Explanations: what in an example made the decision."""

from treille.explain.explanation import Explanation
from treille.explain.support import SupportExample

__all__ = ["Explanation", "SupportExample"]
