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

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from treille import Tagger
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import load_model
from treille.cli.options import Reading, argument, option
from treille.cli.pages import check_report, commands, names_of
from treille.cli.tag import sentences
from treille.data.base import readable_size
from treille.explain.report import Source, write_report
from treille.explain.tagger_report import write_tagger_report
from treille.io import Examples

Pair = tuple[Any, Any]
NOTHING: Pair = (None, None)


@options.with_options("alphabet", "root_label")
def run(
    model: options.ModelFile,
    files: Annotated[list[str] | None, argument("[FILE]", "Examples to score and to show, as for evaluate.")] = None,
    *,
    reading: options.ReadingOptions,
    train: Annotated[list[str] | None, option("FILE", "The training data; give it again for each file.")] = None,
    output: Annotated[Path, option("PATH", "The page.")] = Path("report.html"),
    force: options.Force = False,
    printer: options.ResultOutput,
) -> None:
    """Reads a model and examples, and writes the page."""
    inputs = [*(files or ()), *(train or ())]
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
    return sentences.read_for(printer, model, paths, None, encoding) if paths else None


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
