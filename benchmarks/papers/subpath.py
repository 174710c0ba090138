"""The subpath kernel: the growth of products and training with the number of trees, the size of the XBW index, and accuracy.

Kimura and Kashima (2012) prove that a round of training takes O(t x^2) for each tree of x nodes after t rounds, and little more
than 2N + N log(labels) bits; they ran no experiment. Here a round takes O(N) for all trees at once. For comparison, their bound is
measured in plain Python: all pairs of a node and an ancestor, for one plane. Each part is a separate page. The public sets are read
from the folder that TREILLE_DATA names.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1])]

import numpy as np
from sklearn.metrics import roc_auc_score

from harness import Page, arguments, peak_memory, sized
from public_sets import cslog, inex, kegg_glycan, trec_qc, treebank_sample
from treille import SVC, Trees
from treille.kernels import Kernel, RootPaths, Subpath
from treille.solvers import CuttingPlane, DualCD
from treille.spaces import ProductSpace
from treille.trees import XBW

LABELS = 20
SLOW = 10_000  # the paper's bound is measured up to this number of trees


def random_trees(n: int) -> Trees:
    """Trees of 10 to 50 nodes. The parent of a node is the node before it, or one of that node's ancestors, each further one with
    half the probability."""
    random = np.random.default_rng(0)
    offsets = np.concatenate([[0], np.cumsum(random.integers(10, 51, n))])
    up = (random.geometric(0.5, offsets[-1]) - 1).tolist()
    parents = np.empty(offsets[-1], np.int32)
    for first, last in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        tree = [-1]
        for node in range(1, last - first):
            parent = node - 1
            for _ in range(up[first + node]):
                parent = max(tree[parent], 0)
            tree.append(parent)
        parents[first:last] = tree
    labels = random.integers(0, LABELS, offsets[-1], dtype=np.int32)
    return Trees.from_arrays(labels, parents, offsets, [f"{label:02}" for label in range(LABELS)])


def resampled_trees(n: int) -> Trees:
    """Documents of INEX 2005, drawn with replacement."""
    documents, _ = inex("all")
    return documents[np.random.default_rng(0).integers(0, len(documents), n)]


FORESTS: dict[str, Callable[[int], Trees]] = {"random": random_trees, "resampled": resampled_trees}


def same_as_parent(trees: Trees) -> np.ndarray:
    """The classes to learn: whether more than one node has the label of its parent."""
    roots = np.repeat(trees.offsets[:-1], np.diff(trees.offsets))
    above = trees.labels[roots + np.maximum(trees.parents, 0)]
    same = np.concatenate([[0], np.cumsum((above == trees.labels) & (trees.parents >= 0))])
    return np.diff(same[trees.offsets]) > 1


def products_of(mark: Callable[[], None], forest: str, n: int, index: str) -> tuple[int, float, float]:
    trees, kernel = FORESTS[forest](n), Subpath(0.5, index=index)
    n_nodes = len(trees.labels)
    mark()
    begun = time.perf_counter()
    batch = kernel.batch(trees)
    del trees
    space = ProductSpace.build(kernel, batch)
    built = time.perf_counter() - begun
    beta = np.random.default_rng(0).normal(size=n)
    seconds = []
    for _ in range(5):
        begun = time.perf_counter()
        space.product(beta)
        seconds.append(time.perf_counter() - begun)
    return n_nodes, built, min(seconds)


def timed(mark: Callable[[], None], job: Callable[..., Any], file: str, *rest: Any) -> None:
    """Writes the result of `job` to a file; it runs in a separate process, whose peak memory is its own."""
    np.save(file, np.array(job(mark, *rest), dtype=float))


def alone(folder: str, job: Callable[..., Any], *rest: Any) -> tuple[list[float], float]:
    """The result of a job, and the peak memory of its process in gigabytes, data included."""
    file = str(Path(folder, "found.npy"))
    whole, _ = peak_memory(timed, job, file, *rest)
    return np.load(file).tolist(), whole / 1024


def enumerated_product(trees: Iterable[Any], beta: np.ndarray, decay: float) -> np.ndarray:
    """K @ beta by the paper's bound: all pairs of a node and an ancestor, O(x^2) for a tree of x nodes."""
    names: dict[tuple[int, str], int] = {}
    sums: dict[int, float] = defaultdict(float)
    found = []
    for tree, weight in zip(trees, beta, strict=True):
        own = []
        for node, label in enumerate(tree.labels):
            path, length = names.setdefault((-1, label), len(names)), 1
            own.append((path, length))
            above = tree.parents[node]
            while above >= 0:
                path, length = names.setdefault((path, tree.labels[above]), len(names)), length + 1
                own.append((path, length))
                above = tree.parents[above]
        for path, length in own:
            sums[path] += weight * decay**length
        found.append(own)
    return np.array([sum(sums[path] for path, _ in own) for own in found])


