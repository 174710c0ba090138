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

from treille import Tagger
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import (
    class_names,
    describe_report,
    load_model,
    looks_like_model,
    n_features,
    print_features,
    settings,
    top_features,
)
from treille.cli.options import Reading, argument, option
from treille.cli.tag.description import inspect_tagger
from treille.data.base import kind_of, readable_size
from treille.data.format import class_counts, clipped, listed, shares, visible_label
from treille.kernels.parse import format_kernel

SAMPLES = 3


@options.with_options("alphabet")
def run(
    files: Annotated[list[str], argument("FILE", "A model, or data; - is data on standard input.")],
    reading: options.ReadingOptions,
    top: Annotated[int, option("N", "For a model: features of each class.", min=0)] = 10,
    *,
    printer: options.ResultOutput,
) -> None:
    """Describes a model or data, whichever FILE is."""
    if looks_like_model(files[0]) and len(files) == 1:
        _inspect_model(printer, Path(files[0]), top)
    else:
        _inspect_data(printer, reading, files)


def _inspect_model(printer: Printer, path: Path, top: int) -> None:
    model = load_model(path)
    if isinstance(model, Tagger):
        inspect_tagger(printer, model, path)
        return
    names, kernel, report = class_names(model), format_kernel(model.plan_.kernel), model.report_
    estimator, size, read_as = type(model).__name__, path.stat().st_size, model.reading_
    features = top_features(model, top)
    printer.print(f"{path}: a model of treille ({estimator}), {readable_size(size)}", style="bold")
    printer.field("kernel", kernel)
    if read_as:
        printer.field("reads", ", ".join(f"{name}: {value}" for name, value in read_as.items()))
    if names:
        printer.field("classes", listed([visible_label(name) for name in names], 20))
    kept, of_what = model.functions_.sizes().split(" ", 1)
    printer.field(of_what.split()[0], f"{kept} with weight")
    chosen = ", ".join(f"{name}={value}" for name, value in settings(model).items() if value is not None)
    printer.field("training", f"{describe_report(report, model.tol)}, seed {report.seed}")
    printer.field("settings", chosen)
    if top and features:
        printer.print()
        title = (
            "most discriminative features of each class"
            if len(features) == len(names)
            else "largest weights of features"
        )
        joined = top_features(model, top, merge=True)
        print_features(
            printer, joined, weights=True, title=title + (", overlapping ones joined" * (joined != features))
        )
    printer.result(
        {
            "kind": "model",
            "file": str(path),
            "bytes": size,
            "estimator": estimator,
            "kernel": kernel,
            "alphabet": read_as.get("alphabet"),
            "reading": read_as,
            "classes": names,
            "features": n_features(model),
            "parameters": settings(model),
            "report": report.as_dict(),
            "telling": {name: [{"feature": f, "weight": w} for f, w in each] for name, each in features.items()},
        }
    )


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
