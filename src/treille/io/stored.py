"""Values and arrays of model files, whose content is not trusted: whatever is read here has the type and the range asked for."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .errors import InputError
from .open import Budget
from .packed import are_offsets
from .units import BASES, SPLIT, TextUnit

DEEPEST = 250  # of dicts; a kernel inside a kernel takes two, and several calls in Python, which allows 1,000


def value(spec: Any, name: str, kind: type | tuple[type, ...]) -> Any:
    """The field `name`, of a type; booleans are no numbers.

    >>> value({"n": 3}, "n", int)
    3
    """
    if not isinstance(spec, Mapping) or name not in spec:
        raise InputError(f"the field {name!r} is missing")
    found = spec[name]
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if not isinstance(found, kinds) or (isinstance(found, bool) and bool not in kinds):
        expected = " or ".join(each.__name__ for each in kinds)
        raise InputError(f"the field {name!r} is {_shown(found)}, expected {expected}")
    return found


def whole(spec: Any, name: str, least: int = 0, most: int = 2**62) -> int:
    """The field `name`, a whole number between two others."""
    number: int = value(spec, name, int)
    if not least <= number <= most:
        raise InputError(f"the field {name!r} is {_shown(number)}, expected a number from {least:,} to {most:,}")
    return number


def size(spec: Any, name: str, arrays: Mapping[str, np.ndarray], each: int = 8) -> int:
    """The field `name`, a number of things that take `each` bytes in memory, bounded by the arrays beside it: see `check_size`."""
    found = whole(spec, name)
    check_size(f"the field {name!r}", found * each, sum(array.nbytes for array in arrays.values()))
    return found


def check_size(what: str, needed: int, beside: int) -> None:
    """Refuses a size in a file that asks for many times the memory of what is beside it: more than its `Budget`.

    >>> check_size("the field 'n_columns'", 2**34, 24)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treille.io.errors.InputError: the field 'n_columns': expands to more than 200 times its 24 bytes...
    """
    Budget(what, beside).spend(needed)


def number(spec: Any, name: str) -> float:
    """The field `name`, a finite number."""
    try:
        found = float(value(spec, name, (int, float)))
    except OverflowError:
        found = np.inf
    if not np.isfinite(found):
        raise InputError(f"the field {name!r} is not a finite number")
    return found


def names(spec: Any, name: str = "alphabet") -> list[str]:
    """The field `name`, a list of different strings."""
    found = value(spec, name, list)
    if not all(isinstance(each, str) for each in found) or len(set(found)) < len(found):
        raise InputError(f"the field {name!r} is {_shown(found)}, expected different strings")
    return list(found)


def unit(spec: Any) -> str:
    """The field `unit` of a batch."""
    found: str = value(spec, "unit", str)
    try:
        return str(TextUnit.of(found))
    except InputError:
        choices = ", ".join((*BASES, *SPLIT))
        raise InputError(f"the field 'unit' is {_shown(found)}, expected one of {choices}, or with modifiers") from None


def alphabet(spec: Any) -> tuple[list[Any], str]:
    """The fields `alphabet` and `unit`: different symbols, of the type that belongs to the unit.

    >>> alphabet({"alphabet": ["a", "b"], "unit": "char"})
    (['a', 'b'], 'char')
    """
    of = unit(spec)
    if of not in ("byte", "integer"):  # which have no modifiers
        return names(spec), of
    least, stop = (0, 2**8) if of == "byte" else (-(2**63), 2**63)
    found = value(spec, "alphabet", list)
    sound = all(isinstance(each, int) and not isinstance(each, bool) and least <= each < stop for each in found)
    if not sound or len(set(found)) < len(found):
        raise InputError(
            f"the field 'alphabet' is {_shown(found)}, expected different numbers from {least:,} to {stop - 1:,}"
        )
    return list(found), of


def rows(spec: Any, name: str, kinds: tuple[type, ...]) -> list[list[Any]]:
    """The field `name`, a list of rows of these types: 32-bit whole numbers and finite floats.

    >>> rows({"finals": [[2, 1]]}, "finals", (int, float))
    [[2, 1.0]]
    """
    found = value(spec, name, list)
    for row in found:
        if not isinstance(row, list) or len(row) != len(kinds):
            raise InputError(f"the field {name!r} has a row that is {_shown(row)}, expected {len(kinds)} values")

    def cell(x: Any, kind: type) -> Any:
        return whole({name: x}, name, -1, 2**31 - 1) if kind is int else number({name: x}, name)

    return [list(map(cell, row, kinds)) for row in found]


def check_depth(spec: Any) -> None:
    """Refuses a kernel inside more than a hundred others, which Python could not call."""
    level, depth = [spec], 0
    while level := [v for each in level for v in each.values() if isinstance(v, dict)]:
        depth += 1
        if depth > DEEPEST:
            raise InputError("the kernel is made of more than a hundred kernels, one inside the other: use Columns")


def array(arrays: Mapping[str, np.ndarray], name: str, kind: Any, ndim: int = 1, finite: bool = True) -> np.ndarray:
    """The array `name`, contiguous and of type `kind`: whole numbers that this type can hold, or finite numbers.

    With ``finite=False`` numbers may be infinite, but not NaN.

    >>> array({"ids": np.array([1, 2], np.uint8)}, "ids", np.int32)
    array([1, 2], dtype=int32)
    """
    if name not in arrays:
        raise InputError(f"the array {name!r} is missing")
    found, dtype = arrays[name], np.dtype(kind)
    if found.ndim != ndim:
        raise InputError(f"the array {name!r} has {found.ndim} dimensions, expected {ndim}")
    if dtype.kind == "f":
        if found.dtype.kind != "f" or np.isnan(found).any() or (finite and np.isinf(found).any()):
            raise InputError(f"the array {name!r} is of {found.dtype}, or not finite, expected finite numbers")
    elif found.dtype.kind not in "iu" or not _within(found, np.iinfo(dtype).min, np.iinfo(dtype).max + 1):
        raise InputError(f"the array {name!r} is of {found.dtype}, or too large, expected whole numbers of {dtype}")
    return np.ascontiguousarray(found, dtype)


def indices(arrays: Mapping[str, np.ndarray], name: str, stop: int, least: int = 0, kind: Any = np.int32) -> np.ndarray:
    """The array `name` of whole numbers from `least` to below `stop`."""
    found = array(arrays, name, kind)
    if not _within(found, least, stop):
        raise InputError(f"the array {name!r} has numbers outside of {least:,} to {stop - 1:,}")
    return found


def offsets(arrays: Mapping[str, np.ndarray], name: str, end: int) -> np.ndarray:
    """The array `name`, which must rise from 0 to `end`."""
    found = array(arrays, name, np.int64)
    if not are_offsets(found, end):
        raise InputError(f"the array {name!r} does not rise from 0 to {end:,}")
    return found


def under(name: str, arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a part, with `name` and a dot before their names. `part` is the inverse."""
    return {f"{name}.{key}": own for key, own in arrays.items()}


def part(arrays: Mapping[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    """The arrays whose names begin with `name` and a dot, without this prefix.

    >>> part(under("0", {"ids": np.zeros(1)}) | {"b": np.ones(1)}, "0")
    {'ids': array([0.])}
    """
    return {key.removeprefix(f"{name}."): own for key, own in arrays.items() if key.startswith(f"{name}.")}


def joined(
    name: str, states: Iterable[tuple[dict[str, Any], dict[str, np.ndarray]]]
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Several states as one: the field `name` lists their specs, and their arrays are `under` their places."""
    specs, arrays = list[dict[str, Any]](), dict[str, np.ndarray]()
    for place, (spec, own) in enumerate(states):
        specs.append(spec)
        arrays |= under(str(place), own)
    return {name: specs}, arrays


def _within(found: np.ndarray, least: int, stop: int) -> bool:
    return found.size == 0 or (int(found.min()) >= least and int(found.max()) < stop)


def _shown(found: Any) -> str:
    if isinstance(found, (list, dict)):
        return f"a {type(found).__name__} of {len(found):,}"
    if isinstance(found, int) and abs(found) >= 2**64:
        return "a very large number"
    return repr(found)[:60]
