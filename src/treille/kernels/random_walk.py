"""Random walks: all walks that two graphs have in common."""

from typing import Literal

import numpy as np

from treille.data import Graphs
from treille.data.graphs import Labels
from treille.io.errors import InputError
from treille.io.parameters import check_positive, check_whole, effective_n_jobs
from treille.kernels.base import check_finite
from treille.kernels.graph_kernels import GraphKernel, check_labels
from treille.kernels.walk_matrices import WalkSums


class RandomWalk(GraphKernel):
    """Common walks of all lengths: k(x, y) = sum over n of mu_n W_n(x, y).

    W_n(x, y) is the number of pairs of walks of n steps, one in x and one in y, with equal labels of nodes and edges; with weights
    of edges, the sum of the products of their weights. mu_n is ``decay^n / n!`` (exponential) or ``decay^n`` (geometric). There are
    no explicit features; without labels a value costs less than a microsecond.

    Parameters
    ----------
    decay : float
        Positive: the factor of each step. The geometric series needs a decay below 1 / radius, the largest spectral radius of the
        product of a graph with itself; the error message reports it.
    series : {"exponential", "geometric"}
        The weights of lengths.
    labels : {"all", "nodes", "edges", "none"}
        Which labels have to be equal. "all": those that the graphs have.
    steps : int or None
        The largest number of steps; None: no limit.
    start : {"matching", "all"}
        Which pairs of nodes are common walks of no steps: those with equal labels, or all, as in GraKeL.

    References
    ----------
    Gärtner, Flach, Wrobel: On graph kernels: hardness results and efficient alternatives. COLT 2003.
    Vishwanathan, Schraudolph, Kondor, Borgwardt: Graph kernels. JMLR 2010.

    Examples
    --------
    >>> from treille.data import Graph
    >>> from treille.kernels import RandomWalk
    >>> water, peroxide = Graph("OHH", [(0, 1), (0, 2)]), Graph("OOHH", [(0, 1), (0, 2), (1, 3)])
    >>> RandomWalk(0.1, steps=1)([water, peroxide]).round(3).tolist()
    [[5.8, 6.8], [6.8, 9.2]]
    """

    def __init__(
        self,
        decay: float = 0.1,
        series: Literal["exponential", "geometric"] = "exponential",
        labels: Labels = "all",
        steps: int | None = None,
        start: Literal["matching", "all"] = "matching",
    ):
        self.decay = decay
        self.series = series
        self.labels = labels
        self.steps = steps
        self.start = start

    def check(self) -> None:
        check_positive("decay", self.decay)
        check_labels(self.labels)
        if self.series not in ("exponential", "geometric"):
            raise InputError(f"series is {self.series!r}, expected 'exponential' or 'geometric'")
        if self.start not in ("matching", "all"):
            raise InputError(f"start is {self.start!r}, expected 'matching' or 'all'")
        if self.steps is not None:
            check_whole("steps", self.steps, 0)

    def _sums(self) -> WalkSums:
        self.check()
        last = None if self.steps is None else int(self.steps)
        return WalkSums(self.series, float(self.decay), 0, last, self.labels, self.start == "all")

    def gram(self, left: Graphs, right: Graphs | None = None, n_jobs: int | None = None) -> np.ndarray:
        return check_finite(self, self._sums().gram(left, right, effective_n_jobs(n_jobs)))

    def diagonal(self, batch: Graphs, n_jobs: int | None = None) -> np.ndarray:
        sums = self._sums()
        return batch.derived((repr(self), "diagonal"), lambda: self._diagonal(sums, batch, n_jobs))

    def _diagonal(self, sums: WalkSums, batch: Graphs, n_jobs: int | None) -> np.ndarray:
        values = check_finite(self, sums.diagonal(batch, effective_n_jobs(n_jobs)))
        values.flags.writeable = False
        return values
