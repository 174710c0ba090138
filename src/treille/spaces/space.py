"""Spaces: a kernel applied to a batch, and what solvers and estimators may ask of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from treille.data import Batch
from treille.features import FeatureMap
from treille.io.parameters import effective_n_jobs
from treille.kernels import Kernel
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
        """Whether there is such a space of a kernel and a batch in memory, built by ``build(kernel, batch, n_jobs, context)``."""
        return False  # data in parts or on a cluster build it

    @abstractmethod
    def __len__(self) -> int:
        """The number of examples."""

    @abstractmethod
    def functions(
        self, intercept: np.ndarray, weights: np.ndarray | None = None, coefficients: np.ndarray | None = None
    ) -> DecisionFunctions:
        """The functions f_k(x) = w_k.phi(x) + intercept_k, where w is given by weights of features or coefficients of examples."""

    @abstractmethod
    def sizes(self) -> str:
        """How large the space is, in words."""


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

    def functions(
        self, intercept: np.ndarray, weights: np.ndarray | None = None, coefficients: np.ndarray | None = None
    ) -> DecisionFunctions:
        if weights is None:
            assert coefficients is not None
            weights = self.rmatvec(coefficients)
        assert self.features is not None
        return LinearFunctions(self.features, weights, intercept)
