"""Tree kernels without explicit features: sums over pairs of matching nodes of their common fragments."""

from abc import abstractmethod
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np

from treille import _core
from treille.data import Trees
from treille.features.feature_map import CoreMap
from treille.io.errors import InputError
from treille.io.parameters import check_choice, check_flag, check_positive, effective_n_jobs
from treille.kernels.base import Kernel, check_finite
from treille.kernels.reading import Reads

PAIRS = 1 << 27  # of nodes whose values are in memory at a time, at most


class TreeKernel(Kernel):
    """A kernel of trees."""

    reads = Reads((Trees,))


@dataclass(eq=False, repr=False)
class TreeMap(CoreMap):
    """Features of trees that an object of the core holds."""

    alphabet: list[str]


class MatchedNodes(TreeKernel):
    """k(x, y) is a sum over pairs of matching nodes of their common fragments. There are no explicit features."""

    index: ClassVar[Any]  # of the core: finds matching nodes
    decay: float

    @abstractmethod
    def rule(self) -> Any:
        """The value of a pair of matching nodes, for the core."""

    def index_of(self, trees: Trees) -> Any:
        """The matching nodes of trees, found once."""
        return trees.derived(self.index, lambda: self.index(trees.arrays))

    def gram(self, left: Trees, right: Trees | None = None, n_jobs: int | None = None) -> np.ndarray:
        threads, whole = effective_n_jobs(n_jobs), left if right is None else right
        index = self.index_of(whole)
        arrays = left.arrays if right is None else left.arrays_over(whole.alphabet)
        K: np.ndarray = index.gram(arrays, self.rule(), right is None, threads).reshape(len(left), len(whole))
        return check_finite(self, K)

    def _shares(self, batch: Trees, support: Trees, coefficients: np.ndarray, threads: int) -> np.ndarray:
        values = np.zeros((len(batch.labels), coefficients.shape[1]))
        for start, stop in _blocks(support, int(np.diff(batch.offsets).max(initial=1))):
            some = support if stop - start == len(support) else support[start:stop]
            arrays, beta = batch.arrays_over(some.alphabet), coefficients[start:stop]
            values += self.index_of(some).shares(arrays, self.rule(), beta, threads)
        return check_finite(self, values)

    def diagonal(self, batch: Trees, n_jobs: int | None = None) -> np.ndarray:
        return batch.derived((repr(self), "diagonal"), lambda: self._diagonal(batch, n_jobs))

    def _diagonal(self, batch: Trees, n_jobs: int | None) -> np.ndarray:
        values: np.ndarray = _core.tree_diagonal(batch.arrays, self.rule(), effective_n_jobs(n_jobs))
        check_finite(self, values).flags.writeable = False
        return values


def _blocks(support: Trees, largest: int) -> list[tuple[int, int]]:
    """Runs of support trees, so that a tree of `largest` nodes has at most PAIRS pairs of nodes with a run."""
    of_node = support.offsets[:-1] // max(1, PAIRS // largest)
    cuts = [0, *(np.flatnonzero(np.diff(of_node)) + 1).tolist(), len(support)]
    return [(a, b) for a, b in pairwise(cuts) if b > a]


class SubsetTree(MatchedNodes):
    """Common fragments of two trees that contain all children of a node or none (Collins and Duffy).

    k(x, y) = sum over nodes u of x and v of y with the same label and the same labels of children of
    ``D(u, v) = decay * product over the children of (sigma + D(child of u, child of v))``, D = 0 for all other pairs. A fragment
    with m inner nodes has weight decay^m. Leaves (the words of a parse tree) are not nodes: the factor of two leaves is 1.

    Parameters
    ----------
    decay : float
        Positive: the factor of each inner node of a fragment. With 1, large fragments dominate.
    sigma : float
        From 0 to 1. 1: fragments may end at any node. 0: they go down to the leaves, which is `SubTree`.
    leaves : bool
        Whether leaves are nodes, ``D = decay`` where two have the same label. With decay 1, this is the count of Gales' lecture
        notes. Use it if leaves are nodes like others, as in XML.

    References
    ----------
    Collins, Duffy: Convolution kernels for natural language. NIPS 2001.

    Examples
    --------
    >>> from treille.kernels import SubsetTree
    >>> SubsetTree(decay=1.0)(["(S (NP he) (VP sat))", "(S (NP he) (VP (V ate) (NP it)))"]).tolist()
    [[6.0, 3.0], [3.0, 17.0]]
    """

    index = _core.ProductionIndex

    def __init__(self, decay: float = 0.4, sigma: float = 1.0, leaves: bool = False):
        self.decay = decay
        self.sigma = sigma
        self.leaves = leaves

    def check(self) -> None:
        check_positive("decay", self.decay)
        if not isinstance(self.sigma, Real) or isinstance(self.sigma, bool) or not 0 <= self.sigma <= 1:
            raise InputError(f"sigma is {self.sigma!r}, expected a number from 0 to 1")
        check_flag("leaves", self.leaves)

    def rule(self) -> Any:
        return _core.SubsetTrees(float(self.decay), float(self.sigma), bool(self.leaves))


class PartialTree(MatchedNodes):
    """Common fragments of two trees that contain any of a node's children, in order (Moschitti).

    k(x, y) = sum over nodes u of x and v of y with the same label of ``D(u, v) = mu * (decay^2 + sum over children I of u and J
    of v, equally many, of decay^(d(I) + d(J)) * product of D(I_k, J_k))``. Leaves are nodes like others.

    Parameters
    ----------
    decay : float
        Positive: the factor of width, for each child that `count` counts.
    mu : float
        Positive: the factor of depth, for each node of a fragment.
    count : {"gaps", "span"}
        What d counts: the skipped children between the first and the last (as in the program SVM-light-TK), or the steps from the
        first to the last (as in the formula of 2006). On wide trees the two differ a lot.

    References
    ----------
    Moschitti: Efficient convolution kernels for dependency and constituent syntactic trees. ECML 2006.

    Examples
    --------
    >>> from treille.kernels import PartialTree
    >>> PartialTree(decay=0.5, mu=1.0)(["(a (b) (c) (d))", "(a (b) (d))"])[0].tolist()
    [1.90625, 1.28125]
    """

    index = _core.LabelIndex

    def __init__(self, decay: float = 0.4, mu: float = 0.4, count: Literal["gaps", "span"] = "gaps"):
        self.decay = decay
        self.mu = mu
        self.count = count

    def check(self) -> None:
        check_positive("decay", self.decay)
        check_positive("mu", self.mu)
        check_choice("count", self.count, "gaps", "span")

    def rule(self) -> Any:
        return _core.PartialTrees(float(self.decay), float(self.mu), self.count == "gaps")
