"""Which estimators, kernels and solvers take data on a Dask cluster; predictions and scores of collections."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from treille.estimators.plan import SOLVERS, choose_kernel
from treille.estimators.targets import found_labels
from treille.features import FeatureMap
from treille.io.errors import InputError
from treille.kernels import Centered, Kernel, Subpath
from treille.kernels.callable import as_kernel
from treille.scale.cluster import connected
from treille.scale.dask_counting import count_on_cluster
from treille.scale.dask_parts import as_parts, is_collection, partitions
from treille.scale.parts import Parts
from treille.solvers.problem import Loss
from treille.solvers.solver import supports
from treille.spaces import ClusterSpace

TRAINED = "SVC, SVR, Ridge and LogisticRegression"
INSTEAD = {Centered: "leave out .centered()", Subpath: "use RootPaths or SubTree"}


def on_cluster(X: Any) -> bool:
    """Whether these are data on a Dask cluster: a collection, or files that its workers read."""
    return is_collection(X) or (isinstance(X, Parts) and X.on_cluster)


def refuse_cluster(X: Any, estimator: Any, instead: str) -> None:
    """Refuses data on a cluster, for an estimator that needs all examples at once."""
    if on_cluster(X):
        raise InputError(
            f"{type(estimator).__name__} needs all examples in memory, and these are on a Dask cluster: {instead}"
        )


def check_on_cluster(estimator: Any, loss: type[Loss] | None) -> None:
    """Refuses, before anything is sent, what cannot be trained on a cluster; no loss: an estimator that is not."""
    if loss is None:
        raise InputError(f"{type(estimator).__name__} is not trained on a cluster: {TRAINED} are")
    kernel = as_kernel(estimator.kernel)
    if kernel is not None:
        _check_kernel(kernel)
    if estimator.space != "auto":
        raise InputError(
            f"space is {estimator.space!r}, which needs all examples in memory: use 'auto' for data on a cluster"
        )
    given, intercept = estimator.solver, estimator.fit_intercept
    offered: list[Any] = list(SOLVERS)
    known = [each for each in offered if ClusterSpace in each.spaces and loss in each.losses]
    solvers = known if isinstance(given, str) else [given]
    if not any(ClusterSpace in each.spaces for each in solvers):
        names = " or ".join(f"{each.__name__}()" for each in known)
        raise InputError(
            f"solver is {given!r}, which needs all rows in memory: use 'auto' or {names} for data on a cluster"
        )
    if not any(supports(each, loss, intercept) for each in solvers):
        kinds = " or ".join(repr(each) for solver in solvers for each in solver.intercepts)
        raise InputError(
            f"fit_intercept is {intercept!r}, which needs all examples in memory: use {kinds} for data on a cluster"
        )


def _check_kernel(kernel: Kernel) -> None:
    if not kernel.has_features:
        raise InputError(
            f"{kernel!r} has no explicit features, so it cannot be trained on a cluster: use a kernel that has, such as NGram for "
            "texts, RootPaths or SubTree for trees, WeisfeilerLehman for graphs"
        )
    for part in [kernel, *(value for value in kernel.get_params().values() if isinstance(value, Kernel))]:
        for kind, instead in INSTEAD.items():
            if isinstance(part, kind):
                raise InputError(
                    f"the features of {part!r} depend on all examples at once, so they cannot be found on a cluster: {instead}"
                )


def features_on_cluster(kernel: Kernel, X: Any, n_jobs: int | None) -> FeatureMap:
    """The features of a collection, counted by the workers that hold its partitions."""
    _check_kernel(kernel)
    if kernel.needs_labels:
        raise InputError(
            f"{kernel!r} weighs features by classes, which Features does not do on a cluster: fit SVC, and use its features_, or "
            "use weighted('idf')"
        )
    with connected() as cluster:
        parts = as_parts(cluster.client, X, None, None)
        counted, _ = count_on_cluster(cluster, parts, partial(choose_kernel, kernel), None, found_labels)
        features, _ = counted.fitted(kernel, n_jobs)
    return features


def matrices(transform: Callable[[Any], Any], X: Any) -> list[Any]:
    """A delayed matrix of each partition."""
    function = import_module("dask").delayed(transform)
    return [function(part) for part in partitions(X)]


def computed(values: Any) -> Any:
    """What a collection of labels or numbers holds, in one array; None and arrays as they are."""
    if not is_collection(values):
        return values
    each = import_module("dask").compute(*partitions(values))
    return np.concatenate([np.asarray(part if hasattr(part, "__len__") else list(part)) for part in each])
