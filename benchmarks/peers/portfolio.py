"""N-grams of many kinds of texts: treille compared with LIBLINEAR and scikit-learn, and the speed-up by each rule of DualCD.

    TREILLE_DATA=folder python benchmarks/peers/portfolio.py [--quick] [--parts training ...] [--write docs/generated/portfolio]

The jobs take turns. Solvers are timed by the processor time they use, which other programs on the machine hardly change. LIBLINEAR
trains on the same matrix, with the largest eps of a fine grid that reliably reaches the requested duality gap. `--quick` takes a
third of the problems, three repeats, and a coarse grid.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _cells import CELLS, Cell, reuters
from _liblinear import Liblinear

from harness import SMOKE, Page, arguments, installed, interleaved, peak_memory, ratio, shown, sized

GAP = 1e-3
LONG = 10.0  # seconds; longer rounds of jobs are repeated three times only
# The rules of DualCD, with the settings of a run without each.
RULES: dict[str, dict[str, Any]] = {
    "rest of examples held at a bound": {"rest": False},
    "no step for small gradients": {"small_gradient_skip": 0.0},
    "records requested ahead": {"records_ahead": 0},
    "entries requested ahead": {"entries_ahead": 0},
}


def svc(cell: Cell, **options: Any) -> Any:
    import treille

    return treille.SVC(cell.kernel(), C=cell.C, **options)


def solver_seconds(cell: Cell, batch: Any, y: np.ndarray, rules: Any, seed: int) -> tuple[float, float]:
    """The processor time of the solver alone, with one thread, and the relative gap of the solution."""
    from treille import _core

    solve, seconds = _core.dual_cd, list[float]()

    def timed(**arguments: Any) -> Any:
        begun = time.process_time()
        arguments["options"].rules = rules
        answers = solve(**arguments)
        seconds.append(time.process_time() - begun)
        return answers

    with mock.patch.object(_core, "dual_cd", timed):
        report = svc(cell, tol=GAP, max_epochs=100_000, random_state=seed).fit(batch, y).report_
    return sum(seconds), report.relative_gap


def repeats_for(seconds: float, repeats: int) -> int:
    return repeats if seconds < LONG else min(repeats, 3)


def training(page: Page, cells: list[Cell], repeats: int, quick: bool) -> None:
    import treille
    from treille import _core

    rows, ratios = [], []
    for cell in cells:
        texts, y = cell.examples()
        batch = cell.kernel().batch(texts)
        matrix = treille.Features(cell.kernel(), n_jobs=2).fit_transform(batch)
        classes, codes = np.unique(y, return_inverse=True)
        peer = Liblinear(matrix, codes, cell.C)
        eps = peer.eps_for(GAP, careful=not (quick or cell.large))
        ours: list[float] = []
        theirs: list[float] = []
        gaps: list[float] = []
        while len(ours) < repeats_for((ours or [0])[0] + (theirs or [0])[0], repeats):
            # LIBLINEAR draws a new order of the examples in each run, so treille does, too.
            seconds, gap = solver_seconds(cell, batch, y, _core.DualCDRules(), seed=len(ours))
            ours.append(seconds)
            gaps.append(gap)
            begun = time.process_time()
            peer.train(eps)
            theirs.append(time.process_time() - begun)
        ratios.append(statistics.median(theirs) / statistics.median(ours))
        rows.append(
            [
                *(cell.data, cell.name, f"{len(texts):,}", len(classes), f"{matrix.nnz / len(texts):.0f}"),
                *(shown(ours), shown(theirs), ratio(theirs, ours), f"{max(gaps):.1e}", eps),
            ]
        )
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    header = (
        *("data", "n-grams", "examples", "classes", "entries per row"),
        *("treille", "LIBLINEAR", "times faster", "treille's gap", "LIBLINEAR's eps"),
    )
    page.table(
        f"Training on the same matrix to a relative duality gap of {GAP:g}, processor seconds, median (minimum), one thread",
        header,
        rows,
    )
    page.say(
        f"\nGeometric mean of the medians' ratios: {statistics.geometric_mean(ratios):.1f}; smallest: {min(ratios):.1f}."
    )


def ablation(page: Page, cells: list[Cell], repeats: int, quick: bool) -> None:
    from treille import _core

    def rules(**changed: Any) -> Any:
        found = _core.DualCDRules()
        for name, value in changed.items():
            setattr(found, name, value)
        return found

    variants = {"": rules()} | {name: rules(**changed) for name, changed in RULES.items()}
    slower: dict[str, dict[str, float]] = {name: {} for name in RULES}
    for cell in cells:
        texts, y = cell.examples()
        batch = cell.kernel().batch(texts)
        seconds: dict[str, list[float]] = {name: [] for name in variants}
        for seed in range(min(repeats, 3)):
            for name, changed in variants.items():
                seconds[name].append(solver_seconds(cell, batch, y, changed, seed)[0])
        for name in RULES:
            slower[name][f"{cell.data}, {cell.name}"] = min(seconds[name]) / min(seconds[""])
        print(
            cell.data,
            cell.name,
            *(f"{s[-1]:.2f}" for s in map(list, map(dict.values, slower.values()))),
            file=sys.stderr,
            flush=True,
        )
    rows = []
    for name, factors in slower.items():
        most = max(factors, key=factors.__getitem__)
        rows.append([name, f"{statistics.geometric_mean(list(factors.values())):.2f}", f"{factors[most]:.2f} ({most})"])
    header = ("without", "times slower, geometric mean", "most")
    page.table(
        f"How much slower DualCD is without each rule: {len(cells)} problems, gap {GAP:g}, one thread, by minima",
        header,
        rows,
    )


def texts_to_model(page: Page, cells: list[Cell], repeats: int, quick: bool) -> None:
    from sklearn.svm import LinearSVC

    rows, ratios = [], []
    for cell in cells:
        texts, y = cell.examples()
        kept: dict[str, Any] = {}

        def ours(cell: Cell = cell, texts: Any = texts, y: Any = y, kept: dict[str, Any] = kept) -> None:
            kept["model"] = svc(cell, n_jobs=2).fit(texts, y)

        def theirs(cell: Cell = cell, texts: Any = texts, y: Any = y, kept: dict[str, Any] = kept) -> None:
            begun = time.perf_counter()
            kept["vectorizer"], matrix = cell.sklearn_matrix(texts)
            kept["features"] = time.perf_counter() - begun
            LinearSVC(loss="hinge", dual=True, C=cell.C).fit(matrix, y)

        jobs: dict[str, Callable[[], Any]] = {"treille": ours, "scikit-learn": theirs}
        seconds = interleaved(jobs, 1)
        more = interleaved(jobs, repeats_for(sum(s[0] for s in seconds.values()), repeats) - 1)
        seconds = {name: seconds[name] + more[name] for name in jobs}
        ratios.append(statistics.median(seconds["scikit-learn"]) / statistics.median(seconds["treille"]))
        rows.append(
            [
                *(
                    cell.data,
                    cell.name,
                    *map(shown, seconds.values()),
                    ratio(seconds["scikit-learn"], seconds["treille"]),
                ),
                *(f"{kept['model'].report_.seconds:.3g}", f"{kept['features']:.3g}"),
            ]
        )
        print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    header = (
        "data",
        "n-grams",
        "treille",
        "scikit-learn",
        "times faster",
        "treille's solver",
        "scikit-learn's features",
    )
    page.table("Texts to a model at default tolerances, seconds, median (minimum), two threads", header, rows)
    page.say(
        f"\nGeometric mean of the medians' ratios: {statistics.geometric_mean(ratios):.1f}; smallest: {min(ratios):.1f}."
    )


def stories(n: int) -> Cell:
    return Cell("Reuters", reuters, "char", (n, n))


def memory_treille(mark: Any, n: int) -> None:
    import treille  # noqa: F401

    texts, y = reuters()
    mark()
    svc(stories(n), n_jobs=2).fit(texts, y)


def memory_sklearn(mark: Any, n: int) -> None:
    import sklearn.feature_extraction.text  # noqa: F401
    from sklearn.svm import LinearSVC

    texts, y = reuters()
    mark()
    LinearSVC(loss="hinge", dual=True).fit(stories(n).sklearn_matrix(texts)[1], y)


def memory(page: Page, cells: list[Cell], repeats: int, quick: bool) -> None:
    rows = []
    for n in sized((4, 5, 6, 7, 10), (5,)):
        (ours, our_work), (theirs, their_work) = peak_memory(memory_treille, n), peak_memory(memory_sklearn, n)
        factor = f"{their_work / our_work:.1f}"
        rows.append([n, f"{our_work:,.0f}", f"{their_work:,.0f}", factor, f"{ours:,.0f}", f"{theirs:,.0f}"])
    header = ("n", "treille", "scikit-learn", "times less", "treille, whole process", "scikit-learn, whole process")
    page.table(
        "Peak memory from texts to a model, Reuters, characters, megabytes beyond imports and texts", header, rows
    )


def growth(page: Page, cells: list[Cell], repeats: int, quick: bool) -> None:
    texts, y = reuters()
    cell, random, factors = stories(5), np.random.default_rng(0), (1, 2, 4, 8)
    for how, change in (
        ("resampled", False),
        ("resampled, 1 % of the characters changed, so that features grow, too", True),
    ):
        best, n_features = [], []
        for factor in factors:
            picked = random.integers(0, len(texts), size=len(texts) * factor)
            sample = [_altered(texts[i], random) if change else texts[i] for i in picked]
            times = []
            for _ in range(repeats):
                begun = time.perf_counter()
                model = svc(cell, n_jobs=2).fit(sample, y[picked])
                times.append(time.perf_counter() - begun)
            best.append(min(times))
            n_features.append(model.features_.n_features)
        slope = np.polyfit(np.log(factors), np.log(best), 1)[0]
        rows = [
            [f"{f}x", f"{len(texts) * f:,}", f"{own:,}", f"{b:.3g}", f"{b / best[0] / f:.2f}"]
            for f, own, b in zip(factors, n_features, best, strict=True)
        ]
        header = ("data", "stories", "features", "seconds (minimum)", "per story, against 1x")
        page.table(f"Growth: texts to a model, n = 5, two threads, {how}; log-log slope {slope:.2f}", header, rows)


def _altered(text: str, random: np.random.Generator) -> str:
    letters = list(text)
    for k in random.integers(0, max(1, len(letters)), size=len(letters) // 100):
        letters[k] = "abcdefghijklmnopqrstuvwxyz"[int(random.integers(26))]
    return "".join(letters)


PARTS = {"training": training, "texts": texts_to_model, "ablation": ablation, "memory": memory, "growth": growth}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--parts", choices=PARTS, nargs="+")
    parser.add_argument("--cells", metavar="WORD", help="only problems whose data or n-grams contain this")
    parser.add_argument("--quick", action="store_true", default=SMOKE)
    options = parser.parse_args()
    wanted = [c for c in CELLS if c.quick or not options.quick]
    cells = [c for c in wanted if options.cells is None or options.cells in f"{c.data}, {c.name}"]
    repeats = min(options.repeats, 3) if options.quick else options.repeats
    for part in options.parts or (("training", "texts") if options.quick and not SMOKE else PARTS):
        if part == "training" and not installed("liblinear-official"):
            continue
        page = Page(f"The portfolio of texts: {part}", ("scikit-learn", "liblinear-official"))
        if options.quick:
            page.say(
                "\nA quick run: a selection of the problems, and a coarse grid for LIBLINEAR's eps, which favours treille."
            )
        PARTS[part](page, cells, repeats, options.quick)
        page.write(options.write, part)


if __name__ == "__main__":
    main()
