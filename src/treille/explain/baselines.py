"""Baselines that stand beside a model's figures: the majority class, the mean, and words weighted by TF-IDF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from treille.explain.outputs import sample, size_of, some_of

MOST_TEXTS = 20_000  # that the baseline is trained on, and scored on
TFIDF = "TF-IDF words, LinearSVC"


def majority(truth: Sequence[str], trained: Sequence[str] | None) -> str:
    """The most frequent class of the training labels, or of the true ones where those are not given."""
    return Counter(sorted(trained if trained is not None else truth)).most_common(1)[0][0]


def are_texts(X: Any) -> bool:
    """Whether these are texts of words: a TF-IDF of sequences without blanks says nothing.

    >>> are_texts(["a fine wine"]), are_texts(["ACGTAC"]), are_texts([[1.0]])
    (True, False, False)
    """
    some = list(X[:1000]) if isinstance(X, (list, tuple)) else []
    return bool(some) and all(isinstance(x, str) for x in some) and any(" " in x.strip() for x in some)


def tfidf_predictions(X: Any, trained: tuple[Any, Sequence[str]]) -> tuple[np.ndarray, list[str]] | None:
    """The classes that LinearSVC predicts by words and pairs of words, trained on texts and labels, and for which rows of X.

    None for other data. Of very many texts, a sample is used.
    """
    texts, labels = trained
    if not (are_texts(X) and are_texts(texts)):
        return None
    rows, scored = sample(size_of(texts), MOST_TEXTS), sample(size_of(X), MOST_TEXTS)
    model = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LinearSVC(dual=True, random_state=0))
    try:
        model.fit(some_of(texts, rows), [labels[i] for i in rows.tolist()])
    except ValueError:  # no word, or one class only
        return None
    return scored, [str(label) for label in model.predict(some_of(X, scored))]
