"""Batches: many structured examples packed in flat arrays, validated on construction, then immutable."""

from treille.data.base import Batch
from treille.data.dense_rows import DenseRows
from treille.data.feature_strings import FeatureStrings
from treille.data.lattice_summary import LatticeReport
from treille.data.lattices import Lattices
from treille.data.objects import KernelValues, Objects
from treille.data.rows import FeatureRows, RowProducts, Rows
from treille.data.sequences import dna, protein, reverse_complement
from treille.data.side_by_side import CenteredRows, SideBySide
from treille.data.strings import Strings
from treille.data.table import Table
from treille.data.trees import Trees
from treille.data.vectors import Vectors
from treille.data.xbw import XBW
from treille.io.tree_parts import Tree

__all__ = [
    "XBW",
    "Batch",
    "CenteredRows",
    "DenseRows",
    "FeatureRows",
    "FeatureStrings",
    "KernelValues",
    "LatticeReport",
    "Lattices",
    "Objects",
    "RowProducts",
    "Rows",
    "SideBySide",
    "Strings",
    "Table",
    "Tree",
    "Trees",
    "Vectors",
    "dna",
    "protein",
    "reverse_complement",
]
