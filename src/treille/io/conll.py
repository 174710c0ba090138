"""CoNLL columns: one token per line, its columns separated by blanks or by tabs, a blank line after each sentence.

If the first line of tokens has a tab, columns are separated by single tabs, values may hold blanks, and lines that begin with `#`
and have no tab are comments, as in CoNLL-U. Otherwise any run of blanks and tabs separates, and there are no comments: `#` is a
token of the Penn Treebank. A line ``-DOCSTART-`` marks a document, and is no token. Lines may end with CR LF.
"""

import codecs
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO, TextIOBase
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np

from treille import _core

from .atomic_write import atomic_write
from .errors import InputError
from .open import STANDARD_INPUT, open_bytes, source_name
from .paths import file_name

DOCUMENT = "-DOCSTART-"  # the first column of the line that begins a document, with a sentence's blank line
BLOCK = 1 << 20  # bytes, about 80,000 tokens
Source = str | os.PathLike[str] | BinaryIO
Read = Callable[[int], bytes]


@dataclass(frozen=True, repr=False)
class TokenColumns:
    """Tokens of a text: token i has ``values[j][codes[j][i]]`` in column j; `offsets` delimit the sentences."""

    codes: list[np.ndarray]
    values: list[list[str]]
    offsets: np.ndarray
    lines: np.ndarray  # of the tokens, from 1
    ends: np.ndarray  # of the tokens, in `text`
    text: bytes
    tabs: bool
    source: str
    encoding: str = "utf-8"

    @property
    def first(self) -> list[str]:
        """The values of the first column."""
        return self.values[0] if self.values else []

    def are(self, wanted: Callable[[str], bool]) -> np.ndarray:
        """For each token, whether its first column is `wanted`."""
        each = np.array([wanted(value) for value in self.first], bool)
        return each[self.codes[0]] if len(each) else np.zeros(0, bool)

    def select(self, kept: np.ndarray, columns: Sequence[int]) -> "TokenColumns":
        """Some of the tokens and columns, without sentences of which no token is left. The text stays whole."""
        codes, values = list[np.ndarray](), list[list[str]]()
        for j in columns:
            used, own = np.unique(self.codes[j][kept], return_inverse=True)
            codes.append(own.astype(np.int32))
            values.append([self.values[j][code] for code in used.tolist()])
        offsets = np.unique(np.concatenate([[0], np.cumsum(kept)])[self.offsets])
        return replace(self, codes=codes, values=values, offsets=offsets, lines=self.lines[kept], ends=self.ends[kept])

    def with_column(self, codes: np.ndarray, names: Iterable[str]) -> bytes:
        """The text with one more column, and nothing else changed: token i gets the name of ``codes[i]``."""
        text: bytes = _core.append_column(self.text, self.ends, self.tabs, codes, list(names))
        return text if self.encoding == "utf-8" else text.decode().encode(self.encoding)


def read_columns(source: Source, separator: str | None = None, encoding: str = "utf-8") -> TokenColumns:
    """All tokens of a file, which may be compressed; `-` is standard input. See `stream_columns`."""
    read, name = reader(source, encoding)
    text = read(-1).removeprefix(codecs.BOM_UTF8)
    tabs = bool(_separated_by_tabs(text, separator, True))
    return _columns(_core.parse_columns(text, tabs, tabs, 0, 1, True), text, tabs, name, 0, encoding)


def stream_columns(
    source: Source, separator: str | None = None, encoding: str = "utf-8", block: int = BLOCK
) -> Iterator[TokenColumns]:
    """The tokens of a file or stream in parts of whole sentences, of about `block` bytes each, or as they arrive in a pipe.

    `separator` is ``"\\t"`` for single tabs, ``" "`` for runs of blanks and tabs, or None to decide by the first line.
    """
    read, name = reader(source, encoding)
    line, width, text, end, tabs = 1, 0, b"", False, None
    while not end:
        new = read(max(block, len(text)))
        text, end = text + new, not new
        if tabs is None:
            text = text.removeprefix(codecs.BOM_UTF8)
            tabs = _separated_by_tabs(text, separator, end)
            if tabs is None:
                continue
        parsed = _core.parse_columns(text, tabs, tabs, width, line, end)
        columns = _columns(parsed, text[: parsed.bytes_read], tabs, name, width, encoding)
        if parsed.bytes_read:
            width = width or len(columns.codes)
            yield columns
        text, line = text[parsed.bytes_read :], line + parsed.lines_read


