"""Machines compared with OpenFst (pynini), log64 arcs: an n-gram kernel by three methods, and operations on random machines.

The peer is installed by ``pip install pynini``. Weights and languages are compared before anything is timed.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from collections.abc import Callable
from typing import Any

import numpy as np

from harness import Page, arguments, installed, interleaved, ratio, shown, sized

if not installed("pynini"):
    sys.exit()
import pywrapfst
from _openfst import from_openfst, to_openfst

from treille import Fst
from treille.automata import library
from treille.datasets import functions
from treille.io.machine import MachineParts
from treille.kernels import NGram

ORDER, LENGTH, DOCUMENTS = 4, sized(800, 100), sized(101, 5)
DELTA = 1e-12  # the precision with which OpenFst compares weights; by default, totals differ by more than 1e-9
SIZES = sized((1_000, 10_000, 100_000), (1_000,))


def in_place(operation: str, machine: Any, **options: float) -> Any:
    """Operations of OpenFst that change a machine, on a copy, since the operations of treille return new machines."""
    copy = machine.copy()
    getattr(copy, operation)(**options)
    return copy


def total(machine: Any) -> float:
    """The sum over all paths, by OpenFst."""
    distances = pywrapfst.shortestdistance(machine, reverse=True)
    return float(np.exp(-float(distances[machine.start()]))) if distances else 0.0


def row(name: str, jobs: tuple[Callable[[], Any], Callable[[], Any]], repeats: int, scale: float = 1.0) -> list[str]:
    """Both programs, interleaved; the time of treille is multiplied by `scale`."""
    seconds = interleaved(dict(zip(("ours", "theirs"), jobs, strict=True)), repeats)
    ours = [s * scale for s in seconds["ours"]]
    return [name, shown(ours), shown(seconds["theirs"]), ratio(seconds["theirs"], ours)]


def kernel(page: Page, repeats: int) -> None:
    """Two compositions of machines for one pair of documents, and rows of features for all pairs of 101 documents."""
    source = "".join(functions(sized(None, ["json"]), per_package=200)[0])
    code = [source[k * LENGTH : (k + 1) * LENGTH] for k in range(DOCUMENTS)]
    dna = ["".join(letters) for letters in np.random.default_rng(0).choice(list("ACGT"), (DOCUMENTS, LENGTH))]
    for title, texts in (("source code", code), ("random DNA", dna)):
        alphabet = sorted(set("".join(texts)))
        T = library.ngram(ORDER, alphabet)
        strings = [Fst.from_string(text, symbols=alphabet) for text in texts[:2]]
        plain = [(x @ T).project("output").remove_epsilon() for x in strings]
        least = [machine.determinize().minimize() for machine in plain]
        other_T = to_openfst(T).arcsort("ilabel")
        other_strings = [to_openfst(x) for x in strings]
        other_plain = [to_openfst(machine).arcsort("ilabel") for machine in plain]
        other_least = [to_openfst(machine).arcsort("ilabel") for machine in least]
        K = NGram(ORDER)(texts)
        for machines in (plain, least):
            assert np.isclose((machines[0] @ machines[1]).total(), K[0, 1], rtol=1e-9)

        def document(x: Fst, T: Fst = T) -> Fst:
            return (x @ T).project("output").remove_epsilon().determinize().minimize()

        def other_document(x: Any, T: Any = other_T) -> Any:
            composed = pywrapfst.compose(x, T).project("output")
            composed.rmepsilon()
            return in_place("minimize", pywrapfst.determinize(composed))

        def pair(machines: list[Fst]) -> float:
            return (machines[0] @ machines[1]).total()

        def other_pair(machines: list[Any]) -> float:
            return total(pywrapfst.compose(*machines))

        many = 10 * repeats
        rows = [
            row(
                "a document: features, deterministic and minimal",
                (lambda x=strings[0]: document(x), lambda x=other_strings[0]: other_document(x)),
                many,
            ),
            row(
                "a pair: projections without epsilons",
                (lambda m=plain: pair(m), lambda m=other_plain: other_pair(m)),
                repeats,
            ),
            row(
                "a pair: the same, deterministic and minimal",
                (lambda m=least: pair(m), lambda m=other_least: other_pair(m)),
                many,
            ),
            row(
                "a pair: rows of features, with the features of 101 documents, against the line above",
                (lambda texts=texts: NGram(ORDER)(texts), lambda m=other_least: other_pair(m)),
                many,
                2 / (DOCUMENTS * (DOCUMENTS + 1)),
            ),
        ]
        page.table(
            f"k(x, y) of {ORDER}-grams, strings of {LENGTH} symbols, {title}: seconds, median (minimum), one thread",
            ("method", "treille", "OpenFst", "times faster"),
            rows,
        )


def random_machine(n_arcs: int, labels: int, seed: int, epsilons: float = 0.0, transducer: bool = False) -> Fst:
    """Random machines: five arcs leave each state for one of the next ten; costs are between 0 and 1; every tenth state is
    final."""
    rng = np.random.default_rng(seed)
    n = n_arcs // 5
    sources = np.repeat(np.arange(n), 5)
    targets = np.minimum(sources + rng.integers(1, 11, n_arcs), n)
    targets[::5] = sources[::5] + 1

    def some_labels() -> np.ndarray:
        return np.where(rng.random(n_arcs) < epsilons, 0, rng.integers(1, labels + 1, n_arcs)).astype(np.int32)

    inputs = some_labels()
    outputs = some_labels() if transducer else inputs
    finals = np.arange(n, -1, -10, dtype=np.int32)
    columns = (sources.astype(np.int32), inputs, outputs, rng.random(n_arcs), targets.astype(np.int32))
    return Fst.from_parts(MachineParts(0, n + 1, *columns, finals, rng.random(len(finals)), "log"))


def operations(page: Page, repeats: int) -> None:
    """Each operation on the same machine. Results are compared by their totals, deterministic ones by the weight of every
    string."""
    rows = []
    for n_arcs in SIZES:
        left = random_machine(max(500, n_arcs // 100), 10, 1, 0.1, True)
        right = random_machine(n_arcs, 10, 2, 0.1, True)
        loose, several = random_machine(n_arcs, 200, 3, 0.1), random_machine(n_arcs, 200, 4)
        one = several.determinize()
        others = [to_openfst(machine) for machine in (left, right, loose, several, one)]
        others[0].arcsort("olabel")
        others[1].arcsort("ilabel")
        jobs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "compose": (
                lambda a=left, b=right: a @ b,
                lambda a=others[0], b=others[1]: pywrapfst.compose(a, b),
            ),
            "remove_epsilon": (lambda a=loose: a.remove_epsilon(), lambda a=others[2]: in_place("rmepsilon", a)),
            "determinize": (
                lambda a=several: a.determinize(),
                lambda a=others[3]: pywrapfst.determinize(a, delta=DELTA),
            ),
            "minimize": (lambda a=one: a.minimize(), lambda a=others[4]: in_place("minimize", a, delta=DELTA)),
        }
        for name, (ours, theirs) in jobs.items():
            mine, other = ours(), from_openfst(theirs())
            assert np.isclose(mine.total(), other.total(), rtol=1e-9)
            if name in ("determinize", "minimize"):
                assert mine.equivalent(several)
                assert mine.equivalent(other, 1e-6)  # it rounds the weights themselves
            rows.append([f"{n_arcs:,}", f"{mine.n_arcs:,}", *row(name, (ours, theirs), repeats)])
    page.table(
        "Random machines without cycles, log semiring: seconds, median (minimum), one thread",
        ("arcs in", "arcs out", "operation", "treille", "OpenFst", "times faster"),
        rows,
    )


PARTS = {"kernel": kernel, "operations": operations}


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--parts", choices=PARTS, nargs="+", default=PARTS)
    options = parser.parse_args()
    for part in options.parts:
        page = Page(f"Machines: {part}", ("pynini",))
        PARTS[part](page, options.repeats)
        page.write(options.write, part)


if __name__ == "__main__":
    main()
