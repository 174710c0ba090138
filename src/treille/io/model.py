"""Model files: safetensors (numbers) with a JSON spec (everything else). Nothing in them is ever executed.

The spec is in the metadata of the file under "treille", with a SHA-256 of spec and arrays under "sha256".
"""

import hashlib
import json
import os
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from treille.io.atomic_write import atomic_write
from treille.io.errors import InputError

FORMAT = 1


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
    """The content of a model file."""
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    text = json.dumps({"format": FORMAT, **spec}, allow_nan=False)  # in ASCII: half a surrogate pair has no UTF-8
    return save(arrays, metadata={"treille": text, "sha256": _digest(text, arrays)})


def file_bytes(spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> int:
    """The approximate size of a model file with this `spec` and these `arrays`, in bytes."""
    return len(json.dumps(spec)) + sum(array.nbytes + 100 for array in arrays.values())  # 100: its name, kind and place


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The spec and the arrays of a model file, checked."""
    name = os.fspath(path)
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
    if metadata.get("sha256") != _digest(text, arrays):
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
    return spec, arrays


def read_spec(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Only the spec of a file, which `read_model` has validated before."""
    with safe_open(os.fspath(path), framework="numpy") as file:
        spec: dict[str, Any] = json.loads(file.metadata()["treille"])
    return spec


def _digest(text: str, arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256(text.encode("utf-8"))
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype} {arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()
