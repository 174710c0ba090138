"""Partial trees: fragments with any of a node's children."""

from typing import Any, Literal

from treille import _core
from treille.io.errors import InputError
from treille.io.parameters import check_positive
from treille.kernels.tree_kernels import MatchedNodes


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
        if self.count not in ("gaps", "span"):
            raise InputError(f"count is {self.count!r}, expected 'gaps' or 'span'")

    def rule(self) -> Any:
        return _core.PartialTrees(float(self.decay), float(self.mu), self.count == "gaps")
