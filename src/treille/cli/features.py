"""Count a kernel's features in a file, and write the matrix.

\b
Examples:
  treille features genes.fasta --kernel 'ngram(6)'
  treille features reviews.csv --kernel 'ngram(1, unit=word)' --top 50
  treille features news.jsonl.gz --text title+body --output news.npz
  treille features mail.csv --kernel 'ngram(4)' --output mail.svmlight

\b
The suffix of --output selects the format:
  .npz        a sparse matrix, for scipy.sparse.load_npz
  .svmlight   SVM-light text, features counted from 1, classes as numbers
  .tsv        example, feature, value: one line per nonzero value

NAME.features.tsv gets the names of the columns, NAME.labels.txt and NAME.ids.txt the labels and the ids of the rows, if
FILE has some.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from treille import Features, InputError
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.matrices import BESIDE, check_output, label_numbers, write_lines, write_names
from treille.cli.options import kernel_option, option
from treille.data.format import count, legend, one_line, visible
from treille.io import Examples
from treille.kernels.parse import format_kernel

SUFFIXES = (".npz", ".svmlight", ".tsv")


@options.with_options()
def run(
    files: options.DataFiles,
    reading: options.ReadingOptions,
    kernel: options.KernelText = None,
    output: Annotated[Path | None, option("PATH", "Write the matrix: .npz, .svmlight or .tsv.")] = None,
    top: Annotated[int, option("N", "How many of the most frequent to show.", min=0)] = 20,
    jobs: options.Jobs = None,
    force: options.Force = False,
    *,
    printer: options.ResultOutput,
) -> None:
    """Reads examples, extracts features, writes them all and shows the most frequent."""
    chosen = kernel_option(kernel)
    if output is not None:
        check_output(output, SUFFIXES, (".features.tsv", *BESIDE), reading.inputs(*files), force)
    data = reading.load(printer, files, None, chosen, features=True)
    examples, features = data.examples, Features(data.kernel, jobs or -1)
    if chosen is None:
        printer.note(f"kernel: {format_kernel(data.kernel)}, {data.why}")
    with printer.busy("extracting features"):
        matrix = features.fit_transform(data.X, examples.labels)
        if matrix.shape[1] == 0:
            raise InputError(
                f"{examples.source}: no example has a feature of {format_kernel(data.kernel)}: they may be too short for it"
            )
        written = _write(output, features, matrix, examples) if output is not None else []
    value = {
        "file": examples.source,
        "kernel": format_kernel(data.kernel),
        "examples": len(examples),
        "features": matrix.shape[1],
        "entries": matrix.nnz,
        "frequent": _most_frequent(features, matrix, top),
        "written": [str(path) for path in written],
    }
    _print(printer, value)
    printer.result(value)


def _most_frequent(features: Features, matrix: sp.csr_matrix, top: int) -> list[dict[str, Any]]:
    """The features that occur in most examples; ties are broken by their totals."""
    n = matrix.shape[1]
    examples = np.bincount(matrix.indices, minlength=n)
    totals = np.bincount(matrix.indices, weights=matrix.data, minlength=n)
    order = np.lexsort((-totals, -examples))[:top].tolist()
    return [{"feature": features.inverse(i), "examples": int(examples[i]), "total": float(totals[i])} for i in order]


def _print(printer: Printer, value: dict[str, Any]) -> None:
    cells = value["examples"] * value["features"]
    printer.field("kernel", value["kernel"])
    printer.field("features", f"{value['features']:,} in {count(value['examples'], 'example')}")
    printer.field("entries", f"{value['entries']:,} are not zero, {value['entries'] / cells:.2%} of the matrix")
    if value["frequent"]:
        printer.print()
        printer.print(f"in most examples{legend(row['feature'] for row in value['frequent'])}", style="bold")
        digits = 0 if all(row["total"].is_integer() for row in value["frequent"]) else 2
        rows = [(visible(r["feature"]), f"{r['examples']:,}", f"{r['total']:,.{digits}f}") for r in value["frequent"]]
        printer.table(["feature", "examples", "total"], rows)
    if value["written"]:
        printer.print()
        printer.field("written", ", ".join(value["written"]))


def _write(output: Path, features: Features, matrix: sp.csr_matrix, examples: Examples) -> list[Path]:
    """Writes the matrix, the names of its columns, and labels and ids of its rows; returns the files."""
    names = [one_line(features.inverse(i)) for i in range(matrix.shape[1])]
    if output.suffix == ".npz":
        sp.save_npz(output, matrix)
    elif output.suffix == ".svmlight":
        dump_svmlight_file(matrix, label_numbers(examples.labels, matrix.shape[0], []), str(output), zero_based=False)
    else:
        write_lines(output, _triples(matrix, names))
    written = [output, output.with_suffix(".features.tsv")]
    write_lines(written[1], (f"{i}\t{name}" for i, name in enumerate(names, output.suffix == ".svmlight")))
    return written + write_names(output, examples)


def _triples(matrix: sp.csr_matrix, names: list[str]) -> Iterator[str]:
    yield "example\tfeature\tvalue"
    entries = matrix.tocoo()
    for i, id, value in zip(entries.row, entries.col, entries.data, strict=True):
        yield f"{i}\t{names[id]}\t{value:.17g}"
