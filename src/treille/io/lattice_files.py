"""Lattices of one or many files, with their labels."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from . import json_arcs, lattices, plf
from .archive import Member
from .blocks import Limits, runs, split_head
from .errors import InputError
from .examples import Examples, Request, against_the_rest, block_ids, counted, note
from .fields import Fields, labels_of
from .guess import guess
from .machine import MachineList, MachineParts
from .symbols import over_one_table
from .text_files import DELIMITERS, Collected, collected, records
from .weights import KINDS, Seen


@dataclass(frozen=True)
class _Lattice:
    """One lattice of a file: the machine or, before it is parsed, what the line holds; and its label, None without one."""

    held: Any
    label: str | None
    line: int = 0
    place: str = ""
    names: Sequence[str] = ()  # of the fields of the file
    fields: Fields | None = None  # those chosen


def blocks(files: Sequence[Member], request: Request, limits: Limits | None) -> Iterator[Examples]:
    """The lattices of these files, one symbol table per block. The first block decides what numbers mean."""
    by_line, has_ids = request.format in lattices.BY_LINE, None
    seen = Seen()
    rows = (_lines if by_line else _machines)(files, request, limits)
    for run in runs(rows, limits, _size, f"{request.source}: holds no lattice, expected at least one"):
        some = list(run)
        found, weights = _parsed(some, request, seen)
        machines = MachineList(over_one_table(found))
        understood = [f"in {len(files):,} files"] * (len(files) > 1)
        understood += ["words = outputs"] * any(not machine.is_acceptor for machine in machines.machines)
        understood.append(f"weights = {weights}")
        title = lattices.TITLES[request.format] + request.how
        n = counted(len(machines), "lattice", sum(machine.start < 0 for machine in machines.machines))
        labels = None if some[0].label is None else [one.label or "" for one in some]
        fields = some[-1].fields or Fields(())
        how = f"label = {fields.label or 'folder'}{against_the_rest(fields, labels or [])}"
        understood_as = note(request, title, n, understood, labels, how)
        ids = block_ids((machine.name for machine in machines.machines), has_ids)
        has_ids, lines = ids is not None, [one.line for one in some] if by_line and len(files) == 1 else ()
        names = some[0].names
        yield Examples(machines, labels, request.format, request.source, understood_as, lines, names, ids)


def _size(lattice: _Lattice) -> int:
    held = lattice.held
    if isinstance(held, MachineParts):
        return 30 * len(held.sources)
    if isinstance(held, tuple):
        return len(held[0])
    arcs = held.get("arcs")
    return 30 * len(arcs) if isinstance(arcs, list) else 0


def _machines(files: Sequence[Member], request: Request, limits: Limits | None) -> Iterator[_Lattice]:
    """Formats that hold machines alone; the names of the folders are the labels."""
    labels = [file.label for file in files]
    if (request.label is not None and request.labelled is not False) or (request.labelled and not all(labels)):
        raise InputError(
            f"{request.source}: {lattices.TITLES[request.format]} have no labels: put the files into folders named by "
            "their classes, and give the folder that holds them; or give --labels FILE with a name and its label on each line; "
            "or write the lattices as JSON lines with a label field"
        )
    labelled = all(labels) and request.labelled is not False
    for file in files:
        with file.open() as stream:
            for machines in lattices.blocks(stream, file.name, request, limits):
                for machine in machines:
                    yield _Lattice(machine, file.label if labelled else None)


def _lines(files: Sequence[Member], request: Request, limits: Limits | None) -> Iterator[_Lattice]:
    """One lattice per line, in files of JSON lines, tables or lines; labels are a field of these, otherwise the folder."""
    names, labelled = list[str](), None
    for file in files:
        with file.text(request.encoding) as stream:
            for own_names, own in _records(file, stream, request, limits):
                names, fields = names or own_names, own.fields
                assert fields is not None
                labels = labels_of(own.found, fields, file.name, request.skip_unlabelled)
                if labels is None and file.label and request.labelled is not False:
                    labels = [file.label] * len(own.texts)
                if labelled is not None and labelled != (labels is not None):
                    raise InputError(f"{request.source}: some files have labels and others none; label all, or none")
                labelled = labels is not None
                if request.labelled and not labelled:
                    raise InputError(
                        f"{request.source}: there are no labels, expected one for every lattice: name the field with --label"
                    )
                for i, (held, (line, _)) in enumerate(zip(own.texts, own.found, strict=True)):
                    label = labels[i] if labels is not None else None
                    yield _Lattice(held, label, line, f"{file.name}, line {line}", names, fields)


def _records(
    file: Member, text_lines: Iterable[str], request: Request, limits: Limits | None
) -> Iterator[tuple[list[str], Collected]]:
    """The names of the fields of a file, and in blocks its lattices (not parsed yet), the labels found, and the fields chosen."""
    format, text, labelled = request.format, request.text, request.labelled
    head, stream = split_head(text_lines)
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
        labelled = None  # the folder is the label; if there is none, `_lines` raises the error
    own = replace(request, source=file.name, format=container, text=text, labelled=labelled)
    rows, get = records(stream, own, between), _machine_record if format == "arcs" else _named_text
    missing = f"{file.name}: found a header and no lattice after it, expected at least one"
    for found in collected(rows, own, limits, missing, get):
        yield found.names if container != "lines" else [], found


def _named_text(fields: Fields, record: Mapping[str, object], place: str) -> tuple[str, str]:
    return fields.text(record, place), str(record.get("id", ""))


def _machine_record(fields: Fields, record: Mapping[str, object], place: str) -> Mapping[str, object]:
    held = record if fields.texts == ("arcs",) else fields.get(record, fields.texts[0], place)
    if not isinstance(held, dict):
        raise InputError(f"{place}: field {fields.texts[0]!r} is {json.dumps(held)[:40]}, expected an object with arcs")
    return held


def _parsed(some: Sequence[_Lattice], request: Request, seen: Seen) -> tuple[list[MachineParts], str]:
    """The machines, and how their weights were understood."""
    held, places, weights = [one.held for one in some], [one.place for one in some], request.weights
    if request.format == "plf":
        texts, names = zip(*held, strict=True)
        machines, meant, how = plf.parse(texts, places, request.source, weights, names, seen)
        return machines, f"{KINDS[meant]} ({how})"
    machines = json_arcs.parse(held, places, weights) if request.format == "arcs" else held
    if weights is None and request.format == "arcs":
        return machines, "those of the semiring that each names"
    how = "as requested" if weights else "as the format has them"
    return machines, f"{KINDS[weights or lattices.DEFAULT_WEIGHTS[request.format]]} ({how})"