def slope(sizes: list[float], seconds: list[float]) -> str:
    return f"{np.polyfit(np.log(sizes), np.log(seconds), 1)[0]:.2f}" if len(sizes) > 1 else "-"


def growth(page: Page, options: Any) -> None:
    """The seconds of a product and of its preparation, and the memory."""
    rows, curves = [], {}
    for forest, make in FORESTS.items():
        for index in ("arrays", "xbw"):
            sizes, seconds = [], []
            for n in options.sizes:
                (nodes, built, product), gigabytes = alone(options.folder, products_of, forest, n, index)
                sizes.append(nodes)
                seconds.append(product)
                rows.append(
                    [forest, index, f"{n:,}", f"{nodes:,.0f}", f"{built:.2f}", f"{product:.4f}", f"{gigabytes:.2f}"]
                )
            curves[f"{forest}, {index}"] = sizes, seconds
        sizes, seconds = [], []
        for n in (n for n in options.sizes if n <= SLOW):
            trees, beta = make(n), np.random.default_rng(0).normal(size=n)
            items = list(trees)
            begun = time.perf_counter()
            slow = enumerated_product(items, beta, 0.5)
            seconds.append(time.perf_counter() - begun)
            sizes.append(len(trees.labels))
            np.testing.assert_allclose(
                slow, ProductSpace.build(Subpath(0.5), trees).product(beta), rtol=1e-6, atol=1e-6
            )
            rows.append([forest, "the paper's bound", f"{n:,}", f"{sizes[-1]:,}", "", f"{seconds[-1]:.4f}", ""])
        curves[f"{forest}, the paper's bound"] = sizes, seconds
    header = ("forest", "by", "trees", "nodes", "seconds to build", "seconds a product", "peak gigabytes")
    page.table("Products with the matrix of Subpath(0.5), one thread", header, rows)
    page.table(
        "Growth: the slope of log seconds a product over log nodes",
        ("forest, by", "slope"),
        [[name, slope(*curve)] for name, curve in curves.items()],
    )
    with contextlib.suppress(ImportError):
        from matplotlib.figure import Figure

        axes = Figure(figsize=(7, 4.5)).subplots()
        for name, (sizes, seconds) in curves.items():
            axes.loglog(sizes, seconds, "o-", label=name)
        axes.set(xlabel="nodes", ylabel="seconds a product")
        axes.legend()
        if options.write:
            Path(options.write).mkdir(parents=True, exist_ok=True)
            axes.figure.savefig(Path(options.write, "growth.svg"), bbox_inches="tight")


def training_of(mark: Callable[[], None], n: int, index: str) -> tuple[float, float, float, float]:
    trees = random_trees(n)
    y = same_as_parent(trees)
    mark()
    kernel = Subpath(0.5, max_length=4, index=index)
    begun = time.perf_counter()
    batch = kernel.batch(trees)
    del trees
    model = SVC(kernel.normalized(), C=1.0, solver=CuttingPlane()).fit(batch, y)
    spent = time.perf_counter() - begun
    few = batch[:1000]
    return spent, model.report_.epochs, model.report_.relative_gap, float(model.score(few, y[:1000]))


def large(page: Page, options: Any) -> None:
    """Training on the largest number of trees by cutting planes."""
    rows = []
    for index in ("arrays", "xbw"):
        (seconds, rounds, gap, score), gigabytes = alone(options.folder, training_of, max(options.sizes), index)
        rows.append([index, f"{seconds:.0f}", f"{rounds:.0f}", f"{gap:.0e}", f"{score:.3f}", f"{gigabytes:.2f}"])
    title = f"{max(options.sizes):,} random trees, Subpath(0.5, max_length=4), normalised, C = 1, cutting planes"
    page.table(title, ("index", "seconds", "rounds", "gap", "accuracy on 1,000 of them", "peak gigabytes"), rows)


