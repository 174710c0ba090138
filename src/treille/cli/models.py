"""Model files, as the verbs meet them."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from rich.cells import cell_len

from treille import SVC, InputError, Report, load
from treille.cli import words
from treille.cli.console import Voice
from treille.cli.options import Alphabet
from treille.io import Examples
from treille.io.labels import spell
from treille.io.model import read_model, read_spec, write_model

LONGEST_HEADER = 100_000_000  # bytes, the limit of safetensors


def looks_like_model(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as a model does, or is named like one: eight bytes of length, then JSON.

    >>> looks_like_model("absent.treille"), looks_like_model("-")
    (True, False)
    """
    if Path(path).suffix == ".treille":
        return True
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        head = file.read(9)
    return head[8:] == b"{" and int.from_bytes(head[:8], "little") <= LONGEST_HEADER


def load_model(path: Path, data: str | None = None) -> SVC:
    """The model of a file; `data` is the other file on the command line, for those who give them in the wrong order."""
    try:
        model = load(path)
    except InputError as error:
        swapped = data is not None and looks_like_model(data) and not looks_like_model(path)
        raise InputError(f"{error}. The model comes first: MODEL FILE" if swapped else str(error)) from None
    assert isinstance(model, SVC)
    model.n_jobs = -1
    return model


def save_model(model: SVC, path: Path, alphabet: Alphabet | None) -> None:
    """Saves a model, and with it the alphabet that its texts were read over."""
    model.save(path)
    if alphabet is not None:
        spec, arrays = read_model(path)
        write_model(path, spec | {"reading": {"alphabet": alphabet.value}}, arrays)


def model_alphabet(path: Path) -> Alphabet | None:
    """The alphabet that a model's texts were read over, if one was asked for."""
    remembered = read_spec(path).get("reading", {}).get("alphabet")
    try:
        return remembered and Alphabet(remembered)
    except ValueError:
        raise InputError(
            f"{path}: reads texts over the alphabet {remembered!r}, unknown to this version of treille: upgrade treille"
        ) from None


def class_names(model: SVC) -> list[str]:
    """The classes as files spell them, in the model's order."""
    whole = [int(c) if isinstance(c, float) and c.is_integer() else c for c in model.classes_.tolist()]
    return [spell(label) or str(label) for label in whole]


def class_scores(model: SVC, X: Any) -> np.ndarray:
    """One column of scores per class, also for two classes."""
    scores = model.decision_function(X)
    return scores if scores.ndim == 2 else np.column_stack([-scores, scores])


def check_writable(path: Path, what: str) -> None:
    """Finds out before any work whether a file can be written where it shall be.

    >>> check_writable(Path("."), "model")
    Traceback (most recent call last):
    ...
    treille.io.errors.InputError: .: is a folder, expected the name of a file for the model
    """
    if path.is_dir():
        raise InputError(f"{path}: is a folder, expected the name of a file for the {what}")
    if not path.parent.is_dir():
        raise InputError(
            f"{path}: the folder {path.parent} does not exist: make it first, or name another for the {what}"
        )
    try:
        with tempfile.TemporaryFile(dir=path.parent) as file:
            file.write(b"treille")
    except OSError as error:
        raise InputError(f"{path}: the {what} cannot be written here: {error.strerror}; name another place") from None


def describe_report(report: Report, tol: float) -> str:
    """How training ended, in a line.

    >>> describe_report(Report(2.0, 1.999, 12, 0.5, "converged", 0), 1e-3)
    'converged, duality gap 5.0e-04 of the objective (asked: 0.001), 12 epochs, 0.50 s'
    """
    ended = "converged" if report.status == "converged" else f"stopped at {report.status}, NOT converged"
    several = f"{words.count(len(report.per_class), 'class')} one against the rest, " if report.per_class else ""
    return (
        f"{ended}, duality gap {report.relative_gap:.1e} of the objective (asked: {tol:g}), {several}"
        f"{words.count(report.epochs, 'epoch')}, {words.seconds(report.seconds)}"
    )


def say_telling(voice: Voice, telling: dict[Any, list[tuple[str, float]]], weights: bool) -> None:
    """For every class the features that speak most for it."""
    legend = words.legend(name for features in telling.values() for name, _ in features)
    voice.say(f"most telling features of each class{legend}", style="bold")
    labels = [words.visible_label(str(label)) for label in telling]
    margin = 2 + max(map(cell_len, labels))
    for label, features in zip(labels, telling.values(), strict=True):
        cells = [words.visible(name) + (f" {weight:.2f}" if weights else "") for name, weight in features]
        voice.fill(label, cells or ["(none)"], margin)


def warn_unknown(voice: Voice, names: list[str], examples: Examples, labels: list[str]) -> dict[str, int]:
    """Labels that are none of the classes `names`, with their counts: errors the model cannot avoid."""
    unknown = words.class_counts(label for label in labels if label not in names)
    met = words.listed([f"{words.visible_label(label)} ({n:,})" for label, n in unknown.items()], 5)
    if sum(unknown.values()) == len(labels):
        raise InputError(
            f"{examples.source}: the model knows none of its labels, {met}; it knows {words.listed(names, 5)}."
            " Give the --label that the model was trained with"
        )
    if unknown:
        n = words.count(sum(unknown.values()), "example")
        voice.warn(f"{n} with a label that the model does not know, counted as errors: {met}")
    return unknown
