"""Accuracy of graph kernels on public sets, by cross-validation with all choices made inside the training folds."""

from __future__ import annotations

import warnings
from itertools import chain, pairwise
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from harness import Page, sized
from public_sets import fastsk, graphs
from treille import SVC, SVCCV
from treille.data import Graph, Graphs
from treille.datasets import function_graphs
from treille.kernels import Graphlets, Kernel, RandomWalk, ShortestPath, VertexHistogram, WeisfeilerLehman

REPETITIONS = sized({"MUTAG": 10, "PTC_MR": 10, "ENZYMES": 5, "PROTEINS": 5, "NCI1": 1}, {"MUTAG": 1})
CS = sized((0.01, 0.1, 1.0, 10.0, 100.0, 1000.0), (1.0,))
FOLDS = sized(10, 2)
THREADS = 2
LARGEST_MATRIX = 1000  # graphs; with more, cross-validation of kernels without features takes hours
DEFAULT = Graphs.default_kernels([])[0][0]  # of small graphs
METHODS: dict[str, list[Any]] = {
    "VertexHistogram": [VertexHistogram().normalized(), VertexHistogram(counts="log")],
    "Graphlets(4)": [Graphlets(4, counts="log").normalized(), Graphlets(4, counts="log")],
    "ShortestPath": [ShortestPath(labels="nodes").normalized()],
    "RandomWalk": [RandomWalk(decay, labels="nodes").normalized() for decay in (0.01, 0.1)],
    "WeisfeilerLehman": [WeisfeilerLehman(h, labels="nodes").normalized() for h in (1, 3, 5)],
    "default": [DEFAULT],
}
# Rieck, Bock, Borgwardt: A persistent Weisfeiler-Lehman procedure for graph classification. ICML 2019 (V-Hist and WL);
# Shervashidze et al., JMLR 12, 2011 (ENZYMES, and Graphlets: graphlet count).
PUBLISHED = {
    ("VertexHistogram", "MUTAG"): "0.860",
    ("VertexHistogram", "PTC_MR"): "0.583",
    ("VertexHistogram", "PROTEINS"): "0.723",
    ("VertexHistogram", "NCI1"): "0.644",
    ("Graphlets(4)", "ENZYMES"): "0.327",
    ("Graphlets(4)", "NCI1"): "0.660",
    ("WeisfeilerLehman", "MUTAG"): "0.873",
    ("WeisfeilerLehman", "PTC_MR"): "0.631",
    ("WeisfeilerLehman", "ENZYMES"): "0.464",
    ("WeisfeilerLehman", "PROTEINS"): "0.761",
    ("WeisfeilerLehman", "NCI1"): "0.856",
}
# Expressions of candidates for the default kernel, with C = 1, so that a factor is the C of a normalised kernel.
NEIGHBOURHOODS = "weisfeilerlehman(3, counts=binary).normalized()"
CANDIDATES = (
    *(f"10*weisfeilerlehman({h}).normalized()" for h in (2, 3, 5)),
    *(f"{C}*weisfeilerlehman({h}, counts=log).normalized()" for h in (3, 4) for C in (2, 4)),
    *(f"{C}*weisfeilerlehman({h}, counts=binary).normalized()" for h in (3, 4) for C in (1, 2, 4)),
    "4*weisfeilerlehman(3, counts=log).weighted(idf).normalized()",
    "2*shortestpath().normalized()",
    f"2*({NEIGHBOURHOODS} + weisfeilerlehman(3).normalized()).normalized()",
    f"2*(3*{NEIGHBOURHOODS} + weisfeilerlehman(3).normalized()).normalized()",
    f"2*({NEIGHBOURHOODS} + shortestpath().normalized()).normalized()",
    *(f"{C}*(3*{NEIGHBOURHOODS} + shortestpath().normalized()).normalized()" for C in (2, 3)),
    f"2*(3*{NEIGHBOURHOODS} + shortestpath(counts=log).normalized()).normalized()",
    "2*(weisfeilerlehman(3, counts=binary) + edgehistogram(counts=log)).balanced()",
)
JOINED = sized(6, 1)  # functions of a package that make a large graph


