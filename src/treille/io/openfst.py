"""OpenFst's files, one machine per file: binary ones of type `vector` with arcs `standard`, `log` or `log64`, and text.

Binary: all numbers are little-endian. A header (magic number, type of machine, type of arc, version, flags, properties, start,
states, arcs), the symbol tables if the flags say so, then for each state its final weight, its number of arcs, and the arcs.

Text: `source target input output [weight]` for an arc, `source target label [weight]` for an arc of an acceptor, and
`state [weight]` for a final state. The first state is the start; the default weight is the semiring's one.
"""

import struct
from collections.abc import Collection, Sequence
from dataclasses import replace
from io import BufferedReader, BytesIO
from math import isnan
from typing import Any

import numpy as np

from .errors import InputError
from .machine import EPSILON, MachineParts
from .parameters import to_float
from .symbols import ArcLines, coded, columns, machine_lines, number, symbol_list, without_gaps, written_sides
from .weights import ONE, as_kind

MAGIC, SYMBOLS_MAGIC = 2125659606, 2125658996
VERSION = 2
CHUNK = 1 << 20
HAS_INPUT, HAS_OUTPUT, ALIGNED = 1, 2, 4
PROPERTIES = 3  # expanded and mutable; readers compute the other properties
REALS: dict[str, np.dtype[Any]] = {"standard": np.dtype("<f4"), "log": np.dtype("<f4"), "log64": np.dtype("<f8")}
SEMIRING = {"standard": "tropical", "log": "log", "log64": "log"}


def looks_like_openfst(head: bytes) -> bool:
    """Returns whether a file begins like OpenFst's binary files."""
    return head[:4] == struct.pack("<i", MAGIC)


class Bytes:
    """A reader of the bytes of a stream; if they end too early, the message says what was expected."""

    def __init__(self, stream: Any, source: str):
        self._stream, self.source, self.place = BufferedReader(stream), source, 0  # the number of bytes that were taken

    def at_end(self) -> bool:
        return not self._stream.peek(1)

    def take(self, size: int, what: str) -> bytes:
        data = self._stream.read(min(max(size, 0), CHUNK))
        while len(data) < size and (more := self._stream.read(min(size - len(data), CHUNK))):
            data += more
        if len(data) != size:
            raise InputError(
                f"{self.source}: ends after {self.place + len(data):,} bytes, expected {what} at byte"
                f" {self.place:,}: the file is truncated or damaged; fetch it again"
            )
        self.place += size
        return data

    def until(self, end: bytes, what: str) -> bytes:
        """The bytes before the next `end`, a single byte, which is passed."""
        return b"".join(iter(lambda: self.take(1, what), end))

    def number(self, form: str, what: str) -> Any:
        return struct.unpack(form, self.take(struct.calcsize(form), what))[0]

    def pair(self, form: str, what: str) -> tuple[Any, Any]:
        first, second = struct.unpack(form, self.take(struct.calcsize(form), what))
        return first, second

    def string(self, what: str) -> str:
        return self.take(int(self.number("<i", what)), what).decode("utf-8", "replace")

    def symbols(self) -> list[str]:
        if self.number("<i", "a symbol table") != SYMBOLS_MAGIC:
            raise InputError(f"{self.source}: found no symbol table at byte {self.place - 4:,}, where one is announced")
        self.string("the name of a symbol table")
        _, size = self.number("<q", "a symbol table"), self.number("<q", "a symbol table")
        pairs = []
        for i in range(size):
            symbol = self.string(f"symbol {i} of {size}")
            pairs.append((symbol, self.number("<q", f"symbol {i} of {size}")))
        return symbol_list(pairs, self.source)


def parse_binary(data: bytes, source: str) -> MachineParts:
    """The machine of a file; the type of its arcs defines the semiring.

    >>> parse_binary(format_binary(MachineParts.of([(0, 1, 1, 0.5, 1)], {1: 0.0}, semiring="log")), "a.fst").weights.tolist()
    [0.5]
    """
    bytes_ = Bytes(BytesIO(data), source)
    arc_type, start, n_states, tables = header(bytes_, REALS)
    states, finals, arcs = _states(bytes_, n_states, REALS[arc_type])
    inputs, outputs, targets = (arcs[side].astype(np.int32) for side in ("input", "output", "target"))
    final = np.flatnonzero(finals != np.inf).astype(np.int32)
    arrays = (states, inputs, outputs, arcs["weight"].astype(np.float64), targets, final, finals[final])
    parts = MachineParts(start, len(finals), *arrays, SEMIRING[arc_type], tables[0], tables[1])
    return checked_machine(parts, source)


