"""Read the examples of a file a few at a time, so that a file of any size takes little memory."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from . import text_files
from .archive import is_many
from .examples import Examples, Request
from .open import open_text, source_name
from .read import Path, read, read_recognised, recognised, request_of, without_unlabelled
from .records import Record, Records

EXAMPLES = 10_000  # of a chunk, at most
CHARACTERS = 1 << 22  # of the fields of a chunk, about
AT_ONCE = "read at once: this format, or these labels, cannot be read in parts"


def read_chunks(
    path: Path | Sequence[Path],
    *,
    examples: int = EXAMPLES,
    characters: int = CHARACTERS,
    labels: Any = None,
    root_label: bool = False,
    **options: Any,
) -> Iterator[Examples]:
    """The examples of a file in chunks, with the options of `read`; only one chunk is in memory at a time.

    This is so for one file of texts: JSON lines, CSV, TSV, lines, FASTA or FASTQ, also compressed, and for standard input. Other
    files and folders, and files with labels from elsewhere, are read at once and then divided; the note says so.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vines.csv"
    >>> _ = path.write_text("text,label\\nred and sweet,grape\\nround and red,apple\\nlong and red,grape\\n")
    >>> [chunk.labels for chunk in read_chunks(path, examples=2)]
    [['grape', 'apple'], ['grape']]
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    if labels is not None or root_label or len(paths) != 1 or is_many(paths[0]):
        yield from _divided(read(paths, labels=labels, root_label=root_label, **options), examples)
        return
    request = replace(request_of(**options), source=source_name(paths[0]))
    with open_text(paths[0], request.encoding, lazily=True) as stream:
        request, lines = recognised(stream, request)
        if request.format in text_files.TITLES:
            yield from _of_texts(lines, request, examples, characters)
        else:
            every = read_recognised(stream, request, lines)
            yield from _divided(without_unlabelled(every) if request.skip_unlabelled else every, examples)


def _divided(every: Examples, size: int) -> Iterator[Examples]:
    every = replace(every, note=f"{every.note}; {AT_ONCE}")
    for start in range(0, len(every), size):
        yield every.take(range(start, min(start + size, len(every))))


def _of_texts(lines: Iterator[str], request: Request, examples: int, characters: int) -> Iterator[Examples]:
    records, label_place = text_files.read_records(lines, request)
    found = None
    while some := _next(records, examples, characters):
        found = text_files.collect(iter(some), request, like=found)
        chunk = text_files.examples_of(found, request, label_place)
        if request.skip_unlabelled and not any(chunk.labels or ()):
            continue
        yield without_unlabelled(chunk) if request.skip_unlabelled else chunk
    if found is None:
        text_files.examples_of(text_files.Collected(), request)  # which says that there are no examples


def _next(records: Records, examples: int, characters: int) -> list[Record]:
    """The records of the next chunk."""
    some, size = list[Record](), 0
    for record in records:
        some.append(record)
        size += sum(len(value) for value in record[1].values() if isinstance(value, str))
        if len(some) == examples or size >= characters:
            break
    return some
