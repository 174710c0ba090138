"""The features of parts on a Dask cluster: each worker counts those of its parts, and maps are merged in a tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treille.data import Batch
from treille.data.base import first_item, kind_of
from treille.features import FeatureMap, FeatureRows, PartedRows
from treille.io.errors import InputError
from treille.kernels import Kernel
from treille.scale.cluster import DaskCluster
from treille.scale.dask_rows import DaskRows
from treille.scale.labels import Collected
from treille.scale.parts import Part


@dataclass(frozen=True)
class LocalPart:
    """What a worker keeps of a part: features and rows of each leaf of the kernel, and labels."""

    leaves: list[tuple[FeatureMap, FeatureRows]]
    labels: Collected

    def __sizeof__(self) -> int:  # Dask asks, and moves tasks to where little would have to be sent
        return object.__sizeof__(self) + sum(rows.nbytes for _, rows in self.leaves)


@dataclass(frozen=True)
class Facts:
    """What the driver knows of a part."""

    n: int
    kind: type[Batch] | None  # None: there are no examples
    item: str  # the first one, for messages
    place: str
    counts: dict[Any, float]  # of each class: the weights of its examples
    examples: dict[Any, int]  # and their number
    first: Batch | None  # of one example, if there is one

    @property
    def unit(self) -> Any:
        """What strings consist of."""
        return getattr(self.first, "unit", None)


@dataclass
class ClusterParts:
    """Parts on a cluster whose features are merged. To estimators it is a batch without examples."""

    cluster: DaskCluster
    kernel: Kernel
    facts: list[Facts]
    leaves: list[FeatureMap]
    parts: list[Any]  # futures of each LocalPart
    min_count: int = 1
    folder: Any = None  # for the state of the solver
    problems: list[Any] | None = None  # futures of each part's Problem

    def __len__(self) -> int:
        return sum(own.n for own in self.facts)

    def class_counts(self) -> dict[Any, int]:
        """How many examples each class has."""
        totals: Counter[Any] = Counter()
        for own in self.facts:
            totals.update(own.examples)
        return dict(totals)

    @property
    def residues(self) -> Any:
        """The alphabet of biological sequences, if they are such."""
        return getattr(next(own.first for own in self.facts if own.n), "residues", None)

    def spread(self) -> list[Any]:
        """The futures of each part's problem."""
        assert self.problems is not None
        return self.problems

    def with_problems(self, make: Callable[[Collected], Any]) -> None:
        """Makes the problem of each part where it is: ``make(labels)``."""
        function = self.cluster.keep(make)
        self.problems = self.cluster.submit_all(_made, [function] * len(self.parts), self.parts)

    def targets(self) -> np.ndarray:
        """The targets of all examples."""
        return np.concatenate(self.cluster.gather(self.cluster.submit_all(_targets, self.spread())))

    def fitted(self, kernel: Kernel, n_jobs: int | None) -> tuple[FeatureMap, PartedRows]:
        """The features and rows of the kernel, or of one that differs only in what it makes of its leaves."""
        lengths, maps = np.array([own.n for own in self.facts], np.int64), self.cluster.keep(self.leaves)
        each = []
        for place, leaf in enumerate(self.leaves):
            some = [part for part, own in enumerate(self.facts) if own.n]
            own_parts, n = [self.parts[part] for part in some], len(some)
            found = dict(
                zip(some, self.cluster.submit_all(_renumbered, own_parts, [maps] * n, [place] * n), strict=True)
            )
            futures = [
                found[part] if part in found else self.cluster.submit(_without_rows, found[some[0]])
                for part in range(len(self.facts))
            ]
            rows = PartedRows(DaskRows(self.cluster, futures, lengths), leaf.n_features)
            each.append(_restricted(leaf, rows, self.min_count) if self.min_count > 1 else (leaf, rows))
        features, composed = kernel.compose(iter(each), n_jobs)
        assert isinstance(composed, PartedRows)
        return features, composed


def _made(make: Callable[[Collected], Any], part: LocalPart) -> Any:
    return make(part.labels)


def _targets(problem: Any) -> np.ndarray:
    targets: np.ndarray = problem.targets
    return targets


def _renumbered(local: LocalPart, maps: Sequence[FeatureMap], place: int) -> FeatureRows:
    (features, rows), merged = local.leaves[place], maps[place]
    return rows.renumbered(merged.merge(features)[2], merged.n_features)


def _without_rows(rows: FeatureRows) -> FeatureRows:
    return rows.taken(np.zeros(0, np.int64))


