"""Lattices of conversations: expected counts, training on these, and accuracy compared with the best path of each lattice.

The Fisher and CALLHOME lattices are read from the folder that TREILLE_DATA names.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1])]

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from harness import Page, arguments, interleaved, shown
from public_sets import fisher_callhome
from treille import SVC, Lattices
from treille.kernels import Kernel, NGram

KERNELS = {
    "words": NGram(1, unit="word"),
    "words and pairs": NGram(2, min_n=1, unit="word"),
    "words, pairs, triples": NGram(3, min_n=1, unit="word"),
}


def counting(page: Page, batch: Lattices, y: np.ndarray, repeats: int) -> None:
    """The time of computing expected counts, and of training on them."""
    rows = []
    for name, n in (("bigrams", 2), ("trigrams", 3)):
        kernel = NGram(n, unit="word")
        features, counts = kernel.fit_features(batch, n_jobs=2)
        jobs = {
            "counts": lambda kernel=kernel: kernel.fit_features(batch, n_jobs=2),
            "training": lambda kernel=kernel: SVC(kernel.normalized(), n_jobs=2).fit(batch, y),
        }
        seconds = interleaved(jobs, repeats)
        entries = f"{features.n_features:,}", f"{counts.n_entries:,}"
        rows.append((name, *entries, shown(seconds["counts"]), shown(seconds["training"])))
    page.table(
        f"Expected counts of {len(batch):,} lattices, {len(batch.sources):,} arcs, two threads; seconds, median (minimum)",
        ("features", "distinct", "entries", "counts", "counts and training an SVM"),
        rows,
    )


def questions(page: Page, batch: Lattices, y: np.ndarray) -> None:
    """Recognising questions, by the lattice and by its best path."""
    best = batch.best(n_jobs=2)
    rows = []
    for name, kernel in KERNELS.items():
        folds = [(area(batch, y, kernel, fold), area(best, y, kernel, fold)) for fold in range(5)]
        lattice, path = np.array(folds).T
        gain = lattice - path
        rows.append((name, formatted(lattice), formatted(path), f"{gain.mean():+.4f}", f"{(gain > 0).sum()} of 5"))
    page.table(
        f"Question or not, {int(y.sum()):,} of {len(y):,} are: area under the ROC curve, mean (deviation) of 5 folds",
        ("normalised counts of", "lattice", "best path", "gain", "folds in which the lattice wins"),
        rows,
    )


def area(X: Any, y: np.ndarray, kernel: Kernel, fold: int) -> float:
    train, test = list(StratifiedKFold(5, shuffle=True, random_state=0).split(y, y))[fold]
    model = SVC(kernel.normalized(), C=0.3, class_weight="balanced", n_jobs=2).fit(X[train], y[train])
    return float(roc_auc_score(y[test], model.decision_function(X[test])))


def formatted(values: np.ndarray) -> str:
    return f"{values.mean():.4f} ({values.std():.4f})"


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--part", default="all", help="one set of conversations, for a quick run")
    options = parser.parse_args()
    page = Page("Lattices", ("scikit-learn",))
    begun = time.perf_counter()
    machines, _, english = fisher_callhome(options.part)
    parsed = time.perf_counter()
    batch = Lattices(machines, n_jobs=2)
    built = time.perf_counter()
    page.say(f"\nReading and parsing took {parsed - begun:.1f} s, building the batch {built - parsed:.2f} s: {batch}.")
    y = np.array([text.rstrip().endswith("?") for text in english])
    counting(page, batch, y, options.repeats)
    questions(page, batch, y)
    page.write(options.write, "lattices")


if __name__ == "__main__":
    main()
