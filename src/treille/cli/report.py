"""Write a page on a model: scores, painted examples, features, and how it was trained.

\b
Examples:
  treille report reviews.treille reviews.test.csv --train reviews.csv
  treille report sites.treille peaks.fa --output peaks.html
  treille report chunks.treille test.txt --train train.txt
  treille report acq.treille

The page is one HTML file that needs no network. FILE has examples that the model has not seen, with labels as for
evaluate; without labels there are no scores. --train names the training data, for baselines: the majority class, and
for texts TF-IDF with LinearSVC. Without FILE the page is of the training data, clearly marked; without --train, too,
of the model alone. A model of 'treille tag train' reads tagged sentences.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import clone

from treille import InputError, Tagger
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import check_writable, load_model
from treille.cli.options import Reading, command
from treille.cli.tag import sentences
from treille.cli.training import HeldOut, Splits, fit
from treille.data.base import readable_size
from treille.explain.outputs import some_of
from treille.explain.report import Source, write_report
from treille.explain.tagger_report import write_tagger_report
from treille.io import Examples

Pair = tuple[Any, Any]
NOTHING: Pair = (None, None)


@options.reading_options("alphabet", "root_label")
def run(
    model: options.ModelFile,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILE]", help="Examples to score and to show, as for evaluate.")
    ] = None,
    *,
    reading: Reading,
    train: Annotated[
        list[str] | None,
        typer.Option("--train", metavar="FILE", help="The training data; give it again for each file."),
    ] = None,
    output: Annotated[Path, typer.Option("--output", metavar="PATH", help="The page.")] = Path("report.html"),
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.QuietNotes = False,
) -> None:
    """Reads a model and examples, and writes the page."""
    printer, inputs = Printer(json, notes=not quiet), [*(files or ()), *(train or ())]
    check_report(output, reading.inputs(str(model), *inputs), force)
    estimator = load_model(model, inputs)
    source = Source(model=str(model), commands=commands(estimator, model))
    if isinstance(estimator, Tagger):
        own, trained = (_sentences(printer, estimator, paths, reading.encoding) for paths in (files, train))
        source = replace(source, data=sentences.source(files or train or []))
        with printer.busy("writing the report"):
            write_tagger_report(estimator, *(own or NOTHING), path=output, train=trained, source=source)
    else:
        reading = reading.like(estimator)
        shown, own = _examples(printer, estimator, reading, files)
        other, trained = _examples(printer, estimator, reading, train)
        shown = shown or other
        if shown is not None:
            source = replace(source, data=shown.source, names=names_of(shown))
        source = replace(source, warnings=printer.warnings)
        with printer.busy("writing the report"):
            write_report(estimator, *(own or NOTHING), path=output, train=trained, source=source)
    printer.field("written", f"{output}, {readable_size(output.stat().st_size)}: open it in a browser")
    printer.result({"model": str(model), "report": str(output), "bytes": output.stat().st_size})


def _sentences(printer: Printer, model: Tagger, paths: list[str] | None, encoding: str) -> Pair | None:
    if not paths:
        return None
    format = sentences.Format.crfsuite if sentences.reads_features(model) else sentences.Format.conll
    X, y = sentences.read_tagged(printer, paths, format, None, encoding)
    if format is sentences.Format.conll:
        sentences.check_columns(model, X, f"{sentences.source(paths)} without the tags")
    return X, y


def _examples(
    printer: Printer, model: Any, reading: Reading, paths: list[str] | None
) -> tuple[Examples | None, Pair | None]:
    if not paths:
        return None, None
    kernel = model.plan_.kernel
    examples = reading.read(printer, paths, None, kernel)
    X = reading.data(printer, examples, kernel)
    numbers = not hasattr(model, "decision_function") and examples.labels is not None
    return examples, (X, examples.targets() if numbers else examples.labels)


def names_of(examples: Examples) -> list[str]:
    """What the examples are called on the page: their ids, otherwise their lines, otherwise their numbers from 1."""
    if examples.ids:
        return examples.ids
    return [f"line {line}" for line in examples.lines] or [f"example {i}" for i in range(1, len(examples) + 1)]


def commands(model: Any, path: Path | None) -> list[str]:
    """What to do next with a model file."""
    if path is None:
        return []
    if isinstance(model, Tagger):
        return [command("tag", "run", path, "FILE"), command("tag", "evaluate", path, "FILE"), command("inspect", path)]
    verbs = [command(verb, path, "FILE") for verb in ("predict", "evaluate", "explain")]
    return [*verbs, command("serve", path), command("inspect", path)]


def check_report(path: Path, inputs: Sequence[str] = (), force: bool = False) -> None:
    """Checks before any work whether a page can be written to this path; it replaces no other file than a page of treille."""
    check_writable(path, "report", inputs, force)
    if path.is_file() and not force and b'name="generator" content="treille' not in path.read_bytes()[:1000]:
        raise InputError(
            f"{path}: exists and is no report of treille: choose another name, or give --force to overwrite it"
        )


def write_training_report(
    path: Path,
    printer: Printer,
    machine: Any,
    model: Path | None,
    data: tuple[Examples, Any],
    scored: HeldOut | None,
    splits: Splits | None,
    tested: tuple[Examples, Any] | None,
) -> None:
    """The report of `treille train`: of the test file, of the examples held out, of the first fold, or of the training data.

    For examples held out and folds, it is the report of a model trained on the others.
    """
    (examples, X), labels = data, np.array(data[0].labels)
    source = Source(
        examples.source, names=names_of(examples), warnings=printer.warnings, commands=commands(machine, model)
    )
    if tested is not None:
        own = replace(source, data=tested[0].source, names=names_of(tested[0]))
        write_report(machine, tested[1], tested[0].labels, path, (X, labels), own)
        return
    if splits is None or scored is None:
        write_report(machine, None, None, path, (X, labels), source)
        return
    splits = list(splits)
    rest, rows = (np.asarray(part) for part in splits[0])
    how = "held out: the figures are of a model trained on the others"
    if len(splits) > 1:
        how = f"the first of {len(splits)} folds, of a model trained on the others; over all folds: {scored}"
    trained = (some_of(X, rest), labels[rest])
    fitted = scored.fitted or fit(clone(machine), *trained)
    own = replace(source, how=how, names=[source.names[i] for i in rows] if source.names else None)
    write_report(fitted, some_of(X, rows), labels[rows], path, trained, own)
