"""Fitting of features that depend on all training examples: the context of a fit, and kernels that are made of others."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from treille.data import Batch
from treille.kernels.base import Fitted, Kernel


class KnownFeatures:
    """Features and rows that are computed already, each for a kernel and a batch, so that they are computed once.

    >>> from treille.kernels import NGram
    >>> batch, known = NGram(2).batch(["abab", "ba"]), KnownFeatures()
    >>> FitContext(known=known).fit(NGram(2), batch)[1] is FitContext(known=known).fit(NGram(2), batch)[1]
    True
    """

    def __init__(self) -> None:
        self._found: list[tuple[Kernel, Batch, list[Fitted]]] = []

    def add(self, kernel: Kernel, batch: Any, fitted: Fitted) -> None:
        """Keeps the features of a kernel that is its own leaf."""
        self._found.append((kernel, batch, [fitted]))

    def of_leaves(self, kernel: Kernel, batch: Any, n_jobs: int | None = None) -> list[Fitted]:
        """The features of the leaves of a kernel, see `leaf_kernels`."""
        for other, own, fitted in self._found:
            if own is batch and same_kernel(kernel, other):
                return fitted
        fitted = []
        for leaf, own in leaf_kernels(kernel, batch):
            fitted += [leaf.fit_features(own, n_jobs)] if leaf is kernel else self.of_leaves(leaf, own, n_jobs)
        self._found.append((kernel, batch, fitted))
        return fitted


@dataclass(frozen=True, eq=False)
class FitContext:
    """The data that features may depend on besides the examples that they are fitted on.

    `labels` are the classes of the examples, `classes` the positive class of each problem; None where there are none. Example i
    counts ``counts[i]`` times in frequencies and means; None: once. So features fitted on a whole batch can have the values of a
    fit on some of the examples, as in cross-validation. Features in `known` are not computed again.

    >>> from treille.kernels import NGram
    >>> kernel = NGram(1).weighted("idf")
    >>> batch = kernel.batch(["ab", "a", "a"])
    >>> [FitContext(counts=counts).fit(kernel, batch)[1].diag().round(2)[0].tolist() for counts in (None, np.array([1, 0, 0]))]
    [3.87, 2.0]
    """

    labels: np.ndarray | None = None
    classes: np.ndarray | None = None
    counts: np.ndarray | None = None
    known: KnownFeatures = field(default_factory=KnownFeatures)

    def fit(self, kernel: Kernel, batch: Any, n_jobs: int | None = None) -> Fitted:
        """The features of a kernel, fitted on a batch, and the rows of the batch."""
        return compose(kernel, iter(self.known.of_leaves(kernel, batch, n_jobs)), self, n_jobs)

    def times(self, n_examples: int) -> np.ndarray:
        """The number of times that each example counts."""
        return np.ones(n_examples) if self.counts is None else np.asarray(self.counts, np.float64)


class CompositeKernel(Kernel):
    """A kernel that is made of others, and has features if they do.

    Its features are composed from those of its leaves, the kernels inside that find features in examples. So weights, norms and
    means are taken over all examples, also if the features of the leaves were found in parts of the data and merged.
    """

    @abstractmethod
    def leaf_kernels(self, batch: Any) -> list[tuple[Kernel, Batch]]:
        """The kernels inside that find features in examples, each with what it reads of a batch."""

    @abstractmethod
    def compose(self, fitted: Iterator[Fitted], context: FitContext, n_jobs: int | None = None) -> Fitted:
        """The features of this kernel, composed from the features of its leaves, which `fitted` yields in order."""

    def fit_features(self, batch: Any, n_jobs: int | None = None) -> Fitted:
        return FitContext().fit(self, batch, n_jobs)


class ValueKernel(CompositeKernel):
    """A kernel whose values are computed from the values of the kernels inside, whether these have features or not."""


def leaf_kernels(kernel: Kernel, batch: Any) -> list[tuple[Kernel, Batch]]:
    """The kernels in a kernel that find features in examples, each with what it reads of a batch; `compose` does the rest.

    >>> from treille.kernels import NGram
    >>> kernel = (NGram(2).weighted("idf") + NGram(3)).normalized()
    >>> [leaf for leaf, _ in leaf_kernels(kernel, kernel.batch(["abab"]))]
    [NGram(n=2), NGram(n=3)]
    """
    return kernel.leaf_kernels(batch) if isinstance(kernel, CompositeKernel) else [(kernel, batch)]


def compose(kernel: Kernel, fitted: Iterator[Fitted], context: FitContext, n_jobs: int | None = None) -> Fitted:
    """The features of a kernel, composed from the features of its leaves, which `fitted` yields in order."""
    return kernel.compose(fitted, context, n_jobs) if isinstance(kernel, CompositeKernel) else next(fitted)


def supports_reweighting(kernel: Kernel, batch: Any) -> bool:
    """Returns whether ``FitContext(counts=...)`` gives the features of some examples: each leaf depends on single examples."""
    return not any(leaf.needs_features for leaf, _ in leaf_kernels(kernel, batch[:1]))


def same_kernel(kernel: Kernel, other: Kernel) -> bool:
    """Returns whether two kernels are equal for certain; kernels with parameters that do not compare are not."""
    if kernel is other:
        return True
    if type(kernel) is not type(other):
        return False
    mine, theirs = kernel.get_params(deep=False), other.get_params(deep=False)
    each = ((mine[name], theirs[name]) for name in mine)
    return all(same_kernel(a, b) if isinstance(a, Kernel) and isinstance(b, Kernel) else _equal(a, b) for a, b in each)


def _equal(a: Any, b: Any) -> bool:
    return a is b or (isinstance(a, (str, int, float)) and type(a) is type(b) and a == b)
