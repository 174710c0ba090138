"""Refined labels of graphs: their names, and other kernels on graphs that have them."""

from collections.abc import Callable, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from treille.data import Batch, Graphs
from treille.features import Contributions, FeatureMap, LocatingMap, Occurrences
from treille.features.abilities import having
from treille.features.merging import alike
from treille.io import stored
from treille.io.errors import InputError
from treille.kernels.additive import AdditiveMap, AdditiveOver
from treille.kernels.base import Kernel
from treille.kernels.graph_features import GraphFeatureMap, GraphPatternMap, NodeLabelledMap

LONGEST = 100  # characters of a name that is written in full
MEMO = 1_000_000  # patterns described at a time


class _Described(NamedTuple):
    root: str
    rounds: int
    digest: bytes
    name: str | None  # if it is short


class LabelNames:
    """Names of refined labels: the label of the node, then the labels of its neighbours in parentheses.

    A name of more than `LONGEST` characters is replaced by the latest round's name that is short enough, an ellipsis, and a hash.
    Making a name reads each pattern within it once; names in full would grow exponentially with the rounds.
    """

    def __init__(self, key: Callable[[int], list[int]], label: Callable[[int], str], edge: Callable[[int], str] | None):
        self.key, self.label, self.edge = key, label, edge
        self.known: dict[int, _Described] = {}

    def name(self, pattern: int) -> str:
        """The name of a pattern."""
        if len(self.known) > MEMO:
            self.known.clear()
        waiting = [pattern]
        while waiting:
            key = self.key(waiting[-1])
            missing = [other for other in self._within(key) if other not in self.known]
            if missing:
                waiting += missing
            else:
                self.known[waiting.pop()] = self._described(key)
        found = self.known[pattern]
        if found.name is not None:
            return found.name
        while (shorter := self.known[pattern]).name is None:
            pattern = self.key(pattern)[0]
        return f"{shorter.name}…#{found.digest.hex()}"

    def _within(self, key: list[int]) -> list[int]:
        return [] if key[0] < 0 else [key[0], *(key[2::2] if self.edge else key[1:])]

    def _described(self, key: list[int]) -> _Described:
        if key[0] < 0:
            root = self.label(-1 - key[0])
            return _Described(root, 0, _hash(_bytes(root)), root)
        before, *around = (self.known[other] for other in self._within(key))
        edges = list(map(self.edge, key[1::2])) if self.edge else [""] * len(around)
        parts = sorted(_bytes(edge) + each.digest for edge, each in zip(edges, around, strict=True))
        digest, root, rounds = _hash(b"\0".join([before.digest, *parts])), before.root, before.rounds + 1
        name = None
        length = sum(LONGEST if each.name is None else len(each.name) for each in around)
        if before.name is not None and length < LONGEST:
            inside = ",".join(sorted(f"{edge}{each.name}" for edge, each in zip(edges, around, strict=True)))
            # No round changes a label without arcs.
            name = f"{root}({inside})" if around or rounds == 1 else f"{root}()^{rounds}"
        return _Described(root, rounds, digest, name if name is not None and len(name) <= LONGEST else None)


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _hash(content: bytes) -> bytes:
    return blake2b(content, digest_size=8).digest()


class Rounds(AdditiveOver):
    """The sum of a kernel over graphs with the labels of each round; `refined` are these labels, fitted."""

    def __init__(self, kernel: Kernel, refined: Any):
        super().__init__(kernel)
        self.refined = refined

    def map_of(self, maps: list[FeatureMap]) -> AdditiveMap:
        return RoundsMap(self, maps)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> AdditiveMap:
        features = super().load_features(spec, arrays)
        names = {name for each in features.maps if isinstance(each, GraphFeatureMap) for name in each.alphabet}
        most = self.refined.features.n_patterns
        if not all(name.isascii() and name.isdigit() and len(name) < 11 and int(name) < most for name in names):
            raise InputError("the features in the file are of other labels than its refined labels")
        return features

    def terms(self) -> list[tuple[str, Kernel]]:
        return [(f"{place}: ", self.kernel) for place in range(self.refined.kernel.h + 1)]

    def batches(self, batch: Graphs) -> list[Batch]:
        n_rounds = self.refined.kernel.h
        labels = self.refined.features.labels(self.refined.core_arrays(batch), n_rounds).reshape(n_rounds + 1, -1)
        each = (np.unique(own, return_inverse=True) for own in labels)
        return [batch.relabelled(codes.astype(np.int32), list(map(str, numbers.tolist()))) for numbers, codes in each]


