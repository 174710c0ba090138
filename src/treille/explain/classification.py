"""The report of a classifier: figures, confusion matrix, curves, and a table of classes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from markupsafe import Markup
from scipy.stats import binomtest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score, roc_curve
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from treille.data import Strings
from treille.data.format import class_counts, listed, shares, visible_label
from treille.data.scripts import without_blanks
from treille.explain.examples import label_name, sample, size_of, some_of
from treille.explain.page import Cell, Confusion, Content, Figure, Origin, Panel, Table
from treille.explain.plots import Axis, Line, plot, thinned
from treille.explain.scores import Scores, area, measure, positive_class, refuse_unknown_labels
from treille.explain.shown_examples import choose, drawn_for, with_examples
from treille.explain.tasks import Choice
from treille.io.errors import InputError
from treille.io.targets import as_targets

MOST_CLASSES = 20  # in the confusion matrix
MOST_CURVES = 12
BINS = 10  # of probabilities
MOST_TEXTS = 20_000  # that the baseline is trained on, and scored on
TFIDF = "TF-IDF words, LinearSVC"


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predictions of a classifier for examples, and the true labels, if they are known."""

    names: list[str]
    scores: np.ndarray  # one column for each class
    probabilities: np.ndarray | None
    best: np.ndarray  # the column of the predicted class
    truth: list[str] | None

    @property
    def predicted(self) -> list[str]:
        """The name of the predicted class of each example."""
        return [self.names[k] for k in self.best]

    @property
    def true_column(self) -> np.ndarray:
        """The column of the true class of each example, -1 where the model does not know it."""
        columns = {name: k for k, name in enumerate(self.names)}
        return np.array([columns.get(label, -1) for label in self.truth or self.predicted], np.int64)

    @cached_property
    def areas(self) -> list[float | None]:
        """The area under the ROC curve of each class against the rest; None without examples of both."""
        true = self.true_column
        each = [(true == k, self.scores[:, k]) for k in range(len(self.names))]
        return [float(roc_auc_score(own, scores)) if 0 < own.sum() < len(own) else None for own, scores in each]

    @property
    def confidence(self) -> np.ndarray:
        """The score of the predicted class minus the score of the runner-up."""
        rows = np.arange(len(self.best))
        if len(self.names) == 2:
            return np.abs(self.scores[:, 1])
        others = self.scores.copy()
        others[rows, self.best] = -np.inf
        return self.scores[rows, self.best] - others.max(axis=1)

    @property
    def error(self) -> np.ndarray:
        """The score of the predicted class minus the score of the true one; for right predictions, minus the confidence."""
        true, rows = self.true_column, np.arange(len(self.best))
        behind = self.scores[rows, self.best] - self.scores[rows, true]
        behind = np.where(true < 0, self.confidence, behind / (2 if len(self.names) == 2 else 1))
        return np.where(true == self.best, -self.confidence, behind)


def figures(
    found: Predictions, X: Any, trained: tuple[Any, Sequence[str]] | None, of_texts: bool, wanted: str | None = None
) -> tuple[list[Figure], str, Scores]:
    """Headline figures of the model and of baselines, a note on the baselines, and the scores."""
    assert found.truth is not None
    truth, labels, note = found.truth, trained[1] if trained else found.truth, ""
    positive = positive_class(found.names, wanted)
    scores = measure(truth, found.predicted, positive)
    compared = {"this model": scores}
    words = tfidf_predictions(X, trained) if trained and of_texts else None
    if words is not None:
        rows, predicted = words
        some = f" ({len(rows):,} of these)" if len(rows) < len(truth) else ""
        compared[TFIDF + some] = measure([truth[i] for i in rows], predicted, positive)
    elif trained is None:
        note = "The majority class is taken from these examples; with train=(X, y) or --train FILE, from the training examples."
        note += " Texts are then also compared with TF-IDF and LinearSVC, trained on the same examples." * of_texts
    most = Counter(sorted(labels)).most_common(1)[0][0]
    compared[f"majority: {visible_label(most)}"] = measure(truth, [most] * len(truth), positive)

    def figure(title: str, name: str, note: str = "") -> Figure:
        return Figure.of(title, {other: getattr(each, name) for other, each in compared.items()}, note)

    n, right = len(truth), round(scores.accuracy * len(truth))
    shown = [figure("Accuracy", "accuracy", f"{right:,} of {n:,} right; 95 % interval {_interval(right, n)}")]
    if positive is not None:
        shown.append(figure(f"F1 of {visible_label(positive)}", "f1"))
        k = found.names.index(positive)
        value, kind = area(truth, found.scores[:, k], positive, found.names[1 - k]), ""
    else:
        shown.append(figure("Macro F1", "macro_f1", "the mean over the classes"))
        areas = [each for each in found.areas if each is not None]
        value = float(np.mean(areas)) if areas else None
        kind = "one class against the rest, the mean over the classes"
    if value is not None:
        shown.append(Figure.of("Area under ROC", {"this model": value, "chance": 0.5}, kind))
    return shown, note, scores


