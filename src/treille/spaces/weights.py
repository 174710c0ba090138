"""Forms of W' = sum_i alpha_i y_i Phi_i: how solvers that go by rows keep it. All give the same iterates, up to rounding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from treille import _core
from treille.data import FeatureRows, Rows
from treille.data.base import readable_size
from treille.io.errors import InputError
from treille.kernels import FeatureMap

FORMS = ("auto", "naive", "trie", "automaton", "flat", "merged")
# A search for classes of features costs about what a solver costs for one problem, and about as large a part of the entries goes as
# stands in private features. So it pays where that part, times the number of problems, is well above 1.
PAYS = 3.0


@dataclass(frozen=True)
class WeightForm:
    """One form of W', ready for a solver.

    >>> from treille.kernels import NGram
    >>> kernel = NGram(2)
    >>> features, rows = kernel.fit_features(kernel.batch(["abcabc", "abcd", "cd"]))
    >>> print(weight_form("merged", features, rows))
    merged, as given: 4 features in 3 cells, 4 of 7 entries left
    >>> weight_form("merged", features, rows).read(np.array([[1.0], [2.0], [3.0]])).round(2).ravel().tolist()
    [0.71, 0.71, 2.0, 3.0]
    """

    name: str
    why: str
    core: Any  # the rows as solvers in the core take them
    sizes: str
    classes: np.ndarray | None = (
        None  # where cells stand for several features each: the cell of each feature, and its factor
    )
    factors: np.ndarray | None = None
    turn: Any = None  # where they are another basis of the features

    def read(self, cells: np.ndarray) -> np.ndarray:
        """The weight of every feature, from what the solver gives: a row a feature, a column a function."""
        if self.turn is not None:
            return self.turn.read(np.ascontiguousarray(cells).ravel(), cells.shape[1]).reshape(-1, cells.shape[1])
        return cells if self.factors is None else self.factors[:, None] * cells[self.classes]

    def __str__(self) -> str:
        return f"{self.name}, {self.why}: {self.sizes}"


def weight_form(
    name: str, features: FeatureMap, rows: FeatureRows, n_problems: int = 1, n_jobs: int | None = None
) -> WeightForm:
    """The form that is asked for, or for "auto" the one that costs least for `n_problems` problems on the same rows.

    >>> from treille.kernels import NGram
    >>> form = weight_form("auto", *NGram(1).fit_features(NGram(1).batch(["aab", "ac"])))
    >>> form.why
    'private features folded, because only 2 of 4 entries are private, with 1 problem'
    >>> form.sizes
    '3 features in 1 cells and 2 numbers of rows'
    """
    check_form(name)
    threads = effective_n_jobs(n_jobs)
    if not isinstance(rows, Rows):
        if name != "auto":
            raise InputError(
                f"weights is {name!r}, but the features are those of a sum, or centred: these are kept side by side; "
                "use weights='auto'"
            )
        return WeightForm("flat", "part by part", rows.for_core(), f"{rows.n_features:,} features")
    if name == "auto":
        private = rows.n_features - rows.n_shared  # one entry each
        pays = n_problems * private >= PAYS * rows.n_entries > 0
        said = (
            f"{private:,} of {rows.n_entries:,} entries are private, with {n_problems} problem{'s' * (n_problems != 1)}"
        )
        return _merged(rows, threads, f"because {said}") if pays else _folded(rows, f"because only {said}")
    if name == "merged":
        return _merged(rows, threads, "as given")
    if name == "flat":
        core = replace(rows, n_shared=rows.n_features).for_core()
        return WeightForm(name, "as given", core, f"{rows.n_features:,} cells, one a feature")
    if name == "naive":
        sizes = f"{len(rows):,} alphas, all rows read for each product"
        return WeightForm(name, "as given", _core.NaiveRows.of(rows.for_core()), sizes)
    strings = features.strings()
    if name == "trie":
        trie = _core.TrieRows.of(rows.for_core(), strings.symbols, strings.offsets)
        return WeightForm(name, "as given", trie, f"{trie.n_arcs:,} transitions, {readable_size(trie.nbytes)}")
    machine = _core.AutomatonRows.of(rows.for_core(), strings.symbols, strings.offsets, threads)
    sizes = f"{machine.n_arcs:,} transitions, {machine.n_cells:,} cells, {readable_size(machine.nbytes)}"
    return WeightForm(name, "as given", machine, sizes)


def turned_form(features: FeatureMap, rows: Rows, turn: Any) -> WeightForm:
    """W' in the basis that `turn` reads back, for rows in that basis.

    >>> from treille.kernels import GappedKmer
    >>> kernel = GappedKmer(10, 4)
    >>> turned_form(*kernel.fit_turned(kernel.batch(["ACGT" * 10, "AACGT" * 8]))).sizes
    '1,858 features as 751 means and what differs from them, 1,485 entries'
    """
    why = "shifts of a pattern as one family, because rows are long"
    sizes = f"{features.n_features:,} features as {turn.n_families:,} means and what differs from them, {rows.n_entries:,} entries"
    return WeightForm("turned", why, rows.for_core(), sizes, turn=turn)


def check_form(name: Any) -> None:
    """Refuses what is no form of W'.

    >>> check_form("flat")
    """
    if name not in FORMS:
        raise InputError(f"weights is {name!r}, expected one of {', '.join(map(repr, FORMS))}")


def _folded(rows: Rows, why: str) -> WeightForm:
    sizes = f"{rows.n_features:,} features in {rows.n_shared:,} cells and {len(rows):,} numbers of rows"
    return WeightForm("flat", f"private features folded, {why}", rows.for_core(), sizes)


def _merged(rows: Rows, threads: int, why: str) -> WeightForm:
    entries, n_classes, n_shared, classes, factors = _core.merged_rows(rows.for_core(), threads)
    indptr, words, code_bits, palette = entries
    merged = replace(
        rows,
        indptr=indptr,
        entries=words,
        code_bits=code_bits,
        palette=palette,
        n_features=n_classes,
        n_shared=n_shared,
    )
    shared = int(((merged.entries >> merged.code_bits) < n_shared).sum())
    sizes = f"{rows.n_features:,} features in {n_classes:,} cells, {shared:,} of {rows.n_entries:,} entries left"
    return WeightForm("merged", why, merged.for_core(), sizes, classes, factors)
