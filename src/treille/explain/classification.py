"""The report of a classifier: figures, confusion matrix, curves, and a table of classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup
from sklearn.metrics import auc, average_precision_score, precision_recall_curve, roc_auc_score, roc_curve

from treille.data import Strings
from treille.data.format import class_counts, shares, visible_label
from treille.explain.baselines import TFIDF, majority, tfidf_predictions
from treille.explain.outputs import label_name, size_of
from treille.explain.page import Bar, Cell, Confusion, Content, Figure, Panel, Table
from treille.explain.plots import Axis, Line, plot, thinned
from treille.explain.scores import Scores, area, measure, positive_class, unknown_labels
from treille.explain.shown_examples import choose, drawn_for, with_examples
from treille.explain.tasks import Choice
from treille.io.errors import InputError

if TYPE_CHECKING:
    from treille.explain.report import Source

MOST_CLASSES = 20  # in the confusion matrix
MOST_CURVES = 12
BINS = 10  # of probabilities


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a classifier predicts for examples, and the truth, if it is known."""

    names: list[str]
    scores: np.ndarray  # one column for each class
    probabilities: np.ndarray | None
    best: np.ndarray  # the column of the predicted class
    truth: list[str] | None

    @classmethod
    def of(cls, task: Choice, X: Any, truth: list[str] | None) -> Predictions:
        """The predictions of a model for examples."""
        outputs = task.model.decision_function(X)
        scores = task.columns(outputs)
        return cls(task.titles, scores, task.probabilities(outputs), scores.argmax(axis=1), truth)

    @property
    def predicted(self) -> list[str]:
        """The name of the predicted class of each example."""
        return [self.names[k] for k in self.best]

    @property
    def true_column(self) -> np.ndarray:
        """The column of the true class of each example, -1 where the model does not know it."""
        columns = {name: k for k, name in enumerate(self.names)}
        return np.array([columns.get(label, -1) for label in self.truth or self.predicted], np.int64)

    @property
    def confidence(self) -> np.ndarray:
        """How far the predicted class is ahead of the next one."""
        rows = np.arange(len(self.best))
        if len(self.names) == 2:
            return np.abs(self.scores[:, 1])
        others = self.scores.copy()
        others[rows, self.best] = -np.inf
        return self.scores[rows, self.best] - others.max(axis=1)

    @property
    def error(self) -> np.ndarray:
        """How far the true class is behind the predicted one: 0 where that is right, negative by the confidence in it."""
        true, rows = self.true_column, np.arange(len(self.best))
        behind = self.scores[rows, self.best] - self.scores[rows, true]
        behind = np.where(true < 0, self.confidence, behind / (2 if len(self.names) == 2 else 1))
        return np.where(true == self.best, -self.confidence, behind)


def figures(
    found: Predictions, X: Any, trained: tuple[Any, Sequence[str]] | None, of_texts: bool
) -> tuple[list[Figure], str, Scores]:
    """Headline figures with those of baselines, a note on these, and the scores."""
    assert found.truth is not None
    labels = trained[1] if trained else found.truth
    positive = positive_class(found.names, labels)
    scores = measure(found.truth, found.predicted, positive)
    most = majority(found.truth, labels)
    others = {f"majority: {visible_label(most)}": measure(found.truth, [most] * len(found.truth), positive)}
    note = ""
    words = tfidf_predictions(X, trained) if trained and of_texts else None
    if words is not None:
        rows, predicted = words
        some = f" ({len(rows):,} of these)" if len(rows) < len(found.truth) else ""
        others = {TFIDF + some: measure([found.truth[i] for i in rows], predicted, positive), **others}
    elif trained is None:
        note = "The majority class is that of these examples; with train=(X, y) or --train FILE, that of the training ones."
        note += " Texts are then also compared with TF-IDF and LinearSVC, trained on the same examples." * of_texts
    n = len(found.truth)
    right = round(scores.accuracy * n)
    interval = f"{right:,} of {n:,} right; 95 % interval {_interval(right, n)}"
    shown = [Figure("Accuracy", *_bars(scores, others, "accuracy"), interval)]
    if positive is not None:
        shown.append(Figure(f"F1 of {visible_label(positive)}", *_bars(scores, others, "f1")))
    else:
        shown.append(Figure("Macro F1", *_bars(scores, others, "macro_f1"), "the mean over the classes"))
    value = _area(found, positive)
    if value is not None:
        bars = [Bar("this model", f"{value:.3f}", value), Bar("chance", "0.500", 0.5)]
        kind = "" if positive is not None else "one class against the rest, the mean over the classes"
        shown.append(Figure("Area under ROC", f"{value:.3f}", bars, kind))
    return shown, note, scores


def _bars(scores: Scores, others: dict[str, Scores], name: str) -> tuple[str, list[Bar]]:
    values = {"this model": getattr(scores, name)} | {other: getattr(s, name) for other, s in others.items()}
    return f"{getattr(scores, name):.3f}", [Bar(other, f"{value:.3f}", value) for other, value in values.items()]


