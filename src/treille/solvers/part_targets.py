"""Rows and targets of some examples as core/solve/part_cd.hpp takes them."""

from typing import Any

import numpy as np

from treille.features import FeatureRows, MatrixRows
from treille.features.abilities import having
from treille.solvers.problem import Problem


def part_targets(problem: Problem, examples: np.ndarray) -> Any:
    """The targets of some examples, in all problems."""
    return problem.take(examples).core()


def coded_terms(rows: FeatureRows) -> list[Any]:
    """The terms of rows for the core, with weights of columns beside them."""
    return [
        term.coded() if term.column_weights is None else term.coded().weighted(term.column_weights)
        for term in having(rows, MatrixRows).parts
    ]


def weights_of(rows: FeatureRows) -> np.ndarray | None:
    """The weights of all columns; None where all are 1."""
    if all(term.column_weights is None for term in having(rows, MatrixRows).parts):
        return None
    each = [
        np.ones(term.n_features) if term.column_weights is None else term.column_weights
        for term in having(rows, MatrixRows).parts
    ]
    return np.concatenate(each)


def true_weights(u: np.ndarray, column_weights: np.ndarray | None) -> np.ndarray:
    """w from u = s w, see core/features/part_rows.hpp."""
    if column_weights is None:
        return u
    return np.divide(u, column_weights, out=np.zeros_like(u), where=column_weights > 0)
