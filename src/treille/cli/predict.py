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

import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from json import dumps
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import check_writable, load_model
from treille.cli.options import Reading, flag, option
from treille.data.format import class_counts, count, one_line, shares
from treille.explain.tasks import Task
from treille.io import Examples
from treille.io.atomic_write import STANDARD_OUTPUT, atomic_file, saving
from treille.kernels import Kernel


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


class Chunk(NamedTuple):
    """Some examples, the data that kernels take, and what was predicted for each."""

    examples: Examples
    X: Any
    found: np.ndarray


def predicted(
    printer: Printer,
    chunks: Iterable[Examples],
    reading: Reading,
    kernel: Kernel,
    predict: Callable[[Any], np.ndarray],
    file: str,
) -> Iterator[Chunk]:
    """Predicts one chunk of examples after the other; a line on a terminal says how many there were, and how fast."""
    n, begun, rest = 0, time.perf_counter(), iter(chunks)
    while True:
        speed = n / max(time.perf_counter() - begun, 1e-9)
        so_far = f", {count(n, 'example')} so far, {speed:,.0f} a second" if n else ""
        with printer.busy(f"reading {file}{so_far}"):
            examples = next(rest, None)
        if examples is None:
            return
        if n == 0:
            printer.note(examples.note)
        X = reading.data(Printer(quiet=True) if n else printer, examples, kernel)
        with printer.busy(f"predicting{so_far}"):
            found = predict(X)
        n += len(examples)
        yield Chunk(examples, X, found)


def table_line(cells: Iterable[str | float], digits: int = 6) -> str:
    """A line of a table: texts and numbers, separated by tabs.

    >>> table_line(["a\\tb", 0.25])
    'a\\\\tb\\t0.25\\n'
    """
    return "\t".join(one_line(cell) if isinstance(cell, str) else f"{cell:.{digits}g}" for cell in cells) + "\n"


@contextmanager
def written(path: str | os.PathLike[str] | None, what: str) -> Iterator[Callable[[Iterable[str]], None]]:
    """A function that writes lines as they come: to standard output if there is no path, otherwise to a file.

    The file is there when all lines are, and an older one is replaced then. What is not a file, such as a pipe or /dev/null, is
    written directly.
    """
    if path is None:

        def write_out(lines: Iterable[str]) -> None:
            sys.stdout.write("".join(lines))
            sys.stdout.flush()

        yield write_out
        return
    direct = os.path.exists(path) and not os.path.isfile(path)
    target = path if direct else os.path.realpath(path)
    with open(target, "wb") if direct else atomic_file(target, what) as file:

        def write(lines: Iterable[str]) -> None:
            data = "".join(lines).encode()
            with saving(target, what):
                file.write(data)

        yield write
