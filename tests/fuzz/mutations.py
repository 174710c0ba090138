"""Random changes to bytes, to JSON values and to arrays. The same generator makes the same change."""

import copy
import random
import re
from typing import Any

import numpy as np

NUMBERS = [
    0,
    1,
    -1,
    2,
    7,
    127,
    255,
    256,
    1000,
    2**15,
    2**31 - 1,
    2**20,
    2**31,
    2**32 - 2,
    2**32,
    2**53,
    2**63 - 1,
    2**63,
    2**64,
    2**70,
    -(2**63),
]
FLOATS = [0.5, -0.0, 1e-320, 1e-5, 0.999, 1.0, 1e15, 1e154, 1e308, -1e308]
TEXTS = ["", "a", "(", ")", "word", "char", "integer", "\ud800", "\0", "NGram", "Trees", "é", "x" * 300]
TOKENS = [
    *b"()[]{}<>,;:\"'|#@=+-_\\/ \t\r\n\0",
    *(b"nan", b"inf", b"-inf", b"1e999", b"9" * 30, b"9" * 5000, b"99999999", b"-1", b"2147483648", b"0x1", b"1_0"),
    *(
        b"\xff",
        b"\xc3",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
        b"\xe2\x80\xa8",
        b"\xf0\x9f\x8d\x87",
        b"\r\n",
        b"\n\n",
        b"\t\t",
    ),
    *(
        b"|BT|",
        b"|ET|",
        b"|BTx|",
        b"|EV|",
        b"[" * 300,
        b"(" * 300,
        b"<a>" * 300,
        b"<!--",
        b"]]>",
        b"&#0;",
        b"null",
        b"true",
    ),
]
TOKENS = [token if isinstance(token, bytes) else bytes([token]) for token in TOKENS]
DIGITS = re.compile(rb"\d+")


