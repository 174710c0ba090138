"""Labels as strings, from strings, numbers, or lists of which one value is set against the rest."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable

from .errors import InputError
from .fields import Fields

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


def labels_of(found: Found, fields: Fields, source: str) -> list[str] | None:
    """The labels of a file, None if it has no field for them."""
    return None if fields.label is None else as_labels(found, fields.label, fields.value, source, fields.matches)


def as_labels(found: Found, field: str, value: str | None, source: str, matches: bool = False) -> list[str]:
    """The label of every `(line, what was found)`; with `value`, that value or `not value`.

    If `matches`, the value is a regular expression, looked for anywhere in the label, which may be empty.

    >>> as_labels([(1, ["acq", "grain"]), (2, [])], "topics", "acq", "news.jsonl")
    ['acq', 'not acq']
    >>> as_labels([(1, "Really?"), (2, "")], "en", r"\\?$", "talk.jsonl", matches=True)
    ['\\\\?$', 'not \\\\?$']
    """
    if matches and value is not None:
        found_in = _expression(value, field).search
        return [
            value if any(found_in(one) for one in _strings(number, label, field, source)) else f"not {value}"
            for number, label in found
        ]
    if value is None:
        for number, label in found:
            if isinstance(label, list):
                raise _several(number, found, field, source)
        return [_one(number, label, field, source) for number, label in found]
    return [value if value in _all(number, label, field, source) else f"not {value}" for number, label in found]


def _expression(pattern: str, field: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise InputError(f"--label {field}~{pattern}: not a regular expression: {error}") from None


def _strings(number: int, label: object, field: str, source: str) -> Iterable[str]:
    return (label,) if isinstance(label, str) else _all(number, label, field, source)


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
