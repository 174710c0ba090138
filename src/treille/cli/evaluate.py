"""Compare a model's predictions with the labels, or the numbers, of a file.

\b
Examples:
  treille evaluate reviews.treille reviews.test.csv
  treille evaluate acq.treille test.jsonl.gz --text title+body --label topics=acq
  treille evaluate spam.treille mail.tsv --json

Labels are given as for train. The file is read as the model's training data were. --output writes a table of the
examples: id, label, prediction and the score of each class. Prints accuracy, precision, recall and F1 of each class,
which class is taken for which and, where there are two, the area under the ROC curve. A label that the model does
not know counts as an error. For a model of numbers (SVR, Ridge): R2, mean absolute and root mean squared error.
OneClassSVM expects the labels 1 for inliers and -1 for outliers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

from treille import InputError
from treille.cli import options
from treille.cli.console import Printer, aligned
from treille.cli.matrices import write_lines
from treille.cli.models import check_writable, class_names, load_model, refuse_tagger, warn_unknown
from treille.cli.options import Reading
from treille.cli.pages import check_report, commands, names_of
from treille.data.format import count, one_line, visible_label
from treille.explain.outputs import class_scores
from treille.explain.report import Source, write_report
from treille.explain.scores import Scores, area, measure, positive_class
from treille.io import Examples

MOST_CONFUSED = 10


@options.reading_options("alphabet", "root_label")
def run(
    model: options.ModelFile,
    files: options.DataFiles,
    reading: Reading,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="PATH", help="Write a table of all examples here.")
    ] = None,
    report: options.ReportPath = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.QuietNotes = False,
) -> None:
    """Reads a model and labelled examples, and prints scores."""
    printer = Printer(json, notes=not quiet)
    if output is not None:
        check_writable(output, "table", reading.inputs(str(model), *files), force)
    if report is not None:
        check_report(report, reading.inputs(str(model), *files), force)
    estimator = load_model(model, files)
    refuse_tagger(estimator, model, "evaluate")
    names, kernel = class_names(estimator), estimator.plan_.kernel
    reading = reading.like(estimator)
    if not names:
        printer.result(
            {"model": str(model)} | _evaluate_numbers(printer, estimator, reading, files, output, report, model)
        )
        return
    try:
        examples, truth = reading.read_labelled(printer, files, kernel)
        unknown = warn_unknown(printer, names, examples, truth)
    except InputError as error:
        raise InputError(f"{error}{_hint(names, reading.label)}") from None
    X = reading.data(printer, examples, kernel)
    with printer.busy("predicting"):
        found = class_scores(estimator, X)
    positive, predicted = positive_class(names, truth), [names[k] for k in found.argmax(axis=1)]
    scores = measure(truth, predicted, positive)
    if positive is not None:
        k = names.index(positive)
        scores = replace(scores, auc=area(truth, found[:, k], positive, names[1 - k]))
    _print(printer, scores, len(truth))
    value = {"model": str(model), "file": examples.source, "examples": len(truth), "unknown_labels": unknown}
    ids = _ids(examples)
    _write(printer, output, ["id", "label", "predicted", *names], zip(ids, truth, predicted, *found.T, strict=True))
    _write_report(printer, report, estimator, model, X, truth, examples)
    value["wrong"] = [
        {"id": id, "label": label, "predicted": other}
        for id, label, other in zip(ids, truth, predicted, strict=True)
        if label != other
    ]
    printer.result(value | scores.as_dict())


def _ids(examples: Examples) -> list[str]:
    """The ids of examples, their numbers from 1 where they have none."""
    return examples.ids or [str(i) for i in range(1, len(examples) + 1)]


def _write(printer: Printer, path: Path | None, header: list[str], rows: Iterable[tuple[Any, ...]]) -> None:
    if path is not None:
        cells = ([one_line(c) if isinstance(c, str) else f"{c:.6g}" for c in row] for row in rows)
        write_lines(path, ("\t".join(row) for row in ([one_line(name) for name in header], *cells)))
        printer.note(f"table of all examples written to {path}")


def _evaluate_numbers(
    printer: Printer,
    estimator: Any,
    reading: Reading,
    files: list[str],
    output: Path | None,
    report: Path | None,
    model: Path,
) -> dict[str, Any]:
    """Errors of a regressor."""
    kernel = estimator.plan_.kernel
    examples, _ = reading.read_labelled(printer, files, kernel)
    truth = np.array(examples.targets())
    X = reading.data(printer, examples, kernel)
    with printer.busy("predicting"):
        predicted = estimator.predict(X)
    if predicted.ndim == 2:
        raise InputError(
            f"the model predicts {predicted.shape[1]} numbers per example, and {examples.source} has one label for each: "
            "evaluate it in Python, with model.score(X, y)"
        )
    r2 = float(r2_score(truth, predicted)) if len(truth) > 1 else None
    errors = [float(mean_absolute_error(truth, predicted)), float(mean_squared_error(truth, predicted)) ** 0.5]
    printer.print(f"R2 {'undefined' if r2 is None else f'{r2:.4f}'} on {count(len(truth), 'example')}", style="bold")
    printer.print(f"mean absolute error {errors[0]:.4g}, root mean squared error {errors[1]:.4g}")
    _write(printer, output, ["id", "label", "predicted"], zip(_ids(examples), truth, predicted, strict=True))
    _write_report(printer, report, estimator, model, X, truth, examples)
    value = {"file": examples.source, "examples": len(truth)}
    return value | {"r2": r2, "mean_absolute_error": errors[0], "root_mean_squared_error": errors[1]}


def _write_report(
    printer: Printer, path: Path | None, estimator: Any, model: Path, X: Any, truth: Any, examples: Examples
) -> None:
    if path is not None:
        source = Source(examples.source, names=names_of(examples), commands=commands(estimator, model))
        write_report(estimator, X, truth, path, source=replace(source, warnings=printer.warnings))
        printer.note(f"report written to {path}: open it in a browser")


def _hint(names: list[str], label: str | None) -> str:
    """For a model of one value against the rest, what its --label must have been."""
    positive = positive_class(names, [])
    if "=" in (label or "") or f"not {positive}" not in names:
        return ""
    return f". This model separates {positive!r} from the rest: use --label FIELD={positive}"


def _print(printer: Printer, scores: Scores, n: int) -> None:
    printer.print(f"accuracy {scores.accuracy:.4f} ({round(scores.accuracy * n):,} of {n:,} right)", style="bold")
    if scores.positive is not None:
        area = "" if scores.auc is None else f", area under the ROC curve {scores.auc:.4f}"
        printer.print(f"F1 of {scores.positive!r} {scores.f1:.4f}{area}", style="bold")
    printer.print()
    each = list(scores.per_class.values())
    rows = [_row(name, (c.precision, c.recall, c.f1), c.support) for name, c in scores.per_class.items()]
    macro = [sum(getattr(c, name) for c in each) / len(each) for name in ("precision", "recall", "f1")]
    averages = [_row("macro average", macro, n), _row("micro average", [scores.micro_f1] * 3, n)]
    printer.table(["class", "precision", "recall", "F1", "examples"], rows + averages)
    if len(each) <= MOST_CONFUSED:
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