def _interval(right: int, n: int, z: float = 1.96) -> str:
    """Wilson's interval of a share.

    >>> _interval(95, 100)
    '0.888 to 0.978'
    """
    share, spread = right / n, z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = z * sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    return f"{middle - half:.3f} to {min(1.0, middle + half):.3f}"


def _area(found: Predictions, positive: str | None) -> float | None:
    assert found.truth is not None
    if positive is not None:
        k = found.names.index(positive)
        return area(found.truth, found.scores[:, k], positive, found.names[1 - k])
    true = found.true_column
    each = [
        roc_auc_score(true == k, found.scores[:, k])
        for k in range(len(found.names))
        if 0 < (true == k).sum() < len(true)
    ]
    return float(np.mean(each)) if each else None


def confusion(scores: Scores) -> Confusion:
    """The confusion matrix: of the classes with most errors, where there are too many to show."""
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
    true, predicted = found.true_column, Counter(found.predicted)
    rows = []
    for name, own in scores.per_class.items():
        k = found.names.index(name) if name in found.names else -1
        known = k >= 0 and 0 < own.support < len(true)
        value = float(roc_auc_score(true == k, found.scores[:, k])) if known else None
        numbers = [own.precision, own.recall, own.f1, value]
        cells = [Cell("–", -1.0) if v is None else Cell(f"{v:.3f}", v) for v in numbers]
        sizes = [Cell(f"{n:,}", n) for n in (own.support, predicted[name])]
        rows.append([Cell(visible_label(name)), *cells, *sizes])
    return Table(["class", "precision", "recall", "F1", "ROC area", "true", "predicted"], rows)


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
    """How often the predicted class is right against its probability, in bins of the probability."""
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


def found_warnings(found: Predictions, scores: Scores | None) -> list[str]:
    """What to know before trusting the figures."""
    said = []
    if found.truth is not None and scores is not None:
        _, unknown = unknown_labels(found.names, found.truth)
        said += [unknown] * bool(unknown)
        rare = [visible_label(name) for name, own in scores.per_class.items() if 0 < own.support < 10]
        if rare:
            more = f" and {len(rare) - 5} more" if len(rare) > 5 else ""
            said.append(f"fewer than 10 examples of {', '.join(rare[:5])}{more}: their figures vary by chance")
    return said


def truth_of(task: Choice, y: Any, n: int) -> list[str] | None:
    """The true labels by their names in reports, None if there are none."""
    if y is None:
        return None
    names = [label_name(label) for label in y]
    if len(names) != n:
        raise InputError(f"there are {n:,} examples in X and {len(names):,} labels in y: expected as many")
    titles = dict(zip(task.names, task.titles, strict=True))
    return [titles.get(name, name) for name in names]


def classified(content: Content, task: Choice, X: Any, y: Any, train: Any, source: Source) -> Content:
    """The content of a report with figures, curves and examples of a classifier, or of a detector of outliers."""
    truth = truth_of(task, y, size_of(X))
    found = Predictions.of(task, X, truth)
    trained = None
    if train is not None and train[1] is not None:
        trained = (train[0], truth_of(task, train[1], size_of(train[0])) or [])
    if truth is not None:
        shown_figures, note, scores = figures(found, X, trained, content.data["kind"] == Strings.title)
        panels = curves(found, scores.positive)
        calibrated = calibration(found)
        if calibrated and panels:
            panels = [replace(panel, plots=[*panel.plots, calibrated]) for panel in panels]
        content = replace(
            content, figures=shown_figures, figures_note=note, confusion=confusion(scores), curves=panels,
            classes=class_table(found, scores), data=content.data | {"classes": shares(class_counts(truth))},
            warnings=list(dict.fromkeys([*content.warnings, *found_warnings(found, scores)])),
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
        values, word = (found.scores, "score") if found.probabilities is None else (found.probabilities, "probability")
        score = f"{word} {values[row, k]:{'+' * (word == 'score')}.3f}"
        if true[row] not in (-1, k) and len(found.names) > 2:
            score += f", of the true class {values[row, true[row]]:{'+' * (word == 'score')}.3f}"
        label = None if truth is None else truth[row]
        wrong = None if label is None else label != found.names[k]
        return found.names[k], label, wrong, score, float(confidence[row]), float(error[row])

    rows = choose(error if truth is not None else None, confidence, source.most)
    which = "the most and the least confident"
    if truth is not None:
        which = "the largest errors, the most confident and the least confident"
    content = with_examples(content, task.model, X, source, rows, drawn_for(task.model, X, wanted), said, which)
    labels = sorted({name for e in content.examples for name in (e.truth, e.predicted) if name is not None})
    return replace(content, known=truth is not None, labels=labels)
