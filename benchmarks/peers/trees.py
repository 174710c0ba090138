"""Tree kernels: values per second, training on the TREC questions, and accuracy on public sets.

Each part is a separate page. The sets (TREC questions, INEX 2005, KEGG glycans) are read from the folder that TREILLE_DATA names.
SVM-light-TK, the program that most papers on tree kernels used, computes about a million values of SubsetTree a second on
such a machine; it is not free to redistribute, and is not run here.
"""

from __future__ import annotations

import statistics
import sys
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1])]

import numpy as np
from sklearn.metrics import roc_auc_score

from harness import Page, arguments, interleaved, shown
from public_sets import inex, kegg_glycan, trec_qc
from treille import SVC, Trees
from treille.kernels import Kernel, PartialTree, SubsetTree, SubTree

THREADS = 2


def values(page: Page, repeats: int) -> None:
    """Matrices of the 5,452 questions; one half is computed, the other follows by symmetry."""
    for which in ("parse", "grct"):
        questions, _ = trec_qc("train", which)
        texts, n = [str(tree) for tree in questions], len(questions)
        kernels = (SubTree(0.4), SubsetTree(0.4), PartialTree(0.4, 0.4))
        jobs = {repr(kernel): lambda kernel=kernel, texts=texts: kernel(texts, n_jobs=THREADS) for kernel in kernels}
        seconds = interleaved(jobs, repeats)
        rows = [
            [name, shown(spent), f"{n * (n + 1) / 2 / statistics.median(spent) / 1e6:.1f}"]
            for name, spent in seconds.items()
        ]
        sizes = f"{n:,} trees, {len(questions.labels) / n:.1f} nodes each"
        header = ("kernel", "seconds, median (minimum)", "million values a second")
        page.table(
            f"Matrix of the TREC questions, {which} trees, {sizes}, {THREADS} threads, from brackets", header, rows
        )


def questions(page: Page, repeats: int) -> None:
    """Six classes, one against the rest; trained on 5,452 questions, scored on 500."""
    rows = []
    for which in ("parse", "grct"):
        (train, y), (test, truth) = trec_qc("train", which), trec_qc("test", which)
        for kernel in (SubTree(0.4, leaves=True), SubsetTree(0.4), PartialTree(0.4, 0.4)):
            rows.append([which, *_scored(kernel, train, y, test, truth)])
    header = ("trees", "kernel", "seconds to train", "accuracy", "gap")
    page.table(f"TREC questions, 6 classes, C = 10, normalised, {THREADS} threads", header, rows)


def documents(page: Page, repeats: int) -> None:
    """INEX 2005, 11 classes of XML documents, trained on 4,820, scored on 4,811."""
    (train, y), (test, truth) = inex("train"), inex("test")
    kernels = (SubTree(0.4, leaves=True), SubsetTree(0.1, leaves=True), PartialTree(0.1, 0.4))
    rows = [_scored(kernel, train, y, test, truth) for kernel in kernels]
    header = ("kernel", "seconds to train", "accuracy", "gap")
    page.table(f"INEX 2005, 11 classes, C = 10, normalised, {THREADS} threads", header, rows)


def glycans(page: Page, repeats: int) -> None:
    """The ten folds of the set: mean and standard deviation of the area under the ROC curve."""
    rows = []
    for name in ("leukemia", "cystic"):
        trees, labels, folds = kegg_glycan(name)
        y = np.array(labels)
        for kernel in (SubTree(0.8, leaves=True), SubsetTree(0.4, leaves=True), PartialTree(0.4, 0.4)):
            areas = []
            for fold in range(folds.max() + 1):
                model = SVC(kernel.normalized(), C=1.0).fit(trees[folds != fold], y[folds != fold])
                areas.append(roc_auc_score(y[folds == fold] == "1", model.decision_function(trees[folds == fold])))
            rows.append([name, repr(kernel), f"{np.mean(areas):.3f} ± {np.std(areas):.3f}"])
    page.table("KEGG glycans, 10 folds, AUC, C = 1, normalised", ("set", "kernel", "AUC"), rows)


def _scored(kernel: Kernel, train: Trees, y: list[str], test: Trees, truth: list[str]) -> list[Any]:
    begun = time.perf_counter()
    model = SVC(kernel.normalized(), C=10.0, n_jobs=THREADS).fit(train, y)
    spent = time.perf_counter() - begun
    return [repr(kernel), f"{spent:.1f}", f"{model.score(test, truth):.3f}", f"{model.report_.relative_gap:.0e}"]


PARTS = {"values": values, "questions": questions, "documents": documents, "glycans": glycans}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--parts", choices=PARTS, nargs="+", default=PARTS)
    options = parser.parse_args()
    for part in options.parts:
        page = Page(f"Trees: {part}", ())
        PARTS[part](page, options.repeats)
        page.write(options.write, part)


if __name__ == "__main__":
    main()
