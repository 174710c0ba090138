"""Inputs of `fit`: the source of the examples, in memory, in parts on disk or on a cluster, and labels, targets and weights."""

import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import DataConversionWarning

from treille.data.recognition import LINES, TITLES, as_recognised
from treille.data.sequences import as_residues
from treille.estimators.plan import SOLVERS, choose_kernel
from treille.io.errors import DataWarning, InputError, first_level_outside
from treille.io.targets import ONE_BY_ONE, as_targets
from treille.kernels.precomputed import as_kernel
from treille.scale.cluster import LocalClusterWarning, as_parts, connected, is_collection
from treille.scale.counting import checkpointed, count_parts
from treille.scale.dask_counting import ClusterSource, count_on_cluster
from treille.scale.folder import opened_folder
from treille.scale.parts import ClusterFiles, CodedLabels, Collected, Part, Parts, checked_weights, read_part
from treille.solvers import Problem
from treille.solvers.progress import running_text
from treille.solvers.solver import supports
from treille.spaces import ClusterSpace, PartsSpace, Source


@dataclass(frozen=True)
class Posed:
    """A problem, and how to interpret its solution: attributes of the fitted estimator, and offsets of the learned functions."""

    problem: Problem
    fitted: dict[str, Any] = field(default_factory=dict)
    shift: np.ndarray = field(default_factory=lambda: np.zeros(1))


def require_memory(X: Any, estimator: Any, for_parts: str, on_cluster: str) -> None:
    """Refuses data in parts or on a cluster, for an estimator that needs all examples at once, and says what to do instead."""
    distributed = _is_on_cluster(X)
    if distributed or isinstance(X, Parts):
        where, instead = ("on a Dask cluster", on_cluster) if distributed else ("in parts", for_parts)
        name = type(estimator).__name__
        raise InputError(f"{name} needs all examples in memory, and these are {where}: {instead}")


def _is_on_cluster(X: Any) -> bool:
    """Returns whether these are data on a Dask cluster: a collection, or files that its workers read."""
    return is_collection(X) or isinstance(X, ClusterFiles)


def _check_in_parts(estimator: Any, space: Any, where: str) -> None:
    """Refuses estimators that cannot be trained on data in parts, with the space `space`, before anything is read."""
    kernel, loss = as_kernel(estimator.kernel), type(estimator._loss())
    if kernel is not None:
        kernel.check_parts()
    if estimator.space != "auto":
        raise InputError(
            f"space is {estimator.space!r}, which needs all examples in memory: use 'auto' for data {where}"
        )
    given, intercept = estimator.solver, estimator.fit_intercept
    known: list[Any] = [each for each in SOLVERS if space in each.spaces and issubclass(loss, each.losses)]
    solvers = known if isinstance(given, str) else [given]
    if not any(space in each.spaces for each in solvers):
        names = " or ".join(f"{each.__name__}()" for each in known)
        raise InputError(f"solver is {given!r}, which needs all rows in memory: use 'auto' or {names} for data {where}")
    if not any(supports(each, loss, intercept) for each in solvers):
        kinds = " or ".join(dict.fromkeys(repr(each) for solver in solvers for each in solver.intercepts))
        raise InputError(
            f"fit_intercept is {intercept!r}, which needs all examples in memory: use {kinds} for data {where}"
        )


def opened(machine: Any, X: Any, y: Any, sample_weight: Any) -> AbstractContextManager[tuple[Source, Posed]]:
    """The source of the examples that `machine` is fitted on, and its problem. They can be used inside ``with``."""
    opening = _on_cluster if _is_on_cluster(X) else _in_parts if isinstance(X, Parts) else _in_memory
    return opening(machine, X, y, sample_weight)


def recognised_texts(X: Any, kernel: Any, n_jobs: int | None) -> tuple[Any, str]:
    """Examples as they are read for the parameter `kernel`, and a note: without a kernel, DNA, RNA, proteins and SMILES are
    recognised among plain texts, with a warning."""
    if as_kernel(kernel) is not None:
        return X, ""
    X, found = as_recognised(X, n_jobs)
    if found is None:
        return X, ""
    title, line = TITLES[found], LINES[found]
    warnings.warn(
        f"the letters of these texts are those of {title}, and no kernel is given: they are read as {title}, and so are new ones. "
        f"Write {line} to say so, or give a kernel, such as NGram(5), which reads them as any other text",
        DataWarning,
        stacklevel=first_level_outside(),
    )
    return X, f"; the texts were recognised as {title} by their letters"


