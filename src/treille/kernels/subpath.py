"""Subpaths: labels from an ancestor down to a descendant."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from treille import _core
from treille.data import XBW, Batch, Trees
from treille.data.base import available_memory, readable_size
from treille.features import Contributions, ExplainingMap, FeatureMap, MergingMap, Rows
from treille.features.feature_map import DependentFeaturesError
from treille.io import stored
from treille.io.errors import InputError
from treille.io.parameters import check_choice, check_positive, check_whole, effective_n_jobs
from treille.kernels.base import Fitted
from treille.kernels.counts import Counts, check_counts, check_raw
from treille.kernels.suffix import SuffixTreeKernel, TreeProduct
from treille.kernels.tree_kernels import TreeKernel, TreeMap

ENTRY = 40  # bytes per entry while rows are built


@dataclass(eq=False, repr=False)
class Subpath(SuffixTreeKernel, TreeKernel):
    """Common downward paths: k(x, y) = sum over paths p of decay^|p| count_x(p) count_y(p), |p| <= max_length.

    A path is the sequence of labels from any node down to one of its descendants, or a single label; the order of siblings does not
    matter. Exact, in time linear in the number of nodes: the features are the edges of the suffix tree of upward strings.

    Parameters
    ----------
    decay : float
        Positive: the factor of each label of a path in its weight.
    max_length : int or None
        Length of the longest paths that count, in labels; None: no bound.
    index : {"arrays", "xbw"}
        With "xbw", trees are stored as their index, `treille.trees.XBW`, in a few bytes per node, and training uses products with
        the kernel matrix instead of features. "arrays" is faster.
    counts : {"raw", "log", "binary"}
        In place of a count c of a path: c, 1 + log(c), or 1 if c > 0; see `NGram`. All but "raw" need features, not products.

    References
    ----------
    Kimura, Kashima: Fast computation of subpath kernel for trees. ICML 2012.

    Examples
    --------
    >>> from treille.kernels import Subpath
    >>> Subpath(decay=0.5)(["(a (b c))", "(a (b) (b))"]).tolist()  # a, b, a/b: 0.5 (1 + 2) + 0.25 (2)
    [[2.125, 2.0], [2.0, 3.5]]
    """

    decay: float = 0.5
    max_length: int | None = None
    index: str = "arrays"
    counts: Counts = "raw"

    def check(self) -> None:
        check_positive("decay", self.decay)
        if self.max_length is not None:
            check_whole("max_length", self.max_length, bits=31)
        check_choice("index", self.index, "arrays", "xbw")
        if check_counts(self.counts) != _core.Counts.raw and not self.has_features:
            raise InputError(
                f"counts={self.counts!r} needs features, and index={self.index!r} has none: use index='arrays', or counts='raw'"
            )

    @property
    def has_features(self) -> bool:
        return self.index == "arrays"

    def multiplies(self, batch: Batch) -> bool:
        return self.counts == "raw"

    def check_parts(self) -> None:
        raise InputError(
            f"the features of {self!r} are the edges of the suffix tree of all examples, so it cannot be trained on data in parts: "
            "use RootPaths or SubTree"
        )

    def batch(self, X: Any, n_jobs: int | None = None) -> Any:
        if self.index == "xbw":
            return X if isinstance(X, XBW) else XBW(X, n_jobs)
        return _trees(X, n_jobs) if isinstance(X, XBW) else super().batch(X, n_jobs)

    def path_weights(self, *batches: Trees) -> np.ndarray:
        """W(0) = 0, W(1), ...: the cumulative sums of decay^length, up to the length from which they do not change."""
        most = max((int(np.diff(batch.offsets).max(initial=0)) for batch in batches), default=0)
        return self.path_weights_to(most)

    def path_weights_to(self, most: int) -> np.ndarray:
        """The same for paths of at most `most` labels."""
        most = most if self.max_length is None else min(most, int(self.max_length))
        with np.errstate(over="ignore"):  # infinite only for paths so long that they may not occur
            weights = float(self.decay) ** np.arange(most + 1)
            sums = np.cumsum(np.concatenate([[0.0], weights[1:]]))
        return sums[: 1 + np.count_nonzero(sums[1:] > sums[:-1])]

    def fit_features(self, batch: Trees, n_jobs: int | None = None) -> Fitted:
        if not self.has_features:
            return super().fit_features(batch, n_jobs)
        self.check()
        parts = len(batch.alphabet), self.path_weights(batch), check_counts(self.counts)
        features = _core.SubpathFeatures.fit(batch.arrays, *parts)
        needed, available = ENTRY * features.most_entries, available_memory()
        if needed > available:
            raise InputError(
                f"the rows of these trees would take up to {readable_size(needed)}, but {readable_size(available)} are free: "
                "train with solver=CuttingPlane() or Subpath(index='xbw'), or bound the paths by max_length"
            )
        threads = effective_n_jobs(n_jobs)
        matrix = _matrix(features.transform(batch.arrays, threads), len(features))
        return SubpathMap(self, features, batch.alphabet), Rows.from_csr(matrix, threads=threads)

    def load_features(self, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> FeatureMap:
        if not self.has_features:
            return super().load_features(spec, arrays)
        alphabet: Any = stored.names(spec)
        parts: Any = tuple(stored.array(arrays, name, np.int32) for name in PARTS)
        # Depths are bounded by the paths in the file before they are used as a size; longer paths have no weights.
        deepest = int(parts[3].max(initial=0)) if _fit_together(len(alphabet), parts) else -1
        if deepest < 0 or len(self.path_weights_to(deepest)) <= deepest:
            raise InputError("the paths in the file do not fit its kernel")
        return self.map_of(parts, alphabet)

    def map_of(self, parts: Any, alphabet: list[str]) -> FeatureMap:
        """The map of the edges that these arrays hold, see `PARTS`."""
        weights, counts = self.path_weights_to(int(parts[3].max(initial=0))), check_counts(self.counts)
        return SubpathMap(self, _core.SubpathFeatures.from_parts(parts, len(alphabet), weights, counts), alphabet)

    def fit_product(self, batch: Batch, n_jobs: int | None = None) -> TreeProduct:
        check_raw(self.counts)
        trees = _trees(batch, n_jobs)
        matrix: _core.SubpathProduct | _core.SubstringTree
        if self.index == "xbw":
            matrix = _core.SubpathProduct.of(trees.arrays, self.path_weights(trees))
            # The product holds no trees: only the index stays.
            batch = batch.encode() if isinstance(batch, XBW) else batch
        else:
            matrix = self.suffix_tree(trees, None, n_jobs)
        size = readable_size(matrix.nbytes + batch.nbytes)
        return TreeProduct(matrix, f"{len(trees.labels):,} nodes, {size} with the trees", effective_n_jobs(n_jobs))

    def suffix_tree(self, left: Batch, right: Batch | None, n_jobs: int | None) -> _core.SubstringTree:
        x = _trees(left, n_jobs)
        if right is None:
            return _core.shared_paths(x.arrays, self.path_weights(x), len(x))
        y = _trees(right, n_jobs)
        labels, parents, offsets = x.arrays_over(y.alphabet)
        forest = (
            np.concatenate([labels, y.labels]),
            np.concatenate([parents, y.parents]),
            np.concatenate([offsets, offsets[-1] + y.offsets[1:]]),
        )
        return _core.shared_paths(forest, self.path_weights(x, y), len(x))

    def diagonal(self, batch: Batch, n_jobs: int | None = None) -> np.ndarray:
        trees = _trees(batch, n_jobs)
        weights, counts = self.path_weights(trees), check_counts(self.counts)
        return _core.subpath_self(trees.arrays, weights, counts, effective_n_jobs(n_jobs))


PARTS = ("path_label", "path_parent", "node_parent", "node_depth", "edge_start", "feature")


class SubpathMap(TreeMap, ExplainingMap):
    """Edges of the suffix tree and their ids. A name with parentheses means all paths on the edge: ``(S/)NP/NN`` is two."""

    def parts(self, ids: np.ndarray | None = None) -> Any:
        return (self if ids is None else self.restrict(ids)).features.parts()

    def transform(self, batch: Trees, n_jobs: int | None = None) -> Rows:
        return replace(self._matched(batch, n_jobs), sq_norms=self.kernel.diagonal(batch, n_jobs))

    def _matched(self, batch: Trees, n_jobs: int | None) -> Rows:
        """The rows without norms, which take a second pass over the trees."""
        n, threads = self.n_features, effective_n_jobs(n_jobs)
        matrix = _matrix(self.features.transform(batch.arrays_over(self.alphabet), threads), n)
        return Rows.from_csr(matrix, np.zeros(len(batch)), threads=threads)

    def row_products(self, weights: np.ndarray) -> Callable[[Any, int | None], np.ndarray]:
        return lambda batch, n_jobs: self._matched(batch, n_jobs).matvec(weights, effective_n_jobs(n_jobs))

    def contributions(self, batch: Trees, weights: np.ndarray, n_jobs: int | None = None) -> Contributions:
        values = self.features.contributions(
            batch.arrays_over(self.alphabet), np.ascontiguousarray(weights, np.float64)
        )
        return Contributions.of(batch, values)

    def feature_name(self, id: int) -> str:
        upwards, shortest = self.features.path(id)
        labels = [self.alphabet[label] for label in reversed(upwards)]
        more = len(labels) - shortest
        return f"({'/'.join(labels[:more])}/)" * (more > 0) + "/".join(labels[more:])

    def restrict(self, ids: np.ndarray) -> "SubpathMap":
        return replace(self, features=self.features.restrict(np.asarray(ids, np.int64)))

    def refusal(self, ability: Any) -> InputError:
        if ability is not MergingMap:
            return super().refusal(ability)
        # A feature is a set of paths that occur equally often in all examples. Further examples split it into several features,
        # so that no renumbering turns rows of a part into rows over the features of all.
        return DependentFeaturesError(
            f"the features of {self.kernel!r} are the edges of the suffix tree of all examples, which further examples split: "
            "fit on all examples, or use RootPaths or SubTree, whose features merge"
        )

    def state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"alphabet": self.alphabet}, dict(zip(PARTS, self.parts(), strict=True))


def _fit_together(n_labels: int, parts: tuple[np.ndarray, ...]) -> bool:
    """Returns whether these are the parts of a suffix tree: the content of a model file is not trusted."""

    def within(values: np.ndarray, least: int, stop: int) -> bool:
        return bool(((values >= least) & (values < stop)).all())

    path_label, path_parent, node_parent, node_depth, edge_start, feature = parts
    n_paths, n = len(path_label), len(node_parent)
    if len(path_parent) != n_paths or not len(node_depth) == len(edge_start) == len(feature) == n:
        return False
    if not (within(path_label, 0, n_labels) and within(edge_start, 0, n_paths) and within(feature, -1, n)):
        return False
    if not (_parents_first(path_parent) and _parents_first(node_parent)):
        return False
    numbers = np.sort(feature[feature >= 0])
    above = np.where(node_parent < 0, 0, node_depth[node_parent])
    lengths = np.zeros(n_paths, np.int64)
    for path, parent in enumerate(path_parent.tolist()):
        lengths[path] = 1 if parent < 0 else lengths[parent] + 1
    edges = node_depth.astype(np.int64) - above
    return bool(
        (numbers == np.arange(len(numbers))).all() and (edges > 0).all() and (edges <= lengths[edge_start]).all()
    )


def _parents_first(parents: np.ndarray) -> bool:
    return bool(((parents >= -1) & (parents < np.arange(len(parents)))).all())


def _matrix(rows: tuple[np.ndarray, np.ndarray, np.ndarray], n_features: int) -> sp.csr_matrix:
    indptr, features, values = rows
    return sp.csr_matrix((values, features, indptr), shape=(len(indptr) - 1, n_features))


def _trees(batch: Any, n_jobs: int | None) -> Trees:
    trees = batch.trees(n_jobs) if isinstance(batch, XBW) else batch
    assert isinstance(trees, Trees)
    return trees
