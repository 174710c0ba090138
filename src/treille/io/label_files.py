"""Files of labels: an id and a label on each line, as in Kaldi's utt2label, TSV or CSV; or one label per line, in order."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from . import table
from .blocks import split_head
from .errors import InputError
from .examples import Examples, unique
from .fields import IDS, LABELS, first_of, label_text
from .open import open_text, source_name
from .paths import file_name, is_file_object

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
        rows = _rows(first, lines, source)
    if rows[0][1] is None:
        return [label for _, _, label in rows]
    labels = dict[str, str]()
    for number, id, label in rows:
        if not id or labels.get(id, label) != label:
            found = f"a second label for {id!r}" if id else "a line without an id"
            raise InputError(f"{source}, line {number}: found {found}, expected each id once")
        labels[id] = label
    return labels


def _rows(first: str, lines: Iterable[str], source: str) -> list[tuple[int, str | None, str]]:
    """The number, the id and the label of each row; without ids if there is one column."""
    delimiter = next((mark for mark in "\t,;" if mark in first), None)
    if delimiter is None:
        split = ((number, line.split(None, 1)) for number, line in enumerate(lines, 1) if line.strip())
        rows = [(number, [cell.strip() for cell in cells]) for number, cells in split]
    else:
        records = table.records(lines, source, delimiter, ())
        rows = [(number, [str(cell).strip() for cell in row.values()]) for number, row in records]
    header = [cell.lower() for cell in rows[0][1]]
    width, label, id = len(header), first_of(LABELS, header), first_of(IDS, header)
    if label or id:
        del rows[0]
    elif width > 2:
        raise InputError(
            f"{source}: has {width} columns and no header, expected an id and a label: name the columns in a first line"
        )
    for number, row in rows:
        if len(row) != width:
            raise InputError(
                f"{source}, line {number}: found {len(row)} columns, expected {width} as on line {rows[0][0]}"
            )
    if not rows:
        raise InputError(f"{source}: found a header and no label after it")
    of_id, of_label = (header.index(id[0]) if id else 0, header.index(label[0]) if label else min(1, width - 1))
    return [(number, row[of_id] if width > 1 else None, row[of_label]) for number, row in rows]


def label_paths(labels: Any) -> list[Any]:
    """The files that hold labels: one path or several, `pathlib.Path`s in a list. Nothing, if these are labels.

    >>> label_paths("utt2label"), label_paths(["yes", "no"])
    (['utt2label'], [])
    """
    if isinstance(labels, (str, os.PathLike)) or is_file_object(labels):
        return [labels]
    several = isinstance(labels, Sequence) and bool(labels) and all(isinstance(each, os.PathLike) for each in labels)
    return list(labels) if several else []


def _joined(paths: Sequence[str | os.PathLike[str]], encoding: str) -> Labels:
    """The labels of several files: of all ids, or in the order of the files."""
    first, *others = (read_labels(path, encoding) for path in paths)
    for path, other in zip(paths[1:], others, strict=True):
        if isinstance(first, dict) and isinstance(other, dict):
            again = next((id for id, label in other.items() if first.get(id, label) != label), None)
            if again is not None:
                raise InputError(f"{file_name(path)}: found a second label for {again!r}, expected each id once")
            first |= other
        elif isinstance(first, list) and isinstance(other, list):
            first += other
        else:
            raise InputError(f"{file_name(path)}: expected ids in all files of labels, or in none")
    return first


class LabelsElsewhere:
    """Labels from another source, by id or in order, for examples that come in blocks, or all at once."""

    def __init__(self, labels: Any, encoding: str, skip: bool, at_once: bool):
        files = label_paths(labels)
        self.source = " and ".join(map(file_name, files)) if files else "labels"
        self.known: Labels = _joined(files, encoding) if files else labels
        self.skip, self.at_once = skip, at_once
        self._n, self._stems, self._examples = 0, False, ""

    def of(self, examples: Examples) -> Examples:
        """The next examples with their labels; with `skip`, a missing label is the empty string."""
        found = self._by_id(examples) if isinstance(self.known, Mapping) else self._in_order(examples, self.known)
        missing = [i for i, label in enumerate(found) if not label]
        if missing and (not self.skip or (self.at_once and len(missing) == len(found))):
            id = examples.ids[missing[0]] if examples.ids else f"example {self._n + missing[0]}"
            ids = ", ".join(map(repr, list(self.known)[:3]))
            such = f"; ids there are such as {ids}" if isinstance(self.known, Mapping) else ""
            raise InputError(
                f"{self.source}: has no label for {len(missing):,} of {len(found):,} examples of {examples.source}, such as"
                f" {id!r}{such}. Add them, or leave these examples out with --skip-unlabelled (skip_unlabelled=True in Python)"
            )
        self._n, self._examples = self._n + len(examples), examples.input or examples.source
        note = examples.note.removesuffix("no labels").rstrip(", ") + f", labels of {self.source}"
        return replace(examples, labels=found, note=note)

    def _in_order(self, examples: Examples, labels: Sequence[object]) -> list[str]:
        own = labels[self._n : self._n + len(examples)]
        if len(own) < len(examples):
            raise self._of_other_length(examples.source, f"{len(examples):,}" if self.at_once else "more")
        return [label_text(label) or "" for label in own]

    def _by_id(self, examples: Examples) -> list[str]:
        assert isinstance(self.known, Mapping)
        if examples.ids is None:
            raise InputError(
                f"{examples.source}: its examples have no ids, or not all different ones, so the labels of {self.source} cannot be "
                "assigned: give one label per line, in the order of the examples, and no ids"
            )
        names = examples.ids
        stems = [PurePath(id).stem for id in names]
        if not self._n:  # the ids may be names of files
            self._stems = unique(stems) is not None and not any(id in self.known for id in names)
        return [label_text(self.known.get(id)) or "" for id in (stems if self._stems else names)]

    def end(self) -> None:
        """Refuses labels for which there were no examples."""
        if not isinstance(self.known, Mapping) and self._n < len(self.known):
            raise self._of_other_length(self._examples, f"{self._n:,}")

    def _of_other_length(self, examples: str, n: str) -> InputError:
        return InputError(
            f"{self.source}: holds {len(self.known):,} labels, and {examples} {n} examples: "
            "expected one per example, in order, or an id and a label on each line"
        )
