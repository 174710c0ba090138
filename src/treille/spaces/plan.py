"""Which kernel, space and solver answer a request, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from treille.data import Strings
from treille.data.vectors import looks_like_vectors
from treille.kernels import Kernel, Linear, NGram


@dataclass(frozen=True)
class Plan:
    """What was chosen, in words.

    >>> from treille.kernels import NGram
    >>> print(plan(NGram(3), ["abba", "baab"]))
    kernel: NGram(n=3), as given
    space: rows, because NGram has explicit features: cost grows with the data, not with its square
    solver: DualCD, because it needs rows and reports its duality gap
    """

    kernel: Kernel
    kernel_why: str
    space: str
    space_why: str
    solver: str
    solver_why: str
    sizes: str = ""

    def __str__(self) -> str:
        lines = [
            f"kernel: {self.kernel!r}, {self.kernel_why}",
            f"space: {self.space}, {self.space_why}",
            f"solver: {self.solver}, {self.solver_why}",
        ]
        return "\n".join(lines + [f"sizes: {self.sizes}"] * bool(self.sizes))


def plan(kernel: Kernel | None, X: Any, solver: str = "auto") -> Plan:
    """Picks what is left open: a kernel for the kind of `X`, a space the kernel offers, a solver that needs that space.

    >>> plan(None, [["to", "be"], ["or", "not"]]).kernel
    NGram(n=2, min_n=1, unit='word').normalized()
    """
    kernel_why = "as given"
    if kernel is None:
        kernel, kernel_why = default_kernel(X)
    return Plan(
        kernel,
        kernel_why,
        "rows",
        f"because {_family(kernel)} has explicit features: cost grows with the data, not with its square",
        "DualCD",
        "because it needs rows and reports its duality gap" if solver == "auto" else "as given",
    )


def default_kernel(X: Any) -> tuple[Kernel, str]:
    """A sensible kernel for data of this kind, and the reason."""
    if looks_like_vectors(X):
        return Linear(), "chosen: rows of numbers have a weight for each column"
    unit = X.unit if isinstance(X, Strings) else Strings(list(islice(X, 1)) if isinstance(X, Iterable) else X).unit
    if unit in ("word", "token", "integer"):
        kernel = NGram(2, min_n=1, unit="word").normalized()
        return kernel, "chosen: single symbols and pairs, lengths evened out, suit sequences of words or events"
    kernel = NGram(5, unit="byte" if unit == "byte" else "char").normalized()
    return kernel, "chosen: 5-grams of characters, lengths evened out, suit most texts"


def _family(kernel: Kernel) -> str:
    inner = kernel
    while hasattr(inner, "kernel"):
        inner = inner.kernel
    return type(inner).__name__
