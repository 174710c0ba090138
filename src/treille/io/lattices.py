"""Lattices and machines in files: how their formats are recognised, read with their labels from one or many files, and written."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from . import confusion, json_arcs, kaldi, openfst, plf, slf
from .archive import Member
from .atomic_write import STANDARD_OUTPUT, write_bytes
from .blocks import Limits, runs, split_head, whole_lines
from .errors import InputError
from .examples import Examples, Request, against_the_rest, block_ids, counted, note, unique
from .fields import TEXTS, Fields, labels_of
from .guess import guess, is_of_users
from .machine import MachineList, MachineParts
from .open import COMPRESSED, Bytes, as_text
from .paths import file_name
from .symbols import format_symbols, over_one_table, with_words_used
from .text_files import DELIMITERS, Collected, collected, records
from .weights import KINDS, SEMIRING, Seen, check_kind, describe_scale, in_semiring, scaled

FORMATS: dict[str, tuple[str, tuple[str, ...], str]] = {  # title, suffixes, the kind of weights if none is requested
    "plf": ("PLF", (".plf",), "logprob"),
    "openfst": ("OpenFst binary", (".fst",), "cost"),
    "openfst-text": ("OpenFst text", (".fst.txt", ".att"), "cost"),
    "kaldi": ("Kaldi lattices", (".ark", ".lat"), "cost"),
    "slf": ("HTK SLF", (".slf", ".lat"), "logprob"),
    "mesh": ("SRILM meshes", (".mesh",), "prob"),
    "confusion": ("confusion networks", (".cn",), "prob"),
    "arcs": ("JSON lines of arcs", (".jsonl",), ""),
}
TITLES = {name: title for name, (title, _, _) in FORMATS.items()}
SUFFIXES = {name: suffixes for name, (_, suffixes, _) in FORMATS.items()}
DEFAULT_WEIGHTS = {name: weights for name, (_, _, weights) in FORMATS.items()}
BY_LINE = ("plf", "arcs")  # one lattice per line of JSON lines, tables or lines
ONE_PER_FILE = ("openfst", "openfst-text", "slf")
FIXED = ("kaldi", "slf", "mesh")  # the format defines the kind of weights
ACCEPTORS = ("plf", "slf", "mesh", "confusion")


def guess_lattices(name: str, head: bytes, text: str | None = None) -> tuple[str, str] | None:
    """The format of a file of lattices, and how it was recognised: by its `name` or its `content`; None for any other file.

    >>> guess_lattices("a.plf.gz", b""), guess_lattices("-", b"((('vine', 0, 1),),)"), guess_lattices("a.txt", b"vine")
    (('plf', 'name'), ('plf', 'content'), None)
    """
    stem = COMPRESSED.sub("", os.path.basename(name).lower())
    line = head.lstrip().split(b"\n")[0].decode("utf-8", "replace")
    if kaldi.looks_binary(head):
        return "kaldi", "content"
    if openfst.looks_like_openfst(head):
        return "openfst", "content"
    if stem.endswith(".lat"):
        return ("slf" if slf.looks_like_slf(line) else "kaldi"), "name and content"
    for kind in ("openfst-text", "plf", "kaldi", "slf", "mesh", "confusion"):
        if stem.endswith(SUFFIXES[kind]):
            return kind, "name"
    if stem.endswith(".fst"):
        return "openfst-text", "name and content"
    if line.startswith("{"):
        fields = set(re.findall(r'[{,]\s*"(\w+)"\s*:', line))
        if text is None and {"arcs", "finals"} <= fields:
            return "arcs", "content"
        if "plf" in fields and (text == "plf" or (text is None and fields.isdisjoint(TEXTS))):
            return "plf", "content"
    if plf.looks_like_plf(line.rpartition("\t")[2]):
        return "plf", "content"
    if re.match(r"VERSION=\S+\s*$", line):
        return "slf", "content"
    return None


def chosen(files: Sequence[Member], format: str | None, text: str | None) -> tuple[str, str, list[Member]]:
    """The requested format or the format of the first file of lattices, how it was recognised, and the files that have it."""
    guesses = [None if is_of_users(file.name) else guess_lattices(file.name, file.head, text) for file in files]
    first = next((guessed for guessed in guesses if guessed and format in (None, guessed[0])), None)
    if first is None:
        return format or "", "", list(files) if format else []
    alike = [file for file, guessed in zip(files, guesses, strict=True) if guessed and guessed[0] == first[0]]
    return first[0], "" if format else first[1], alike


def _machine_blocks(stream: Bytes, name: str, request: Request, limits: Limits | None) -> Iterator[list[MachineParts]]:
    """The machines of a file whose format is not one lattice per line: archives are read in blocks, other files at once."""
    kind, weights, symbols = request.format, request.weights, request.symbols
    check_kind(weights)
    if weights is not None and kind in FIXED and weights != DEFAULT_WEIGHTS[kind]:
        raise InputError(
            f"{name}: {TITLES[kind]} hold {KINDS[DEFAULT_WEIGHTS[kind]]}, not {KINDS[weights]}: leave --weights out"
        )
    head = stream.peek()
    if kind == "openfst" and openfst.looks_like_openfst(head):
        parts = openfst.parse_binary(stream.read(), name)
        return iter([[parts if weights in (None, "cost") else _reread(parts, weights, name)]])
    if kind == "kaldi" and kaldi.looks_binary(head):
        found = kaldi.binary_lattices(stream, head, name, symbols)
        return map(list, runs(found, limits, lambda lattice: 30 * len(lattice.sources)))
    text = as_text(stream, request.encoding)
    if kind == "slf":
        return iter([[slf.parse(text.read(), name)]])
    if kind in ONE_PER_FILE:
        meant = weights or DEFAULT_WEIGHTS[kind]
        return iter([[_reread(openfst.parse_text(text.read(), name, SEMIRING[meant], symbols, symbols), meant, name)]])
    if kind == "kaldi" and b"\0B" in head[:1000]:
        raise InputError(f"{name}: is a binary archive of other objects, expected lattices: lattice-copy writes some")
    lines = whole_lines(text)
    if kind == "kaldi":
        return kaldi.blocks(lines, name, symbols, limits)
    return confusion.blocks(lines, name, weights or DEFAULT_WEIGHTS[kind], kind == "mesh", limits)


def _reread(parts: MachineParts, kind: str, name: str) -> MachineParts:
    """The machine with its numbers interpreted as this kind of weights."""
    arcs, finals = (in_semiring(values, kind, name) for values in (parts.weights, parts.final_weights))
    return replace(parts, weights=arcs, final_weights=finals, semiring=SEMIRING[kind])


def format_to_write(path: str | os.PathLike[str], format: str | None) -> str:
    """The format in which to write a file: as requested, or recognised by the name of the file.

    >>> format_to_write("dev.plf.gz", None), format_to_write("dev", "slf")
    ('plf', 'slf')
    """
    if format is not None and format not in TITLES:
        raise InputError(f"unknown format {format!r}, expected one of {', '.join(TITLES)}")
    stem = os.path.basename(file_name(path)).lower().removesuffix(".gz")
    matching = [kind for kind, suffixes in SUFFIXES.items() if stem.endswith(suffixes)]
    if format is None and len(matching) != 1:
        which = " and of ".join(matching) if matching else "no format of lattices"
        raise InputError(f"{path}: has the suffix of {which}; name one format with --to: {', '.join(TITLES)}")
    return format or matching[0]


def write_lattices(
    path: str | os.PathLike[str],
    machines: Sequence[MachineParts],
    format: str | None = None,
    weights: str | None = None,
) -> list[Path]:
    """Writes machines to a file, or to a folder if the format holds one machine per file. Returns the files written.

    `-` is standard output. `weights` selects the kind of numbers for the formats that allow several: plf (default
    log-probabilities), confusion (probabilities), openfst-text (costs) and arcs (weights of the machine's semiring). openfst-text
    also writes the symbol tables, `.isyms` and `.osyms`, unless it goes to standard output.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.plf"
    >>> _ = write_lattices(path, [MachineParts.of([(0, 1, 1, 0.5, 1)], {1: 1.0})], weights="prob")
    >>> path.read_text()
    "((('1', 0.5, 1),),)\\n"
    """
    kind = format_to_write(path, format)
    check_kind(weights)
    if weights is not None and kind in (*FIXED, "openfst") and weights != DEFAULT_WEIGHTS[kind]:
        raise InputError(f"{path}: {TITLES[kind]} hold {KINDS[DEFAULT_WEIGHTS[kind]]}, not {KINDS[weights]}")
    if kind not in ONE_PER_FILE:
        return [_write(path, _formatted(machines, kind, weights))]
    if len(machines) == 1 and not os.path.isdir(path):
        return _write_one(path, machines[0], kind, weights)
    if file_name(path) == STANDARD_OUTPUT:
        raise InputError(f"{TITLES[kind]} holds one machine per file, and there are {len(machines):,}: name a folder")
    folder = Path(path)
    if folder.is_file() or folder.suffix:
        raise InputError(
            f"{path}: {TITLES[kind]} holds one machine per file, and there are {len(machines):,}: name a folder"
        )
    folder.mkdir(exist_ok=True)
    written = list[Path]()
    names = [re.sub(r"[^\w.-]", "_", machine.name).lstrip(".") for machine in machines]
    names = unique(names) or [f"{i:06d}" for i in range(len(machines))]
    for name, machine in zip(names, machines, strict=True):
        (own,) = with_words_used([machine])
        written += _write_one(folder / f"{name}{SUFFIXES[kind][0]}", own, kind, weights)
    return written


def _write_one(path: str | os.PathLike[str], machine: MachineParts, kind: str, weights: str | None) -> list[Path]:
    """Writes one machine; for OpenFst's text in a file also its symbol tables, which OpenFst needs to compile it."""
    written = [_write(path, _formatted([machine], kind, weights))]
    if kind != "openfst-text" or file_name(path) == STANDARD_OUTPUT:
        return written
    tables = (("isyms", machine.input_symbols), ("osyms", machine.output_symbols))
    stem = os.fspath(path).removesuffix(".gz").removesuffix(".txt").removesuffix(".fst").removesuffix(".att")
    known = ((end, table) for end, table in tables if table is not None)
    return written + [_write(f"{stem}.{end}", format_symbols(table).encode()) for end, table in known]


def _formatted(machines: Sequence[MachineParts], kind: str, weights: str | None) -> bytes:
    chunks = []
    for i, machine in enumerate(machines):
        if kind in ("kaldi", "mesh") and not machine.name:
            machine = replace(machine, name=f"lattice-{i}")  # an archive names each of its lattices
        try:
            chunks.append(_format_one(machine, kind, weights))
        except InputError as error:
            raise InputError(f"lattice {i}{f' ({machine.name})' if machine.name else ''}: {error}") from None
    return b"".join(chunks)


def _format_one(machine: MachineParts, kind: str, weights: str | None) -> bytes:
    if kind == "openfst":
        return openfst.format_binary(machine)
    if kind == "plf":
        return f"{plf.format_machine(machine, weights or DEFAULT_WEIGHTS[kind])}\n".encode()
    if kind == "arcs":
        return f"{json_arcs.format_machine(machine, weights)}\n".encode()
    if kind == "confusion":
        return confusion.format_columns(machine, weights or DEFAULT_WEIGHTS[kind]).encode()
    if kind == "openfst-text":
        return openfst.format_text(machine, weights or DEFAULT_WEIGHTS[kind]).encode()
    format_machine = {"kaldi": kaldi.format_machine, "mesh": confusion.format_mesh, "slf": slf.format_machine}[kind]
    return format_machine(machine).encode()


def _write(path: str | os.PathLike[str], data: bytes) -> Path:
    write_bytes(path, data, "lattices")
    return Path(path)


@dataclass(frozen=True)
class _Lattice:
    """One lattice of a file: the machine or, before it is parsed, the content of the line; and its label, None without one."""

    held: Any
    label: str | None
    line: int = 0
    place: str = ""
    names: Sequence[str] = ()  # of the fields of the file
    fields: Fields | None = None  # those chosen


def blocks(files: Sequence[Member], request: Request, limits: Limits | None) -> Iterator[Examples]:
    """The lattices of these files, one symbol table per block. The first block decides what numbers mean."""
    by_line, has_ids = request.format in BY_LINE, None
    seen = Seen()
    rows = (_lines if by_line else _machines)(files, request, limits)
    for run in runs(rows, limits, _size, f"{request.source}: holds no lattice, expected at least one"):
        some = list(run)
        found, weights = _parsed(some, request, seen)
        if request.scale is not None:
            weights = f"{weights}, {describe_scale(request.scale, found)}"
            places = (one.place or f"{request.source}, lattice {i}" for i, one in enumerate(some))
            found = [scaled(one, request.scale, place) for one, place in zip(found, places, strict=True)]
        machines = MachineList(over_one_table(found))
        understood = [f"in {len(files):,} files"] * (len(files) > 1)
        understood += ["words = outputs"] * any(not machine.is_acceptor for machine in machines.machines)
        understood.append(f"weights = {weights}")
        title = TITLES[request.format] + request.how
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
            f"{request.source}: {TITLES[request.format]} have no labels: put the files into folders named by "
            "their classes, and give the folder that holds them; or give --labels FILE with a name and its label on each line; "
            "or write the lattices as JSON lines with a label field"
        )
    labelled = all(labels) and request.labelled is not False
    for file in files:
        with file.open() as stream:
            for machines in _machine_blocks(stream, file.name, request, limits):
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
        return machines, "as in the semiring that each names"
    how = "as requested" if weights else "as the format has them"
    return machines, f"{KINDS[weights or DEFAULT_WEIGHTS[request.format]]} ({how})"
