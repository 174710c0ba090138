"""Read examples, with or without labels, from a file of any format this room knows."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from . import fasta, fastq, jsonl, lines, svmlight, table, trees
from .errors import InputError
from .fields import LABELS, TEXTS, Fields, choose
from .guess import guess
from .labels import Found, as_labels
from .records import NumberRows, Records
from .source import open_text, source_name
from .tree_parts import TreeParts

TITLES = {
    "jsonl": jsonl.TITLE,
    "csv": table.TITLES[","],
    "tsv": table.TITLES["\t"],
    "lines": lines.TITLE,
    "fasta": fasta.TITLE,
    "fastq": fastq.TITLE,
    "svmlight": svmlight.TITLE,
    **trees.TITLES,
}
FORMATS = tuple(TITLES)
UNNAMED = {
    "lines": "label first on its line",
    "fasta": "label first in its header",
    "fastq": "label first in its header",
    "svmlight": "label first on its line",
    **trees.UNNAMED,
}
DELIMITERS = {"csv": ",", "tsv": "\t"}
HEADER_NAMES = {*TEXTS, *LABELS} - {"y"}  # one letter is as well a class as a name


@dataclass(frozen=True)
class Examples:
    """What a file held: texts, rows of numbers or trees, labels if it has some, and a `note` that says how it was understood.

    >>> examples = Examples(["a vine"], ["0.5"], "csv", "vines.csv", "vines.csv: 1 example, CSV")
    >>> examples.X, examples.labels, examples.targets()
    (['a vine'], ['0.5'], [0.5])
    """

    texts: list[str]
    labels: list[str] | None
    format: str
    source: str
    note: str
    lines: Sequence[int] = ()  # on which each example begins
    fields: Sequence[str] = ()  # of the first example
    numbers: NumberRows | None = None
    trees: TreeParts | None = None

    def __len__(self) -> int:
        return len(self.X)

    @property
    def X(self) -> list[str] | NumberRows | TreeParts:
        """What kernels and estimators read: the texts, or the rows of numbers or trees where the file holds those."""
        if self.trees is not None:
            return self.trees
        return self.texts if self.numbers is None else self.numbers

    def targets(self) -> list[float]:
        """The labels as numbers, for regression."""
        if self.labels is None:
            raise InputError(f"{self.source}: there are no labels, expected a number for every example")
        return [self._number(label, i) for i, label in enumerate(self.labels)]

    def _number(self, label: str, i: int) -> float:
        try:
            number = float(label)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            place = f"{self.source}, line {self.lines[i]}" if self.lines else f"{self.source}, example {i}"
            raise InputError(f"{place}: the label is {label[:40]!r}, expected a finite number")
        return number


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    text: str | None = None,
    label: str | None = None,
    encoding: str = "utf-8",
    labelled: bool | None = None,
) -> Examples:
    """Read the texts and labels of a file; `-` is standard input, gzip is recognised. A folder holds XML documents.

    Parameters
    ----------
    format : one of jsonl, csv, tsv, lines, fasta, fastq, svmlight, trees, conllu, newick, xml; by default told from the
        name, else from the content.
    text : the field of the text, or several joined with one blank: `title+body`. The columns of a table with no header
        are called 1, 2, 3 and so on.
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
    if format in (None, "xml") and os.path.isdir(path):
        return _of_trees("xml", "content", trees.read_folder(path), source, label, labelled)
    with open_text(path, encoding) as stream:
        head = _head(stream)
        if not head or not head[-1].strip():
            raise InputError(f"{source}: the file is empty, expected at least one example")
        kind, told = (format, "") if format else guess(source, head[-1], text)
        whole = chain(head, stream)
        if kind in trees.TITLES:
            return _of_trees(kind, told, trees.read_trees(kind, whole, source, text, label), source, label, labelled)
        fields: Fields | None
        if kind == "svmlight":
            fields = choose(["label", "text"], text, label, labelled, f"{source}, line {len(head)}")
            numbers, found = svmlight.rows(whole, source)
            texts, names = list[str](), list[str]()
        else:
            between = lines.separator(head[-1], labelled if label is None else labelled is not False)
            records = _records(kind, whole, source, between, text, label)
            numbers, (fields, names, texts, found) = None, _collect(records, source, kind, text, label, labelled)
    if fields is None or not found:
        first = "comments" if kind == "svmlight" else "a header"
        raise InputError(f"{source}: found {first} and no example after it, expected at least one")
    labels = None if fields.label is None else as_labels(found, fields.label, fields.value, source)
    examples = Examples(texts, labels, kind, source, "", [number for number, _ in found], names, numbers)
    return replace(examples, note=_note(examples, told, fields))


