"""Which kernel suits data of a kind, and why."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

from treille.data import Lattices, Strings
from treille.data.machines import holds_machines
from treille.data.trees import looks_like_trees
from treille.data.vectors import looks_like_vectors
from treille.kernels import Kernel, Linear, NGram, SubsetTree


def default_kernel(X: Any) -> tuple[Kernel, str]:
    """A sensible kernel for data of this kind, and the reason."""
    if looks_like_vectors(X):
        return Linear(), "chosen: rows of numbers have a weight for each column"
    if looks_like_trees(X):
        return SubsetTree().normalized(), "chosen: fragments of trees, sizes evened out"
    if isinstance(X, Lattices) or holds_machines(X):
        kernel = NGram(2, min_n=1, unit="word").normalized()
        return kernel, "chosen: expected counts of single symbols and pairs, lengths evened out, suit most lattices"
    unit = X.unit if isinstance(X, Strings) else Strings(list(islice(X, 1)) if isinstance(X, Iterable) else X).unit
    if unit in ("word", "token", "integer"):
        kernel = NGram(2, min_n=1, unit="word").normalized()
        return kernel, "chosen: single symbols and pairs, lengths evened out, suit sequences of words or events"
    kernel = NGram(5, unit="byte" if unit == "byte" else "char").normalized()
    return kernel, "chosen: 5-grams of characters, lengths evened out, suit most texts"
