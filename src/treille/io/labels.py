"""Labels as strings, from strings, numbers, or lists of which one value is set against the rest."""

import json
import re
from collections import Counter
from collections.abc import Iterable

from .errors import InputError
from .fields import Fields

Found = list[tuple[int, object]]


def label_text(value: object) -> str | None:
    """A label as a string, None if there is none: strings are stripped, numbers and booleans written as in JSON.

    >>> label_text(" spam "), label_text(1), label_text(True), label_text(""), label_text(None)
    ('spam', '1', 'true', None, None)
    """
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, (int, float)) and value == value:
        return json.dumps(value)
    return None


def labels_of(found: Found, fields: Fields, source: str, skip: bool = False) -> list[str] | None:
    """The label of every `(line, what was found)`, or with `fields.value` that value or `not value`; None without a label field.

    If `fields.matches`, the value is a regular expression, looked for anywhere in the label, which may be empty. With `skip`, a
    missing label is the empty string, which no other label is: `read` leaves these examples out.

    >>> labels_of([(1, ["acq", "grain"]), (2, [])], Fields((), "topics", "acq"), "news.jsonl")
    ['acq', 'not acq']
    >>> labels_of([(1, "Really?"), (2, "")], Fields((), "en", r"\\?$", matches=True), "talk.jsonl")
    ['\\\\?$', 'not \\\\?$']
    """
    field, value = fields.label, fields.value
    if field is None:
        return None
    if skip and not fields.matches:
        there = [i for i, (_, label) in enumerate(found) if isinstance(label, list) or label_text(label)]
        known = dict(zip(there, labels_of([found[i] for i in there], fields, source) or [], strict=True))
        return [known.get(i, "") for i in range(len(found))]
    if fields.matches and value is not None:
        found_in = _expression(value, field).search
        return [
            value
            if any(map(found_in, [label] if isinstance(label, str) else _all(number, label, field, source)))
            else f"not {value}"
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


def _all(number: int, label: object, field: str, source: str) -> Iterable[str]:
    if isinstance(label, list):
        return [_one(number, one, field, source) for one in label]
    return (_one(number, label, field, source),)


def _one(number: int, label: object, field: str, source: str) -> str:
    text = label_text(label)
    if text is None:
        missing = label is None or isinstance(label, str)
        what = "missing" if missing else json.dumps(label, default=repr)[:40]
        hint = "; --skip-unlabelled (skip_unlabelled=True in Python) leaves such examples out" * missing
        raise InputError(
            f"{source}, line {number}: the label is {what} (field {field!r}), expected a string or a number{hint}"
        )
    return text


def _several(number: int, found: Found, field: str, source: str) -> InputError:
    counts = Counter(label_text(one) or "" for _, label in found if isinstance(label, list) for one in label)
    common = [value for value, _ in counts.most_common(5)] or ["VALUE"]
    return InputError(
        f"{source}, line {number}: field {field!r} is a list, and an example has one label. Set one value against the"
        f' rest with --label {field}={common[0]} (label="{field}={common[0]}" in Python);'
        f" the most frequent: {', '.join(common)}"
    )
