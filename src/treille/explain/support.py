"""The shares of support examples in a score, for models that keep examples instead of weights of features."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from treille.data import Batch, KernelValues
from treille.data.format import clipped, visible
from treille.spaces.functions import DecisionFunctions, KernelFunctions

WIDTH = 60


class SupportExample(NamedTuple):
    """A support example x_i: its place i in the model's support, its text, shortened, and its shares beta_i k(x_i, x)."""

    place: int
    example: str
    shares: np.ndarray


@dataclass(frozen=True, eq=False)
class SupportShares:
    """Support examples, their coefficients, one column per function, and k(x_i, x) of one example x with each of them."""

    support: Batch
    coefficients: np.ndarray
    values: np.ndarray

    def shares(self) -> np.ndarray:
        """beta_i k(x_i, x): one row per support example, one column per function."""
        return self.coefficients * self.values[:, None]

    def examples(self, function: int) -> list[SupportExample]:
        """The support examples, those with the largest shares in a function first."""
        shares = self.shares()
        order = np.argsort(-np.abs(shares[:, function]), kind="stable").tolist()
        return [SupportExample(i, example_name(self.support, i), shares[i]) for i in order]


def support_shares(functions: DecisionFunctions, batch: Batch, n_jobs: int | None = None) -> list[SupportShares] | None:
    """The shares for every example of a batch; None for functions that are weights of features."""
    if not isinstance(functions, KernelFunctions):
        return None
    values = functions.kernel.gram(batch, functions.support, n_jobs)
    return [SupportShares(functions.support, functions.coefficients, row) for row in values]


def example_name(batch: Batch, i: int, width: int = WIDTH) -> str:
    """Example i of a batch in a line, shortened.

    >>> import treille
    >>> example_name(treille.Strings(["two lines\\nof text"]), 0), example_name(treille.Trees(["(S (NP he) (VP sat))"]), 0)
    ('two lines↵of text', '(S (NP he) (VP sat))')
    """
    if isinstance(batch, KernelValues):  # a model keeps their numbers alone
        return f"training example {int(batch.ids[i])}"
    return clipped(visible(_text(batch[i], width), blanks=False), width)


def _text(example: Any, width: int) -> str:
    if isinstance(example, Mapping):
        return "; ".join(f"{name}: {clipped(_text(value, width), width)}" for name, value in example.items())
    if isinstance(example, (list, tuple)) and all(isinstance(symbol, str) for symbol in example):
        return " ".join(example[:width])
    return str(example[:width] if isinstance(example, (str, bytes)) else example)
