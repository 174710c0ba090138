"""Base class of spaces with rows of explicit features, in memory, on disk or on a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from treille.data import Batch
from treille.features import FeatureMap
from treille.io.parameters import effective_n_jobs
from treille.kernels import Kernel
from treille.spaces.functions import DecisionFunctions, LinearFunctions


class FeatureSpace:
    """Products with rows, and functions given by weights of features."""

    features: FeatureMap | None  # None: features without names, as in a Nystrom space
    rows: Any
    n_jobs: int | None = None

    @classmethod
    def offered(cls, kernel: Kernel, batch: Batch) -> bool:
        """Whether there is such a space of a batch in memory; spaces of data in parts are built from these data alone."""
        return False

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return self.rows.n_features

    def by_problem(self) -> list[Any]:
        """The space of each problem where rows differ from problem to problem; otherwise one, for all problems."""
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

    def functions(
        self, intercept: np.ndarray, weights: np.ndarray | None = None, coefficients: np.ndarray | None = None
    ) -> DecisionFunctions:
        """f_k(x) = w_k.phi(x) + intercept_k, with w given by weights of features or coefficients of examples."""
        if weights is None:
            assert coefficients is not None
            weights = self.rmatvec(coefficients)
        assert self.features is not None
        return LinearFunctions(self.features, weights, intercept)
