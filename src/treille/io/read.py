"""Read examples, with or without labels, from a file of any format this room knows."""

from __future__ import annotations

import io
import json
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from . import fasta, fastq, json_arcs, jsonl, lattices, lines, plf, svmlight, table
from .errors import InputError
from .fields import LABELS, TEXTS, Fields, choose, split_label
from .guess import guess
from .labels import Found, as_labels
from .machine import MachineParts
from .members import Member, is_many, members
from .records import NumberRows, Records
from .source import open_text, source_name
from .symbols import over_one_table, read_symbols
from .weights import KINDS, check_kind

TITLES = {
    "jsonl": jsonl.TITLE,
    "csv": table.TITLES[","],
    "tsv": table.TITLES["\t"],
    "lines": lines.TITLE,
    "fasta": fasta.TITLE,
    "fastq": fastq.TITLE,
    "svmlight": svmlight.TITLE,
    **lattices.TITLES,
}
FORMATS = tuple(TITLES)
UNNAMED = {
    "lines": "label first on its line",
    "fasta": "label first in its header",
    "fastq": "label first in its header",
    "svmlight": "label first on its line",
}
DELIMITERS = {"csv": ",", "tsv": "\t"}
HEADER_NAMES = {*TEXTS, *LABELS} - {"y"}  # one letter is as well a class as a name


@dataclass(frozen=True)
class Examples:
    """What a file held: texts, rows of numbers or lattices, labels if it has some, and a `note` that says how it was understood.

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
    machines: list[MachineParts] | None = None

    def __len__(self) -> int:
        return len(self.X if self.machines is None else self.machines)

    @property
    def X(self) -> list[str] | NumberRows | list[MachineParts]:
        """What kernels and estimators read: the texts, or the rows of numbers or the lattices where the file holds those.

        A lattice of two sides, such as Kaldi's, is read by its outputs, the words.
        """
        if self.machines is not None:
            return [machine if machine.is_acceptor else machine.of_outputs() for machine in self.machines]
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
    weights: str | None = None,
    symbols: str | os.PathLike[str] | Sequence[str] | None = None,
) -> Examples:
    """Read the texts or lattices and the labels of a file; `-` is standard input, gzip is recognised.

    Lattices may stand in several files: a folder, a glob, an archive; the folders they stand in are then their labels.

    Parameters
    ----------
    format : one of jsonl, csv, tsv, lines, fasta, fastq, svmlight; or, of lattices, plf, openfst, openfst-text, kaldi,
        slf, mesh, confusion, arcs. By default told from the name, else from the content.
    text : the field of the text, or several joined with one blank: `title+body`. The columns of a table with no header
        are called 1, 2, 3 and so on.
    label : the field of the label; `topics=acq` makes the labels `acq` and `not acq`, where the field equals the
        value or is a list that holds it; `en~REGEX` sets those that the expression is found in against the rest.
    labelled : True, labels must be there; False, they are not read; None, they are read if there are some. Lines
        with no tab are then taken to have none.
    weights : what the numbers of lattices are: cost, logprob or prob; by default as the format has it, else told from
        the values. The note says what was understood.
    symbols : the symbol table of lattices whose labels are numbers: a file of OpenFst's form, or a list.

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
    check_kind(weights)
    said = _Said(text, label, labelled, weights, read_symbols(symbols), encoding)
    if is_many(path) and (format is None or format in lattices.TITLES):
        kind, told, files = lattices.chosen(members(path), format, text)
        if files or not os.path.isdir(path):
            return _read_lattices(files, source, kind, told, said)
    with open_text(path, encoding) as stream:
        guessed = (format, "") if format else lattices.guess_lattices(source, stream.buffer.peek(), text)
        if guessed and guessed[0] in lattices.TITLES:
            buffer = stream.buffer
            return _read_lattices([Member(source, "", lambda size: buffer.read(size))], source, *guessed, said)
        head = _head(stream)
        if not head or not head[-1].strip():
            raise InputError(f"{source}: the file is empty, expected at least one example")
        kind, told = (format, "") if format else guess(source, head[-1], text)
        whole = chain(head, stream)
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
    labels = None if fields.label is None else as_labels(found, fields.label, fields.value, source, fields.matches)
    examples = Examples(texts, labels, kind, source, "", [number for number, _ in found], names, numbers)
    return replace(examples, note=_note(examples, told, fields))


@dataclass(frozen=True)
class _Said:
    """What the caller of `read` said of a file of lattices."""

    text: str | None
    label: str | None
    labelled: bool | None
    weights: str | None
    symbols: list[str] | None
    encoding: str


def _read_lattices(files: Sequence[Member], source: str, kind: str, told: str, said: _Said) -> Examples:
    read_some = _lattices_by_line if kind in lattices.BY_LINE else _lattices_of_files
    examples, understood = read_some(files, source, kind, said)
    machines = over_one_table(examples.machines or [])
    n, empty = len(machines), sum(machine.start < 0 for machine in machines)
    parts = [f"{source}: {n:,} lattice{'s' * (n != 1)}" + (f" ({empty:,} empty)" if empty else "")]
    parts += [TITLES[kind] + (f" (guessed from its {told})" if told else "")]
    if len(files) > 1:
        parts.append(f"in {len(files):,} files")
    if sum(not machine.is_acceptor for machine in machines):
        parts.append("words = outputs")
    parts.append(f"weights = {understood}")
    parts.append(examples.note if examples.labels is not None else "no labels")
    return replace(examples, machines=machines, note=", ".join(parts))


