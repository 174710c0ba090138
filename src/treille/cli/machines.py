"""Lattices and other machines, as `inspect` shows them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from treille import InputError
from treille.automata import Fst
from treille.cli import words
from treille.cli.console import Voice
from treille.io.machine import MachineParts

MOST_SHOWN = 10**15
TOLD = {
    "empty": "empty",
    "cyclic": "with cycles",
    "with_epsilons": "with empty arcs",
    "transducers": "of two sides",
    "diverging": "with a total that diverges",
}


def describe_machines(voice: Voice, machines: list[MachineParts]) -> dict[str, Any]:
    """Sizes, paths, words, cycles and totals: the sum over all paths, a cost -log p where weights are costs."""
    fsts = [Fst.from_parts(replace(machine, input_symbols=None, output_symbols=None)) for machine in machines]
    there = [fst for fst in fsts if fst.n_states]
    totals = [total for fst in there if (total := _total(fst)) is not None]
    paths = [fst.n_paths for fst in fsts if fst.is_acyclic]
    sizes = [fst.n_states for fst in fsts], [fst.n_arcs for fst in fsts]
    spans: dict[str, list[Any]] = {"states": sizes[0], "arcs": sizes[1], "paths": paths, "total": totals}
    value: dict[str, Any] = {name: _span(numbers) for name, numbers in spans.items() if numbers}
    value["words"] = len({word for machine in machines for word in machine.words("outputs")} - {""})
    counts = (len(fsts) - len(there), len(fsts) - len(paths), sum(fst.has_epsilons for fst in fsts))
    several = (sum(not machine.is_acceptor for machine in machines), len(there) - len(totals))
    value |= zip(TOLD, counts + several, strict=True)
    for name in ("states", "arcs", "paths", "total"):
        if name in value:
            low, middle, high = map(_spelt, value[name].values())
            costs = " (-log of the sum over paths)" if name == "total" and machines[0].semiring != "real" else ""
            voice.field(name, (low if low == high else f"{low} to {high}, median {middle}") + costs)
    voice.field("words", f"{value['words']:,} distinct")
    voice.field(
        "of these",
        ", ".join(f"{value[key]:,} {what}" for key, what in TOLD.items() if value[key]) or "none empty or with cycles",
    )
    return value


def first_words(machine: MachineParts, most: int) -> str:
    """A lattice in a line: its name, and the words of its first arcs.

    >>> first_words(MachineParts.of([(0, 1, 1, 0.5, 1)], {1: 1.0}, symbols=["<eps>", "vine"]), 80)
    'vine'
    """
    name = f"{machine.name}: " if machine.name else ""
    shown = " ".join(word for word in machine.words("outputs")[:most] if word)
    return name + (words.visible(shown, blanks=False) if len(machine.weights) else "(no arcs)")


def _total(fst: Fst) -> float | None:
    try:
        return fst.total()
    except InputError:  # the sum over paths diverges
        return None


def _span(numbers: list[Any]) -> dict[str, Any]:
    """The least, the middle one and the largest. Of paths there may be more than a float can hold, or JSON."""
    ordered = sorted(numbers)
    three = (ordered[i] for i in (0, (len(ordered) - 1) // 2, -1))
    spelt = [n if n <= MOST_SHOWN else f"10^{math.log10(n):.0f}" for n in three]
    return dict(zip(("min", "median", "max"), spelt, strict=True))


def _spelt(number: float | str) -> str:
    if isinstance(number, str):
        return number
    return f"{number:,.0f}" if float(number).is_integer() and abs(number) < MOST_SHOWN else f"{number:.4g}"
