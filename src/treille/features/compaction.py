"""Compaction of rows for solvers: fewer entries, the same inner products. One step, for the rows of any kernel.

A solver that works on rows keeps W' = sum_i alpha_i y_i phi(x_i) up to date, one number per cell. In the plainest representation,
"flat", a cell is a feature. Compaction changes the cells, and with them the number of entries that a step reads and writes:

- cells are ordered by frequency, so that most reads hit the cache;
- singletons, features that occur in one row only, need no cell: one number per row stands for all of them;
- proportional columns are merged into one cell ("merged");
- families of nearly equal columns, such as gapped k-mers that are shifts of each other, are written in an orthonormal basis whose
  first vector is the mean of the family (Helmert's matrix): most of the other coordinates are 0 ("helmert").

All representations give the same iterates, up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from treille import _core
from treille.data.base import readable_size
from treille.features.concatenated_rows import CenteredRows
from treille.features.feature_map import Families, FeatureMap
from treille.features.rows import FeatureRows, Rows
from treille.io.errors import InputError

REPRESENTATIONS = ("auto", "naive", "trie", "automaton", "flat", "merged")
# Finding proportional columns costs about as much as solving one problem, and the share of entries it removes roughly equals the
# share of singletons. So it pays if that share, times the number of problems, is well above 1.
PAYS = 3.0
LONG = 4096  # entries per row from which a change of basis pays


@dataclass(frozen=True)
class Representation:
    """Rows in the layout that a solver in the core works on.

    >>> from treille.kernels import NGram
    >>> kernel = NGram(2)
    >>> features, rows = kernel.fit_features(kernel.batch(["abcabc", "abcd", "cd"]))
    >>> merged = represent(features, rows, "merged")
    >>> print(merged)
    merged, as given: 4 features in 3 cells, 4 of 7 entries
    >>> merged.read(np.array([[1.0], [2.0], [3.0]])).round(2).ravel().tolist()
    [0.71, 0.71, 2.0, 3.0]
    """

    name: str
    why: str
    sizes: str
    core: Any  # what solvers in the core take
    n_cells: int
    reader: Callable[[np.ndarray], np.ndarray] | None = None

    def read(self, cells: np.ndarray) -> np.ndarray:
        """The weight of every feature, from the cells that a solver returns: one row per feature, one column per function."""
        return cells if self.reader is None else self.reader(cells)

    def __str__(self) -> str:
        return f"{self.name}, {self.why}: {self.sizes}"


def check_representation(name: Any) -> None:
    """Refuses an unknown representation.

    >>> check_representation("flat")
    """
    if name not in REPRESENTATIONS:
        raise InputError(f"representation is {name!r}, expected one of {', '.join(map(repr, REPRESENTATIONS))}")


def represent(
    features: FeatureMap,
    rows: FeatureRows,
    representation: str = "auto",
    n_problems: int = 1,
    n_jobs: int | None = None,
) -> Representation:
    """The rows in the representation asked for; "auto": the one that costs least for `n_problems` problems on the same rows.

    >>> from treille.kernels import NGram
    >>> print(represent(*NGram(1).fit_features(NGram(1).batch(["aab", "ac"]))))
    flat, singletons folded, because 2 of 4 entries are singletons, with 1 problem: 3 features in 1 cells and 2 numbers of rows
    """
    check_representation(representation)
    threads = effective_n_jobs(n_jobs)
    if isinstance(rows, Rows):
        return _represent_part(features, rows, features.families()[0], representation, n_problems, threads)
    if representation in ("naive", "trie", "automaton"):
        raise InputError(
            f"representation is {representation!r}, which is for the features of one kernel, but the features are those of a sum, "
            "or centred: use 'auto', 'flat' or 'merged'"
        )
    known = features.families()
    families = known if len(known) == len(rows.parts) else (None,) * len(rows.parts)
    each = [
        _centered(part)
        if isinstance(part, CenteredRows)
        else _represent_part(features, part, own, representation, n_problems, threads)
        for part, own in zip(rows.parts, families, strict=True)
    ]
    return _concatenated(rows, each)


def _represent_part(
    features: FeatureMap, rows: Rows, families: Families | None, representation: str, n_problems: int, threads: int
) -> Representation:
    n_features = rows.n_features
    if representation == "flat":
        core = replace(rows, n_shared=None).for_core()
        return Representation("flat", "as given", f"{n_features:,} cells, one per feature", core, n_features)
    if representation == "naive":
        sizes = f"{len(rows):,} alphas; every product reads all rows"
        return Representation("naive", "as given", sizes, _core.NaiveRows.of(rows.for_core()), n_features)
    if representation in ("trie", "automaton"):
        strings = features.strings()
        args = (rows.for_core(), strings.symbols, strings.offsets)
        if representation == "trie":
            core, cells = _core.TrieRows.of(*args), ""
        else:
            core = _core.AutomatonRows.of(*args, threads)
            cells = f"{core.n_cells:,} cells, "
        sizes = f"{core.n_arcs:,} transitions, {cells}{readable_size(core.nbytes)}"
        return Representation(representation, "as given", sizes, core, n_features)
    ordered, ids = _by_frequency(rows, threads)
    singletons = n_features - ordered.n_shared
    counts = f"{singletons:,} of {rows.n_entries:,} entries are singletons, with {n_problems} problem{'s' * (n_problems != 1)}"
    if representation == "merged" or n_problems * singletons >= PAYS * rows.n_entries > 0:
        return _merged(ordered, ids, threads, "as given" if representation == "merged" else f"because {counts}")
    sizes = f"{n_features:,} features in {ordered.n_shared:,} cells and {len(rows):,} numbers of rows"
    reader = None if ids is None else lambda cells: cells[ids]
    return Representation("flat", f"singletons folded, because {counts}", sizes, ordered.for_core(), n_features, reader)


def _by_frequency(rows: Rows, threads: int) -> tuple[Rows, np.ndarray | None]:
    """The rows with ids that fall with frequency, and the new id of every feature (None: unchanged)."""
    if rows.n_shared is not None:
        return rows, None
    matrix = replace(rows, scale=np.ones(len(rows))).to_csr(threads)
    counts = np.bincount(matrix.indices, minlength=rows.n_features)
    order = np.argsort(-counts, kind="stable")
    ids = np.empty(len(order), np.int64)
    ids[order] = np.arange(len(order))
    ordered = Rows.from_csr(matrix, rows.sq_norms, ids=ids, n_features=len(ids), threads=threads)
    return replace(ordered, scale=rows.scale, n_shared=int((counts > 1).sum())), ids


def _merged(rows: Rows, ids: np.ndarray | None, threads: int, why: str) -> Representation:
    (indptr, entries, code_bits, codebook), n_cells, n_shared, classes, factors = _core.merged_rows(
        rows.for_core(), threads
    )
    merged = Rows(indptr, entries, code_bits, codebook, rows.scale, rows.sq_norms, n_cells, n_shared)
    shared = int(((entries >> code_bits) < n_shared).sum())
    if ids is not None:
        classes, factors = classes[ids], factors[ids]
    sizes = f"{rows.n_features:,} features in {n_cells:,} cells, {shared:,} of {rows.n_entries:,} entries"
    return Representation(
        "merged", why, sizes, merged.for_core(), n_cells, lambda cells: factors[:, None] * cells[classes]
    )


def _centered(rows: CenteredRows) -> Representation:
    return Representation("flat", "centred", f"{rows.n_features:,} features", rows.part(), rows.n_features)


def _concatenated(rows: FeatureRows, each: Sequence[Representation]) -> Representation:
    parts = [
        r.core if isinstance(p, CenteredRows) else _core.RowsPart(r.core, *[np.empty(0)] * 3)
        for p, r in zip(rows.parts, each, strict=True)
    ]
    cuts = np.cumsum([0, *(part.n_cells for part in each)])

    def read(cells: np.ndarray) -> np.ndarray:
        return np.concatenate([part.read(cells[a:b]) for part, (a, b) in zip(each, pairwise(cuts), strict=True)])

    return Representation(
        "concatenated", "part by part", "; ".join(map(str, each)), _core.SideBySide(parts), int(cuts[-1]), read
    )
