"""Trees as files hold them: labels and parents of the nodes of one tree, and many trees in flat arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import numpy as np

from treille import _core

from .errors import InputError
from .packed import PackedExamples, joined_offsets, over_one_alphabet, running_sum, selection

Nodes = tuple[Sequence[str], Sequence[int]]  # of one tree: the label of each, and its parent, -1 for the root


@dataclass(frozen=True, repr=False)
class PackedTrees(PackedExamples):
    """Trees in flat arrays, as a file holds them; `treille.Trees` is made of them."""

    title: ClassVar[str] = "trees"
    labels: np.ndarray
    parents: np.ndarray
    offsets: np.ndarray
    alphabet: list[str]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Sequence[int]) -> PackedTrees:
        nodes, offsets = selection(self.offsets, rows)
        return PackedTrees(self.labels[nodes], self.parents[nodes], offsets, self.alphabet)

    @classmethod
    def join(cls, each: Sequence[PackedTrees]) -> PackedTrees:
        labels, alphabet = over_one_alphabet([(part.labels, part.alphabet) for part in each])
        offsets = joined_offsets(part.offsets for part in each)
        return cls(labels, np.concatenate([part.parents for part in each]), offsets, alphabet)

    def renamed(self, codes: np.ndarray, names: Sequence[str]) -> PackedTrees:
        """The same trees with the labels ``names[codes]``, in which a name may occur twice or be used by no node."""
        used, places = np.unique(codes, return_inverse=True)
        labels, alphabet = over_one_alphabet([(places, [names[code] for code in used.tolist()])])
        return PackedTrees(labels, self.parents, self.offsets, alphabet)

    @property
    def volume(self) -> int:
        return 8 * len(self.labels)


def pack(trees: Iterable[Nodes], place: Callable[[int], str] = "item {}".format) -> PackedTrees:
    """Trees of nodes in any order, as flat arrays in preorder; `place(i)` names tree i in messages.

    >>> parts = pack([(["NP", "S", "VP"], [1, -1, 1])])
    >>> parts.alphabet, parts.labels.tolist(), parts.parents.tolist()
    (['NP', 'S', 'VP'], [1, 0, 2], [-1, 0, 0])
    """
    items = list(trees)
    for i, (labels, parents) in enumerate(items):
        if len(labels) != len(parents):
            found = f"there are {len(labels)} labels and {len(parents)} parents"
            raise InputError(f"{place(i)}: {found}, expected one each")
    try:
        alphabet = sorted(set(chain.from_iterable(labels for labels, _ in items)))
    except TypeError:
        alphabet = [None]  # type: ignore[list-item]
    if not all(isinstance(label, str) for label in alphabet):
        i, label = next((i, x) for i, (labels, _) in enumerate(items) for x in labels if not isinstance(x, str))
        raise InputError(f"{place(i)}: a label is {label!r}, expected a str")
    codes = {label: code for code, label in enumerate(alphabet)}
    offsets = running_sum([len(labels) for labels, _ in items])
    coded = np.fromiter((codes[label] for names, _ in items for label in names), np.int32, count=offsets[-1])
    given = np.fromiter(chain.from_iterable(above for _, above in items), np.int64, count=offsets[-1])
    above = np.clip(given, -2, 2**31 - 1).astype(np.int32)  # what is beyond is no node of its tree either
    order, in_order, fault = _core.to_preorder(above, offsets)
    if fault is not None:
        tree, node, message = fault
        raise InputError(f"{place(tree)}{f', node {node}' if len(items[tree][0]) else ''}: {message}")
    if len(order):
        coded, above = coded[order], in_order
    return PackedTrees(coded, above, offsets, alphabet)
