"""Subset trees: fragments with all children of a node or none."""

from numbers import Real
from typing import Any

from treille import _core
from treille.io.errors import InputError
from treille.io.parameters import check_positive
from treille.kernels.tree_kernels import MatchedNodes, check_choice


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
        check_choice("leaves", self.leaves)

    def rule(self) -> Any:
        return _core.SubsetTrees(float(self.decay), float(self.sigma), bool(self.leaves))
