"""Report pages, as several commands write them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from treille import InputError, Tagger
from treille.cli.console import Printer
from treille.cli.models import check_writable
from treille.cli.options import Data, command
from treille.cli.training import HeldOut, Splits, fit
from treille.explain.outputs import some_of
from treille.explain.report import Source, write_report
from treille.io import Examples


def names_of(examples: Examples) -> list[str]:
    """What the examples are called on the page: their ids, otherwise their lines, otherwise their numbers from 1."""
    if examples.ids:
        return examples.ids
    lines = () if examples.sources else examples.lines  # of one file
    return [f"line {line}" for line in lines] or [f"example {i}" for i in range(1, len(examples) + 1)]


def commands(model: Any, path: Path | None) -> list[str]:
    """What to do next with a model file."""
    if path is None:
        return []
    if isinstance(model, Tagger):
        return [command("tag", "run", path, "FILE"), command("tag", "evaluate", path, "FILE"), command("inspect", path)]
    verbs = [command(verb, path, "FILE") for verb in ("predict", "evaluate", "explain")]
    return [*verbs, command("serve", path), command("inspect", path)]


def check_report(path: Path | None, inputs: Sequence[str] = (), force: bool = False) -> None:
    """Checks before any work whether a page can be written to this path; it replaces no other file than a page of treille."""
    check_writable(path, "report", inputs, force)
    if (
        path is not None
        and path.is_file()
        and not force
        and b'name="generator" content="treille' not in path.read_bytes()[:1000]
    ):
        raise InputError(
            f"{path}: exists and is no report of treille: choose another name, or give --force to overwrite it"
        )


def write_training_report(
    path: Path,
    printer: Printer,
    machine: Any,
    model: Path | None,
    data: Data,
    scored: HeldOut | None,
    splits: Splits | None,
    tested: Data | None,
) -> None:
    """The report of `treille train`: of the test file, of the examples held out, of the first fold, or of the training data.

    For examples held out and folds, it is the report of a model trained on the others.
    """
    examples, X, labels = data.examples, data.X, np.array(data.labels)
    source = Source(
        examples.source, names=names_of(examples), warnings=printer.warnings, commands=commands(machine, model)
    )
    if tested is not None:
        own = replace(source, data=tested.examples.source, names=names_of(tested.examples))
        write_report(machine, tested.X, tested.labels, path, (X, labels), own)
        return
    if splits is None or scored is None:
        write_report(machine, None, None, path, (X, labels), source)
        return
    splits = list(splits)
    rest, rows = (np.asarray(part) for part in splits[0])
    how = "held out: the figures are of a model trained on the others"
    if len(splits) > 1:
        how = f"the first of {len(splits)} folds, of a model trained on the others; over all folds: {scored}"
    trained = (some_of(X, rest), labels[rest])
    fitted = scored.fitted or fit(clone(machine), *trained)
    own = replace(source, how=how, names=[source.names[i] for i in rows] if source.names else None)
    write_report(fitted, some_of(X, rows), labels[rows], path, trained, own)
