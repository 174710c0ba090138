"""Tables 2 and 3 of Wu, Yang, Lee, "An approximate approach for training polynomial kernel SVMs in linear time" (ACL 2007).

Chunking of CoNLL-2000 with the paper's features: words, parts of speech, orthographic classes and affixes of 2 to 4 letters of five
tokens, and the last two tags; features that occur twice at least. The paper ran one machine per pair or class on a computer of
2007, with SVM-light for the linear and the exact polynomial kernels. C is chosen on the last fifth of the training sentences, after
training on the first two fifths. The sentences are read from the folder that TREILLE_DATA names.
"""

from __future__ import annotations

import math
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1])]

import numpy as np

from harness import Page, arguments, interleaved, limited, shown, sized
from public_sets import conll2000
from treille import Tagger, _core
from treille.io.parameters import effective_n_jobs
from treille.kernels import Conjunctions, Kernel, Linear, Polynomial
from treille.tagging import TokenFeatures, chunk_scores, default_templates

PAPER: dict[str, tuple[Any, ...]] = {  # F1, seconds of mining, hours of training, seconds of testing
    "linear": (93.15, "", 0.53, 2.57),
    "polynomial, degree 2": (94.19, "", 11.52, 3189.62),
    "polynomial, degree 3": (93.95, "", 19.43, 6539.75),
    "conjunctions, degree 2, 0.01 %": (93.71, "< 10", 0.68, 6.54),
    "conjunctions, degree 3, 0.01 %": (93.46, "< 15", 0.79, 9.95),
}
SUPPORT = sized(0.0001, 0.02)  # share of the tokens, as in the paper
KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "polynomial, degree 2": Polynomial(2),
    "conjunctions, degree 2, 0.01 %": Conjunctions(2, min_support=SUPPORT),
    "conjunctions, degree 3, 0.01 %": Conjunctions(3, min_support=SUPPORT),
}
TEMPLATES = [t for t in default_templates(2) if ("|" not in t and "lower" not in t) or t.startswith("tag")]
GRID = sized((1.0, 3.0, 10.0), (1.0,))


def training(part: float) -> tuple[Any, Any]:
    """The first `part` of the training sentences."""
    X, y = conll2000("train")
    n = int(len(X) * part)
    return X[:n], y[:n]


