"""The cluster space: explicit features whose rows, labels and weights are in parts on the workers of a cluster."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from treille.features import FeatureMap, PartedRows
from treille.spaces.space import FeatureSpace

FAN = 8  # results that one task adds up


class Cluster:
    """The operations that the space needs from a cluster; `treille.scale` implements them with Dask. Values on it are futures.

    A cluster in this process, where the future of a value is the value:

    >>> class Here(Cluster):
    ...     def submit(self, function, *arguments):
    ...         return function(*arguments)
    ...
    ...     def keep(self, value):
    ...         return value
    ...
    ...     def total(self, futures):
    ...         return sum(futures)
    >>> Here().total([Here().submit(len, "abba"), Here().keep(2)])
    6
    """

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """The future of ``function(*arguments)``; futures among the arguments stand for their values."""
        raise NotImplementedError

    def submit_all(self, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """The futures of ``function(*arguments)`` for each row of these columns."""
        return [self.submit(function, *arguments) for arguments in zip(*columns, strict=True)]

    def keep(self, value: Any) -> Any:
        """The future of a value, which the cluster can provide again if a worker is lost."""
        raise NotImplementedError

    def gather(self, futures: Sequence[Any]) -> list[Any]:
        """The values of futures, each as it is."""
        raise NotImplementedError

    def total(self, futures: Sequence[Any]) -> Any:
        """The sum of the values of futures, computed in a tree."""
        raise NotImplementedError

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
    rows: PartedRows
    cluster: Cluster
    futures: list[Any]  # of the rows of each part
    problems: list[Any]
    n_jobs: int | None = None
    folder: Any = None  # keeps the state of a solver, see `PartsSpace`

    def sizes(self) -> str:
        return f"{len(self):,} examples, {self.n_features:,} features, {len(self.futures):,} parts on a cluster"
