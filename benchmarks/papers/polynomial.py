"""Tables 2 and 3 of Wu, Yang, Lee, "An approximate approach for training polynomial kernel SVMs in linear time" (ACL 2007).

Chunking of CoNLL-2000 with the paper's features: words, parts of speech, orthographic classes and affixes of 2 to 4 letters of five
tokens, and the last two tags; features that occur twice at least. The paper ran one machine per pair or class on a computer of
2007, with SVM-light for the linear and the exact polynomial kernels. C is chosen on the last fifth of the training sentences.
The sentences are looked for in the folder that TREILLE_DATA names.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1])]

import numpy as np

from harness import Page, arguments, interleaved, peak_memory, shown
from treille import Tagger
from treille.datasets import conll2000
from treille.io.parameters import effective_n_jobs
from treille.kernels import Conjunctions, Kernel, Linear, Polynomial
from treille.tagging import TokenFeatures, default_templates

PAPER = {  # F1, hours of training, seconds of testing
    "linear": (93.15, 0.53, 2.57),
    "polynomial, degree 2": (94.19, 11.52, 3189.62),
    "conjunctions, degree 2, 0.01 %": (93.71, 0.68, 6.54),
    "conjunctions, degree 3, 0.01 %": (93.46, 0.79, 9.95),
}
KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "polynomial, degree 2": Polynomial(2),
    "conjunctions, degree 2, 0.01 %": Conjunctions(2, min_support=0.0001),
    "conjunctions, degree 3, 0.01 %": Conjunctions(3, min_support=0.0001),
}
TEMPLATES = [t for t in default_templates(2) if ("|" not in t and "lower" not in t) or t.startswith("tag")]
GRID = (0.3, 1.0, 3.0, 10.0)


def chosen_C(kernel: Kernel) -> float:
    """The value with the best F1 on the last fifth of the training sentences."""
    X, y = conll2000("train")
    cut = len(X) * 4 // 5
    scores = {}
    for C in GRID:
        scores[C] = Tagger(kernel, TEMPLATES, C=C, n_jobs=-1).fit(X[:cut], y[:cut]).score(X[cut:], y[cut:])
    return max(scores, key=lambda C: scores[C])


def train(mark: Any, kernel: Kernel, C: float) -> None:
    X, y = conll2000("train")
    mark()
    Tagger(kernel, TEMPLATES, C=C, n_jobs=-1).fit(X, y)


def table_2(page: Page, repeats: int, constants: dict[str, float]) -> None:
    X, y = conll2000("train")
    X_test, y_test = conll2000("test")
    rows = []
    for name, kernel in KERNELS.items():
        C = constants.get(name) or chosen_C(kernel)
        model = Tagger(kernel, TEMPLATES, C=C, n_jobs=-1)
        begun = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - begun
        greedy = Tagger(kernel, TEMPLATES, C=C, n_jobs=-1, beam=1)
        greedy.__dict__ |= {k: v for k, v in vars(model).items() if k.endswith("_")}
        greedy.n_jobs = model.n_jobs = 1
        spent = interleaved(
            {"greedy": lambda m=greedy: m.tagged(X_test), "beam": lambda m=model: m.tagged(X_test)}, repeats
        )
        _, memory = peak_memory(train, kernel, C)
        f1, hours, testing = PAPER[name]
        rows.append(
            [
                name,
                f"{C:g}",
                f1,
                f"{100 * greedy.score(X_test, y_test):.2f}",
                f"{100 * model.score(X_test, y_test):.2f}",
                f"{3600 * hours:,.0f}",
                f"{seconds:.1f}",
                f"{model.report_.seconds:.1f}",
                f"{model.report_.relative_gap:.1e}",
                testing,
                shown(spent["greedy"]),
                shown(spent["beam"]),
                f"{memory:,.0f}",
            ]
        )
    header = (
        "kernel", "C", "F1, paper", "F1, greedy", "F1, beam of 5", "training, paper", "training, all", "of it the solver", "gap",
        "testing, paper", "testing, greedy", "testing, beam", "peak MB of training",
    )  # fmt: skip
    page.table("Table 2: chunking, seconds; training with all cores, testing with one", header, rows)


def table_3(page: Page, repeats: int) -> None:
    """Matching the test tokens, without tags, against the mined conjunctions: by scans alone, by lookups alone, and mixed."""
    from treille import _core

    features, rows = TokenFeatures.fit(TEMPLATES, *conll2000("train"), min_count=2, n_jobs=-1)
    test = features.transform(conll2000("test")[0])
    item_of = np.arange(features.n_features, dtype=np.uint32)[::-1].copy()
    train = _core.recode_items(rows.indptr, rows.ids, item_of)
    new = _core.recode_items(test.indptr, test.ids, item_of)
    ways = {"arrays": 1 << 40, "enumeration": 0, "mixed": _core.ConjunctionFeatures.long_array}
    lines = []
    for degree, paper in ((2, ("6.54", "4.79")), (3, ("9.95", "11.73"))):
        mined = {
            way: _core.ConjunctionFeatures.mine(
                *train, features.n_features, degree, 22, 1 << 32, False, effective_n_jobs(-1), long_array
            )
            for way, long_array in ways.items()
        }
        jobs = {way: partial(patterns.level_counts, *new, degree, 1) for way, patterns in mined.items()}
        seconds = interleaved(jobs, repeats)
        lines.append([degree, f"{len(mined['mixed']):,}", *paper, *map(shown, seconds.values())])
    header = ("degree", "conjunctions", "arrays, paper", "enumeration, paper", "arrays", "enumeration", "mixed")
    page.table("Table 3: matching the 47,377 test tokens, support 0.01 %, seconds, one thread", header, lines)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--tables", choices=("2", "3"), nargs="+", default=("2", "3"))
    parser.add_argument("--C", type=float, help="for all kernels, in place of the best on held-out sentences")
    options = parser.parse_args()
    page = Page("Polynomial kernels by mined conjunctions", ())
    if "2" in options.tables:
        table_2(page, options.repeats, dict.fromkeys(KERNELS, options.C) if options.C else {})
    if "3" in options.tables:
        table_3(page, options.repeats)
    page.write(options.write, "polynomial")


if __name__ == "__main__":
    main()
