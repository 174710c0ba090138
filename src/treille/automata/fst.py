"""Fst: a weighted finite-state transducer."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np

from treille import _core
from treille.automata.paths import Walks, count_paths
from treille.automata.properties import FstProperties
from treille.automata.symbols import EMPTY, check_table, code_string, merge_tables
from treille.automata.validation import ZERO, ArcList, call_core, check_parts, check_semiring, check_state, check_weight
from treille.io import openfst
from treille.io.errors import InputError
from treille.io.machine import EPSILON, MachineList, MachineParts
from treille.io.open import open_text, source_name
from treille.io.packed import Deriving
from treille.io.parameters import check_choice, check_whole
from treille.io.read import read
from treille.io.symbols import read_symbols
from treille.io.weights import without_zeros

Table = str | os.PathLike[str] | Sequence[str] | None


class Fst(Deriving, FstProperties):
    """A weighted transducer: states, and arcs that read a symbol, write a symbol and carry a weight. Immutable.

    Over the reals, T(x, y) is the sum over all paths that read x and write y of the product of their weights, including the final
    weight. Weights of the semirings "log" and "tropical" are costs: they add up along a path, and paths are summed as
    probabilities exp(-cost) or by the least cost.

    Labels are integers; 0 is the empty string. Symbol tables, where there are some, list the symbol of every label.

    ``A + B`` is the sum, ``A * B`` the concatenation, ``2.5 * T`` the scaling, ``A @ B`` the composition, ``~T`` the inverse,
    ``T(x, y)`` a weight. Operations on two machines match symbols by name.

    `origin` keeps the name, scores and alignments that a file holds, for machines read by `treille.io.read`; otherwise None.

    >>> T = Fst.from_arcs([(0, "a", "b", 0.5, 1)], {1: 2.0})
    >>> T("a", "b"), T("a", "a"), (T + ~T).total()
    (1.0, 0.0, 2.0)
    >>> T.n_states, T.n_arcs, list(T.arcs())
    (2, 1, [(0, 1, 2, 0.5, 1)])
    """

    def __init__(
        self,
        machine: _core.Machine,
        semiring: str = "real",
        input_symbols: Sequence[str] | None = None,
        output_symbols: Sequence[str] | None = None,
    ):
        self.machine = machine
        self.semiring = semiring
        self.origin: MachineParts | None = None
        self.input_symbols, self.output_symbols = (
            table if table is None or isinstance(table, list) else list(table)  # thousands of machines may share one
            for table in (input_symbols, output_symbols)
        )

    @classmethod
    def from_arcs(
        cls,
        arcs: Iterable[tuple[int, Any, Any, float, int]],
        finals: Mapping[int, float],
        start: int = 0,
        semiring: str = "real",
        input_symbols: Sequence[str] | None = None,
        output_symbols: Sequence[str] | None = None,
    ) -> Fst:
        """Builds a machine from arcs ``(source, input, output, weight, target)`` and the weights of final states.

        Labels are integers, or strings, which get one symbol table for both sides in order of first use, unless tables are given;
        where only one is given, it serves both sides. 0, "" and "<eps>" are the empty string.

        >>> Fst.from_arcs([(0, 1, 2, 1.0, 0)], {0: 1.0}).n_arcs
        1
        >>> Fst.from_arcs([(0, "a", "", 1.0, 0)], {0: 1.0}, input_symbols="ab").input_symbols
        ['<eps>', 'a', 'b']
        """
        check_semiring(semiring)
        collected = ArcList(input_symbols, output_symbols)
        for number, arc in enumerate(arcs):
            if not isinstance(arc, (tuple, list)) or len(arc) != 5:
                raise InputError(f"arc {number} is {arc!r}, expected (source, input, output, weight, target)")
            collected.add(*arc)
        if not isinstance(finals, Mapping):
            raise InputError(f"finals is {finals!r}, expected a dict of states with their weights, say {{1: 1.0}}")
        ends = {
            check_state("a final state", state): check_weight(f"the final weight of state {state}", weight)
            for state, weight in finals.items()
        }
        n_states = max([collected.n_states(), *(state + 1 for state in ends)])
        if n_states > 1_000_000 + 10 * (len(collected) + len(ends)):
            raise InputError(
                f"state {n_states - 1} is named, but there are {len(collected)} arcs: number the states from 0"
            )
        if check_state("start", start) >= max(n_states, 1):
            raise InputError(
                f"there is no start: it is {start}, but arcs and finals name no state beyond {n_states - 1}"
            )
        return cls.from_parts(collected.parts(max(n_states, 1), ends, start, semiring))

    @classmethod
    def from_string(cls, s: Any, symbols: Sequence[str] | None = None, weight: float = 1.0) -> Fst:
        """The machine over the reals that accepts one string: a text as characters, a list of symbols, or one of labels.

        >>> Fst.from_string("abba")("abba"), Fst.from_string(["to", "be"], weight=0.5)(["to", "be"])
        (1.0, 0.5)
        """
        if symbols is None and isinstance(s, Iterable):
            names = dict.fromkeys(item for item in s if isinstance(item, str) and item not in EMPTY)
            symbols = [EPSILON, *names] if names or isinstance(s, str) else None
        table = None if symbols is None else check_table("symbols", symbols)
        codes = None if table is None else {name: label for label, name in enumerate(table)}
        labels, unknown = code_string("string", s, codes)
        if unknown is not None:
            raise InputError(f"string: symbol {unknown} is {s[unknown]!r}, which the symbol table does not have")
        states = np.arange(len(labels) + 1, dtype=np.int32)
        columns = (states[:-1], labels, labels, np.ones(len(labels)), states[1:])
        ends = (states[-1:], np.array([check_weight("weight", weight)]))
        return cls.from_parts(MachineParts(0, len(states), *columns, *ends, "real", table, table))

    @classmethod
    def from_parts(cls, parts: MachineParts) -> Fst:
        """Builds a machine from the parts that a file holds, after checking them."""
        parts = check_parts(parts)
        finals = np.full(parts.n_states, ZERO[parts.semiring])
        finals[parts.final_states] = parts.final_weights
        arrays = (parts.sources, parts.inputs, parts.outputs, parts.weights, parts.targets)
        machine = _core.Machine.from_arrays(parts.start, *arrays, finals)
        return cls(machine, parts.semiring, parts.input_symbols, parts.output_symbols)

    @classmethod
    def from_file_parts(cls, parts: MachineParts) -> Fst:
        """Builds a machine from a file; `origin` keeps its name, scores and alignments. Arcs of weight zero are left out."""
        fst = cls.from_parts(without_zeros(parts))
        fst.origin = parts
        return fst

    def astype(self, semiring: str) -> Fst:
        """Converts to another semiring: a weight w over the reals is the cost -log(w) in the two others.

        Over the reals, arcs of weight 0 carry nothing: they have no cost and are left out.

        >>> Fst.from_string("ab", weight=0.5).astype("log").total()  # log(2)
        0.6931471805599453
        """
        if "real" not in (self.semiring, check_semiring(semiring)) or semiring == self.semiring:
            return self._with(self.machine, semiring=semiring)
        parts = self.parts()
        if self.semiring == "real":
            if (parts.weights < 0).any() or (parts.final_weights < 0).any():
                raise InputError(f"a weight is negative, which has no logarithm: {semiring!r} cannot hold this machine")
            kept = parts.weights > 0
            weights, final_weights = -np.log(parts.weights[kept]), -np.log(parts.final_weights)
        else:
            kept = np.full(len(parts.weights), True)
            with np.errstate(over="ignore"):
                weights, final_weights = np.exp(-parts.weights), np.exp(-parts.final_weights)
            if not (np.isfinite(weights).all() and np.isfinite(final_weights).all()):
                raise InputError("a cost is below -709: exp(-cost) is too large for a weight over the reals")
        columns = (parts.sources[kept], parts.inputs[kept], parts.outputs[kept], weights, parts.targets[kept])
        ends = (parts.final_states, final_weights)
        tables = (self.input_symbols, self.output_symbols)
        return Fst.from_parts(MachineParts(parts.start, parts.n_states, *columns, *ends, semiring, *tables))

    def __reduce__(self) -> tuple[Any, ...]:
        if self.origin is not None:
            return Fst.from_file_parts, (self.origin,)
        return Fst.from_parts, (self.parts(),)

    @property
    def n_paths(self) -> int:
        """Returns the exact number of accepting paths. The machine must be acyclic, except for states on no accepting path.

        >>> A = Fst.from_string("ab")
        >>> (A + A).n_paths
        2
        """
        return count_paths(self.connect().topological_sort().parts())

    def paths(self, max: int | None = None) -> Iterator[tuple[tuple[Any, ...], tuple[Any, ...], float]]:
        """The accepting paths as ``(input, output, weight)``, at most `max`: symbols where there are tables, else labels.

        They are generated lazily. With cycles, they are ordered by the number of arcs and never end: give `max`, or stop.

        >>> list(Fst.from_string("ab", weight=0.5).paths())
        [(('a', 'b'), ('a', 'b'), 0.5)]
        """
        most = None if max is None else check_whole("max", max, 0)
        trimmed = self.connect()
        walks = Walks(trimmed.parts())
        paths = walks.depth_first() if trimmed.is_acyclic else walks.by_length()
        tables = (self.input_symbols, self.output_symbols)
        return islice(((_named(x, tables[0]), _named(y, tables[1]), weight) for x, y, weight in paths), most)

    def __add__(self, other: object) -> Fst:
        if not isinstance(other, Fst):
            return NotImplemented
        machine, *tables = self._aligned(other)
        return Fst(self.machine.sum(machine, self.semiring), self.semiring, *tables)

    def __mul__(self, other: object) -> Fst:
        if isinstance(other, Fst):
            machine, *tables = self._aligned(other)
            return Fst(self.machine.concatenation(machine, self.semiring), self.semiring, *tables)
        if isinstance(other, Real):
            return self._with(call_core(self.machine.scaling, check_weight("the factor", other), self.semiring))
        return NotImplemented

    __rmul__ = __mul__  # for a number on the left

    def __invert__(self) -> Fst:
        return Fst(self.machine.inverse(), self.semiring, self.output_symbols, self.input_symbols)

    def closure(self) -> Fst:
        """T* = 1 + T + T T + ...: zero or more repetitions.

        >>> A = Fst.from_string("ab", weight=0.5).closure()
        >>> A(""), A("abab"), A.total()
        (1.0, 0.25, 2.0)
        """
        return self._with(self.machine.closure(self.semiring))

    def project(self, side: str) -> Fst:
        """The acceptor of the input strings, ``"input"``, or of the output strings, ``"output"``.

        >>> Fst.from_arcs([(0, "a", "b", 0.5, 1)], {1: 1.0}).project("output")("b")
        0.5
        """
        check_choice("side", side, "input", "output")
        machine, table = getattr(self.machine, f"{side}_projection")(), getattr(self, f"{side}_symbols")
        return Fst(machine, self.semiring, table, table)

    def reverse(self) -> Fst:
        """The machine of the reversed strings.

        >>> Fst.from_string("abc").reverse()("cba")
        1.0
        """
        return self._with(self.machine.reversal(self.semiring))

    def connect(self) -> Fst:
        """Removes the states that lie on no path from the start to a final state.

        >>> Fst.from_arcs([(0, "a", "a", 1.0, 1), (0, "b", "b", 1.0, 2)], {1: 1.0}).connect().n_states
        2
        """
        return self._with(self.machine.connect(self.semiring))

    def topological_sort(self) -> Fst:
        """The same machine with states numbered so that every arc leads to a larger number; a cycle raises an error that shows it.

        >>> list(Fst.from_arcs([(1, "a", "a", 1.0, 0)], {0: 1.0}, start=1).topological_sort().arcs())
        [(0, 1, 1, 1.0, 1)]
        """
        if cycle := self.machine.cycle():
            raise InputError(f"the machine has a cycle, {self._format_cycle(cycle)}, so that its states have no order")
        return self._with(self.machine.topological_sort())

    def _with(self, machine: _core.Machine, semiring: str | None = None) -> Fst:
        """Another machine over the same symbols."""
        return Fst(machine, semiring or self.semiring, self.input_symbols, self.output_symbols)

    def _check_semiring(self, other: Fst) -> None:
        if self.semiring != other.semiring:
            raise InputError(
                f"one machine is over {self.semiring!r} and the other over {other.semiring!r}: convert one, say"
                f" .astype({self.semiring!r})"
            )

    def _aligned(self, other: Fst) -> tuple[_core.Machine, list[str] | None, list[str] | None]:
        """Translates the labels of the other machine to this machine's; returns it with the common tables."""
        self._check_semiring(other)
        inputs, recode_inputs = merge_tables(self.input_symbols, other.input_symbols)
        outputs, recode_outputs = merge_tables(self.output_symbols, other.output_symbols)
        if recode_inputs is None and recode_outputs is None:
            return other.machine, inputs, outputs
        same = np.empty(0, np.int32)
        recodes = [same if recode is None else recode for recode in (recode_inputs, recode_outputs)]
        return other.machine.recoded(*recodes), inputs, outputs

    @classmethod
    def from_text(
        cls,
        text_or_path: str | os.PathLike[str],
        semiring: str = "log",
        isymbols: Table = None,
        osymbols: Table = None,
        acceptor: bool | None = None,
    ) -> Fst:
        """Reads text in OpenFst's format, or a file. Its numbers are costs; with `semiring` "real", they are weights.

        A string without white space that is not a number is the path of a file.

        >>> Fst.from_text("0 1 a b 0.5\\n1 2.0")("a", "b")  # a cost, 0.5 + 2
        2.5
        >>> Fst.from_text("0 1 a b 0.5\\n1 2.0", "real")("a", "b")
        1.0
        """
        check_semiring(semiring)
        text, source = text_or_path, "text"
        if not isinstance(text, str) or ("\n" not in text and not text.isdecimal() and len(text.split()) == 1):
            source = source_name(text)
            with open_text(text) as stream:
                text = stream.read()
        tables = read_symbols(isymbols), read_symbols(osymbols)
        return cls.from_parts(openfst.parse_text(text, source, semiring, *tables, acceptor))

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        weights: str | None = None,
        symbols: Table = None,
    ) -> Fst:
        """Reads the machine of a file that holds one, in any format of `treille.io.read`, with weights interpreted as there."""
        examples = read(path, format=format, weights=weights, symbols=symbols, labelled=False)
        if not isinstance(examples.X, MachineList):
            raise InputError(f"{examples.note}: expected a machine; name its format, such as format='openfst-text'")
        if len(examples) != 1:
            raise InputError(f"{path}: holds {len(examples):,} machines, expected one: treille.io.read reads them all")
        return cls.from_parts(examples.X.machines[0])

    @classmethod
    def from_pynini(cls, fst: Any) -> Fst:
        """Converts a machine of pynini or pywrapfst, including its symbol tables."""
        pywrapfst = _imported("pywrapfst")
        if not isinstance(fst, pywrapfst.Fst):
            raise InputError(f"found {type(fst).__name__}, expected a machine of pynini or pywrapfst")
        if fst.fst_type() != "vector":
            fst = pywrapfst.convert(fst, "vector")
        return cls.from_parts(openfst.parse_binary(fst.write_to_string(), f"pynini's {type(fst).__name__}"))

    def to_pynini(self) -> Any:
        """Converts to pynini: tropical weights to standard arcs, others, which must be positive, to costs in log64."""
        return _imported("pynini").Fst.read_from_string(openfst.format_binary(self.parts()))

    def __matmul__(self, other: object) -> Fst:
        if not isinstance(other, Fst):
            return NotImplemented
        self._check_semiring(other)
        _, recode = merge_tables(self.output_symbols, other.input_symbols)
        right = other.machine if recode is None else other.machine.recoded(recode, np.empty(0, np.int32))
        machine = call_core(_core.Machine.compose, self.machine, right, self.semiring)
        return Fst(machine, self.semiring, self.input_symbols, other.output_symbols)

    def remove_epsilon(self) -> Fst:
        """Removes arcs that read and write nothing. Cycles of such arcs are summed; if a sum diverges, an error is raised.

        >>> Fst.from_arcs([(0, "", "", 0.5, 0), (0, "a", "a", 1.0, 1)], {1: 1.0}).remove_epsilon().parts().weights.tolist()
        [2.0]
        """
        return self._with(call_core(_core.Machine.remove_epsilon, self.machine, self.semiring))

    def determinize(self) -> Fst:
        """Returns an equivalent machine in which a state has at most one arc per symbol, or pair of symbols.

        The machine must have no cycle and no epsilon arc.

        >>> A = Fst.from_string("ab") + Fst.from_string("ac")
        >>> A.remove_epsilon().determinize().n_arcs
        3
        """
        return self._with(call_core(_core.Machine.determinize, self.machine, self.semiring))

    def push(self) -> Fst:
        """Moves weights towards the start: afterwards, the weights out of every other state sum to one.

        >>> Fst.from_arcs([(0, "a", "a", 2.0, 1), (1, "a", "a", 3.0, 2)], {2: 0.5}).push().parts().weights.tolist()
        [3.0, 1.0]
        """
        return self._with(call_core(_core.Machine.push, self.machine, self.semiring))

    def minimize(self) -> Fst:
        """Minimises the number of states. Needs a deterministic machine without cycles: `determinize` makes one.

        >>> Fst.from_arcs([(0, "a", "a", 2.0, 1), (0, "b", "b", -3.0, 2)], {1: 1.0, 2: 5.0}).minimize().n_states
        2
        """
        return self._with(call_core(_core.Machine.minimize, self.machine, self.semiring))

    def equivalent(self, other: Fst, tolerance: float = 1e-9) -> bool:
        """Returns whether both machines give every string the same weight, up to rounding; for transducers, each sequence of pairs.

        >>> A = Fst.from_string("ab", weight=0.5)
        >>> A.equivalent(A.push()), A.equivalent(2 * A)
        (True, False)
        """
        if not tolerance >= 0:
            raise InputError(f"tolerance is {tolerance!r}, expected a number from 0")
        machine, *_ = self._aligned(other)
        return call_core(_core.Machine.equivalent, self.machine, machine, self.semiring, tolerance)


MachineList.make_item = Fst.from_file_parts


def _imported(name: str) -> Any:
    try:
        return __import__(name)
    except ImportError:
        raise InputError(f"{name} is not installed: pip install pynini") from None


def _named(labels: tuple[int, ...], symbols: list[str] | None) -> tuple[Any, ...]:
    return labels if symbols is None else tuple(symbols[label] for label in labels)
