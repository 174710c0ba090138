"""Several files as one input: a folder, a glob such as `dev/*.lat.gz`, or an archive (.zip, .tar, .tar.gz)."""

import glob
import lzma
import os
import re
import struct
import tarfile
import tempfile
import weakref
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from .errors import InputError
from .open import Budget, Bytes, Text, as_text, open_bytes
from .paths import file_name

HEAD = 1 << 16
Open = Callable[[], Bytes]
HIDDEN = re.compile(r"(^|/)(\.[^./][^/]*|__MACOSX/.*)$")
# Raised by zipfile, tarfile and the decompressors for damaged archives, and for unknown methods.
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
IN_MEMORY = 1 << 24  # bytes of an unpacked archive
TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True)
class Member:
    """One of several files: its name in messages, its label (the name of its folder, or "" without labels), and its bytes."""

    name: str
    label: str
    open: Callable[[], Bytes]  # at the beginning, decompressed

    @property
    def head(self) -> bytes:
        """The first bytes."""
        with self.open() as stream:
            return stream.read(HEAD)

    def text(self, encoding: str) -> Text:
        """The file as text."""
        return as_text(self.open(), encoding)


def is_many(path: str | os.PathLike[str]) -> bool:
    """Returns whether a path names several files.

    >>> is_many("dev/*.lat"), is_many("dev.zip"), is_many("dev.csv.gz")
    (True, True, False)
    """
    name = file_name(path)
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
    return [Member(name, label, open) for (name, open), label in zip(found, labels, strict=True)]


def _is_glob(name: str) -> bool:
    return glob.has_magic(name) and not os.path.exists(name)


def _files(name: str) -> Iterator[tuple[str, Open]]:
    if os.path.isdir(name) or _is_glob(name):
        paths = Path(name).rglob("*") if os.path.isdir(name) else map(Path, glob.glob(name, recursive=True))
        yield from ((path.as_posix(), partial(open_bytes, path)) for path in paths if path.is_file())
    else:
        if not os.path.exists(name):
            raise InputError(f"{name}: no such file")
        with _naming(name):
            yield from _zipped(name) if name.lower().endswith(".zip") else _tarred(name)


def _zipped(name: str) -> Iterator[tuple[str, Open]]:
    budget = Budget(name, os.path.getsize(name))  # one budget for all files: many small ones may expand, too
    archive = zipfile.ZipFile(name)
    for info in archive.infolist():
        if not info.is_dir():
            if info.flag_bits & 1:
                raise InputError(f"{name}/{info.filename}: is encrypted: unpack the archive with its password first")
            budget.spend(info.file_size)  # zipfile reads no more than this
            opened = partial(archive.open, info)
            inside = f"{name}/{info.filename}"
            yield inside, partial(_member, opened, name, inside, budget)


def _tarred(name: str) -> Iterator[tuple[str, Open]]:
    budget = Budget(name, os.path.getsize(name))
    file = _unpacked(name, budget)
    tar = tarfile.open(fileobj=file, mode="r:")  # noqa: SIM115 (the members hold it, and the file is closed with it)
    weakref.finalize(tar, file.close)
    for entry in tar:
        if entry.isfile():
            budget.spend(entry.size if entry.issparse() else 0)
            opened: Any = partial(tar.extractfile, entry)
            inside = f"{name}/{entry.name}"
            yield inside, partial(_member, opened, name, inside, budget)


def _unpacked(name: str, budget: Budget) -> IO[bytes]:
    """A tar file whose files can be read in any order: a compressed one is unpacked to memory or, if it is large, to disk."""
    spool: Any = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 (returned)
    with Bytes(open(name, "rb"), name, budget) as packed:
        if packed.plain_path is not None:
            return open(name, "rb")
        while data := packed.read(HEAD):
            try:
                spool.write(data)
            except OSError as error:
                raise InputError(
                    f"{name}: cannot be unpacked in {tempfile.gettempdir()}: {error.strerror}. Unpack it elsewhere and give "
                    "the folder, or set the environment variable TMPDIR"
                ) from None
    spool.seek(0)
    return cast("IO[bytes]", spool)


def _member(opened: Callable[[], IO[bytes]], archive: str, name: str, budget: Budget) -> Bytes:
    with _naming(archive):
        return Bytes(opened(), name, budget, partial(_naming, archive))


@contextmanager
def _naming(archive: str) -> Iterator[None]:
    """Lets an error in the bytes of an archive raise an `InputError` that names the archive."""
    try:
        yield
    except InputError:
        raise
    except DAMAGED as error:
        raise InputError(f"{archive}: is not an archive, or a damaged one: {error}. Fetch it again") from None
