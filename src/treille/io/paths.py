"""Names of files as the arguments of functions."""

import os
from typing import Any

from .errors import InputError


def file_name(path: Any) -> str:
    """The name of a file, given as a str or a path. Refuses anything else, without printing the data that it holds.

    >>> import pathlib
    >>> file_name(pathlib.Path("vines.csv"))
    'vines.csv'
    """
    name = os.fspath(path) if isinstance(path, (str, os.PathLike)) else None
    if isinstance(name, str):
        if "\n" in name and not os.path.exists(name):
            lines = len(name.splitlines())
            raise InputError(f"found a text of {lines:,} lines, expected the name of a file: write the text to a file")
        return name
    kind = type(path).__name__
    if not hasattr(path, "read") and not hasattr(path, "write"):
        raise InputError(f"found {kind}, expected the name of a file")
    opened = getattr(path, "name", None)
    what = f"pass its name, {opened!r}" if isinstance(opened, str) else "use a file, and pass its name"
    raise InputError(f"found an open file ({kind}), expected the name of a file: {what}")


def is_file_object(path: Any) -> bool:
    """Whether this is an open file, which iterates over its lines like a list of paths does over its paths."""
    return hasattr(path, "read") or hasattr(path, "write")


def file_names(path: Any) -> list[Any]:
    """One path, or several: a list of paths in either case, each checked."""
    single = isinstance(path, (str, bytes, os.PathLike)) or is_file_object(path) or not hasattr(path, "__iter__")
    paths = [path] if single else list(path)
    for each in paths:
        file_name(each)
    return paths
