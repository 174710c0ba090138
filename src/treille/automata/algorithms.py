"""Composition, epsilon removal, determinisation, pushing, minimisation and the test of equivalence: what `Fst` asks of the core."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import numpy as np

from treille import _core
from treille.io.errors import InputError

if TYPE_CHECKING:
    from treille.automata.fst import Fst

P = ParamSpec("P")
R = TypeVar("R")


def asked(algorithm: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """The core's answer; its refusals, which say what is wrong with a machine, are errors of input."""
    try:
        return algorithm(*arguments, **named)
    except ValueError as error:
        raise InputError(str(error)) from None


def compose(left: Fst, right: Fst) -> _core.Machine:
    """The machine of left @ right, labels in between matched by symbol."""
    check_semirings(left, right, "@")
    matched = right.machine
    what = ("the left machine writes", "the right machine reads")
    recode = recoding(right.input_symbols, left.output_symbols, what[::-1])
    if recode is not None:
        start, sources, inputs, outputs, weights, targets, finals = matched.arrays()
        matched = _core.Machine.from_arrays(start, sources, recode[inputs], outputs, weights, targets, finals)
    return asked(_core.compose, left.machine, matched, left.semiring)


def equivalent(a: Fst, b: Fst, tolerance: float) -> bool:
    """Whether both give every pair of strings the same weight, labels matched by symbol."""
    if not tolerance >= 0:
        raise InputError(f"tolerance is {tolerance!r}, expected a number that is not negative")
    check_semirings(a, b, "equivalent")
    matched = b.machine
    what = ("the second machine", "the first machine")
    recode_in = recoding(b.input_symbols, a.input_symbols, tuple(f"{side} reads" for side in what))
    recode_out = recoding(b.output_symbols, a.output_symbols, tuple(f"{side} writes" for side in what))
    if recode_in is not None or recode_out is not None:
        start, sources, inputs, outputs, weights, targets, finals = matched.arrays()
        inputs = inputs if recode_in is None else recode_in[inputs]
        outputs = outputs if recode_out is None else recode_out[outputs]
        matched = _core.Machine.from_arrays(start, sources, inputs, outputs, weights, targets, finals)
    return asked(_core.equivalent, a.machine, matched, a.semiring, tolerance)


def check_semirings(a: Fst, b: Fst, operation: str) -> None:
    """Machines meet over one semiring only."""
    if a.semiring != b.semiring:
        raise InputError(f"{operation} needs one semiring, found {a.semiring} and {b.semiring}: convert one with astype()")


def recoding(
    symbols: Sequence[str] | None, known: Sequence[str] | None, what: Sequence[str]
) -> np.ndarray | None:
    """The label in table `known` of each label of table `symbols`; None where they are the same.

    Symbols that `known` lacks get labels of their own beyond it: they match nothing.
    """
    if symbols is known or symbols == known:
        return None
    if symbols is None or known is None:
        has, lacks = (what[0], what[1]) if known is None else (what[1], what[0])
        raise InputError(f"what {has} has a table of symbols, what {lacks} has none: give both a table, or neither")
    labels = {symbol: label for label, symbol in enumerate(known)}
    labels[symbols[0]] = 0  # the empty string, however it is written
    return np.array([labels.setdefault(symbol, len(labels)) for symbol in symbols], np.int32)
