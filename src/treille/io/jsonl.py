"""JSON lines, one object per line, blank lines skipped; or an array of objects."""

import json
import re
from collections.abc import Iterable, Iterator

from .blocks import split_head
from .errors import InputError
from .fields import Records

SPACE = re.compile(r"[\s,]*")
EXPECTED = 'expected one object per line, such as {"text": "...", "label": "..."}'


def records(lines: Iterable[str], source: str) -> Records:
    """The objects of a JSON lines file, or of an array, as numbered records.

    >>> list(records(['{"text": "a vine", "label": 1}\\n'], "vines.jsonl"))
    [(1, {'text': 'a vine', 'label': 1})]
    >>> list(records(['[{"text": "a vine"},\\n', '{"text": "a fig"}]'], "vines.json"))
    [(1, {'text': 'a vine'}), (2, {'text': 'a fig'})]
    """
    head, lines = split_head(lines)
    if head and head[-1].lstrip().startswith("["):
        yield from _members("".join(lines), source)
        return
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            message = f"{source}, line {number}, column {error.colno}: not valid JSON: {error.msg}; {EXPECTED}"
            raise InputError(message) from None
        except (ValueError, RecursionError) as error:  # a number of too many digits, brackets too deep
            raise InputError(f"{source}, line {number}: JSON that cannot be read: {error}") from None
        if not isinstance(record, dict):
            raise InputError(f"{source}, line {number}: found {json.dumps(record)[:40]}, {EXPECTED}")
        yield number, record


def _members(text: str, source: str) -> Iterator[tuple[int, dict[str, object]]]:
    """The objects of an array, each with the line it begins on."""
    at, line, decoder = text.index("[") + 1, text.count("\n", 0, text.index("[")) + 1, json.JSONDecoder()
    while True:
        after = SPACE.match(text, at).end()  # type: ignore[union-attr]
        line, at = line + text.count("\n", at, after), after
        if text[at : at + 1] == "]":
            return
        try:
            record, after = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise InputError(
                f"{source}, line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}; expected an array of objects"
            ) from None
        except (ValueError, RecursionError) as error:
            raise InputError(f"{source}, line {line}: JSON that cannot be read: {error}") from None
        if not isinstance(record, dict):
            found = text[:at].rpartition("\n")[2] + text[at:].partition("\n")[0]
            raise InputError(f"{source}, line {line}: found {found.strip()[:40]}, {EXPECTED}, or an array of these")
        yield line, record
        line, at = line + text.count("\n", at, after), after
