"""Files of labels: an id and a label on each line, as in Kaldi's utt2label, TSV or CSV; or one label per line, in order."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath

from . import table
from .errors import InputError
from .examples import Examples, unique
from .fields import IDS, LABELS, first_of
from .labels import label_text
from .open import open_text, source_name
from .text_files import split_head

Labels = Mapping[str, object] | Sequence[object]


def read_labels(path: str | os.PathLike[str], encoding: str = "utf-8") -> dict[str, str] | list[str]:
    """The label of each id, or labels in order.

    A first line that names a column `id` or `label` is a header. Without one, ids come first: `utt-001 yes`.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "utt2label"
    >>> _ = path.write_text("en_4157 question\\nen_4158 statement\\n")
    >>> read_labels(path)
    {'en_4157': 'question', 'en_4158': 'statement'}
    """
    source = source_name(path)
    with open_text(path, encoding) as stream:
        head, lines = split_head(stream)
        first = "".join(head[-1:])
        if not first.strip():
            raise InputError(f"{source}: the file is empty, expected an id and a label on each line")
        rows = list(_rows(first, lines, source))
    if len(rows[0][1]) == 1:
        return [row["label"] for _, row in rows]
    labels = dict[str, str]()
    for number, row in rows:
        id, label = row["id"], row["label"]
        if not id or labels.get(id, label) != label:
            found = f"a second label for {id!r}" if id else "a line without an id"
            raise InputError(f"{source}, line {number}: found {found}, expected each id once")
        labels[id] = label
    return labels


def _rows(first: str, lines: Iterable[str], source: str) -> list[tuple[int, dict[str, str]]]:
    """Numbered rows with the keys `id` and `label`, or `label` alone."""
    delimiter = next((mark for mark in "\t,;" if mark in first), None)
    if delimiter is None:
        split = ((number, line.split(None, 1)) for number, line in enumerate(lines, 1) if line.strip())
        rows = [(number, dict(enumerate(cell.strip() for cell in cells))) for number, cells in split]
    else:
        records = table.records(lines, source, delimiter, ())
        rows = [(number, dict(enumerate(str(cell).strip() for cell in row.values()))) for number, row in records]
    header, width = [cell.lower() for cell in rows[0][1].values()], len(rows[0][1])
    label = first_of(LABELS, header)
    columns = (0, 1) if width > 1 else (0, 0)
    if label or first_of(IDS, header):
        at = header.index(label[0]) if label else min(1, width - 1)
        id = first_of(IDS, header)
        columns, rows = (header.index(id[0]) if id else 0, at), rows[1:]
    elif width > 2:
        raise InputError(
            f"{source}: has {width} columns and no header, expected an id and a label: name the columns in a first line"
        )
    for number, row in rows:
        if len(row) != width:
            raise InputError(
                f"{source}, line {number}: found {len(row)} columns, expected {width} as on the first line"
            )
    if not rows:
        raise InputError(f"{source}: found a header and no label after it")
    return [
        (number, {"id": row[columns[0]], "label": row[columns[1]]} if width > 1 else {"label": row[0]})
        for number, row in rows
    ]


def with_labels(examples: Examples, labels: str | os.PathLike[str] | Labels, encoding: str, skip: bool) -> Examples:
    """The examples with labels from another source; "" for those that have none, with `skip`."""
    named = isinstance(labels, (str, os.PathLike))
    source = os.fspath(labels) if named else "labels"  # type: ignore[arg-type]
    known: Labels = read_labels(labels, encoding) if named else labels  # type: ignore[arg-type, assignment]
    if not isinstance(known, Mapping):
        if len(known) != len(examples):
            raise InputError(
                f"{source}: holds {len(known):,} labels, and {examples.source} {len(examples):,} examples: "
                "expected one per example, in order, or an id and a label on each line"
            )
        found = [label_text(label) or "" for label in known]
    else:
        if examples.ids is None:
            raise InputError(
                f"{examples.source}: its examples have no ids, or not all different ones, so the labels of {source} cannot be "
                "assigned: give one label per line, in the order of the examples, and no ids"
            )
        names = examples.ids
        stems = unique(PurePath(id).stem for id in names)
        if stems and not any(id in known for id in names):  # the names of files, perhaps
            names = stems
        found = [label_text(known.get(id)) or "" for id in names]
    missing = [i for i, label in enumerate(found) if not label]
    if missing and (not skip or len(missing) == len(found)):
        id = examples.ids[missing[0]] if examples.ids else f"example {missing[0]}"
        such = f"; ids there are such as {', '.join(map(repr, list(known)[:3]))}" if isinstance(known, Mapping) else ""
        raise InputError(
            f"{source}: has no label for {len(missing):,} of {len(found):,} examples of {examples.source}, such as {id!r}{such}."
            " Add them, or leave these examples out with --skip-unlabelled (skip_unlabelled=True in Python)"
        )
    note = examples.note.removesuffix("no labels").rstrip(", ") + f", labels of {source}"
    return replace(examples, labels=found, note=note)
