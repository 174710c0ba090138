"""Symbol tables: lists of the symbol of every label; the first, of label 0, is the empty string."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from treille.io.errors import InputError
from treille.io.machine import EPSILON

EMPTY = ("", EPSILON)  # names of label 0


def check_table(what: str, symbols: Iterable[Any]) -> list[str]:
    """A user's table, with the empty string inserted first if it is missing. A text is split into characters.

    >>> check_table("symbols", "ab")
    ['<eps>', 'a', 'b']
    """
    table = list(symbols)
    return check_names(what, table if table and table[0] in EMPTY else [EPSILON, *table])


def check_names(what: str, symbols: Sequence[Any]) -> list[str]:
    """Checks a table whose first symbol, whatever its name, has label 0. A valid list is not copied: many machines may share it."""
    table = symbols if isinstance(symbols, list) and symbols[:1] == [EPSILON] else [EPSILON, *symbols[1:]]
    if set(map(type, table)) == {str} and len(names := set(table)) == len(table) and "" not in names:
        return table
    seen: dict[str, int] = {}
    for label, symbol in enumerate(table):
        if not isinstance(symbol, str):
            raise InputError(f"{what}: the symbol of label {label} is {symbol!r}, expected a str")
        if label and symbol in EMPTY:
            raise InputError(
                f"{what}: the symbol of label {label} is {symbol!r}, which stands for the empty string, label 0"
            )
        if seen.setdefault(symbol, label) != label:
            raise InputError(f"{what}: {symbol!r} occurs twice, for the labels {seen[symbol]} and {label}")
    return table


def merge_tables(left: list[str] | None, right: list[str] | None) -> tuple[list[str] | None, np.ndarray | None]:
    """Merges two tables: the left one, followed by the symbols that only the right one has. Also returns the new label of every
    label of the right table, or None if the tables are equal.

    >>> merge_tables(["<eps>", "a", "b"], ["<eps>", "b", "c"])
    (['<eps>', 'a', 'b', 'c'], array([0, 2, 3], dtype=int32))
    """
    if left is right or left == right:
        return left, None
    if left is None or right is None:
        raise InputError(
            "one machine has a symbol table and the other has none, so their labels cannot be compared:"
            " give both tables, or neither"
        )
    labels = {symbol: label for label, symbol in enumerate(left)}
    recode = np.array([labels.setdefault(symbol, len(labels)) for symbol in right], np.int32)
    return list(labels), recode


def code_string(what: str, string: Any, codes: dict[str, int] | None) -> tuple[np.ndarray, int | None]:
    """The labels of a string: a text as characters, or a list of symbols, or of labels where there is no table.

    Also the position of the first symbol that has no label, None if all have one.
    """
    items = list(string) if isinstance(string, Iterable) else [string]
    labels = np.zeros(len(items), np.int32)
    unknown = None
    for place, item in enumerate(items):
        if isinstance(item, str):
            if codes is None:
                raise InputError(
                    f"{what}: symbol {place} is {item!r}, but the machine has no symbols: give labels, whole numbers"
                )
            label = codes.get(item)
            unknown = place if label is None and unknown is None else unknown
            labels[place] = label or 0
            empty = item in EMPTY
        elif isinstance(item, (int, np.integer)) and not isinstance(item, bool) and codes is None and 0 <= item < 2**31:
            labels[place] = item
            empty = item == 0
        else:
            kind = "a label, a whole number from 1 to 2^31 - 1" if codes is None else "a str"
            raise InputError(f"{what}: symbol {place} is {item!r}, expected {kind}")
        if empty:
            raise InputError(f"{what}: symbol {place} is {item!r}, the empty string, which is no symbol: leave it out")
    return labels, unknown