def _recognising(parts: Parts, kernel: Any, n_jobs: int | None) -> Parts:
    """The same parts, all of which are read as the first was recognised."""

    def open_parts() -> Iterator[Part]:
        found: str | None = None
        for number, part in enumerate(parts.open()):
            with part.named():
                if number == 0 and as_kernel(kernel) is None:
                    X, _ = recognised_texts(part.X, kernel, n_jobs)
                    found = X.residues if X is not part.X else None
                else:
                    X = part.X if found is None else as_residues(found, part.X, n_jobs)
            yield replace(part, X=X)

    others = copy(parts)
    others._open = open_parts
    return others


@contextmanager
def _in_memory(machine: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Source, Posed]]:
    source = machine._examples(X)
    yield source, machine._posed(y, sample_weight, len(source))


@contextmanager
def _in_parts(machine: Any, X: Parts, y: Any, sample_weight: Any) -> Iterator[tuple[Source, Posed]]:
    if y is not None or sample_weight is not None:
        raise InputError("parts have their own labels and sample weights: pass them with the examples, Parts.of(...)")
    _check_in_parts(machine, PartsSpace, "in parts")
    of_classes = is_classifier(machine)
    labels, found = Collected(of_classes), found_labels if of_classes else check_numbers
    choose = partial(choose_kernel, machine.kernel, labels=of_classes)
    with opened_folder(X.scratch, X.checkpoint) as folder:
        with running_text(machine.verbose) as show:
            read = _recognising(X, machine.kernel, machine.n_jobs)
            counted = count_parts(read, folder, choose, labels, found, show, machine.n_jobs)
        posed = machine._posed(labels.y(), labels.sample_weight(), len(counted))
        if of_classes:
            posed.fitted["class_counts_"] = labels.class_counts()
        yield counted, posed


@contextmanager
def _on_cluster(machine: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Source, Posed]]:
    begun, of_classes = time.perf_counter(), is_classifier(machine)
    _check_in_parts(machine, ClusterSpace, "on a cluster")
    files = X if isinstance(X, ClusterFiles) else None
    if files is not None and (y is not None or sample_weight is not None):
        raise InputError("files on a cluster have their own labels: Parts.on(client, files, label=...)")
    if files is None and y is None:
        raise InputError("labels are missing: fit(X, y) requires y, a Dask collection divided like X")
    check = found_labels if of_classes else check_numbers
    choose = partial(choose_kernel, machine.kernel, labels=of_classes)
    with connected(None if files is None else files.client) as cluster:
        if cluster.note:
            warnings.warn(cluster.note, LocalClusterWarning, stacklevel=first_level_outside())
        if files is None:
            parts = as_parts(cluster.client, X, y, sample_weight)
        else:
            parts = cluster.submit_all(read_part, files.sources, [files.options] * len(files.sources))
        least = 1 if files is None else files.min_count
        counts = count_on_cluster(cluster, parts, as_kernel(machine.kernel), choose, of_classes, check, least)
        del parts  # the features are counted: workers may free the texts
        with checkpointed(files, counts.kernel) as folder:
            posed, problem_of = machine._posed_on_cluster(counts)
            if of_classes:
                posed.fitted["class_counts_"] = counts.class_counts()
            yield ClusterSource(counts, cluster.map(problem_of, counts.labels), folder), posed
    solving = machine.report_.seconds
    stages = (("counting features", time.perf_counter() - begun - solving), ("rounds", solving))
    machine.report_ = replace(machine.report_, stages=stages)


