"""Base classes of graph kernels, and of those that count patterns: labels, shortest paths, walks, refined labels."""

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from treille.data import Graphs
from treille.data.base import united
from treille.data.graphs import CoreArrays, Labels
from treille.features import FeatureMap, LocatingMap, MergingMap, Occurrences, Rows
from treille.features.feature_map import CoreMap
from treille.features.merging import Merged, alike
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import Fitted, Kernel
from treille.kernels.counts import Counts, check_counts, transformed
from treille.kernels.reading import Reads

Map = TypeVar("Map", bound=Any)
PLAIN = re.compile(r"[^\s\"(),^…#-]+")  # labels that names contain as they are


class GraphKernel(Kernel):
    """A kernel of graphs."""

    reads = Reads((Graphs,))


class NodeLabelledMap(FeatureMap):
    """Features of graphs that may be given other names of the labels of nodes."""

    lacking = "do not merge within WeisfeilerLehman: fit on all examples"

    alphabet: Any  # the names of the labels

    def relabelled(self, rename: Callable[[Any], Any]) -> FeatureMap:
        """The same features of graphs whose labels of nodes have other names: those that `rename` gives an alphabet."""
        return replace(self, alphabet=rename(self.alphabet))  # type: ignore[type-var]


class GraphPatternKernel(GraphKernel):
    """k(x, y) = sum over patterns z of s_z^2 t(count_x(z)) t(count_y(z)). Patterns are compared exactly."""

    core: ClassVar[Any]  # the features of this kind of patterns
    map: ClassVar[type["GraphFeatureMap"]]
    arrays: ClassVar[tuple[str, ...]] = ("cells", "starts", "features")  # of a model file
    counts: Counts
    labels: Labels

    @property
    def counted_labels(self) -> Labels:
        """The labels that count: by default the parameter `labels`."""
        return self.labels

    @abstractmethod
    def options(self, directed: bool, edge_labelled: bool) -> tuple[Any, ...]:
        """The patterns and their values, for the core."""

    def check(self) -> None:
        check_counts(self.counts)

    def check_batch(self, batch: Graphs) -> None:
        """Refuses graphs that this kernel cannot read, or not in reasonable time."""

    def fit_features(self, batch: Graphs, n_jobs: int | None = None) -> Fitted:
        self.check()
        self.check_batch(batch)
        names = *self._counted(batch.alphabet, batch.edge_alphabet), batch.directed
        arrays, options = batch.core_arrays(self.counted_labels), self.options(batch.directed, bool(names[1]))
        features, rows = self.fit_core(arrays, options, effective_n_jobs(n_jobs))
        fitted = self.map(self, features, *names)
        return fitted, Rows.from_core(rows, fitted.n_features)

    def fit_core(self, arrays: CoreArrays, options: tuple[Any, ...], threads: int) -> Any:
        """The patterns of graphs, and their rows."""
        return self.core.fit(arrays, *options, threads)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        cells = stored.array(arrays, "cells", np.int32)
        parts = cells, stored.offsets(arrays, "starts", len(cells)), stored.array(arrays, "features", np.int32)
        names = stored.names(spec), stored.names(spec, "edge_alphabet")
        return self.map_of(parts, *names, stored.value(spec, "directed", bool))

    def map_of(
        self, parts: Iterable[np.ndarray], alphabet: list[str], edge_alphabet: list[str], directed: bool
    ) -> FeatureMap:
        """The map of the patterns that these arrays hold."""
        options = self.options(directed, bool(edge_alphabet))
        features = self.core.from_parts(*parts, max(1, len(alphabet)), len(edge_alphabet), *options)
        return self.map(self, features, alphabet, edge_alphabet, directed)

    def _counted(self, alphabet: list[str], edge_alphabet: list[str]) -> tuple[list[str], list[str]]:
        """Alphabets of nodes and edges; empty where their labels do not count."""
        which = self.counted_labels
        return alphabet if which in ("all", "nodes") else [], edge_alphabet if which in ("all", "edges") else []


