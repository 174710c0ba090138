"""Spaces: a kernel applied to a batch, and what a solver may ask of it."""

from treille.spaces.gram import GramSpace, ProductSpace
from treille.spaces.nystrom import Nystrom, NystromSpace
from treille.spaces.parts import Cluster, ClusterSpace, PartsSpace
from treille.spaces.source import MemorySource, Source
from treille.spaces.space import RowsSpace, Space

__all__ = [
    "Cluster",
    "ClusterSpace",
    "GramSpace",
    "MemorySource",
    "Nystrom",
    "NystromSpace",
    "PartsSpace",
    "ProductSpace",
    "RowsSpace",
    "Source",
    "Space",
]
