"""Compute a kernel's matrix, or distances, and write it.

\b
Examples:
  treille gram genes.fa --alphabet dna --kernel 'ngram(6)' --output genes.npy
  treille gram train.csv --kernel 'ngram(4)' --output train.libsvm
  treille gram test.csv --against train.csv --kernel 'ngram(4)' \\
      --output test.libsvm
  treille gram genes.fa --kernel 'ngram(8)' --distance --output genes.phylip

\b
The suffix of --output selects the format:
  .npy      a matrix, for numpy.load; labels go to NAME.labels.txt, ids to NAME.ids.txt
  .libsvm   LIBSVM's precomputed kernel, for svm-train -t 4; classes as numbers
  .phylip   the number of examples, then name and values of each; square

Row i, column j is k(x_i, x_j), with --against k(x_i, y_j), y_j being the examples of the other file. With --distance
it is the distance of the two in the space of the kernel's features, sqrt(k(x, x) + k(y, y) - 2 k(x, y)).
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from treille.cli import options
from treille.cli.matrices import BESIDE, check_output, label_numbers, write_lines, write_names
from treille.cli.options import flag, kernel_option, option
from treille.data.base import readable_size
from treille.io import Examples
from treille.io.atomic_write import atomic_write
from treille.kernels import Kernel
from treille.kernels.parse import format_kernel

SUFFIXES = (".npy", ".libsvm", ".phylip")


@options.with_options()
def run(
    files: options.DataFiles,
    output: Annotated[Path, option("PATH", "Where to write: .npy, .libsvm or .phylip.")],
    against: Annotated[str | None, option("FILE", "Another file, whose examples are the columns.")] = None,
    distance: Annotated[bool, flag("--distance", "Write distances, not similarities.")] = False,
    *,
    reading: options.ReadingOptions,
    kernel: options.KernelText = None,
    jobs: options.Jobs = None,
    force: options.Force = False,
    printer: options.ResultOutput,
) -> None:
    """Reads examples, computes the matrix, writes it."""
    chosen, n_jobs = kernel_option(kernel), jobs or -1
    check_output(output, SUFFIXES, BESIDE, reading.inputs(*files, against), force)
    if against is not None and output.suffix == ".phylip":
        why = ".phylip holds a square matrix: leave --against out, or write .npy"
        raise typer.BadParameter(why, param_hint="--output")
    data = reading.load(printer, files, None, chosen)
    like = replace(reading, alphabet=data.alphabet)
    others = like.load(printer, [against], None, data.kernel) if against is not None else None
    if chosen is None:
        chosen = data.kernel
        printer.note(f"kernel: {format_kernel(chosen)}, {data.why}")
    left = chosen.batch(data.X, n_jobs)
    right = chosen.batch(others.X, n_jobs) if others is not None else None
    with printer.busy(f"computing {len(left):,} x {len(left if right is None else right):,} kernel values"):
        K = chosen(left, right, n_jobs)
        if distance:
            K = _distances(K, chosen, left, right, n_jobs)
    with printer.busy(f"writing {output}"):
        written = _write(output, K, data.examples, others.labels if others is not None else [])
    low, high = float(K.min()), float(K.max())
    value: dict[str, Any] = {
        "file": data.examples.source,
        "against": others and others.examples.source,
        "kernel": format_kernel(chosen),
        "values": "distances" if distance else "similarities",
        "shape": list(K.shape),
        "range": [low, high],
        "written": [str(path) for path in written],
    }
    printer.field("kernel", value["kernel"])
    printer.field("matrix", f"{K.shape[0]:,} x {K.shape[1]:,} {value['values']}, {low:.4g} to {high:.4g}")
    printer.field("written", f"{', '.join(value['written'])}, {readable_size(output.stat().st_size)}")
    printer.result(value)


def _distances(K: np.ndarray, kernel: Kernel, left: Any, right: Any, n_jobs: int) -> np.ndarray:
    """Replaces kernel values by distances, in place: a matrix may fill the memory."""
    if right is None:
        rows = columns = K.diagonal().copy()
    elif kernel.needs_features:  # fitted on the columns, as K is
        features, fitted = kernel.fit_features(right, n_jobs)
        rows, columns = features.transform(left, n_jobs).diag(), fitted.diag()
    else:
        rows, columns = kernel.diag(left, n_jobs), kernel.diag(right, n_jobs)
    K *= -2
    K += rows[:, None]
    K += columns
    np.maximum(K, 0, out=K)  # rounding may leave a distance of zero below it
    np.sqrt(K, out=K)
    return K


def _write(output: Path, K: np.ndarray, examples: Examples, other_labels: list[str]) -> list[Path]:
    """Writes the matrix, and labels and ids of its rows where the format has no place for them; returns the files."""
    if output.suffix == ".npy":
        atomic_write(output, lambda file: np.save(file, K), "matrix")
        return [output, *write_names(output, examples)]
    is_libsvm = output.suffix == ".libsvm"
    write_lines(output, _libsvm(K, examples, other_labels) if is_libsvm else _phylip(K, examples))
    return [output]


def _libsvm(K: np.ndarray, examples: Examples, other_labels: list[str]) -> Iterator[str]:
    """Lines ``label 0:i 1:K(i, 1) 2:K(i, 2) ...``, counted from 1. Classes are numbered over both files, so that they agree."""
    for i, label in enumerate(label_numbers(examples.labels, len(K), other_labels)):
        yield f"{label:.17g} 0:{i + 1} " + " ".join(f"{j}:{value:.17g}" for j, value in enumerate(K[i].tolist(), 1))


def _phylip(K: np.ndarray, examples: Examples) -> Iterator[str]:
    yield f"{len(K):5d}"
    for name, row in zip(_names(examples), K, strict=True):
        yield f"{name:<10}  " + " ".join(f"{value:.10g}" for value in row.tolist())


def _names(examples: Examples) -> list[str]:
    """Ids or labels without blanks, numbered where one occurs twice; plain numbers if the file has neither."""
    if examples.ids is not None:
        return ["_".join(id.split()) for id in examples.ids]
    if examples.labels is None:
        return [str(i) for i in range(1, len(examples) + 1)]
    names = ["_".join(label.split()) for label in examples.labels]
    often = Counter(names)
    return [name if often[name] == 1 else f"{name}_{i}" for i, name in enumerate(names, 1)]
