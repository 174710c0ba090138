"""The tree fragments with the largest weights, for models with kernels of trees that have no explicit features."""

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from treille import _core
from treille.data import Batch, Trees
from treille.features.rows import inverse_norms
from treille.kernels import Kernel, Normalized, Scaled, SubsetTree
from treille.kernels.additive import Additive
from treille.kernels.tree_kernels import MatchedNodes

MOST_VISITED = 200_000_000  # occurrences of fragments in a search: some seconds
MOST_STORED = 1 << 24  # occurrences in memory, of 16 bytes each
CUT = 1  # the kind of a node, as the core numbers them


class HeavyFragment(NamedTuple):
    """A tree fragment in brackets, and its weight."""

    name: str
    weight: float


def has_fragments(kernel: Kernel, support: Batch) -> bool:
    """Returns whether the kernel is made of `SubsetTree` and `PartialTree`, so that `heavy_fragments` finds some."""
    return any(True for _ in _tree_terms(kernel, support, np.zeros((len(support), 1))))


def heavy_fragments(
    kernel: Kernel, support: Batch, coefficients: np.ndarray, count: int
) -> list[list[HeavyFragment]] | None:
    """For every column of coefficients, the fragments z with the largest positive weights sum_i coefficient_i phi_z(x_i).

    phi_z(x) is the value of z in the feature space of the kernel: k(x, y) = sum over z of phi_z(x) phi_z(y). For a normalised
    kernel it is divided by the norm. None for kernels that are not made of `SubsetTree` and `PartialTree`.
    """
    terms = list(_tree_terms(kernel, support, coefficients))
    if not terms:
        return None
    columns: list[list[HeavyFragment]] = [[] for _ in range(coefficients.shape[1])]
    ended = True
    for prefix, own, trees, beta in terms:
        marked = isinstance(own, SubsetTree) and (own.leaves or own.sigma < 1)
        for column, found in zip(beta.T, columns, strict=True):
            column = np.ascontiguousarray(column, np.float64)
            heavy, complete = _core.heavy_fragments(trees.arrays, own.rule(), column, count, MOST_VISITED, MOST_STORED)
            ended = ended and complete
            found += [HeavyFragment(prefix + _fragment_name(trees.alphabet, marked, *nodes), w) for w, *nodes in heavy]
    if not ended:
        warnings.warn(
            f"the search for fragments was stopped after {MOST_VISITED:,} occurrences: others may weigh more than those found; "
            "use a smaller count, or a kernel with a smaller decay",
            UserWarning,
            stacklevel=3,
        )
    return [sorted(found, key=lambda one: -one.weight)[:count] for found in columns]


def _tree_terms(
    kernel: Kernel, support: Batch, coefficients: np.ndarray, prefix: str = ""
) -> Iterator[tuple[str, MatchedNodes, Trees, np.ndarray]]:
    """The kernels with fragments in a kernel, the trees that they read, and the coefficients of these."""
    if isinstance(kernel, MatchedNodes) and isinstance(support, Trees):
        yield prefix, kernel, support, coefficients
    elif isinstance(kernel, Normalized):
        inside = kernel.inside()
        if any(_tree_terms(inside, support, coefficients)):
            norms = inverse_norms(inside.diagonal(support))
            yield from _tree_terms(inside, support, norms[:, None] * coefficients, prefix)
    elif isinstance(kernel, Scaled):
        yield from _tree_terms(kernel.kernel, support, np.sqrt(kernel.scale) * coefficients, prefix)
    elif isinstance(kernel, Additive):
        for (own, term), part in zip(kernel.terms(), kernel.batches(support), strict=True):
            yield from _tree_terms(term, part, coefficients, prefix + own)


def _fragment_name(alphabet: list[Any], marked: bool, labels: list[int], depths: list[int], kinds: list[int]) -> str:
    """A fragment in brackets. If cut nodes and leaves are different features, cut nodes are `marked` by an ellipsis.

    >>> _fragment_name(["S", "NP", "he"], False, [0, 1, 2, 1], [0, 1, 2, 1], [0, 0, 2, 1])
    '(S (NP (he)) (NP))'
    """
    out, open_nodes = "", 0
    for label, depth, kind in zip(labels, depths, kinds, strict=True):
        out += ")" * (open_nodes - depth) + (" (" if out else "(") + str(alphabet[label])
        out += "…" if marked and kind == CUT else ""
        open_nodes = depth + 1
    return out + ")" * open_nodes
