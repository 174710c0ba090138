"""The file formats of machines and lattices: how they are recognised, parsed and written."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from . import confusion, json_arcs, kaldi, openfst, plf, slf
from .archive import Member
from .atomic_write import write_bytes
from .blocks import Limits, runs, whole_lines
from .errors import InputError
from .examples import Request
from .fields import TEXTS
from .machine import MachineParts
from .open import COMPRESSED, Bytes, as_text
from .symbols import format_symbols, with_words_used
from .weights import KINDS, SEMIRING, check_kind, in_semiring

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
    guesses = [guess_lattices(file.name, file.head, text) for file in files]
    first = next((guessed for guessed in guesses if guessed and format in (None, guessed[0])), None)
    if first is None:
        return format or "", "", list(files) if format else []
    alike = [file for file, guessed in zip(files, guesses, strict=True) if guessed and guessed[0] == first[0]]
    return first[0], "" if format else first[1], alike


def blocks(stream: Bytes, name: str, request: Request, limits: Limits | None) -> Iterator[list[MachineParts]]:
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
    if kind in ("openfst", "openfst-text", "slf"):
        return iter([[_one(text.read(), name, kind, weights, symbols)]])
    if kind == "kaldi" and b"\0B" in head[:1000]:
        raise InputError(f"{name}: is a binary archive of other objects, expected lattices: lattice-copy writes some")
    lines = whole_lines(text)
    if kind == "kaldi":
        return kaldi.blocks(lines, name, symbols, limits)
    return confusion.blocks(lines, name, weights or DEFAULT_WEIGHTS[kind], kind == "mesh", limits)


def _one(text: str, name: str, kind: str, weights: str | None, symbols: Sequence[str] | None) -> MachineParts:
    """The machine of a text file of one machine."""
    if kind == "slf":
        return slf.parse(text, name)
    meant = weights or DEFAULT_WEIGHTS[kind]
    return _reread(openfst.parse_text(text, name, SEMIRING[meant], symbols, symbols), meant, name)


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
    stem = os.path.basename(os.fspath(path)).lower().removesuffix(".gz")
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

    `weights` selects the kind of numbers for the formats that allow several: plf (default log-probabilities), confusion
    (probabilities), openfst-text (costs) and arcs (those of the machine's semiring). openfst-text also writes the symbol
    tables, `.isyms` and `.osyms`.

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
    folder = Path(path)
    if folder.is_file() or folder.suffix:
        raise InputError(
            f"{path}: {TITLES[kind]} holds one machine per file, and there are {len(machines):,}: name a folder"
        )
    folder.mkdir(exist_ok=True)
    written = list[Path]()
    for name, machine in zip(_file_names(machines), machines, strict=True):
        (own,) = with_words_used([machine])
        written += _write_one(folder / f"{name}{SUFFIXES[kind][0]}", own, kind, weights)
    return written


def _write_one(path: str | os.PathLike[str], machine: MachineParts, kind: str, weights: str | None) -> list[Path]:
    """Writes one machine; for OpenFst's text also its symbol tables, which OpenFst needs to compile it."""
    written = [_write(path, _formatted([machine], kind, weights))]
    tables = (("isyms", machine.input_symbols), ("osyms", machine.output_symbols)) if kind == "openfst-text" else ()
    stem = os.fspath(path).removesuffix(".gz").removesuffix(".txt").removesuffix(".fst").removesuffix(".att")
    known = ((end, table) for end, table in tables if table is not None)
    return written + [_write(f"{stem}.{end}", format_symbols(table).encode()) for end, table in known]


def _file_names(machines: Sequence[MachineParts]) -> list[str]:
    names = [re.sub(r"[^\w.-]", "_", machine.name).lstrip(".") for machine in machines]
    return names if all(names) and len(set(names)) == len(names) else [f"{i:06d}" for i in range(len(machines))]


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