def _restricted(features: FeatureMap, rows: PartedRows, least: int) -> tuple[FeatureMap, PartedRows]:
    kept = np.flatnonzero(rows.frequencies(np.ones((len(rows), 1)))[:, 0] >= least)
    ids = np.full(features.n_features, -1, np.int64)
    ids[kept] = np.arange(len(kept))
    return features.restrict(kept), rows.renumbered(ids, len(kept))


def count_on_cluster(
    cluster: DaskCluster,
    parts: Sequence[Any],
    choose: Callable[[Any], tuple[Kernel, str]],
    of_classes: bool | None,
    found: Callable[[Any, int], Any],
    min_count: int = 1,
) -> tuple[ClusterParts, str]:
    """Counts the features of parts, given as futures of `Part`, on the workers that hold them."""
    kernel, why = _first_choice(cluster, choose, parts)
    if not kernel.has_features:
        raise InputError(
            f"{kernel!r} has no explicit features, so it cannot be trained on a cluster: use NGram, for example"
        )
    n, there = len(parts), cluster.keep((kernel, of_classes, found))
    counted = cluster.submit_all(_count, [there] * n, parts)
    facts: list[Facts] = cluster.gather(cluster.submit_all(_facts, [there] * n, parts, counted))
    if sum(own.n for own in facts) == 0:
        raise InputError("there are no examples: fit needs at least one")
    some = next(own for own in facts if own.n)
    for own in facts:
        if own.kind is not None and some.kind is not None and own.kind is not some.kind:
            raise InputError(
                f"{own.place}: holds {own.kind.title}, {some.place} {some.kind.title}: its first item is {own.item!r}"
            )
        if own.n and own.unit != some.unit:
            raise InputError(
                f"{own.place}: has the unit {own.unit!r}, {some.place} {some.unit!r}: its first item is {own.item!r}; use examples "
                "of one unit in all partitions"
            )
    some_counted = [future for future, own in zip(counted, facts, strict=True) if own.n]
    merged = cluster.reduced(cluster.submit_all(_maps, some_counted), _merged)
    return ClusterParts(cluster, kernel, facts, merged, counted, min_count), why


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
    try:
        return choose(part.X) if len(part.X) else None
    except InputError as error:
        raise InputError(f"{part.place}: {error}") from None


def _count(there: tuple[Kernel, bool | None, Callable[[Any, int], Any]], part: Part) -> LocalPart:
    kernel, of_classes, found = there
    if len(part.X) == 0:  # nothing tells of which kind or unit it would be
        return LocalPart([], Collected(of_classes))
    try:
        batch, labels = kernel.batch(part.X), Collected(of_classes)
        labels.add(part, len(batch), found)
        leaves = []
        for leaf, own in kernel.leaf_kernels(batch):
            if leaf.needs_features:
                raise InputError(f"{leaf!r} depends on all examples at once: leave it out for data in parts")
            leaves.append(leaf.fit_features(own))
    except InputError as error:
        raise error if str(error).startswith(part.place) else InputError(f"{part.place}: {error}") from None
    return LocalPart(leaves, labels)


def _facts(there: tuple[Kernel, Any, Any], part: Part, local: LocalPart) -> Facts:
    kernel, labels = there[0], local.labels
    weights, own = labels.sample_weight(), labels.labels[0] if labels.labels else None
    counts: dict[Any, float] = {}
    examples: dict[Any, int] = {}
    if labels.of_classes and own is not None:
        n_classes = len(labels.codes)
        sums = np.bincount(own, weights, minlength=n_classes)
        counts = dict(zip(labels.codes, sums.tolist(), strict=True))
        examples = dict(zip(labels.codes, np.bincount(own, minlength=n_classes).tolist(), strict=True))
    if labels.n == 0:
        return Facts(0, None, "", part.place, counts, examples, None)
    first = kernel.batch(part.X)[:1]
    return Facts(labels.n, kind_of(part.X), str(first_item(part.X))[:60], part.place, counts, examples, first)


def _maps(local: LocalPart) -> list[FeatureMap]:
    return [features for features, _ in local.leaves]


def _merged(*maps: list[FeatureMap]) -> list[FeatureMap]:
    merged = []
    for each in zip(*maps, strict=True):
        all_of_them = each[0]
        for number, other in enumerate(each[1:]):
            # The first merge makes a map of its own, which may then be changed; those on the cluster may not.
            all_of_them = (all_of_them.absorb if number else all_of_them.merge)(other)[0]
        merged.append(all_of_them)
    return merged