def are_texts(X: Any) -> bool:
    """Returns whether these are texts of words: a TF-IDF of sequences without blanks says nothing.

    >>> are_texts(["a fine wine"]), are_texts(["ACGTAC"]), are_texts(["很 不错"]), are_texts([[1.0]])
    (True, False, False, False)
    """
    some = list(X[:1000]) if isinstance(X, (list, tuple)) else []
    if not some or not all(isinstance(x, str) for x in some):
        return False
    return any(" " in x.strip() for x in some) and without_blanks(some) is None


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


def _interval(right: int, n: int) -> str:
    """Wilson's 95 % interval of a share.

    >>> _interval(95, 100)
    '0.888 to 0.978'
    """
    low, high = binomtest(right, n).proportion_ci(method="wilson")
    return f"{low:.3f} to {high:.3f}"


def confusion(scores: Scores) -> Confusion:
    """The confusion matrix; if there are too many classes to show, of those with most errors."""
    names, counts = list(scores.per_class), np.array(scores.confusion)
    note = ""
    if len(names) > MOST_CLASSES:
        wrong = counts.sum(axis=0) + counts.sum(axis=1) - 2 * counts.diagonal()
        kept = np.sort(np.argsort(-wrong, kind="stable")[:MOST_CLASSES])
        note = f"The {MOST_CLASSES} of {len(names)} classes with most errors."
        names, counts = [names[k] for k in kept], counts[np.ix_(kept, kept)]
    return Confusion(names, counts.tolist(), note)


def class_table(found: Predictions, scores: Scores) -> Table:
    """Precision, recall and F1 of each class, and the area under its ROC curve."""
    areas, predicted = dict(zip(found.names, found.areas, strict=True)), Counter(found.predicted)
    rows = [
        class_row(name, (own.precision, own.recall, own.f1, areas.get(name)), (own.support, predicted[name]))
        for name, own in scores.per_class.items()
    ]
    return Table(["class", "precision", "recall", "F1", "ROC area", "true", "predicted"], rows)


def class_row(name: str, scores: Iterable[float | None], counts: Iterable[int]) -> list[Cell]:
    """A row of a table: the name of a class, scores from 0 to 1, and numbers of examples."""
    cells = [Cell("–", -1.0) if score is None else Cell(f"{score:.3f}", score) for score in scores]
    return [Cell(visible_label(name)), *cells, *(Cell(f"{n:,}", n) for n in counts)]


def curves(found: Predictions, positive: str | None) -> list[Panel]:
    """ROC and precision-recall curves: of the positive class of two, otherwise of the frequent classes against the rest."""
    true = found.true_column
    sizes = {k: int((true == k).sum()) for k in range(len(found.names))}
    wanted = [found.names.index(positive)] if positive is not None else sorted(sizes, key=lambda k: -sizes[k])
    shown = [k for k in wanted if 0 < sizes[k] < len(true)][:MOST_CURVES]
    return [Panel(visible_label(found.names[k]), _curves(true == k, found.scores[:, k])) for k in shown]


def _curves(is_true: np.ndarray, scores: np.ndarray) -> list[tuple[str, Markup]]:
    false_rate, true_rate, _ = roc_curve(is_true, scores)
    precision, recall, _ = precision_recall_curve(is_true, scores)
    one = (0.0, 1.0)
    roc = plot(
        "ROC curve", Axis("false positive rate", *one), Axis("true positive rate", *one),
        [Line("model", *thinned(false_rate, true_rate))], diagonal=True,
    )  # fmt: skip
    share = float(is_true.mean())
    both = plot(
        "precision-recall curve", Axis("recall", *one), Axis("precision", *one),
        [Line("diagonal", one, (share, share)), Line("model", *thinned(recall[::-1], precision[::-1]))],
    )  # fmt: skip
    average = float(average_precision_score(is_true, scores))
    return [
        (f"ROC, area {auc(false_rate, true_rate):.3f}; the diagonal is chance", roc),
        (f"Precision and recall, average precision {average:.3f}; the dashed line is chance, {share:.3f}", both),
    ]


