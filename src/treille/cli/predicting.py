"""Predicting the examples of files of any size: some are read and predicted at a time."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from treille.cli.console import Printer
from treille.cli.options import Reading
from treille.data.format import count, one_line
from treille.io import Examples
from treille.io.atomic_write import atomic_file, saving
from treille.kernels import Kernel


@dataclass(frozen=True)
class Chunk:
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


@contextmanager
def written(path: str | os.PathLike[str] | None, what: str) -> Iterator[Callable[[Iterable[str]], None]]:
    """A function that writes lines as they come: to standard output if there is no path, otherwise to a file.

    The file is there when all lines are, and an older one is replaced then. What is not a file, such as a pipe or /dev/null, is
    written directly.
    """
    if path is None:

        def write_out(lines: Iterable[str]) -> None:
            sys.stdout.write("".join(lines))
            sys.stdout.flush()

        yield write_out
        return
    direct = os.path.exists(path) and not os.path.isfile(path)
    target = path if direct else os.path.realpath(path)
    with open(target, "wb") if direct else atomic_file(target, what) as file:

        def write(lines: Iterable[str]) -> None:
            data = "".join(lines).encode()
            with saving(target, what):
                file.write(data)

        yield write
