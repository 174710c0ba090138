"""JSON lines of machines: objects with the fields `arcs` and `finals`, as `Fst.from_arcs` takes them.

`{"arcs": [[0, "a", "b", 0.5, 1], ...], "finals": {"1": 1.0}, "start": 0, "semiring": "real", "name": "utt-1"}`; an arc of an
acceptor may leave its output out. Labels are words, or numbers; 0, "" and "<eps>" are the empty string.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .errors import InputError
from .machine import SEMIRINGS, MachineParts
from .symbols import Coder
from .weights import SEMIRING, as_kind, in_semiring

EXPECTED = "expected [source, input, output, weight, target] or, of an acceptor, [source, label, weight, target]"


def is_machine(record: Mapping[str, object]) -> bool:
    """Returns whether an object of a JSON lines file is a machine."""
    return isinstance(record.get("arcs"), list) and "finals" in record


def parse(
    records: Sequence[Mapping[str, object]], places: Sequence[str], weights: str | None = None
) -> list[MachineParts]:
    """The machines of these objects, over one symbol table. `weights` overrides their `semiring`.

    >>> machine, = parse([{"arcs": [[0, "vine", 0.5, 1]], "finals": {"1": 1.0}}], ["a.jsonl, line 1"])
    >>> machine.words(), machine.weights.tolist(), machine.semiring
    (['vine'], [0.5], 'real')
    """
    coder = Coder()
    machines = [_machine(record, place, weights, coder) for record, place in zip(records, places, strict=True)]
    symbols = coder.symbols()
    return [replace(m, input_symbols=symbols, output_symbols=symbols) if m.input_symbols == [] else m for m in machines]


def _machine(record: Mapping[str, object], place: str, weights: str | None, coder: Coder) -> MachineParts:
    semiring = record.get("semiring", "real")
    if semiring not in SEMIRINGS:
        raise InputError(f"{place}: semiring is {json.dumps(semiring)[:40]}, expected one of {', '.join(SEMIRINGS)}")
    arcs, finals = record.get("arcs"), record.get("finals")
    if not isinstance(arcs, list) or not isinstance(finals, dict):
        raise InputError(f"{place}: expected the fields arcs, a list, and finals, an object of states and weights")
    rows = [_arc(arc, f"{place}, arc {a}") for a, arc in enumerate(arcs)]
    named = any(isinstance(label, str) for row in rows for label in row[1:3])
    columns = list(zip(*rows, strict=True)) or [()] * 5
    inputs, outputs = (coder.labels(str(x or "") for x in side) if named else side for side in columns[1:3])
    ends = {_state(s, f"{place}, finals"): _weight(w, f"{place}, finals") for s, w in finals.items()}
    start = _state(record.get("start", 0), f"{place}, start") if rows or ends else -1
    coded = list(zip(columns[0], inputs, outputs, columns[3], columns[4], strict=True))
    name = str(record.get("name", record.get("id", "")))
    parts = replace(MachineParts.of(coded, ends, start, str(semiring)), name=name)
    if (n := parts.n_states) > 1000 * (len(rows) + len(ends) + 1):
        raise InputError(f"{place}: there is a state {n - 1}, but few arcs, expected states numbered from 0")
    if named:
        parts = replace(parts, input_symbols=[], output_symbols=[])  # all share one table, which is whole at the end
    if weights is None:
        return parts
    arcs_weights, final_weights = (in_semiring(w, weights, place) for w in (parts.weights, parts.final_weights))
    return replace(parts, weights=arcs_weights, final_weights=final_weights, semiring=SEMIRING[weights])


def _arc(arc: object, place: str) -> tuple[int, object, object, float, int]:
    if not isinstance(arc, list) or len(arc) not in (4, 5):
        raise InputError(f"{place}: found {json.dumps(arc)[:40]}, {EXPECTED}")
    labels = arc[1:-2] * (2 if len(arc) == 4 else 1)
    for label in labels:
        if not isinstance(label, str) and (type(label) is not int or not 0 <= label < 2**31):
            raise InputError(f"{place}: the label is {json.dumps(label)[:40]}, expected a word, or a number from 0")
    return _state(arc[0], place), labels[0], labels[1], _weight(arc[-2], place), _state(arc[-1], place)


def _state(state: object, place: str) -> int:
    if isinstance(state, bool) or not str(state).isdecimal() or float(str(state)) >= 2**31:
        raise InputError(f"{place}: the state is {json.dumps(state)[:40]}, expected a whole number from 0")
    return int(str(state))


def _weight(weight: object, place: str) -> float:
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight):
        raise InputError(f"{place}: the weight is {json.dumps(weight)[:40]}, expected a finite number")
    return float(weight)


def format_machine(parts: MachineParts, kind: str | None = None) -> str:
    """The machine as one line, without the line end; with its own weights, or converted to a kind."""
    if kind is not None:
        parts = as_kind(parts, kind)
    inputs = parts.inputs.tolist() if parts.input_symbols is None else parts.words("inputs")
    outputs = parts.outputs.tolist() if parts.output_symbols is None else parts.words("outputs")
    sides = (inputs,) if parts.is_acceptor else (inputs, outputs)
    arcs = zip(parts.sources.tolist(), *sides, parts.weights.tolist(), parts.targets.tolist(), strict=True)
    finals = {str(s): w for s, w in zip(parts.final_states.tolist(), parts.final_weights.tolist(), strict=True)}
    record: dict[str, Any] = {"name": parts.name} if parts.name else {}
    record |= {"semiring": parts.semiring if kind is None else SEMIRING[kind], "start": parts.start}
    return json.dumps(record | {"arcs": list(arcs), "finals": finals}, ensure_ascii=False)
