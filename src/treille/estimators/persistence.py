"""Writes estimators to model files and reads them back. Files contain data only; the classes they name must be known ones."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from treille.io.errors import InputError
from treille.io.model import read_model, write_model


def load(path: str | os.PathLike[str]) -> Any:
    """The estimator that was saved to `path`: the same decisions, no training data needed.

    >>> import tempfile, pathlib, treille
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "m.treille"
    >>> treille.SVC(treille.kernels.NGram(1)).fit(["ab", "cd"], ["x", "y"]).save(path)
    >>> treille.load(path).predict(["abab"]).tolist()
    ['x']
    """
    import treille.estimators as estimators

    spec, arrays = read_model(path)
    name = spec.get("estimator")
    kind: Any = getattr(estimators, str(name), None) if name in estimators.__all__ else None
    if not hasattr(kind, "_restore"):
        raise InputError(
            f"{os.fspath(path)}: holds a {name!r}, which is unknown to this version of treille: upgrade treille"
        )
    try:
        estimator = kind(**_read_params(spec["params"]))
        estimator._restore(spec, arrays, _read_classes(spec["classes"]))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"{os.fspath(path)}: {error if isinstance(error, InputError) else f'incomplete ({error})'}"
        ) from None
    return estimator


def estimator_spec(estimator: BaseEstimator, skip: tuple[str, ...]) -> dict[str, Any]:
    """Name and parameters as JSON values."""
    params = {k: _write_param(v) for k, v in estimator.get_params(deep=False).items() if k not in skip}
    return {"estimator": type(estimator).__name__, "params": params}


def save_estimator(
    path: str | os.PathLike[str], spec: dict[str, Any], arrays: dict[str, np.ndarray], classes: np.ndarray
) -> None:
    """Writes a model file."""
    values = classes.tolist()
    kind = {"U": "str", "i": "int", "u": "int", "b": "bool", "f": "float"}.get(np.array(values).dtype.kind)
    if kind is None:
        raise InputError(f"classes of type {type(values[0]).__name__} cannot be saved: use strings or numbers")
    write_model(path, spec | {"classes": {"kind": kind, "values": values}}, arrays)


def _read_classes(spec: dict[str, Any]) -> np.ndarray:
    return np.array(spec["values"], dtype={"str": str, "int": np.int64, "bool": bool, "float": float}[spec["kind"]])


def _write_param(value: Any) -> Any:
    if isinstance(value, BaseEstimator):
        return {
            "object": type(value).__name__,
            "params": {k: _write_param(v) for k, v in value.get_params(deep=False).items()},
        }
    if isinstance(value, dict):
        return {"pairs": [[_write_param(k), _write_param(v)] for k, v in value.items()]}
    return value.item() if isinstance(value, np.generic) else value


def _read_params(params: dict[str, Any]) -> dict[str, Any]:
    from treille import solvers, spaces

    known = {name: getattr(solvers, name) for name in solvers.__all__} | {"Nystrom": spaces.Nystrom}

    read = {}
    for name, value in params.items():
        if isinstance(value, dict) and "pairs" in value:
            value = dict(value["pairs"])
        elif isinstance(value, dict):
            if value["object"] not in known:
                raise InputError(f"the solver {value['object']!r} is unknown to this version of treille")
            value = known[value["object"]](**value["params"])
        read[name] = value
    return read
