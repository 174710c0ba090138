"""Labels as strings, from whatever a file holds: strings, numbers, or lists seen as one value against the rest."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from .errors import InputError

Found = list[tuple[int, object]]


def spell(value: object) -> str | None:
    """A label as a string, None if there is none: strings are stripped, numbers and booleans written as in JSON.

    >>> spell(" spam "), spell(1), spell(True), spell(""), spell(None)
    ('spam', '1', 'true', None, None)
    """
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, (int, float)) and value == value:
        return json.dumps(value)
    return None


def as_labels(found: Found, field: str, value: str | None, source: str) -> list[str]:
    """The label of every `(line, what was found)`; with `value`, that value or `not value`.

    >>> as_labels([(1, ["acq", "grain"]), (2, [])], "topics", "acq", "news.jsonl")
    ['acq', 'not acq']
    """
    if value is None:
        for number, label in found:
            if isinstance(label, list):
                raise _several(number, found, field, source)
        return [_one(number, label, field, source) for number, label in found]
    return [value if value in _all(number, label, field, source) else f"not {value}" for number, label in found]


def _all(number: int, label: object, field: str, source: str) -> Iterable[str]:
    if isinstance(label, list):
        return [_one(number, one, field, source) for one in label]
    return (_one(number, label, field, source),)


def _one(number: int, label: object, field: str, source: str) -> str:
    spelt = spell(label)
    if spelt is None:
        missing = label is None or isinstance(label, str)
        what = "missing" if missing else json.dumps(label)[:40]
        raise InputError(
            f"{source}, line {number}: the label is {what} (field {field!r}), expected a string or a number"
        )
    return spelt


def _several(number: int, found: Found, field: str, source: str) -> InputError:
    counts = Counter(spell(one) or "" for _, label in found if isinstance(label, list) for one in label)
    common = [value for value, _ in counts.most_common(5)] or ["VALUE"]
    return InputError(
        f"{source}, line {number}: field {field!r} is a list, and an example has one label. Set one value against the"
        f' rest with --label {field}={common[0]} (label="{field}={common[0]}" in Python);'
        f" the most frequent: {', '.join(common)}"
    )
