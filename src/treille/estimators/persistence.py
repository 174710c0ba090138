"""Writes estimators to model files and reads them back. Files contain data only; the classes they name must be known ones."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from treille.data.sequences import RESIDUES
from treille.io.errors import InputError
from treille.io.model import read_model, write_model
from treille.registry import find, registered_name, require
from treille.spaces import Nystrom


def load(path: str | os.PathLike[str]) -> Any:
    """The estimator that was saved to `path`: the same decisions, no training data needed.

    Classes of your own are found by name if they were passed to `treille.register` first.

    >>> import tempfile, pathlib, treille
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "m.treille"
    >>> treille.SVC(treille.kernels.NGram(1)).fit(["ab", "cd"], ["x", "y"]).save(path)
    >>> treille.load(path).predict(["abab"]).tolist()
    ['x']
    """
    spec, arrays = read_model(path)
    name = spec.get("estimator")
    cls: Any = find("estimators", name)
    if not hasattr(cls, "_restore"):
        raise InputError(
            f"{os.fspath(path)}: holds a {name!r}, which is unknown: call treille.register on the class first, "
            "install the package that provides it, or upgrade treille"
        )
    try:
        estimator = cls(**_read_params(spec["params"]))
        estimator._restore(spec, arrays, _read_classes(spec["classes"]))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"{os.fspath(path)}: {error if isinstance(error, InputError) else f'incomplete ({error})'}"
        ) from None
    return estimator


def estimator_spec(estimator: BaseEstimator, skip: tuple[str, ...]) -> dict[str, Any]:
    """Name and parameters as JSON values."""
    params = {k: _write_param(v) for k, v in estimator.get_params(deep=False).items() if k not in skip}
    return {"estimator": registered_name("estimators", estimator), "params": params}


def save_estimator(
    path: str | os.PathLike[str], spec: dict[str, Any], arrays: dict[str, np.ndarray], classes: np.ndarray
) -> None:
    """Writes a model file."""
    values = classes.tolist()
    kind = {"U": "str", "i": "int", "u": "int", "b": "bool", "f": "float"}.get(np.array(values).dtype.kind)
    if kind is None:
        raise InputError(f"classes of type {type(values[0]).__name__} cannot be saved: use strings or numbers")
    write_model(path, spec | {"classes": {"kind": kind, "values": values}}, arrays)


def check_reading(reading: Any) -> dict[str, Any]:
    """How a model reads examples, from its file, checked."""
    if not isinstance(reading, dict) or not all(isinstance(v, (str, bool)) for v in reading.values()):
        raise InputError("how examples are read was not written by treille")
    if reading.get("alphabet", "dna") not in RESIDUES:
        raise InputError(
            f"reads texts over the alphabet {reading['alphabet']!r}, unknown to this version of treille: upgrade treille"
        )
    return reading


def _read_classes(spec: dict[str, Any]) -> np.ndarray:
    return np.array(spec["values"], dtype={"str": str, "int": np.int64, "bool": bool, "float": float}[spec["kind"]])


def _write_param(value: Any) -> Any:
    if isinstance(value, Nystrom) or hasattr(value, "solve"):
        name = "Nystrom" if isinstance(value, Nystrom) else registered_name("solvers", value)
        params = value.get_params(deep=False) if hasattr(value, "get_params") else vars(value)
        return {"object": name, "params": {k: _write_param(v) for k, v in params.items()}}
    if isinstance(value, dict):
        return {"pairs": [[_write_param(k), _write_param(v)] for k, v in value.items()]}
    return value.item() if isinstance(value, np.generic) else value


def _read_params(params: dict[str, Any]) -> dict[str, Any]:
    read = {}
    for name, value in params.items():
        if isinstance(value, dict) and "pairs" in value:
            value = dict(value["pairs"])
        elif isinstance(value, dict):
            cls = Nystrom if value["object"] == "Nystrom" else require("solvers", value["object"])
            value = cls(**value["params"])
        read[name] = value
    return read