def checked_machine(parts: MachineParts, place: str) -> MachineParts:
    """The machine with names for all its symbols; an `InputError` if a state or symbol does not exist, or a weight is no number."""
    start, n_states, targets = parts.start, parts.n_states, parts.targets
    for arc in np.flatnonzero(~np.isfinite(parts.weights))[:1]:
        raise InputError(f"{place}: arc {arc} has weight {parts.weights[arc]}, expected a finite number")
    for at in np.flatnonzero(~np.isfinite(parts.final_weights))[:1]:
        found = f"state {parts.final_states[at]} has final weight {parts.final_weights[at]}"
        raise InputError(f"{place}: {found}, expected a finite number or infinity")
    if not -1 <= start < n_states or ((targets < 0) | (targets >= n_states)).any():
        raise InputError(f"{place}: names a state that is not there: it has {n_states} states, and starts at {start}")
    tables = parts.input_symbols, parts.output_symbols
    for labels, symbols in zip((parts.inputs, parts.outputs), tables, strict=True):
        check_labels(labels, symbols, place)
    inputs, outputs = (None if table is None else without_gaps(table) for table in tables)
    outputs = inputs if tables[0] == tables[1] else outputs
    if start < 0:
        return replace(MachineParts.nothing("", inputs, parts.semiring), output_symbols=outputs)
    return replace(parts, input_symbols=inputs, output_symbols=outputs)


def header(bytes_: Bytes, arc_types: Collection[str]) -> tuple[str, int, int, list[list[str] | None]]:
    """The type of arcs, the start, the number of states, and the symbol tables, which the arcs follow."""
    source = bytes_.source
    if bytes_.number("<i", "the magic number") != MAGIC:
        raise InputError(f"{source}: does not begin as OpenFst's binary files do; text is --format openfst-text")
    type, arc_type = bytes_.string("the type"), bytes_.string("the type of arcs")
    if type != "vector":
        raise InputError(f"{source}: is of type {type!r}, expected vector: fstconvert --fst_type=vector makes it one")
    if arc_type not in arc_types:
        raise InputError(
            f"{source}: has arcs of type {arc_type!r}, expected one of {', '.join(arc_types)}: fstmap or lattice-copy converts"
        )
    version, flags = bytes_.number("<i", "the version"), bytes_.number("<i", "the flags")
    if version != VERSION or flags & ALIGNED:
        raise InputError(f"{source}: is of version {version}, flags {flags}, expected version {VERSION}, not aligned")
    bytes_.number("<Q", "the properties")
    start, n_states, _ = (bytes_.number("<q", what) for what in ("the start", "the states", "the arcs"))
    return arc_type, start, n_states, [bytes_.symbols() if flags & flag else None for flag in (HAS_INPUT, HAS_OUTPUT)]


def format_binary(parts: MachineParts, arc_type: str | None = None) -> bytes:
    """The bytes of a file. By default `standard` arcs for the tropical semiring, otherwise `log64`: costs of positive weights."""
    if arc_type is None:
        arc_type = "standard" if parts.semiring == "tropical" else "log64"
    if arc_type not in REALS:
        raise InputError(f"arc_type is {arc_type!r}, expected one of {', '.join(REALS)}")
    parts, real = as_kind(parts, "cost"), REALS[arc_type]
    parts.words("inputs"), parts.words("outputs")  # every label has its symbol
    order = np.argsort(parts.sources, kind="stable")
    arcs = np.empty(len(order), _arc(real))
    columns = (("input", parts.inputs), ("output", parts.outputs), ("weight", parts.weights), ("target", parts.targets))
    for name, values in columns:
        arcs[name] = values[order]
    finals = np.full(parts.n_states, np.inf, real)
    finals[parts.final_states] = parts.final_weights
    ends = np.searchsorted(parts.sources[order], np.arange(parts.n_states), side="right").tolist()
    flags = HAS_INPUT * (parts.input_symbols is not None) + HAS_OUTPUT * (parts.output_symbols is not None)
    out = [struct.pack("<i", MAGIC), _string("vector"), _string(arc_type)]
    out.append(struct.pack("<iiQqqq", VERSION, flags, PROPERTIES, parts.start, parts.n_states, len(arcs)))
    out += [_symbol_bytes(table) for table in (parts.input_symbols, parts.output_symbols) if table is not None]
    begin = 0
    for final, end in zip(finals, ends, strict=True):
        out += [final.tobytes(), struct.pack("<q", end - begin), arcs[begin:end].tobytes()]
        begin = end
    return b"".join(out)


def _arc(real: np.dtype[Any]) -> np.dtype[np.void]:
    return np.dtype([("input", "<i4"), ("output", "<i4"), ("weight", real), ("target", "<i4")])


