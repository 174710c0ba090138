"""Data in parts: more than fits in memory, on disk or on the workers of a cluster."""

from treille.scale.cluster import LocalClusterWarning
from treille.scale.parts import Part, Parts

__all__ = ["LocalClusterWarning", "Part", "Parts"]
