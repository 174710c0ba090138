"""Try treille in a few seconds, on data that every Python has.

\b
Examples:
  treille quickstart
  treille quickstart --folder vines --report vines.html

The data is the source of the Python standard library: which package does a function come from? Trains a model on
three quarters of the functions, scores it on the rest, shows the most discriminative features of each package, and three
commands to try next. Writes data, model and a report page into a folder.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from json import dumps
from pathlib import Path
from typing import Annotated, Any

from treille import SVC, Trees
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.matrices import write_lines
from treille.cli.models import check_writable, print_features
from treille.cli.options import command, option
from treille.cli.training import fit, part_split
from treille.data.format import count
from treille.datasets import flow_graph, functions
from treille.explain.page import Cell, Content, Origin, Page, Table
from treille.explain.report import report_content
from treille.io.graphs import format_graph
from treille.kernels import EdgeHistogram, Kernel, Subpath
from treille.kernels.parse import format_kernel

FOLDER = Path("treille-quickstart")
HELD_OUT = 0.25
MOST_FEATURES = 8  # of a class
SHOWN = 40  # examples of each kind on the page
INTRODUCTION = (
    "Which package of the Python standard library does a function come from? Each model was trained on three quarters of the "
    "functions and scored on the rest. The gap proves how far, at most, its objective is from the best there is."
)
HEADER = ("kind", "kernel", "examples", "classes", "accuracy", "seconds", "gap")


@dataclass(frozen=True)
class Kind:
    """One representation of the functions, with its kernel."""

    name: str
    convert: Callable[[list[str]], list[Any]]  # their source
    kernel: Kernel | None  # None: the default for the data
    line: Callable[[Any, str], str] = lambda text, label: dumps({"text": text, "label": label})  # of its file


KINDS = (
    Kind("strings", list, None),
    Kind(
        "trees",
        lambda texts: list(map(str, Trees.from_ast(texts, names=True))),
        Subpath(0.5, counts="log").weighted("idf").normalized(),
    ),
    Kind(
        "graphs",
        lambda texts: [flow_graph(text) for text in texts],
        EdgeHistogram(ends=True, counts="log").weighted("idf").normalized(),
        format_graph,
    ),
)


@options.with_options()
def run(
    folder: Annotated[Path, option("PATH", "Where to write.")] = FOLDER,
    report: Annotated[Path | None, option("PATH", "The report page.", default="report.html in the folder")] = None,
    force: options.Force = False,
    *,
    printer: options.Output,
) -> None:
    """Trains one model per kind of data, and prints and writes the results."""
    report = report or folder / "report.html"
    folder.mkdir(parents=True, exist_ok=True)
    check_writable(report, "report", force=force)
    with printer.busy("reading the source of the standard library"):
        texts, labels = functions()
    models, contents, values = zip(*(_try(printer, kind, folder, texts, labels) for kind in KINDS), strict=True)
    rows, commands = list(map(_row, KINDS, values)), _next(folder / KINDS[0].name)
    overview = Table(
        HEADER,
        [[*map(Cell, row[:2]), *(Cell(text, float(text.replace(",", ""))) for text in row[2:])] for row in rows],
        2,
    )
    page = Page("treille quickstart", [replace(each, commands=commands) for each in contents], INTRODUCTION, overview)
    page.write(report)
    printer.table(HEADER, rows, left=2)
    for model in models:
        printer.print()
        print_features(printer, model.top_features(MOST_FEATURES), weights=False)
    printer.print()
    printer.field("written", f"data, model and a report page, {report}: open it in a browser")
    printer.print("try next:", style="bold")
    for line in commands:
        printer.print(f"  {line}", wrap=False)
    printer.result({"kinds": list(values), "folder": str(folder), "report": str(report), "next": commands})


def _row(kind: Kind, values: dict[str, Any]) -> list[str]:
    what = [kind.name, "default" if kind.kernel is None else format_kernel(kind.kernel)]
    sizes = [f"{values['examples']:,}", f"{len(values['classes']):,}", f"{values['accuracy']:.3f}"]
    return [*what, *sizes, f"{values['seconds']:.2f}", f"{values['relative_gap']:.1e}"]


def _try(
    printer: Printer, kind: Kind, folder: Path, texts: list[str], labels: list[str]
) -> tuple[SVC, Content, dict[str, Any]]:
    """Trains on a part, scores on the rest; writes data and model to the folder. Returns also the content of a report, and what
    is printed as JSON."""
    with printer.busy(f"reading the functions as {kind.name}"):
        examples = kind.convert(texts)
    n = count(len(examples), "function")
    printer.note(f"{n} of the Python standard library as {kind.name}, the package as label")
    ((train, test),) = part_split(labels, HELD_OUT, seed=0)
    for name, rows in (("train", train), ("test", test)):
        write_lines(folder / f"{kind.name}.{name}.jsonl", (kind.line(examples[i], labels[i]) for i in rows))
    model = SVC(kind.kernel, n_jobs=-1, verbose=1)
    begun = time.perf_counter()
    fit(model, [examples[i] for i in train], [labels[i] for i in train])
    spent = time.perf_counter() - begun
    model.save(folder / f"{kind.name}.treille")
    shown, trained = (([examples[i] for i in rows], [labels[i] for i in rows]) for rows in (test, train))
    values = {
        "kind": kind.name,
        "kernel": format_kernel(model.plan_.kernel),
        "examples": len(examples),
        "classes": model.classes_.tolist(),
        "accuracy": float(model.score(*shown)),
        "seconds": spent,
        "relative_gap": model.report_.relative_gap,
        "status": model.report_.status,
    }
    source = Origin(f"functions as {kind.name}", "a quarter held out", name=kind.name, most=SHOWN)
    with printer.busy("writing the report"):
        return model, report_content(model, *shown, trained, source), values


def _next(stem: Path) -> list[str]:
    """Three commands that work as printed."""
    data, test, model = (stem.with_name(f"{stem.name}{end}") for end in (".train.jsonl", ".test.jsonl", ".treille"))
    kernel = "ngram(2, min_n=1, unit=word).weighted(idf).normalized()"
    return [
        command("evaluate", model, test),
        command("predict", model, test, "--scores") + " | head -5",
        command("train", data, "--kernel", kernel, "--cv", 5, "--model", stem.with_name("words.treille")),
    ]
