"""The report of a model: how good it is, what made its decisions, and how it was trained, on one page."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille.data import Strings
from treille.data.aligned import leaf_batches
from treille.data.format import class_counts, count, shares, visible_label
from treille.explain import classification, regression, training_report
from treille.explain.classification import Predictions
from treille.explain.outputs import is_classifier, listed_examples, size_of, some_of, truth_of
from treille.explain.page import Content, Example, Highlight, Page
from treille.explain.shown_examples import MOST, choose, selection_note, shown_examples
from treille.io.errors import InputError

TOO_GOOD = "These are the training examples: the figures are too good. Examples that the model has not seen show how good it is."
NO_DATA = (
    "There are no examples: this page shows what the model itself knows. Give examples for scores and explanations: "
    "model.report(X, y, path), or treille report MODEL FILE."
)

REGRESSION_LEGEND = "Blue raises the value, orange lowers it; the stronger, the more."


@dataclass(frozen=True)
class Source:
    """Where the examples of a report come from, and what else the page says about them."""

    data: str = ""  # the file
    how: str = ""  # how the examples were held out
    training: bool = False  # whether the model was trained on these examples
    names: Sequence[str] | None = None  # of the examples
    model: str = "model.treille"  # the model's file, for the commands
    warnings: Sequence[str] = ()
    commands: Sequence[str] | None = None
    name: str = ""  # of this part, on a page of several models
    most: int = MOST  # examples


def write_report(
    model: Any, X: Any, y: Any, path: str | os.PathLike[str], train: Any = None, source: Source | None = None
) -> None:
    """Writes the report of a fitted estimator to a file, see `KernelMachine.report`."""
    content = report_content(model, X, y, train, source)
    Page(f"treille report: {content.title}", [content]).write(path)


def report_content(model: Any, X: Any, y: Any, train: Any = None, source: Source | None = None) -> Content:
    """What the page says about the model."""
    source = source or Source()
    train = checked_pair(train)
    if X is None and y is not None:
        raise InputError("y was given without X: give the examples, too")
    if X is None and train is not None:
        (X, y), source = train, replace(source, training=True)
    X = listed_examples(X)
    content = training_report.of_model(model, source.warnings, train[0] if train is not None else X)
    content = replace(content, name=source.name, commands=source.commands or commands(model, source.model))
    if X is None:
        return replace(content, summary=sentence(content.summary), banner=NO_DATA)
    n = size_of(X)
    if n == 0:
        raise InputError("there are no examples: a report needs at least one, or None for a report of the model alone")
    banner = TOO_GOOD if source.training else ""
    content = replace(
        content,
        title=training_report.titled(model, source.data),
        summary=sentence(count(n, "example"), source.how, content.summary),
        banner=banner,
        data=_statistics(model, X, n),
    )
    fill = _classified if is_classifier(model) else _regressed
    return fill(content, model, X, y, train, source)


def checked_pair(train: Any) -> tuple[Any, Any] | None:
    """The training examples and their labels."""
    if train is None:
        return None
    if not isinstance(train, (tuple, list)) or len(train) != 2:
        raise InputError(
            f"train is {type(train).__name__}, expected a pair (X, y) of training examples and their labels"
        )
    return listed_examples(train[0]), train[1]


def commands(model: Any, path: str) -> list[str]:
    """What to do with a model on the command line."""
    quoted = path if path.replace("/", "").replace(".", "").replace("-", "").replace("_", "").isalnum() else f"'{path}'"
    verbs = ["inspect", "predict", "evaluate", "explain", "report", "serve"]
    rest = {"inspect": "", "serve": "", "report": " FILE --output report.html"}
    return [f"treille {verb} {quoted}{rest.get(verb, ' FILE')}" for verb in verbs]


def sentence(*parts: str) -> str:
    """What the page says first, from parts that may be empty.

    >>> sentence("20 examples", "", "trained in 1 s")
    '20 examples; trained in 1 s.'
    """
    text = "; ".join(part for part in parts if part)
    return f"{text[:1].upper()}{text[1:]}."


def _statistics(model: Any, X: Any, n: int) -> dict[str, str]:
    """What the data is like."""
    first = model._read_batch(some_of(X, np.arange(1)))
    kinds = {type(leaf) for _, leaf in leaf_batches(first)}
    kind = kinds.pop() if len(kinds) == 1 and isinstance(X, list) else type(first)  # texts may be read in several units
    found = {"kind": kind.title, "examples": f"{n:,}"}
    with contextlib.suppress(InputError, TypeError, ValueError, AttributeError):
        return found | kind.summarise(X, 0, 80).fields  # texts by their characters, whatever the kernel reads
    with contextlib.suppress(InputError, TypeError, ValueError, AttributeError):
        return found | kind.summarise(model._read_batch(X), 0, 80).fields
    return found


def _classified(content: Content, model: Any, X: Any, y: Any, train: Any, source: Source) -> Content:
    truth = truth_of(model, y, size_of(X))
    found = Predictions.of(model, X, truth)
    trained = None
    if train is not None and train[1] is not None:
        trained = (train[0], truth_of(model, train[1], size_of(train[0])) or [])
    if truth is not None:
        figures, note, scores = classification.figures(found, X, trained, content.data["kind"] == Strings.title)
        panels = classification.curves(found, scores.positive)
        calibrated = classification.calibration(found)
        if calibrated and panels:
            panels = [replace(panel, plots=[*panel.plots, calibrated]) for panel in panels]
        content = replace(
            content, figures=figures, figures_note=note, confusion=classification.confusion(scores), curves=panels,
            classes=classification.class_table(found, scores), data=content.data | {"classes": shares(class_counts(truth))},
            warnings=list(dict.fromkeys([*content.warnings, *classification.found_warnings(found, scores)])),
        )  # fmt: skip
    else:
        note = f"There are no labels, so there are no scores. Predicted: {shares(class_counts(found.predicted))}."
        content = replace(content, figures_note=note)
    values, confidence, error = classification.class_labels(model), found.confidence, found.error
    true, shown = found.true_column, [visible_label(name) for name in found.names]

    def wanted(row: int) -> list[tuple[str, Any]]:
        columns = [int(found.best[row])]
        if true[row] not in (-1, columns[0]) and values[0] is not None:
            columns.append(int(true[row]))
        if values[0] is None:
            return [("for inlier", None)]
        return [(f"for {shown[k]}" + ", the true class" * (i > 0), values[k]) for i, k in enumerate(columns)]

    def describe(row: int, highlights: list[Highlight]) -> Example:
        k = int(found.best[row])
        values, word = (found.scores, "score") if found.probabilities is None else (found.probabilities, "probability")
        score = f"{word} {values[row, k]:{'+' * (word == 'score')}.3f}"
        if true[row] not in (-1, k) and len(found.names) > 2:
            score += f", of the true class {values[row, true[row]]:{'+' * (word == 'score')}.3f}"
        name = source.names[row] if source.names is not None else f"#{row}"
        label = None if truth is None else truth[row]
        wrong = None if label is None else label != found.names[k]
        return Example(
            name, row, found.names[k], label, wrong, score, float(confidence[row]), float(error[row]), highlights
        )

    rows = choose(error if truth is not None else None, confidence, source.most)
    examples, missing = shown_examples(model, X, rows, wanted, describe)
    note = f"{selection_note(len(examples), size_of(X), truth is not None)} {missing}"
    labels = sorted({name for e in examples for name in (e.truth, e.predicted) if name is not None})
    return replace(content, examples=examples, examples_note=note.strip(), known=truth is not None, labels=labels)


def _regressed(content: Content, model: Any, X: Any, y: Any, train: Any, source: Source) -> Content:
    predicted = np.asarray(model.predict(X), np.float64)
    predicted = predicted[:, None] if predicted.ndim == 1 else predicted
    true = regression.numbers_of(y, predicted)
    if true is not None:
        trained = None if train is None or train[1] is None else np.asarray(train[1], np.float64)
        trained = trained[:, None] if trained is not None and trained.ndim == 1 else trained
        figures, note = regression.figures(true, predicted, trained)
        content = replace(content, figures=figures, figures_note=note, curves=regression.scatter(true, predicted))
        content = replace(content, curves_title="Predicted and true values", legend=REGRESSION_LEGEND)
        error = np.abs(predicted - true).max(axis=1)
    else:
        content = replace(content, figures_note="There are no true values, so there are no scores.")
        error = np.zeros(len(predicted))
    targets = predicted.shape[1]

    def wanted(row: int) -> list[tuple[str, Any]]:
        if targets == 1:
            return [("for a larger value", 0)]
        return [(f"for a larger target {t}", t) for t in range(min(targets, 4))]

    def describe(row: int, highlights: list[Highlight]) -> Example:
        name = source.names[row] if source.names is not None else f"#{row}"
        label = None if true is None else _numbers(true[row])
        score = "" if true is None else f"error {error[row]:.3g}"
        return Example(
            name, row, _numbers(predicted[row]), label, None, score, -float(error[row]), float(error[row]), highlights
        )

    confidence = -error if true is not None else np.abs(predicted - predicted.mean(axis=0)).max(axis=1)
    rows = choose(error if true is not None else None, confidence, source.most)
    examples, missing = shown_examples(model, X, rows, wanted, describe)
    kinds = (
        "the largest and the smallest errors" if true is not None else "the most unusual and the most usual predictions"
    )
    n = size_of(X)
    note = f"All {count(n, 'example')}." if len(examples) == n else f"{len(examples):,} of {n:,}: {kinds}."
    return replace(content, examples=examples, examples_note=f"{note} {missing}".strip(), known=true is not None)


def _numbers(values: np.ndarray) -> str:
    return ", ".join(f"{value:.4g}" for value in values)
