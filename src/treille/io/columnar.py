"""Parquet and Arrow files (Feather, IPC), read with pyarrow, the extra `formats`. Rows are numbered like lines."""

from __future__ import annotations

import os
from typing import Any

from .errors import InputError
from .examples import Examples, Request
from .open import COMPRESSED
from .records import Records
from .text_files import collect, examples_of

TITLES = {"parquet": "Parquet", "arrow": "Arrow"}
SUFFIXES = {"parquet": (".parquet", ".pq"), "arrow": (".arrow", ".feather", ".ipc")}
MAGIC = {"parquet": b"PAR1", "arrow": b"ARROW1"}
ROWS = 10_000  # converted to Python objects at a time


def guess_bytes(name: str, head: bytes) -> tuple[str, str] | None:
    """The format of a file, and how it was recognised: by its `name` or its `content`; None for any other file.

    >>> guess_bytes("a.parquet", b""), guess_bytes("-", b"PAR1"), guess_bytes("a.csv", b"text")
    (('parquet', 'name'), ('parquet', 'content'), None)
    """
    stem = COMPRESSED.sub("", os.path.basename(name).lower())
    for format, suffixes in SUFFIXES.items():
        if stem.endswith(suffixes) or head.startswith(MAGIC[format]):
            return format, "name" if stem.endswith(suffixes) else "content"
    return None


def read(data: bytes, request: Request) -> Examples:
    """The texts of a file, and their labels."""
    return examples_of(collect(_records(data, request), request), request, title=TITLES[request.format])


def _records(data: bytes, request: Request) -> Records:
    table = _table(data, request)
    first = 1
    for batch in table.to_batches(max_chunksize=ROWS):
        try:
            rows = batch.to_pylist()
        except (ValueError, OverflowError, NotImplementedError) as error:
            raise InputError(f"{request.source}, rows {first} and on: a value cannot be read: {error}") from None
        yield from enumerate(rows, first)
        first += batch.num_rows


def _table(data: bytes, request: Request) -> Any:
    title = TITLES[request.format]
    try:
        import pyarrow as pa
        from pyarrow import feather, parquet
    except ImportError:
        raise InputError(
            f"{request.source}: {title} is read with pyarrow, which is not installed: pip install 'treille[formats]'"
        ) from None
    try:
        source = pa.BufferReader(data)
        if request.format == "parquet":
            table = parquet.read_table(source)
        elif data.startswith(MAGIC["arrow"]):
            table = feather.read_table(source)
        else:
            table = pa.ipc.open_stream(source).read_all()
        table.validate(full=True)  # pyarrow trusts offsets otherwise, and crashes
        return table
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{request.source}: not {title}, or damaged: {error}. Write or fetch it again") from None