@dataclass(eq=False, repr=False)
class GraphFeatureMap(CoreMap, MergingMap, NodeLabelledMap):
    """Patterns and their ids. Unseen patterns have none."""

    alphabet: list[str]
    edge_alphabet: list[str]
    directed: bool

    def core_arrays(self, batch: Graphs) -> CoreArrays:
        """New graphs with labels coded as in fitting."""
        self.kernel.check_batch(batch)
        return batch.core_arrays_over(self.alphabet, self.edge_alphabet, self.kernel.counted_labels)

    def transform(self, batch: Graphs, n_jobs: int | None = None) -> Rows:
        rows = self.features.transform(self.core_arrays(batch), effective_n_jobs(n_jobs))
        return Rows.from_core(rows, self.n_features)

    def merge(self, other: FeatureMap) -> Merged:
        other = alike(GraphFeatureMap, self, other, "kernel")
        mine, theirs = np.arange(self.n_features), np.arange(other.n_features)
        if not (self.n_features and other.n_features):
            return (self, mine, theirs) if self.n_features else (other, mine, theirs)
        one, two = of_one_kind(self, other, self.kernel.counted_labels)
        alphabet, codes = united(one.alphabet, two.alphabet)
        edge_alphabet, edge_codes = united(one.edge_alphabet, two.edge_alphabet)
        merged, theirs = one.merge_coded(two, codes, edge_codes, (alphabet, edge_alphabet, one.directed))
        return merged, mine, theirs

    @abstractmethod
    def merge_coded(self, other: Any, codes: np.ndarray, edge_codes: np.ndarray, names: tuple[Any, ...]) -> Any:
        """Merges with `other`, whose labels get these codes: the map, with these names, and the ids of the features of `other`."""

    def has_edges(self) -> bool:
        """Returns whether the features may depend on edges; if not, it does not matter whether edges are directed or labelled."""
        return True

    def of_graphs_like(self, other: "GraphFeatureMap") -> FeatureMap:
        """The same features of graphs whose edges are like those of another map."""
        return self.kernel.map_of(self.parts(), self.alphabet, other.edge_alphabet, other.directed)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        spec = {"alphabet": self.alphabet, "edge_alphabet": self.edge_alphabet, "directed": self.directed}
        return spec, dict(zip(self.kernel.arrays, self.parts(), strict=True))


class GraphPatternMap(GraphFeatureMap, LocatingMap):
    """Patterns of labels that occur at nodes and edges."""

    quotes = True  # labels in names that have characters of which names are made

    def core_arrays(self, batch: Graphs) -> CoreArrays:
        if batch.directed and not self.directed and len(batch.targets):
            raise InputError(
                "these graphs are directed, but those that the features were fitted on are not: fit on directed graphs, in "
                "which an undirected edge is two arcs, or give undirected ones"
            )
        return super().core_arrays(batch)

    def feature_name(self, id: int) -> str:
        return self.pattern_name(self.features.pattern_of(id))

    @abstractmethod
    def pattern_name(self, pattern: int) -> str:
        """The name of a pattern."""

    def label(self, code: int) -> str:
        """The label of a node in names."""
        if not self.alphabet:
            return "*"
        return shown(self.alphabet[code]) if self.quotes else self.alphabet[code]

    def edge_label(self, code: int) -> str:
        """The label of an edge in names, between two dashes; one dash if edges have no labels."""
        return f"-{shown(self.edge_alphabet[code])}-" if self.edge_alphabet else "-"

    def merge_coded(self, other: Any, codes: np.ndarray, edge_codes: np.ndarray, names: tuple[Any, ...]) -> Any:
        features, theirs = self.features.merge(other.features, codes, edge_codes)
        return type(self)(self.kernel, features, *names), theirs

    def occurrences(self, batch: Graphs) -> Occurrences:
        arrays = self.core_arrays(batch)
        ids, first, second, times, factors, examples = self.features.occurrences(arrays)
        owners = np.repeat(np.arange(len(batch)), np.diff(examples))
        order = np.lexsort((second, first, owners))
        ids, first, second, times, factors = (each[order] for each in (ids, first, second, times, factors))
        if self.kernel.counts != "raw":  # the occurrences of a feature share its value
            _, which = np.unique(owners * max(1, self.n_features) + ids, return_inverse=True)
            counts = np.bincount(which, times)
            times = times * (transformed(self.kernel.counts, counts) / counts)[which]
        offsets, parts = self.covered(batch, arrays, owners, examples, first, second)
        return Occurrences(ids, times * factors, offsets, parts, examples)

    @abstractmethod
    def covered(self, batch: Any, arrays: Any, owners: Any, examples: Any, first: Any, second: Any) -> Any:
        """Offsets and parts of occurrences: part v is node v, part n_nodes + e is edge e."""