def chosen_C(kernel: Kernel, X: Any, y: Any) -> float:
    """The value with the best F1 on the last fifth of the sentences, after training on the first two fifths, to save time."""
    known, held_out = slice(len(X) * 2 // 5), slice(len(X) * 4 // 5, None)
    scores = {C: tagger(kernel, C).fit(X[known], y[known]).score(X[held_out], y[held_out]) for C in GRID}
    print(kernel, *(f"C = {C:g}: {100 * f1:.2f}" for C, f1 in scores.items()), sep="  ", file=sys.stderr, flush=True)
    return max(scores, key=lambda C: scores[C])


def tagger(kernel: Kernel, C: float) -> Tagger:
    return Tagger(kernel, TEMPLATES, C=C, n_jobs=-1)


def fitted(kernel: Kernel, C: float, X: Any, y: Any) -> tuple[Tagger, float]:
    begun = time.perf_counter()
    model = tagger(kernel, C).fit(X, y)
    return model, time.perf_counter() - begun


def table_2(page: Page, repeats: int, part: float, C: float | None) -> None:
    X, y = training(part)
    features, rows = TokenFeatures.fit(TEMPLATES, X, y, min_count=2, n_jobs=-1)
    lines = []
    for name, (f1, mining, hours, testing) in PAPER.items():
        kernel = KERNELS.get(name)
        cells = row_of_table_2(kernel, features, rows, X, y, repeats, C) if kernel is not None else ["-"] * 10
        own_C, greedy, beam, mined, seconds, solver, gap, tagging, tagging_beam, memory = cells
        paper_seconds = f"{3600 * hours:,.0f}"
        lines.append(
            [
                name,
                own_C,
                f1,
                greedy,
                beam,
                mining,
                mined,
                paper_seconds,
                seconds,
                solver,
                gap,
                testing,
                tagging,
                tagging_beam,
                memory,
            ]
        )
        print(*lines[-1], sep=" | ", file=sys.stderr, flush=True)
    header = (
        "kernel", "C", "F1, paper", "F1, greedy", "F1, beam of 5", "mining, paper", "mining", "training, paper", "training, all",
        "of it the solver", "gap", "testing, paper", "testing, greedy", "testing, beam", "peak MB of training",
    )  # fmt: skip
    page.table("Table 2: chunking, seconds; mining and training with all cores, testing with one", header, lines)
    page.say("\nThe exact polynomial of degree 3 is the paper's alone.")


def row_of_table_2(
    kernel: Kernel, features: TokenFeatures, rows: Any, X: Any, y: Any, repeats: int, C: float | None
) -> list[str]:
    C = C or chosen_C(kernel, X, y)
    (model, seconds), memory = limited(partial(fitted, kernel, C, X, y), 3600)
    model.n_jobs = 1
    X_test, y_test = conll2000("test")
    tagged = {}

    def tag(beam: int) -> None:
        model.beam = beam
        tagged[beam] = model.predict(X_test)

    spent = interleaved({"greedy": partial(tag, 1), "beam": partial(tag, 5)}, repeats)
    mining = ""
    if isinstance(kernel, Conjunctions):
        support = math.ceil(kernel.min_support * (rows.indptr.size - 1))
        job = partial(mined, features, recoded(features, rows), kernel.degree, support)
        mining = shown(interleaved({"mining": job}, repeats)["mining"])
    return [
        f"{C:g}",
        *(f"{100 * chunk_scores(y_test, tagged[beam]).f1:.2f}" for beam in (1, 5)),
        mining,
        f"{seconds:.1f}",
        f"{model.report_.seconds:.1f}",
        f"{model.report_.relative_gap:.1e}",
        shown(spent["greedy"]),
        shown(spent["beam"]),
        f"{memory:,.0f}",
    ]


def recoded(features: TokenFeatures, rows: Any) -> Any:
    """Rows of items, the rarest first."""
    return _core.recode_items(rows.indptr, rows.ids, np.arange(features.n_features, dtype=np.uint32)[::-1].copy())


def mined(features: TokenFeatures, items: Any, degree: int, support: int, **options: int) -> Any:
    long_array = options.get("long_array", _core.ConjunctionFeatures.long_array)
    return _core.ConjunctionFeatures.mine(
        *items, features.n_features, degree, support, 1 << 32, False, effective_n_jobs(-1), long_array
    )


def table_3(page: Page, repeats: int, part: float) -> None:
    """Matches the test tokens, without tags, against the mined conjunctions: by scans only, by lookups only, and by both."""
    X, y = training(part)
    features, rows = TokenFeatures.fit(TEMPLATES, X, y, min_count=2, n_jobs=-1)
    train, new = recoded(features, rows), recoded(features, features.transform(conll2000("test")[0]))
    ways = {"arrays": 1 << 40, "enumeration": 0, "mixed": _core.ConjunctionFeatures.long_array}
    lines = []
    for degree, paper in ((2, ("6.54", "4.79")), (3, ("9.95", "11.73"))):
        patterns = {way: mined(features, train, degree, 22, long_array=limit) for way, limit in ways.items()}
        jobs = {way: partial(own.level_counts, *new, degree, 1) for way, own in patterns.items()}
        seconds = interleaved(jobs, repeats)
        lines.append([degree, f"{len(patterns['mixed']):,}", *paper, *map(shown, seconds.values())])
    header = ("degree", "conjunctions", "arrays, paper", "enumeration, paper", "arrays", "enumeration", "mixed")
    page.table("Table 3: matching the 47,377 test tokens, support 0.01 %, seconds, one thread", header, lines)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--tables", choices=("2", "3"), nargs="+", default=("2", "3"))
    parser.add_argument("--C", type=float, help="for all kernels, in place of the best on held-out sentences")
    parser.add_argument("--part", type=float, default=1.0, help="of the training sentences, the first")
    options = parser.parse_args()
    page = Page("Polynomial kernels by mined conjunctions", ())
    if "2" in options.tables:
        table_2(page, options.repeats, options.part, options.C)
    if "3" in options.tables:
        table_3(page, options.repeats, options.part)
    page.write(options.write, "polynomial")


if __name__ == "__main__":
    main()
