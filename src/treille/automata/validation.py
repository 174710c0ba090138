"""Validation of machines: numbers and names are checked here, once, before a machine is built."""

from collections.abc import Callable
from dataclasses import replace
from math import inf, isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from treille.automata.symbols import EMPTY, check_names, check_table
from treille.io.errors import InputError
from treille.io.machine import EPSILON, SEMIRINGS, MachineParts
from treille.io.weights import ONE as ONE

ZERO = {"real": 0.0, "log": inf, "tropical": inf}
LARGEST = 2**31 - 1


def call_core(algorithm: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of the core; its errors become `InputError`."""
    try:
        return algorithm(*arguments)
    except ValueError as error:
        raise InputError(str(error)) from None


def check_semiring(semiring: Any) -> str:
    """The semiring; raises an `InputError` for any other value."""
    if semiring not in SEMIRINGS:
        raise InputError(f"semiring is {semiring!r}, expected one of {', '.join(map(repr, SEMIRINGS))}")
    return str(semiring)


def check_weight(what: str, weight: Any) -> float:
    """The weight as a float; raises an `InputError` unless it is a finite number."""
    if type(weight) is float and isfinite(weight):
        return weight
    if not isinstance(weight, Real) or isinstance(weight, bool) or not isfinite(weight):
        raise InputError(f"{what} is {weight!r}, expected a finite number")
    return float(weight)


def check_state(what: str, state: Any) -> int:
    """The state as an int; raises an `InputError` unless it is a whole number from 0."""
    if type(state) is int and 0 <= state < LARGEST:
        return state
    if not isinstance(state, Integral) or isinstance(state, bool) or not 0 <= int(state) < LARGEST:
        raise InputError(f"{what} is {state!r}, expected a state, a whole number from 0")
    return int(state)


class ArcList:
    """Arcs added one by one: each is checked, and its labels are coded.

    Given tables are fixed; without one, strings get labels in order of first use, in one table for both sides.
    """

    def __init__(self, input_symbols: Any = None, output_symbols: Any = None):
        tables = [
            None if table is None else check_table(name, table)
            for name, table in (("input_symbols", input_symbols), ("output_symbols", output_symbols))
        ]
        given = tables[0] or tables[1]  # one table serves both sides
        codes = [{name: label for label, name in enumerate(table or given or [EPSILON])} for table in tables]
        self.grows = given is None
        self.codes = (codes[0], codes[0]) if self.grows else (codes[0], codes[1])
        self.kinds: dict[type, int] = {}  # the first arc with a label of this kind
        self.rows: list[tuple[int, int, int, float, int]] = []

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, source: Any, input: Any, output: Any, weight: Any, target: Any) -> None:
        """Adds an arc."""
        try:
            ends = check_state("its source", source), check_state("its target", target)
            number = check_weight("its weight", weight)
            labels = self._label("its input", input, 0), self._label("its output", output, 1)
            self.rows.append((ends[0], *labels, number, ends[1]))
        except InputError as error:
            named = f"({source!r}, {input!r}, {output!r}, {weight!r}, {target!r})"
            raise InputError(f"arc {len(self)}, {named}: {error}") from None

    def _label(self, what: str, label: Any, side: int) -> int:
        codes = self.codes[side]
        if isinstance(label, str):
            if label not in codes:
                if label in EMPTY:
                    return 0
                if not self.grows:
                    raise InputError(f"{what} is {label!r}, which the symbol table does not have")
                self._check_kind(what, label, str, int)
                codes[label] = len(codes)
            return codes[label]
        number = label if type(label) is int else int(label) if isinstance(label, np.integer) else -1
        if not 0 <= number <= LARGEST:
            raise InputError(f"{what} is {label!r}, expected a str, or a label, a whole number from 0 to 2^31 - 1")
        if self.grows and number and (int not in self.kinds or str in self.kinds):
            self._check_kind(what, label, int, str)
        return number

    def _check_kind(self, what: str, label: Any, kind: type, other: type) -> None:
        if other in self.kinds:
            raise InputError(
                f"{what} is {label!r}, but arc {self.kinds[other]} has a label that is {'a str' if other is str else 'a number'}:"
                " labels are all names or all numbers, unless a symbol table is given"
            )
        self.kinds.setdefault(kind, len(self))

    def n_states(self) -> int:
        """One more than the largest state that an arc names."""
        return 1 + max((max(row[0], row[4]) for row in self.rows), default=-1)

    def parts(self, n_states: int, finals: dict[int, float], start: int, semiring: str) -> MachineParts:
        """All arcs, with final states and a start that are checked already."""
        named = not self.grows or str in self.kinds
        inputs, outputs = (list(codes) if named else None for codes in self.codes)
        parts = MachineParts.of(self.rows, finals, start, semiring)
        return replace(parts, n_states=n_states, input_symbols=inputs, output_symbols=outputs)


def check_parts(parts: MachineParts) -> MachineParts:
    """The parts with arrays of the right types; raises an `InputError` that names the first invalid number."""
    zero, n = ZERO[check_semiring(parts.semiring)], parts.n_states
    names = ("sources", "inputs", "outputs", "targets", "final_states")
    sources, inputs, outputs, targets, ends = (_column(parts, name, "whole numbers", np.int64) for name in names)
    weights, end_weights = (_column(parts, name, "numbers", np.float64) for name in ("weights", "final_weights"))
    if not len(sources) == len(inputs) == len(outputs) == len(weights) == len(targets):
        raise InputError("the columns sources, inputs, outputs, weights and targets of the arcs have different lengths")
    if len(ends) != len(end_weights):
        raise InputError(f"there are {len(ends)} final states, but {len(end_weights)} weights of final states")

    def refuse(bad: np.ndarray, message: str, values: np.ndarray) -> None:
        if bad.any():
            a = int(np.argmax(bad))
            arc = tuple(column[a].item() for column in (sources, inputs, outputs, weights, targets))
            raise InputError(f"arc {a}, {arc}: {message.format(values[a])}")

    there = f"there are {n} states" if n != 1 else "there is 1 state"
    refuse((sources < 0) | (sources >= n), f"it leaves state {{}}, but {there}", sources)
    refuse((targets < 0) | (targets >= n), f"it leads to state {{}}, but {there}", targets)
    refuse(~np.isfinite(weights), "its weight is {}, expected a finite number", weights)
    tables: list[list[str] | None] = []
    for side, labels, symbols in (("input", inputs, parts.input_symbols), ("output", outputs, parts.output_symbols)):
        shared = side == "output" and symbols is parts.input_symbols
        table = tables[0] if shared else None if symbols is None else check_names(f"{side}_symbols", symbols)
        last = LARGEST if table is None else len(table) - 1
        refuse(labels < 0, f"its {side} label is {{}}, expected 0 or more", labels)
        refuse(labels > last, f"its {side} label is {{}}, but the last one that has a symbol is {last}", labels)
        tables.append(table)
    if (bad := (ends < 0) | (ends >= n)).any():
        raise InputError(f"state {ends[np.argmax(bad)]} is final, but {there}")
    if (bad := ~np.isfinite(end_weights) & (end_weights != zero)).any():
        place = int(np.argmax(bad))
        raise InputError(f"the final weight of state {ends[place]} is {end_weights[place]}, expected a finite number")
    if len(np.unique(ends)) < len(ends):
        raise InputError(f"state {np.argmax(np.bincount(ends))} is named twice among the final states")
    if not (0 <= parts.start < n or (parts.start == -1 and n == 0)):
        raise InputError(f"there is no start: it is {parts.start}, but {there}, numbered from 0")
    sources, inputs, outputs, targets, ends = (a.astype(np.int32) for a in (sources, inputs, outputs, targets, ends))
    arrays = (sources, inputs, outputs, weights, targets, ends, end_weights)
    return MachineParts(int(parts.start), int(n), *arrays, parts.semiring, tables[0], tables[1])


def _column(parts: MachineParts, name: str, what: str, dtype: type[Any]) -> np.ndarray:
    array = np.asarray(getattr(parts, name))
    if array.ndim != 1 or (array.dtype.kind not in ("iu" if dtype is np.int64 else "iuf") and array.size):
        raise InputError(f"{name}: expected an array of {what}, found {array.dtype} of {array.ndim} dimensions")
    return np.ascontiguousarray(array, dtype)
