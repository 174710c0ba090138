"""Spaces: a kernel applied to a batch, and what solvers and estimators may ask of it; the space of explicit features."""

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from treille.data import Batch
from treille.data.base import readable_size
from treille.data.format import count
from treille.features import FeatureMap, Representation, represent
from treille.io.errors import DataWarning, InputError, first_level_outside
from treille.io.parameters import effective_n_jobs
from treille.kernels import Kernel
from treille.kernels.base import check_finite
from treille.kernels.fitting import FitContext
from treille.spaces.footprint import check_rows_fit
from treille.spaces.functions import DecisionFunctions, LinearFunctions


class Space(ABC):
    """A kernel applied to a batch. Solvers declare the spaces they work on, and use what these provide beyond this class:
    *rows* has feature rows, *product* has ``K @ beta``, *gram* has rows and diagonal of K.

    >>> from treille.kernels import NGram
    >>> from treille.spaces import GramSpace, ProductSpace, RowsSpace
    >>> [space.name for space in (RowsSpace, ProductSpace, GramSpace) if space.offered(NGram(2), NGram(2).batch([]))]
    ['rows', 'product', 'gram']
    """

    name: ClassVar[str]
    needs: ClassVar[str]  # what a kernel must provide, in words
    error: float = 0.0  # the share of the kernel matrix's trace that an approximation loses

    @classmethod
    def offered(cls, kernel: Kernel, batch: Batch) -> bool:
        """Returns whether ``build(kernel, batch, n_jobs, context)`` can build such a space of a kernel and a batch in memory."""
        return False  # data in parts or on a cluster build it

    @abstractmethod
    def __len__(self) -> int:
        """The number of examples."""

    def by_problem(self) -> list[Any]:
        """The space of each problem where rows differ from problem to problem; otherwise one, for all problems."""
        return [self]

    @abstractmethod
    def functions(self, solution: Any) -> DecisionFunctions:
        """The functions of a `treille.solvers.Solution`."""

    @abstractmethod
    def sizes(self) -> str:
        """The size of the space, in words."""


class FeatureSpace(Space):
    """A space of rows of explicit features, wherever the rows are."""

    features: FeatureMap | None  # None: features without names, as in a Nystrom space
    rows: Any
    n_jobs: int | None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.rows.n_features

    def by_problem(self) -> list[Any]:
        return [replace(self, rows=rows) for rows in self.rows.problems]  # type: ignore[type-var]

    def matvec(self, weights: np.ndarray) -> np.ndarray:
        """``Phi @ weights``: one row per example, for one row per feature."""
        return self.rows.matvec(weights, effective_n_jobs(self.n_jobs))

    def rmatvec(self, coefficients: np.ndarray) -> np.ndarray:
        """``Phi.T @ coefficients``: one row per feature, for one row per example."""
        return self.rows.rmatvec(coefficients, effective_n_jobs(self.n_jobs))

    def product(self, beta: np.ndarray) -> np.ndarray:
        """``K @ beta``, for a vector with one entry per example or a matrix with one row per example: two passes over the rows."""
        columns = beta[:, None] if beta.ndim == 1 else beta
        return self.matvec(self.rmatvec(columns)).reshape(beta.shape)

    def functions(self, solution: Any) -> DecisionFunctions:
        assert self.features is not None
        weights = self.rmatvec(solution.coefficients) if solution.weights is None else solution.weights
        return LinearFunctions(self.features, weights, solution.intercept)


@dataclass(frozen=True, eq=False)
class RowsSpace(FeatureSpace):
    """Rows of explicit features: `build` computes the rows of a kernel on a batch.

    >>> import numpy as np
    >>> from treille.kernels import NGram
    >>> space = RowsSpace.build(NGram(2), NGram(2).batch(["abba", "ab"]))
    >>> len(space), space.features.n_features, space.product(np.array([1.0, 1.0])).tolist()
    (2, 3, [4.0, 2.0])
    """

    name: ClassVar[str] = "rows"
    needs: ClassVar[str] = "explicit features"

    rows: Any
    features: FeatureMap | None = None  # None: features without names, as in a Nystrom space
    n_jobs: int | None = None
    error: float = 0.0  # of an approximation: the share of the trace of K that is lost

    @classmethod
    def offered(cls, kernel: Kernel, batch: Batch) -> bool:
        return kernel.has_features

    @classmethod
    def build(
        cls, kernel: Kernel, batch: Batch, n_jobs: int | None = None, context: FitContext | None = None
    ) -> "RowsSpace":
        """Fits the kernel's features on the batch."""
        check_rows_fit(kernel, batch, n_jobs)
        features, rows = (context or FitContext()).fit(kernel, batch, n_jobs)
        norms = check_finite(kernel, rows.diag())
        if kernel.needs_features and not norms.any():
            raise no_features(kernel, rows.n_features)
        warn_of_zeros(kernel, norms)
        return KernelRowsSpace(rows, features, n_jobs, kernel=kernel, batch=batch)

    def represented(self, representation: str, n_problems: int) -> Representation:
        """The rows with W' = sum_i alpha_i y_i Phi_i in one of its representations, for this many problems."""
        assert self.features is not None
        return represent(self.features, self.rows, representation, n_problems, self.n_jobs)

    def sizes(self) -> str:
        rows, size = self.rows, readable_size(self.rows.nbytes)
        return f"{count(len(rows), 'example')}, {count(rows.n_features, 'feature')}, {rows.n_entries:,} entries, {size} of rows"


@dataclass(frozen=True, eq=False)
class KernelRowsSpace(RowsSpace):
    """A kernel applied to a batch through explicit features."""

    kernel: Kernel = field(kw_only=True)
    batch: Batch = field(kw_only=True)


def warn_of_zeros(kernel: Kernel, norms: np.ndarray) -> None:
    """Warns if most examples are 0 for the kernel, so that the model cannot tell them apart: `norms` are their k(x, x)."""
    found = norms if norms.ndim == 1 else norms.max(axis=1)  # one column per problem
    zeros = int((found == 0).sum())
    if 2 * zeros > len(found):
        warnings.warn(
            f"{kernel!r} is 0 for {'all' if zeros == len(found) else f'{zeros:,} of'} {len(found):,} examples, which the model "
            "cannot tell apart: they may be too short or too small for it; use a kernel of a smaller order",
            DataWarning,
            stacklevel=first_level_outside(),
        )


def no_features(kernel: Kernel, n_features: int, min_count: int = 1) -> InputError:
    """The error for a kernel whose features, which depend on the training examples, are 0 for all of them."""
    if min_count > 1:
        return InputError(f"no feature of {kernel!r} occurs in {min_count:,} examples: use a smaller min_count")
    if n_features == 0:
        return InputError(f"no example has a feature of {kernel!r}: they may be too short for it, use a smaller order")
    return InputError(
        f"no feature is left: in {kernel!r}, all {n_features:,} features are 0 in all examples: use other weights, such as "
        ".weighted('idf'), which are never 0"
    )
