"""The report of a batch of lattices, and the summary of machines for `treille inspect`, which may have cycles."""

import math
from dataclasses import dataclass, replace
from typing import Any

from treille.automata import Fst
from treille.data.base import Summary
from treille.data.format import count, visible
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


TOTALS = {"real": "", "log": " (-log of the sum over paths)", "tropical": " (cost of the best path)"}
NEARLY_ALL = 0.99  # of the mass of a lattice


@dataclass(frozen=True)
class LatticeReport:
    """The changes that `Lattices` made to its machines.

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
    several_paths: int  # they have more than one path
    on_one_path: int  # of these, one path has `NEARLY_ALL` of the mass, or more

    @property
    def is_peaked(self) -> bool:
        """Whether most lattices that have several paths are in fact one, as those whose costs lack a scale."""
        return 2 * self.on_one_path > self.several_paths

    def __str__(self) -> str:
        parts = [count(self.lattices, "lattice")]
        parts += [f"{self.empty:,} empty"] * bool(self.empty)
        parts += [f"{self.normalised:,} with a total other than 1, normalised"] * bool(self.normalised)
        lost = f"{self.mass_lost:.3g} of the mass lost, {self.most_lost:.3g} at most"
        parts += [f"{self.pruned:,} pruned ({lost})"] * bool(self.pruned)
        peaked = f"{self.on_one_path:,} of {self.several_paths:,} with several paths have {NEARLY_ALL:.0%} of the mass on one"
        return ", ".join([*parts, *[peaked] * self.is_peaked])


def summarise_machines(machines: list[MachineParts], n_samples: int, width: int) -> Summary:
    """Sizes, paths, words, cycles and totals, by the semiring of each machine: sums over all paths, or the least cost of one."""
    fsts = [Fst.from_parts(replace(machine, input_symbols=None, output_symbols=None)) for machine in machines]
    nonempty = [fst for fst in fsts if fst.n_states]
    totals = [(fst.semiring, total) for fst in nonempty if (total := _total(fst)) is not None]
    semirings = sorted({semiring for semiring, _ in totals})
    paths = [fst.n_paths for fst in fsts if fst.is_acyclic]
    spans: dict[str, list[Any]] = {
        "states": [fst.n_states for fst in fsts],
        "arcs": [fst.n_arcs for fst in fsts],
        "paths": paths,
    }
    meanings = {"best": " of the mass on the best path"}
    for semiring in semirings:
        name = "total" if len(semirings) == 1 else f"total, {semiring}"
        spans[name] = [total for own, total in totals if own == semiring]
        meanings[name] = TOTALS[semiring]
    spans["best"] = [share for fst in fsts if (share := _best_share(fst)) is not None]
    values: dict[str, Any] = {name: _span(numbers) for name, numbers in spans.items() if numbers}
    values["words"] = len({word for machine in machines for word in machine.words("outputs")} - {""})
    counts = (len(fsts) - len(nonempty), len(fsts) - len(paths), sum(fst.has_epsilons for fst in fsts))
    several = (sum(not machine.is_acceptor for machine in machines), len(nonempty) - len(totals))
    values |= zip(PROPERTIES, counts + several, strict=True)
    fields = dict[str, str]()
    for name in [name for name in spans if name in values]:
        low, middle, high = map(_number, values[name].values())
        fields[name] = (low if low == high else f"{low} to {high}, median {middle}") + meanings.get(name, "")
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


def _best_share(fst: Fst) -> float | None:
    """The share of the heaviest path in the total; None unless there are several paths, each with a weight of 0 or more."""
    if not fst.is_acyclic or fst.n_paths < 2:
        return None
    try:
        costs = fst.astype("log")
    except InputError:  # a weight is negative
        return None
    return math.exp(min(costs.total() - costs.astype("tropical").total(), 0.0))


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
