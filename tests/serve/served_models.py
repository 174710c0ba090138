"""One small model for each kind of data, with an example in JSON, and the same example as Python has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import treille
from treille import Fst, kernels
from treille.data import Graph

TEXTS = ["a red wine", "dark and red", "a white wine", "white and green"]
WORDS = ["red", "red", "white", "white"]


class Case(NamedTuple):
    """A model, the kind of its data, and an example as JSON and as Python."""

    model: Any
    kind: str
    json: Any
    example: Any


def _lattice(word: str) -> Fst:
    return Fst.from_arcs([(0, word, word, 0.75, 1), (0, "wine", "wine", 0.25, 1)], {1: 1.0})


def texts() -> Case:
    return Case(treille.SVC(kernels.NGram(3)).fit(TEXTS, WORDS), "texts", "very red", "very red")


def three_classes() -> Case:
    model = treille.SVC(kernels.NGram(2).normalized()).fit([*TEXTS, "rosé", "a rosé"], [1, 1, 2, 2, 3, 3])
    return Case(model, "texts", "rosé wine", "rosé wine")


def dna() -> Case:
    sequences = treille.dna(["ACGTACGT", "ACGTTTTT", "GGGGCCCC", "GGCCGGCC"])
    return Case(treille.SVC(kernels.GappedKmer(4, 3)).fit(sequences, [1, 1, 0, 0]), "texts", "acgtacnn", "ACGTACNN")


def trees() -> Case:
    examples = ["(S (NP he) (VP sat))", "(S (NP she) (VP sat))", "(Q (WH who) (VP sat))", "(Q (WH what) (VP is))"]
    tree = "(S (NP they) (VP sat))"
    return Case(treille.SVC(kernels.Subpath()).fit(treille.Trees(examples), ["s", "s", "q", "q"]), "trees", tree, tree)


def graphs() -> Case:
    examples = [Graph(["C", "O"], [(0, 1)]), Graph(["C", "C", "O"], [(0, 1), (1, 2)]), Graph(["C", "N"], [(0, 1)])]
    model = treille.SVC(kernels.WeisfeilerLehman(2)).fit(examples, ["alcohol", "alcohol", "amine"])
    return Case(model, "graphs", {"nodes": ["C", "N"], "edges": [[0, 1]]}, Graph(["C", "N"], [(0, 1)]))


def lattices() -> Case:
    machines = [_lattice(word) for word in ("red", "dark", "white", "green")]
    model = treille.SVC(kernels.NGram(1, unit="word")).fit(machines, WORDS)
    arcs = {"arcs": [[0, "red", 0.75, 1], [0, "wine", 0.25, 1]], "finals": {"1": 1.0}}
    return Case(model, "tokens", arcs, _lattice("red"))


def vectors() -> Case:
    rows = [[1.0, 0.0, 2.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 2.0, 0.5]]
    return Case(treille.SVC(kernels.Linear()).fit(rows, WORDS), "vectors", [1, 0, 0.5], [1.0, 0.0, 0.5])


def columns() -> Case:
    kernel = kernels.Columns({"title": kernels.NGram(2), "year": kernels.Linear()})
    rows = [{"title": title, "year": year} for title, year in zip(TEXTS, [1.0, 2.0, -1.0, -2.0], strict=True)]
    example = {"title": "red or white", "year": 0.5}
    return Case(treille.SVC(kernel).fit(rows, WORDS), "columns", example, example)


def tagger() -> Case:
    X = [[("The", "DT"), ("cat", "NN"), ("sleeps", "VBZ")], [("A", "DT"), ("dog", "NN"), ("barks", "VBZ")]]
    y = [["B-NP", "I-NP", "B-VP"], ["B-NP", "I-NP", "B-VP"]]
    sentence = [("The", "DT"), ("dog", "NN")]
    return Case(treille.Tagger(min_count=1).fit(X, y), "sentences", [list(token) for token in sentence], sentence)


def probabilities() -> Case:
    return Case(treille.LogisticRegression(kernels.NGram(2)).fit(TEXTS, WORDS), "texts", "reddish", "reddish")


def numbers() -> Case:
    return Case(treille.Ridge(kernels.NGram(2)).fit(TEXTS, [1.0, 2.0, 3.0, 4.0]), "texts", "reddish", "reddish")


def targets() -> Case:
    y = [[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]]
    return Case(treille.Ridge(kernels.NGram(2)).fit(TEXTS, y), "texts", "reddish", "reddish")


def one_class() -> Case:
    return Case(treille.OneClassSVM(kernels.NGram(2).normalized()).fit(TEXTS), "texts", "reddish", "reddish")


CASES: dict[str, Callable[[], Case]] = {
    each.__name__: each
    for each in (
        texts,
        three_classes,
        dna,
        trees,
        graphs,
        lattices,
        vectors,
        columns,
        tagger,
        probabilities,
        numbers,
        targets,
        one_class,
    )
}
