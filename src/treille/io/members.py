"""Many files at once: those of a folder, of a glob such as `dev/*.lat.gz`, or of an archive (.zip, .tar, .tar.gz)."""

from __future__ import annotations

import glob
import gzip
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from .errors import InputError

TARS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True)
class Member:
    """A file among many: its name in messages, the class that its folder names ("" if there are no classes), its bytes.

    >>> Member("lattices/wine/a.plf", "wine", b"").label
    'wine'
    """

    name: str
    label: str
    data: bytes


def is_many(path: str | os.PathLike[str]) -> bool:
    """Whether a path names several files.

    >>> is_many("dev/*.lat"), is_many("dev.zip"), is_many("dev.csv.gz")
    (True, True, False)
    """
    name = os.fspath(path)
    return os.path.isdir(name) or name.lower().endswith((".zip", *TARS)) or _is_glob(name)


def members(path: str | os.PathLike[str]) -> list[Member]:
    """The files that a path names, by name, gzip undone, hidden files left out.

    Where they stand in several folders next to each other, the names of these folders are the labels.

    >>> import tempfile
    >>> top = Path(tempfile.mkdtemp())
    >>> for name in ("wine/a.plf", "water/b.plf"):
    ...     (top / name).parent.mkdir()
    ...     _ = (top / name).write_text("()")
    >>> [(member.label, member.data) for member in members(top)]
    [('water', b'()'), ('wine', b'()')]
    """
    found = sorted(_files(os.fspath(path)))
    found = [(name, data) for name, data in found if not any(p[0] in "._" for p in PurePosixPath(name).parts[-2:] if p)]
    if not found:
        raise InputError(f"{path}: holds no file, expected at least one")
    above = len(os.path.commonpath([PurePosixPath(name).parent for name, _ in found]).split("/"))
    folders = [PurePosixPath(name).parts[:-1][above:][:1] for name, _ in found]
    return [
        Member(name, folder[0] if folder else "", _plain(data, name))
        for (name, data), folder in zip(found, folders, strict=True)
    ]


def _is_glob(name: str) -> bool:
    return glob.has_magic(name) and not os.path.exists(name)


def _files(name: str) -> Iterator[tuple[str, bytes]]:
    if os.path.isdir(name):
        for path in Path(name).rglob("*"):
            if path.is_file():
                yield path.as_posix(), path.read_bytes()
    elif _is_glob(name):
        for path in map(Path, glob.glob(name, recursive=True)):
            if path.is_file():
                yield path.as_posix(), path.read_bytes()
    else:
        try:
            yield from _archived(name)
        except FileNotFoundError:
            raise InputError(f"{name}: no such file") from None
        except (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(f"{name}: is not an archive, or a damaged one: {error}. Fetch it again") from None


def _archived(name: str) -> Iterator[tuple[str, bytes]]:
    if name.lower().endswith(".zip"):
        with zipfile.ZipFile(name) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    yield f"{name}/{info.filename}", archive.read(info)
        return
    with tarfile.open(name) as tar:
        for entry in tar:
            file = tar.extractfile(entry) if entry.isfile() else None
            if file is not None:
                yield f"{name}/{entry.name}", file.read()


def _plain(data: bytes, name: str) -> bytes:
    if data[:2] != b"\x1f\x8b":
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{name}: damaged gzip file: {error}. Fetch it again") from None
