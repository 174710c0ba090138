"""The report of a regressor: errors, and predicted against true values."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

from treille.explain.examples import sample
from treille.explain.page import Content, Figure, Origin, Panel
from treille.explain.plots import Line, axis_of, plot
from treille.explain.shown_examples import choose, drawn_for, with_examples
from treille.explain.tasks import Regression
from treille.io.errors import InputError
from treille.io.targets import as_targets

MOST_DOTS = 2_000
MOST_TARGETS = 6
LEGEND = "Blue raises the value, orange lowers it; the stronger, the more."


def figures(true: np.ndarray, predicted: np.ndarray, trained: np.ndarray | None) -> tuple[list[Figure], str]:
    """R2 and errors of the model and of the mean as a baseline, averaged over targets."""
    guess = np.tile((true if trained is None else trained).mean(axis=0), (len(true), 1))
    pair = {"this model": predicted, "always the mean": guess}
    shown = []
    if len(true) > 1:
        r2 = {name: float(r2_score(true, values)) for name, values in pair.items()}
        shown.append(Figure.of("R²", r2, "1 is perfect, 0 as good as the mean"))
    for name, measure in (("Mean absolute error", mean_absolute_error), ("Root mean squared error", _root)):
        errors = {other: float(measure(true, values)) for other, values in pair.items()}
        shown.append(Figure.of(name, errors, "less is better", ".4g", max(errors.values()) or 1.0))
    note = "The mean is taken from these examples; with train=(X, y), from the training examples."
    return shown, note if trained is None else ""


def _root(true: np.ndarray, predicted: np.ndarray) -> float:
    return float(mean_squared_error(true, predicted)) ** 0.5


def scatter(true: np.ndarray, predicted: np.ndarray) -> list[Panel]:
    """Predicted against true values, and the distribution of the errors."""
    n, targets = true.shape
    rows = sample(n, MOST_DOTS)
    some = "" if n <= MOST_DOTS else f"; {MOST_DOTS:,} of {n:,} examples"
    panels = []
    for t in range(min(targets, MOST_TARGETS)):
        a, b = true[rows, t], predicted[rows, t]
        both = [*a.tolist(), *b.tolist()]
        drawn = plot(
            "predicted against true values", axis_of("true", both), axis_of("predicted", both),
            [Line("dots", a.tolist(), b.tolist())], points=True, diagonal=True,
        )  # fmt: skip
        error = np.sort(predicted[:, t] - true[:, t])
        at = np.unique(np.linspace(0, n - 1, min(n, 200)).astype(int))
        share = ((at + 1) / n).tolist()
        spread = plot(
            "distribution of errors", axis_of("predicted minus true", error[at].tolist()), axis_of("share of examples", [0.0, 1.0]),
            [Line("model", error[at].tolist(), share)],
        )  # fmt: skip
        captions = f"Predicted against true; the diagonal is perfect{some}", "Share of examples with at most this error"
        panels.append(Panel(f"target {t}", list(zip(captions, (drawn, spread), strict=True))))
    return panels


def regressed(content: Content, task: Regression, X: Any, y: Any, train: Any, source: Origin) -> Content:
    """The content of a report with errors, plots and examples of a regressor."""
    predicted = _columns(task.model.predict(source.batch))
    true = None if y is None else _columns(y)
    if true is not None and true.shape != predicted.shape:
        raise InputError(f"y has the shape {true.shape}, expected {predicted.shape}: one row for each example")
    if true is not None:
        trained = None if train is None or train[1] is None else _columns(train[1])
        shown, note = figures(true, predicted, trained)
        content = replace(content, figures=shown, figures_note=note, curves=scatter(true, predicted))
        content = replace(content, curves_title="Predicted and true values", legend=LEGEND)
        error = np.abs(predicted - true).max(axis=1)
    else:
        content = replace(content, figures_note="There are no true values, so there are no scores.")
        error = np.zeros(len(predicted))
    targets = predicted.shape[1]

    def wanted(row: int) -> list[tuple[str, Any]]:
        if targets == 1:
            return [("for a larger value", 0)]
        return [(f"for a larger target {t}", t) for t in range(min(targets, 4))]

    def said(row: int) -> tuple[str, str | None, bool | None, str, float, float]:
        label, score = (None, "") if true is None else (_numbers(true[row]), f"error {error[row]:.3g}")
        return _numbers(predicted[row]), label, None, score, -float(error[row]), float(error[row])

    confidence = -error if true is not None else np.abs(predicted - predicted.mean(axis=0)).max(axis=1)
    rows = choose(error if true is not None else None, confidence, source.most)
    which = "most unusual and the most usual predictions" if true is None else "largest and the smallest errors"
    drawn = drawn_for(task.model, X, wanted)
    content = with_examples(content, task.model, X, source, rows, drawn, said, f"the {which}")
    return replace(content, known=true is not None)


def _columns(numbers: Any) -> np.ndarray:
    """One column for each target."""
    return as_targets(numbers, "target").astype(np.float64).reshape(len(numbers), -1)


def _numbers(values: np.ndarray) -> str:
    return ", ".join(f"{value:.4g}" for value in values)
