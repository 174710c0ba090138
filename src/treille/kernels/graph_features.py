"""The common base of graph kernels that count patterns: labels of nodes and edges, shortest paths, refined labels."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from typing import Any, ClassVar, TypeVar

import numpy as np

from treille.data import Graphs
from treille.data.alphabet import united
from treille.data.graphs import CoreArrays, Labels
from treille.features import FeatureMap, FeatureRows, LocatingMap, MergingMap, Occurrences, Rows
from treille.features.feature_map import check_id
from treille.features.merging import alike
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.counts import Counts, check_counts, transformed
from treille.kernels.graph_kernels import GraphKernel, NodeLabelledMap

Map = TypeVar("Map", bound=Any)
PLAIN = re.compile(r"[^\s\"(),^…#-]+")  # labels that names contain as they are


class GraphPatternKernel(GraphKernel):
    """k(x, y) = sum over patterns z of s_z^2 t(count_x(z)) t(count_y(z)). Patterns are compared exactly."""

    core: ClassVar[Any]  # the features of this kind of patterns
    map: ClassVar[type[GraphFeatureMap]]
    counts: Counts

    @property
    @abstractmethod
    def counted_labels(self) -> Labels:
        """Which labels count."""

    @abstractmethod
    def kind(self, directed: bool, edge_labelled: bool) -> Any:
        """The patterns, for the core."""

    def check(self) -> None:
        check_counts(self.counts)

    def check_batch(self, batch: Graphs) -> None:
        """Refuses graphs that this kernel does not read, or not in a reasonable time."""

    def fit_features(self, batch: Graphs, n_jobs: int | None = None) -> tuple[FeatureMap, FeatureRows]:
        self.check()
        self.check_batch(batch)
        which = self.counted_labels
        alphabet = batch.alphabet if which in ("all", "nodes") else []
        edge_alphabet = batch.edge_alphabet if which in ("all", "edges") else []
        kind = self.kind(batch.directed, bool(edge_alphabet))
        arrays = batch.core_arrays(which)
        features, rows = self.core.fit(arrays, kind, check_counts(self.counts), effective_n_jobs(n_jobs))
        fitted = self.map(self, features, alphabet, edge_alphabet, batch.directed)
        return fitted, Rows.from_core(rows, fitted.n_features)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        cells = stored.array(arrays, "cells", np.int32)
        parts = cells, stored.offsets(arrays, "starts", len(cells)), stored.array(arrays, "features", np.int32)
        names = stored.names(spec), stored.names(spec, "edge_alphabet")
        return _rebuild(self, parts, *names, stored.value(spec, "directed", bool))


class GraphFeatureMap(LocatingMap, MergingMap, NodeLabelledMap):
    """Patterns and their ids. Unseen patterns have none."""

    def __init__(self, kernel: Any, features: Any, alphabet: list[str], edge_alphabet: list[str], directed: bool):
        self.kernel = kernel
        self.features = features
        self.alphabet = alphabet
        self.edge_alphabet = edge_alphabet
        self.directed = directed

    @property
    def n_features(self) -> int:
        return len(self.features)

    def core_arrays(self, batch: Graphs) -> CoreArrays:
        """New graphs with labels coded as in fitting."""
        if batch.directed and not self.directed and len(batch.targets):
            raise InputError(
                "these graphs are directed, but those that the features were fitted on are not: fit on directed graphs, in "
                "which an undirected edge is two arcs, or give undirected ones"
            )
        self.kernel.check_batch(batch)
        return batch.core_arrays_over(self.alphabet, self.edge_alphabet, self.kernel.counted_labels)

    def transform(self, batch: Any, n_jobs: int | None = None) -> Rows:
        return Rows.from_core(
            self.features.transform(self.core_arrays(batch), effective_n_jobs(n_jobs)), self.n_features
        )

    def name(self, id: int) -> str:
        check_id(id, self.n_features)
        return self.feature_name(self.features.pattern_of(id), self)

    @abstractmethod
    def feature_name(self, pattern: int, names: Any) -> str:
        """The name of a pattern; ``names.label(code)`` are those of labels of nodes."""

    def label(self, code: int) -> str:
        """The label of a node as it is written in names: quoted if it has characters that names use."""
        return shown(self.alphabet[code]) if self.alphabet else "*"

    def edge_label(self, code: int) -> str:
        """The label of an edge as it is written in names, between two dashes; they are one dash if there are none."""
        return f"-{shown(self.edge_alphabet[code])}-" if self.edge_alphabet else "-"

    def restrict(self, ids: np.ndarray) -> GraphFeatureMap:
        return _rebuild(self.kernel, self._parts(ids), self.alphabet, self.edge_alphabet, self.directed)

    def merge(self, other: FeatureMap) -> tuple[GraphFeatureMap, np.ndarray, np.ndarray]:
        other = alike(GraphFeatureMap, self, other, "kernel")
        mine, theirs = np.arange(self.n_features), np.arange(other.n_features)
        if not (self.n_features and other.n_features):
            return (self, mine, theirs) if self.n_features else (other, mine, theirs)
        one, two = of_one_kind(self, other, self.kernel.counted_labels)
        alphabet, codes = united(one.alphabet, two.alphabet)
        edge_alphabet, edge_codes = united(one.edge_alphabet, two.edge_alphabet)
        features, theirs = one.features.merge(two.features, codes, edge_codes)
        return type(self)(self.kernel, features, alphabet, edge_alphabet, one.directed), mine, theirs

    def has_edges(self) -> bool:
        """Whether the features may depend on edges; if not, these may as well be directed or not, labelled or not."""
        return True

    def of_graphs_like(self, other: GraphFeatureMap) -> GraphFeatureMap:
        """The same features of graphs whose edges are like those of another map."""
        parts = self._parts(np.arange(self.n_features))
        return _rebuild(self.kernel, parts, self.alphabet, other.edge_alphabet, other.directed)

    def occurrences(self, batch: Any) -> Occurrences:
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
    def covered(
        self,
        batch: Any,
        arrays: CoreArrays,
        owners: np.ndarray,
        examples: np.ndarray,
        first: np.ndarray,
        second: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Offsets and parts of occurrences: part v is node v, part n_nodes + e is edge e."""

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        spec = {"alphabet": self.alphabet, "edge_alphabet": self.edge_alphabet, "directed": self.directed}
        return spec, dict(zip(("cells", "starts", "features"), self._parts(np.arange(self.n_features)), strict=True))

    def _parts(self, ids: np.ndarray) -> Any:
        return self.features.parts(np.ascontiguousarray(ids, np.int64))

    def __reduce__(self) -> tuple[Any, ...]:
        parts = self._parts(np.arange(self.n_features))
        return _rebuild, (self.kernel, parts, self.alphabet, self.edge_alphabet, self.directed)


def _rebuild(kernel: Any, parts: Any, alphabet: list[str], edge_alphabet: list[str], directed: bool) -> GraphFeatureMap:
    kind, sizes = kernel.kind(directed, bool(edge_alphabet)), (max(1, len(alphabet)), len(edge_alphabet))
    features = kernel.core.from_parts(*parts, *sizes, kind, check_counts(kernel.counts))
    fitted: GraphFeatureMap = kernel.map(kernel, features, alphabet, edge_alphabet, directed)
    return fitted


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
    """Values of nodes and of arcs, one row each, as values of parts: an undirected edge has those of both its arcs."""
    n_nodes = np.diff(batch.offsets)
    values = np.zeros((int(batch.part_offsets[-1]), nodes.shape[1]))
    owners = np.repeat(np.arange(len(batch)), n_nodes)
    values[np.arange(len(nodes)) + (batch.part_offsets - batch.offsets)[owners]] = nodes
    graphs = np.repeat(np.arange(len(batch)), np.diff(batch.arcs[batch.offsets]))
    np.add.at(values, (batch.part_offsets[:-1] + n_nodes)[graphs] + edges_of_arcs(batch), arcs)
    return values