def sizes(page: Page, options: Any) -> None:
    """The bits of the index, compared with 2N + N H0."""
    sets = {
        "CSLOG12": cslog("cslog12")[0],
        "INEX 2005": inex("all")[0],
        "TREC parses": trec_qc("all")[0],
        "Treebank sample": treebank_sample(),
        "leukemia glycans": kegg_glycan("leukemia")[0],
        "random": random_trees(sized(40_000, 100)),
    }
    rows = []
    for name, trees in sets.items():
        again = -(-sized(1_000_000, 10_000) // len(trees.labels))  # repeated until there are a million nodes
        for title, forest in ((name, trees), (f"{name}, {again} times", trees[np.tile(np.arange(len(trees)), again)])):
            if again == 1 and title != name:
                continue
            share = np.bincount(forest.labels) / len(forest.labels)
            entropy = -(share[share > 0] * np.log2(share[share > 0])).sum()
            index = XBW(forest)
            bits = 8 * index.nbytes / index.n_nodes
            cells = f"{index.n_nodes:,}", f"{np.count_nonzero(share):,}", f"{entropy:.2f}", f"{2 + entropy:.2f}"
            rows.append([title, *cells, f"{bits:.2f}", f"{bits / (2 + entropy):.2f}"])
    header = ("forest", "nodes", "labels", "H0", "bits a node, 2 + H0", "bits a node, XBW", "ratio")
    page.table("Size of the XBW index", header, rows)


def web_logs(page: Page, options: Any) -> None:
    """CSLOG: training on 13,934 trees to a gap of 1e-3, and accuracy across weeks."""
    trees, y = cslog("cslog12")
    rows = []
    for kernel, solver in (
        (Subpath(0.5), DualCD()),
        (Subpath(0.5), CuttingPlane()),
        (Subpath(0.5, index="xbw"), CuttingPlane()),
    ):
        begun = time.perf_counter()
        report = SVC(kernel.normalized(), C=1.0, solver=solver).fit(trees, y).report_
        spent = time.perf_counter() - begun
        rows.append([repr(kernel), type(solver).__name__, f"{spent:.2f}", report.epochs, f"{report.relative_gap:.0e}"])
    header = ("kernel", "solver", "seconds", "epochs or rounds", "gap")
    page.table(
        f"Training on cslog12, {len(trees):,} trees, {len(trees.labels):,} nodes, C = 1, normalised", header, rows
    )
    first, second = cslog("cslog1"), cslog("cslog2")
    rows = [
        [repr(kernel), *(f"{_fitted(kernel, 1.0, *a).score(*b):.3f}" for a, b in ((first, second), (second, first)))]
        for kernel in (Subpath(0.5), Subpath(0.5, max_length=1), RootPaths())
    ]
    header = ("kernel", "train cslog1, test cslog2", "train cslog2, test cslog1")
    page.table("Accuracy on CSLOG, C = 1, normalised", header, rows)


def accuracy(page: Page, options: Any) -> None:
    """INEX 2005, TREC questions, and glycans by 10 folds."""
    rows = []
    for name, train, test in (
        ("INEX 2005", inex("train"), inex("test")),
        ("TREC parses", trec_qc("train"), trec_qc("test")),
        ("TREC grct", trec_qc("train", "grct"), trec_qc("test", "grct")),
    ):
        for kernel in (Subpath(0.5), RootPaths()):
            begun = time.perf_counter()
            model = _fitted(kernel, 10.0, *train)
            rows.append([name, repr(kernel), f"{time.perf_counter() - begun:.2f}", f"{model.score(*test):.3f}"])
    page.table("Accuracy, C = 10, normalised", ("set", "kernel", "seconds to train", "accuracy"), rows)
    rows = []
    for name in ("leukemia", "cystic"):
        trees, labels, folds = kegg_glycan(name)
        y = np.array(labels)
        for kernel in (Subpath(0.5), RootPaths()):
            areas = []
            for fold in range(folds.max() + 1):
                model = _fitted(kernel, 1.0, trees[folds != fold], y[folds != fold])
                areas.append(roc_auc_score(y[folds == fold] == "1", model.decision_function(trees[folds == fold])))
            rows.append([name, repr(kernel), f"{np.mean(areas):.3f} ± {np.std(areas):.3f}"])
    page.table("KEGG glycans, 10 folds, C = 1, normalised", ("set", "kernel", "AUC"), rows)


def _fitted(kernel: Kernel, C: float, trees: Trees, y: Any) -> SVC:
    return SVC(kernel.normalized(), C=C).fit(trees, y)


PARTS = {"growth": growth, "large": large, "sizes": sizes, "web_logs": web_logs, "accuracy": accuracy}


def main() -> None:
    import tempfile

    parser = arguments(__doc__ or "")
    parser.add_argument("--parts", choices=PARTS, nargs="+", default=PARTS)
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=sized([1_000, 10_000, 100_000, 1_000_000], [50, 100]), help="trees"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as options.folder:
        for part in options.parts:
            page = Page(f"Subpath: {part}", ())
            PARTS[part](page, options)
            page.write(options.write, part)


if __name__ == "__main__":
    main()
