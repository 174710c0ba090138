"""Compaction of rows for solvers: fewer entries, the same inner products. One step, for the rows of any kernel.

A solver that works on rows keeps W' = sum_i alpha_i y_i phi(x_i) up to date, one number per cell. In the plainest representation,
"flat", a cell is a feature. Compaction changes the cells, and with them the number of entries that a step reads and writes:

- cells are ordered by frequency, so that most reads hit the cache;
- singletons, features that occur in one row only, need no cell: one number per row represents all of them;
- proportional columns are merged into one cell ("merged");
- families of nearly equal columns, such as gapped k-mers that are shifts of each other, are written in an orthonormal basis whose
  first vector is the mean of the family (Helmert's matrix): most of the other coordinates are 0 ("helmert").

All representations give the same iterates, up to rounding.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from treille import _core
from treille.data.base import readable_size
from treille.features.abilities import having
from treille.features.conjunction_rows import ConjunctionRows
from treille.features.feature_map import Families, FeatureMap, StringMap
from treille.features.rows import FeatureRows, MatrixRows, Rows
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs

REPRESENTATIONS = ("auto", "naive", "trie", "automaton", "flat", "merged")
# Finding proportional columns costs about as much as solving one problem, and the share of entries it removes roughly equals the
# share of singletons. So it pays if that share, times the number of problems, is well above 1.
PAYS = 3.0


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
    weights: bool = True  # whether solvers give the weights of cells, not only the coefficients of examples

    def read(self, cells: np.ndarray) -> np.ndarray:
        """The weight of every feature, from the cells that a solver returns: one row per feature, one column per function."""
        if not isinstance(self.core, (_core.CompactRows, _core.ConcatenatedRows)):  # a cell for each feature
            return cells
        weights = self.core.read(np.ascontiguousarray(cells).ravel(), cells.shape[1])
        return weights.reshape(len(weights) // max(1, cells.shape[1]), cells.shape[1])

    def __str__(self) -> str:
        return f"{self.name}, {self.why}: {self.sizes}"


def check_representation(name: Any) -> None:
    """Refuses an unknown representation."""
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
    flat, because only 2 of 4 entries are singletons, with 1 problem: 3 features in 1 cells and 2 numbers of rows
    """
    check_representation(representation)
    threads = effective_n_jobs(n_jobs)
    if isinstance(rows, Rows):
        if representation == "naive":
            sizes = f"{len(rows):,} alphas; every product reads all rows"
            return Representation("naive", "as given", sizes, _core.NaiveRows.of(rows.for_core()))
        if representation in ("trie", "automaton"):
            return _of_strings(features, rows, representation, threads)
        return _compact(rows, features.families()[0], representation, n_problems, threads)
    if isinstance(rows, ConjunctionRows):
        if representation not in ("auto", "flat"):
            raise rows.refusal(Rows)
        sizes = f"{rows.n_features:,} conjunctions, one cell each"
        return Representation(
            "on the fly", "because rows by conjunction would not fit in memory", sizes, rows.for_core()
        )
    if representation in ("naive", "trie", "automaton"):
        raise InputError(
            f"representation is {representation!r}, which is for the features of one kernel, but the features belong to a "
            "sum, or are centred: use 'auto', 'flat' or 'merged'"
        )
    known, terms = features.families(), having(rows, MatrixRows).parts
    families = known if len(known) == len(terms) else (None,) * len(terms)
    parts, each = [], []
    for part, own in zip(terms, families, strict=True):
        each.append(_compact(having(part.sparse, Rows), own, representation, n_problems, threads))
        parts.append(_core.RowsTerm(each[-1].core, *part.center()))
    core, sizes = _core.ConcatenatedRows(parts), "; ".join(map(str, each))
    return Representation("concatenated", "part by part", sizes, core)


def _of_strings(features: FeatureMap, rows: Rows, representation: str, threads: int) -> Representation:
    strings = having(features, StringMap).strings()
    args = (rows.for_core(), strings.symbols, strings.offsets)
    if representation == "trie":
        trie = _core.TrieRows.of(*args)
        return Representation("trie", "as given", f"{trie.n_arcs:,} transitions, {readable_size(trie.nbytes)}", trie)
    machine = _core.AutomatonRows.of(*args, threads)
    sizes = f"{machine.n_arcs:,} transitions, {machine.n_cells:,} cells, {readable_size(machine.nbytes)}"
    return Representation("automaton", "as given", sizes, machine)


def _compact(
    rows: Rows, families: Families | None, representation: str, n_problems: int, threads: int
) -> Representation:
    n_features, core, weights = f"{rows.n_features:,}", rows.coded(), rows.column_weights
    if representation == "flat":
        return Representation("flat", "as given", f"{n_features} cells, one per feature", rows.weighted_core())
    merge, why = representation == "merged", "as given"
    if representation == "auto" and weights is not None:
        compact, why = _core.compact(core, None, False, threads).weighted(weights), "because columns have weights"
    elif representation == "auto":
        compact = _core.compact(core, families, False, threads)
        if compact.n_families:
            sizes = (
                f"{n_features} features as {compact.n_families:,} means and differences, {compact.n_entries:,} entries"
            )
            return Representation(
                "helmert", "because rows are long and families of columns nearly equal", sizes, compact
            )
        singletons = rows.n_entries - compact.n_entries
        merge = n_problems * singletons >= PAYS * rows.n_entries > 0
        why = f"because {'' if merge else 'only '}{singletons:,} of {rows.n_entries:,} entries are singletons, "
        why += f"with {n_problems} problem{'s' * (n_problems != 1)}"
    if merge:
        compact = _core.compact(rows.for_core(), None, True, threads)
        sizes = (
            f"{n_features} features in {compact.n_cells:,} cells, {compact.n_entries:,} of {rows.n_entries:,} entries"
        )
        return Representation("merged", why, sizes, compact)
    sizes = f"{n_features} features in {compact.n_shared:,} cells and {len(rows):,} numbers of rows"
    return Representation("flat", why, sizes, compact)