def check_labels(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes, at least two, and for every example the index of its class."""
    classes, codes = found_labels(y, n)
    if len(classes) < 2:
        raise InputError(f"all labels are {classes.tolist()[0]!r}: there is one class, expected at least two")
    return classes, codes


def found_labels(y: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes, and for every example the index of its class."""
    if isinstance(y, CodedLabels):
        return y.classes, y.codes
    if y is None:
        raise InputError("labels are missing: fit(X, y) requires y to be passed, but the target y is None")
    labels = as_targets(y, "label")
    if labels.ndim == 2 and labels.shape[1] == 1:
        warn_of_column()
        labels = labels.ravel()
    if labels.ndim != 1:
        several = f": {ONE_BY_ONE}" if labels.ndim == 2 and len(labels) == n else ""
        raise InputError(f"labels have the shape {labels.shape}, expected one dimension, a label per example{several}")
    if len(labels) != n:
        raise InputError(f"there are {n:,} examples but {len(labels):,} labels")
    if labels.dtype.kind == "f":
        _refuse(np.isnan(labels), "NaN")
        fractional = np.isinf(labels) | (labels != np.floor(labels))
        _refuse(fractional, "not a whole number, so it names no class; for a continuous target, use SVR")
    elif labels.dtype.kind == "O" or not hasattr(y, "dtype"):  # numpy makes strings of a list that mixes them with NaN
        each = np.asarray(y, dtype=object).ravel()
        _refuse(np.array([_is_missing(label) for label in each], dtype=bool), "missing (None or NaN)")
        kinds = {type(label.item() if isinstance(label, np.generic) else label) for label in each}
        if len(kinds) > 1:
            raise InputError(
                f"labels are of several types ({', '.join(sorted(k.__name__ for k in kinds))}), expected one"
            )
    try:
        classes, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        kind = type(labels.ravel()[0]).__name__
        raise InputError(f"labels are of the type {kind}, which has no order: use strings or numbers") from None
    return classes, codes.astype(np.int32)


def check_numbers(y: Any, n: int) -> np.ndarray:
    """Regression targets as float64, in one dimension, or in two with one column per target."""
    if y is None:
        raise InputError("targets are missing: fit(X, y) requires y to be passed, but the target y is None")
    given = as_targets(y, "target")
    if given.dtype.kind == "c":
        raise InputError("Complex data not supported: targets are complex numbers, expected real ones")
    if given.ndim not in (1, 2) or given.shape[-1] == 0:
        raise InputError(f"targets have the shape {given.shape}, expected a number, or a row of them, per example")
    if len(given) != n:
        raise InputError(f"there are {n:,} examples but {len(given):,} targets")
    if given.dtype.kind not in "biufO":
        raise InputError(f"target 0 is {given.ravel()[0].item()!r}, expected a number; to learn classes, use SVC")
    numbers = _numbers(given, "y")
    bad = ~np.isfinite(numbers)
    _refuse(bad if numbers.ndim == 1 else bad.any(axis=1), "NaN or infinite, expected a number", "target")
    return numbers


def check_sample_weight(sample_weight: Any, n: int) -> np.ndarray:
    """One non-negative number per example; None means 1 for each."""
    if sample_weight is None:
        return np.ones(n)
    given = checked_weights(sample_weight, n)
    if not given.any():
        raise InputError("sample_weight is zero for every example: there is nothing to learn from")
    return given


def check_weights(
    C: float, codes: np.ndarray, classes: np.ndarray, class_weight: Any, sample_weight: Any, least: int = 2
) -> np.ndarray:
    """C times class weight times sample weight, for every example; at least `least` classes must have weight."""
    given = check_sample_weight(sample_weight, len(codes))
    if len(np.unique(codes[given > 0])) < least:
        raise InputError("sample_weight leaves fewer than two classes with any weight")
    return float(C) * given * class_weights(class_weight, classes, np.bincount(codes, minlength=len(classes)))[codes]


def class_weights(class_weight: Any, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The weight of each class, given its number of examples."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, dict):
        unknown = [key for key in class_weight if key not in classes]
        if unknown:
            raise InputError(f"class_weight names {unknown[0]!r}, which is no class: there are {classes.tolist()}")
        per_class = _numbers([class_weight.get(label, 1.0) for label in classes.tolist()], "class_weight")
        if not ((per_class > 0) & (per_class < np.inf)).all():
            raise InputError("class_weight holds a weight that is not a positive number")
    elif isinstance(class_weight, str) and class_weight == "balanced":
        per_class = counts.sum() / (len(classes) * np.maximum(counts, 1.0))  # as scikit-learn's
    else:
        raise InputError(f"class_weight is {class_weight!r}, expected None, 'balanced' or a dict")
    return per_class


def _numbers(values: Any, what: str) -> np.ndarray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{what} holds something that is not a number") from None


def _is_missing(label: Any) -> bool:
    same = label == label  # not so for NaN; neither true nor false for pandas' NA
    return label is None or not isinstance(same, (bool, np.bool_)) or not same


def _refuse(bad: np.ndarray, found: str, what: str = "label") -> None:
    if bad.any():
        raise InputError(f"{what} {int(np.argmax(bad))} is {found}")


def warn_of_column() -> None:
    """Warns as scikit-learn does of targets in one column."""
    found = "A column-vector y was passed when a 1d array was expected: use y.ravel()"
    warnings.warn(found, DataConversionWarning, stacklevel=first_level_outside())
