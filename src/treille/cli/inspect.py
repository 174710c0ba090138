"""Describe a model, or a data file before training on it.

\b
Examples:
  treille inspect reviews.treille
  treille inspect acq.treille --top 25 --json
  treille inspect news.jsonl.gz --text title+body --label topics=acq
  head -100 mail.txt | treille inspect -

For a model: kernel, classes, size, how training ended and the features with the largest weights, for each class,
n-grams that overlap joined (--json: one by one); for a tagger: kernel, tags, templates, sizes, how training ended.
For a data file: how it was understood, its fields and classes, sizes and first examples; for lattices and other
machines: states, arcs, paths, words, empty arcs, cycles and totals.
"""

from pathlib import Path
from typing import Annotated, Any

from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import load_model, looks_like_model, print_features, settings, top_features
from treille.cli.options import Reading, argument, option
from treille.data.base import kind_of, readable_size
from treille.data.format import class_counts, clipped, shares, visible_label
from treille.explain.report import describe_report
from treille.io.model import read_spec
from treille.kernels.parse import format_kernel

SAMPLES = 3


@options.with_options("alphabet")
def run(
    files: Annotated[list[str], argument("FILE", "A model, or data; - is data on standard input.")],
    reading: options.ReadingOptions,
    top: Annotated[int, option("N", "For a model: features of each class.", min=0)] = 10,
    *,
    given: options.GivenOptions,
    printer: options.ResultOutput,
) -> None:
    """Describes a model or data, whichever FILE is."""
    if looks_like_model(files[0]) and len(files) == 1:
        given.refuse([f"--{name.replace('_', '-')}" for name in vars(reading)], "is for data, and FILE is a model")
        _inspect_model(printer, Path(files[0]), top)
    else:
        given.refuse(["--top"], "is for models, and FILE holds data")
        _inspect_data(printer, reading, files)


def _inspect_model(printer: Printer, path: Path, top: int) -> None:
    model = load_model(path)
    task, kernel, report = model.task(), format_kernel(model.plan_.kernel), model.report_
    estimator, size, (fields, values) = type(model).__name__, path.stat().st_size, task.facts()
    printer.print(f"{path}: a model of treille ({estimator}), {readable_size(size)}", style="bold")
    for name, text in ({"kernel": kernel} | fields).items():
        if text:
            printer.field(name, text)
    chosen = ", ".join(f"{name}={value}" for name, value in settings(model).items() if value is not None)
    printer.field("training", f"{describe_report(report, model.tol, task.pairs)}, seed {report.seed}")
    printer.field("settings", chosen)
    spec = read_spec(path)
    written = f"by treille {spec['treille']}, " if "treille" in spec else ""  # format 1 does not say
    reads = " or ".join(kind.title for kind in model.reads_.kinds)
    split = f" split by {', '.join(map(str, model.reads_.units))}" if model.reads_.units else ""
    printer.field("written", f"{written}format {spec['format']}; reads {reads or 'any examples'}{split}")
    features = top_features(model, top)
    if top and features:
        printer.print()
        title = "most discriminative features of each class" if task.any_class else "largest weights of features"
        joined = top_features(model, top, merge=True)
        title += ", overlapping ones joined" * (joined != features)
        print_features(printer, joined, weights=True, title=title)
    value = {"kind": "model", "file": str(path), "bytes": size, "estimator": estimator, "kernel": kernel} | values
    value |= {"parameters": settings(model), "report": report.as_dict()}
    value |= {"format": spec["format"], "treille": spec.get("treille"), "reads": model.reads_.spec()}
    telling = {name: [{"feature": f, "weight": w} for f, w in each] for name, each in features.items()}
    printer.result(value | {"telling": telling})


def _inspect_data(printer: Printer, reading: Reading, paths: list[str]) -> None:
    examples = reading.read(printer, paths, None, None)
    counts = class_counts(examples.labels or [])
    if examples.fields and examples.format != "lines":
        printer.field("fields", ", ".join(examples.fields))
    printer.field("classes", shares(counts) if counts else "no labels; name a field with --label")
    value: dict[str, Any] = {"kind": "data", "file": examples.source, "format": examples.format}
    value |= {"fields": list(examples.fields), "examples": len(examples), "classes": counts}
    summary = kind_of(examples.X).summarise(examples.X, SAMPLES, printer.width)
    for name, text in summary.fields.items():
        printer.field(name, text)
    printer.print("first examples:", style="bold")
    for i, shown in enumerate(summary.samples):
        label = f"{visible_label(examples.labels[i])}  " if examples.labels else ""
        printer.print(clipped(f"  {label}{shown}", printer.width), wrap=False)
    printer.result(value | summary.values)
