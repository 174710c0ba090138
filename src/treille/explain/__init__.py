"""Explanations: what in an example made the decision."""

from treille.explain.explanation import Explanation

__all__ = ["Explanation"]
