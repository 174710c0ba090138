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
for outliers. Labels in FILE are not read, and FILE is read as the model's training data were. Files of any size take
little memory: they are read and predicted in chunks.
"""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import check_writable, class_names, load_model, refuse_tagger
from treille.cli.options import flag, option
from treille.cli.predicting import predicted, written
from treille.data.format import class_counts, count, one_line, shares
from treille.explain.outputs import class_scores
from treille.io import Examples

STANDARD_OUTPUT = "-"


@options.with_options("label", "labels", "root_label", "skip_unlabelled", "alphabet")
def run(
    model: options.ModelFile,
    files: options.DataFiles,
    reading: options.ReadingOptions,
    output: Annotated[str, option("PATH", "Where to write; - is standard output.")] = STANDARD_OUTPUT,
    scores: Annotated[bool, flag("--scores", "Also write the score of every class.")] = False,
    probabilities: Annotated[bool, flag("--probabilities", "Also write the probability of every class.")] = False,
    force: options.Force = False,
    *,
    printer: options.ResultOutput,
) -> None:
    """Reads a model and examples, and writes predictions."""
    if output != STANDARD_OUTPUT:
        check_writable(Path(output), "predictions", reading.inputs(str(model), *files), force)
    estimator = load_model(model, files)
    refuse_tagger(estimator, model, "run")
    names = class_names(estimator)
    _check_options(estimator, names, scores, probabilities)
    reading, kernel = reading.like(estimator), estimator.plan_.kernel
    predict = (
        estimator.predict_proba if probabilities else partial(class_scores, estimator) if names else estimator.predict
    )
    chunks = predicted(printer, reading.chunks(files, False, kernel, ids=True), reading, kernel, predict, files[0])
    table = names if scores or probabilities else []
    kept = _Kept(names, "scores" if scores else "probabilities" if probabilities else "")
    counts, n, source = Counter[str](), 0, ""
    path = None if output == STANDARD_OUTPUT else output
    with written(path, "predictions") as write:
        for chunk in chunks:
            examples, found = chunk.examples, chunk.found
            if n == 0:
                _warn_of_tabs(printer, examples)
                source = examples.input or examples.source
                header = _header(table, examples.ids)
            labels = [names[k] for k in found.argmax(axis=1)] if names else []
            counts.update(labels)
            if printer.json and path is None:
                kept.add(examples, found)
            else:
                numbers = found.reshape(len(found), -1)[:, : None if table or not names else 0]
                lines = _lines(examples.ids, labels, numbers, 6 if names else 10)
                write(lines if n else chain(header, lines))
            n += len(examples)
    value: dict[str, Any] = {"model": str(model), "file": source, "examples": n}
    if names:
        value |= {"classes": names, "predicted": class_counts(counts)}
    if path is not None:
        summary = f": {shares(class_counts(counts))}" if counts else ""
        printer.note(f"{count(n, 'prediction')} written to {output}{summary}")
        value["output"] = output
    if printer.json and path is None:
        sys.stdout.writelines(kept.json(value))
    else:
        printer.result(value)


def _check_options(estimator: Any, names: list[str], scores: bool, probabilities: bool) -> None:
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


def _warn_of_tabs(printer: Printer, examples: Examples) -> None:
    if examples.format == "lines" and "\t" in examples.X[0]:
        printer.warn(f"{examples.source}: there are tabs, but no labels are read: each whole line was taken as a text")


class _Kept:
    """Predictions that are printed at the end, as one JSON object: numbers of classes, and scores, take little memory."""

    def __init__(self, names: list[str], scores: str):
        self.names, self.scores = names, scores
        self.found, self.ids = list[np.ndarray](), list[list[str]]()

    def add(self, examples: Examples, found: np.ndarray) -> None:
        """Keeps what was predicted."""
        self.found.append(found if self.scores or not self.names else found.argmax(axis=1).astype(np.int32))
        self.ids += [examples.ids] if examples.ids else []

    def json(self, value: dict[str, Any]) -> Iterator[str]:
        """The object with these members and the predictions, as text in pieces."""
        lists = dict[str, Iterable[list[Any]]]()
        if self.names:
            codes = (found.argmax(axis=1) if self.scores else found for found in self.found)
            lists["labels"] = ([self.names[k] for k in some] for some in codes)
        if self.scores or not self.names:
            lists[self.scores or "numbers"] = (found.tolist() for found in self.found)
        if self.ids:
            lists["ids"] = self.ids
        yield dumps(value)[:-1]
        for name, parts in lists.items():
            yield f", {dumps(name)}: ["
            for i, part in enumerate(parts):
                yield (", " if i else "") + dumps(part)[1:-1]
            yield "]"
        yield "}\n"


def _header(table: list[str], ids: list[str] | None) -> list[str]:
    """The header of a table of scores."""
    return ["\t".join([*(["id"] if ids else []), "label", *map(one_line, table)]) + "\n"] if table else []


def _lines(ids: list[str] | None, labels: list[str], numbers: np.ndarray, digits: int) -> Iterator[str]:
    """One line per example: the id, the label and the numbers that it has, separated by tabs."""
    for i, row in enumerate(numbers.tolist()):
        words = [*([ids[i]] if ids else []), *([labels[i]] if labels else [])]
        yield "\t".join([*map(one_line, words), *(f"{value:.{digits}g}" for value in row)]) + "\n"