class RoundsMap(AdditiveMap, NodeLabelledMap):
    """The features of a kernel on the graphs with the labels of each round."""

    kernel: Any

    def name(self, id: int) -> str:
        return self._named.name(id)

    @cached_property
    def _named(self) -> AdditiveMap:
        """The maps of the rounds with labels by name in place of numbers; maps of kernels of other packages are unchanged."""
        refined = self.kernel.refined

        def named(features: FeatureMap) -> FeatureMap:
            try:
                found = relabelled(features, lambda alphabet: _RefinedNames(refined, alphabet))
            except InputError:
                return features
            if isinstance(found, GraphPatternMap) and type(found) is not type(refined):
                found.quotes = False
            return found

        return AdditiveMap(self.kernel, [named(each) for each in self.maps])

    def with_leaves(self, change: Callable[[FeatureMap], FeatureMap]) -> FeatureMap:
        return change(self)

    def merge(self, other: FeatureMap) -> tuple[AdditiveMap, np.ndarray, np.ndarray]:
        other = alike(RoundsMap, self, other)
        refined, _, ids = self.kernel.refined.merge(other.kernel.refined)
        before, after = (each.parts()[2] for each in (other.kernel.refined, refined))  # patterns of features
        names = dict(zip(map(str, before.tolist()), map(str, after[ids].tolist()), strict=True))
        renamed = [relabelled(each, lambda alphabet: [names[label] for label in alphabet]) for each in other.maps]
        both, mine, theirs = super().merge(RoundsMap(other.kernel, renamed))
        return RoundsMap(Rounds(self.kernel.kernel, refined), both.maps), mine, theirs

    def occurrences(self, batch: Any) -> Occurrences:
        each = zip(self.maps, self.kernel.batches(batch), strict=True)
        return Occurrences.concatenated(
            [having(own, LocatingMap).occurrences(labelled) for own, labelled in each], self.cuts[:-1].tolist()
        )

    def contributor(self, weights: np.ndarray) -> Callable[[Batch, int | None], Contributions]:
        find = super().contributor(weights)

        def joined(batch: Any, n_jobs: int | None) -> Contributions:
            # The graphs of every round have the nodes and edges of these.
            found = find(batch, n_jobs)
            values = np.zeros((int(batch.part_offsets[-1]), weights.shape[1]))
            for _, own in found.shares.values():
                values += own
            return Contributions.of(batch, values).plus(found.base)

        return joined

    def relabelled(self, rename: Callable[[Any], Any]) -> FeatureMap:
        refined = self.kernel.refined.relabelled(rename)
        return RoundsMap(Rounds(self.kernel.kernel, refined), self.maps)

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        (refined, arrays), (rounds, more) = self.kernel.refined.state(), super().state()
        return {"refined": refined, "rounds": rounds}, stored.under("refined", arrays) | stored.under("rounds", more)


def relabelled(features: FeatureMap, rename: Callable[[Any], Any]) -> FeatureMap:
    """The same features of graphs whose labels of nodes have other names: those that `rename` gives an alphabet."""
    return features.with_leaves(lambda leaf: having(leaf, NodeLabelledMap).relabelled(rename))


class _RefinedNames(Sequence[str]):
    """The names of an alphabet of numbers of refined labels, made one by one: few are asked for."""

    def __init__(self, refined: Any, alphabet: list[str]):
        self.refined = refined
        self.alphabet = alphabet

    def __len__(self) -> int:
        return len(self.alphabet)

    def __getitem__(self, code: Any) -> Any:
        return self.refined.pattern_name(int(self.alphabet[code]))
