"""Write a page on a model: scores, highlighted examples, features, and how it was trained.

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

from pathlib import Path
from typing import Annotated, Any

from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import check_writable, load_model
from treille.cli.options import Reading, argument, option
from treille.cli.tag import sentences
from treille.data.base import readable_size
from treille.explain.examples import names_of
from treille.explain.page import Origin
from treille.explain.report import write_report


@options.with_options("alphabet", "root_label")
def run(
    model: options.ModelFile,
    files: Annotated[list[str] | None, argument("[FILE]", "Examples to score and to show, as for evaluate.")] = None,
    *,
    reading: options.ReadingOptions,
    train: Annotated[list[str] | None, option("FILE", "The training data; several files.")] = None,
    positive: options.Positive = None,
    output: Annotated[Path, option("PATH", "The page.")] = Path("report.html"),
    force: options.Force = False,
    printer: options.ResultOutput,
) -> None:
    """Reads a model and examples, and writes the page."""
    inputs = [*(files or ()), *(train or ())]
    check_writable(output, "report", reading.inputs(str(model), *inputs), force)
    estimator = load_model(model, inputs)
    positive = options.positive_option(estimator.task().names, positive)
    shown, trained = (_read(printer, estimator, reading, paths) if paths else None for paths in (files, train))
    *_, data, names = shown or trained or ("", None)
    X, y = shown[:2] if shown else (None, None)
    with printer.busy("writing the report"):
        source = Origin(data, names=names, model=str(model), warnings=printer.warnings, positive=positive)
        write_report(estimator, X, y, output, trained and trained[:2], source)
    printer.field("written", f"{output}, {readable_size(output.stat().st_size)}: open it in a browser")
    printer.result({"model": str(model), "report": str(output), "bytes": output.stat().st_size})


def _read(printer: Printer, model: Any, reading: Reading, paths: list[str]) -> tuple[Any, Any, str, list[str] | None]:
    """Examples and what is known about them, the name of the files, and the names of the examples."""
    if model.task().per_token:
        encoding = reading.encoding_of_sentences()
        return *sentences.read_for(printer, model, paths, None, encoding), sentences.source(paths), None
    reading, kernel = reading.like(model), model.plan_.kernel
    examples = reading.read(printer, paths, None, kernel)
    X = reading.data(printer, examples, kernel)
    numbers = not model.task().names and examples.labels is not None
    return X, examples.targets() if numbers else examples.labels, examples.source, names_of(examples)
