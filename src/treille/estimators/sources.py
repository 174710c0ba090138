"""The source of the examples that `fit` is given: in memory, in parts on disk, or on a cluster. No other module asks which."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from sklearn.base import is_classifier

from treille.estimators.in_parts import check_in_parts
from treille.estimators.on_cluster import on_cluster
from treille.estimators.plan import choose_kernel
from treille.estimators.posed import Posed
from treille.estimators.targets import check_numbers, found_labels
from treille.io.errors import InputError
from treille.kernels.callable import as_kernel
from treille.scale.cluster import LocalClusterWarning, connected
from treille.scale.counting import checkpointed, count_parts
from treille.scale.dask_counting import count_on_cluster
from treille.scale.dask_parts import as_parts
from treille.scale.folder import opened_folder
from treille.scale.labels import Collected
from treille.scale.parts import ClusterFiles, Parts, read_part
from treille.solvers.progress import running_text
from treille.solvers.report import first_level_outside
from treille.spaces import ClusterSpace, PartsSpace, Source


@contextmanager
def opened(machine: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Source, Posed]]:
    """The source of the examples that `machine` is fitted on, and its problem. They can be used inside ``with``."""
    opening = _on_cluster if on_cluster(X) else _in_parts if isinstance(X, Parts) else _in_memory
    with opening(machine, X, y, sample_weight) as found:
        yield found


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
    check_in_parts(machine, type(machine._loss()), PartsSpace, "in parts")
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
    check_in_parts(machine, type(machine._loss()), ClusterSpace, "on a cluster")
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
