"""Rows in parts on disk: one flat file for each part and each leaf of the kernel."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from treille.features import ConcatenatedRows, FeatureRows, MatrixRows, PerProblemRows, Rows
from treille.features.abilities import having
from treille.features.parted_rows import DiskRows
from treille.io.errors import InputError
from treille.scale.folder import read_arrays, write_arrays

ROWS = ("indptr", "entries", "codebook", "scale", "sq_norms")


class FileRows(DiskRows):
    """The rows of one leaf, in one file per part. Ids only grew while files were written: they are below `n_features`."""

    def __init__(self, files: Sequence[Path], lengths: np.ndarray, n_features: int):
        self.files, self.lengths, self.n_features = tuple(files), lengths, n_features

    def load(self, part: int) -> Rows:
        spec, arrays = read_arrays(self.files[part])
        indptr, entries, codebook, scale, sq_norms = (arrays[name] for name in ROWS)
        return Rows(indptr, entries, spec["code_bits"], codebook, scale, sq_norms, self.n_features)

    def bytes_of(self, part: int) -> int:
        return self.files[part].stat().st_size


def rows_of_leaf(rows: FeatureRows) -> Rows:
    """The rows of a leaf kernel for a part of the data; other layouts than `Rows` are refused."""
    if not isinstance(rows, Rows) or rows.column_weights is not None:
        raise InputError(
            f"the rows of a part are {type(rows).__name__}, which cannot be kept on disk: divide the data into smaller parts, or "
            "use another kernel"
        )
    return rows


def write_rows(path: Path, rows: Rows, **spec: Any) -> None:
    """Writes the rows of a part for `FileRows`."""
    write_arrays(path, {name: getattr(rows, name) for name in ROWS}, {"code_bits": rows.code_bits} | spec)


def settled(store: DiskRows, folder: Path) -> DiskRows:
    """The same rows, whose norms and weights are computed once, here, instead of whenever a part is read.

    Weights and norms change the scale of rows and the weights of columns, never entries: a file per part keeps scales and norms.
    """
    leaves = _leaves(store)
    if leaves == [store]:
        return store
    weights: list[list[np.ndarray | None]] = []
    files = []
    for part in range(len(store.lengths)):
        rows = store.load(part)
        each = [having(own, MatrixRows).parts for own in rows.problems]
        if not all(isinstance(term, Rows) for terms in each for term in terms):
            raise InputError(f"rows such as {type(each[0][0]).__name__} are not trained in parts: use another kernel")
        weights = weights or [[term.column_weights for term in terms] for terms in each]
        files.append(folder / f"scales-{part:06}.bin")
        named = ((f"{k}.{t}", term) for k, terms in enumerate(each) for t, term in enumerate(terms))
        write_arrays(files[-1], {name: np.stack([term.scale, term.sq_norms]) for name, term in named})
    return SettledRows(leaves, files, weights)


def _leaves(store: Any) -> list[FileRows]:
    if isinstance(store, FileRows):
        return [store]
    return [leaf for inner in store.stores for leaf in _leaves(inner)]


class SettledRows(DiskRows):
    """The rows of leaves from files, with new scales and weights of columns: for each problem, the weights of each leaf."""

    def __init__(
        self, leaves: Sequence[FileRows], files: Sequence[Path], weights: Sequence[Sequence[np.ndarray | None]]
    ):
        self.leaves, self.files, self.weights, self.lengths = tuple(leaves), tuple(files), weights, leaves[0].lengths

    def load(self, part: int) -> FeatureRows:
        leaves, (_, scales) = [leaf.load(part) for leaf in self.leaves], read_arrays(self.files[part])
        problems: list[FeatureRows] = []
        for k, weights in enumerate(self.weights):
            terms: list[FeatureRows] = []
            for t, (own, column_weights) in enumerate(zip(leaves, weights, strict=True)):
                scale, sq_norms = scales[f"{k}.{t}"]
                terms.append(replace(own, scale=scale, sq_norms=sq_norms, column_weights=column_weights))
            problems.append(terms[0] if len(terms) == 1 else ConcatenatedRows(terms))
        return problems[0] if len(problems) == 1 else PerProblemRows(problems)

    def bytes_of(self, part: int) -> int:
        return sum(leaf.bytes_of(part) for leaf in self.leaves)
