"""Predict the label, or the number, of every example in a file, one per line.

\b
Examples:
  treille predict reviews.treille new.csv
  treille predict acq.treille news.jsonl.gz --text title+body --output labels.txt
  treille predict spam.treille mail.txt --scores --output scores.tsv
  echo "Buy now and win a prize" | treille predict spam.treille -

If the examples have ids (FASTA headers, a field called id, utterances, files of a folder), each line begins with the
id and a tab. With --scores, a table with a header: the label, then the score of each class; the highest wins. With
--probabilities the same of probabilities, for a model trained with --loss logistic. A model of numbers
(SVR, Ridge) writes a number per line, or a row of them for several targets; OneClassSVM writes 1 for inliers and -1
for outliers. Labels in FILE are not read, and FILE is read as the model's training data were.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import check_writable, class_names, load_model, refuse_tagger
from treille.cli.options import Reading
from treille.data.format import class_counts, count, one_line, shares
from treille.explain.outputs import class_scores

STANDARD_OUTPUT = "-"


@options.reading_options("label", "labels", "root_label", "skip_unlabelled", "alphabet")
def run(
    model: options.ModelFile,
    files: options.DataFiles,
    reading: Reading,
    output: Annotated[
        str, typer.Option("--output", metavar="PATH", help="Where to write; - is standard output.")
    ] = "-",
    scores: Annotated[bool, typer.Option("--scores", help="Also write the score of every class.")] = False,
    probabilities: Annotated[
        bool, typer.Option("--probabilities", help="Also write the probability of every class.")
    ] = False,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.QuietNotes = False,
) -> None:
    """Reads a model and examples, and writes predictions."""
    printer = Printer(json, notes=not quiet)
    if output != STANDARD_OUTPUT:
        check_writable(Path(output), "predictions", reading.inputs(str(model), *files), force)
    estimator = load_model(model, files)
    refuse_tagger(estimator, model, "run")
    names = class_names(estimator)
    if scores and not names:
        kind = type(estimator).__name__
        raise typer.BadParameter(f"{kind} predicts numbers, which have no scores: leave it out", param_hint="--scores")
    if probabilities and scores:
        raise typer.BadParameter("choose one: --scores or --probabilities", param_hint="--probabilities")
    if probabilities and not hasattr(estimator, "predict_proba"):
        raise typer.BadParameter(
            f"{type(estimator).__name__} has scores, not probabilities: use --scores, or train with --loss logistic",
            param_hint="--probabilities",
        )
    reading, kernel = reading.like(estimator), estimator.plan_.kernel
    examples = reading.read(printer, files, labelled=False, kernel=kernel)
    if examples.format == "lines" and "\t" in examples.X[0]:
        printer.warn(f"{examples.source}: there are tabs, but no labels are read: each whole line was taken as a text")
    X = reading.data(printer, examples, kernel)
    value: dict[str, Any] = {"model": str(model), "file": examples.source, "examples": len(examples)}
    with printer.busy("predicting"):
        found = (
            estimator.predict_proba(X)
            if probabilities
            else class_scores(estimator, X)
            if names
            else estimator.predict(X)
        )
    if names:
        labels = [names[k] for k in found.argmax(axis=1)]
        counts, lines = (
            class_counts(labels),
            _lines(labels, names, found if scores or probabilities else None, examples.ids),
        )
        value |= {"classes": names, "predicted": counts}
        all_values: dict[str, Any] = {"labels": labels}
        if scores or probabilities:
            all_values["scores" if scores else "probabilities"] = found.tolist()
    else:
        counts, lines, all_values = {}, _numbers(found, examples.ids), {"numbers": found.tolist()}
    if examples.ids:
        all_values["ids"] = examples.ids
    if output != STANDARD_OUTPUT:
        with open(output, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(lines)
        summary = f": {shares(counts)}" if counts else ""
        printer.note(f"{count(len(examples), 'prediction')} written to {output}{summary}")
        value["output"] = output
    elif json:
        value |= all_values
    else:
        sys.stdout.writelines(lines)
    printer.result(value)


def _lines(labels: list[str], names: list[str], scores: np.ndarray | None, ids: list[str] | None) -> Iterator[str]:
    """One line per example, with a header where there are scores."""
    rows = [[one_line(label)] for label in labels]
    if scores is not None:
        yield "\t".join([*(["id"] if ids else []), "label", *map(one_line, names)]) + "\n"
        rows = [[*row, *(f"{value:.6g}" for value in own)] for row, own in zip(rows, scores, strict=True)]
    yield from _written(rows, ids)


def _numbers(predictions: np.ndarray, ids: list[str] | None) -> Iterator[str]:
    """One line per example, targets separated by tabs."""
    rows = predictions[:, None] if predictions.ndim == 1 else predictions
    return _written([[f"{value:.10g}" for value in row] for row in rows], ids)


def _written(rows: list[list[str]], ids: list[str] | None) -> Iterator[str]:
    first = ([one_line(id)] for id in ids) if ids else ([] for _ in rows)
    return ("\t".join([*id, *row]) + "\n" for id, row in zip(first, rows, strict=True))
