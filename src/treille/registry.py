"""Classes by name: what model files and the command line look up.

A kernel, solver, estimator, data kind or file format is found by its name if

- the package ``treille.kernels``, ``treille.solvers``, ``treille.estimators`` or ``treille.data`` exports it, or
- it was passed to `register` in this process, or
- an installed package declares it as an entry point, in the group named like the package of treille, for example
  ``[project.entry-points."treille.kernels"]`` with ``Matches = "my_package:Matches"``.

A name is only ever looked up: a model file can neither import nor execute anything.
"""

import inspect
import warnings
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from treille.io import guess
from treille.io.errors import InputError

# For each group: how messages call its classes, and the method by which a class is recognised as one of them.
GROUPS = {
    "kernels": ("kernel", "fit_features"),
    "data": ("data kind", "from_state"),
    "solvers": ("solver", "solve"),
    "estimators": ("estimator", "fit"),
    "formats": ("file format", "guess_content"),
}

C = TypeVar("C", bound="type[Any]")
_registered: dict[tuple[str, str], type[Any]] = {}


def register(cls: C) -> C:
    """Makes a kernel, solver, estimator, data kind or file format known in this process; usable as a decorator.

    A model with your class can be saved after that, and loaded by any process that registers the class first.

    >>> import treille
    >>> from treille.kernels import NGram
    >>> @treille.register
    ... class Bigram(NGram):
    ...     def __init__(self, unit="char"):
    ...         super().__init__(2, unit=unit)
    >>> treille.kernels.Kernel.from_spec({"kernel": "Bigram", "params": {"unit": "word"}})
    Bigram(unit='word')
    """
    if not inspect.isclass(cls):
        raise InputError(f"found {cls!r}, expected a class: register(Matches), not register(Matches())")
    group = next((group for group, (_, method) in GROUPS.items() if callable(getattr(cls, method, None))), None)
    if group is None or inspect.isabstract(cls):
        missing = sorted(getattr(cls, "__abstractmethods__", ())) or [method for _, method in GROUPS.values()]
        raise InputError(
            f"{cls.__name__} is not a kernel, solver, estimator or data kind, nor a file format: "
            f"it does not implement {' or '.join(missing)}"
        )
    other = _built_in(group).get(cls.__name__) or _registered.get((group, cls.__name__), cls)
    if (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):  # a notebook may run a cell again
        what = GROUPS[group][0]
        raise InputError(
            f"there is already a {what} {cls.__name__!r}, {other.__module__}.{other.__name__}: rename yours"
        )
    _registered[group, cls.__name__] = cls
    return cls


def find(group: str, name: Any) -> type[Any] | None:
    """The class of this name in a group, or None.

    >>> find("kernels", "NGram").__name__, find("kernels", "os")
    ('NGram', None)
    """
    if not isinstance(name, str):
        return None
    found = _built_in(group).get(name) or _registered.get((group, name))
    if found is None and name in _entry_points(group):
        return _load(_entry_points(group)[name])
    return found


def require(group: str, name: Any) -> type[Any]:
    """The class of this name in a group; an `InputError` that says what to do if there is none."""
    found = find(group, name)
    if found is None:
        raise InputError(
            f"the {GROUPS[group][0]} {name!r} is unknown: install the package that provides it, "
            "call treille.register on the class first, or upgrade treille"
        )
    return found


def registered_name(group: str, thing: Any) -> str:
    """The name by which the class of an object can be found; an `InputError`, before anything is saved, if there is none."""
    cls = type(thing)
    if find(group, cls.__name__) is not cls:
        raise InputError(
            f"the {GROUPS[group][0]} {cls.__name__!r} is not registered, so no one could load the file: "
            f"call treille.register({cls.__name__}) before you save, and again before you load"
        )
    return cls.__name__


def known(group: str) -> dict[str, type[Any]]:
    """Every class of a group by name, classes of users first; entry points that cannot be imported are left out with a warning.

    >>> sorted(known("solvers"))[:2]
    ['BlockMinimization', 'BundleMethod']
    """
    classes = {name: cls for (own, name), cls in _registered.items() if own == group}
    for name, point in _entry_points(group).items():
        try:
            classes.setdefault(name, _load(point))
        except InputError as error:
            warnings.warn(f"left out: {error}", stacklevel=2)
    return classes | _built_in(group)  # whose names no other class can take


def _built_in(group: str) -> dict[str, type[Any]]:
    """The classes that the package of a group exports; its other exports, and abstract classes, are none of them."""
    if group == "formats":  # the formats of treille are modules, see `treille.io.guess`
        return {}
    return _classes(group, tuple(import_module(f"treille.{group}").__all__))


@cache
def _classes(group: str, names: tuple[str, ...]) -> dict[str, type[Any]]:
    package, method = import_module(f"treille.{group}"), GROUPS[group][1]
    exports = ((name, getattr(package, name)) for name in names)
    return {
        name: cls
        for name, cls in exports
        if inspect.isclass(cls) and not inspect.isabstract(cls) and callable(getattr(cls, method, None))
    }


@cache
def _entry_points(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"treille.{group}")}


def _load(point: EntryPoint) -> type[Any]:
    try:
        cls = point.load()
    except Exception as error:  # importing another package may raise any exception
        raise InputError(f"{point.name} ({point.value}) cannot be imported: {error!r}") from error
    if not inspect.isclass(cls) or cls.__name__ != point.name:
        raise InputError(f"the entry point {point.name!r} is {point.value}, expected a class of that name")
    return cls


guess.find_registered = lambda: known("formats").values()
