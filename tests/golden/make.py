"""Writes the golden models that do not exist yet; see README.md.

One small model per estimator, kernel family, kind of data, space and representation of weights. A file that exists is never
written again: to add a model, add a line here and run `python tests/golden/make.py`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import treille
from treille import SVC, SVR, Fst, LearnedRidge, LearnedSVC, LogisticRegression, OneClassSVM, Perceptron, Ridge, Tagger
from treille.automata import library
from treille.io.model import FORMAT
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
from treille.solvers import SMO, CuttingPlane, FiniteNewton, NormalEquations
from treille.spaces import Nystrom

HERE = Path(__file__).parent

WINES = [
    "a red wine",
    "dark and red",
    "red, a dark red",
    "a white wine",
    "white and green",
    "very white",
    "rosé",
    "a rosé",
]
COLOURS = ["red", "red", "red", "white", "white", "white", "rosé", "rosé"]
TWO = [colour == "red" for colour in COLOURS]
PRICES = [12.5, 9.0, 30.0, 8.5, 7.0, 11.0, 6.5, 7.25]
NEW_WINES = ["a dark wine", "rosé or white", "", "ω: never seen \U0001f377"]

DNA = ["ACGTACGT", "ACGTTTTT", "TACGTACG", "GGGGCCCC", "GGCCGGCC", "CCGGNGGC"]
NEW_DNA = ["ACGTACNN", "GGGGGGGG", "ACG"]

TREES = [
    "(S (NP he) (VP sat))",
    "(S (NP (DT the) (NN cat)) (VP sat))",
    "(S (NP she) (VP (VB saw) (NP him)))",
    "(Q (WH who) (VP sat))",
    "(Q (WH what) (VP (VB is) (NP it)))",
    "(Q (WH who) (VP (VB saw) (NP (DT the) (NN dog))))",
]
NEW_TREES = ["(S (NP they) (VP sat))", "(Q (WH what) (VP sat))", "(X new)"]
SENTENCE_KINDS = ["s", "s", "s", "q", "q", "q"]

GRAPHS = [
    {"nodes": ["C", "O"], "edges": [[0, 1]], "edge_labels": ["1"], "node_attr": [[0.5, 1.0], [1.5, 0.25]]},
    {
        "nodes": ["C", "C", "O"],
        "edges": [[0, 1], [1, 2]],
        "edge_labels": ["1", "1"],
        "node_attr": [[1, 0], [2, 1], [0, 3]],
    },
    {
        "nodes": ["C", "C", "C", "O"],
        "edges": [[0, 1], [1, 2], [2, 0], [2, 3]],
        "edge_labels": ["1", "1", "1", "2"],
        "node_attr": [[0, 0.5], [1, 0], [1, 1], [0.25, 2]],
    },
    {"nodes": ["C", "N"], "edges": [[0, 1]], "edge_labels": ["1"], "node_attr": [[-1, 0.5], [-2, 0]]},
    {
        "nodes": ["N", "C", "C"],
        "edges": [[0, 1], [1, 2]],
        "edge_labels": ["2", "1"],
        "node_attr": [[0, -1], [-1, -1], [1, 0]],
    },
    {
        "nodes": ["C", "C", "C", "C", "N"],
        "edges": [[0, 1], [1, 2], [2, 3], [3, 0], [0, 4]],
        "edge_labels": ["1", "1", "1", "1", "1"],
        "node_attr": [[-1, 0], [0, 0], [0, -1], [-0.5, 0], [0, 0]],
    },
]
NEW_GRAPHS = [
    {
        "nodes": ["O", "C", "C", "N"],
        "edges": [[0, 1], [1, 2], [2, 3]],
        "edge_labels": ["1", "2", "1"],
        "node_attr": [[1, 1], [0, 1], [1, 0], [0, 0]],
    },
    {"nodes": ["S"], "edges": [], "edge_labels": [], "node_attr": [[1, 2]]},
]
BONDS = ["alcohol", "alcohol", "alcohol", "amine", "amine", "amine"]


def _lattice(first: str, second: str, p: float) -> dict[str, Any]:
    return {
        "arcs": [[0, first, p, 1], [0, second, 1 - p, 1], [1, "wine", 0.75, 2], [1, "", 0.25, 2]],
        "finals": {"2": 1.0},
    }


LATTICES = [
    _lattice("red", "read", 0.75),
    _lattice("dark", "red", 0.5),
    _lattice("white", "wide", 0.875),
    _lattice("green", "white", 0.25),
]
NEW_LATTICES = [_lattice("read", "white", 0.5), _lattice("wide", "new", 0.125)]

VECTORS = np.random.default_rng(0).normal(size=(12, 3)).round(3).tolist()
NEW_VECTORS = [[0.5, -1.0, 0.25], [0.0, 0.0, 0.0]]
SIGNS = ["up" if x[0] + x[1] * x[2] > 0 else "down" for x in VECTORS]
SETS = (np.random.default_rng(1).random((16, 6)) < 0.5).astype(float).tolist()
NEW_SETS = [[1.0, 0.0, 1.0, 1.0, 0.0, 1.0], [0.0] * 6]
ODD = [int(x[0] + x[1] == 1) for x in SETS]

ROWS = [
    {"title": title, "year": year}
    for title, year in zip(WINES, [1.0, 2.0, 0.5, -1.0, -2.0, -1.5, 0.0, 0.25], strict=True)
]
NEW_ROWS = [{"title": "a red or a white", "year": 0.75}, {"title": "", "year": -3.0}]

SENTENCES = [
    [["The", "DT"], ["big", "JJ"], ["cat", "NN"], ["sleeps", "VBZ"]],
    [["A", "DT"], ["dog", "NN"], ["barks", "VBZ"], ["loudly", "RB"]],
    [["Birds", "NNS"], ["sing", "VBP"]],
    [["The", "DT"], ["dog", "NN"], ["sees", "VBZ"], ["the", "DT"], ["cat", "NN"]],
]
TAGS = [
    ["B-NP", "I-NP", "I-NP", "B-VP"],
    ["B-NP", "I-NP", "B-VP", "O"],
    ["B-NP", "B-VP"],
    ["B-NP", "I-NP", "B-VP", "B-NP", "I-NP"],
]
NEW_SENTENCES = [[["The", "DT"], ["big", "JJ"], ["bird", "NN"], ["barks", "VBZ"]], [["Unseen", "XX"]]]


def _acceptor(lattice: dict[str, Any]) -> Fst:
    arcs = [(source, word, word, weight, target) for source, word, weight, target in lattice["arcs"]]
    return Fst.from_arcs(arcs, {int(state): weight for state, weight in lattice["finals"].items()})


# The function that makes examples for a model from the values in a JSON file, by their key there.
READERS: dict[str, Callable[[Any], Any]] = {
    "texts": list,
    "bytes": lambda items: [bytes.fromhex(item) for item in items],
    "tokens": list,
    "integers": lambda items: [np.array(item, dtype=np.int64) for item in items],
    "dna": treille.dna,
    "trees": treille.Trees,
    "graphs": treille.Graphs,
    "lattices": lambda items: [_acceptor(item) for item in items],
    "vectors": np.array,
    "rows": list,
    "sentences": lambda items: [[tuple(token) for token in sentence] for sentence in items],
}


def examples(known: dict[str, Any]) -> Any:
    """The examples of a golden JSON file, as Python objects."""
    (kind,) = READERS.keys() & known.keys()
    return READERS[kind](known[kind])


def outputs(model: Any, X: Any) -> dict[str, Any]:
    """All outputs of a model for examples, as JSON values."""
    found: dict[str, Any] = {"predictions": _plain(model.predict(X)), "primal": model.report_.primal}
    for key, attribute in (("classes", "classes_"), ("tags", "tags_")):
        if hasattr(model, attribute):
            found[key] = _plain(getattr(model, attribute))
    for key, method in (("decisions", "decision_function"), ("probabilities", "predict_proba")):
        if hasattr(model, method):
            found[key] = _plain(getattr(model, method)(X))
    if isinstance(model, Tagger) and model.multiclass == "rest":
        found["decisions"] = [[decision.scores.item() for decision in model.explain(sentence)] for sentence in X]
    return found


def _plain(values: Any) -> Any:
    return values.tolist() if isinstance(values, np.ndarray) else values


class Case(NamedTuple):
    """A model to be fitted, its training data, new examples, and how it is saved."""

    model: Any
    kind: str
    train: Any
    targets: Any
    new: Any
    options: dict[str, Any] = {}  # noqa: RUF012 (never changed)

    def fitted(self) -> Any:
        """The model after training."""
        return self.model.fit(READERS[self.kind](self.train), self.targets)


def wines(model: Any, targets: Any = COLOURS, **options: Any) -> Case:
    """A model of texts."""
    return Case(model, "texts", WINES, targets, NEW_WINES, options)


def trees(kernel: Any) -> Case:
    """A classifier of trees."""
    return Case(SVC(kernel), "trees", TREES, SENTENCE_KINDS, NEW_TREES)


def graphs(kernel: Any) -> Case:
    """A classifier of graphs."""
    return Case(SVC(kernel), "graphs", GRAPHS, BONDS, NEW_GRAPHS)


def lattices(model: Any) -> Case:
    """A classifier of lattices."""
    return Case(model, "lattices", LATTICES, COLOURS[1:5], NEW_LATTICES)


def vectors(model: Any, targets: Any = SIGNS) -> Case:
    """A model of vectors."""
    return Case(model, "vectors", VECTORS, targets, NEW_VECTORS)


def tagger(**parameters: Any) -> Case:
    """A tagger of sentences with few features."""
    model = Tagger(min_count=1, templates=["word[0]", "pos[0]", "suffix2[-1]", "tag[-1]"], **parameters)
    return Case(model, "sentences", SENTENCES, TAGS, NEW_SENTENCES)


class Streamed(Perceptron):
    """A perceptron that reads its examples in blocks of three."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        model = Perceptron(**self.get_params(deep=False))
        for i in range(0, len(X), 3):
            model.partial_fit(X[i : i + 3], y[i : i + 3], classes=sorted(set(y)))
        return model


