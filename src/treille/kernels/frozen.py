"""Kernels whose features are fitted once on the training examples, inside sums and products with kernels that have none."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from treille.features import FeatureMap
from treille.io import stored
from treille.io.errors import InputError
from treille.kernels.additive import own_part
from treille.kernels.base import Fitted, Kernel, operands
from treille.kernels.columns import Columns
from treille.kernels.fitting import FitContext, ValueKernel
from treille.kernels.reading import Reads


class Frozen(Kernel):
    """A kernel by the features that were fitted on the training examples: k(x, y) = phi(x) . phi(y) for all x and y."""

    needs_features = False  # they are here
    needs_labels = False

    def __init__(self, kernel: Kernel, features: FeatureMap):
        if features.problem_counts():
            raise InputError(
                f"{kernel!r} has other weights for each class, so there is no single kernel matrix to add to the values of kernels "
                "without features: use weights that are the same for all classes, .weighted('idf')"
            )
        self.kernel = kernel
        self.features = features

    @property
    def reads(self) -> Reads:
        return self.kernel.reads

    def batch(self, X: Any, n_jobs: int | None = None) -> Any:
        return self.kernel.batch(X, n_jobs)

    def fit_features(self, batch: Any, n_jobs: int | None = None) -> Fitted:
        return self.features, self.features.transform(batch, n_jobs)

    def __repr__(self) -> str:
        return repr(self.kernel)


def can_be_frozen(kernel: Kernel) -> bool:
    """Whether k is defined by the features that some of its parts have, and by kernel values of the others."""
    if not kernel.needs_features or kernel.has_features:
        return True
    return isinstance(kernel, ValueKernel) and all(map(can_be_frozen, operands(kernel)))


def frozen(kernel: Kernel, batch: Any, context: FitContext, n_jobs: int | None = None) -> Kernel:
    """The kernel with `Frozen` parts, so that its values do not depend on the examples that it is applied to.

    Kernels that need no fitted features, and those that have features as a whole, are returned as they are.

    >>> from treille.kernels import NGram, Subsequence
    >>> kernel = NGram(1).weighted("idf") + Subsequence(2)
    >>> batch = kernel.batch(["ab", "b", "bb"])
    >>> fitted = frozen(kernel, batch, FitContext())
    >>> (fitted(batch, batch[:1])[:, 0] == fitted(batch)[:, 0]).all()
    np.True_
    """
    if not kernel.needs_features or kernel.has_features:
        return kernel

    def of(part: Kernel, own: Any) -> Kernel:
        fits = part.needs_features and part.has_features
        return Frozen(part, context.fit(part, own, n_jobs)[0]) if fits else frozen(part, own, context, n_jobs)

    parts = kernel.batches(batch) if isinstance(kernel, Columns) else [own_part(k, batch) for k in operands(kernel)]
    return _rebuilt(kernel, map(of, operands(kernel), parts))


def frozen_state(kernel: Kernel) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The features of the `Frozen` terms, for a model file; `read_frozen` is the inverse."""
    states = [each.features.state() for each in _frozen_inside(kernel)]
    if not states:
        return {}, {}
    spec, arrays = stored.joined("frozen", states)
    return spec, stored.under("frozen", arrays)


def read_frozen(kernel: Kernel, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Kernel:
    """The kernel of a model file with the features that the file holds of its terms."""
    if not can_be_frozen(kernel) or kernel.has_features or not kernel.needs_features:
        return kernel
    own, specs = stored.part(arrays, "frozen"), stored.value(spec, "frozen", list)
    each = iter([(part, stored.part(own, str(place))) for place, part in enumerate(specs)])
    return _thawed(kernel, lambda part: Frozen(part, part.load_features(*next(each))))


def _thawed(kernel: Kernel, freeze: Callable[[Kernel], Kernel]) -> Kernel:
    if not kernel.needs_features:
        return kernel
    return freeze(kernel) if kernel.has_features else _rebuilt(kernel, (_thawed(k, freeze) for k in operands(kernel)))


def _frozen_inside(kernel: Kernel) -> Iterator[Frozen]:
    if isinstance(kernel, Frozen):
        yield kernel
        return
    for each in operands(kernel):
        yield from _frozen_inside(each)


def _rebuilt(kernel: Kernel, each: Iterator[Kernel]) -> Kernel:
    """The kernel with other operands, in order."""

    def replaced(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: replaced(own) for name, own in value.items()}
        return next(each) if isinstance(value, Kernel) else value

    params = {name: replaced(value) for name, value in kernel.get_params(deep=False).items()}
    rebuilt: Kernel = type(kernel)(**params)
    return rebuilt
