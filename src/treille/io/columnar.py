"""Parquet and Arrow files (Feather, IPC), read with pyarrow, the extra `formats`. Rows are numbered like lines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from .blocks import Limits
from .errors import InputError
from .examples import Examples, Request
from .fields import Records
from .open import COMPRESSED, Bytes
from .text_files import blocks_of

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


def blocks(stream: Bytes, request: Request, limits: Limits | None) -> Iterator[Examples]:
    """The texts of a file, and their labels. A file on disk is read in batches of rows, any other at once."""
    rows = _records(stream, request, limits)
    return blocks_of(rows, request, limits, title=TITLES[request.format])


def _records(stream: Bytes, request: Request, limits: Limits | None) -> Records:
    title, first = TITLES[request.format], 1
    try:
        import pyarrow as pa
    except ImportError:
        raise InputError(
            f"{request.source}: {title} is read with pyarrow, which is not installed: pip install 'treille[formats]'"
        ) from None
    try:
        for batch in _batches(pa, stream, request, limits):
            batch.validate(full=True)  # pyarrow trusts offsets otherwise, and crashes
            try:
                rows = batch.to_pylist()
            except (ValueError, OverflowError, NotImplementedError) as error:
                raise InputError(f"{request.source}, rows {first} and on: a value cannot be read: {error}") from None
            yield from enumerate(rows, first)
            first += batch.num_rows
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{request.source}: not {title}, or damaged: {error}. Write or fetch it again") from None


def _batches(pa: Any, stream: Bytes, request: Request, limits: Limits | None) -> Iterator[Any]:
    from pyarrow import parquet

    path = stream.plain_path if limits is not None else None
    with pa.OSFile(path) if path is not None else pa.BufferReader(stream.read()) as source:
        if request.format == "parquet":
            file = parquet.ParquetFile(source, pre_buffer=False)  # True reads all row groups before the first batch
            for group in range(file.num_row_groups):
                yield from file.iter_batches(batch_size=ROWS, row_groups=[group])
            return
        is_file = source.read(len(MAGIC["arrow"])) == MAGIC["arrow"]
        source.seek(0)
        if is_file:
            file = pa.ipc.open_file(source)
            found = (file.get_batch(i) for i in range(file.num_record_batches))
        else:
            found = iter(pa.ipc.open_stream(source))
        for batch in found:
            yield from (batch.slice(start, ROWS) for start in range(0, batch.num_rows, ROWS))