def string_kernels() -> Iterator[tuple[str, Case]]:
    """One model per kernel of strings, and per kind of symbols."""
    yield "ngram_words", wines(SVC(NGram(2, min_n=1, unit="word", counts="log").normalized()))
    yield "ngram_bytes", wines(SVC(NGram(2, unit="byte")))
    texts, new = [text.encode().hex() for text in WINES], [text.encode().hex() for text in NEW_WINES]
    yield "bytes", Case(SVC(NGram(2, unit="byte")), "bytes", texts, COLOURS, new)
    yield "tokens", Case(SVC(NGram(2)), "tokens", [t.split() for t in WINES], COLOURS, [t.split() for t in NEW_WINES])
    codes, new_codes = [[ord(c) for c in t] for t in WINES], [[ord(c) for c in t] for t in NEW_WINES]
    yield "integers", Case(SVC(NGram(2)), "integers", codes, COLOURS, new_codes)
    yield "all_substrings", wines(SVC(AllSubstrings(0.5, max_length=6)))
    yield "all_substrings_unlimited", wines(SVC(AllSubstrings(0.5).normalized()), TWO)
    yield "gappy", wines(SVC(Gappy(3, 0.5, max_gap=2)))
    yield "gappy_span", wines(SVC(Gappy(2, 0.5, max_total_gap=1, count="span")), TWO)
    yield "mismatch", Case(SVC(Mismatch(3, 1, alphabet="ACGTN")), "dna", DNA, SENTENCE_KINDS, NEW_DNA)
    yield "wildcard", wines(SVC(Wildcard(3, 1, 0.5)))
    kmers = GappedKmer(5, 3, alphabet="ACGT", skip="N", reverse_complement=True).normalized()
    yield "gapped_kmer", Case(SVC(kmers), "dna", DNA, SENTENCE_KINDS, NEW_DNA)
    filtered = GappedKmer(5, 3, alphabet="ACGT", skip="N", filter="truncated")
    yield "gapped_kmer_filtered", Case(SVC(filtered), "dna", DNA, SENTENCE_KINDS, NEW_DNA)
    yield "subsequence", wines(SVC(Subsequence(2, 0.5).normalized()))
    yield "weighted_degree", wines(SVC(WeightedDegree(3)))
    yield "weighted_degree_shifted", wines(SVC(WeightedDegree(2, shift=1)))
    letters = sorted(set("".join(WINES)))
    yield "rational", wines(SVC(Rational(library.ngram(2, letters))))
    yield "rational_gappy", wines(SVC(Rational(library.gappy(2, letters, 0.5))), TWO)
    pairs = Rational(library.ngram(1, letters) @ ~library.ngram(1, letters), factored=False)
    yield "rational_not_factored", wines(SVC(pairs), TWO)


