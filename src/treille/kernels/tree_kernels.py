"""The common base of tree kernels: reading examples, and kernel matrices from matching nodes."""

from abc import abstractmethod
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from treille import _core
from treille.data import Trees
from treille.features import Contributions
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import Kernel, check_finite
from treille.kernels.expansion import Expansion, KernelExpansion
from treille.kernels.reading import Reads

PAIRS = 1 << 27  # of nodes whose values are in memory at a time, at most


class TreeKernel(Kernel):
    """A kernel of trees."""

    reads = Reads((Trees,))


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
        self.check()
        threads, whole = effective_n_jobs(n_jobs), left if right is None else right
        index = self.index_of(whole)
        arrays = left.arrays if right is None else left.arrays_over(whole.alphabet)
        K: np.ndarray = index.gram(arrays, self.rule(), right is None, threads).reshape(len(left), len(whole))
        return check_finite(self, K)

    def expansion(self, support: Trees, coefficients: np.ndarray, n_jobs: int | None = None) -> Expansion:
        self.check()
        return MatchedNodesExpansion(self, support, np.ascontiguousarray(coefficients, np.float64))

    def diagonal(self, batch: Trees, n_jobs: int | None = None) -> np.ndarray:
        self.check()
        return batch.derived((repr(self), "diagonal"), lambda: self._diagonal(batch, n_jobs))

    def _diagonal(self, batch: Trees, n_jobs: int | None) -> np.ndarray:
        values: np.ndarray = _core.tree_diagonal(batch.arrays, self.rule(), effective_n_jobs(n_jobs))
        check_finite(self, values).flags.writeable = False
        return values


class MatchedNodesExpansion(KernelExpansion):
    """Sums over support trees, split by the nodes of the new ones."""

    def contributions(self, batch: Trees, n_jobs: int | None = None) -> Contributions:
        kernel, support = self.kernel, self.support
        values = np.zeros((len(batch.labels), self.coefficients.shape[1]))
        for start, stop in _blocks(support, int(np.diff(batch.offsets).max(initial=1))):
            some = support if stop - start == len(support) else support[start:stop]
            arrays, beta = batch.arrays_over(some.alphabet), self.coefficients[start:stop]
            values += kernel.index_of(some).shares(arrays, kernel.rule(), beta, effective_n_jobs(n_jobs))
        return Contributions.of(batch, check_finite(kernel, values))


def _blocks(support: Trees, largest: int) -> list[tuple[int, int]]:
    """Runs of support trees, so that a tree of `largest` nodes has at most PAIRS pairs of nodes with a run."""
    of_node = support.offsets[:-1] // max(1, PAIRS // largest)
    cuts = [0, *(np.flatnonzero(np.diff(of_node)) + 1).tolist(), len(support)]
    return [(a, b) for a, b in pairwise(cuts) if b > a]


def check_choice(name: str, value: Any) -> None:
    """Refuses anything but True and False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name} is {value!r}, expected True or False")
