"""The memory that the features of examples take, measured on a few of them: kernels differ by a factor of a thousand."""

from dataclasses import dataclass

import numpy as np

from treille.data import Batch
from treille.data.base import available_memory, readable_size
from treille.io.errors import InputError
from treille.kernels import Kernel
from treille.kernels.fitting import leaf_kernels

PER_FEATURE = 64  # bytes of a feature map, about
FEWEST = 1000  # examples in memory that are measured before their features are counted: one in a hundred of them
GROWTH = 8  # times that a sample is larger than the one before it


@dataclass(frozen=True)
class Footprint:
    """The bytes of the rows of examples and of their features, and of the batch that holds the examples.

    >>> from treille.kernels import NGram
    >>> found = Footprint.of(NGram(2), NGram(2).batch(["abab", "ba"]))
    >>> found.features, found.batch
    (128, 48)
    """

    rows: int
    features: int
    batch: int

    @classmethod
    def of(cls, kernel: Kernel, batch: Batch, n_jobs: int | None = None) -> "Footprint":
        """Counts the features of examples."""
        fitted = [leaf.fit_features(own, n_jobs) for leaf, own in leaf_kernels(kernel, batch)]
        n_features = sum(features.n_features for features, _ in fitted)
        return cls(sum(rows.nbytes for _, rows in fitted), PER_FEATURE * n_features, batch.nbytes)

    @property
    def rate(self) -> float:
        """Bytes of rows and features for each byte of the batch."""
        return (self.rows + self.features) / max(1, self.batch)


def measured(kernel: Kernel, batch: Batch, allowed: float, n_jobs: int | None = None) -> Footprint:
    """The footprint of a sample of a batch. Features recur, so a larger sample is more exact: it grows while the batch is estimated
    to need more than is allowed, and the next sample not."""
    n = 1
    while True:
        found = Footprint.of(kernel, batch[spread(n, len(batch))], n_jobs)
        if (
            n == len(batch)
            or found.rate * batch.nbytes <= allowed
            or GROWTH**2 * (found.rows + found.features) > allowed
        ):
            return found
        n = min(len(batch), GROWTH * n)


def spread(n: int, total: int) -> np.ndarray:
    """The places of n of so many examples, at equal distances: files are often sorted."""
    return np.arange(n) * total // n


def check_rows_fit(kernel: Kernel, batch: Batch, n_jobs: int | None = None) -> None:
    """Refuses a batch whose rows would not fit in memory, before its features are counted."""
    n = len(batch)
    if n < FEWEST or any(leaf.limits_rows for leaf, _ in leaf_kernels(kernel, batch[:1])):
        return
    few = n // 100
    sample = Footprint.of(kernel, batch[spread(few, n)], n_jobs)
    needed, free = sample.rows * n // few + sample.features, available_memory()
    if needed > free:
        raise InputError(
            f"the features of {n:,} examples would take about {readable_size(needed)}, but {readable_size(free)} are free: "
            f"train in parts, with --memory on the command line or treille.scale.Parts in Python, or use a kernel with fewer "
            f"features than {kernel!r}"
        )