def structures() -> Iterator[tuple[str, Case]]:
    """One model per kernel of trees and of graphs, of lattices, vectors and tables."""
    yield "subpath", trees(Subpath(0.5))
    yield "subpath_normalized", trees(Subpath(0.75, max_length=3, counts="log").normalized())
    yield "subset_tree", trees(SubsetTree(0.4))
    yield "subset_tree_leaves", trees(SubsetTree(0.5, leaves=True).normalized())
    yield "subtree", trees(SubTree())
    yield "partial_tree", trees(PartialTree(0.4, 0.4).normalized())
    yield "root_paths", trees(RootPaths())
    yield "weisfeiler_lehman", graphs(WeisfeilerLehman(2))
    yield "weisfeiler_lehman_base", graphs(WeisfeilerLehman(1, base=ShortestPath()))
    yield "shortest_path", graphs(ShortestPath().normalized())
    yield "graphlets", graphs(Graphlets(3))
    yield "random_walk", graphs(RandomWalk(0.1))
    yield "random_walk_geometric", graphs(RandomWalk(0.05, "geometric").normalized())
    yield "walks", graphs(Walks(2, min_k=1))
    yield "vertex_histogram", graphs(VertexHistogram())
    yield "edge_histogram", graphs(EdgeHistogram())
    yield "node_attributes", graphs(NodeAttributes())
    yield "lattices_ngram", lattices(SVC(NGram(2, min_n=1)))
    yield "lattices_gappy", lattices(SVC(Gappy(2, 0.5, max_gap=1)))
    words = sorted({arc[1] for lattice in LATTICES for arc in lattice["arcs"]} - {""})
    yield "lattices_rational", lattices(SVC(Rational(library.ngram(1, words))))
    yield "linear", vectors(SVC(Linear()))
    yield "polynomial", vectors(SVC(Polynomial(2, 0.5), C=10.0))
    yield "polynomial_normalized", vectors(SVC(Polynomial(3).normalized()))
    yield "conjunctions", Case(SVC(Conjunctions(2, min_support=2)), "vectors", SETS, ODD, NEW_SETS)
    matrix, new = NGram(2)(WINES).tolist(), NGram(2)(NEW_WINES, WINES).tolist()
    yield "precomputed", Case(SVC("precomputed"), "vectors", matrix, COLOURS, new)
    kernel = Columns({"title": NGram(2).normalized(), "year": Linear()}, column_weights={"year": 0.5})
    yield "columns", Case(SVC(kernel), "rows", ROWS, COLOURS, NEW_ROWS)


