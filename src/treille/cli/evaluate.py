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

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

from treille import InputError
from treille.cli import options
from treille.cli.console import Printer, aligned
from treille.cli.models import check_writable, load_model, refuse_tagger, warn_unknown
from treille.cli.options import Reading, option
from treille.cli.pages import check_report, names_of
from treille.cli.predicting import Chunk, predicted, written
from treille.data.format import count, one_line, visible_label
from treille.explain.report import Source, write_report
from treille.explain.scores import Scores, area, measure_pairs, positive_class
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
    force: options.Force = False,
    *,
    printer: options.ResultOutput,
) -> None:
    """Reads a model and labelled examples, and prints scores."""
    inputs = reading.inputs(str(model), *files)
    check_writable(output, "table", inputs, force)
    check_report(report, inputs, force)
    estimator = load_model(model, files)
    refuse_tagger(estimator, model, "evaluate")
    names, reading = estimator.task().names, reading.like(estimator)
    kernel, hint = estimator.plan_.kernel, _hint(names, reading.label)
    examples = _examples(reading, files, kernel, printer.json or output is not None, report is not None, hint)
    predict = estimator.task().scores if names else estimator.predict
    chunks = predicted(printer, examples, reading, kernel, predict, files[0])
    with ExitStack() as open_files:
        write = open_files.enter_context(written(output, "table")) if output is not None else lambda lines: None
        scored = (
            _evaluate_classes(printer, chunks, names, write, hint)
            if names
            else _evaluate_numbers(printer, chunks, write)
        )
    scored.show()
    if output is not None:
        printer.note(f"table of all examples written to {output}")
    _write_report(printer, report, estimator, model, scored)
    printer.result({"model": str(model)} | scored.value)


@dataclass(frozen=True)
class _Scored:
    """What is printed and written of an evaluation; the last chunk is all there is where a report is written."""

    value: dict[str, Any]
    show: Callable[[], None]
    last: Chunk
    truth: Any


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


def _evaluate_classes(
    printer: Printer, chunks: Iterator[Chunk], names: list[str], write: Callable[[Iterable[str]], None], hint: str
) -> _Scored:
    """Scores of a classifier: from how often each label was predicted for each true one and, of two classes, from all scores."""
    pairs, wrong, n = Counter[tuple[str, str]](), list[dict[str, str]](), 0
    codes, margins = list[np.ndarray](), list[np.ndarray]()
    write([_row_of(["id", "label", "predicted", *names])])
    for chunk in chunks:
        truth, found = chunk.examples.labels or [], chunk.found
        ids, labels = _ids(chunk.examples, n), [names[k] for k in found.argmax(axis=1)]
        pairs.update(zip(truth, labels, strict=True))
        write(map(_row_of, zip(ids, truth, labels, *found.T, strict=True)))
        if printer.json:
            wrong += [
                {"id": id, "label": label, "predicted": other}
                for id, label, other in zip(ids, truth, labels, strict=True)
                if label != other
            ]
        if len(names) == 2:
            known = {name: code for code, name in enumerate(names)}
            codes.append(np.array([known.get(label, -1) for label in truth], np.int8))
            margins.append(found)
        n += len(truth)
    source = chunk.examples.input or chunk.examples.source
    counts = Counter[str]()
    for (label, _), times in pairs.items():
        counts[label] += times
    try:
        unknown = warn_unknown(printer, names, source, counts)
    except InputError as error:
        raise InputError(f"{error}{hint}") from None
    positive = positive_class(names, counts)
    scores = measure_pairs(pairs, positive)
    if positive is not None:
        k = names.index(positive)
        scores = replace(scores, auc=area(np.concatenate(codes), np.concatenate(margins)[:, k], k, 1 - k))
    value = {"file": source, "examples": n, "unknown_labels": unknown, "wrong": wrong} | scores.as_dict()
    return _Scored(value, lambda: _print(printer, scores, n), chunk, truth)


def _ids(examples: Examples, before: int) -> list[str]:
    """The ids of examples, their numbers from 1 where they have none."""
    return examples.ids or [str(before + i) for i in range(1, len(examples) + 1)]


def _row_of(cells: Iterable[Any]) -> str:
    """A line of the table."""
    return "\t".join(one_line(cell) if isinstance(cell, str) else f"{cell:.6g}" for cell in cells) + "\n"


def _evaluate_numbers(printer: Printer, chunks: Iterator[Chunk], write: Callable[[Iterable[str]], None]) -> _Scored:
    """Errors of a regressor."""
    truths, predictions, n = list[np.ndarray](), list[np.ndarray](), 0
    write([_row_of(["id", "label", "predicted"])])
    for chunk in chunks:
        examples, found = chunk.examples, chunk.found
        truths.append(np.array(examples.targets()))
        if found.ndim == 2:
            raise InputError(
                f"the model predicts {found.shape[1]} numbers per example, and {examples.source} has one label for each: "
                "evaluate it in Python, with model.score(X, y)"
            )
        predictions.append(found)
        write(map(_row_of, zip(_ids(examples, n), truths[-1], found, strict=True)))
        n += len(examples)
    truth, guesses = np.concatenate(truths), np.concatenate(predictions)
    r2 = float(r2_score(truth, guesses)) if n > 1 else None
    errors = [float(mean_absolute_error(truth, guesses)), float(mean_squared_error(truth, guesses)) ** 0.5]

    def show() -> None:
        printer.print(f"R2 {'undefined' if r2 is None else f'{r2:.4f}'} on {count(n, 'example')}", style="bold")
        printer.print(f"mean absolute error {errors[0]:.4g}, root mean squared error {errors[1]:.4g}")

    value = {"file": chunk.examples.input or chunk.examples.source, "examples": n}
    value |= {"r2": r2, "mean_absolute_error": errors[0], "root_mean_squared_error": errors[1]}
    return _Scored(value, show, chunk, truth)


def _write_report(printer: Printer, path: Path | None, estimator: Any, model: Path, scored: _Scored) -> None:
    if path is not None:
        examples = scored.last.examples
        source = Source(examples.source, names=names_of(examples), model=str(model))
        write_report(estimator, scored.last.X, scored.truth, path, source=replace(source, warnings=printer.warnings))
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