def of_bytes(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """One to four changes of a file; pieces may come from other files."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        data = _bytes_once(data, others, rng)
    return data


def _bytes_once(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    end = min(len(data), at + int(rng.expovariate(1 / 6)) + 1)
    way = rng.randrange(9)
    if way == 0 and at < len(data):
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    if way == 1:
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    if way == 2:
        return data[:at] + data[end:]
    if way == 3:
        return data[:end] + data[at:end] * rng.choice((1, 2, 10, 1000)) + data[end:]
    if way == 4:
        return data[:at] + rng.choice(TOKENS) + data[at:]
    if way == 5:
        other = rng.choice(others)
        begin = rng.randrange(len(other) + 1)
        return data[:at] + other[begin : begin + rng.randrange(60)] + data[end:]
    if way == 6:
        places = list(DIGITS.finditer(data))
        if places:
            place, number = rng.choice(places), rng.choice([*NUMBERS, *FLOATS])
            return data[: place.start()] + str(number).encode() + data[place.end() :]
    if way == 7:
        lines = data.split(b"\n")
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[i], lines[j] = lines[j], lines[i]
        return b"\n".join(lines)
    return data[:at]


def of_json(value: Any, rng: random.Random) -> Any:
    """A copy with a change somewhere inside."""
    value = copy.deepcopy(value)
    holders = [holder for holder in _holders(value) if len(holder)]
    if not holders:
        return _replacement(value, value, rng)
    holder = rng.choice(holders)
    key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    way = rng.randrange(6)
    if way == 0:
        del holder[key]
    elif way == 1 and isinstance(holder, list):
        holder.insert(key, copy.deepcopy(holder[key]))
    elif way == 2:
        other = rng.choice(holders)
        there = rng.choice(list(other) if isinstance(other, dict) else range(len(other)))
        holder[key] = copy.deepcopy(other[there])
    elif way == 3 and isinstance(holder, list):
        rng.shuffle(holder)
    else:
        holder[key] = _replacement(holder[key], value, rng)
    return value


def of_sizes(value: Any, rng: random.Random) -> Any:
    """A copy in which one of the whole numbers is another one: those of a model file are sizes, often."""
    value = copy.deepcopy(value)
    places = [
        (holder, key)
        for holder in _holders(value)
        for key, each in (holder.items() if isinstance(holder, dict) else enumerate(holder))
        if isinstance(each, int) and not isinstance(each, bool)
    ]
    if places:
        holder, key = rng.choice(places)
        holder[key] = rng.choice([2 * holder[key], holder[key] + 1, holder[key] - 1, *NUMBERS])
    return value


def _holders(value: Any) -> list[Any]:
    found, waiting = [], [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, (dict, list)):
            found.append(each)
            waiting += each.values() if isinstance(each, dict) else each
    return found


def _replacement(old: Any, whole: Any, rng: random.Random) -> Any:
    way = rng.randrange(10)
    if isinstance(old, (int, float)) and not isinstance(old, bool) and way < 6:
        near = old + rng.choice((-2, -1, 1, 2))
        return rng.choice([near, near, near, 2 * old, -old, *NUMBERS, *FLOATS])
    if isinstance(old, str) and way < 5:
        return rng.choice([*TEXTS, old + "x", old[:-1], old.upper()])
    if way == 9:
        return copy.deepcopy(whole)  # twice as deep
    simple = [
        None,
        True,
        False,
        [],
        {},
        [[]],
        [None],
        {"a": 1},
        [1, "a"],
        {"pairs": [[[], 1]]},
        {"object": "DualCD", "params": {}},
    ]
    return rng.choice([*simple, *NUMBERS, *FLOATS, *TEXTS])


def of_arrays(arrays: dict[str, np.ndarray], rng: random.Random) -> dict[str, np.ndarray]:
    """A copy with one array changed, exchanged or missing."""
    arrays = dict(arrays)
    if not arrays:
        return arrays
    name = rng.choice(sorted(arrays))
    if rng.random() < 0.08:
        other = rng.choice(sorted(arrays))
        arrays[name], arrays[other] = arrays[other], arrays[name]
    elif rng.random() < 0.03:
        del arrays[name]
    else:
        arrays[name] = _array(arrays[name].copy(), rng)
    return arrays


def _array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    way = rng.randrange(14)
    if way < 8 and array.size:
        return _one_number(array, rng)
    if way == 8:
        return array[: rng.randrange(len(array) + 1)] if array.ndim else array
    if way == 9 and array.ndim and len(array):
        return np.concatenate([array, array[: rng.randrange(len(array)) + 1]])
    if way == 10:
        kinds = ["u1", "i1", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?", "f2"]
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(kinds))
    if way == 11:
        return rng.choice(
            [array.reshape(-1), array.reshape(1, -1), array.reshape(-1, 1), np.array(0), array[..., None]]
        )
    if way == 12:
        return np.random.default_rng(rng.randrange(2**32)).permutation(array) if array.ndim else array
    return np.zeros_like(array) if rng.random() < 0.5 else array[:0] if array.ndim else array


def _one_number(array: np.ndarray, rng: random.Random) -> np.ndarray:
    flat = array.reshape(-1)
    at = rng.randrange(flat.size)
    if rng.random() < 0.3:
        bits = flat[at : at + 1].view(np.uint8)
        bits[rng.randrange(len(bits))] ^= 1 << rng.randrange(8)
        return array
    if flat.dtype.kind == "f":
        choices = [*FLOATS, np.nan, np.inf, -np.inf, float(flat[at]) + 1]
    else:
        choices = [int(flat[at]) + rng.choice((-1, 1)), int(flat[rng.randrange(flat.size)]), *NUMBERS]
    with np.errstate(all="ignore"):
        if flat.dtype.kind == "f":
            flat[at] = rng.choice(choices)
        elif flat.dtype.kind in "iu":
            flat[at] = np.array(int(rng.choice(choices)) & 0xFFFFFFFFFFFFFFFF, np.uint64).astype(flat.dtype)
    return array
