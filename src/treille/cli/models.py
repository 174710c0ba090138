"""Model files and the estimators in them, as the commands use them."""

import glob
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from safetensors import SafetensorError

from treille import InputError, load
from treille.cli.console import Printer
from treille.data.base import readable_size
from treille.data.format import legend, visible, visible_label
from treille.io.atomic_write import STANDARD_OUTPUT
from treille.io.model import read_spec

LONGEST_HEADER = 100_000_000  # bytes, the limit of safetensors


def looks_like_model(path: str | os.PathLike[str]) -> bool:
    """Returns whether a file is named like a model, or begins like one: eight bytes of length, then JSON."""
    if Path(path).suffix == ".treille":
        return True
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        head = file.read(9)
    return head[8:] == b"{" and int.from_bytes(head[:8], "little") <= LONGEST_HEADER


def load_model(path: Path, data: Sequence[str] = (), verb: str = "") -> Any:
    """The estimator of a file; `data` are the other files on the command line, to detect the wrong order.

    Where `verb` is for single examples, a model that tags sentences is refused, naming the right command.
    """
    try:
        model = load(path)
    except InputError as error:
        swapped = any(map(looks_like_model, data)) and not looks_like_model(path)
        raise InputError(f"{error}. The model comes first: MODEL FILE" if swapped else str(error)) from None
    command = model.task().commands.get(verb, verb)
    if command != verb:
        raise InputError(f"{path}: is a model that tags sentences: use 'treille {command} {path} FILE'")
    model.n_jobs = -1
    return model


def top_features(model: Any, n: int, merge: bool = False) -> dict[str, list[tuple[str, float]]]:
    """The features with the largest weights: for each class, or for each target, counted from 1, where signs differ.

    With `merge`, overlapping n-grams of a classifier are joined.
    """
    found = model.task().top_features(n, merge)
    names = [f"target {k}" for k in range(1, len(found) + 1)] if "target 0" in found else list(found)
    return {name: [(one[0], one[1]) for one in each] for name, each in zip(names, found.values(), strict=True)}


def settings(model: Any) -> dict[str, Any]:
    """The parameters that define the problem, as JSON values."""
    skipped = ("kernel", "templates", "n_jobs", "verbose", "random_state")
    values = {name: value for name, value in model.get_params(deep=False).items() if name not in skipped}
    return {
        name: value if value is None or isinstance(value, (bool, int, float, str, dict)) else repr(value)
        for name, value in values.items()
    }


def is_model(path: Path) -> bool:
    """Returns whether a file is a model that treille wrote."""
    try:
        return bool(read_spec(path))
    except (OSError, ValueError, KeyError, TypeError, SafetensorError):
        return False


def refuse_model(path: str) -> None:
    """Refuses a model where data is expected."""
    if Path(path).is_file() and is_model(Path(path)):
        raise InputError(f"{path}: is a model, expected data: name a model with --model to train, or first to use it")


def _is_of(path: Path, source: str) -> bool:
    """Returns whether a file is an input: named itself, matched by a glob, or in a folder."""
    names = [source] if os.path.exists(source) else glob.glob(source, recursive=True)
    inside = any(os.path.isdir(name) and Path(name).resolve() in path.resolve().parents for name in names)
    return inside or any(os.path.samefile(path, name) for name in names)


def check_writable(path: Path | None, what: str, inputs: Iterable[str] = (), force: bool = False) -> None:
    """Checks before any work whether a file can be written to this path, and whether it would replace what it should not.

    Without `force`, no output replaces an input; a model replaces models only, and nothing else replaces a model. A report replaces
    reports only.
    """
    if path is None:
        return
    if str(path) == STANDARD_OUTPUT:
        raise InputError(f"-: the {what} cannot be written to standard output: name a file")
    if path.is_file() and not force:
        again = "choose another name, or give --force to overwrite it"
        if any(_is_of(path, other) for other in inputs):
            raise InputError(f"{path}: is an input of this command, and would be overwritten by the {what}: {again}")
        if is_model(path) != (what == "model") and (what == "model" or path.stat().st_size):
            found = "exists and is no treille model" if what == "model" else "is a treille model"
            raise InputError(f"{path}: {found}, and would be overwritten by the {what}: {again}")
        if what == "report" and b'name="generator" content="treille' not in path.read_bytes()[:1000]:
            raise InputError(f"{path}: exists and is no report of treille: {again}")
    if path.is_dir():
        raise InputError(f"{path}: is a folder, expected the name of a file for the {what}")
    if not path.parent.is_dir():
        missing = f"the folder {path.parent} does not exist"
        raise InputError(f"{path}: {missing}: make it first, or name another for the {what}")
    try:
        with tempfile.TemporaryFile(dir=path.parent) as file:
            file.write(b"treille")
    except OSError as error:
        raise InputError(f"{path}: the {what} cannot be written here: {error.strerror}; name another place") from None


def print_saved(printer: Printer, model: Path | None, *commands: str) -> None:
    """Prints where the model was saved and what to try with it, or how to save it."""
    if model is None:
        printer.field("saved", "no, name a file with --model to keep the model")
        return
    printer.field("saved", f"{model}, {readable_size(model.stat().st_size)}")
    printer.print("try next:")
    for line in commands:
        printer.print(f"  {line}", wrap=False)


def print_features(
    printer: Printer,
    features: dict[Any, list[tuple[str, float]]],
    weights: bool,
    title: str = "most discriminative features of each class",
) -> None:
    """For every class the features with the largest weights."""
    printer.print(title + legend(name for each in features.values() for name, _ in each), style="bold")
    labels = [visible_label(str(label)) for label in features]
    margin = 2 + max(map(cell_len, labels))
    for label, each in zip(labels, features.values(), strict=True):
        cells = [visible(name) + (f" {weight:.2f}" if weights else "") for name, weight in each]
        printer.fill(label, cells or ["(none)"], margin)
