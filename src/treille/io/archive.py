"""Several files as one input: a folder, a glob such as `dev/*.lat.gz`, or an archive (.zip, .tar, .tar.gz)."""

import bz2
import glob
import gzip
import io
import lzma
import os
import re
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any

from .errors import InputError
from .limits import Budget
from .open import Bytes, open_bytes

HEAD = 1 << 16
Load = Callable[[int], bytes]
HIDDEN = re.compile(r"(^|/)(\.[^./][^/]*|__MACOSX/.*)$")
# What zipfile, tarfile and the decompressors raise for damaged archives, and for methods that they do not know.
DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    OSError,
    ValueError,
    *(NotImplementedError, RuntimeError, struct.error, IndexError, OverflowError),
)
TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True)
class Member:
    """One of several files: its name in messages, its label (the name of its folder, or "" without labels), and its bytes."""

    name: str
    label: str
    load: Load  # reads this number of bytes from the beginning, all for -1

    @property
    def head(self) -> bytes:
        """The first bytes."""
        return self.load(HEAD)

    @property
    def data(self) -> bytes:
        """All bytes."""
        return self.load(-1)


def is_many(path: str | os.PathLike[str]) -> bool:
    """Whether a path names several files.

    >>> is_many("dev/*.lat"), is_many("dev.zip"), is_many("dev.csv.gz")
    (True, True, False)
    """
    name = os.fspath(path)
    return os.path.isdir(name) or name.lower().endswith((".zip", *TARS)) or _is_glob(name)


def archive_members(path: str | os.PathLike[str]) -> list[Member]:
    """The files of a folder, glob or archive, sorted by name, decompressed, without hidden files.

    If they are in several sibling folders, the names of these folders are the labels.
    """
    found = sorted((file for file in _files(os.fspath(path)) if not HIDDEN.search(file[0])), key=lambda file: file[0])
    if not found:
        raise InputError(f"{path}: holds no file, expected at least one")
    folders = [PurePosixPath(name).parts[:-1] for name, _ in found]
    shared = 0
    while len({folder[: shared + 1] for folder in folders}) == 1 and shared < min(map(len, folders)):
        shared += 1
    labels = ["".join(folder[shared : shared + 1]) for folder in folders]
    return [Member(name, label, load) for (name, load), label in zip(found, labels, strict=True)]


def _is_glob(name: str) -> bool:
    return glob.has_magic(name) and not os.path.exists(name)


def _files(name: str) -> Iterator[tuple[str, Load]]:
    if os.path.isdir(name) or _is_glob(name):
        paths = Path(name).rglob("*") if os.path.isdir(name) else map(Path, glob.glob(name, recursive=True))
        yield from ((path.as_posix(), partial(_loaded, path)) for path in paths if path.is_file())
    else:
        try:
            yield from _archived(name)
        except FileNotFoundError:
            raise InputError(f"{name}: no such file") from None
        except DAMAGED as error:
            raise InputError(f"{name}: is not an archive, or a damaged one: {error}. Fetch it again") from None


def _archived(name: str) -> Iterator[tuple[str, Load]]:
    budget = Budget(name, os.path.getsize(name))  # one for all files: many small ones may expand, too
    if name.lower().endswith(".zip"):
        with zipfile.ZipFile(name) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    if info.flag_bits & 1:
                        raise InputError(
                            f"{name}/{info.filename}: is encrypted: unpack the archive with its password first"
                        )
                    budget.spend(info.file_size)  # zipfile reads no more than this
                    yield f"{name}/{info.filename}", partial(_plain, archive.read(info), info.filename, budget)
        return
    with _open(name) as packed:
        yield from _tarred(name, _Spent(packed, budget), budget)


def _tarred(name: str, spent: Any, budget: Budget) -> Iterator[tuple[str, Load]]:
    with tarfile.open(fileobj=spent, mode="r|") as tar:
        for entry in tar:
            file = tar.extractfile(entry) if entry.isfile() else None
            if file is not None:
                yield f"{name}/{entry.name}", partial(_plain, file.read(), entry.name, budget)


def _loaded(path: Path, size: int) -> bytes:
    with open_bytes(path) as stream:
        return stream.read(size)


def _open(name: str) -> Any:
    """A tar file, decompressed."""
    with open(name, "rb") as file:
        head = file.read(6)
    for magic, opened in ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\0", lzma.open)):
        if head.startswith(magic):
            return opened(name, "rb")
    return open(name, "rb")


class _Spent:
    """A stream whose bytes are taken from a budget."""

    def __init__(self, stream: IO[bytes], budget: Budget) -> None:
        self.stream, self.budget = stream, budget

    def read(self, size: int) -> bytes:
        data = self.stream.read(size)
        self.budget.spend(len(data))
        return data


def _plain(data: bytes, name: str, budget: Budget, size: int) -> bytes:
    with Bytes(io.BufferedReader(io.BytesIO(data)), name, budget) as stream:
        return stream.read(size)
