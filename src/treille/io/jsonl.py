"""JSON lines: one object per line. Blank lines are skipped."""

import json
from collections.abc import Iterable

from .errors import InputError
from .records import Records

EXPECTED = 'expected one object per line, such as {"text": "...", "label": "..."}'


def records(lines: Iterable[str], source: str) -> Records:
    """The objects of a JSON lines file, as numbered records.

    >>> list(records(['{"text": "a vine", "label": 1}\\n'], "vines.jsonl"))
    [(1, {'text': 'a vine', 'label': 1})]
    """
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
