"""The sets of accuracy.py: examples, labels, fixed splits, the score, and published results."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from _cells import fastsk, functions, questions, reuters, reuters_topics
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
from sklearn.model_selection import GroupKFold, StratifiedKFold

from harness import sized

Split = tuple[np.ndarray, np.ndarray]  # the places of the examples to train on, and of those to test

SEED = 0
RESAMPLES = sized(200, 5)  # of the test part, for the standard error of one split
# Blakely et al., FastSK: fast sequence analysis with gapped string kernels, Bioinformatics 36 (2020), from the authors' repository
# QData/FastSK, results/spreadsheets/performance_results_summary.csv: length, k and C are chosen for each set.
FASTSK = "Blakely et al. 2020"


@dataclass(frozen=True)
class Problem:
    """Examples, labels and splits. Programs for texts read `texts` instead of trees or lattices."""

    X: Any
    y: np.ndarray
    splits: list[Split]
    groups: np.ndarray | None = None  # examples of a group are never in two parts
    texts: list[str] | None = None

    def part(self, places: np.ndarray, texts: bool = False) -> Any:
        X = self.texts if texts and self.texts is not None else self.X
        return [X[i] for i in places] if isinstance(X, list) else X[places]


@dataclass(frozen=True)
class Set:
    """A public set: its kind determines the kernels and programs to compare."""

    name: str
    kind: str
    load: Callable[[], Problem]
    metric: str = "accuracy"
    published: dict[str, float] = field(default_factory=dict)
    quick: bool = False  # part of the quick run

    def score(self, y: np.ndarray, outputs: np.ndarray) -> float:
        """`outputs` are labels for accuracy and F1, decision values for the area under the ROC curve."""
        if self.metric == "AUC":
            return float(roc_auc_score(y == "1", outputs))
        if self.metric == "F1":
            return float(f1_score(y, outputs, pos_label="1"))
        return float(accuracy_score(y, outputs))

    def scored(self, parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float]:
        """The mean over splits and its standard error: from the splits, or by resampling the test part of a single split."""
        if len(parts) > 1:
            scores = [self.score(y, outputs) for y, outputs in parts]
            return float(np.mean(scores)), float(np.std(scores, ddof=1) / len(scores) ** 0.5)
        y, outputs = parts[0]
        random, scores = np.random.default_rng(SEED), []
        while len(scores) < RESAMPLES:
            places = random.integers(0, len(y), len(y))
            if len(np.unique(y[places])) > 1:
                scores.append(self.score(y[places], outputs[places]))
        return self.score(y, outputs), float(np.std(scores))


def folds(y: np.ndarray, count: int, groups: np.ndarray | None = None) -> list[Split]:
    """Splits fixed by the seed, stratified; by groups where there are any."""
    if groups is not None:
        order = np.random.default_rng(SEED).permutation(groups.max() + 1)
        return list(GroupKFold(count).split(y, y, order[groups]))
    return list(StratifiedKFold(count, shuffle=True, random_state=SEED).split(y, y))


def given(n_train: int, n: int) -> list[Split]:
    return [(np.arange(n_train), np.arange(n_train, n))]


def sampled(y: np.ndarray, most: int) -> np.ndarray:
    """At most this many examples, drawn by the seed, in their order."""
    return np.sort(np.random.default_rng(SEED).permutation(len(y))[:most])


@cache
def domain(name: str) -> Problem:
    from public_sets import data_file
    from treille.io import read

    examples = read(data_file("amazon_mds", f"{name}.jsonl.gz"), text="text", label="label")
    texts, y = [" ".join(text.split()) for text in examples.X], np.array(examples.labels)
    return Problem(texts, y, folds(y, 5))


@cache
def sentences(name: str) -> Problem:
    """The last two sentences of at least six words of every review, with the label of the review."""
    reviews = domain(name)
    texts, owners = list[str](), list[int]()
    for i, review in enumerate(reviews.X):
        found = [s for s in re.split(r"(?<=[.!?])\s+", review) if len(s.split()) >= 6]
        texts += found[-2:]
        owners += [i] * len(found[-2:])
    groups = np.array(owners)
    y = reviews.y[groups]
    return Problem(texts, y, folds(y, 5, groups), groups)


@cache
def trec(fine: bool = False, tokens: bool = False) -> Problem:
    from public_sets import trec_qc

    texts, y = questions()
    if fine:
        y = np.array(trec_qc("all", "parse", fine=True)[1])
    X = [re.findall(r"\w+|[^\w\s]", text.lower()) for text in texts] if tokens else texts
    return Problem(X, y, given(sized(5452, 100), len(y)), texts=texts)


@cache
def stories(topics: bool = False) -> Problem:
    from public_sets import reuters as read

    if not topics:
        return Problem(*reuters(), given(sized(9603, 100), sized(12902, 200)))
    labelled = reuters_topics()
    kept = set(labelled[1].tolist())
    n_train = sum(bool(t) and t[0] in kept for t in read("train")[1])
    return Problem(*labelled, given(n_train, len(labelled[1])))


@cache
def library() -> Problem:
    texts, y = functions()
    return Problem(texts, y, folds(y, 4))


@cache
def residues(name: str, kind: str) -> Problem:
    from public_sets import fastsk as part

    texts, y = fastsk(name, kind)
    return Problem(texts, y, given(len(part(name, kind)[1]), len(y)))  # type: ignore[arg-type]


@cache
def splice() -> Problem:
    from public_sets import data_file
    from treille.io import open_text

    with open_text(data_file("uci_splice", "splice.tsv.gz")) as lines:
        rows = [line.rstrip("\n").split("\t") for line in lines]
    texts, y = [row[2] for row in rows], np.array([row[0] for row in rows])
    groups = np.unique(texts, return_inverse=True)[1]  # repeated sequences stay together
    return Problem(texts, y, folds(y, 5, groups), groups)


@cache
def questions_as(trees: str) -> Problem:
    from public_sets import trec_qc

    X, labels = trec_qc("all", trees)  # type: ignore[arg-type]
    return Problem(X, np.array(labels), given(sized(5452, 100), len(labels)), texts=questions()[0])


@cache
def documents() -> Problem:
    from public_sets import inex

    X, labels = inex("all")
    return Problem(X, np.array(labels), given(sized(4820, 100), len(labels)))


@cache
def visits() -> Problem:
    from public_sets import cslog
    from treille import Trees

    (train, y), (test, truth) = cslog("cslog1"), cslog("cslog2")
    return Problem(Trees([*train, *test]), np.array([*y, *truth]), given(len(y), len(y) + len(truth)))


@cache
def glycans(name: str) -> Problem:
    from public_sets import kegg_glycan

    X, labels, fold = kegg_glycan(name)  # type: ignore[arg-type]
    return Problem(X, np.array(labels), [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(10)])


@cache
def kingdoms() -> Problem:
    """6,000 of the glycans that are known from a single kingdom with at least 100 such glycans."""
    from public_sets import data_file
    from treille import Trees
    from treille.io import read

    examples = read(data_file("glycowork_kingdom", "glycans.tsv.gz"), format="trees", labelled=True)
    labels = np.array(examples.labels)
    names, counts = np.unique(labels, return_counts=True)
    one = np.flatnonzero(np.isin(labels, [n for n, c in zip(names, counts, strict=True) if "|" not in n and c >= 400]))
    chosen = one[sampled(labels[one], 6000)]
    groups = np.unique([str(tree) for tree in Trees(examples.X)[chosen]], return_inverse=True)[1]
    return Problem(Trees(examples.X)[chosen], labels[chosen], folds(labels[chosen], 5, groups), groups)


@cache
def conversations() -> Problem:
    """Returns whether an utterance is a question, by what was recognised. Training and test part have different conversations."""
    from public_sets import fisher_callhome
    from treille import Lattices

    train, test = fisher_callhome("fisher_dev"), fisher_callhome("fisher_test")
    machines, guesses, english = ([*a, *b] for a, b in zip(train, test, strict=True))
    y = np.array(["1" if text.rstrip().endswith("?") else "0" for text in english])
    return Problem(Lattices(machines), y, given(len(train[0]), len(y)), texts=guesses)


def text(name: str, load: Callable[[], Problem], quick: bool = False, **more: Any) -> Set:
    return Set(name, "texts", load, quick=quick, **more)


def binding(name: str, fastsk: float, gkm: float, quick: bool = False) -> Set:
    published = {f"FastSK ({FASTSK})": fastsk, f"gkm-SVM ({FASTSK})": gkm}
    return Set(f"DNA, {name}", "DNA", lambda: residues(name, "dna"), "AUC", published, quick)


def family(name: str, fastsk: float | None, quick: bool = False) -> Set:
    published = {f"FastSK ({FASTSK})": fastsk} if fastsk else {}
    return Set(f"proteins, {name}", "proteins", lambda: residues(name, "protein"), "AUC", published, quick)


SETS = (
    text("Amazon books", lambda: domain("books"), quick=True),
    text("Amazon dvd", lambda: domain("dvd")),
    text("Amazon electronics", lambda: domain("electronics")),
    text("Amazon kitchen", lambda: domain("kitchen")),
    text("sentences, books", lambda: sentences("books")),
    text("sentences, kitchen", lambda: sentences("kitchen")),
    text("TREC questions", trec, quick=True),
    text("TREC questions, 50 classes", lambda: trec(fine=True)),
    text("Reuters, acq", stories),
    text("Reuters, 20 topics", lambda: stories(topics=True)),
    text("functions of the standard library", library),
    Set("TREC questions as tokens", "words", lambda: trec(tokens=True), quick=True),
    Set("TREC questions as tokens, 50 classes", "words", lambda: trec(fine=True, tokens=True)),
    binding("CTCF", 0.9696, 0.9714, quick=True),
    binding("EP300", 0.9907, 0.9895),
    binding("JUND", 0.9687, 0.9678),
    binding("RAD21", 0.9742, 0.9759),
    binding("TP53", 0.8240, 0.8074),
    Set("DNA, splice junctions", "DNA", splice),
    family("1.1", 0.8531, quick=True),
    family("2.1", None),
    family("2.34", 0.9713),
    family("3.19", 0.9890),
    Set("TREC questions, parse trees", "trees", lambda: questions_as("parse"), quick=True),
    Set("TREC questions, dependencies (grct)", "trees", lambda: questions_as("grct")),
    Set("INEX 2005", "trees", documents),
    Set("CSLOG 1, then 2", "trees", visits),
    Set("glycans, leukemia", "trees", lambda: glycans("leukemia"), "AUC"),
    Set("glycans, cystic", "trees", lambda: glycans("cystic"), "AUC"),
    Set("glycans, kingdoms", "trees", kingdoms),
    Set("Fisher, question or not", "lattices", conversations, "AUC", quick=True),
)
KINDS = tuple(dict.fromkeys(each.kind for each in SETS))
