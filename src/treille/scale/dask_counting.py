"""The features of parts on a Dask cluster: each worker counts the features of its parts, and maps are merged in a tree."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from treille.data import Batch
from treille.data.base import first_item, kind_of
from treille.features import FeatureMap, FeatureRows, MergingMap, PartedRows, Rows
from treille.features.abilities import having
from treille.io.errors import InputError
from treille.kernels import Kernel
from treille.kernels.fitting import FitContext, compose, leaf_kernels
from treille.scale.cluster import DaskCluster, DaskRows
from treille.scale.disk_rows import rows_of_leaf
from treille.scale.folder import Folder
from treille.scale.parts import Collected, Part
from treille.spaces.parts import ClusterSpace
from treille.spaces.source import Source
from treille.spaces.space import no_features


@dataclass(frozen=True)
class PartitionFacts:
    """Facts about a part that the driver needs."""

    place: str
    n: int = 0
    kind: Any = None  # of data; None: there are no examples
    item: str = ""  # the first one, for messages
    examples: dict[Any, int] = field(default_factory=dict)  # number of examples of each class
    first: Any = None  # a batch of one example, if there is one


@dataclass(frozen=True)
class CountedPartition:
    """The features and rows of each leaf of the kernel in a part, and the labels of the part."""

    leaves: list[tuple[FeatureMap, FeatureRows]]
    labels: Collected
    facts: PartitionFacts

    def __sizeof__(self) -> int:  # Dask asks, and moves tasks to where little would have to be sent
        return object.__sizeof__(self) + sum(rows.nbytes for _, rows in self.leaves)


@dataclass(frozen=True)
class LeafMaps:
    """The features of each leaf of the kernel, in one or more parts; no maps if the parts have no examples."""

    maps: list[FeatureMap]
    ids: tuple[list[np.ndarray], ...] = ()  # of the features of the two that were merged, leaf by leaf

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + 32 * sum(features.n_features for features in self.maps)  # about


# The ids of the features of a part among the features of all parts, leaf by leaf, and how many features there are.
NewIds = tuple[list[np.ndarray], list[int]]


@dataclass(frozen=True)
class ClusterCounts:
    """The counted features of parts on a cluster, merged here, and the futures of their rows and labels."""

    cluster: DaskCluster
    kernel: Kernel
    kernel_why: str
    first: Batch
    facts: list[PartitionFacts]
    leaves: list[FeatureMap]
    rows: list[list[Any]]  # futures of the rows of each leaf, part by part, with the ids of the merged features
    labels: list[Any]  # futures of each part's `Collected`
    min_count: int = 1

    def class_counts(self) -> dict[Any, int]:
        """The number of examples of each class."""
        return dict(sum((Counter(own.examples) for own in self.facts), Counter[Any]()))

    def fit_features(self, context: FitContext, n_jobs: int | None) -> tuple[FeatureMap, PartedRows[DaskRows]]:
        """The features and rows of the kernel, composed from its leaves."""
        lengths, each = np.array([own.n for own in self.facts], np.int64), []
        for leaf, futures in zip(self.leaves, self.rows, strict=True):
            rows = PartedRows(DaskRows(self.cluster, futures, lengths), leaf.n_features)
            if self.min_count > 1:
                often = rows.frequencies(np.ones((len(rows), 1)))[:, 0] >= self.min_count
                kept = leaf.ids_for_norms(np.flatnonzero(often))
                ids = np.full(leaf.n_features, -1, np.int64)
                ids[kept] = np.arange(len(kept))
                leaf, rows = leaf.restrict(kept), rows.renumbered(ids, len(kept))
            each.append((leaf, rows))
        features, composed = compose(self.kernel, iter(each), context, n_jobs)
        return features, having(composed, PartedRows)


class ClusterSource(Source):
    """Examples in parts on a cluster: their counted features, the futures of each part's `Problem`, and a solver's folder."""

    def __init__(self, counts: ClusterCounts, problems: list[Any], folder: Folder | None):
        self.counts, self.problems, self.folder = counts, problems, folder
        self.kernel, self.kernel_why, self.first = counts.kernel, counts.kernel_why, counts.first

    def __len__(self) -> int:
        return sum(own.n for own in self.counts.facts)

    def spaces(self, wanted: Sequence[Any] | None, context: FitContext, n_jobs: int | None) -> Sequence[Any]:
        return (ClusterSpace,)

    def build_space(self, space: Any, context: FitContext, n_jobs: int | None) -> ClusterSpace:
        """The space. The rows of leaves are released: workers keep only the rows of the kernel."""
        cluster = self.counts.cluster
        if self.kernel.needs_labels:  # 4 bytes per example come here
            each = cluster.gather(cluster.submit_all(attrgetter("targets"), self.problems))
            context = replace(context, labels=np.concatenate(each))
        features, rows = self.counts.fit_features(context, n_jobs)
        if rows.n_features == 0:
            raise no_features(self.kernel, 0, self.counts.min_count)
        self.counts.rows.clear()
        return ClusterSpace(features, rows, cluster, rows.store.futures, self.problems, n_jobs, self.folder)


def count_on_cluster(
    cluster: DaskCluster,
    parts: Sequence[Any],
    given: Kernel | None,
    choose: Callable[[Any], tuple[Kernel, str]],
    of_classes: bool | None,
    found: Callable[[Any, int], Any],
    min_count: int = 1,
) -> ClusterCounts:
    """Counts the features of parts, which are futures of `Part`, on the workers that hold them.

    Where no kernel is given, one is chosen for the first part with examples.
    """
    kernel, why = _first_choice(cluster, choose, parts) if given is None else (given, "as given")
    kernel.check_parts()
    counted = cluster.submit_all(_count, [(kernel, of_classes, found)] * len(parts), parts)
    merged, merges = _merged_in_pairs(cluster, cluster.submit_all(_maps, counted))
    facts: list[PartitionFacts] = cluster.gather(cluster.submit_all(attrgetter("facts"), counted))
    filled = [own for own in facts if own.n]
    if not filled:
        raise InputError("there are no examples: fit needs at least one")
    some = filled[0]
    for own in filled:
        if own.kind is not some.kind:
            raise InputError(
                f"{own.place}: holds {own.kind.title}, {some.place} {some.kind.title}: its first item is {own.item!r}"
            )
        if own.first.units != some.first.units:
            one, other = (" and ".join(map(repr, each.first.units)) for each in (own, some))
            raise InputError(
                f"{own.place}: has the unit {one}, {some.place} {other}: its first item is {own.item!r}; use examples "
                "of one unit in all partitions"
            )
    rows = _renumbered_parts(cluster, counted, merges)  # while the features come here
    leaves: list[FeatureMap] = cluster.result(cluster.submit(attrgetter("maps"), merged))
    each = [cluster.submit_all(itemgetter(place), rows) for place in range(len(leaves))]
    labels = cluster.submit_all(attrgetter("labels"), counted)
    return ClusterCounts(cluster, kernel, why, some.first, facts, leaves, each, labels, min_count)


def _merged_in_pairs(cluster: DaskCluster, level: list[Any]) -> tuple[Any, list[list[Any]]]:
    """The future of the features of all parts, and the futures of each level of a tree of merges, from the leaves to the root."""
    merges = []
    while len(level) > 1:
        paired = len(level) // 2 * 2
        merges.append(cluster.submit_all(_merged, level[:paired:2], level[1:paired:2]))
        level = merges[-1] + level[paired:]
    return level[0], merges


def _renumbered_parts(cluster: DaskCluster, counted: list[Any], merges: list[list[Any]]) -> list[Any]:
    """The futures of the rows of each part with the ids of the merged features, found by descending the tree of merges."""
    ids: list[Any] = [None]
    for merged in reversed(merges):
        twice = [each for each in zip(merged, ids[: len(merged)], strict=True) for _ in range(2)]
        futures, above = zip(*twice, strict=True)
        ids = cluster.submit_all(_new_ids, futures, [0, 1] * len(merged), above) + ids[len(merged) :]
    return cluster.submit_there(_renumbered, counted, ids)


def _first_choice(
    cluster: DaskCluster, choose: Callable[[Any], tuple[Kernel, str]], parts: Sequence[Any]
) -> tuple[Kernel, str]:
    """The kernel for the first part that has examples."""
    for part in parts:
        chosen: tuple[Kernel, str] | None = cluster.result(cluster.submit(_chosen, choose, part))
        if chosen is not None:
            return chosen
    raise InputError("there are no examples: fit needs at least one")


def _chosen(choose: Callable[[Any], tuple[Kernel, str]], part: Part) -> tuple[Kernel, str] | None:
    with part.named():
        return choose(part.X) if len(part.X) else None


def _count(there: tuple[Kernel, bool | None, Callable[[Any, int], Any]], part: Part) -> CountedPartition:
    kernel, of_classes, found = there
    if len(part.X) == 0:  # its kind and unit are unknown
        return CountedPartition([], Collected(of_classes), PartitionFacts(part.place))
    with part.named():
        batch, labels = kernel.batch(part.X), Collected(of_classes)
        labels.add(part, len(batch), found)
        leaves = [leaf.fit_features(own) for leaf, own in leaf_kernels(kernel, batch)]
    item = str(first_item(part.X))[:60]
    facts = PartitionFacts(part.place, labels.n, kind_of(part.X), item, labels.class_counts(), batch[:1])
    return CountedPartition(leaves, labels, facts)


def _maps(local: CountedPartition) -> LeafMaps:
    return LeafMaps([features for features, _ in local.leaves])


def _merged(left: LeafMaps, right: LeafMaps) -> LeafMaps:
    if not left.maps or not right.maps:
        one = [np.arange(features.n_features) for features in left.maps or right.maps]
        return LeafMaps(left.maps or right.maps, (one, one))
    merged = [having(mine, MergingMap).merge(theirs) for mine, theirs in zip(left.maps, right.maps, strict=True)]
    maps, of_left, of_right = (list(column) for column in zip(*merged, strict=True))
    return LeafMaps(maps, (of_left, of_right))


def _new_ids(merged: LeafMaps, side: int, above: NewIds | None) -> NewIds:
    """The ids of one side of a merge, among the features of all parts."""
    ids_here = merged.ids[side]
    if above is None:
        return ids_here, [features.n_features for features in merged.maps]
    return [new[ids] for new, ids in zip(above[0], ids_here, strict=True)], above[1]


def _renumbered(local: CountedPartition, new: NewIds | None) -> list[FeatureRows]:
    each = [rows for _, rows in local.leaves]
    if new is None:  # the only part
        return each
    if not each:  # without examples
        return [Rows.from_csr(csr_matrix((0, n))) for n in new[1]]
    return [rows_of_leaf(rows).renumbered(ids, n) for rows, ids, n in zip(each, *new, strict=True)]