def write_columns(path: str | os.PathLike[str], columns: list[list[str]], offsets: np.ndarray, tabs: bool) -> None:
    """Writes tokens, given as lists of values by column."""
    separator = "\t" if tabs else " "
    refused = re.compile(r"[\t\r\n]" if tabs else r"[ \t\r\n]|^$")
    for j, column in enumerate(columns):
        wrong = next(filter(refused.search, dict.fromkeys(column)), None)
        if wrong is not None:
            place = column.index(wrong)
            raise InputError(
                f"token {place}, column {j} is {wrong[:40]!r}, which would not be read back: "
                + ("remove its tabs and line ends" if tabs else "remove its white space, or separate by tabs")
            )
    rows = list(map(separator.join, zip(*columns, strict=True)))
    blank = next((i for i, row in enumerate(rows) if not row.strip(" \t")), None)
    if columns and DOCUMENT in columns[0]:
        place = columns[0].index(DOCUMENT)
        raise InputError(
            f"token {place} is {DOCUMENT}, which would be read back as the mark of a document: leave it out"
        )
    if blank is not None:
        raise InputError(f"token {blank} is blank, which would be read back as the end of a sentence")
    sentences = ("".join(f"{row}\n" for row in rows[start:end]) for start, end in pairwise(offsets.tolist()))
    text = "\n".join(filter(None, sentences))
    atomic_write(path, lambda file: file.write(text.encode()), "sentences")


def reader(source: Any, encoding: str) -> tuple[Read, str]:
    """A function that reads bytes of UTF-8, and the name of the source. Pipes give what has arrived."""
    named, pipe = not hasattr(source, "read"), False
    if isinstance(source, TextIOBase):
        opened = getattr(source, "name", "stream")
        raise InputError(f"{opened}: found a stream of text, expected one of bytes, such as open(path, 'rb')")
    if named and file_name(source) != STANDARD_INPUT:
        stream: Any = open_bytes(source)
    else:
        stream = sys.stdin.buffer if named else source
        pipe = hasattr(stream, "read1") and not (hasattr(stream, "seekable") and stream.seekable())
    name = source_name(source) if named else str(getattr(source, "name", "stream"))

    def read(size: int) -> bytes:
        return bytes(stream.read1(size) if pipe and size > 0 else stream.read(size))

    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        return read, name
    try:
        decoder = codecs.getincrementaldecoder(encoding)()
    except LookupError:
        raise InputError(f"{name}: unknown encoding {encoding!r}, expected one such as utf-8 or latin-1") from None

    def recoded(size: int) -> bytes:
        try:
            while data := read(size):
                if text := decoder.decode(data, size < 0):
                    return text.encode()
            return decoder.decode(b"", True).encode()
        except UnicodeError as error:
            raise InputError(f"{name}: not {encoding} text: {error}. Name the file's encoding") from None

    return recoded, name


def _separated_by_tabs(text: bytes, separator: str | None, end: bool) -> bool | None:
    """Returns whether tabs separate, so that there are comments; None if more text is needed to decide."""
    if separator not in (None, "\t", " "):
        raise InputError(f"separator is {separator!r}, expected a tab, a blank for any run of blanks and tabs, or None")
    if separator:
        return separator == "\t"
    for line in BytesIO(text):
        if line.strip() and not line.startswith(b"#") and (end or line.endswith(b"\n")):
            return b"\t" in line.rstrip()
    return False if end else None


def _columns(parsed: Any, text: bytes, tabs: bool, source: str, width: int, encoding: str) -> TokenColumns:
    line, found, _ = parsed.fault
    codes, lines = parsed.codes, parsed.lines
    if line:
        expected = width or len(codes)
        how = "tabs" if tabs else "blanks or tabs"
        raise InputError(
            f"{source}, line {line}: found {found} column{'s' * (found != 1)}, expected {expected} like the lines before it"
            f" (columns are separated by {how}; a blank line ends a sentence)"
        )
    values = parsed.values
    for column, own, n in zip(codes, values, parsed.n_values, strict=True):
        check_text(column, own, n, lines, source)
    return TokenColumns(codes, values, parsed.offsets, lines, parsed.ends, text, tabs, source, encoding)


def check_text(codes: np.ndarray, values: list[str], n_values: int, lines: np.ndarray, source: str) -> None:
    """Refuses a value that is not UTF-8: the list of values ends before the first of them."""
    if len(values) < n_values:
        for token in np.flatnonzero(codes == len(values))[:1]:
            refuse_bytes(lines[token], source)


def refuse_bytes(line: int, source: str) -> None:
    """Raises the error of a text that is not UTF-8."""
    raise InputError(
        f"{source}, line {line}: found bytes that are not utf-8 text. Name the file's encoding, for example --encoding latin-1"
        ' (encoding="latin-1" in Python)'
    )
