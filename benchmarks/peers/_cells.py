"""The data sets and problems of the portfolio."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from harness import sized

Examples = tuple[list[str], np.ndarray]

DOMAINS = ("books", "dvd", "electronics", "kitchen")


@cache
def reuters() -> Examples:
    from public_sets import reuters as stories

    texts, topics = stories("all")
    return texts, np.array(["acq" if "acq" in t else "other" for t in topics])


@cache
def reuters_topics() -> Examples:
    """The stories of the twenty most frequent first topics."""
    from public_sets import reuters as stories

    texts, topics = stories("all")
    frequent = {name for name, _ in Counter(t[0] for t in topics if t).most_common(20)}
    kept = [(text, t[0]) for text, t in zip(texts, topics, strict=True) if t and t[0] in frequent]
    return [text for text, _ in kept], np.array([topic for _, topic in kept])


@cache
def reviews() -> Examples:
    """The 8,000 Amazon reviews, positive or negative."""
    from public_sets import data_file
    from treille.io import read

    texts, labels = list[str](), list[str]()
    for domain in DOMAINS:
        examples = read(data_file("amazon_mds", f"{domain}.jsonl.gz"), text="text", label="label")
        texts += (" ".join(text.split()) for text in examples.X)
        labels += examples.labels or ()
    return texts, np.array(labels)


@cache
def clauses() -> Examples:
    """100,000 clauses of the reviews, the texts between two marks of punctuation, with the label of the review."""
    texts, labels = list[str](), list[str]()
    for review, label in zip(*reviews(), strict=True):
        for clause in re.split(r"(?<=[.,;:!?()])\s+", review):
            if len(clause.split()) >= 2:
                texts.append(clause)
                labels.append(label)
    chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[: sized(100_000, 300)])
    return [texts[i] for i in chosen], np.array(labels)[chosen]


@cache
def windows() -> Examples:
    """A million phrases of 3 to 12 words, cut from the reviews at random."""
    random = np.random.default_rng(0)
    words = [review.split() for review in reviews()[0]]
    starts = np.cumsum([0, *map(len, words)])
    texts, labels = list[str](), reviews()[1]
    at = random.integers(0, starts[-1], sized(1_000_000, 300))
    owner = np.searchsorted(starts, at, "right") - 1
    for i, place, length in zip(owner, at - starts[owner], random.integers(3, 13, len(at)), strict=True):
        texts.append(" ".join(words[i][place : place + length]))
    return texts, labels[owner]


@cache
def questions() -> Examples:
    """The 5,952 TREC questions, in six classes."""
    from public_sets import data_file
    from treille.io import read

    texts, labels = list[str](), list[str]()
    for part in ("train", "test"):
        examples = read(data_file("trec_qc", f"{part}.jsonl.gz"), text="text", label="coarse")
        texts += examples.X
        labels += examples.labels or ()
    return texts, np.array(labels)


@cache
def functions(n_modules: int = 0) -> Examples:
    """Functions of the standard library by package: the eight default packages, or the first modules by name."""
    import treille.datasets as datasets
    from treille.io import InputError

    if not n_modules:
        texts, labels = datasets.functions(sized(None, ["json", "email"]))
        return texts, np.array(labels)
    texts, labels = [], []
    for module in sorted(name for name in sys.stdlib_module_names if not name.startswith("_")):
        if len(set(labels)) == n_modules:
            break
        try:
            found = datasets.functions([module], min_length=60)[0]
        except InputError:  # not written in Python, or not installed
            continue
        if len(found) >= 5:
            texts += found
            labels += [module] * len(found)
    return texts, np.array(labels)


@cache
def fastsk(name: str, kind: str) -> Examples:
    from public_sets import fastsk as sequences

    texts, labels = sequences(name, kind, "all")  # type: ignore[arg-type]
    return texts, np.array(labels)


@dataclass(frozen=True)
class Cell:
    """A problem: examples, the n-grams of one or several orders, rows normalised or not, C."""

    data: str
    examples: Callable[[], Examples]
    unit: str
    orders: tuple[int, int]
    normalised: bool = True
    C: float = 1.0
    quick: bool = False  # part of the quick run
    large: bool = False  # LIBLINEAR takes several seconds

    @property
    def name(self) -> str:
        low, high = self.orders
        grams = f"{self.unit} {high}" if low == high else f"{self.unit} {low}-{high}"
        return grams if self.normalised else f"{grams}, counts"

    def kernel(self) -> Any:
        from treille.kernels import NGram

        kernel = NGram(self.orders[1], min_n=self.orders[0], unit=self.unit)
        return kernel.normalized() if self.normalised else kernel

    def sklearn_matrix(self, texts: list[str]) -> Any:
        """The vectorizer and the matrix that users of scikit-learn would make of the same n-grams."""
        from sklearn.feature_extraction.text import CountVectorizer
        from sklearn.preprocessing import normalize

        cut: dict[str, Any] = {"token_pattern": r"\w+|[^\w\s]"} if self.unit == "word" else {}
        vectorizer = CountVectorizer(analyzer=self.unit, ngram_range=self.orders, lowercase=False, **cut)
        counts = vectorizer.fit_transform(texts).astype(np.float64)
        return vectorizer, normalize(counts) if self.normalised else counts


CELLS = (
    Cell("Reuters", reuters, "char", (5, 5), quick=True),
    Cell("Reuters", reuters, "char", (5, 5), False, 0.001),
    Cell("Reuters", reuters, "char", (10, 10)),
    Cell("Reuters", reuters, "char", (1, 5)),
    Cell("Reuters", reuters, "word", (1, 1), quick=True),
    Cell("Reuters", reuters, "word", (1, 2)),
    Cell("Reuters, 20 topics", reuters_topics, "word", (1, 1)),
    Cell("reviews", reviews, "word", (1, 1)),
    Cell("reviews", reviews, "word", (1, 2), quick=True),
    Cell("reviews", reviews, "word", (1, 1), False, 0.01),
    Cell("reviews", reviews, "char", (4, 4)),
    Cell("reviews", reviews, "char", (2, 5)),
    Cell("TREC questions", questions, "word", (1, 1), quick=True),
    Cell("TREC questions", questions, "word", (1, 2)),
    Cell("TREC questions", questions, "char", (4, 4), quick=True),
    Cell("functions", functions, "word", (1, 1)),
    Cell("functions", functions, "char", (5, 5), quick=True),
    Cell("functions, 20 modules", lambda: functions(20), "char", (4, 4)),
    Cell("functions, 100 modules", lambda: functions(100), "word", (1, 1)),
    Cell("functions, 100 modules", lambda: functions(100), "char", (4, 4), large=True),
    Cell("DNA, CTCF", lambda: fastsk("CTCF", "dna"), "char", (8, 8), quick=True),
    Cell("DNA, CTCF", lambda: fastsk("CTCF", "dna"), "char", (1, 6)),
    Cell("proteins, 1.1", lambda: fastsk("1.1", "protein"), "char", (3, 3), quick=True),
    Cell("proteins, 1.1", lambda: fastsk("1.1", "protein"), "char", (1, 4)),
    Cell("100,000 clauses", clauses, "word", (1, 1), quick=True),
    Cell("100,000 clauses", clauses, "word", (1, 2)),
    Cell("100,000 clauses", clauses, "char", (4, 4), quick=True),
    Cell("100,000 clauses", clauses, "char", (2, 4)),
    Cell("1,000,000 phrases", windows, "word", (1, 1), large=True),
    Cell("1,000,000 phrases", windows, "char", (4, 4), large=True),
)
