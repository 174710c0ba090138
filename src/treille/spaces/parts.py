"""The spaces of data in parts: explicit features whose rows are on disk, or on the workers of a cluster."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from treille.data.base import readable_size, resident_bytes
from treille.data.format import count
from treille.features import FeatureMap, PartedRows
from treille.features.parted_rows import DiskRows
from treille.io.errors import InputError
from treille.spaces.footprint import PER_FEATURE
from treille.spaces.space import FeatureSpace

PROCESS = 250_000_000  # bytes that Python and its libraries take
PER_EXAMPLE = 40  # bytes of labels, weights and copies of these
SHARES = 4  # shares of the memory left: a block, the next one, kept examples of other blocks, and copies of these
FAN = 8  # results that one task of a cluster adds up


class Cluster(ABC):
    """The operations that the space needs from a cluster; `treille.scale` implements them with Dask. Values on it are futures.

    A cluster in this process, where the future of a value is the value:

    >>> class Here(Cluster):
    ...     def submit(self, function, *arguments):
    ...         return function(*arguments)
    ...     def keep(self, value):
    ...         return value
    ...     def total(self, futures):
    ...         return sum(futures)
    ...     gather = release = keep
    >>> Here().total([Here().submit(len, "abba"), Here().keep(2)])
    6
    """

    @abstractmethod
    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The future of ``function(*arguments)``; futures among the arguments stand for their values."""

    def submit_all(self, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """The futures of ``function(*arguments)`` for each row of these columns."""
        return [self.submit(function, *arguments) for arguments in zip(*columns, strict=True)]

    @abstractmethod
    def keep(self, value: Any) -> Any:
        """The future of a value that the cluster can compute again if a worker is lost."""

    @abstractmethod
    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """The values of futures, each as it is."""

    @abstractmethod
    def total(self, futures: Sequence[Any]) -> Any:
        """The sum of the values of futures, computed in a tree."""

    @abstractmethod
    def release(self, futures: Sequence[Any]) -> None:
        """Frees the memory of values that are not used again, except to compute others anew."""


@dataclass(frozen=True, eq=False)
class ClusterSpace(FeatureSpace):
    """A kernel applied to data in parts on a cluster. `problems` are the futures of each part's `Problem`.

    >>> ClusterSpace.name, ClusterSpace.needs
    ('cluster', 'data in parts on a cluster')
    """

    name: ClassVar[str] = "cluster"
    needs: ClassVar[str] = "data in parts on a cluster"

    features: FeatureMap
    rows: PartedRows[Any]
    cluster: Cluster
    futures: list[Any]  # of the rows of each part
    problems: list[Any]
    n_jobs: int | None = None
    folder: Any = None  # keeps the state of a solver, see `PartsSpace`

    def by_problem(self) -> list[Any]:
        return [self]  # its solvers ask for the rows of a problem where these are

    def sizes(self) -> str:
        return f"{count(len(self), 'example')}, {count(self.n_features, 'feature')}, {len(self.futures):,} parts on a cluster"


@dataclass(frozen=True, eq=False)
class PartsSpace(FeatureSpace):
    """A kernel applied to data in parts, see `treille.scale.Parts`.

    `memory` is what a solver may use, `folder` keeps its state: ``save(name, spec, arrays)``, ``load(name)``, ``due()``.

    >>> import treille
    >>> from treille.scale import Parts
    >>> model = treille.SVC(treille.kernels.NGram(1)).fit(Parts.of([(["ab", "cd"], [0, 1]), (["ba"], [0])]))
    >>> model.plan_.space.name, model.plan_.sizes
    ('parts', '3 examples, 4 features, 2 parts, 1.4 kB of rows on disk')
    """

    name: ClassVar[str] = "parts"
    needs: ClassVar[str] = "data in parts"

    features: FeatureMap
    rows: PartedRows[DiskRows]
    memory: int
    folder: Any
    n_jobs: int | None = None
    min_count: int = 1
    state_name: str = "solver"  # of the state of a solver in the folder

    def by_problem(self) -> "list[PartsSpace]":
        if not self.rows.n_problems:
            return [self]
        each = enumerate(self.rows.problems)
        return [replace(self, rows=rows, state_name=f"{self.state_name}-{k}") for k, rows in each]

    def memory_left(self, n_problems: int) -> int:
        """The memory for rows, besides features, weights and dual variables. It depends on sizes alone, so that blocks always are
        the same. Raises an `InputError` if four times the largest part does not fit beside what the process holds."""
        n, F = len(self), self.n_features
        rows = SHARES * max(map(self.rows.store.bytes_of, range(len(self.rows.offsets) - 1)))
        needed = rows + memory_needed(n, F, F, n_problems, resident_bytes())
        if needed > self.memory:
            raise InputError(
                f"{len(self):,} examples with {self.n_features:,} features need {readable_size(needed)} of memory, more than "
                f"memory={readable_size(self.memory)}: allow more (--memory on the command line), or use a kernel with fewer "
                "features, or min_count"
            )
        return self.memory - memory_needed(n, F, F, n_problems)

    def sizes(self) -> str:
        n_parts = len(self.rows.offsets) - 1
        size = readable_size(sum(map(self.rows.store.bytes_of, range(n_parts))))
        kept = f" in at least {self.min_count:,} examples each" if self.min_count > 1 else ""
        parts = count(n_parts, "part")
        return (
            f"{count(len(self), 'example')}, {count(self.n_features, 'feature')}{kept}, {parts}, {size} of rows on disk"
        )


def memory_needed(n_examples: int, n_features: int, n_weights: int, n_problems: int, held: int = 0) -> int:
    """The bytes that training needs beside rows: for features and examples, what the process holds if that is more, and weights.

    >>> memory_needed(10**6, 10**7, 10**7, 1)
    1106000000
    """
    own = max(PROCESS + PER_FEATURE * n_features + PER_EXAMPLE * n_examples, held)
    return own + 16 * n_problems * (n_weights + n_examples)
