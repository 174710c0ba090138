"""Open a file, compressed or not, or standard input as text. Errors in the bytes are reported by file and offset."""

from __future__ import annotations

import bz2
import contextlib
import difflib
import gzip
import io
import lzma
import os
import re
import stat
import sys
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from .errors import InputError
from .paths import file_name

RATIO = 200  # text compresses 3 to 10 times, very regular data 100 times, nothing but repetition 1,000 times
FREE = 1 << 26  # bytes that any file may expand to
VARIABLE = "TREILLE_MAX_EXPANSION"  # sets another ratio


class Budget:
    """The bytes that `packed` compressed bytes may become: 200 times as many, or as the environment variable says.

    >>> Budget("a.gz", 1 << 20).spend(100 << 20)
    >>> Budget("a.gz", 1 << 20).spend(1000 << 20)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    treille.io.errors.InputError: a.gz: expands to more than 200 times its 1,048,576 bytes...
    """

    def __init__(self, name: str, packed: int) -> None:
        given = os.environ.get(VARIABLE, str(RATIO))
        if not given.isdecimal() or len(given) > 9 or int(given) == 0:
            raise InputError(f"{VARIABLE} is {given[:40]!r}, expected a whole number, such as {RATIO}")
        self.name, self.packed, self.ratio = name, packed, int(given)
        self.left = max(FREE, self.ratio * packed)

    def grow(self, n: int) -> None:
        """Adds compressed bytes, of a pipe whose size is not known before."""
        self.packed += n
        self.left += self.ratio * n

    def spend(self, n: int) -> None:
        """Spends `n` bytes; raises an `InputError` if fewer are left."""
        self.left -= n
        if self.left < 0:
            raise InputError(
                f"{self.name}: expands to more than {self.ratio} times its {self.packed:,} bytes: it is damaged or made to"
                f" fill the memory; if it is right, set the environment variable {VARIABLE} to a larger number"
            )


STANDARD_INPUT = "-"
CHUNK = 1 << 20
COMPRESSED = re.compile(r"\.(gz|bz2|xz)$")  # names of compressed files
MAGIC: tuple[tuple[str, re.Pattern[bytes], Callable[..., Any]], ...] = (
    ("gzip", re.compile(rb"\x1f\x8b"), lambda file: gzip.GzipFile(fileobj=file)),
    ("bzip2", re.compile(rb"BZh[1-9]1AY&SY"), bz2.BZ2File),
    ("xz", re.compile(rb"\xfd7zXZ\x00"), lzma.LZMAFile),
)


def source_name(path: str | os.PathLike[str]) -> str:
    """The name of a source in messages: its path, or `standard input` for `-`."""
    name = file_name(path)
    return "standard input" if name == STANDARD_INPUT else name


def open_text(path: str | os.PathLike[str], encoding: str = "utf-8", lazily: bool = False) -> Text:
    """Open `path` for reading text; `-` is standard input; gzip, bzip2 and xz are recognised by the first bytes.

    Lines keep their ends as they are in the file. A UTF-8 byte order mark is dropped. A file that cannot be opened,
    is not in this encoding or is damaged raises `InputError`. Standard input is read to its end, or `lazily` as lines are
    asked for, and left open.

    >>> import gzip, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "vine.txt"
    >>> _ = path.write_bytes(gzip.compress("treille\\nvigne\\n".encode()))
    >>> with open_text(path) as lines:
    ...     list(lines)
    ['treille\\n', 'vigne\\n']
    """
    if lazily and file_name(path) == STANDARD_INPUT:
        return as_text(Bytes(io.BufferedReader(StandardInput()), source_name(path)), encoding)
    return as_text(open_bytes(path), encoding)


def as_text(buffer: Bytes, encoding: str) -> Text:
    """The text of these bytes, as `open_text` reads a file."""
    known = "utf-8-sig" if encoding.lower().replace("_", "-") in ("utf-8", "utf8") else encoding
    try:
        return Text(buffer, encoding=known, newline="")
    except (LookupError, ValueError):
        buffer.close()
        raise InputError(f"{buffer.name}: unknown encoding {encoding!r}, expected one such as utf-8, latin-1") from None


def open_bytes(path: str | os.PathLike[str]) -> Bytes:
    """Open `path` for reading bytes, decompressed; errors are as in `open_text`."""
    name = file_name(path)
    if name == STANDARD_INPUT:
        return Bytes(io.BufferedReader(io.BytesIO(sys.stdin.buffer.read())), source_name(path))
    try:
        file = open(path, "rb")  # noqa: SIM115 (held by the result)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file{_likely(Path(path))}") from None
    except ValueError as error:  # such as a NUL in the name
        raise InputError(f"{name!r}: not the name of a file: {error}") from None
    except OSError as error:
        if os.path.isdir(path):
            files = sorted(member.name for member in Path(path).iterdir() if member.is_file())
            such = f", such as {', '.join(files[:5])}" if files else "; it holds no file"
            raise InputError(f"{path}: is a folder, expected a file{such}") from None
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    return Bytes(file, source_name(path))


