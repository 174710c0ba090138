"""OpenFst's text: `source target input output [weight]` for an arc, `source target label [weight]` for an arc of an acceptor, and
`state [weight]` for a final state. The first state is the start; the default weight is the semiring's one. One machine per file.
"""

from collections.abc import Sequence
from math import isnan

from .arc_lines import ArcLines, coded, machine_lines, number, written_sides
from .errors import InputError
from .machine import MachineParts
from .parameters import to_float
from .symbols import columns
from .weights import ONE, as_kind


def parse(
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

    >>> parts = parse("0 1 a b 0.5\\n1 2.0\\n", "a.txt", "real")
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


def format_machine(parts: MachineParts, kind: str | None = None) -> str:
    """The text of a machine, always with five columns; with its own weights, or converted to a kind."""
    if kind is not None:
        parts = as_kind(parts, kind)
    lines = machine_lines(parts, written_sides(parts), parts.weights.tolist(), parts.final_weights.tolist())
    return "".join(f"{line}\n" for line in lines)
