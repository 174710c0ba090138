"""The protocol of spaces: a kernel applied to a batch, and what solvers and estimators may ask of it."""

from typing import ClassVar, Protocol

import numpy as np

from treille.data import Batch
from treille.kernels import Kernel
from treille.spaces.functions import DecisionFunctions


class Space(Protocol):
    """A kernel applied to a batch. Solvers declare the spaces they work on, and use what these provide beyond this protocol:
    *rows* has feature rows, *product* has ``K @ beta``, *gram* has rows and diagonal of K.

    >>> from treille.kernels import NGram
    >>> from treille.spaces import GramSpace, ProductSpace, RowsSpace
    >>> [space.name for space in (RowsSpace, ProductSpace, GramSpace) if space.offered(NGram(2), NGram(2).batch([]))]
    ['rows', 'product', 'gram']
    """

    name: ClassVar[str]
    needs: ClassVar[str]  # what a kernel must provide, in words

    @classmethod
    def offered(cls, kernel: Kernel, batch: Batch) -> bool:
        """Whether there is such a space of a kernel and a batch in memory, built by ``build(kernel, batch, n_jobs, context)``."""
        ...

    def __len__(self) -> int:
        """The number of examples."""
        ...

    @property
    def error(self) -> float:
        """The share of the kernel matrix's trace that an approximation loses; 0 for exact spaces."""
        ...

    def functions(
        self, intercept: np.ndarray, weights: np.ndarray | None = None, coefficients: np.ndarray | None = None
    ) -> DecisionFunctions:
        """The functions f_k(x) = w_k.phi(x) + intercept_k, where w is given by weights of features or coefficients of examples."""
        ...

    def sizes(self) -> str:
        """How large the space is, in words."""
        ...