def _likely(path: Path) -> str:
    if not path.parent.is_dir():
        return f"; the folder {path.parent} does not exist either"
    close = difflib.get_close_matches(path.name, os.listdir(path.parent), n=1)
    return f"; did you mean {path.with_name(close[0])}?" if close else f"; looked in {path.parent.resolve()}"


def _measured(file: Any, name: str) -> tuple[Any, Budget]:
    """A compressed file and its budget. The budget of a pipe grows as it is read."""
    with contextlib.suppress(OSError):
        status = os.fstat(file.fileno())
        if stat.S_ISREG(status.st_mode):
            return file, Budget(name, status.st_size)
    budget = Budget(name, 0)
    return _Pipe(file, budget), budget


class _Pipe:
    """Compressed bytes that are counted as they are read."""

    def __init__(self, file: io.BufferedReader, budget: Budget) -> None:
        self._file, self._budget = file, budget

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self._budget.grow(len(data))
        return data


class StandardInput(io.RawIOBase):
    """Standard input, which stays open when this is closed."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        read = getattr(sys.stdin.buffer, "read1", sys.stdin.buffer.read)
        chunk: bytes = read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)


class Bytes(io.BufferedIOBase):
    """The bytes of a file, decompressed and counted as they are read."""

    def __init__(
        self,
        file: Any,
        name: str,
        budget: Budget | None = None,
        naming: Callable[[], AbstractContextManager[None]] = contextlib.nullcontext,
    ) -> None:
        self.name, self.count, self._file, self._naming = name, 0, file, naming
        self._stream: Any = file
        self._budget: Budget | None = None
        self._ahead = b""
        head = file.peek(10)[:10]
        self._format = next((format for format in MAGIC if format[1].match(head)), None)
        if self._format is not None:
            source, self._budget = (file, budget) if budget is not None else _measured(file, name)
            self._stream = self._format[2](source)

    def readable(self) -> bool:
        return True

    @property
    def plain_path(self) -> str | None:
        """The path of these bytes, for libraries that open files themselves; None if they are not as they are in a file."""
        raw = getattr(self._file, "raw", None)
        name = raw.name if self._format is None and isinstance(raw, io.FileIO) else None
        return os.fspath(name) if isinstance(name, (str, os.PathLike)) and os.path.isfile(name) else None

    def peek(self, size: int = 1 << 16, /) -> bytes:
        """The first bytes; the next calls of read return them again."""
        if len(self._ahead) < size:
            with self._naming():
                self._ahead += self._checked(self._stream.read, size - len(self._ahead))
        return self._ahead

    def read(self, size: int | None = -1, /) -> bytes:
        return self._counted(self._stream.read, -1 if size is None else size)

    def read1(self, size: int = -1, /) -> bytes:
        return self._counted(self._stream.read1, size)

    def _counted(self, read: Callable[[int], bytes], size: int) -> bytes:
        if size < 0 or not self._ahead:
            with self._naming():
                chunk = self._ahead + self._checked(read, size)
            self._ahead = b""
        else:
            chunk, self._ahead = self._ahead[:size], self._ahead[size:]
        self.count += len(chunk)
        return chunk

    def _checked(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            if self._budget is None:
                return read(size)
            if size >= 0:
                chunk = read(size)
                self._budget.spend(len(chunk))
                return chunk
            return b"".join(iter(lambda: self._checked(read, CHUNK), b""))  # refused before it fills the memory
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            if self._format is None or (isinstance(error, OSError) and error.errno is not None):
                raise
            reason = str(error).rstrip(".")
            message = f"{self.name}: damaged {self._format[0]} file after {self.count:,} bytes of text: {reason}. Fetch it again"
            raise InputError(message) from error

    def close(self) -> None:
        self._file.close()
        super().close()


class Text(io.TextIOWrapper):
    """Text over `Bytes`. Iteration calls `readline`, so every decoding error is raised in these two methods."""

    buffer: Bytes

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        try:
            return super().readline(size)
        except UnicodeDecodeError as error:
            raise self._undecodable(error) from None

    def read(self, size: int | None = -1, /) -> str:
        try:
            return super().read(size)
        except UnicodeDecodeError as error:
            raise self._undecodable(error) from None

    def _undecodable(self, error: UnicodeDecodeError) -> InputError:
        # error.object ends with the last byte read, so its start can be located in the file.
        offset = self.buffer.count - len(error.object) + error.start
        byte = error.object[error.start]
        other = "utf-16" if offset == 0 and byte in b"\xff\xfe" else "latin-1"
        return InputError(
            f"{self.buffer.name}: byte 0x{byte:02x} at offset {offset} is not {error.encoding} text. Name the file's"
            f' encoding, for example --encoding {other} (encoding="{other}" in Python)'
        )
