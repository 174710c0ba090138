"""One text per line, with its label before the first tab or blank, or with no label."""

from collections.abc import Iterable

from .errors import InputError
from .fields import Records


def separator(line: str, labelled: bool | None) -> str | None:
    """The separator of label and text in a file with this first line: a tab if the line has one, otherwise a blank.

    None, for no labels, if `labelled` is False, or if it is None and the line has no tab: the first word may be a label or not.

    >>> separator("spam\\tbuy now", None), separator("spam buy now", True), separator("buy now", None)
    ('\\t', ' ', None)
    """
    if labelled is False:
        return None
    return "\t" if "\t" in line else " " if labelled else None


def records(lines: Iterable[str], source: str, between: str | None) -> Records:
    """The lines of a file as numbered records. Blank lines are skipped; without labels, they are empty texts."""
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r\n")
        if between is None:
            yield number, {"text": line}
        elif line.strip():
            parts = line.split(None if between == " " else between, 1)
            if len(parts) < 2:
                what = "a tab" if between == "\t" else "a blank"
                raise InputError(f"{source}, line {number}: found {line[:40]!r}, expected a label, {what} and a text")
            yield number, {"label": parts[0], "text": parts[1]}