def calibration(found: Predictions) -> tuple[str, Markup] | None:
    """A plot of the share of right predictions against the probability of the predicted class, in bins of the probability."""
    if found.probabilities is None or found.truth is None:
        return None
    p = found.probabilities[np.arange(len(found.best)), found.best]
    right = found.true_column == found.best
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    filled = [b for b in range(BINS) if (bins == b).any()]
    xs, ys = ([float(v[bins == b].mean()) for b in filled] for v in (p, right))
    off = sum((bins == b).mean() * abs(x - y) for b, x, y in zip(filled, xs, ys, strict=True))
    drawn = plot(
        "calibration", Axis("probability of the predicted class", 0, 1), Axis("share that is right", 0, 1),
        [Line("model dotted", xs, ys)], diagonal=True,
    )  # fmt: skip
    return f"Calibration: the diagonal is perfect, the mean distance {off:.3f}", drawn


def found_warnings(scores: Scores) -> list[str]:
    """Warnings about figures that may be unreliable."""
    rare = [visible_label(name) for name, own in scores.per_class.items() if 0 < own.support < 10]
    return [f"fewer than 10 examples of {listed(rare, 5)}: their figures vary by chance"] if rare else []


def truth_of(task: Choice, y: Any, n: int) -> list[str] | None:
    """The true labels by their names in reports, None if there are none."""
    if y is None:
        return None
    names = [label_name(label) for label in as_targets(y).ravel()]
    if len(names) != n:
        raise InputError(f"there are {n:,} examples in X and {len(names):,} labels in y: expected as many")
    titles = dict(zip(task.names, task.titles, strict=True))
    return [titles.get(name, name) for name in names]


def classified(content: Content, task: Choice, X: Any, y: Any, train: Any, source: Origin) -> Content:
    """The content of a report with figures, curves and examples of a classifier, or of a detector of outliers."""
    truth = truth_of(task, y, size_of(X))
    if truth is not None:
        refuse_unknown_labels(task.titles, truth, source.data or "y")
    outputs = task.model.decision_function(source.batch) if source.outputs is None else source.outputs
    scores = task.columns(outputs)
    found = Predictions(task.titles, scores, task.probabilities(outputs), scores.argmax(axis=1), truth)
    trained = None
    if train is not None and train[1] is not None:
        trained = (train[0], truth_of(task, train[1], size_of(train[0])) or [])
    if truth is not None:
        shown_figures, note, measured = figures(
            found, X, trained, content.data["kind"] == Strings.title, source.positive
        )
        panels = curves(found, measured.positive)
        calibrated = calibration(found)
        if calibrated and panels:
            panels = [panel._replace(plots=[*panel.plots, calibrated]) for panel in panels]
        content = replace(
            content, figures=shown_figures, figures_note=note, confusion=confusion(measured), curves=panels,
            classes=class_table(found, measured), data=content.data | {"classes": shares(class_counts(truth))},
            warnings=list(dict.fromkeys([*content.warnings, *found_warnings(measured)])),
        )  # fmt: skip
    else:
        note = f"There are no labels, so there are no scores. Predicted: {shares(class_counts(found.predicted))}."
        content = replace(content, figures_note=note)
    confidence, error = found.confidence, found.error
    true, shown = found.true_column, [visible_label(name) for name in found.names]

    def wanted(row: int) -> list[tuple[str, Any]]:
        if not task.any_class:
            return [(f"for {shown[1]}", None)]
        columns = dict.fromkeys([int(found.best[row]), *([int(true[row])] if true[row] >= 0 else [])])
        return [(f"for {shown[k]}" + ", the true class" * (i > 0), task.labels[k]) for i, k in enumerate(columns)]

    def said(row: int) -> tuple[str, str | None, bool | None, str, float, float]:
        k = int(found.best[row])
        values, word, digits = found.scores, "score", "+.3f"
        if found.probabilities is not None:
            values, word, digits = found.probabilities, "probability", ".3f"
        score = f"{word} {values[row, k]:{digits}}"
        if true[row] not in (-1, k) and len(found.names) > 2:
            score += f", of the true class {values[row, true[row]]:{digits}}"
        label = None if truth is None else truth[row]
        wrong = None if label is None else label != found.names[k]
        return found.names[k], label, wrong, score, float(confidence[row]), float(error[row])

    rows = choose(error if truth is not None else None, confidence, source.most)
    which = "the largest errors, the most confident and the least confident"
    if truth is None:
        which = "the most and the least confident"
    content = with_examples(content, task.model, X, source, rows, drawn_for(task.model, X, wanted), said, which)
    labels = sorted({name for e in content.examples for name in (e.truth, e.predicted) if name is not None})
    return replace(content, known=truth is not None, labels=labels)
