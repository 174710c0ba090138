"""Sources of the examples of a fit. A source lists the spaces for its examples, and builds them."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from treille.data import Batch
from treille.kernels import Kernel
from treille.kernels.fitting import FitContext
from treille.spaces.gram import GramSpace, ProductSpace
from treille.spaces.space import RowsSpace

SPACES = (RowsSpace, ProductSpace, GramSpace)  # of examples in memory, cheapest first


class Source(ABC):
    """Examples with the kernel that reads them. Estimators need not know where the examples are.

    >>> from treille.kernels import NGram
    >>> source = MemorySource(NGram(1), "as given", NGram(1).batch(["ab", "b"]))
    >>> source.build_space(source.spaces(None, FitContext(), None)[0], FitContext(), None).sizes()
    '2 examples, 2 features, 3 entries, 76 bytes of rows'
    """

    kernel: Kernel
    kernel_why: str  # the reason for this kernel
    first: Batch  # one or more of the examples, for what depends on the kind of data

    @abstractmethod
    def __len__(self) -> int:
        """The number of examples."""

    @abstractmethod
    def spaces(self, wanted: Sequence[Any] | None, context: FitContext, n_jobs: int | None) -> Sequence[Any]:
        """The spaces that the examples have, preferred ones first; with `wanted`, only some of these."""

    @abstractmethod
    def build_space(self, space: Any, context: FitContext, n_jobs: int | None) -> Any:
        """One of these spaces, built."""

    def progress(self, n_problems: int, space: Any) -> tuple[int, str]:
        """The number of runs of a solver for this many problems, and the name of its epochs."""
        return n_problems, "epoch"


class MemorySource(Source):
    """Examples in memory.

    >>> from treille.kernels import AllSubstrings
    >>> source = MemorySource(AllSubstrings(), "as given", AllSubstrings().batch(["ab", "b"]))
    >>> [space.name for space in source.spaces(None, FitContext(), None)]
    ['product', 'gram']
    """

    def __init__(self, kernel: Kernel, kernel_why: str, batch: Batch):
        self.kernel, self.kernel_why, self.batch = kernel, kernel_why, batch
        self.first = batch

    def __len__(self) -> int:
        return len(self.batch)

    def spaces(self, wanted: Sequence[Any] | None, context: FitContext, n_jobs: int | None) -> Sequence[Any]:
        order: Sequence[Any] = SPACES if wanted is None else wanted
        if len(order) > 1 and not self.kernel.prefers_features(self.batch, n_jobs, context.known):
            # Rows of a solver that was given are its last resort, since they may be all that it works on.
            order = SPACES[1:] if wanted is None else sorted(order, key=lambda space: space is RowsSpace)
        return [space for space in order if space.offered(self.kernel, self.batch)]

    def build_space(self, space: Any, context: FitContext, n_jobs: int | None) -> Any:
        return space.build(self.kernel, self.batch, n_jobs, context)
