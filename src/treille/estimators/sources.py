"""The source of the examples that `fit` is given: in memory, in parts on disk, or on a cluster. No other module asks which."""

import time
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from treille.estimators.plan import SOLVERS, choose_kernel
from treille.estimators.targets import check_numbers, found_labels
from treille.io.errors import InputError
from treille.kernels.precomputed import as_kernel
from treille.scale.cluster import LocalClusterWarning, connected
from treille.scale.counting import checkpointed, count_parts
from treille.scale.dask_counting import count_on_cluster
from treille.scale.dask_parts import as_parts, is_collection
from treille.scale.folder import opened_folder
from treille.scale.labels import Collected
from treille.scale.parts import ClusterFiles, Parts, read_part
from treille.solvers import Problem
from treille.solvers.progress import running_text
from treille.solvers.report import first_level_outside
from treille.solvers.solver import supports
from treille.spaces import ClusterSpace, PartsSpace, Source


@dataclass(frozen=True)
class Posed:
    """A problem, and what its solution means: attributes of the fitted estimator, and what is added to the learned functions."""

    problem: Problem
    fitted: dict[str, Any] = field(default_factory=dict)
    shift: np.ndarray = field(default_factory=lambda: np.zeros(1))


def require_memory(X: Any, estimator: Any, for_parts: str, on_cluster: str) -> None:
    """Refuses data in parts or on a cluster, for an estimator that needs all examples at once, and says what to do instead."""
    spread = _is_on_cluster(X)
    if spread or isinstance(X, Parts):
        where, instead = ("on a Dask cluster", on_cluster) if spread else ("in parts", for_parts)
        name = type(estimator).__name__
        raise InputError(f"{name} needs all examples in memory, and these are {where}: {instead}")


def _is_on_cluster(X: Any) -> bool:
    """Whether these are data on a Dask cluster: a collection, or files that its workers read."""
    return is_collection(X) or isinstance(X, ClusterFiles)


def _check_in_parts(estimator: Any, space: Any, where: str) -> None:
    """Refuses, before anything is read, what cannot be trained on data in parts, whose space is `space`."""
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


@contextmanager
def _in_memory(machine: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Source, Posed]]:
    source = machine._examples(X)
    yield source, machine._posed(y, sample_weight, len(source))


@contextmanager
def _in_parts(machine: Any, X: Parts, y: Any, sample_weight: Any) -> Iterator[tuple[Source, Posed]]:
    if y is not None or sample_weight is not None:
        raise InputError(
            "parts have labels and sample weights of their own: pass them with the examples, Parts.of(...)"
        )
    _check_in_parts(machine, PartsSpace, "in parts")
    of_classes = is_classifier(machine)
    labels, found = Collected(of_classes), found_labels if of_classes else check_numbers
    choose = partial(choose_kernel, machine.kernel, labels=of_classes)
    with opened_folder(X.scratch, X.checkpoint) as folder:
        with running_text(machine.verbose) as show:
            counted = count_parts(X, folder, choose, labels, found, show, machine.n_jobs)
        X.class_counts = labels.class_counts()
        yield counted, machine._posed(labels.y(), labels.sample_weight(), len(counted))


@contextmanager
def _on_cluster(machine: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Source, Posed]]:
    begun, of_classes = time.perf_counter(), is_classifier(machine)
    _check_in_parts(machine, ClusterSpace, "on a cluster")
    files = X if isinstance(X, ClusterFiles) else None
    if files is not None and (y is not None or sample_weight is not None):
        raise InputError("files on a cluster have labels of their own: Parts.on(client, files, label=...)")
    if files is None and y is None:
        raise InputError("labels are missing: fit(X, y) requires y, a Dask collection divided like X")
    found = found_labels if of_classes else check_numbers
    choose = partial(choose_kernel, machine.kernel, labels=of_classes)
    with connected(None if files is None else files.client) as cluster:
        if cluster.note:
            warnings.warn(cluster.note, LocalClusterWarning, stacklevel=first_level_outside())
        if files is None:
            parts = as_parts(cluster.client, X, y, sample_weight)
        else:
            parts = cluster.submit_all(read_part, files.sources, [files.options] * len(files.sources))
        least = 1 if files is None else files.min_count
        source = count_on_cluster(cluster, parts, as_kernel(machine.kernel), choose, of_classes, found, least)
        del parts  # whose features remain: texts need not stay on the workers
        if files is not None:
            files.class_counts = source.class_counts()
        with checkpointed(files, source.kernel) as source.folder:
            posed, problem_of = machine._posed_on_cluster(source)
            source.pose(problem_of)
            yield source, posed
    solving = machine.report_.seconds
    stages = (("counting features", time.perf_counter() - begun - solving), ("rounds", solving))
    machine.report_ = replace(machine.report_, stages=stages)
