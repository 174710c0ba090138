"""Which kernel, space and solver answer a request, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from treille.data import Strings
from treille.data.vectors import looks_like_vectors
from treille.io.errors import InputError
from treille.kernels import Kernel, Linear, NGram
from treille.kernels.given import as_kernel
from treille.spaces.gram import GramSpace
from treille.spaces.nystrom import NystromSpace


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


def plan(kernel: Any, X: Any, solver: Any = "auto", needs: type | None = None) -> Plan:
    """Picks what is left open: a kernel for the kind of `X`, a space the kernel offers, a solver that needs that space.

    `kernel` is a kernel, "precomputed", a function, or None; `solver` is "auto", or a solver, which says what space it needs;
    `needs` is the space of an estimator that has no choice.

    >>> plan(None, [["to", "be"], ["or", "not"]]).kernel
    NGram(n=2, min_n=1, unit='word').normalized()
    """
    chosen, kernel_why = as_kernel(kernel), "as given"
    if chosen is None:
        chosen, kernel_why = default_kernel(X)
    given = solver != "auto"
    if needs is NystromSpace:
        if given and solver.needs is GramSpace:
            raise InputError(
                "space='nystrom' makes features, but the solver needs kernel values: use 'auto' or DualCD()"
            )
        why = "as given: an approximation by kernel values with landmark examples"
        return Plan(chosen, kernel_why, "nystrom", why, "DualCD", "as given" if given else "because it needs rows")
    if given and solver.needs is GramSpace:
        why = "because the solver needs kernel values"
        return Plan(chosen, kernel_why, "gram", why, type(solver).__name__, "as given")
    if chosen.has_features and needs is not GramSpace:
        return Plan(
            chosen,
            kernel_why,
            "rows",
            f"because {_family(chosen)} has explicit features: cost grows with the data, not with its square",
            "DualCD",
            "as given" if given else "because it needs rows and reports its duality gap",
        )
    if given:
        raise InputError(
            f"{type(solver).__name__} needs explicit features, which {chosen!r} has not: use solver='auto' or SMO()"
        )
    why = "the estimator needs kernel values" if needs is GramSpace else f"{_family(chosen)} has no explicit features"
    return Plan(
        chosen,
        kernel_why,
        "gram",
        f"because {why}: cost grows with the square of the number of examples",
        "SMO",
        "because it needs kernel values only, keeps some rows of them, and reports its duality gap",
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
