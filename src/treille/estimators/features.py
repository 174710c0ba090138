"""A kernel's explicit features as a scikit-learn transformer."""

from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from treille.estimators.plan import choose_kernel
from treille.estimators.sources import check_labels, found_labels, require_memory
from treille.estimators.validation import KernelInput
from treille.features import FeatureRows, StoredRows
from treille.features.abilities import having
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels import Kernel
from treille.kernels.fitting import FitContext
from treille.kernels.precomputed import as_kernel
from treille.scale.cluster import as_parts, connected, is_collection, partitions
from treille.scale.counting import count_parts
from treille.scale.dask_counting import count_on_cluster
from treille.scale.folder import opened_folder
from treille.scale.parts import Collected, Parts
from treille.scikit_learn import TransformerMixin


class Features(TransformerMixin, KernelInput):
    """Sparse matrix of a kernel's features: ``transform(X) @ transform(Y).T`` is the kernel matrix on the fitted features.

    Parameters
    ----------
    kernel : Kernel or str
        Any kernel with explicit features, or an expression such as "ngram(5)".
    n_jobs : int or None
        Threads; None is 1, -1 is all. The result does not depend on it.

    Examples
    --------
    >>> from treille import Features
    >>> from treille.kernels import NGram
    >>> features = Features(NGram(2)).fit(["abba", "abab"])
    >>> features.get_feature_names_out().tolist(), features.inverse(0)
    (['ab', 'ba', 'bb'], 'ab')
    >>> features.transform(["bbb", "xab"]).toarray().tolist()
    [[0.0, 0.0, 2.0], [1.0, 0.0, 0.0]]

    Data in parts, `treille.scale.Parts`, have their labels with them, and `transform` yields one matrix per part, each when it is
    asked for:

    >>> from treille.scale import Parts
    >>> parts = Parts.of([["abba"], ["abab", "b"]])
    >>> [matrix.shape for matrix in Features(NGram(2)).fit(parts).transform(parts)]
    [(1, 3), (2, 3)]
    """

    def __init__(self, kernel: Kernel | str, n_jobs: int | None = None):
        self.kernel = kernel
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> "Features":
        """Determines the features of X; `transform` uses exactly these. Only weights by labels, `weighted("nb")`, use y."""
        if isinstance(X, Parts):
            self._fit_parts(X)
        elif is_collection(X):
            self._fit_on_cluster(X)
        else:
            self.fit_rows(X, y)
        return self

    def _kernel(self) -> Kernel:
        kernel = as_kernel(self.kernel)
        if kernel is None:
            raise InputError("kernel is None, expected a kernel such as treille.kernels.NGram(5)")
        kernel.check()
        return kernel

    def _fit_parts(self, parts: Parts) -> None:
        kernel = self._kernel()
        kernel.check_parts()
        labels, chosen = Collected(True if kernel.needs_labels else None), (kernel, "as given")
        with opened_folder(parts.scratch, parts.checkpoint) as folder:
            counted = count_parts(parts, folder, lambda X: chosen, labels, found_labels, lambda text: None, self.n_jobs)
            context = self._context(kernel, labels.y(), len(counted))
            self.feature_map_, _ = counted.fit_features(context, self.n_jobs)

    def _fit_on_cluster(self, X: Any) -> None:
        kernel = self._kernel()
        kernel.check_parts()
        if kernel.needs_labels:
            raise InputError(
                f"{kernel!r} weighs features by classes, which Features does not do on a cluster: fit SVC, and use its "
                "features_, or use weighted('idf')"
            )
        with connected() as cluster:
            parts = as_parts(cluster.client, X, None, None)
            counts = count_on_cluster(cluster, parts, kernel, partial(choose_kernel, kernel), None, found_labels)
            self.feature_map_, _ = counts.fit_features(FitContext(), self.n_jobs)

    def fit_rows(self, X: Any, y: Any = None) -> FeatureRows:
        """Like `fit`, but returns the rows of X in treille's compact format."""
        then = "use fit, then transform, which"
        require_memory(
            X, self, f"{then} yields one matrix per part", f"{then} returns a delayed matrix of each partition"
        )
        kernel = self._kernel()
        batch = kernel.batch(self._validated(X, kernel, reset=True), self.n_jobs)
        if len(batch) == 0:
            raise InputError("there are no examples: fit needs at least one")
        self.feature_map_, rows = self._context(kernel, y, len(batch)).fit(kernel, batch, self.n_jobs)
        return rows

    def _context(self, kernel: Kernel, y: Any, n: int) -> FitContext:
        if y is None or not kernel.needs_labels:
            return FitContext()
        classes, labels = check_labels(y, n)
        return FitContext(labels, np.array([1]) if len(classes) == 2 else np.arange(len(classes)))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fits, and returns the matrix of X, or of each part."""
        if isinstance(X, Parts) or is_collection(X):
            return self.fit(X, y).transform(X)
        return having(self.fit_rows(X, y), StoredRows).to_csr(effective_n_jobs(self.n_jobs))

    def transform(self, X: Any) -> Any:
        """One row per example, one column per fitted feature; features not seen in `fit` are left out.

        A sparse matrix; for data in parts an iterator over one matrix per part, for a Dask collection a list of delayed ones, one
        per partition.
        """
        check_is_fitted(self)
        if isinstance(X, Parts):
            return map(self.transform, (part.X for part in X.open()))
        if is_collection(X):
            function = import_module("dask").delayed(self.transform)
            return [function(part) for part in partitions(X)]
        kernel = self._kernel()
        batch = kernel.batch(self._validated(X, kernel, reset=False), self.n_jobs)
        rows = self.feature_map_.transform(batch, self.n_jobs)
        return having(rows, StoredRows).to_csr(effective_n_jobs(self.n_jobs))

    def inverse(self, id: int) -> str:
        """The name of the feature of a column."""
        check_is_fitted(self)
        return self.feature_map_.name(id)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of all columns."""
        check_is_fitted(self)
        return np.array([self.feature_map_.name(i) for i in range(self.feature_map_.n_features)], dtype=object)
