"""Batches: many structured examples packed in flat arrays, checked once at the door, then immutable."""

from treille.data.base import Batch
from treille.data.rows import Rows
from treille.data.sequences import dna, protein, reverse_complement
from treille.data.strings import Strings
from treille.data.vectors import Vectors

__all__ = ["Batch", "Rows", "Strings", "Vectors", "dna", "protein", "reverse_complement"]
