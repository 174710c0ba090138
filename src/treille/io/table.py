"""CSV and TSV, quoted as in RFC 4180. Blank lines are skipped.

The first row is a header if it holds a known name; else there is no header, and the columns are called 1, 2, 3 and so on.
"""

import csv
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from .errors import InputError
from .fields import Records, listed

TITLES = {",": "CSV", ";": "CSV", "\t": "TSV", "|": "CSV"}
NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
LONGEST_FIELD = 2**31 - 1


def records(lines: Iterable[str], source: str, delimiter: str, known: Collection[str]) -> Records:
    """The rows of a table, as numbered records. A row is numbered by its first line: a quoted field may span several.

    >>> list(records(['text,label\\r\\n', '"a, b",yes\\r\\n'], "vines.csv", ",", {"text"}))
    [(2, {'text': 'a, b', 'label': 'yes'})]
    >>> list(records(["ACGT\\t0.5\\n"], "scores.tsv", "\\t", {"text"}))
    [(1, {'1': 'ACGT', '2': '0.5'})]
    """
    rows = _rows(lines, source, delimiter)
    number, first = next(rows, (1, []))
    names = [name.strip() for name in first]
    headed = not {name.lower() for name in known}.isdisjoint(name.lower() for name in names)
    if not headed:
        names, rows = column_numbers(len(first)), chain([(number, first)] if first else [], rows)
    twice = min((name for name, n in Counter(names).items() if n > 1), default=None)
    if twice is not None:
        raise InputError(f"{source}, line {number}: the header names {twice!r} twice; rename one of the columns")
    for number, row in rows:
        if len(row) != len(names):
            model = f"the header ({listed(names)})" if headed else "the first row"
            raise InputError(
                f"{source}, line {number}: found {len(row)} column{'s' * (len(row) != 1)}, expected {len(names)} as in"
                f" {model}; a field that holds a {NAMES[delimiter]} must be quoted"
            )
        yield number, dict(zip(names, row, strict=True))


def delimiter_of(line: str, usual: str, known: Collection[str]) -> str:
    """The delimiter of a table with this first line: one that sets a known name apart, otherwise the usual one; for CSV
    a semicolon or a tab if the line has no comma.

    >>> delimiter_of("Text;Label", ",", {"text"}), delimiter_of("Well, then;good", ",", {"text"}), delimiter_of("a;1", ",", {})
    (';', ',', ';')
    """
    wanted = {name.lower() for name in known}
    others = [usual, *(other for other in NAMES if other != usual)]
    for delimiter in others:
        cells = {cell.strip().strip('"').lower() for cell in line.split(delimiter)}
        if len(cells) > 1 and cells & wanted:
            return delimiter
    return next((other for other in (",", ";", "\t") if usual == "," and other in line), usual)


def column_numbers(n: int) -> list[str]:
    """The names of the columns of a table without a header."""
    return [str(i) for i in range(1, n + 1)]


def _rows(lines: Iterable[str], source: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    rows = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        number = rows.line_num + 1
        try:
            row = _next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(
                f"{source}, line {number}: not valid {TITLES[delimiter]}: {error}; a field that begins with a quote"
                " must end with one, and a quote inside it is written twice"
            ) from None
        if row:
            yield number, row


def _next(rows: Iterator[list[str]]) -> list[str]:
    """One row, with fields of any length: the csv module's limit of 128 KiB is global, and raised only for this call."""
    before = csv.field_size_limit(LONGEST_FIELD)
    try:
        return next(rows)
    finally:
        csv.field_size_limit(before)
