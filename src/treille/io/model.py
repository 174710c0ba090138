"""Model files: safetensors (numbers) with a JSON spec (everything else). Nothing in them is ever executed.

The spec is in the metadata of the file under "treille"; the array "sha256" is the digest of spec and arrays.
"""

import hashlib
import json
import os
from importlib.metadata import version
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from treille.io.atomic_write import atomic_write
from treille.io.compact_arrays import compacted, expanded
from treille.io.errors import InputError
from treille.io.paths import file_name

FORMAT = 2


def write_model(path: str | os.PathLike[str], spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Writes `spec` and `arrays` to `path` atomically.

    >>> import tempfile, pathlib, numpy as np
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "m.treille"
    >>> write_model(path, {"estimator": "SVC"}, {"bias": np.zeros(1)})
    >>> read_model(path)[0]["estimator"]
    'SVC'
    """
    data = model_bytes(spec, arrays)
    atomic_write(path, lambda file: file.write(data), "model")


def model_bytes(spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """The content of a model file: the same bytes for the same model."""
    shapes, parts = compacted(arrays)
    head = {"format": FORMAT, "treille": version("treille")}
    return signed_bytes(head | spec | ({"compact": shapes} if shapes else {}), parts)


def signed_bytes(spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> bytes:
    """A file with exactly this spec and these arrays, and their digest."""
    text = json.dumps(spec, allow_nan=False)  # in ASCII: half a surrogate pair has no UTF-8
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    # One entry alone: several would come in any order.
    return save(arrays | {"sha256": _digest(text, arrays)}, metadata={"treille": text})


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The spec and the arrays of a model file, checked."""
    name = file_name(path)
    if not os.path.exists(name):
        raise InputError(f"{name}: there is no such file")
    try:
        with safe_open(name, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError) as error:
        raise InputError(f"{name}: not a treille model, or damaged ({error}): train and save it again") from None
    if "treille" not in metadata:
        raise InputError(f"{name}: a safetensors file, but not one that treille wrote")
    text = metadata["treille"]
    # Files of format 1 have the digest in the metadata.
    given = metadata["sha256"] if "sha256" in metadata else arrays.pop("sha256", np.zeros(0)).tobytes().hex()
    if given != _digest(text, arrays).tobytes().hex():
        raise InputError(
            f"{name}: the file was altered after it was saved (its checksum does not match): train and save it again"
        )
    try:
        spec = json.loads(text)
        newer = spec["format"] > FORMAT
        if not isinstance(spec["format"], int) or not isinstance(spec, dict):
            raise TypeError
    except (ValueError, KeyError, TypeError, RecursionError):
        raise InputError(f"{name}: its spec was not written by treille") from None
    if newer:
        raise InputError(
            f"{name}: written by a newer treille (format {spec['format']}, this one reads {FORMAT}): upgrade treille"
        )
    try:
        return spec, expanded(spec.pop("compact", {}), arrays)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def read_spec(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Only the spec of a file, which `read_model` has validated before."""
    with safe_open(os.fspath(path), framework="numpy") as file:
        spec: dict[str, Any] = json.loads(file.metadata()["treille"])
    return spec


def _digest(text: str, arrays: dict[str, np.ndarray]) -> np.ndarray:
    digest = hashlib.sha256(text.encode("utf-8"))
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return np.frombuffer(digest.digest(), np.uint8)
