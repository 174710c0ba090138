"""Predict the label, or the number, of every example in a file, one per line.

\b
Examples:
  treille predict reviews.treille new.csv
  treille predict acq.treille news.jsonl.gz --text title+body --output labels.txt
  treille predict spam.treille mail.txt --scores --output scores.tsv
  echo "Buy now and win a prize" | treille predict spam.treille -

If the examples have ids (FASTA headers, a field called id, utterances, files of a folder), each line begins with the
id and a tab. With --scores, a table with a header: the label, then the score of each class; the highest wins. With
--probabilities the same of probabilities, for a model trained with --loss logistic. --output PATH writes CSV or
Parquet, with a header, if PATH ends so. A model of numbers (SVR, Ridge) writes a number per line, or a row of them for
several targets; OneClassSVM writes 1 for inliers and -1 for outliers. Labels in FILE are not read, and FILE is read as
the model's training data were. Files of any size take little memory: they are read and predicted in chunks.
"""

import csv
import io
import os
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import chain
from json import dumps
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from treille import InputError
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
        check_table(Path(output))
        check_writable(Path(output), "predictions", reading.inputs(str(model), *files), force)
    estimator = load_model(model, files, "predict")
    task = estimator.task()
    names = task.names
    _check_options(task, scores, probabilities)
    reading, kernel = reading.like(estimator), estimator.plan_.kernel
    predict = estimator.predict_proba if probabilities else task.scores if names else estimator.predict
    chunks = predicted(
        printer, reading.chunks(files, False, kernel, ids=True, repeated_ids=True), reading, kernel, predict, files[0]
    )
    table = names if scores or probabilities else []
    wanted = "scores" if scores else "probabilities" if probabilities else "" if names else "numbers"
    counts, n, source, lists = Counter[str](), 0, "", defaultdict[str, list[str]](list)
    path = None if output == STANDARD_OUTPUT else output
    with written(path, "predictions", 6 if names else 10) as predictions:
        for chunk in chunks:
            examples, found = chunk.examples, chunk.found
            if n == 0:
                source = examples.input or examples.source
                if examples.format == "lines" and "\t" in examples.X[0]:
                    no_labels = "there are tabs, but no labels are read: each whole line was taken as a text"
                    printer.warn(f"{examples.source}: {no_labels}")
            labels = [names[k] for k in found.argmax(axis=1)] if names else []
            counts.update(labels)
            if printer.json and path is None:
                members = {"labels": labels, wanted: found.tolist() if wanted else [], "ids": examples.ids}
                for name, items in members.items():
                    if items:
                        lists[name].append(dumps(items)[1:-1])
            else:
                numbers = found.reshape(len(found), -1)[:, : None if table or not names else 0]
                columns = {"id": examples.ids, "label": labels}
                given = {title: column for title, column in columns.items() if column}
                values = [*given.values(), *numbers.T.tolist()]
                more = len(values) - len(given)
                titles = table or (["value"] if more == 1 else [f"value {k}" for k in range(1, more + 1)])
                predictions.add([*given, *titles], values, bool(table))
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


class Table:
    """Writes columns, some rows at a time: separated by tabs, or in the format of a file's suffix, .csv or .parquet.

    Texts and CSV have numbers with `digits` digits. CSV begins with the names of the columns, other text if rows are `titled`.
    """

    def __init__(self, path: str | os.PathLike[str], file: Any, digits: int):
        self.suffix, self.file, self.digits = Path(path).suffix.lower(), file, digits
        self.parquet: Any = None
        self.begun = False

    def add(self, names: Sequence[str], columns: Sequence[Sequence[Any]], titled: bool = True) -> None:
        """Writes some rows."""
        if self.suffix == ".parquet":
            self._add_to_parquet(names, columns)
            return
        rows: Iterable[Sequence[Any]] = zip(*columns, strict=True)
        if not self.begun and (titled or self.suffix == ".csv"):
            rows = chain([names], rows)
        self.begun = True
        if self.suffix == ".csv":
            text = io.StringIO()
            each = ([v if isinstance(v, str) else f"{v:.{self.digits}g}" for v in row] for row in rows)
            csv.writer(text, lineterminator="\n").writerows(each)
            self.file.write(text.getvalue().encode("utf-8", "backslashreplace"))
        else:
            lines = "".join(table_line(row, self.digits) for row in rows)
            self.file.write(lines.encode("utf-8", "backslashreplace"))

    def _add_to_parquet(self, names: Sequence[str], columns: Sequence[Sequence[Any]]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        valid = [
            [v.encode("utf-8", "backslashreplace").decode() if isinstance(v, str) else v for v in c] for c in columns
        ]
        rows = pa.table(dict(zip(names, valid, strict=True)))
        self.parquet = self.parquet or parquet.ParquetWriter(self.file, rows.schema)
        self.parquet.write_table(rows)

    def end(self) -> None:
        """Completes the file."""
        if self.parquet is not None:
            self.parquet.close()


def check_table(path: Path | None) -> None:
    """Refuses a table in a format that is not written, before any work."""
    suffix = "" if path is None else path.suffix.lower()
    if suffix in (".xlsx", ".xls", ".ods", ".arrow", ".feather", ".json", ".jsonl"):
        raise InputError(f"{path}: tables are not written as {suffix}: use .csv, .parquet, or .tsv")
    if suffix == ".parquet" and find_spec("pyarrow") is None:
        raise InputError(
            f"{path}: Parquet is written with pyarrow, which is not installed: pip install 'treille[formats]'"
        )


@contextmanager
def written(path: str | os.PathLike[str] | None, what: str, digits: int = 6) -> Iterator[Table]:
    """A table that is written as its rows come: to standard output if there is no path, otherwise to a file.

    The file is there when all rows are, and an older one is replaced then. What is not a file, such as a pipe or /dev/null, is
    written directly.
    """
    if path is None:
        yield Table("", _StandardOutput(), digits)
        return
    direct = os.path.exists(path) and not os.path.isfile(path)
    target = path if direct else os.path.realpath(path)
    with open(target, "wb") if direct else atomic_file(target, what) as file:
        table = Table(path, _Saving(file, target, what), digits)
        yield table
        table.end()


class _StandardOutput:
    """Standard output, as bytes of UTF-8 that are shown at once."""

    def write(self, data: bytes) -> None:
        sys.stdout.write(data.decode())
        sys.stdout.flush()


class _Saving:
    """A file whose errors say what could not be saved. pyarrow asks it whether it is closed, and flushes it."""

    closed = False

    def __init__(self, file: Any, target: str | os.PathLike[str], what: str):
        self.file, self.target, self.what = file, target, what

    def write(self, data: Any) -> int:
        with saving(self.target, self.what):
            return int(self.file.write(data))

    def flush(self) -> None:
        """Nothing to do: the file is flushed when it is complete."""
