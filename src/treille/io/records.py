"""What every format is read into: examples as named fields, each with the line it begins on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

Record = tuple[int, Mapping[str, object]]
Records = Iterator[Record]
