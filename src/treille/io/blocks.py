"""Blocks: the records of a file some at a time, so that a file of any size takes little memory.

What holds for a whole file (fields, the meaning of numbers, whether there are ids) is decided on its first block. That one has
at least 10,000 records or 4 million characters, however small the others may be.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TypeVar

from .errors import InputError

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """The size of a block: at most this many records, and about this many characters."""

    examples: int = 10_000
    characters: int = 1 << 22

    def of_first(self) -> "Limits":
        """The size of the first block."""
        return Limits(max(self.examples, FIRST.examples), max(self.characters, FIRST.characters))

    def reached(self, examples: int, characters: int) -> bool:
        """Returns whether a block of this size is full."""
        return examples >= self.examples or characters >= self.characters


FIRST = Limits()


def runs(
    items: Iterable[T], limits: Limits | None, size: Callable[[T], int], missing: str = ""
) -> Iterator[Iterable[T]]:
    """The items in blocks, the first of which is larger; without limits all in one, read as they are asked for.

    `size` counts characters. An error in an item is raised after the items before it were given, so that these can be used.
    Without an item, `missing` is the message of an `InputError`.

    >>> list(runs("abc", Limits(2), len)), list(runs("", None, len))
    ([['a', 'b', 'c']], [])
    """
    rest = iter(items)
    first = next(rest, None)
    if first is None:
        if missing:
            raise InputError(missing)
        return
    rest = chain([first], rest)
    if limits is None:
        yield rest
        return
    limit, error = limits.of_first(), None
    while error is None:
        run, characters = list[T](), 0
        try:
            for item in rest:
                run.append(item)
                characters += size(item)
                if limit.reached(len(run), characters):
                    break
        except InputError as found:
            error = found
        if run:
            yield run
        if error is not None:
            raise error
        if not run:
            return
        limit = limits


def whole_lines(stream: Iterable[str]) -> Iterator[str]:
    """Joins the lines of a file that end with CR alone, so that all lines end with LF.

    >>> list(whole_lines(["a\\r", "b\\n", "c"]))
    ['a\\rb\\n', 'c']
    """
    held = ""
    for part in stream:
        if part[-1:] == "\n":
            yield held + part if held else part
            held = ""
        else:
            held += part
    if held:
        yield held


def next_lines(lines: Iterator[str], size: int) -> str:
    """The next lines, of at least this size together if there are as many."""
    parts, n = list[str](), 0
    while n < size and (part := next(lines, None)) is not None:
        parts.append(part)
        n += len(part)
    return "".join(parts)


def split_head(stream: Iterable[str]) -> tuple[list[str], Iterator[str]]:
    """The lines up to the first that is not blank, and all lines.

    >>> split_head(["\\n", "vine\\n", "wine\\n"])[0]
    ['\\n', 'vine\\n']
    """
    head, rest = list[str](), iter(stream)
    for line in rest:
        head.append(line)
        if line.strip():
            break
    return head, chain(head, rest)
