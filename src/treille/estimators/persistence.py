"""Writes estimators to model files and reads them back. Files contain data only; the classes they name must be known."""

import os
from typing import Any

import numpy as np

from treille.data.sequences import ALPHABETS
from treille.io import stored
from treille.io.errors import InputError
from treille.io.model import read_model, write_model
from treille.registry import find, registered_name, require
from treille.solvers import Solver
from treille.spaces import Nystrom

KINDS: dict[str, type[Any]] = {"str": str, "int": int, "bool": bool, "float": float}
NOT_SAVED = ("kernel", "n_jobs", "verbose")  # the kernel has its own spec; the others belong to a process


def load(path: str | os.PathLike[str]) -> Any:
    """Loads the estimator that was saved to `path`. It makes the same decisions, and needs no training data.

    Your classes are found by name if they were passed to `treille.register` first.

    >>> import tempfile, pathlib, treille
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "m.treille"
    >>> treille.SVC(treille.kernels.NGram(1)).fit(["ab", "cd"], ["x", "y"]).save(path)
    >>> treille.load(path).predict(["abab"]).tolist()
    ['x']
    """
    from treille.estimators.base import Model  # here: models are written by functions of this module

    spec, arrays = read_model(path)
    name = spec.get("estimator")
    cls: Any = find("estimators", name)
    if cls is None or not issubclass(cls, Model):
        raise InputError(
            f"{os.fspath(path)}: holds a {name!r}, which is unknown: call treille.register on the class first, "
            "install the package that provides it, or upgrade treille"
        )
    try:
        estimator = cls(**_read_params(stored.value(spec, "params", dict)))
        estimator._restore(spec, arrays, _read_classes(stored.value(spec, "classes", dict)))
    except InputError as error:
        raise InputError(f"{os.fspath(path)}: {error}") from None
    except MemoryError:
        raise
    except Exception as error:  # every value is checked where it is read; this is for what those checks overlook
        raise InputError(f"{os.fspath(path)}: incomplete or damaged ({type(error).__name__}: {error})") from error
    return estimator


def estimator_spec(estimator: Any) -> dict[str, Any]:
    """Name, parameters, kernel and report of a fitted estimator as JSON values."""
    params = {k: _write_param(v) for k, v in estimator.get_params(deep=False).items() if k not in NOT_SAVED}
    spec = {"estimator": registered_name("estimators", estimator), "params": params}
    spec |= {"kernel": estimator.plan_.kernel.spec(), "report": estimator.report_.timeless().as_dict()}
    stored.check_depth(spec["kernel"])  # so that nothing is written that could not be read
    return spec


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
    """Validates how a model reads examples, from its file."""
    if not isinstance(reading, dict) or not all(isinstance(v, (str, bool)) for v in reading.values()):
        raise InputError("how examples are read was not written by treille")
    if reading.get("alphabet", "dna") not in ALPHABETS:
        raise InputError(
            f"reads texts over the alphabet {reading['alphabet']!r}, unknown to this version of treille: upgrade treille"
        )
    return reading


def _read_classes(spec: dict[str, Any]) -> np.ndarray:
    values, kind = stored.value(spec, "values", list), KINDS.get(stored.value(spec, "kind", str))
    sound = kind is not None and all(type(each) is kind for each in values) and len(set(values)) == len(values)
    if not sound or (kind is int and not all(-(2**63) <= each < 2**63 for each in values)):
        raise InputError("the classes in the file are not different strings or numbers")
    return np.array(values, dtype=kind)


def _write_param(value: Any) -> Any:
    if isinstance(value, (Nystrom, Solver)):
        name = "Nystrom" if isinstance(value, Nystrom) else registered_name("solvers", value)
        params = value.get_params(deep=False) if hasattr(value, "get_params") else vars(value)
        return {"object": name, "params": {k: _write_param(v) for k, v in params.items()}}
    if isinstance(value, dict):
        return {"pairs": [[_write_param(k), _write_param(v)] for k, v in value.items()]}
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return None  # the report has the seed that it drew
    return value.item() if isinstance(value, np.generic) else value


def _read_params(params: dict[str, Any]) -> dict[str, Any]:
    read = {}
    for name, value in params.items():
        if name in NOT_SAVED:
            raise InputError(f"the parameter {name!r} is not one that a file holds")
        if isinstance(value, dict) and "pairs" in value:
            value = dict(value["pairs"])
        elif isinstance(value, dict):
            cls = Nystrom if value["object"] == "Nystrom" else require("solvers", value["object"])
            value = cls(**value["params"])
        read[name] = value
    return read