def kernel_algebra() -> Iterator[tuple[str, Case]]:
    """One model per operation on kernels."""
    yield "sum", wines(SVC(0.5 * NGram(2) + Gappy(2, 0.5, max_gap=1).normalized()))
    kernel = NGram(3).normalized() + NGram(2, min_n=1, unit="word").weighted("idf").normalized()
    yield "sum_many_classes", wines(SVC(kernel, C=10.0), sorted(WINES))  # weights of which most are 0
    yield "sum_of_rows_and_values", wines(SVC(NGram(2).weighted("idf").normalized() + Subsequence(2).normalized()))
    yield "sum_without_features", wines(SVC(NGram(1) + Subsequence(2)), TWO)
    yield "product", wines(SVC(NGram(1) * NGram(2, unit="word")))
    yield "power", wines(SVC(NGram(2) ** 2))
    yield "constant", wines(SVC(NGram(2) + 0.5))
    yield "centered", wines(SVC(NGram(2).centered()))
    yield "centered_normalized", wines(SVC(NGram(2).normalized().centered()), TWO)
    yield "balanced", wines(SVC(NGram(3, min_n=1).balanced()))
    yield "weighted_idf", wines(SVC(NGram(1, unit="word").weighted("idf").normalized()))
    yield "weighted_idf_balanced", wines(SVC(NGram(2, min_n=1).weighted("idf").balanced()))
    yield "weighted_nb", wines(SVC(NGram(2).weighted("nb")), TWO)
    yield "weighted_nb_classes", wines(SVC(NGram(2).weighted("nb").normalized()))
    yield "weighted_names", wines(SVC(NGram(1).weighted({"r": 2.0, "w": 0.5}, missing=0.25)))