def _lattices_of_files(files: Sequence[Member], source: str, kind: str, said: _Said) -> tuple[Examples, str]:
    """Whole files of machines; their labels are the names of their folders."""
    machines, labels = list[MachineParts](), list[str]()
    for file in files:
        found = lattices.parse(file.data, file.name, kind, said.weights, said.symbols, said.encoding)
        machines += found
        labels += [file.label] * len(found)
    if not machines:
        raise InputError(f"{source}: holds no lattice, expected at least one")
    if (said.label is not None and said.labelled is not False) or (said.labelled and not all(labels)):
        raise InputError(
            f"{source}: {TITLES[kind]} have no labels: put the files into folders named by their classes, and name the"
            " folder of these; or write the lattices as JSON lines with a field for the label"
        )
    labelled = all(labels) and said.labelled is not False
    understood = (
        f"{KINDS[said.weights or lattices.SAID[kind]]} ({'as said' if said.weights else 'as the format has them'})"
    )
    kept = labels if labelled else None
    return Examples([], kept, kind, source, "label = folder", machines=machines), understood


def _lattices_by_line(files: Sequence[Member], source: str, kind: str, said: _Said) -> tuple[Examples, str]:
    """One lattice a line, in files of JSON lines, tables or lines; labels are a field of these, else the folder."""
    values, places, numbers, labels, note, names = list[Any](), list[str](), list[int](), list[str](), "", list[str]()
    for file in files:
        own_names, own, found, fields = _line_by_line(file, kind, said)
        names = names or own_names
        values += own
        numbers += [number for number, _ in found]
        places += [f"{file.name}, line {number}" for number, _ in found]
        if fields.label is not None:
            labels += as_labels(found, fields.label, fields.value, file.name, fields.matches)
            note = f"label = {fields.label}"
            if fields.value is not None:
                note += f", {fields.value} ({labels.count(fields.value):,}) against the rest"
        elif file.label and said.labelled is not False:
            labels += [file.label] * len(own)
            note = "label = folder"
    if 0 < len(labels) < len(values):
        raise InputError(f"{source}: some files have labels and others none; label every one, or none")
    if said.labelled and not labels:
        raise InputError(f"{source}: there are no labels, expected one for every lattice: name the field with --label")
    machines, understood = _parsed_lines(values, places, source, kind, said.weights)
    return Examples([], labels or None, kind, source, note, numbers, names, machines=machines), understood


def _line_by_line(file: Member, kind: str, said: _Said) -> tuple[list[str], list[Any], Found, Fields]:
    """The names of the fields of a file, its lattices, still to be parsed, what was found for labels, and the fields."""
    stream = io.StringIO(lattices.decoded(file.data, file.name, said.encoding), newline="")
    head = _head(stream)
    if not head or not head[-1].strip():
        raise InputError(f"{file.name}: the file is empty, expected at least one lattice")
    first, text = head[-1], said.text
    container = guess(file.name, first, text)[0]
    if container not in ("jsonl", *DELIMITERS) or plf.looks_like_plf(first.rpartition("\t")[2]):
        container = "lines"
    if text is None and container == "jsonl" and f'"{kind}"' in first:
        text = kind
    between = "\t" if "\t" in first and not plf.looks_like_plf(first) else None
    labelled = said.labelled
    if labelled and said.label is None and (file.label or (container == "lines" and between is None)):
        labelled = None  # the folder will do, or there are none: which is said later
    records = _records(container, chain(head, stream), file.name, between, text, said.label)
    get = _machine_record if kind == "arcs" else _named_text
    fields, names, values, found = _collect(records, file.name, container, text, said.label, labelled, get)
    if fields is None:
        raise InputError(f"{file.name}: found a header and no lattice after it, expected at least one")
    return names if container != "lines" else [], values, found, fields


def _named_text(fields: Fields, record: Mapping[str, object], place: str) -> tuple[str, str]:
    return fields.text(record, place), str(record.get("id", ""))


def _machine_record(fields: Fields, record: Mapping[str, object], place: str) -> Mapping[str, object]:
    held = record if fields.texts == ("arcs",) else fields.get(record, fields.texts[0], place)
    if not isinstance(held, dict):
        raise InputError(f"{place}: field {fields.texts[0]!r} is {json.dumps(held)[:40]}, expected an object with arcs")
    return held


def _parsed_lines(
    values: Sequence[Any], places: Sequence[str], source: str, kind: str, weights: str | None
) -> tuple[list[MachineParts], str]:
    if kind == "arcs":
        machines = json_arcs.parse(values, places, weights)
        return machines, f"{KINDS[weights]} (as said)" if weights else "those of the semiring that each names"
    machines, meant, how = plf.parse(
        [text for text, _ in values], places, source, weights, [name for _, name in values]
    )
    return machines, f"{KINDS[meant]} ({how})"


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
    asked = {*(text or "").split("+"), text, split_label(label or "")[0], label}
    known = HEADER_NAMES | {name.strip() for name in asked if name and not name.strip().isdecimal()}
    return table.records(stream, source, DELIMITERS[kind], known)


def _collect(
    records: Records,
    source: str,
    kind: str,
    text: str | None,
    label: str | None,
    labelled: bool | None,
    get: Callable[[Fields, Mapping[str, object], str], Any] = Fields.text,
) -> tuple[Fields | None, list[str], list[Any], Found]:
    """The fields chosen on the first record, its names, then the text and what is found for label in every record."""
    fields, names, texts, found = None, list[str](), list[Any](), Found()
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
        texts.append(get(fields, record, place))
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
        text = next((name for name in names if name != split_label(label)[0]), None)
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