def _states(bytes_: Bytes, n_states: int, real: np.dtype[Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The source of every arc, the final weight of every state, all arcs. A file written to a pipe counts -1 states."""
    finals, counts, chunks, arc = list[float](), list[int](), list[bytes](), _arc(real)
    while len(finals) != n_states and (n_states >= 0 or not bytes_.at_end()):
        what = f"state {len(finals)}" + (f" of {n_states}" if n_states >= 0 else "")
        finals.append(bytes_.number("<f" if real.itemsize == 4 else "<d", what))
        counts.append(bytes_.number("<q", what))
        chunks.append(bytes_.take(counts[-1] * arc.itemsize, f"the {counts[-1]:,} arcs of {what}"))
    sources = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return sources, np.array(finals, np.float64), np.frombuffer(b"".join(chunks), arc)


def check_labels(labels: np.ndarray, symbols: Sequence[str] | None, source: str) -> None:
    """Refuses labels that the table does not have."""
    most = 2**31 if symbols is None else len(symbols)
    bad = np.flatnonzero((labels < 0) | (labels >= most))
    if symbols is not None and not len(bad):
        missing = np.array([not symbol for symbol in symbols])
        missing[0] = False
        bad = np.flatnonzero(missing[labels])
    if len(bad):
        raise InputError(f"{source}: arc {bad[0]} has label {labels[bad[0]]}, which has no symbol in the file's table")


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<i", len(data)) + data


def _symbol_bytes(symbols: Sequence[str]) -> bytes:
    named = [(symbol or EPSILON, label) for label, symbol in enumerate(symbols) if symbol or not label]
    head = struct.pack("<i", SYMBOLS_MAGIC) + _string("symbols") + struct.pack("<qq", len(symbols), len(named))
    return head + b"".join(_string(symbol) + struct.pack("<q", label) for symbol, label in named)


def parse_text(
    text: str,
    source: str,
    semiring: str,
    isymbols: Sequence[str] | None = None,
    osymbols: Sequence[str] | None = None,
    acceptor: bool | None = None,
) -> MachineParts:
    """The machine of a text, with weights in `semiring`, not converted.

    Lines of four columns are arcs of a transducer without weights; of an acceptor with weights, if `acceptor`, or if
    other arcs have three columns, or if all fourth columns are decimal numbers such as 0.5.

    >>> parts = parse_text("0 1 a b 0.5\\n1 2.0\\n", "a.txt", "real")
    >>> parts.weights.tolist(), parts.final_weights.tolist(), parts.input_symbols
    ([0.5], [2.0], ['<eps>', 'a'])
    """
    rows = [(line, row) for line, row in enumerate(map(columns, text.split("\n")), 1) if row]
    if acceptor is None:
        acceptor = _is_acceptor([row for _, row in rows])
    width, one, lines = 3 if acceptor else 4, ONE[semiring], ArcLines(source, "")
    for line, row in rows:
        place = lines.place(line)
        weight = number(row[-1], place) if len(row) in (2, width + 1) else one
        if len(row) <= 2:
            lines.final(line, row[0], weight)
        elif len(row) in (width, width + 1):
            lines.arc(line, row[0], row[1], row[2], row[2] if acceptor else row[3], weight)
        else:
            kind = "an acceptor" if acceptor else "a transducer"
            raise InputError(
                f"{place}: found {len(row)} columns, expected {width} or {width + 1} for an arc of {kind}, 1 or 2 else"
            )
    if acceptor:
        (labels,), symbols = coded([lines], "inputs", isymbols)
        return lines.parts([labels] * 2, [symbols] * 2, semiring)
    (inputs,), input_symbols = coded([lines], "inputs", isymbols)
    (outputs,), output_symbols = coded([lines], "outputs", osymbols)
    return lines.parts((inputs, outputs), (input_symbols, output_symbols), semiring)


def _is_acceptor(rows: Sequence[Sequence[str]]) -> bool:
    widths = {len(row) for row in rows}
    fourth = [row[3] for row in rows if len(row) == 4]
    decimal = bool(fourth) and not any(text.isdecimal() or isnan(to_float(text)) for text in fourth)
    return 5 not in widths and (3 in widths or decimal)


def format_text(parts: MachineParts, kind: str | None = None) -> str:
    """The text of a machine, always with five columns; with its own weights, or converted to a kind."""
    if kind is not None:
        parts = as_kind(parts, kind)
    lines = machine_lines(parts, written_sides(parts), parts.weights.tolist(), parts.final_weights.tolist())
    return "".join(f"{line}\n" for line in lines)