def _large_sets(functions: list[Graph], packages: list[str]) -> dict[str, tuple[Graphs, list[str]]]:
    """Functions of a package joined, the large graphs of PROTEINS, and sequences as paths of symbols."""
    joined = [
        (_union(functions[i : i + JOINED]), packages[i])
        for i in range(0, len(functions) - JOINED + 1, JOINED)
        if packages[i] == packages[i + JOINED - 1]
    ]
    batch, classes = graphs("PROTEINS")
    large = np.flatnonzero(np.diff(batch.offsets) >= sized(40, 0))
    sets = {
        f"{JOINED} functions": (Graphs([graph for graph, _ in joined]), [package for _, package in joined]),
        "PROTEINS, large": (batch[large], [classes[i] for i in large]),
    }
    for name, kind in (("1.1", "protein"), ("EP300", "dna")):
        texts, labels = fastsk(name, kind, "train")  # type: ignore[arg-type]
        random = np.random.default_rng(0)
        each = [
            random.permutation(np.flatnonzero(np.array(labels) == label))[: sized(400, 10)]
            for label in sorted(set(labels))
        ]
        chosen = np.concatenate(each)
        paths = [Graph(list(texts[i]), list(pairwise(range(len(texts[i]))))) for i in chosen]
        sets[f"{name} as paths"] = (Graphs(paths), [labels[i] for i in chosen])
    return sets


def _union(parts: list[Graph]) -> Graph:
    starts = np.cumsum([0, *(len(part.nodes) for part in parts)])
    edges = [(u + start, v + start) for part, start in zip(parts, starts, strict=False) for u, v in part.edges]
    nodes, labels = chain(*(part.nodes for part in parts)), chain(*(part.edge_labels for part in parts))
    return Graph(list(nodes), edges, list(labels), directed=parts[0].directed)


def defaults(page: Page, repeats: int) -> None:
    """The candidates for the default kernel of graphs, in 5 folds of each set and of functions of the standard library."""
    sets, rows = {name: graphs(name) for name in REPETITIONS}, []
    functions, packages = function_graphs(sized(None, ["json", "email"]), per_package=sized(250, 10))
    sets["functions"] = (Graphs(functions), packages)
    sets |= _large_sets(functions, packages)
    for kernel in CANDIDATES[: sized(None, 2)]:
        means = []
        for batch, classes in sets.values():
            y = np.array(classes)
            splits = StratifiedKFold(5, shuffle=True, random_state=0).split(y, y)
            means.append(np.mean([SVC(kernel).fit(batch[a], y[a]).score(batch[b], y[b]) for a, b in splits]))
        rows.append([f"`{kernel}`", *(f"{mean:.3f}" for mean in [*means, np.mean(means)])])
    nodes = ["nodes of a graph, mean", *(f"{np.diff(batch.offsets).mean():.0f}" for batch, _ in sets.values()), ""]
    title = "Accuracy in 5 folds, C = 1"
    page.table(title, ("kernel", *sets, "mean"), [nodes, *rows])


def accuracy(page: Page, repeats: int) -> None:
    """Ten folds, repeated; C and the parameters of the kernel are chosen in 5 folds of each training part."""
    sets = {name: graphs(name) for name in REPETITIONS}
    rows = []
    for method, kernels in METHODS.items():
        row = [f"`{DEFAULT}`" if method == "default" else method]
        for name, (batch, classes) in sets.items():
            if method == "RandomWalk" and len(batch) > LARGEST_MATRIX:
                row.append("-")
                continue
            mean, deviation = _scored(kernels, batch, np.array(classes), min(repeats, REPETITIONS[name]))
            published = PUBLISHED.get((method, name))
            spread = f" ± {deviation:.3f}" if min(repeats, REPETITIONS[name]) > 1 else ""
            row.append(f"{mean:.3f}{spread}" + (f" ({published})" if published else ""))
        rows.append(row)
    times = ", ".join(f"{name} {min(repeats, n)}" for name, n in REPETITIONS.items())
    title = "Accuracy, 10 folds: mean, and standard deviation over repetitions; in parentheses as published"
    page.table(f"{title}; repetitions: {times}", ("kernel", *sets), rows)


def _scored(kernels: list[Any], batch: Graphs, y: np.ndarray, repetitions: int) -> tuple[float, float]:
    """The mean and standard deviation of the mean accuracies of all repetitions."""
    featured = not isinstance(kernels[0], Kernel) or kernels[0].has_features
    matrices = [] if featured else [kernel(batch, n_jobs=THREADS) for kernel in kernels]
    means = []
    for seed in range(repetitions):
        scores = []
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(y, y):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if featured:
                    model = SVCCV(kernels, Cs=CS, n_jobs=THREADS).fit(batch[train], y[train])
                    scores.append(model.score(batch[test], y[test]))
                else:
                    scores.append(_by_matrices(matrices, y, train, test))
        means.append(np.mean(scores))
    return float(np.mean(means)), float(np.std(means))


def _by_matrices(matrices: list[np.ndarray], y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    """Kernels without features: one matrix of all examples for all folds."""
    found = [SVCCV("precomputed", Cs=CS, n_jobs=THREADS).fit(K[np.ix_(train, train)], y[train]) for K in matrices]
    best = int(np.argmax([model.best_score_ for model in found]))
    return float(found[best].score(matrices[best][np.ix_(test, train)], y[test]))
