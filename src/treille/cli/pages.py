"""Report pages, as several commands write them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from treille import InputError
from treille.cli.models import check_writable
from treille.cli.options import Data
from treille.cli.training import HeldOut, Splits, TrainingJob, fit
from treille.explain.examples import some_of
from treille.explain.page import Source
from treille.explain.report import write_report
from treille.io import Examples


def names_of(examples: Examples) -> list[str]:
    """The names of the examples on the page: their ids, otherwise their lines, otherwise their numbers from 1."""
    if examples.ids:
        return examples.ids
    lines = () if examples.sources else examples.lines  # of one file
    return [f"line {line}" for line in lines] or [f"example {i}" for i in range(1, len(examples) + 1)]


def check_report(path: Path | None, inputs: Sequence[str] = (), force: bool = False) -> None:
    """Checks before any work whether a page can be written to this path; it replaces no other file than a page of treille."""
    check_writable(path, "report", inputs, force)
    if path is None or not path.is_file() or force:
        return
    if b'name="generator" content="treille' not in path.read_bytes()[:1000]:
        again = "choose another name, or give --force to overwrite it"
        raise InputError(f"{path}: exists and is no report of treille: {again}")


def write_training_report(
    path: Path,
    task: TrainingJob,
    machine: Any,
    data: Data,
    scored: HeldOut | None,
    splits: Splits | None,
    tested: Data | None,
) -> None:
    """The report of `treille train`: of the test file, of the examples held out, of the first fold, or of the training data.

    For examples held out and folds, it is the report of a model trained on the others.
    """
    shown, X, labels = tested or data, data.X, np.array(data.labels)
    source = Source(shown.examples.source, names=names_of(shown.examples), warnings=task.printer.warnings)
    if task.model:
        source = replace(source, model=str(task.model))
    if tested is not None:
        write_report(machine, tested.X, tested.labels, path, (X, labels), source)
    elif splits is None or scored is None:
        write_report(machine, None, None, path, (X, labels), source)
    else:
        how = "held out: the figures are of a model trained on the others"
        if len(splits) > 1:
            how = f"the first of {len(splits)} folds, of a model trained on the others; over all folds: {scored}"
        rest, rows = splits[0]
        trained = (some_of(X, rest), labels[rest])
        fitted = scored.fitted or fit(clone(machine), *trained)
        source = replace(source, how=how, names=[source.names[i] for i in rows] if source.names else None)
        write_report(fitted, some_of(X, rows), labels[rows], path, trained, source)
