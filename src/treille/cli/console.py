"""Output of the commands: results on standard output, notes and progress on standard error, JSON for programs."""

import json
import sys
import textwrap
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from treille.solvers.progress import stage

PIPE_WIDTH = 120
NAME_WIDTH = 10


def _console(stderr: bool = False) -> Console:
    return Console(stderr=stderr, markup=False, highlight=False, emoji=False)


def _write(console: Console, text: str, style: str, wrap: bool) -> None:
    """Wraps words on a terminal only; text to be pasted, or read by a program, is never wrapped."""
    console.print(Text(text, style=style), soft_wrap=not (wrap and console.is_terminal))


@dataclass(frozen=True)
class Printer:
    """Prints the output of a command: with `json` one object on standard output and nothing else there; with `quiet` no notes.

    >>> Printer().print("converged")
    converged
    >>> Printer(json=True).print("converged")
    >>> Printer(json=True).result({"status": "converged"})
    {"status": "converged"}
    """

    json: bool = False
    quiet: bool = False
    notes: bool = True  # False: results, warnings and errors only
    warnings: list[str] = field(default_factory=list)  # all that were printed

    def note(self, text: str) -> None:
        """Prints information on standard error."""
        if self.notes and not self.quiet:
            _write(_console(stderr=True), text, "dim", wrap=True)

    def warn(self, text: str) -> None:
        """Prints a warning on standard error, also when quiet."""
        self.warnings.append(text)
        _write(_console(stderr=True), f"treille: warning: {text}", "", wrap=True)

    def print(self, text: str = "", *, style: str = "", wrap: bool = True) -> None:
        """Prints a part of the result, for people."""
        if not (self.json or self.quiet):
            _write(_console(), text, style, wrap)

    def result(self, value: dict[str, Any]) -> None:
        """Prints the whole result as JSON, in ASCII, which every pipe can carry."""
        if self.json:
            sys.stdout.write(json.dumps(value) + "\n")

    def field(self, name: str, text: str) -> None:
        """Prints a named part of the result; on a terminal, long text is wrapped within its column."""
        wide = textwrap.wrap(text, max(self.width - NAME_WIDTH, 20)) if _console().is_terminal else [text]
        for head, line in zip([f"{name}:"] + [""] * len(wide), wide, strict=False):
            self.print(f"{head.ljust(NAME_WIDTH - 1)} {line}", wrap=False)

    def table(self, header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> None:
        """Prints rows under a header; the first `left` columns are left-aligned, the others right-aligned."""
        first, *others = aligned([header, *rows], left)
        self.print(first, style="bold", wrap=False)
        for line in others:
            self.print(line, wrap=False)

    def fill(self, label: str, cells: Sequence[str], margin: int) -> None:
        """Prints a label in a margin and cells beside it, on as many lines as needed."""
        lines = [""]
        for cell in cells:
            if lines[-1] and margin + cell_len(lines[-1]) + 2 + cell_len(cell) > self.width:
                lines.append("")
            lines[-1] += ("  " if lines[-1] else "") + cell
        for name, line in zip([label] + [""] * len(lines), lines, strict=False):
            self.print(name + " " * (margin - cell_len(name)) + line, wrap=False)

    @property
    def width(self) -> int:
        """Cells in a line."""
        console = _console()
        return console.width if console.is_terminal else PIPE_WIDTH

    def busy(self, doing: str) -> AbstractContextManager[Any]:
        """Shows a status line on a terminal during long work."""
        return stage(doing, verbose=int(self.notes and not self.quiet))


def fail(message: str) -> None:
    """Prints the error that ends a command."""
    _write(_console(stderr=True), f"treille: error: {message}", "", wrap=True)


def aligned(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Lines with their cells in columns."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]

    def padded(i: int, cell: str) -> str:
        blanks = " " * (widths[i] - cell_len(cell))
        return cell + blanks if i < left else blanks + cell

    return ["  ".join(map(padded, range(len(row)), row)).rstrip() for row in rows]
