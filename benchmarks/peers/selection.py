"""Choosing C by cross-validation on the Reuters stories: SVCCV compared with GridSearchCV over SVC and over scikit-learn's
vectoriser with LinearSVC, and with LIBLINEAR's search.

    TREILLE_DATA=folder python benchmarks/peers/selection.py [--write docs/generated/selection]

There are 5 folds, 10 values of C, and contiguous 5-grams of characters. SVCCV is timed as a whole. Grid searches are timed on the
first fold, for all values of C, and their time is multiplied by the number of folds, without the final fit. LinearSVC minimises the
squared
hinge, its default, and is stopped by its default of 1000 iterations. LIBLINEAR's search (-C) uses a smooth loss (-s 2) and doubles
C until the accuracy no longer changes; its time includes counting the n-grams once. Times are processor seconds, summed over all
threads, which do not depend on other load of the machine.
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
from _cells import reuters, reuters_topics
from _liblinear import printed

from harness import Page, arguments, installed, sized

FOLDS, JOBS = 5, 2
ORDER = sized(5, 2)
Timed = tuple[float, list[float]]  # seconds of the whole search, and scores by C


def timed(job: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    result = job()
    return time.process_time() - begun, result


def splits(y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    from sklearn.model_selection import StratifiedKFold

    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(y, y))


def on_one_set_of_features(texts: list[str], y: np.ndarray, Cs: np.ndarray) -> Timed:
    import treille

    model = treille.SVCCV(treille.kernels.NGram(ORDER), Cs=Cs, cv=splits(y), n_jobs=JOBS)
    seconds, _ = timed(lambda: model.fit(texts, y))
    return seconds, model.cv_results_["split0_test_score"].tolist()


def on_one_fold(model: Callable[[float], Any], texts: list[str], y: np.ndarray, Cs: np.ndarray) -> Timed:
    """The work of a grid search for one fold and each C; a complete search takes FOLDS times as long."""
    train, test = splits(y)[0]
    X, X_test = [texts[i] for i in train], [texts[i] for i in test]
    seconds, scores = 0.0, []
    for C in Cs:
        own, score = timed(lambda C=C: model(C).fit(X, y[train]).score(X_test, y[test]))  # type: ignore[misc]
        seconds += own
        scores.append(float(score))
        print(f"    C = {C:.3g}: {own:.1f} s, {score:.4f}", file=sys.stderr, flush=True)
    return seconds * FOLDS, scores


def our_svc(C: float) -> Any:
    import treille

    return treille.SVC(treille.kernels.NGram(ORDER), C=C)


def vectorised(C: float) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    return make_pipeline(CountVectorizer(analyzer="char", ngram_range=(ORDER, ORDER), lowercase=False), LinearSVC(C=C))


def liblinear(texts: list[str], y: np.ndarray) -> tuple[float, float]:
    """Seconds of counting and searching, and the best accuracy."""
    from liblinear.liblinearutil import parameter, problem, train
    from sklearn.feature_extraction.text import CountVectorizer

    codes = np.unique(y, return_inverse=True)[1].astype(float)
    vectoriser = CountVectorizer(analyzer="char", ngram_range=(ORDER, ORDER), lowercase=False, dtype=np.float64)

    def search() -> Any:
        own = problem(codes, vectoriser.fit_transform(texts), bias=1)
        return train(own, parameter(f"-C -s 2 -B 1 -v {FOLDS} -q"))

    with printed():
        seconds, (_, _, accuracy) = timed(search)
    return seconds, float(accuracy)


def rows(texts: list[str], y: np.ndarray, Cs: np.ndarray, repeats: int) -> list[list[str]]:
    ours = [on_one_set_of_features(texts, y, Cs) for _ in range(repeats)]
    seconds, scores = min(own for own, _ in ours), ours[0][1]
    found = [["SVCCV", f"{seconds:.3g}", "1", f"{max(scores):.4f}", "measured"]]
    for name, model in (("GridSearchCV, SVC", our_svc), ("GridSearchCV, CountVectorizer + LinearSVC", vectorised)):
        print(name, file=sys.stderr, flush=True)
        theirs, scores = on_one_fold(model, texts, y, Cs)
        cells = [f"{theirs:.3g}", f"{theirs / seconds:.1f}", f"{max(scores):.4f}", "extrapolated from one fold"]
        found.append([name, *cells])
    if not installed("liblinear-official"):
        return found
    theirs, accuracy = liblinear(texts, y)
    cells = [f"{theirs:.3g}", f"{theirs / seconds:.1f}", f"{accuracy:.4f}", "measured, with other values of C"]
    return [*found, ["CountVectorizer, LIBLINEAR -C", *cells]]


SETS: dict[str, tuple[Callable[[], Any], np.ndarray]] = {
    "acq or not": (reuters, np.logspace(-3, 3, sized(10, 2))),
    "20 topics": (reuters_topics, np.logspace(-4, 0, sized(10, 2))),
}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--sets", choices=SETS, nargs="+")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # warnings of convergence, of all programs
    for name in options.sets or list(SETS)[: sized(None, 1)]:
        page = Page(f"Choosing C by cross-validation: {name}", ("scikit-learn", "liblinear-official"))
        load, Cs = SETS[name]
        texts, y = load()
        title = f"Reuters, {name}: {len(texts):,} stories, {FOLDS} folds, {len(Cs)} values of C from {Cs[0]:g} to {Cs[-1]:g}"
        header = ("method", "processor seconds", "times ours", "best accuracy (first fold)", "how")
        page.table(title, header, rows(texts, y, Cs, options.repeats))
        page.write(options.write, name.replace(" ", "_"))


if __name__ == "__main__":
    main()
