"""The report of a batch of lattices, and the summary of machines for `treille inspect`, which may have cycles."""

import math
from dataclasses import dataclass, replace
from typing import Any

from treille.automata import Fst
from treille.data.base import Summary
from treille.data.format import visible
from treille.io.errors import InputError
from treille.io.machine import MachineParts

LARGEST = 10**15  # larger numbers are shown as powers of ten
PROPERTIES = {
    "empty": "empty",
    "cyclic": "with cycles",
    "with_epsilons": "with empty arcs",
    "transducers": "with two sides",
    "diverging": "with a total that diverges",
}


@dataclass(frozen=True)
class LatticeReport:
    """What `Lattices` changed in the machines that it was made of.

    >>> from treille import Fst, Lattices
    >>> batch = Lattices([Fst.from_arcs([(0, "a", "a", 0.5, 1)], {1: 1.0}), Fst.from_arcs([], {})])
    >>> print(batch.report)
    2 lattices, 1 empty, 1 with a total other than 1, normalised
    """

    lattices: int
    empty: int  # they accept nothing: a zero row
    normalised: int  # their total was not 1
    pruned: int  # they lost arcs
    mass_lost: float  # by pruning, mean over all lattices
    most_lost: float  # by pruning, from one lattice

    def __str__(self) -> str:
        parts = [f"{self.lattices:,} lattices"]
        parts += [f"{self.empty:,} empty"] * bool(self.empty)
        parts += [f"{self.normalised:,} with a total other than 1, normalised"] * bool(self.normalised)
        lost = f"{self.mass_lost:.3g} of the mass lost, {self.most_lost:.3g} at most"
        parts += [f"{self.pruned:,} pruned ({lost})"] * bool(self.pruned)
        return ", ".join(parts)


def summarise_machines(machines: list[MachineParts], n_samples: int, width: int) -> Summary:
    """Sizes, paths, words, cycles and totals: the sum over all paths, a cost -log p where weights are costs."""
    fsts = [Fst.from_parts(replace(machine, input_symbols=None, output_symbols=None)) for machine in machines]
    nonempty = [fst for fst in fsts if fst.n_states]
    totals = [total for fst in nonempty if (total := _total(fst)) is not None]
    paths = [fst.n_paths for fst in fsts if fst.is_acyclic]
    spans: dict[str, list[Any]] = {
        "states": [fst.n_states for fst in fsts],
        "arcs": [fst.n_arcs for fst in fsts],
        "paths": paths,
        "total": totals,
    }
    values: dict[str, Any] = {name: _span(numbers) for name, numbers in spans.items() if numbers}
    values["words"] = len({word for machine in machines for word in machine.words("outputs")} - {""})
    counts = (len(fsts) - len(nonempty), len(fsts) - len(paths), sum(fst.has_epsilons for fst in fsts))
    several = (sum(not machine.is_acceptor for machine in machines), len(nonempty) - len(totals))
    values |= zip(PROPERTIES, counts + several, strict=True)
    fields = dict[str, str]()
    for name in [name for name in spans if name in values]:
        low, middle, high = map(_number, values[name].values())
        costs = " (-log of the sum over paths)" if name == "total" and machines[0].semiring != "real" else ""
        fields[name] = (low if low == high else f"{low} to {high}, median {middle}") + costs
    fields["words"] = f"{values['words']:,} distinct"
    shown = ", ".join(f"{values[key]:,} {what}" for key, what in PROPERTIES.items() if values[key])
    fields["of these"] = shown or "none empty or with cycles"
    return Summary(fields, values, [first_words(machine, width) for machine in machines[:n_samples]])


def first_words(machine: MachineParts, most: int) -> str:
    """A lattice in one line: its name, and the words of its first arcs."""
    name = f"{machine.name}: " if machine.name else ""
    shown = " ".join(word for word in machine.words("outputs")[:most] if word)
    return name + (visible(shown, blanks=False) if len(machine.weights) else "(no arcs)")


def _total(fst: Fst) -> float | None:
    try:
        return fst.total()
    except InputError:  # the sum over paths diverges
        return None


def _span(numbers: list[Any]) -> dict[str, Any]:
    """Minimum, median and maximum. The number of paths may exceed what a float or JSON can hold."""
    ordered = sorted(numbers)
    three = (ordered[i] for i in (0, (len(ordered) - 1) // 2, -1))
    shown = [n if n <= LARGEST else f"10^{math.log10(n):.0f}" for n in three]
    return dict(zip(("min", "median", "max"), shown, strict=True))


def _number(number: float | str) -> str:
    if isinstance(number, str):
        return number
    return f"{number:,.0f}" if float(number).is_integer() and abs(number) < LARGEST else f"{number:.4g}"
