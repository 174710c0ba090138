"""FASTA: a header line `>ID key=value ...`, then a sequence over any number of lines."""

from collections.abc import Iterable

from .errors import InputError
from .fields import Records


def records(lines: Iterable[str], source: str) -> Records:
    """The sequences of a FASTA file, as numbered records; white space inside a sequence is dropped.

    The header's first word is the field `id`, and `label` as well; each `key=value` is another field.

    >>> list(records([">EI organism=human\\n", "ACGT\\n", "TT\\n"], "splice.fasta"))
    [(1, {'id': 'EI', 'label': 'EI', 'organism': 'human', 'text': 'ACGTTT'})]
    """
    start, header, parts = 0, "", list[str]()
    for number, line in enumerate(lines, 1):
        if line.startswith(">"):
            if start:
                yield start, record(header, parts)
            start, header, parts = number, line[1:], []
        elif start:
            parts += line.split()
        elif line.strip():
            found = line.strip()[:40]
            raise InputError(f"{source}, line {number}: found {found!r}, expected a FASTA header such as '>1'")
    if start:
        yield start, record(header, parts)


def record(header: str, parts: list[str]) -> dict[str, object]:
    """The fields of a header without its mark, and of the parts of a sequence."""
    words = header.split()
    named = dict(word.partition("=")[::2] for word in words if "=" in word)
    first = {"id": words[0], "label": words[0]} if words else {}
    return {**first, **named, "text": "".join(parts)}
