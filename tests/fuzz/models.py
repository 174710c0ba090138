"""Model files as targets: a model of every kernel family, estimator and representation, with its spec or its arrays changed.

The checksum is computed again after each change, so that everything behind it is reached.
"""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import treille
import treille.spaces
from treille import (
    SVC,
    SVR,
    Fst,
    Lattices,
    LearnedRidge,
    LearnedSVC,
    LogisticRegression,
    OneClassSVM,
    Perceptron,
    Ridge,
    Tagger,
)
from treille.data import Graph
from treille.io.compact_arrays import compacted
from treille.io.model import read_model, signed_bytes
from treille.kernels import (
    AllSubstrings,
    Columns,
    Conjunctions,
    EdgeHistogram,
    GappedKmer,
    Gappy,
    Graphlets,
    Linear,
    Mismatch,
    NGram,
    NodeAttributes,
    PartialTree,
    Polynomial,
    RandomWalk,
    Rational,
    RootPaths,
    ShortestPath,
    Subpath,
    Subsequence,
    SubsetTree,
    SubTree,
    VertexHistogram,
    Walks,
    WeightedDegree,
    WeisfeilerLehman,
    Wildcard,
)

from . import mutations

TEXTS = ["abab", "bbaa", "abcabc", "ccbb", "bcbc", "cacaca"]
WORDS = ["the old vine", "a new vine", "the wine is old", "a grape", "new wine", "old grapes grow"]
DNA = ["ACGTACGTAC", "TTTTACGACA", "GGGTACCCAA", "ACACACGTGT", "CCGTAAGTTT", "AAAACCCGGG"]
EQUAL = [text[:9] for text in DNA]
TREES = ["(S (NP (D the) (N vine)) (VP (V grows)))", "(S (NP (N wine)) (VP (V is) (A old)))", "(NP (D a) (N grape))"]
TREES += ["(S (NP he) (VP (V ate) (NP it)))", "(a (b (c (d (e f)))))", "(S (S (S (S (NP x)))) (VP))"]
MOLECULES = [
    Graph(
        text,
        [(v, v + 1) for v in range(len(text) - 1)],
        text[1:].upper(),
        None,
        [[len(text), v] for v in range(len(text))],
    )
    for text in TEXTS
]
GRAPHS = [Graph(list("abba")[:n], [(u, u + 1) for u in range(n - 1)] + [(0, n - 1)]) for n in (1, 2, 3, 4)]
GRAPHS += [Graph(list("aab"), [(0, 1)]), Graph(list("baab"), [(0, 1), (0, 2), (0, 3)])]
ROWS = [[0.5, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 0.5, 0.5], [2.0, 1.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
NAMED = [dict(zip("abc", row, strict=True)) for row in ROWS]
SETS = [{name for name, value in row.items() if value} for row in NAMED]
TABLE = {"title": TEXTS, "body": WORDS}
Y2, Y3, TARGETS = [0, 1, 0, 1, 0, 1], ["x", "y", "z", "x", "y", "z"], [0.5, 1.0, -1.0, 2.0, 0.0, 1.5]


def bigrams() -> Fst:
    skip = [(state, symbol, "", 1.0, state) for state in (0, 2) for symbol in "abc"]
    return Fst.from_arcs([*skip, *((k, s, s, 0.5, k + 1) for k in (0, 1) for s in "abc")], {2: 1.0})


def lattices() -> Lattices:
    def one(a: str, b: str) -> Fst:
        return Fst.from_arcs([(0, a, a, 0.4, 1), (0, b, b, 0.6, 1), (1, b, b, 1.0, 2)], {2: 1.0})

    return Lattices([one("a", "b"), one("b", "a"), one("c", "b"), one("b", "c"), one("a", "c"), one("c", "a")])


def table() -> Any:
    import pandas as pd

    return pd.DataFrame(TABLE)


def svc(kernel: Any, X: Any, y: Any = Y2, **options: Any) -> tuple[Any, Any]:
    return SVC(kernel, tol=0.1, max_epochs=10_000, **options).fit(X, y), X


def tagger(**options: Any) -> tuple[Any, Any]:
    sentences = [text.split() for text in WORDS]
    return Tagger(tol=0.1, **options).fit(
        sentences, [["B" if len(w) > 3 else "O" for w in s] for s in sentences]
    ), sentences


MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "ngram": lambda: svc(NGram(2), TEXTS),
    "ngram-orders": lambda: svc(NGram(3, min_n=1, order_weights=[1.0, 0.5, 2.0]).normalized(), TEXTS, Y3),
    "ngram-words": lambda: svc(NGram(2, min_n=1, unit="word"), WORDS, Y3, class_weight={"x": 2.0}),
    "ngram-bytes": lambda: svc(
        NGram(2, unit="byte"), TEXTS, [True, False] * 3, solver=treille.solvers.DualCD(max_seconds=60)
    ),
    "ngram-integers": lambda: svc(NGram(2), [[1, 2, 3], [2, 3], [1, 1], [3, 2, 1], [2, 2], [7, 8]], [2.0, 5.0] * 3),
    "ngram-lattices": lambda: svc(NGram(2), lattices()),
    "ngram-products": lambda: svc(NGram(2), TEXTS, solver=treille.solvers.CuttingPlane()),
    "ngram-smo": lambda: svc(NGram(2), TEXTS, solver=treille.solvers.SMO()),
    "ngram-nystrom": lambda: svc(NGram(2), TEXTS, space=treille.spaces.Nystrom(3)),
    "gappy": lambda: svc(Gappy(2, max_gap=2), TEXTS),
    "gapped-kmer": lambda: svc(GappedKmer(4, 2), DNA),
    "gapped-kmer-alphabet": lambda: svc(GappedKmer(4, 2, alphabet="ACGT"), DNA),
    "mismatch": lambda: svc(Mismatch(3, 1, alphabet="ACGT"), DNA),
    "wildcard": lambda: svc(Wildcard(3, 1), TEXTS),
    "weighted-degree": lambda: svc(WeightedDegree(3), EQUAL),
    "subsequence": lambda: svc(Subsequence(2), TEXTS),
    "all-substrings": lambda: svc(AllSubstrings(0.5), TEXTS),
    "rational": lambda: svc(Rational(bigrams()), TEXTS),
    "rational-gram": lambda: svc(Rational(bigrams() @ ~bigrams(), factored=False), TEXTS),
    "subtree": lambda: svc(SubTree(), TREES, Y3),
    "subset-tree": lambda: svc(SubsetTree(0.4), TREES),
    "partial-tree": lambda: svc(PartialTree(0.4), TREES),
    "subpath": lambda: svc(Subpath(0.5), TREES),
    "subpath-bounded": lambda: svc(Subpath(0.5, max_length=2), TREES),
    "subpath-xbw": lambda: svc(Subpath(0.5, index="xbw"), TREES),
    "root-paths": lambda: svc(RootPaths(), TREES),
    "weisfeiler-lehman": lambda: svc(WeisfeilerLehman(2), MOLECULES, Y3),
    "weisfeiler-lehman-base": lambda: svc(WeisfeilerLehman(1, base=EdgeHistogram(ends=True)), MOLECULES),
    "shortest-path": lambda: svc(ShortestPath(), MOLECULES),
    "shortest-path-weights": lambda: svc(ShortestPath(use_weights=True), MOLECULES),
    "vertex-histogram": lambda: svc(VertexHistogram(), MOLECULES),
    "edge-histogram": lambda: svc(EdgeHistogram(), MOLECULES),
    "random-walk": lambda: svc(RandomWalk(0.1), MOLECULES),
    "walks": lambda: svc(Walks(2), MOLECULES, Y3),
    "node-attributes": lambda: svc(NodeAttributes(), MOLECULES),
    "graphlets": lambda: svc(Graphlets(3, connected=False), GRAPHS, Y3),
    "linear": lambda: svc(Linear(), ROWS),
    "linear-named": lambda: svc(Linear(), NAMED, Y3),
    "precomputed": lambda: svc("precomputed", np.array(ROWS) @ np.array(ROWS).T),
    "columns": lambda: svc(Columns({"title": NGram(2), "body": NGram(1, unit="word")}), table()),
    "columns-gram": lambda: svc(Columns({"title": Subsequence(2), "body": NGram(1, unit="word")}), table()),
    "sum": lambda: svc(1 + NGram(2) + 0.5 * Gappy(2, max_gap=1), treille.Strings(TEXTS)),
    "sum-frozen": lambda: svc(NGram(2).weighted("idf").normalized() + 0.5 * Subsequence(2), TEXTS, Y3),
    "product": lambda: svc(NGram(1) * NGram(2), TEXTS),
    "power": lambda: svc(NGram(1) ** 2, TEXTS),
    "polynomial": lambda: svc(Polynomial(2), ROWS),
    "conjunctions": lambda: svc(Conjunctions(2, min_support=2), SETS),
    "centered": lambda: svc(NGram(2).centered(), TEXTS),
    "weighted": lambda: svc(NGram(2).weighted("nb").normalized(), TEXTS),
    "balanced": lambda: svc(NGram(2, min_n=1).weighted("idf").balanced(), TEXTS),
    "normalized-trees": lambda: svc(SubsetTree(0.4).normalized(), TREES, Y3),
    "svr": lambda: (SVR(NGram(2), tol=0.1).fit(TEXTS, TARGETS), TEXTS),
    "ridge": lambda: (Ridge(NGram(2)).fit(TEXTS, np.column_stack([TARGETS, TARGETS])), TEXTS),
    "perceptron": lambda: (Perceptron(NGram(2)).fit(TEXTS, Y2), TEXTS),
    "perceptron-stream": lambda: (Perceptron(NGram(2).normalized()).partial_fit(TEXTS, Y3), TEXTS),
    "perceptron-examples": lambda: (Perceptron(Subsequence(2)).partial_fit(TEXTS, Y3), TEXTS),
    "logistic": lambda: (LogisticRegression(NGram(2), tol=0.1).fit(TEXTS, Y3), TEXTS),
    "ridge-gram": lambda: (Ridge(Subsequence(2)).fit(TEXTS, TARGETS), TEXTS),
    "learned-svc": lambda: (LearnedSVC(NGram(2, min_n=1), groups="parts", tol=0.1).fit(TEXTS, Y3), TEXTS),
    "learned-ridge": lambda: (LearnedRidge(NGram(2), tol=0.1).fit(TEXTS, TARGETS), TEXTS),
    "linear-smo": lambda: svc(Linear(), ROWS, solver=treille.solvers.SMO()),
    "many-classes": lambda: svc(NGram(3).normalized() + NGram(1, unit="word"), WORDS * 3, np.arange(18) % 6),
    "tagger": lambda: tagger(),
    "tagger-pairs": lambda: tagger(kernel="linear()", multiclass="pairs", direction="backward", min_count=1),
    "tagger-templates": lambda: tagger(templates=["word[0]", "word[-1]|word[0]", "tag[-1]"], min_count=1),
    "one-class": lambda: (OneClassSVM(NGram(2), tol=0.1).fit(TEXTS), TEXTS),
    "automaton": lambda: svc(NGram(3, min_n=1), TEXTS),
    "automaton-classes": lambda: svc(Wildcard(3, 1).normalized(), TEXTS, Y3),
    "automaton-rational": lambda: svc(Rational(bigrams()), TEXTS, Y3),
}


class ModelTarget:
    """Loads a changed file of one model, and predicts with what was loaded."""

    slow = 10.0

    def __init__(self, name: str, folder: Path):
        self.name, self.path = f"model-{name}", folder / f"{name}.treille"
        model, self.X = MODELS[name]()
        # Reading a few texts takes longer than the rest.
        self.batch = self.X if isinstance(model, Tagger) else model.plan_.kernel.batch(self.X)
        model.save(self.path, **({"representation": "automaton"} if name.startswith("automaton") else {}))
        spec, arrays = read_model(self.path)
        shapes, self.arrays = compacted(arrays)
        self.spec = spec | {"compact": shapes}
        self.bytes = self.path.read_bytes()

    def case(self, rng: random.Random) -> bytes:
        if rng.random() < 0.02:
            return mutations.of_bytes(self.bytes, [self.bytes], rng)
        spec, arrays = self.spec, self.arrays
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            way = rng.random()
            if way < 0.2:
                spec = mutations.of_sizes(spec, rng)
            elif way < 0.5:
                spec = mutations.of_json(spec, rng)
            else:
                arrays = mutations.of_arrays(arrays, rng)
        if not isinstance(spec, dict):
            spec = {"estimator": spec}
        return signed_bytes(spec, arrays)

    def run(self, data: bytes) -> None:
        self.path.write_bytes(data)
        exercise(treille.load(self.path), self.X if data[-1] % 16 == 0 else self.batch)


def exercise(model: Any, X: Any) -> None:
    """All that reads what a file stored."""
    model.predict(X)
    if isinstance(model, Tagger):
        for sentence in X if model.multiclass == "rest" else ():
            model.explain(sentence)
    elif hasattr(model.functions_, "features"):
        features = model.features_
        for id in {0, features.n_features // 2, features.n_features - 1}:
            if 0 <= id < features.n_features:
                features.name(id)


TARGETS_BY_NAME = {f"model-{name}": partial(ModelTarget, name) for name in MODELS}
