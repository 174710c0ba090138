"""Files of texts: JSON lines, tables, lines, FASTA and FASTQ."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from . import brackets, fasta, jsonl, table
from .blocks import Limits, runs, split_head
from .errors import InputError
from .examples import Examples, Request, block_ids
from .fields import (
    IDS,
    LABELS,
    TEXTS,
    Fields,
    Found,
    Record,
    Records,
    choose,
    first_of,
    label_text,
    listed,
    split_label,
)
from .packed import PackedColumns
from .parameters import to_float
from .trees import looks_like_tree

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
Get = Callable[[Fields, Mapping[str, object], str], Any]  # (fields, record, place): the text of a record
ARRAY = re.compile(r"\[\s*(\{|$)")


@dataclass
class Collected:
    """The texts, labels and ids of the records of a file, and the fields that hold them."""

    fields: Fields | None = None
    id_field: str = ""
    names: list[str] = field(default_factory=list)  # of the fields of the first record
    texts: list[Any] = field(default_factory=list)
    found: Found = field(default_factory=list)
    ids: list[object] = field(default_factory=list)
    # Decisions of `examples_of` on earlier records:
    has_ids: bool | None = None
    has_trees: bool | None = None
    is_labelled: bool | None = None

    def choose(self, first: Record, request: Request) -> None:
        """Chooses the fields among the fields of one record."""
        (number, record), text = first, request.text
        label = request.label_among(record)
        self.names, place = list(record), f"{request.source}, line {number}"
        if _headless(request.format, self.names):
            text, label = _of_two_columns(record, text, label)
            row = ", ".join(str(cell) for cell in record.values())[:40]
            place += f": {row!r} is not recognised as a header, so the columns are called {listed(self.names)}"
        elif request.format in DELIMITERS:
            place = f"{request.source}, header line"
        self.fields = choose(record, text, label, request.labelled, place, request.columns)
        self.id_field = next(iter(first_of(IDS, record)), "")


def guess_content(line: str, text: str | None) -> str:
    """The format of a file with this first line; `lines` if it is none of the others.

    A first line is the header of a table only if it names the text: any sentence may hold a comma.

    >>> guess_content("text\\tlabel", None), guess_content("Well, then", None)
    ('tsv', 'lines')
    """
    if line.startswith(">"):
        return "fasta"
    if line.lstrip().startswith("{") or ARRAY.match(line.strip()):
        return "jsonl"
    wanted = {name.lower() for name in ({text, *text.split("+")} if text else TEXTS)}
    for format, delimiter in (("tsv", "\t"), ("csv", ","), ("csv", ";")):
        names = {cell.strip().strip('"').lower() for cell in line.split(delimiter)}
        if len(names) > 1 and names & wanted:
            return format
    return "lines"


def blocks(stream: Iterator[str], request: Request, limits: Limits | None) -> Iterator[Examples]:
    """The texts of a file, and their labels.

    In a file of lines, a tab separates label and text if the first line has one, otherwise a blank if labels are required.
    """
    head, stream = split_head(stream)
    labelled = request.labelled if request.label is None else request.labelled is not False
    between = None if labelled is False else "\t" if "\t" in head[-1] else " " if labelled else None
    label_place = "label = first word of its line" if request.format == "lines" and between == " " else ""
    return blocks_of(records(stream, request, between), request, limits, label_place)


def blocks_of(
    rows: Records, request: Request, limits: Limits | None, label_place: str = "", title: str = ""
) -> Iterator[Examples]:
    """The examples of records; see `examples_of`."""
    missing = f"{request.source}: found a header and no example after it, expected at least one"
    for found in collected(rows, request, limits, missing):
        yield examples_of(found, request, label_place, title)


def collected(
    rows: Records, request: Request, limits: Limits | None, missing: str, get: Get = Fields.text
) -> Iterator[Collected]:
    """The texts, labels and ids of a file in blocks; `get` takes the text from a record. The first block decides the fields.

    `missing` is the message for a file without records.
    If examples without a label are left out and labels are required, blocks before the first label are passed over.
    """
    found, passed = None, None
    required = request.skip_unlabelled and request.labelled and limits is not None
    for some in runs(rows, limits, _size, missing):
        if found is None and required:
            some = list(some)
            if not any(_has_label(record, request.label_among(record)) for _, record in some):
                passed = passed or some
                continue
        found = collect(iter(some), request, get, found)
        yield found
    if found is None and passed:
        yield collect(iter(passed), request, get)


def _size(record: Record) -> int:
    return sum(len(value) for value in record[1].values() if isinstance(value, (str, list)))


def examples_of(records: Collected, request: Request, label_place: str = "", title: str = "") -> Examples:
    """The examples of records; `label_place` says where labels are, if not as usual in the format.

    Decides, unless that was done on earlier records, whether these have ids, and whether their texts are trees.
    """
    format, fields = request.format, records.fields
    assert fields is not None
    ids = block_ids(records.ids, records.has_ids, request.repeated_ids)
    unnamed = format in LABEL_FIRST and fields.label == "label"
    if records.has_ids is None:
        of_header = unnamed and format != "lines" and request.labelled is None and request.label is None
        records.has_ids = ids is not None
        records.is_labelled = not (of_header and len(ids or ()) > 2)  # headers that all differ name the sequences
    headless = _headless(format, records.names)
    title = (title or TITLES[format]) + request.how + " with no header" * headless
    column = "column " * headless
    X, read_as = _read_as(records, request)
    facts = [] if format in LABEL_FIRST else [f"text = {column}{' + '.join(fields.texts)}{read_as}"]
    label = (label_place or LABEL_FIRST[format]) if unnamed else f"label = {column}{fields.label}"
    fields = fields if records.is_labelled else replace(fields, label=None)
    return request.examples(X, records.found, fields, title, facts, label, records.names, ids)


def _read_as(records: Collected, request: Request) -> tuple[Any, str]:
    """Columns, texts, or trees if every text is one; and the words for it in the note."""
    texts, found = records.texts, records.found
    if request.columns:
        columns = map(list, zip(*texts, strict=True))
        return PackedColumns(dict(zip(request.columns, columns, strict=True))), ", one column each"
    if records.has_trees is None:
        may_be = request.format not in LABEL_FIRST and request.brackets is not False and looks_like_tree(texts[0])
        records.has_trees = may_be and all(text.lstrip().startswith("(") for text in texts)
    if not records.has_trees:
        return texts, ""
    place = f"{request.source}, the tree on line {{}}"
    return brackets.parse(texts, place=lambda i: place.format(found[i][0])), ", read as trees"


def records(stream: Iterator[str], request: Request, between: str | None) -> Records:
    """The examples of a file as numbered records; `between` separates label and text in a file of lines."""
    readers = {"jsonl": jsonl.records, "fasta": fasta.records, "fastq": fasta.fastq_records}
    if request.format in readers:
        return readers[request.format](stream, request.source)
    if request.format == "lines":
        return _lines(stream, request.source, between)
    text, label = request.text or "", request.label or ""
    # The number of a column does not make a header: the first row may hold it as a label.
    asked = {*text.split("+"), text, split_label(label)[0], label, *request.columns}
    known = HEADER_NAMES | {name.strip() for name in asked if name and not name.strip().isdecimal()}
    head, stream = split_head(stream)
    delimiter = table.delimiter_of("".join(head[-1:]), DELIMITERS[request.format], known)
    return table.records(stream, request.source, delimiter, known)


def _lines(lines: Iterable[str], source: str, between: str | None) -> Records:
    """One text per line. Blank lines are skipped; without labels, they are empty texts."""
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


def collect(records: Records, request: Request, get: Get = Fields.text, like: Collected | None = None) -> Collected:
    """The text, label and id of every record; `get` takes the text from a record.

    The fields are chosen on the first record, or taken from earlier records `like` these.
    """
    found = Collected() if like is None else replace(like, texts=[], found=[], ids=[])
    skip = request.skip_unlabelled
    get = Fields.values if request.columns else get
    if skip and found.fields is None:  # the first record may be one without a label
        held = list(records)
        records = iter(held)
        for first in [one for one in held if _has_label(one[1], request.label_among(one[1]))][:1]:
            found.choose(first, request)
    for number, record in records:
        if found.fields is None:
            found.choose((number, record), request)
        fields, place = found.fields, f"{request.source}, line {number}"
        assert fields is not None
        label: object = None
        if fields.label is not None:
            label = record.get(fields.label) if skip else fields.get(record, fields.label, place)
        elif request.labelled is None and first_of(LABELS, record):
            raise InputError(f"{place}: has a label, but the first example has none; label every example or none")
        found.texts.append(get(fields, record, place))
        found.found.append((number, label))
        found.ids.append(record.get(found.id_field))
    return found


def _has_label(record: Mapping[str, object], label: str | None) -> bool:
    name = first_of([split_label(label)[0].lower()] if label else LABELS, record)
    return bool(name) and (label_text(record[name[0]]) is not None or isinstance(record[name[0]], list))


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
