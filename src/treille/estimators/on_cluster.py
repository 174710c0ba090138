"""Which estimators, kernels and solvers take data on a Dask cluster; predictions and scores of collections."""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from treille.estimators.plan import choose_kernel
from treille.estimators.targets import found_labels
from treille.features import FeatureMap
from treille.io.errors import InputError
from treille.kernels import Kernel
from treille.kernels.fitting import FitContext
from treille.scale.cluster import connected
from treille.scale.dask_counting import count_on_cluster
from treille.scale.dask_parts import as_parts, is_collection, partitions
from treille.scale.parts import ClusterFiles

TRAINED = "SVC, SVR, Ridge and LogisticRegression"


def on_cluster(X: Any) -> bool:
    """Whether these are data on a Dask cluster: a collection, or files that its workers read."""
    return is_collection(X) or isinstance(X, ClusterFiles)


def refuse_cluster(X: Any, estimator: Any, instead: str) -> None:
    """Refuses data on a cluster, for an estimator that needs all examples at once."""
    if on_cluster(X):
        raise InputError(
            f"{type(estimator).__name__} needs all examples in memory, and these are on a Dask cluster: {instead}"
        )


def refuse_learning_on_cluster(X: Any, estimator: Any) -> None:
    """Refuses data on a cluster, for an estimator that is never trained there."""
    if on_cluster(X):
        raise InputError(f"{type(estimator).__name__} is not trained on a cluster: {TRAINED} are")


def features_on_cluster(kernel: Kernel, X: Any, n_jobs: int | None) -> FeatureMap:
    """The features of a collection, counted by the workers that hold its partitions."""
    kernel.check_parts()
    if kernel.needs_labels:
        raise InputError(
            f"{kernel!r} weighs features by classes, which Features does not do on a cluster: fit SVC, and use its features_, or "
            "use weighted('idf')"
        )
    with connected() as cluster:
        parts = as_parts(cluster.client, X, None, None)
        source = count_on_cluster(cluster, parts, kernel, partial(choose_kernel, kernel), None, found_labels)
        features, _ = source.fit_features(FitContext(), n_jobs)
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
