"""The files and parameters of a run, which identify its checkpoint, and whether files change."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from treille.data import Batch
from treille.io.errors import InputError
from treille.kernels import Kernel
from treille.scale.labels import Collected
from treille.scale.parts import Parts

COMPRESSED = 4  # times that texts are longer than compressed files, about
Facts = dict[str, list[int]]  # size and time of each file


def file_facts(sources: tuple[str, ...]) -> Facts:
    """Size and time of each file, to notice that one changes; folders and globs name several."""
    facts = {}
    for source in sources:
        if os.path.isdir(source):
            files = sorted(map(os.fspath, filter(Path.is_file, Path(source).rglob("*"))))
        else:
            files = [source] if os.path.exists(source) else sorted(glob.glob(source, recursive=True))
        for file in files:
            with contextlib.suppress(OSError):
                status = os.stat(file)
                facts[file] = [status.st_size, status.st_mtime_ns]
    return facts


def check_unchanged(sources: tuple[str, ...], before: Facts) -> None:
    """Refuses files that have changed since."""
    now = file_facts(sources)
    for file in sorted(before.keys() | now.keys()):
        if before.get(file) != now.get(file):
            raise InputError(f"{file}: changed while it was read: train again when it is complete")


def text_bytes(facts: Facts) -> int:
    """About how many characters files have."""
    return sum(size * (COMPRESSED if file.endswith((".gz", ".bz2", ".xz")) else 1) for file, (size, _) in facts.items())


def identity(
    parts: Parts, kernel: Kernel, facts: Facts, labels: Collected | None = None, first: Batch | None = None
) -> dict[str, Any]:
    """What a checkpoint belongs to, as JSON values: with its labels and first part, where these are at hand."""
    found = {
        "treille": version("treille"),
        "kernel": repr(kernel),
        "kernel's parameters digest": _kernel_digest(kernel),
        "memory": parts.memory,
        "min_count": parts.min_count,
        "reading": {name: str(value) for name, value in parts.options.items() if value is not None},
        "files": facts,
    }
    if labels is not None:
        found["labels"] = {None: "not used", True: "classes", False: "numbers"}[labels.of_classes]
    if first is not None:
        found["first part digest"] = _batch_digest(first)
    return found


def _kernel_digest(kernel: Kernel) -> str:
    """A digest of all parameters, also of long ones, which the repr cuts short."""
    try:
        return hashlib.sha256(json.dumps(kernel.spec(), sort_keys=True).encode()).hexdigest()
    except InputError:  # a function among the parameters
        return ""


def _batch_digest(batch: Batch) -> str:
    digest, (spec, arrays) = hashlib.sha256(), batch.state()
    digest.update(json.dumps(spec, sort_keys=True, default=str).encode())
    for name in sorted(arrays):
        digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()
