"""Batches: many structured examples packed in flat arrays, checked once at the door, then immutable."""

from treille.data.base import Batch
from treille.data.dense_rows import DenseRows
from treille.data.objects import KernelValues, Objects
from treille.data.rows import RowProducts, Rows
from treille.data.strings import Strings

__all__ = ["Batch", "DenseRows", "KernelValues", "Objects", "RowProducts", "Rows", "Strings"]