def of_one_kind(one: Map, other: Map, labels: Labels) -> tuple[Map, Map]:
    """Two maps of graphs to merge; refused if the graphs are of different kinds: directed or not, with labels that count or not."""
    if (bool(one.edge_alphabet), one.directed) != (bool(other.edge_alphabet), other.directed):
        # Graphs without edges are of any kind.
        mine, theirs = ((each.has_edges(), bool(each.edge_alphabet), each.directed) for each in (one, other))
        if mine < theirs and not mine[0]:
            one = one.of_graphs_like(other)
        elif not theirs[0]:
            other = other.of_graphs_like(one)
    if one.directed != other.directed:
        first, second = ("directed", "undirected") if one.directed else ("undirected", "directed")
        raise InputError(
            f"the features are of {first} and of {second} graphs: in a directed graph, an undirected edge is two arcs"
        )
    for side, what in (("nodes", "alphabet"), ("edges", "edge_alphabet")):
        if labels in ("all", side) and bool(getattr(one, what)) != bool(getattr(other, what)):
            raise InputError(
                f"the features are of graphs with and without labels of {side}: label all, or use labels='none'"
            )
    return one, other


def shown(label: str) -> str:
    """A label within a name, quoted if it has characters that names use.

    >>> shown("C"), shown("a-b")
    ('C', '"a-b"')
    """
    return label if PLAIN.fullmatch(label) else json.dumps(label, ensure_ascii=False)


def edges_of_arcs(batch: Graphs) -> np.ndarray:
    """The edge of every arc, counted from the first edge of its graph, in the order of ``Graph.edges``."""
    graphs = np.repeat(np.arange(len(batch)), np.diff(batch.arcs[batch.offsets]))
    first = np.concatenate([[0], np.cumsum(batch.n_edges)])
    if batch.directed:
        return np.arange(len(batch.targets)) - first[graphs]
    base = batch.offsets[graphs]
    ends = base + np.minimum(batch.sources, batch.targets), base + np.maximum(batch.sources, batch.targets)
    _, edges = np.unique(ends[0] * (len(batch.labels) + 1) + ends[1], return_inverse=True)
    return edges - first[graphs]


def by_part(batch: Graphs, nodes: np.ndarray, arcs: np.ndarray) -> np.ndarray:
    """Values of nodes and of arcs, one row each, as values of parts: an undirected edge has the sum of both its arcs."""
    n_nodes = np.diff(batch.offsets)
    values = np.zeros((int(batch.part_offsets[-1]), nodes.shape[1]))
    owners = np.repeat(np.arange(len(batch)), n_nodes)
    values[np.arange(len(nodes)) + (batch.part_offsets - batch.offsets)[owners]] = nodes
    graphs = np.repeat(np.arange(len(batch)), np.diff(batch.arcs[batch.offsets]))
    np.add.at(values, (batch.part_offsets[:-1] + n_nodes)[graphs] + edges_of_arcs(batch), arcs)
    return values
