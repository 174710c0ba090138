"""Predict the label, or the number, of every example in a file, one per line.

\b
Examples:
  treille predict reviews.treille new.csv
  treille predict acq.treille news.jsonl.gz --text title+body --output labels.txt
  treille predict spam.treille mail.txt --scores --output scores.tsv
  echo "Buy now and win a prize" | treille predict spam.treille -

With --scores, a table with a header: the label, then the score of each class; the highest wins. A model of numbers
(SVR, Ridge) writes a number per line, or a row of them for several targets; OneClassSVM writes 1 for inliers and -1
for outliers. Labels in FILE are not read: give its --text only.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import check_writable, class_names, class_scores, load_model, model_alphabet
from treille.cli.options import Reading
from treille.data.format import class_counts, count, one_line, shares

STANDARD_OUTPUT = "-"


@options.reading_options("label", "alphabet")
def run(
    model: options.ModelFile,
    file: options.DataFile,
    reading: Reading,
    output: Annotated[
        str, typer.Option("--output", metavar="PATH", help="Where to write; - is standard output.")
    ] = "-",
    scores: Annotated[bool, typer.Option("--scores", help="Also write the score of every class.")] = False,
    json: options.Json = False,
) -> None:
    """Reads a model and examples, and writes predictions."""
    printer = Printer(json)
    if output != STANDARD_OUTPUT:
        check_writable(Path(output), "predictions")
    estimator = load_model(model, file)
    names = class_names(estimator)
    if scores and not names:
        kind = type(estimator).__name__
        raise typer.BadParameter(f"{kind} predicts numbers, which have no scores: leave it out", param_hint="--scores")
    reading = replace(reading, alphabet=model_alphabet(model))
    examples = reading.read(printer, file, labelled=False)
    if examples.format == "lines" and "\t" in examples.X[0]:
        printer.warn(f"{examples.source}: there are tabs, but no labels are read: each whole line was taken as a text")
    X = reading.data(printer, examples)
    value: dict[str, Any] = {"model": str(model), "file": examples.source, "examples": len(examples)}
    with printer.busy("predicting"):
        found = class_scores(estimator, X) if names else estimator.predict(X)
    if names:
        labels = [names[k] for k in found.argmax(axis=1)]
        counts, lines = class_counts(labels), _lines(labels, names, found if scores else None)
        value |= {"classes": names, "predicted": counts}
        all_values: dict[str, Any] = {"labels": labels} | ({"scores": found.tolist()} if scores else {})
    else:
        counts, lines, all_values = {}, _numbers(found), {"numbers": found.tolist()}
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


def _lines(labels: list[str], names: list[str], scores: np.ndarray | None) -> Iterator[str]:
    if scores is None:
        yield from (one_line(label) + "\n" for label in labels)
        return
    yield "\t".join(["label", *map(one_line, names)]) + "\n"
    for label, row in zip(labels, scores, strict=True):
        yield "\t".join([one_line(label), *(f"{value:.6g}" for value in row)]) + "\n"


def _numbers(predictions: np.ndarray) -> Iterator[str]:
    """One line per example, targets separated by tabs."""
    rows = predictions[:, None] if predictions.ndim == 1 else predictions
    return ("\t".join(f"{value:.10g}" for value in row) + "\n" for row in rows)
