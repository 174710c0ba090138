"""Which kernel, space and solver answer a request, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from treille.data import Lattices, Strings
from treille.data.machines import holds_machines
from treille.data.trees import looks_like_trees
from treille.data.vectors import looks_like_vectors
from treille.io.errors import InputError
from treille.kernels import Kernel, Linear, NGram, SubsetTree
from treille.kernels.callable import as_kernel
from treille.spaces.gram import GramSpace
from treille.spaces.nystrom import NystromSpace
from treille.spaces.product import ProductSpace
from treille.spaces.rows import RowsSpace


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
    weights: str = ""
    sizes: str = ""

    def __str__(self) -> str:
        lines = [
            f"kernel: {self.kernel!r}, {self.kernel_why}",
            f"space: {self.space}, {self.space_why}",
            f"solver: {self.solver}, {self.solver_why}",
        ]
        later = {"weights": self.weights, "sizes": self.sizes}
        return "\n".join(lines + [f"{name}: {said}" for name, said in later.items() if said])


SPACES = (RowsSpace, ProductSpace, GramSpace)  # the first that a kernel offers is the cheapest
SHORT = {RowsSpace: "rows", ProductSpace: "product", GramSpace: "gram"}
SOLVERS = {
    RowsSpace: ("DualCD", "because it needs rows and reports its duality gap"),
    ProductSpace: ("CuttingPlane", "because it needs a product a round and reports its duality gap"),
    GramSpace: ("SMO", "because it needs kernel values only, keeps some rows of them, and reports its duality gap"),
}
NEEDS = {RowsSpace: "explicit features", ProductSpace: "fast products of its matrix", GramSpace: "kernel values"}


def plan(kernel: Any, X: Any, solver: Any = "auto", spaces: tuple[type, ...] = SPACES) -> Plan:
    """Picks what is left open: a kernel for the kind of `X`, a space the kernel offers, a solver that needs that space.

    `kernel` is a kernel, "precomputed", a function, or None; `solver` is "auto", or a solver, which says what space it needs;
    `spaces` are those that an estimator can use, the first one preferred.

    >>> plan(None, [["to", "be"], ["or", "not"]]).kernel
    NGram(n=2, min_n=1, unit='word').normalized()
    """
    chosen, kernel_why = as_kernel(kernel), "as given"
    if chosen is None:
        chosen, kernel_why = default_kernel(X)
    given = solver != "auto"
    if NystromSpace in spaces:
        if given and solver.needs is not RowsSpace:
            raise InputError(
                f"space='nystrom' makes features, but the solver needs {NEEDS[solver.needs]}: use 'auto' or DualCD()"
            )
        why = "as given: an approximation by kernel values with landmark examples"
        return Plan(chosen, kernel_why, "nystrom", why, "DualCD", "as given" if given else "because it needs rows")
    offered = {RowsSpace: chosen.has_features, ProductSpace: chosen.has_product, GramSpace: True}
    if given and not offered[solver.needs]:
        raise InputError(
            f"{type(solver).__name__} needs {NEEDS[solver.needs]}, which {chosen!r} has not: use solver='auto' or SMO()"
        )
    space = solver.needs if given else next(space for space in spaces if offered[space])
    name, why = SOLVERS[space]
    reason = _reason(chosen, space, space is not RowsSpace and given, spaces)
    return Plan(chosen, kernel_why, SHORT[space], f"because {reason}", name, "as given" if given else why)


def _reason(kernel: Kernel, space: type, asked: bool, spaces: tuple[type, ...]) -> str:
    if asked:
        return f"the solver needs {NEEDS[space]}"
    if space is RowsSpace:
        return f"{_family(kernel)} has explicit features: cost grows with the data, not with its square"
    if space is ProductSpace:
        return f"{_family(kernel)} has no explicit features, but multiplies its matrix in less time than it takes to write it out"
    why = f"{_family(kernel)} has no explicit features" if RowsSpace in spaces else "the estimator needs kernel values"
    return f"{why}: cost grows with the square of the number of examples"


def default_kernel(X: Any) -> tuple[Kernel, str]:
    """A sensible kernel for data of this kind, and the reason."""
    if looks_like_vectors(X):
        return Linear(), "chosen: rows of numbers have a weight for each column"
    if looks_like_trees(X):
        return SubsetTree().normalized(), "chosen: fragments of trees, sizes evened out"
    if isinstance(X, Lattices) or holds_machines(X):
        kernel = NGram(2, min_n=1, unit="word").normalized()
        return kernel, "chosen: expected counts of single symbols and pairs, lengths evened out, suit most lattices"
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
