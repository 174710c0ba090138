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
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from treille.cli import options
from treille.cli.models import check_writable, load_model
from treille.cli.options import flag, option
from treille.cli.predicting import predicted, table_line, written
from treille.data.format import class_counts, count, shares
from treille.explain.tasks import Task

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
    estimator = load_model(model, files, "predict")
    task = estimator.task()
    names = task.names
    _check_options(task, scores, probabilities)
    reading, kernel = reading.like(estimator), estimator.plan_.kernel
    predict = estimator.predict_proba if probabilities else task.scores if names else estimator.predict
    chunks = predicted(printer, reading.chunks(files, False, kernel, ids=True), reading, kernel, predict, files[0])
    table = names if scores or probabilities else []
    wanted = "scores" if scores else "probabilities" if probabilities else "" if names else "numbers"
    counts, n, source, lists = Counter[str](), 0, "", defaultdict[str, list[str]](list)
    path = None if output == STANDARD_OUTPUT else output
    with written(path, "predictions") as write:
        for chunk in chunks:
            examples, found = chunk.examples, chunk.found
            if n == 0:
                source = examples.input or examples.source
                if examples.format == "lines" and "\t" in examples.X[0]:
                    no_labels = "there are tabs, but no labels are read: each whole line was taken as a text"
                    printer.warn(f"{examples.source}: {no_labels}")
                header = [table_line([*(["id"] if examples.ids else []), "label", *table])] if table else []
            labels = [names[k] for k in found.argmax(axis=1)] if names else []
            counts.update(labels)
            if printer.json and path is None:
                members = {"labels": labels, wanted: found.tolist() if wanted else [], "ids": examples.ids}
                for name, items in members.items():
                    if items:
                        lists[name].append(dumps(items)[1:-1])
            else:
                numbers = found.reshape(len(found), -1)[:, : None if table or not names else 0]
                columns = [*filter(None, (examples.ids, labels)), *numbers.T.tolist()]
                lines = (table_line(cells, 6 if names else 10) for cells in zip(*columns, strict=True))
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
        sys.stdout.writelines(_object(value, lists))
    else:
        printer.result(value)


def _check_options(task: Task, scores: bool, probabilities: bool) -> None:
    kind = type(task.model).__name__
    if scores and not task.names:
        raise typer.BadParameter(f"{kind} predicts numbers, which have no scores: leave it out", param_hint="--scores")
    if probabilities and scores:
        raise typer.BadParameter("choose one: --scores or --probabilities", param_hint="--probabilities")
    if probabilities and "probabilities" not in task.fields:
        raise typer.BadParameter(
            f"{kind} has scores, not probabilities: use --scores, or train with --loss logistic",
            param_hint="--probabilities",
        )


def _object(value: dict[str, Any], lists: dict[str, list[str]]) -> Iterator[str]:
    """A JSON object in pieces: the members of `value`, then lists, whose items are text already."""
    yield dumps(value)[:-1]
    for name, pieces in lists.items():
        yield f", {dumps(name)}: ["
        for i, piece in enumerate(pieces):
            yield (", " if i else "") + piece
        yield "]"
    yield "}\n"
