"""Atomic writes: to a temporary file in the same folder, which is then renamed."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any


def atomic_write(path: str | os.PathLike[str], write: Callable[[IO[bytes]], Any], what: str) -> None:
    """Calls `write` with a temporary file and renames it to `path`; a failure leaves an older file intact."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        kept = "the older file is untouched" if target.is_file() else "nothing was written"
        raise OSError(error.errno, f"cannot save the {what}: {error.strerror or error}; {kept}", str(path)) from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
