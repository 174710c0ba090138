"""Functions for the commands that write matrices."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import typer

from treille.cli.models import check_writable
from treille.data.format import one_line
from treille.io import Examples
from treille.io.atomic_write import atomic_write
from treille.io.parameters import to_float

BESIDE = (".labels.txt", ".ids.txt")  # of the rows of a matrix


def check_output(output: Path, suffixes: Iterable[str], beside: Iterable[str], inputs: list[str], force: bool) -> None:
    """Checks before any work whether a matrix can be written, in the format of the suffix, with other files `beside` it."""
    if output.suffix not in suffixes:
        raise typer.BadParameter(f"{output} ends with none of {', '.join(suffixes)}", param_hint="--output")
    for path in (output, *(output.with_suffix(suffix) for suffix in beside)):
        check_writable(path, "matrix", inputs, force)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Writes a file of these lines, as a whole or not at all."""
    atomic_write(path, lambda file: file.writelines(f"{line}\n".encode() for line in lines), "matrix")


def write_names(output: Path, examples: Examples) -> list[Path]:
    """Writes the labels and the ids of the rows next to a matrix, if there are some; returns the files."""
    named = [(output.with_suffix(suffix), n) for suffix, n in zip(BESIDE, (examples.labels, examples.ids), strict=True)]
    for path, names in named:
        if names is not None:
            write_lines(path, map(one_line, names))
    return [path for path, names in named if names is not None]


def label_numbers(labels: list[str] | None, n: int, others: list[str]) -> np.ndarray:
    """Labels as numbers, for formats that need them: numbers as they are, other classes numbered from 1; 0 without labels.

    Classes are counted over these labels and `others`.

    >>> label_numbers(["-1", "0.5"], 2, []).tolist(), label_numbers(["spam", "spam"], 2, ["ham"]).tolist()
    ([-1.0, 0.5], [2.0, 2.0])
    """
    if labels is None:
        return np.zeros(n)
    everyone = [*labels, *others]
    numbers = np.array([to_float(label) for label in everyone])
    if not np.isfinite(numbers).all():
        numbers = np.unique(everyone, return_inverse=True)[1] + 1.0
    return numbers[: len(labels)]
