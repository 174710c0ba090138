"""Compare a model's predictions with the labels, or the numbers, of a file.

\b
Examples:
  treille evaluate reviews.treille reviews.test.csv
  treille evaluate acq.treille test.jsonl.gz --text title+body --label topics=acq
  treille evaluate spam.treille mail.tsv --json

Labels are given as for train; without such options, --label is that of the training. The file is read as the model's
training data were. --output writes a table of the examples, with tabs, or as CSV or Parquet by its suffix: id, label,
prediction and the score of each class. Prints accuracy, precision, recall and F1 of each class, and which class is
taken for which. Of two classes, one is positive: the one that is 1, +, true, yes or positive, otherwise the label that
sorts last, or that of --positive; for it, F1 and the area under the ROC curve are printed.
A label that the model does not know is an error. For a model of numbers (SVR, Ridge): R2, mean absolute and root mean
squared error. OneClassSVM expects the labels 1 for inliers and -1 for outliers.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

from treille import InputError
from treille.cli import options
from treille.cli.console import Printer, aligned
from treille.cli.models import check_writable, load_model
from treille.cli.options import Reading, option
from treille.cli.predict import Chunk, check_table, predicted, written
from treille.data.format import count, visible_label
from treille.explain.examples import names_of
from treille.explain.page import Origin
from treille.explain.report import write_report
from treille.explain.scores import Scores, area, measure_pairs, positive_class, refuse_unknown_labels
from treille.io import Examples
from treille.kernels import Kernel

MOST_CONFUSED = 10


@options.with_options("alphabet", "root_label")
def run(
    model: options.ModelFile,
    files: options.DataFiles,
    reading: options.ReadingOptions,
    output: Annotated[Path | None, option("PATH", "Write a table of all examples here.")] = None,
    report: options.ReportPath = None,
    positive: options.Positive = None,
    force: options.Force = False,
    *,
    printer: options.ResultOutput,
) -> None:
    """Reads a model and labelled examples, and prints scores."""
    inputs = reading.inputs(str(model), *files)
    check_table(output)
    check_writable(output, "table", inputs, force)
    check_writable(report, "report", inputs, force)
    estimator = load_model(model, files, "evaluate")
    positive = options.positive_option(estimator.task().names, positive)
    task, kernel, reading = estimator.task(), estimator.plan_.kernel, reading.like(estimator)
    names, hint, n = task.names, _hint(task.names, reading.label), 0
    labelled = _examples(reading, files, kernel, printer.json or output is not None, report is not None, hint)
    chunks = predicted(printer, labelled, reading, kernel, task.scores if names else estimator.predict, files[0])
    tally = _Classes(names, positive, printer.json) if names else _Numbers()
    with written(output, "table") if output is not None else nullcontext() as table:
        for chunk in chunks:
            ids = chunk.examples.ids or [str(i) for i in range(n + 1, n + len(chunk.examples) + 1)]
            columns = tally.add(ids, chunk)
            if table is not None:
                table.add(["id", "label", "predicted", *names], [ids, *columns])
            n += len(ids)
        examples, source = chunk.examples, chunk.examples.input or chunk.examples.source
        value = {"model": str(model), "file": source, "examples": n} | tally.result(printer, source, hint)
    if output is not None:
        printer.note(f"table of all examples written to {output}")
    if report is not None:  # there is only one chunk: `_examples` reads all at once for a report
        about = Origin(examples.source, names=names_of(examples), model=str(model), warnings=printer.warnings)
        about = replace(about, positive=positive)
        write_report(estimator, chunk.X, tally.truth, report, source=about)
        printer.note(f"report written to {report}: open it in a browser")
    printer.result(value)


def _examples(
    reading: Reading, files: list[str], kernel: Kernel, ids: bool, whole: bool, hint: str
) -> Iterator[Examples]:
    """Labelled examples, with `ids` if these are used; all at once for a report."""
    try:
        if whole:
            yield reading.read(Printer(quiet=True), files, True, kernel)
        else:
            yield from reading.chunks(files, True, kernel, ids)
    except InputError as error:
        raise InputError(f"{error}{hint}") from None


class _Classes:
    """Counts how often a classifier predicts each label for each true one; for two classes, it keeps all scores."""

    def __init__(self, names: list[str], positive: str | None, lists_wrong: bool):
        self.names, self.positive = names, positive
        self.lists_wrong, self.wrong = lists_wrong, list[dict[str, str]]()
        self.pairs, self.truth = Counter[tuple[str, str]](), list[str]()
        self.codes, self.margins = list[np.ndarray](), list[np.ndarray]()

    def add(self, ids: Sequence[str], chunk: Chunk) -> tuple[Sequence[Any], ...]:
        """Counts the predictions for some examples, and returns the columns of their table."""
        self.truth, predictions = chunk.examples.labels or [], chunk.found
        labels = [self.names[k] for k in predictions.argmax(axis=1)]
        self.pairs.update(zip(self.truth, labels, strict=True))
        if self.lists_wrong:
            each = zip(ids, self.truth, labels, strict=True)
            self.wrong += [{"id": id, "label": true, "predicted": label} for id, true, label in each if true != label]
        if len(self.names) == 2:
            known = {name: code for code, name in enumerate(self.names)}
            self.codes.append(np.array([known.get(label, -1) for label in self.truth], np.int8))
            self.margins.append(predictions)
        return self.truth, labels, *predictions.T

    def result(self, printer: Printer, source: str, hint: str) -> dict[str, Any]:
        """Prints the scores, and returns them as JSON values."""
        counts = Counter[str]()
        for (label, _), times in self.pairs.items():
            counts[label] += times
        try:
            refuse_unknown_labels(self.names, counts, source)
        except InputError as error:
            raise InputError(f"{error}{hint}") from None
        positive = self.positive
        scores = measure_pairs(self.pairs, positive)
        if positive is not None:
            k = self.names.index(positive)
            scores = replace(scores, auc=area(np.concatenate(self.codes), np.concatenate(self.margins)[:, k], k, 1 - k))
        _print(printer, scores, counts.total())
        return {"wrong": self.wrong} | scores.as_dict()


class _Numbers:
    """The true and the predicted numbers of a regressor."""

    def __init__(self) -> None:
        self.truths, self.predictions = list[np.ndarray](), list[np.ndarray]()

    @property
    def truth(self) -> np.ndarray:
        return np.concatenate(self.truths)

    def add(self, ids: Sequence[str], chunk: Chunk) -> tuple[Sequence[Any], ...]:
        truth, found = np.array(chunk.examples.targets()), chunk.found
        if found.ndim == 2:
            raise InputError(
                f"the model predicts {found.shape[1]} numbers per example, and {chunk.examples.source} has one label for "
                "each: evaluate it in Python, with model.score(X, y)"
            )
        self.truths.append(truth)
        self.predictions.append(found)
        return truth.tolist(), found.tolist()

    def result(self, printer: Printer, source: str, hint: str) -> dict[str, Any]:
        truth, outputs = self.truth, np.concatenate(self.predictions)
        r2 = float(r2_score(truth, outputs)) if len(truth) > 1 else None
        absolute, root = float(mean_absolute_error(truth, outputs)), float(mean_squared_error(truth, outputs)) ** 0.5
        shown = "undefined" if r2 is None else f"{r2:.4f}"
        printer.print(f"R2 {shown} on {count(len(truth), 'example')}", style="bold")
        printer.print(f"mean absolute error {absolute:.4g}, root mean squared error {root:.4g}")
        return {"r2": r2, "mean_absolute_error": absolute, "root_mean_squared_error": root}


def _hint(names: list[str], label: str | None) -> str:
    """Suggests the --label for a model that was trained on one value against the rest."""
    positive = positive_class(names)
    if "=" in (label or "") or f"not {positive}" not in names:
        return ""
    return f". This model separates {positive!r} from the rest: use --label FIELD={positive}"


def _print(printer: Printer, scores: Scores, n: int) -> None:
    printer.print(f"accuracy {scores.accuracy:.4f} ({round(scores.accuracy * n):,} of {n:,} right)", style="bold")
    if scores.positive is not None:
        area = "" if scores.auc is None else f", area under the ROC curve {scores.auc:.4f}"
        printer.print(f"F1 of {scores.positive!r} {scores.f1:.4f}{area}", style="bold")
    printer.print()
    values = {name: (c.precision, c.recall, c.f1) for name, c in scores.per_class.items()}
    rows = [_row(name, each, scores.per_class[name].support) for name, each in values.items()]
    macro = np.mean(list(values.values()), axis=0).tolist()
    averages = [_row("macro average", macro, n), _row("micro average", [scores.micro_f1] * 3, n)]
    printer.table(["class", "precision", "recall", "F1", "examples"], rows + averages)
    if len(values) <= MOST_CONFUSED:
        _print_confusion(printer, scores)


def _row(name: str, values: Sequence[float], support: int) -> list[str]:
    return [visible_label(name), *(f"{value:.4f}" for value in values), f"{support:,}"]


def _print_confusion(printer: Printer, scores: Scores) -> None:
    """A row per true class, a column per predicted one; columns are numbered where their names are too wide."""
    names = [visible_label(name) for name in scores.per_class]
    rows = [[name, *(f"{n:,}" for n in counts)] for name, counts in zip(names, scores.confusion, strict=True)]
    header = ["true, predicted as", *names]
    if len(aligned([header, *rows])[0]) > printer.width:
        rows = [[f"{i} {name}", *counts] for i, (name, *counts) in enumerate(rows, 1)]
        header[1:] = [str(i) for i in range(1, len(header))]
    printer.print()
    printer.table(header, rows)