def _of_trees(
    kind: str, told: str, rows: trees.TreeRows, source: str, label: str | None, labelled: bool | None
) -> Examples:
    fields = choose(rows.fields, rows.text, label, labelled, source)
    labels = None if fields.label is None else as_labels(rows.found, fields.label, fields.value, source)
    examples = Examples([], labels, kind, source, "", [line for line, _ in rows.found], rows.fields, None, rows.trees)
    return replace(examples, note=_note(examples, told, fields))


def _head(stream: Iterable[str]) -> list[str]:
    head = []
    for line in stream:
        head.append(line)
        if line.strip():
            break
    return head


def _records(
    kind: str, stream: Iterator[str], source: str, between: str | None, text: str | None, label: str | None
) -> Records:
    if kind == "jsonl":
        return jsonl.records(stream, source)
    if kind == "fasta":
        return fasta.records(stream, source)
    if kind == "fastq":
        return fastq.records(stream, source)
    if kind == "lines":
        return lines.records(stream, source, between)
    # A column's number does not make a header: the first row may well hold it as a label.
    asked = {*(text or "").split("+"), text, (label or "").partition("=")[0], label}
    known = HEADER_NAMES | {name.strip() for name in asked if name and not name.strip().isdecimal()}
    return table.records(stream, source, DELIMITERS[kind], known)


def _collect(
    records: Records, source: str, kind: str, text: str | None, label: str | None, labelled: bool | None
) -> tuple[Fields | None, list[str], list[str], Found]:
    """The fields chosen on the first record, its names, then the text and what is found for label in every record."""
    fields, names, texts, found = None, list[str](), list[str](), Found()
    for number, record in records:
        place = f"{source}, line {number}"
        if fields is None:
            names, named_in = list(record), place
            if _headless(kind, names):
                text, label = _of_two_columns(record, text, label)
                row = ", ".join(str(cell) for cell in record.values())[:40]
                named_in += f": {row!r} is not recognised as a header, so the columns are called {', '.join(names)}"
            elif kind in DELIMITERS:
                named_in = f"{source}, header line"
            fields = choose(record, text, label, labelled, named_in)
        texts.append(fields.text(record, place))
        found.append((number, None if fields.label is None else fields.get(record, fields.label, place)))
        if fields.label is None and labelled is None and not record.keys().isdisjoint(LABELS):
            raise InputError(f"{place}: has a label, but the first example has none; label every example or none")
    return fields, names, texts, found


def _headless(kind: str, names: Sequence[str]) -> bool:
    return kind in DELIMITERS and list(names) == table.column_numbers(len(names))


def _of_two_columns(record: Mapping[str, object], text: str | None, label: str | None) -> tuple[str | None, str | None]:
    """Which column of a table with no header is text and which is label, where that is plain.

    One column is the text. Of two, one of them named leaves the other; of a number and a text, the number is the label.
    """
    names = list(record)
    numbers = [name for name in names if _is_number(str(record[name]))]
    if len(names) == 1 and text is None:
        return names[0], label
    if len(names) == 2 and text is None and label is None and len(numbers) == 1:
        label = numbers[0]
    if len(names) == 2 and text is None and label is not None:
        text = next((name for name in names if name != label.partition("=")[0].strip()), None)
    return text, label


def _is_number(cell: str) -> bool:
    try:
        return math.isfinite(float(cell))
    except ValueError:
        return False


def _note(examples: Examples, told: str, fields: Fields) -> str:
    kind, n, empty = examples.format, len(examples), examples.texts.count("")
    parts = [f"{examples.source}: {n:,} example{'s' * (n != 1)}" + (f" ({empty:,} empty)" if empty else "")]
    headless = _headless(kind, examples.fields)
    parts.append(TITLES[kind] + (f" (guessed from its {told})" if told else "") + " with no header" * headless)
    column = "column " * headless
    if examples.numbers is not None:
        parts.append(f"{len(examples.numbers.names):,} columns")
    elif examples.trees is not None:
        parts.append(f"{len(examples.trees.labels):,} nodes")
    elif kind not in UNNAMED:
        parts.append(f"text = {column}{' + '.join(fields.texts)}")
    if examples.labels is None:
        parts.append("no labels")
    else:
        unnamed = kind in UNNAMED and fields.label == "label"
        parts.append(UNNAMED[kind] if unnamed else f"label = {column}{fields.label}")
    if examples.labels is not None and fields.value is not None:
        parts.append(f"{fields.value} ({examples.labels.count(fields.value):,}) against the rest")
    return ", ".join(parts)
