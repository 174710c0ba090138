"""Lattices: distributions over sequences, as speech recognisers, translators and taggers produce them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from treille import _core
from treille.automata import Fst
from treille.data.base import FlatBatch, Summary, as_index, first_item, running_sum, selection
from treille.data.format import count, short_json
from treille.data.lattice_summary import NEARLY_ALL, LatticeReport, summarise_machines
from treille.data.machines import FlatMachines, flatten, is_machine, machine_parts
from treille.data.strings import Strings
from treille.drawing.layered import Machine, draw_machine
from treille.drawing.svg import Shares
from treille.io import json_arcs, plf, stored
from treille.io import lattices as lattice_formats
from treille.io.errors import InputError
from treille.io.machine import EPSILON, SEMIRINGS, MachineList, MachineParts
from treille.io.packed import are_offsets
from treille.io.parameters import check_flag, check_whole, effective_n_jobs
from treille.io.read import read
from treille.io.symbols import over_one_table
from treille.io.units import TextUnit, split_texts
from treille.io.weights import KINDS, Scale, parse_scale, scaled

ARRAYS = ("states", "offsets", "sources", "symbols", "targets", "weights", "finals")
JSON_LATTICE = {
    "type": "object",
    "description": "A lattice: arcs are [source, label, weight, target], finals the final weights of states.",
    "properties": {
        "arcs": {"type": "array", "items": {"type": "array", "minItems": 4, "maxItems": 5}},
        "finals": {"type": "object", "additionalProperties": {"type": "number"}},
        "start": {"type": "integer", "minimum": 0},
        "semiring": {"enum": list(SEMIRINGS)},
        "plf": {"type": "string", "description": "The lattice in PLF instead."},
        "weights": {"enum": list(KINDS), "description": "What the numbers of PLF are."},
    },
}
NEAR_ONE = 1e-6  # how far a total may be from 1 and still be called 1


class Lattices(FlatBatch):
    """Many acyclic weighted automata in flat arrays: arcs of lattice i are those from ``offsets[i]`` to ``offsets[i + 1]``.

    The weight of a sequence in a lattice is the sum, over the paths that read it, of the product of their weights. States are
    sorted so that every arc leads to a later one, the first is the start, and states on no accepting path are removed.

    Parameters
    ----------
    machines : list of Fst, MachineParts, pynini objects, strings or token lists
        Machines must be acceptors without cycles; weights that are costs (semirings "log" and "tropical") become probabilities,
        exp(-cost). A string, a token list or a sequence of a batch of `Strings` becomes the machine of that sequence alone.
    normalize : bool
        Make each a distribution: divide by its total, so that the weights out of each state sum to 1. False: keep the weights.
    scale : float, dict or None
        A factor of all costs; or, for machines with scores from files, a factor for each: a cost becomes the sum of its scores,
        each multiplied by its factor, as in ``{"acoustic": 0.1, "language": 1.0}``; factors not given are 1.
    n_jobs : int or None
        Threads; None is 1, -1 is all. The result does not depend on it.

    Attributes
    ----------
    states, offsets : int64 arrays
        Where the states and the arcs of each lattice begin, and one more for the end of the last.
    sources, symbols, targets, weights : arrays
        Of each arc; states count from 0 in each lattice; symbols are indices into `alphabet`, -1 reads the empty string.
    finals : float64 array
        The final weight of each state, 0 where a path cannot end.
    alphabet : list
        The distinct symbols, sorted.
    unit : str
        "token" for machines with symbols, "integer" for machines without; for sequences, their unit.
    log_totals : float64 array
        The logarithm of the total each machine had; -inf where it accepts nothing.
    lost : float64 array
        The share of each lattice that was pruned.

    Examples
    --------
    >>> from treille import Fst, Lattices
    >>> arcs = [(0, "the", "the", 0.5, 1), (0, "a", "a", 1.5, 1), (1, "cat", "cat", 1.0, 2)]
    >>> batch = Lattices([Fst.from_arcs(arcs, {2: 1.0}), ["a", "cat"]])
    >>> batch
    Lattices(2 lattices, 6 states, 5 arcs, 3 distinct symbols; 1 with a total other than 1, normalised)
    >>> batch.weights.tolist()
    [0.75, 0.25, 1.0, 1.0, 1.0]
    >>> batch.best()[0], batch[1:].alphabet
    (['a', 'cat'], ['a', 'cat', 'the'])
    """

    title = "lattices"
    packed = MachineList
    stored = (*ARRAYS, "log_totals", "lost")
    states: np.ndarray
    sources: np.ndarray
    symbols: np.ndarray
    targets: np.ndarray
    weights: np.ndarray
    finals: np.ndarray
    alphabet: list[Any]
    unit: str
    normalized: bool
    log_totals: np.ndarray
    lost: np.ndarray

    def __init__(self, machines: Any, normalize: bool = True, scale: Scale | None = None, n_jobs: int | None = None):
        check_flag("normalize", normalize)
        normalize = bool(normalize)
        if not isinstance(machines, Strings):
            if isinstance(machines, (str, bytes, Fst, MachineParts)) or not isinstance(machines, Iterable):
                found = type(machines).__name__
                raise InputError(
                    f"found one {found}, expected a list of machines: write [machine]; Lattices.from_file(path) reads files"
                )
            machines = machines.acceptors() if isinstance(machines, MachineList) else list(machines)
            if not machines:  # of any unit, with any scores
                machines, scale = Strings.from_arrays(np.empty(0, np.int32), np.zeros(1, np.int64), [], "token"), None
            elif not any(map(is_machine, machines)):
                machines = Strings(machines, n_jobs=n_jobs)
        if isinstance(machines, Strings):
            if scale is not None:
                raise InputError("scale is for machines with costs, such as lattices from files: sequences have none")
            self._set_sequences(machines, normalize)
        else:
            self._set_machines(flatten(machines, scale, normalize), normalize, n_jobs)

    @classmethod
    def recognises(cls, data: Any) -> bool:
        return isinstance(data, (cls, MachineList)) or is_machine(first_item(data))

    @classmethod
    def default_kernels(cls, data: Any) -> tuple[tuple[str, str], ...]:
        why = "expected counts of single symbols and pairs, weighted by idf, suit most lattices"
        return (("ngram(2, min_n=1, unit=word).weighted(idf).normalized()", why),)

    @classmethod
    def json_schema(cls, units: Sequence[Any] = ()) -> dict[str, Any]:
        schema = Strings.json_schema(units)
        if split_texts(units):
            return schema
        words = "Tokens with blanks between them, a lattice in PLF, or as JSON: "
        schema["description"] += ", or a lattice: an object with arcs and finals, or with plf"
        schema["$comment"] = words + '{"arcs": [[0, "vine", 0.5, 1]], "finals": {"1": 1}}'
        return schema | {"anyOf": [*schema["anyOf"], JSON_LATTICE]}

    @classmethod
    def read_json(cls, values: list[Any], reading: Mapping[str, Any]) -> Any:
        """Objects with arcs, or with PLF, as lattices; anything else as `Strings`."""
        if not all(isinstance(value, dict) for value in values) or not values or not {"arcs", "plf"} & set(values[0]):
            return Strings.read_json(values, reading)
        machines, weights = list[MachineParts](), reading.get("weights")
        for i, value in enumerate(values):
            if isinstance(value.get("plf"), str):
                kind = value.get("weights", weights)
                if kind is not None and kind not in KINDS:
                    raise InputError(f"item {i}: weights is {short_json(kind)}, expected {', '.join(KINDS)}")
                machines += plf.parse([value["plf"]], [f"item {i}"], f"item {i}", kind)[0]
            elif "arcs" in value:
                machines += json_arcs.parse([value], [f"item {i}"], weights)
            else:
                raise InputError(f"item {i} is {short_json(value)}, expected arcs and finals, or plf")
        scale = parse_scale(reading.get("scale"))
        if scale is not None:
            machines = [scaled(machine, scale, f"item {i}") for i, machine in enumerate(machines)]
        return MachineList(over_one_table(machines))

    @classmethod
    def write_json(cls, example: Any) -> Any:
        is_lattice = isinstance(example, Fst)
        return json.loads(json_arcs.format_machine(example.parts())) if is_lattice else Strings.write_json(example)

    @property
    def units(self) -> tuple[str, ...]:
        return (self.unit,)

    @classmethod
    def summarise(cls, data: Any, n_samples: int, width: int) -> Summary:
        machines = data.machines if isinstance(data, MachineList) else [machine_parts(machine) for machine in data]
        return summarise_machines(machines, n_samples, width)

    def _set_sequences(self, batch: Strings, normalize: bool) -> None:
        unit = TextUnit.of(batch.unit)
        if unit.base == "byte":
            raise InputError("the sequences are bytes: decode them first, lattices hold characters or tokens")
        if unit.stops_at_borders:
            raise InputError(f"the sequences are of unit {batch.unit!r}, which lattices do not have: use char or word")
        if unit.base == "integer" and len(batch.alphabet) and not 0 < batch.alphabet[0] <= batch.alphabet[-1] < 2**31:
            raise InputError(
                f"a sequence holds the integer {batch.alphabet[0 if batch.alphabet[0] <= 0 else -1]}, expected labels from 1"
                " to 2^31 - 1: in machines 0 is the empty string"
            )
        lengths = np.diff(batch.offsets)
        states = running_sum(lengths + 1)
        sources = batch.positions.astype(np.int32)
        finals = np.zeros(states[-1])
        finals[states[1:] - 1] = 1.0
        arcs = (sources, batch.symbols, sources + np.int32(1), np.ones(len(sources)))
        log_totals, lost = np.zeros(len(batch)), np.zeros(len(batch))
        self._set((states, batch.offsets, *arcs, finals, log_totals, lost), batch.alphabet, batch.unit, normalize)

    def _set_machines(self, flat: FlatMachines, normalize: bool, n_jobs: int | None) -> None:
        arrays, log_totals, cyclic, cycle = _core.build_lattices(
            _core.Lattices(*flat.arrays), flat.starts, flat.costs, normalize, effective_n_jobs(n_jobs)
        )
        if cyclic >= 0:
            raise InputError(
                f"{flat.items[cyclic]} has a cycle: {flat.format_cycle(cyclic, cycle)}; expected none, since it has infinitely"
                " many paths: remove the cycle, or keep the best paths"
            )
        self._set((*arrays, log_totals, np.zeros(len(log_totals))), flat.alphabet, flat.unit, normalize)

    def _set(self, arrays: Iterable[np.ndarray], alphabet: list[Any], unit: str, normalized: bool) -> Lattices:
        held: Lattices = self._hold(
            **dict(zip(self.stored, arrays, strict=True)), alphabet=list(alphabet), unit=unit, normalized=normalized
        )
        return held

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        text: str | None = None,
        weights: str | None = None,
        normalize: bool = True,
        scale: Scale | None = None,
        n_jobs: int | None = None,
    ) -> Lattices:
        """The lattices of a file, a folder, a glob or an archive of any format that `treille.io.read` knows.

        `format`, `text` and `weights` are as there, the others as in `Lattices`.

        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "guesses.plf"
        >>> _ = path.write_text("((('vine', 0.75, 1), ('wine', 0.25, 1)),)")
        >>> Lattices.from_file(path, weights="prob").best()[0]
        ['vine']
        """
        examples = read(path, format=format, text=text, weights=weights, labelled=False)
        if not isinstance(examples.X, MachineList):
            expected = f"lattices: name their format, one of {', '.join(lattice_formats.TITLES)}"
            raise InputError(f"{examples.source}: was read as {examples.format}, expected {expected}")
        return cls(examples.X, normalize, scale, n_jobs)

    @property
    def report(self) -> LatticeReport:
        """The number of lattices that are empty, had a total other than 1, or lost mass by pruning."""
        off = (np.abs(np.expm1(self.log_totals)) > NEAR_ONE) & np.isfinite(self.log_totals) & self.normalized
        lost = self.lost if len(self) else np.zeros(1)
        empty = int((np.diff(self.states) == 0).sum())
        pruned = int((self.lost > 0).sum())
        shares = self.derived("best_shares", self._best_shares) if self.normalized else np.empty(0)
        paths = int(np.isfinite(shares).sum()), int((shares >= NEARLY_ALL).sum())
        return LatticeReport(len(self), empty, int(off.sum()), pruned, float(lost.mean()), float(lost.max()), *paths)

    @property
    def note(self) -> str:
        advice = ": if costs are acoustic, scale them down, such as with --scale 0.1 (scale=0.1 in Python)"
        return f"read as distributions: {self.report}{advice * self.report.is_peaked}"

    def _best_shares(self) -> np.ndarray:
        """The posterior probability of the heaviest path of each lattice, NaN where there is only one."""
        arcs, ends = _core.best_paths(self.for_core(), 1)
        own = np.repeat(np.arange(len(self)), np.diff(ends))
        logs = np.bincount(own, np.log(self.weights[arcs]), minlength=len(self))
        last, ended = self.states[:-1].copy(), np.flatnonzero(np.diff(ends))
        last[ended] += self.targets[arcs[ends[ended + 1] - 1]]
        ways = np.diff(self.offsets) + np.diff(running_sum(self.finals > 0)[self.states])
        several = np.flatnonzero(ways > np.diff(self.states))  # a chain has an arc less than states
        shares = np.full(len(self), np.nan)
        shares[several] = np.exp(logs[several]) * self.finals[last[several]]
        return shares

    def for_core(self) -> _core.Lattices:
        """The arrays as the core takes them."""
        return _core.Lattices(*(getattr(self, name) for name in ARRAYS))

    def without_epsilon(self, threads: int) -> _core.Lattices:
        """The arrays without arcs that read the empty string; computed once per batch, and not pickled."""
        if not (self.symbols < 0).any():
            return self.for_core()
        return self.derived("without_epsilon", lambda: _core.Lattices(*_core.without_epsilon(self.for_core(), threads)))

    def part_names(self, i: int) -> list[str]:
        """The arcs of lattice i: states and symbol.

        >>> from treille import Lattices
        >>> Lattices([["the", "cat"]]).part_names(0)
        ['0→1 the', '1→2 cat']
        """
        arcs = slice(self.offsets[i], self.offsets[i + 1])
        names = [*map(str, self.alphabet), EPSILON]
        columns = (each[arcs].tolist() for each in (self.sources, self.targets, self.symbols))
        return [f"{s}→{t} {names[symbol]}" for s, t, symbol in zip(*columns, strict=True)]

    def __getitem__(self, key: Any) -> Any:
        key = as_index(key, len(self))
        if isinstance(key, int):
            return self._machine(key)
        states, state_offsets = selection(self.states, key)
        arcs, offsets = selection(self.offsets, key)
        columns = (np.ascontiguousarray(getattr(self, name)[arcs]) for name in ARRAYS[2:6])
        arrays = (state_offsets, offsets, *columns, np.ascontiguousarray(self.finals[states]))
        return self._like(*arrays, self.log_totals[key], self.lost[key])

    def _like(self, *arrays: np.ndarray) -> Lattices:
        return Lattices.__new__(Lattices)._set(arrays, self.alphabet, self.unit, self.normalized)

    def _machine(self, i: int) -> Fst:
        arcs = slice(self.offsets[i], self.offsets[i + 1])
        finals = self.finals[self.states[i] : self.states[i + 1]]
        symbols = None
        if TextUnit.of(self.unit).base == "integer":
            labels = np.array([0, *self.alphabet], np.int32)[self.symbols[arcs] + 1]
        else:
            own, places = np.unique(np.append(self.symbols[arcs], -1), return_inverse=True)
            symbols = [EPSILON, *(self.alphabet[code] for code in own[1:])]
            labels = places[:-1].astype(np.int32)
        last = np.flatnonzero(finals).astype(np.int32)
        columns = (self.sources[arcs], labels, labels, self.weights[arcs], self.targets[arcs], last, finals[last])
        start = 0 if len(finals) else -1
        return Fst.from_parts(MachineParts(start, len(finals), *columns, "real", symbols, symbols))

    def svg(self, i: int, shares: Any = None, hints: Sequence[str] | None = None) -> str:
        """A drawing of lattice i, with shares of its arcs, in the order of the batch.

        >>> from treille import Lattices
        >>> Lattices(["ab"]).svg(0).count("<path")
        2
        """
        arcs = slice(self.offsets[i], self.offsets[i + 1])
        finals = self.finals[self.states[i] : self.states[i + 1]]
        names = ["ε" if code < 0 else str(self.alphabet[code]) for code in self.symbols[arcs].tolist()]
        weighted = zip(names, self.weights[arcs], strict=True)
        labels = [name if weight == 1 else f"{name}/{weight:.2g}" for name, weight in weighted]
        ends = {int(state): "" if finals[state] == 1 else f"{finals[state]:.2g}" for state in np.flatnonzero(finals)}
        drawn = Machine(0, len(finals), self.sources[arcs], self.targets[arcs], labels, ends)
        return draw_machine(drawn, Shares(shares, hints))

    def prune(self, posterior: float, n_jobs: int | None = None) -> Lattices:
        """Removes arcs with a posterior probability below `posterior`; the heaviest path always stays.

        The result is a distribution again if this batch is; `report` has the mass that was lost.

        >>> from treille import Fst, Lattices
        >>> arcs = [(0, "a", "a", 0.9, 1), (0, "b", "b", 0.1, 1)]
        >>> Lattices([Fst.from_arcs(arcs, {1: 1.0})]).prune(0.2)
        Lattices(1 lattice, 2 states, 1 arc, 2 distinct symbols; 1 pruned (0.1 of the mass lost, 0.1 at most))
        """
        if not isinstance(posterior, (int, float, np.number)) or not 0 < float(posterior) < 1:
            raise InputError(f"posterior is {posterior!r}, expected a number above 0 and below 1")
        self.check_signs("prune")
        threads = effective_n_jobs(n_jobs)
        columns = [getattr(self, name) for name in ARRAYS]
        columns[5] = _core.pruned_weights(self.for_core(), float(posterior), threads)
        before = np.zeros(len(self)) if self.normalized else self.log_totals
        zeros = np.zeros(len(self), np.int32)
        arrays, totals, _, _ = _core.build_lattices(
            _core.Lattices(*columns), zeros, zeros.astype(np.uint8), self.normalized, threads
        )
        full = np.isfinite(before)
        share = np.exp(np.where(full, totals, 0.0) - np.where(full, before, 0.0))
        fewer = np.diff(arrays[1]) < np.diff(self.offsets)
        lost = np.where(fewer, np.maximum(1 - (1 - self.lost) * share, 0.0), self.lost)
        return self._like(*arrays, self.log_totals if self.normalized else totals, lost)

    def best(self, n_jobs: int | None = None) -> Strings:
        """The sequence of the heaviest path of each lattice; for an empty lattice, the empty sequence.

        >>> from treille import Fst, Lattices
        >>> arcs = [(0, "a", "a", 0.4, 1), (0, "b", "b", 0.6, 1), (1, "", "", 1.0, 2)]
        >>> Lattices([Fst.from_arcs(arcs, {2: 1.0})]).best()[0]
        ['b']
        """
        self.check_signs("best")
        arcs, ends = _core.best_paths(self.for_core(), effective_n_jobs(n_jobs))
        symbols = self.symbols[arcs]
        read = running_sum(symbols >= 0)
        return Strings.from_arrays(symbols[symbols >= 0], read[ends], self.alphabet, self.unit)

    def n_best(self, n: int) -> list[list[tuple[Any, float]]]:
        """The sequences of the n heaviest paths of each lattice with the weights of the paths, heaviest first.

        Two paths may read the same sequence.

        >>> from treille import Fst, Lattices
        >>> arcs = [(0, "a", "a", 0.25, 1), (0, "b", "b", 0.75, 1)]
        >>> Lattices([Fst.from_arcs(arcs, {1: 1.0})]).n_best(2)
        [[(['b'], 0.75), (['a'], 0.25)]]
        """
        n = check_whole("n", n)
        self.check_signs("n_best")
        data, found = self.for_core(), []
        for i in range(len(self)):
            arcs, ends, weights = _core.n_best_paths(data, i, n)
            symbols = self.symbols[self.offsets[i] + arcs]
            kept = symbols >= 0
            paths = Strings.from_arrays(symbols[kept], running_sum(kept)[ends], self.alphabet, self.unit)
            found.append(list(zip(paths, weights.tolist(), strict=True)))
        return found

    def check_signs(self, what: str) -> None:
        """Refuses weights below 0, which no distribution has."""
        for weights, offsets in ((self.weights, self.offsets), (self.finals, self.states)):
            wrong = np.flatnonzero(weights < 0) if not self.normalized else np.empty(0, np.int64)
            if len(wrong):
                item = int(np.searchsorted(offsets, wrong[0], side="right")) - 1
                raise InputError(f"item {item} has the weight {weights[wrong[0]]}: {what} needs weights of 0 or more")

    def _state(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        spec = {"alphabet": self.alphabet, "unit": self.unit, "normalized": self.normalized}
        return spec, self._stored_arrays()

    @classmethod
    def _read_state(cls, spec: dict[str, Any], arrays: dict[str, np.ndarray]) -> Lattices:
        kinds = [np.int64] * 2 + [np.int32] * 3 + [np.float64] * 4
        columns = [  # the logarithm of an empty lattice's total is infinite
            stored.array(arrays, name, kind, finite=name != "log_totals")
            for name, kind in zip(cls.stored, kinds, strict=True)
        ]
        alphabet, unit = stored.alphabet(spec)
        states, offsets, sources, symbols, targets, weights, finals, log_totals, lost = columns
        sound = len(states) - 1 == len(offsets) - 1 == len(log_totals) == len(lost)
        sound = sound and are_offsets(states, len(finals))
        sound = sound and all(are_offsets(offsets, len(column)) for column in (sources, symbols, targets, weights))
        if sound:
            own = np.repeat(np.arange(len(lost)), np.diff(offsets))
            forward = (sources >= 0) & (sources < targets) & (targets < np.diff(states)[own])
            known = (symbols >= -1) & (symbols < len(alphabet))
            ordered = (np.diff(sources) >= 0) | (np.diff(own) > 0)
            sound = bool(forward.all() and known.all() and ordered.all())
        if not sound:
            raise InputError("the lattices in the file do not fit together")
        return cls.__new__(cls)._set(columns, alphabet, unit, stored.value(spec, "normalized", bool))

    def __repr__(self) -> str:
        n_states, n_arcs = int(self.states[-1]), len(self.sources)
        sizes = f"{count(len(self), 'lattice')}, {count(n_states, 'state')}, {count(n_arcs, 'arc')}"
        more = str(self.report).split(", ", 1)[1:]
        return f"Lattices({'; '.join([f'{sizes}, {len(self.alphabet):,} distinct symbols', *more])})"


def as_lattices(batch: Strings | Lattices) -> Lattices:
    """Sequences as lattices of one path each."""
    return batch if isinstance(batch, Lattices) else Lattices(batch)
