"""Explanations: which parts of an example made the decision."""

from treille.explain.explanation import Explanation, SupportExample
from treille.explain.fragments import HeavyFragment
from treille.explain.merged import MergedFeature
from treille.explain.tagged_sentence import Decision, TaggedSentence

__all__ = ["Decision", "Explanation", "HeavyFragment", "MergedFeature", "SupportExample", "TaggedSentence"]
