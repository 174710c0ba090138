"""Perceptron compared with SVC and scikit-learn's Perceptron: accuracy on a held-out fifth, and the time from texts to a model.

    TREILLE_DATA=folder python benchmarks/peers/perceptron.py [--write docs/generated/perceptron]

All programs use 5-grams of characters, rows of norm 1, and one thread. The stream is read once, in chunks of 1,000 examples.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from _cells import reuters_topics, reviews

from harness import Page, arguments

CHUNK = 1000
Fit = Callable[[list[str], np.ndarray], Any]


def fifths(texts: list[str], labels: np.ndarray) -> tuple[list[str], np.ndarray, list[str], np.ndarray]:
    """Four fifths to train on and one to test, shuffled."""
    order = np.random.default_rng(0).permutation(len(texts))
    train, test = order[len(texts) // 5 :], order[: len(texts) // 5]
    return [texts[i] for i in train], labels[train], [texts[i] for i in test], labels[test]


def streamed(kernel: Any) -> Fit:
    import treille

    def fit(X: list[str], y: np.ndarray) -> Any:
        model = treille.Perceptron(kernel)
        for start in range(0, len(X), CHUNK):
            model.partial_fit(X[start : start + CHUNK], y[start : start + CHUNK])
        return model

    return fit


def methods() -> dict[str, Fit]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import Perceptron
    from sklearn.pipeline import make_pipeline

    import treille
    from treille.kernels import NGram

    plain = NGram(5).normalized()
    weighted = NGram(5).weighted("idf").normalized()

    def peer(use_idf: bool) -> Fit:
        features = TfidfVectorizer(analyzer="char", ngram_range=(5, 5), lowercase=False, use_idf=use_idf)
        return lambda X, y: make_pipeline(features, Perceptron(random_state=0)).fit(X, y)

    return {
        "SVC, C = 10": treille.SVC(plain, C=10).fit,
        "Perceptron": treille.Perceptron(plain).fit,
        "Perceptron(averaged=False)": treille.Perceptron(plain, averaged=False).fit,
        "Perceptron, partial_fit": streamed(plain),
        "scikit-learn's Perceptron": peer(False),
        "SVC, idf, C = 10": treille.SVC(weighted, C=10).fit,
        "Perceptron, idf": treille.Perceptron(weighted).fit,
        "scikit-learn's Perceptron, idf": peer(True),
    }


def measured(fit: Fit, X: list[str], y: np.ndarray, new: list[str], truth: np.ndarray) -> list[str]:
    """Accuracy, processor seconds, epochs and mistakes."""
    begun = time.process_time()
    model = fit(X, y)
    seconds = time.process_time() - begun
    report = getattr(model, "report_", None)
    epochs = model[-1].n_iter_ if report is None else report.epochs
    mistakes = f"{sum(report.mistakes):,}" if report is not None and report.mistakes else "-"
    return [f"{np.mean(model.predict(new) == truth):.3f}", f"{seconds:.2f}", str(epochs), mistakes]


def main() -> None:
    given = arguments(__doc__ or "").parse_args()
    page = Page("Perceptron compared with SVC and scikit-learn's Perceptron", ("scikit-learn",))
    for name, load in (("reviews, 2 classes", reviews), ("Reuters, 20 topics", reuters_topics)):
        parts, rows = fifths(*load()), []
        for method, fit in methods().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rows.append([method, *measured(fit, *parts)])
            print(name, *rows[-1], sep=" | ", file=sys.stderr, flush=True)
        header = ("method", "accuracy", "processor seconds", "epochs", "mistakes")
        page.table(f"{name}: {len(parts[0]):,} texts to train on, {len(parts[2]):,} to test", header, rows)
    page.write(given.write, "perceptron")


if __name__ == "__main__":
    main()
