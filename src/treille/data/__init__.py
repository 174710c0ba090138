"""Batches: many structured examples packed in flat arrays, validated on construction, then immutable."""

from treille.data.base import Batch
from treille.data.graph import Graph
from treille.data.graphs import Graphs
from treille.data.lattice_summary import LatticeReport
from treille.data.lattices import Lattices
from treille.data.objects import KernelValues, Objects
from treille.data.sequences import dna, protein, reverse_complement
from treille.data.strings import Strings
from treille.data.table import Table, Texts
from treille.data.tree import Tree
from treille.data.trees import Trees
from treille.data.vectors import Vectors
from treille.data.xbw import XBW

__all__ = [
    "XBW",
    "Batch",
    "Graph",
    "Graphs",
    "KernelValues",
    "LatticeReport",
    "Lattices",
    "Objects",
    "Strings",
    "Table",
    "Texts",
    "Tree",
    "Trees",
    "Vectors",
    "dna",
    "protein",
    "reverse_complement",
]
