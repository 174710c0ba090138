"""The methods that accuracy.py compares: kernels of treille as expressions, the candidates of the selection, and other programs.

To try another kernel, add its expression to NAMED (the table of test scores) or to CANDIDATES (cross-validation).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

BOTH = "skip=N, reverse_complement=True"


def of_dna(*windows: tuple[int, int], strands: str = BOTH) -> str:
    parts = [f"gappedkmer({length}, k={k}, {strands}).normalized()" for length, k in windows]
    return parts[0] if len(parts) == 1 else f"({' + '.join(parts)}).normalized()"


def of_proteins(length: int, k: int) -> str:
    return f"gappedkmer({length}, k={k}, skip=X).normalized()"


def of_words(weights: str = "idf", unit: str = "word+lower") -> str:
    return f"ngram(2, min_n=1, unit={unit}, counts=log).weighted({weights}).normalized()"


def of_characters(n: int, weights: str = "idf", unit: str = "char+lower") -> str:
    return f"ngram({n}, unit={unit}, counts=log).weighted({weights}).normalized()"


def of_runs(n: int, least: int = 1) -> str:
    return f"ngram({n}, min_n={least}, unit=char+lower, counts=log).weighted(idf).normalized()"


def balanced(weights: str) -> str:
    both = "ngram(2, min_n=1, unit=word+lower, counts=log) + ngram(5, unit=char+lower, counts=log)"
    return f"({both}).weighted({weights}).balanced()"


# The kernel of LS-GKM 0.1.1 with its defaults, -t 2 -l 11 -k 7 -d 3. Before, -t 4 was its default, which weighs windows by their
# distance from the middle, for sequences cut around a peak; there is no such kernel here.
LSGKM = f"gappedkmer(11, k=7, filter=truncated, max_mismatches=3, alphabet=ACGT, {BOTH}).normalized()"

# Kernels in the table of test scores besides `treille.SVC()`: expressions as for the option --kernel, and parameters of SVC.
NAMED: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "texts": (
        ("ngram(5).normalized()", {}),  # the default before weights
        ("ngram(2, min_n=1, unit=word).normalized()", {}),
        (of_words(), {"C": 2.0}),
        (of_characters(5), {"C": 2.0}),
        (balanced("nb"), {}),
    ),
    "words": (
        ("ngram(2, min_n=1, unit=word).normalized()", {}),
        ("ngram(2, min_n=1, unit=word).normalized()", {"C": 10.0}),
    ),
    "DNA": ((of_dna((10, 7)), {}), (LSGKM, {})),
    "proteins": ((of_proteins(8, 4), {}), ("ngram(3).normalized()", {})),
    "trees": (
        ("subsettree().normalized()", {}),  # the default before
        ("subpath(0.5, counts=log).weighted(idf).normalized()", {}),
        ("partialtree(0.6, mu=0.4).normalized()", {"C": 10.0}),
        ("subpath(0.5).normalized()", {"C": 10.0}),
    ),
    "lattices": (("ngram(2, min_n=1, unit=word).normalized()", {"C": 0.1, "loss": "squared_hinge"}),),
}

DNA = (
    (10, 6),
    (9, 6),
    (8, 6),
    (7, 6),
    (6, 6),
    (10, 5),
    (9, 5),
    (8, 5),
    (7, 5),
    (9, 7),
    (8, 7),
    (7, 7),
)  # lengths and k

# The candidates of the selection on training parts: every kernel of a kind with every point of the grid of that kind.
CANDIDATES: dict[str, tuple[str, ...]] = {
    "texts": (
        *(f"ngram({n}).normalized()" for n in (4, 5)),
        "ngram(2, min_n=1, unit=word).normalized()",
        "(ngram(2, min_n=1, unit=word).normalized() + ngram(5).normalized()).normalized()",
        *(of_words(weights) for weights in ("idf", "nb")),
        *(of_characters(n) for n in (4, 5, 6)),
        of_characters(5, unit="char_wb+lower"),
        *(f"({of_words()} + {of_characters(n)}).normalized()" for n in (4, 5, 6)),
        f"({of_words(unit='word')} + {of_characters(5, unit='char')}).normalized()",
        f"({of_words('nb')} + {of_characters(5, 'nb')}).normalized()",
        *(balanced(weights) for weights in ("idf", "nb")),
    ),
    "words": (
        *(f"ngram({n}, min_n={least}, unit=word).normalized()" for n, least in ((1, 1), (2, 1), (3, 1), (2, 2))),
        *(of_words(weights, "word") for weights in ("idf", "nb")),
    ),
    "DNA": (
        of_dna((10, 6)),
        f"gappedkmer(10, k=6, {BOTH}).weighted(idf).normalized()",
        *(f"gappedkmer({length}, k={k}, {BOTH}).weighted(nb).normalized()" for length, k in DNA),
    ),
    "proteins": (
        of_proteins(6, 4),
        *(f"gappedkmer(6, k=4, skip=X).weighted({weights}).normalized()" for weights in ("idf", "nb")),
        "ngram(3).normalized()",
    ),
    "trees": (
        "subsettree(0.4).normalized()",
        *(f"subsettree({decay}, leaves=True).normalized()" for decay in (0.2, 0.4)),
        "partialtree(0.6, mu=0.4).normalized()",
        "subtree(0.4, leaves=True).normalized()",
        "subpath(0.5).normalized()",
        "subpath(0.5, counts=log).weighted(idf).normalized()",
        "rootpaths(1.0).normalized()",
        "(subpath(0.5).normalized() + subtree(0.4, leaves=True).normalized()).normalized()",
        "(subpath(0.5).normalized() + subsettree(0.2, leaves=True).normalized()).normalized()",
    ),
    "lattices": (
        *(f"ngram({n}, min_n={least}, unit=word).normalized()" for n, least in ((1, 1), (2, 1), (3, 1), (2, 2))),
        *(of_words(weights, "word") for weights in ("idf", "nb")),
    ),
}
SCRIPTS = (  # as they are used: the default of texts is a sum of two normalised kernels, so that the others count twice
    f"{of_words()} + {of_characters(5)}",
    f"2*{of_words()}",
    f"2*{of_characters(5)}",
    *(f"2*{of_runs(n)}" for n in (2, 3, 4, 5)),
    f"2*{of_runs(4, 2)}",
    f"{of_words()} + {of_runs(3)}",
)
CANDIDATES |= {"texts without blanks": SCRIPTS, "texts with blanks": SCRIPTS}
LOSSES = ("hinge", "squared_hinge")
GRID: dict[str, dict[str, tuple[Any, ...]]] = {
    "texts": {"C": (1.0, 2.0), "loss": LOSSES},
    "words": {"C": (1.0, 2.0, 4.0, 10.0), "loss": LOSSES},
    "DNA": {"C": (1.0,)},
    "proteins": {"C": (1.0,)},
    "trees": {"C": (1.0, 3.0, 10.0)},
    "lattices": {"C": (0.1, 1.0, 10.0), "loss": LOSSES, "class_weight": (None, "balanced")},
    "texts without blanks": {"C": (1.0,)},
    "texts with blanks": {"C": (1.0,)},
}


@dataclass(frozen=True)
class Method:
    """A program: `make` builds a model with fit, predict and decision_function. `texts`: it reads texts instead of structures."""

    name: str
    make: Callable[[], Any]
    texts: bool = False
    wrap: Callable[[Any], Any] = field(default=lambda X: X)

    def outputs(self, train: Any, y: np.ndarray, test: Any, areas: bool) -> np.ndarray:
        model = self.make().fit(self.wrap(train), y)
        return model.decision_function(self.wrap(test)) if areas else model.predict(self.wrap(test))


def svc(kernel: Any = None, **options: Any) -> Any:
    import treille
    from treille.kernels.parse import parse_kernel

    return treille.SVC(parse_kernel(kernel) if isinstance(kernel, str) else kernel, n_jobs=2, **options)


def wrapped(kind: str) -> Callable[[Any], Any]:
    """The examples as users of treille declare the kind of their data."""
    import treille

    return {"DNA": treille.dna, "proteins": treille.protein}.get(kind, lambda X: X)


def treille_methods(kind: str) -> list[Method]:
    named = [
        Method(
            f"`{kernel}`" + "".join(f", {name} = {value}" for name, value in options.items()),
            lambda kernel=kernel, options=options: svc(kernel, **options),  # type: ignore[misc]
            wrap=wrapped(kind),
        )
        for kernel, options in NAMED[kind]
    ]
    return [Method("**`treille.SVC()`**", svc, wrap=wrapped(kind)), *named]


def tfidf(analyzer: str, orders: tuple[int, int], **options: Any) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(analyzer=analyzer, ngram_range=orders, **options)


def with_linear_svc(analyzer: str, orders: tuple[int, int], **options: Any) -> Callable[[], Any]:
    def make() -> Any:
        from sklearn.pipeline import make_pipeline
        from sklearn.svm import LinearSVC

        return make_pipeline(tfidf(analyzer, orders, **options), LinearSVC())

    return make


def with_logistic_regression() -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(tfidf("word", (1, 2)), LogisticRegression(C=10, max_iter=1000))


def hashed() -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    return make_pipeline(HashingVectorizer(ngram_range=(1, 2)), SGDClassifier(random_state=0))


class LightGBM:
    """LightGBM on TF-IDF of words that occur in at least three texts; its scores are those of the second class."""

    def fit(self, texts: list[str], y: np.ndarray) -> LightGBM:
        from lightgbm import LGBMClassifier
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=3)
        self.model = LGBMClassifier(n_jobs=2, verbose=-1).fit(self.vectorizer.fit_transform(texts), y)
        return self

    def predict(self, texts: list[str]) -> np.ndarray:
        return self.model.predict(self.vectorizer.transform(texts))

    def decision_function(self, texts: list[str]) -> np.ndarray:
        return self.model.predict_proba(self.vectorizer.transform(texts))[:, 1]


def joined(texts: list[Any]) -> list[str]:
    return [each if isinstance(each, str) else " ".join(each) for each in texts]


WORDS = Method("TF-IDF words 1-2, LinearSVC", with_linear_svc("word", (1, 2)), True, joined)
LETTERS = Method("TF-IDF characters 2-5, LinearSVC", with_linear_svc("char", (2, 5)), True)
PEERS: dict[str, tuple[Method, ...]] = {
    "texts": (
        WORDS,
        LETTERS,
        Method(
            "TF-IDF characters 2-5 of log counts, LinearSVC", with_linear_svc("char", (2, 5), sublinear_tf=True), True
        ),
        Method("TF-IDF words 1-2, logistic regression", with_logistic_regression, True),
        Method("hashed words 1-2, SGD", hashed, True),
        Method("TF-IDF words, LightGBM", LightGBM, True),
    ),
    "words": (WORDS,),
    "DNA": (Method("TF-IDF 6-mers, LinearSVC", with_linear_svc("char", (6, 6)), True),),
    "proteins": (Method("TF-IDF 1- to 3-mers, LinearSVC", with_linear_svc("char", (1, 3)), True),),
    "trees": (WORDS,),
    "lattices": (WORDS, LETTERS),
}
