"""The common base of graph kernels: reading examples, and which labels count."""

from typing import Any

from treille.data import Graphs
from treille.data.graphs import Labels
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
