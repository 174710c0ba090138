"""Lattices of one or many files, with their labels."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import json_arcs, lattices, plf
from .archive import Member
from .errors import InputError
from .examples import Examples, Request, against_the_rest, counted, note, unique
from .fields import Fields
from .guess import guess
from .labels import Found, labels_of
from .machine import MachineList, MachineParts
from .symbols import over_one_table
from .text_files import DELIMITERS, collect, records, split_head
from .weights import KINDS


@dataclass(frozen=True)
class _Found:
    """The machines of some files, their labels and where these come from, and how the weights were understood."""

    machines: list[MachineParts]
    labels: list[str] | None
    label_note: str
    weights: str
    lines: Sequence[int] = ()
    fields: Sequence[str] = ()


def read(files: Sequence[Member], request: Request) -> Examples:
    """The lattices of these files, all over one symbol table."""
    found = (_by_line if request.format in lattices.BY_LINE else _of_files)(files, request)
    machines = MachineList(over_one_table(found.machines))
    understood = [f"in {len(files):,} files"] * (len(files) > 1)
    understood += ["words = outputs"] * any(not machine.is_acceptor for machine in machines.machines)
    understood.append(f"weights = {found.weights}")
    title = lattices.TITLES[request.format] + request.how
    n = counted(len(machines), "lattice", sum(machine.start < 0 for machine in machines.machines))
    understood_as = note(request, title, n, understood, found.labels, found.label_note)
    ids, lines = unique(machine.name for machine in machines.machines), found.lines if len(files) == 1 else ()
    return Examples(machines, found.labels, request.format, request.source, understood_as, lines, found.fields, ids)


def _of_files(files: Sequence[Member], request: Request) -> _Found:
    """Formats that hold machines alone; the names of the folders are the labels."""
    machines, labels = list[MachineParts](), list[str]()
    for file in files:
        own = lattices.parse(file.data, file.name, request.format, request.weights, request.symbols, request.encoding)
        machines += own
        labels += [file.label] * len(own)
    if not machines:
        raise InputError(f"{request.source}: holds no lattice, expected at least one")
    if (request.label is not None and request.labelled is not False) or (request.labelled and not all(labels)):
        raise InputError(
            f"{request.source}: {lattices.TITLES[request.format]} have no labels: put the files into folders named by "
            "their classes, and give the folder that holds them; or give --labels FILE with a name and its label on each line; "
            "or write the lattices as JSON lines with a label field"
        )
    kept = labels if all(labels) and request.labelled is not False else None
    meaning = KINDS[request.weights or lattices.DEFAULT_WEIGHTS[request.format]]
    how = "as requested" if request.weights else "as the format has them"
    return _Found(machines, kept, "label = folder", f"{meaning} ({how})")


def _by_line(files: Sequence[Member], request: Request) -> _Found:
    """One lattice per line, in files of JSON lines, tables or lines; labels are a field of these, otherwise the folder."""
    values, places, numbers, names = list[Any](), list[str](), list[int](), list[str]()
    labels, label_note = list[str](), ""
    for file in files:
        own_names, own, found, fields = _records(file, request)
        names = names or own_names
        values += own
        numbers += [number for number, _ in found]
        places += [f"{file.name}, line {number}" for number, _ in found]
        if fields.label is not None:
            labels += labels_of(found, fields, file.name, request.skip_unlabelled) or []
            label_note = f"label = {fields.label}{against_the_rest(fields, labels)}"
        elif file.label and request.labelled is not False:
            labels += [file.label] * len(own)
            label_note = "label = folder"
    if 0 < len(labels) < len(values):
        raise InputError(f"{request.source}: some files have labels and others none; label all of them, or none")
    if request.labelled and not labels:
        raise InputError(
            f"{request.source}: there are no labels, expected one for every lattice: name the field with --label"
        )
    machines, weights = _parsed(values, places, request)
    return _Found(machines, labels or None, label_note, weights, numbers, names)


def _records(file: Member, request: Request) -> tuple[list[str], list[Any], Found, Fields]:
    """The names of the fields of a file, its lattices (not parsed yet), the labels found, and the fields chosen."""
    format, text, labelled = request.format, request.text, request.labelled
    head, stream = split_head(io.StringIO(lattices.decoded(file.data, file.name, request.encoding), newline=""))
    if not head or not head[-1].strip():
        raise InputError(f"{file.name}: the file is empty, expected at least one lattice")
    first = head[-1]
    container = guess(file.name, first, text)[0]
    if container not in ("jsonl", *DELIMITERS) or plf.looks_like_plf(first.rpartition("\t")[2]):
        container = "lines"
    if text is None and container == "jsonl" and f'"{format}"' in first:
        text = format
    between = "\t" if "\t" in first and not plf.looks_like_plf(first) else None
    if labelled and request.label is None and (file.label or (container == "lines" and between is None)):
        labelled = None  # the folder is the label; if there is none, `_by_line` raises the error
    rows = records(container, stream, file.name, between, text, request.label)
    get = _machine_record if format == "arcs" else _named_text
    own = collect(rows, replace(request, source=file.name, format=container, text=text, labelled=labelled), get)
    if own.fields is None:
        raise InputError(f"{file.name}: found a header and no lattice after it, expected at least one")
    return own.names if container != "lines" else [], own.texts, own.found, own.fields


def _named_text(fields: Fields, record: Mapping[str, object], place: str) -> tuple[str, str]:
    return fields.text(record, place), str(record.get("id", ""))


def _machine_record(fields: Fields, record: Mapping[str, object], place: str) -> Mapping[str, object]:
    held = record if fields.texts == ("arcs",) else fields.get(record, fields.texts[0], place)
    if not isinstance(held, dict):
        raise InputError(f"{place}: field {fields.texts[0]!r} is {json.dumps(held)[:40]}, expected an object with arcs")
    return held


def _parsed(values: Sequence[Any], places: Sequence[str], request: Request) -> tuple[list[MachineParts], str]:
    """The machines, and how their weights were understood."""
    weights = request.weights
    if request.format == "arcs":
        machines = json_arcs.parse(values, places, weights)
        return machines, f"{KINDS[weights]} (as requested)" if weights else "those of the semiring that each names"
    texts, names = [text for text, _ in values], [name for _, name in values]
    machines, meant, how = plf.parse(texts, places, request.source, weights, names)
    return machines, f"{KINDS[meant]} ({how})"
