"""Files of texts: JSON lines, tables, lines, FASTA and FASTQ."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from . import fasta, fastq, jsonl, lines, table
from .errors import InputError
from .examples import Examples, Request, against_the_rest, counted, note
from .fields import LABELS, TEXTS, Fields, choose, listed, split_label
from .labels import Found, labels_of
from .parameters import to_float
from .records import Records

TITLES = {"jsonl": "JSON lines", "csv": "CSV", "tsv": "TSV", "lines": "one text per line"}
TITLES |= {"fasta": "FASTA", "fastq": "FASTQ"}
SUFFIXES: dict[str, tuple[str, ...]] = {
    "jsonl": (".jsonl", ".ndjson", ".json"),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "fasta": (".fasta", ".fa", ".fas", ".fna", ".ffn", ".faa"),
    "fastq": (".fastq", ".fq"),
}
LABEL_FIRST = {"lines": "label first on its line"} | dict.fromkeys(("fasta", "fastq"), "label first in its header")
DELIMITERS = {"csv": ",", "tsv": "\t"}
HEADER_NAMES = {*TEXTS, *LABELS} - {"y"}  # a single letter can be a class as well as a name


def guess_content(line: str, text: str | None) -> str:
    """The format of a file with this first line; `lines` if it is none of the others.

    A first line is the header of a table only if it names the text: any sentence may hold a comma.

    >>> guess_content("text\\tlabel", None), guess_content("Well, then", None)
    ('tsv', 'lines')
    """
    if line.startswith(">"):
        return "fasta"
    if line.lstrip().startswith("{"):
        return "jsonl"
    wanted = {text, *text.split("+")} if text else set(TEXTS)
    for format, delimiter in (("tsv", "\t"), ("csv", ",")):
        names = {cell.strip().strip('"') for cell in line.split(delimiter)}
        if len(names) > 1 and names & wanted:
            return format
    return "lines"


def read(stream: Iterator[str], request: Request) -> Examples:
    """The texts of a file, and their labels."""
    format, labelled = request.format, request.labelled
    head, stream = split_head(stream)
    between = lines.separator(head[-1], labelled if request.label is None else labelled is not False)
    rows = records(format, stream, request.source, between, request.text, request.label)
    fields, names, texts, found = collect(rows, request.source, format, request.text, request.label, labelled)
    if fields is None:
        raise InputError(f"{request.source}: found a header and no example after it, expected at least one")
    labels = labels_of(found, fields, request.source)
    headless = _headless(format, names)
    title = TITLES[format] + request.how + " with no header" * headless
    column = "column " * headless
    understood = [] if format in LABEL_FIRST else [f"text = {column}{' + '.join(fields.texts)}"]
    unnamed = format in LABEL_FIRST and fields.label == "label"
    label = LABEL_FIRST[format] if unnamed else f"label = {column}{fields.label}"
    label += against_the_rest(fields, labels or [])
    understood_as = note(request, title, counted(len(texts), "example", texts.count("")), understood, labels, label)
    return Examples(texts, labels, format, request.source, understood_as, [number for number, _ in found], names)


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


def records(
    format: str, stream: Iterator[str], source: str, between: str | None, text: str | None, label: str | None
) -> Records:
    """The examples of a file as numbered records; `between` separates label and text in a file of lines."""
    modules = {"jsonl": jsonl, "fasta": fasta, "fastq": fastq}
    if format in modules:
        return modules[format].records(stream, source)
    if format == "lines":
        return lines.records(stream, source, between)
    # The number of a column does not make a header: the first row may hold it as a label.
    asked = {*(text or "").split("+"), text, split_label(label or "")[0], label}
    known = HEADER_NAMES | {name.strip() for name in asked if name and not name.strip().isdecimal()}
    return table.records(stream, source, DELIMITERS[format], known)


def collect(
    records: Records,
    source: str,
    format: str,
    text: str | None,
    label: str | None,
    labelled: bool | None,
    get: Callable[[Fields, Mapping[str, object], str], Any] = Fields.text,
) -> tuple[Fields | None, list[str], list[Any], Found]:
    """The fields, chosen on the first record; the names of that record; then for every record its text and its label."""
    fields, names, texts, found = None, list[str](), list[Any](), Found()
    for number, record in records:
        place = f"{source}, line {number}"
        if fields is None:
            names, named_in = list(record), place
            if _headless(format, names):
                text, label = _of_two_columns(record, text, label)
                row = ", ".join(str(cell) for cell in record.values())[:40]
                named_in += f": {row!r} is not recognised as a header, so the columns are called {listed(names)}"
            elif format in DELIMITERS:
                named_in = f"{source}, header line"
            fields = choose(record, text, label, labelled, named_in)
        texts.append(get(fields, record, place))
        found.append((number, None if fields.label is None else fields.get(record, fields.label, place)))
        if fields.label is None and labelled is None and not record.keys().isdisjoint(LABELS):
            raise InputError(f"{place}: has a label, but the first example has none; label every example or none")
    return fields, names, texts, found


def _headless(format: str, names: Sequence[str]) -> bool:
    return format in DELIMITERS and list(names) == table.column_numbers(len(names))


def _of_two_columns(record: Mapping[str, object], text: str | None, label: str | None) -> tuple[str | None, str | None]:
    """The columns for text and label in a table without a header, where they can be recognised.

    A single column is the text. If one of two columns is named, the other has the other role; of a number and a text, the
    number is the label.
    """
    names = list(record)
    numbers = [name for name in names if math.isfinite(to_float(str(record[name])))]
    if len(names) == 1 and text is None:
        return names[0], label
    if len(names) == 2 and text is None and label is None and len(numbers) == 1:
        label = numbers[0]
    if len(names) == 2 and text is None and label is not None:
        text = next((name for name in names if name != split_label(label)[0]), None)
    return text, label
