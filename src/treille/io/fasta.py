"""FASTA: a header line `>ID key=value ...`, then a sequence over any number of lines.

FASTQ: four lines per record, `@ID key=value ...`, the sequence, `+`, and qualities, which are not used.
"""

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


def fastq_records(lines: Iterable[str], source: str) -> Records:
    """The sequences of a FASTQ file, as numbered records, with the fields of FASTA.

    >>> list(fastq_records(["@EI organism=human\\n", "ACGT\\n", "+\\n", "IIII\\n"], "reads.fastq"))
    [(1, {'id': 'EI', 'label': 'EI', 'organism': 'human', 'text': 'ACGT'})]
    """
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        header = line.rstrip("\r\n")
        if not header.strip():
            continue
        if not header.startswith("@"):
            raise InputError(f"{source}, line {number}: found {header[:40]!r}, expected a FASTQ header such as '@1'")
        rest = [line.rstrip("\r\n") for _, line in zip(range(3), (line for _, line in numbered), strict=False)]
        if len(rest) < 3:
            raise InputError(
                f"{source}, line {number}: the file ends within this record, expected four lines: '@', the sequence,"
                " '+', the qualities. Fetch it again"
            )
        sequence, plus, quality = rest
        if not plus.startswith("+"):
            raise InputError(
                f"{source}, line {number + 2}: found {plus[:40]!r}, expected the '+' of a record of four lines. Wrapped"
                " FASTQ is not read: put each sequence on one line, for example with 'seqtk seq'"
            )
        if len(quality.strip()) != len(sequence.strip()):
            raise InputError(
                f"{source}, line {number + 3}: found {len(quality.strip())} qualities, expected"
                f" {len(sequence.strip())}, one for each letter of the sequence on line {number + 1}"
            )
        yield number, record(header[1:], [sequence.strip()])