def estimators() -> Iterator[tuple[str, Case]]:
    """One model per estimator, space and representation."""
    yield "svc_squared_hinge", wines(SVC(NGram(2), loss="squared_hinge", class_weight="balanced"))
    yield "svc_newton", wines(SVC(NGram(2), loss="squared_hinge", solver=FiniteNewton()))
    yield "svc_two_classes", wines(SVC(NGram(2), fit_intercept=False), TWO)
    yield "svc_default_kernel", wines(SVC())
    yield "svc_support_examples", wines(SVC(NGram(2).normalized(), solver=SMO(), fit_intercept="free"))
    yield "svc_product", wines(SVC(AllSubstrings(0.5), solver=CuttingPlane()), TWO)
    yield "svc_nystrom", wines(SVC(NGram(2), space=Nystrom(4)))
    yield "automaton_weights", wines(SVC(NGram(3, min_n=1)), representation="automaton")
    yield (
        "automaton_weights_words",
        wines(SVC(Gappy(2, 0.5, 1, unit="word").normalized()), TWO, representation="automaton"),
    )
    yield "svr", wines(SVR(NGram(2), C=10.0, epsilon=0.25), PRICES)
    yield "svr_huber", wines(SVR(NGram(2), C=10.0, epsilon=0.25, loss="huber"), PRICES)
    yield "svr_support_examples", wines(SVR(Subsequence(2).normalized(), C=10.0), PRICES)
    yield "ridge", wines(Ridge(NGram(2), alpha=0.5), PRICES)
    yield "ridge_weights", wines(Ridge(NGram(2).normalized(), solver=NormalEquations()), PRICES)
    yield "ridge_targets", wines(Ridge(NGram(2)), [[price, float(two)] for price, two in zip(PRICES, TWO, strict=True)])
    yield "ridge_gram", wines(Ridge(Subsequence(2).normalized(), alpha=0.5), PRICES)
    yield "logistic_regression", wines(LogisticRegression(NGram(2), C=1.0), TWO)
    yield "logistic_regression_classes", wines(LogisticRegression(NGram(2).normalized(), C=10.0))
    yield "one_class_svm", wines(OneClassSVM(NGram(2).normalized(), nu=0.25), None)
    yield "one_class_svm_support_examples", wines(OneClassSVM(Subsequence(2).normalized()), None)
    yield "perceptron", wines(Perceptron(NGram(2)))
    yield "perceptron_gram", wines(Perceptron(Subsequence(2).normalized(), averaged=False), TWO)
    yield "perceptron_stream", wines(Streamed(NGram(2)))
    yield "learned_svc", wines(LearnedSVC(NGram(2)), TWO)
    yield "learned_svc_classes", wines(LearnedSVC(NGram(2, min_n=1), groups="parts"))
    yield "learned_svc_idf", wines(LearnedSVC(NGram(2).weighted("idf").normalized(), spread="even"), TWO)
    yield "learned_ridge", wines(LearnedRidge(NGram(2)), PRICES)
    learned = LearnedSVC(NGram(2)).fit(WINES, TWO).kernel_
    yield "learned_kernel", wines(SVC(learned), TWO)
    yield "tagger", tagger()
    yield "tagger_linear", tagger(kernel=Linear(), direction="backward", beam=1, scheme=None)
    default = Tagger(kernel=Linear(), min_count=2)
    yield "tagger_default_templates", Case(default, "sentences", SENTENCES, TAGS, NEW_SENTENCES)
    yield "tagger_pairs", tagger(multiclass="pairs", scheme="BIOES")


def cases() -> Iterator[tuple[str, Case]]:
    """All models, with their names."""
    for group in (string_kernels, structures, kernel_algebra, estimators):
        yield from group()


def write(name: str, case: Case) -> None:
    """Fits a model and writes it, with what it says about new examples after loading."""
    path = HERE / f"{name}_v{FORMAT}.treille"
    case.fitted().save(path, **case.options)
    found = {"treille": treille.__version__, case.kind: case.new}
    found |= outputs(treille.load(path), READERS[case.kind](case.new))
    path.with_suffix(".json").write_text(json.dumps(found, indent=1) + "\n")
    print(f"{path.stat().st_size:8,} bytes  {path.name}")


if __name__ == "__main__":
    for name, case in cases():
        if not list(HERE.glob(f"{name}_v*.treille")):
            write(name, case)
    print(f"{len(list(HERE.glob('*.treille')))} golden models", file=sys.stderr)
