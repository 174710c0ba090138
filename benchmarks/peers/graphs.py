"""Graph kernels compared with GraKeL: seconds, values, accuracy on five public sets, and growth with the number of graphs.

Each part is a separate page. The sets (MUTAG, PTC_MR, ENZYMES, PROTEINS, NCI1) are read from the folder that TREILLE_DATA names.
Both programs start from graphs as Python objects, and use one thread unless a table says otherwise. Where GraKeL takes minutes, it
runs on a random sample of the graphs, whose size is in the table.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1])]

import numpy as np
from _grakel import Pair, difference, least_eigenvalue, molecules, pairs
from _graph_accuracy import accuracy, defaults
from _molecules import scale
from sklearn.svm import SVC as LibSVM
from threadpoolctl import threadpool_limits

from harness import Page, arguments, installed, interleaved, ratio, shown, sized
from public_sets import graphs
from treille import SVC, Graphs
from treille.data import Graph
from treille.kernels import RandomWalk

SETS = sized(("MUTAG", "PTC_MR", "ENZYMES", "PROTEINS", "NCI1"), ("MUTAG",))
PATIENCE = 60.0  # seconds; runs in which GraKeL takes longer are not repeated
HEADER = ("set", "graphs", "GraKeL, seconds", "treille, seconds", "times faster", "repeats")
# Graphs in a sample, and the nodes of the largest: GraKeL forms matrices of the product graph for the exponential series.
SAMPLES = {
    "labelled random walks, geometric": (200, 1000),
    "random walks, geometric": (200, 1000),
    "random walks, exponential": (50, 40),
    "labelled random walks, exponential": (8, 30),
}
EVERYTHING = (10**9, 10**9)
WITHOUT_PEER = ("scale", "accuracy", "defaults")


def sample(name: str, most: int, largest: int) -> tuple[list[Graph], np.ndarray]:
    """Some graphs of a set, or all, and their classes."""
    batch, classes = graphs(name)
    small = np.flatnonzero(np.diff(batch.offsets) <= largest)
    chosen = np.sort(np.random.default_rng(0).permutation(small)[:most])
    return list(batch[chosen]), np.array(classes)[chosen]


def timed(jobs: dict[str, Any], repeats: int) -> tuple[dict[str, list[float]], int]:
    """The seconds of the jobs, which take turns; a single repeat if the first run took long."""
    first = interleaved(jobs, 1)
    if sum(map(sum, first.values())) > PATIENCE or repeats == 1:
        return first, 1
    rest = interleaved(jobs, repeats - 1)
    return {name: first[name] + rest[name] for name in jobs}, repeats


def beside(name: str, pair: Pair, examples: list[Graph], repeats: int) -> list[Any]:
    """A row of the table of a kernel."""
    given = pair.given(examples)
    jobs = {"theirs": lambda: pair.their_matrix(given), "ours": lambda: pair.our_matrix(examples)}
    seconds, done = timed(jobs, repeats)
    theirs, ours = seconds["theirs"], seconds["ours"]
    return [name, f"{len(examples):,}", shown(theirs), shown(ours), ratio(theirs, ours), done]


def walks(page: Page, repeats: int) -> None:
    """Matrices of random walks with start="all" and decay 0.01, the definition of GraKeL."""
    for kernel, (most, largest) in SAMPLES.items():
        pair = pairs()[kernel]
        rows = [beside(name, pair, sample(name, most, largest)[0], repeats) for name in SETS]
        limit = f", graphs of at most {largest} nodes" if largest < 1000 else ""
        page.table(f"{kernel}: matrix of a sample{limit}; median (minimum)", HEADER, rows)


def all_walks(page: Page, repeats: int) -> None:
    """Labelled walks of all lengths, exponential, on all of NCI1; the seconds of GraKeL are extrapolated from a few pairs."""
    batch, _ = graphs("NCI1")
    few = sample("NCI1", *SAMPLES["labelled random walks, exponential"])[0]
    pair = pairs()["labelled random walks, exponential"]
    given, n = pair.given(few), len(batch)
    begun = time.perf_counter()
    pair.their_matrix(given)
    each = (time.perf_counter() - begun) / (len(few) * (len(few) + 1) / 2)
    rows = []
    for kernel in (RandomWalk(0.1), RandomWalk(0.1, labels="nodes"), RandomWalk(0.1, labels="none")):
        for threads in (1, 2):
            begun = time.perf_counter()
            kernel(batch, n_jobs=threads)
            rows.append([repr(kernel), threads, f"{time.perf_counter() - begun:.1f}"])
    rows.append(["GraKeL, labels of nodes, extrapolated from small graphs", 1, f"{each * n * (n + 1) / 2:,.0f}"])
    page.table(f"Random walks, exponential: matrix of NCI1, {n:,} graphs", ("kernel", "threads", "seconds"), rows)


def matrices(page: Page, repeats: int) -> None:
    """Matrices of whole sets by kernels with features."""
    for kernel in ("Weisfeiler-Lehman, h = 5", "shortest paths", "graphlets of 3 nodes", "graphlets of 4 nodes"):
        rows = [beside(name, pairs()[kernel], sample(name, *EVERYTHING)[0], repeats) for name in SETS]
        page.table(f"{kernel}: matrix of all graphs; median (minimum)", HEADER, rows)


def training(page: Page, repeats: int) -> None:
    """Weisfeiler-Lehman, h = 5, normalised, with C = 1, end to end: trained on nine tenths, scored on the rest."""
    rows = [_trained(name, pairs()["Weisfeiler-Lehman, h = 5"], repeats) for name in SETS]
    header = (*HEADER, "GraKeL's accuracy", "treille's accuracy")
    page.table("From graphs to predictions: Weisfeiler-Lehman, h = 5, and SVM; median (minimum)", header, rows)


def _trained(name: str, pair: Pair, repeats: int) -> list[Any]:
    examples, y = sample(name, *EVERYTHING)
    test = np.random.default_rng(1).permutation(len(y)) < len(y) // 10
    ours, theirs, scores = _split(examples, test), _split(pair.given(examples), test), {}

    def by_matrix() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kernel = pair.theirs()
            kernel.set_params(normalize=True)
            model = LibSVM(kernel="precomputed").fit(kernel.fit_transform(theirs[0]), y[~test])
            scores["theirs"] = model.score(kernel.transform(theirs[1]), y[test])

    def by_features() -> None:
        model = SVC(pair.ours.normalized()).fit(Graphs(ours[0]), y[~test])
        scores["ours"] = model.score(Graphs(ours[1]), y[test])

    seconds, done = timed({"theirs": by_matrix, "ours": by_features}, repeats)
    columns = [shown(seconds["theirs"]), shown(seconds["ours"]), ratio(seconds["theirs"], seconds["ours"]), done]
    return [name, f"{len(y):,}", *columns, f"{scores['theirs']:.3f}", f"{scores['ours']:.3f}"]


def _split(items: list[Any], test: np.ndarray) -> tuple[list[Any], list[Any]]:
    return [x for x, t in zip(items, test, strict=True) if not t], [x for x, t in zip(items, test, strict=True) if t]


def values(page: Page, repeats: int) -> None:
    """The matrices of both programs on the same graphs."""
    rows = []
    for pair in pairs().values():
        slow = "baseline" in pair.name or pair.name == "labelled random walks, exponential"
        most, largest = (8, 30) if slow else (100, 40)
        for name in ("MUTAG", "ENZYMES"):
            examples = sample(name, most, largest)[0]
            ours, theirs = pair.our_matrix(examples), pair.their_matrix(pair.given(examples))
            smallest = [f"{least_eigenvalue(K):.1e}" for K in (ours, theirs)]
            rows.append([pair.name, name, len(examples), f"{difference(ours, theirs):.1e}", *smallest])
    header = ("kernel", "set", "graphs", "largest relative difference", "treille's smallest eigenvalue", "GraKeL's")
    page.table("Values of both programs; eigenvalues relative to the largest", header, rows)


def examples(page: Page, repeats: int) -> None:
    """The kernel values of both programs for the molecules of the page From GraKeL."""
    rows = []
    for pair in pairs().values():
        both = pair.our_matrix(molecules()), pair.their_matrix(pair.given(molecules()))
        rows.append([f"`{pair.ours!r}`", pair.name, *(", ".join(f"{value:.6g}" for value in K[-1]) for K in both)])
    header = ("kernel", "of GraKeL", "treille's values", "GraKeL's values")
    page.table("k of cyclopropanol with ethanol, dimethyl ether, acetic acid and itself", header, rows)


PARTS = {
    "examples": examples,
    "walks": walks,
    "all_walks": all_walks,
    "matrices": matrices,
    "training": training,
    "values": values,
    "scale": scale,
    "accuracy": accuracy,
    "defaults": defaults,
}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--parts", choices=PARTS, nargs="+", default=PARTS)
    options = parser.parse_args()
    for part in options.parts:
        if part not in WITHOUT_PEER and not installed("grakel"):
            continue
        page = Page(f"Graphs: {part.replace('_', ' ')}", ("grakel",))
        with threadpool_limits(1):  # threads of numpy, which GraKeL uses for products of small matrices
            PARTS[part](page, options.repeats)
        page.write(options.write, part)


if __name__ == "__main__":
    main()
