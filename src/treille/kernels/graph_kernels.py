"""The common base of graph kernels: reading examples, and which labels count."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from treille.data import Graphs
from treille.data.graphs import Labels
from treille.features import FeatureMap
from treille.io.errors import InputError
from treille.kernels.base import Kernel
from treille.kernels.reading import Reads


class GraphKernel(Kernel):
    """A kernel of graphs."""

    reads = Reads((Graphs,))


def check_labels(labels: Any) -> Labels:
    """Which labels count: those of nodes and edges ("all"), of either, or none."""
    if not isinstance(labels, str) or labels not in ("all", "nodes", "edges", "none"):
        raise InputError(f"labels is {labels!r}, expected 'all', 'nodes', 'edges' or 'none'")
    return labels  # type: ignore[return-value]


class NodeLabelledMap(FeatureMap):
    """Features of graphs that may be given other names of the labels of nodes."""

    lacking = "do not merge within WeisfeilerLehman: fit on all examples"

    alphabet: Any  # the names of the labels

    def relabelled(self, rename: Callable[[Any], Any]) -> FeatureMap:
        """The same features of graphs whose labels of nodes have other names: those that `rename` gives an alphabet."""
        changed = copy(self)
        changed.alphabet = rename(self.alphabet)
        return changed
