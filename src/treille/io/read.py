"""Read examples, with or without labels, from a file of any format this room knows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from . import fasta, jsonl, lines, table
from .errors import InputError
from .fields import LABELS, Fields, choose
from .guess import guess
from .labels import Found, as_labels
from .records import Records
from .source import open_text, source_name

TITLES = {
    "jsonl": jsonl.TITLE,
    "csv": table.TITLES[","],
    "tsv": table.TITLES["\t"],
    "lines": lines.TITLE,
    "fasta": fasta.TITLE,
}
FORMATS = tuple(TITLES)
UNNAMED = {"lines": "label first on its line", "fasta": "label first in its header"}


@dataclass(frozen=True)
class Examples:
    """What a file held: texts, their labels if it has some, and a `note` that says how it was understood.

    >>> Examples(["a vine"], ["plant"], "csv", "vines.csv", "vines.csv: 1 example, CSV").labels
    ['plant']
    """

    texts: list[str]
    labels: list[str] | None
    format: str
    source: str
    note: str

    def __len__(self) -> int:
        return len(self.texts)


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    text: str | None = None,
    label: str | None = None,
    encoding: str = "utf-8",
    labelled: bool | None = None,
) -> Examples:
    """Read the texts and labels of a file; `-` is standard input, gzip is recognised.

    Parameters
    ----------
    format : one of jsonl, csv, tsv, lines, fasta; by default told from the name, else from the content.
    text : the field of the text, or several joined with one blank: `title+body`.
    label : the field of the label; `topics=acq` makes the labels `acq` and `not acq`, where the field equals the
        value or is a list that holds it.
    labelled : True, labels must be there; False, they are not read; None, they are read if there are some. Lines
        with no tab are then taken to have none.

    Raises
    ------
    InputError : names the file, the line, what was found, what was expected and what to do.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vines.csv"
    >>> _ = path.write_text("text,label\\nred and sweet,grape\\nround and red,apple\\n")
    >>> examples = read(path)
    >>> examples.texts, examples.labels
    (['red and sweet', 'round and red'], ['grape', 'apple'])
    """
    source = source_name(path)
    if format is not None and format not in FORMATS:
        raise InputError(f"unknown format {format!r}, expected one of {', '.join(FORMATS)}")
    with open_text(path, encoding) as stream:
        head = _head(stream)
        if not head or not head[-1].strip():
            raise InputError(f"{source}: the file is empty, expected at least one example")
        kind, told = (format, "") if format else guess(source, head[-1], text)
        between = lines.separator(head[-1], labelled if label is None else labelled is not False)
        records = _records(kind, chain(head, stream), source, between)
        fields, texts, found = _collect(records, source, kind, text, label, labelled)
    if fields is None:
        raise InputError(f"{source}: found a header and no example after it, expected at least one")
    labels = None if fields.label is None else as_labels(found, fields.label, fields.value, source)
    return Examples(texts, labels, kind, source, _note(source, kind, told, texts, labels, fields))


def _head(stream: Iterable[str]) -> list[str]:
    head = []
    for line in stream:
        head.append(line)
        if line.strip():
            break
    return head


def _records(kind: str, stream: Iterator[str], source: str, between: str | None) -> Records:
    if kind == "jsonl":
        return jsonl.records(stream, source)
    if kind == "fasta":
        return fasta.records(stream, source)
    if kind == "lines":
        return lines.records(stream, source, between)
    return table.records(stream, source, "," if kind == "csv" else "\t")


def _collect(
    records: Records, source: str, kind: str, text: str | None, label: str | None, labelled: bool | None
) -> tuple[Fields | None, list[str], Found]:
    """The fields chosen on the first record, then the text and what is found for label in every record."""
    fields, texts, found = None, list[str](), Found()
    for number, record in records:
        place = f"{source}, line {number}"
        if fields is None:
            named_in = f"{source}, header line" if kind in ("csv", "tsv") else place
            fields = choose(record, text, label, labelled, named_in)
        texts.append(fields.text(record, place))
        if fields.label is not None:
            found.append((number, fields.get(record, fields.label, place)))
        elif labelled is None and not record.keys().isdisjoint(LABELS):
            raise InputError(f"{place}: has a label, but the first example has none; label every example or none")
    return fields, texts, found


def _note(source: str, kind: str, told: str, texts: list[str], labels: list[str] | None, fields: Fields) -> str:
    empty = texts.count("")
    parts = [f"{source}: {len(texts):,} example{'s' * (len(texts) != 1)}" + (f" ({empty:,} empty)" if empty else "")]
    parts.append(TITLES[kind] + (f" (guessed from its {told})" if told else ""))
    if kind not in UNNAMED:
        parts.append(f"text = {' + '.join(fields.texts)}")
    if labels is None:
        parts.append("no labels")
    else:
        parts.append(UNNAMED[kind] if kind in UNNAMED and fields.label == "label" else f"label = {fields.label}")
    if labels is not None and fields.value is not None:
        parts.append(f"{fields.value} ({labels.count(fields.value):,}) against the rest")
    return ", ".join(parts)
