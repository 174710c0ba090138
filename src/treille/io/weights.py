"""Machines as formats hold them: the kind of numbers on their arcs, one final state, and states in topological order."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from numbers import Real
from typing import Any

import numpy as np

from .errors import InputError
from .fields import listed
from .machine import OF_ARCS, MachineParts
from .parameters import to_float

KINDS = {"cost": "costs", "logprob": "log-probabilities", "prob": "probabilities"}
SEMIRING = {"cost": "log", "logprob": "log", "prob": "real"}
ONE = {"real": 1.0, "log": 0.0, "tropical": 0.0}
ABOVE_ZERO = 0.01  # tolerance for log-probabilities that rounding makes positive
SAY = 'Say what they are with --weights cost, logprob or prob (weights="logprob" in Python)'


def check_kind(weights: str | None) -> None:
    """Raises an `InputError` unless this is a kind of weights, or None."""
    if weights is not None and weights not in KINDS:
        raise InputError(f"weights is {weights!r}, expected one of {', '.join(KINDS)}, or None to recognise it")


def kind_of(values: np.ndarray, source: str) -> tuple[str, str]:
    """The kind of unnamed numbers, and how it was recognised. Numbers that fit several kinds raise an `InputError`.

    Some below zero and none above it (except for rounding): log-probabilities. All from 0 to 1, and not all 0:
    probabilities. All 0: log-probabilities, all paths alike. None below zero and some above 1: costs.

    >>> kind_of(np.array([-0.5, 0.0]), "a.plf")
    ('logprob', 'recognised by their values, -0.5 to 0')
    >>> kind_of(np.array([0.5, 1.0]), "a.plf")[0], kind_of(np.array([0.0]), "a.plf")[0], kind_of(np.array([3.0]), "a.plf")[0]
    ('prob', 'logprob', 'cost')
    """
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    how = f"recognised by their values, {low:.4g} to {high:.4g}" if low < high else f"all are {low:.4g}"
    if low < 0 < ABOVE_ZERO < high:
        raise InputError(f"{source}: weights go from {low:.4g} to {high:.4g}: costs or log-probabilities. {SAY}")
    if low < 0 or high == 0:
        return "logprob", how
    return ("prob" if high <= 1 else "cost"), how


class Seen:
    """Unnamed numbers that come in parts. The kind is recognised on the first part; later numbers that do not fit are refused.

    >>> seen = Seen()
    >>> seen.kind_of(np.array([0.5]), "a.plf")[0], seen.kind_of(np.array([1.0]), "a.plf")[0]
    ('prob', 'prob')
    """

    def __init__(self) -> None:
        self._ends = np.empty(0)  # the least and the greatest so far
        self._kind = ""

    def kind_of(self, values: np.ndarray, source: str) -> tuple[str, str]:
        """The kind of numbers that follow those seen so far, as the function `kind_of` recognises it."""
        both = np.concatenate([self._ends, values])
        kind, how = kind_of(both, source)
        if self._kind and kind != self._kind:
            low, high = both.min(), both.max()
            raise InputError(
                f"{source}: weights go from {low:.4g} to {high:.4g}, but weights of the first lattices were taken for"
                f" {KINDS[self._kind]}. {SAY}"
            )
        if len(both):
            self._kind, self._ends = kind, np.array([both.min(), both.max()])
        return kind, how


def in_semiring(values: np.ndarray, kind: str, source: str) -> np.ndarray:
    """Numbers of a kind as weights of `SEMIRING[kind]`: log-probabilities become costs."""
    if kind == "prob" and len(values) and values.min() < 0:
        raise InputError(f"{source}: there is a weight of {values.min():.4g}, expected probabilities. {SAY}")
    return -values if kind == "logprob" else values


def as_kind(parts: MachineParts, kind: str) -> MachineParts:
    """The machine with its weights as numbers of a kind, whatever its semiring. Arcs and finals of weight zero are left out.

    >>> as_kind(MachineParts.of([(0, 1, 1, 0.5, 1), (0, 2, 2, 0.0, 1)], {1: 1.0}), "logprob").weights.tolist()
    [-0.6931471805599453]
    """
    parts = without_zeros(parts)
    given = np.concatenate([parts.weights, parts.final_weights])
    if parts.semiring == "real" and kind != "prob":
        if len(given) and given.min() < 0:
            raise InputError(
                f"a weight is {given.min():.4g}, which has no logarithm: only positive weights have {KINDS[kind]}"
            )
        wanted = np.log(given) if kind == "logprob" else 0.0 - np.log(given)
    elif parts.semiring == "real":
        wanted = given
    else:
        wanted = _exponentials(given) if kind == "prob" else 0.0 - given if kind == "logprob" else given
    n = len(parts.weights)
    return replace(parts, weights=wanted[:n], final_weights=wanted[n:])


def difference(weights: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """The weights without these scores."""
    with np.errstate(over="ignore", invalid="ignore"):
        rest: np.ndarray = weights - scores
    if not np.isfinite(rest).all():
        at = int(np.argmin(np.isfinite(rest)))
        raise InputError(
            f"a weight is {weights[at]:.4g}, its acoustic score {scores[at]:.4g}: their difference is no number"
        )
    return rest


def _exponentials(costs: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore", under="ignore"):
        probabilities: np.ndarray = np.exp(-costs)
    lost = np.flatnonzero((probabilities == 0) | np.isinf(probabilities))
    if len(lost):
        raise InputError(
            f"a cost is {costs[lost[0]]:.4g}, whose probability is no number: write costs or log-probabilities"
        )
    return probabilities


def without_zeros(parts: MachineParts) -> MachineParts:
    """The machine without arcs and final states of weight zero."""
    zero = 0.0 if parts.semiring == "real" else np.inf
    arcs, finals = parts.weights != zero, parts.final_weights != zero
    if arcs.all() and finals.all():
        return parts
    return parts.select(np.flatnonzero(arcs), np.flatnonzero(finals))


Scale = float | Mapping[str, float]  # a factor of all costs, or of each score by name


def parse_scale(value: Any) -> Scale | None:
    """The factors of costs: a number for all of them, or a number for each score, as a dict or a text.

    >>> parse_scale("0.1"), parse_scale("acoustic=0.1,language=1"), parse_scale(2)
    (0.1, {'acoustic': 0.1, 'language': 1.0}, 2.0)
    """
    if value is None:
        return None
    given = value
    if isinstance(value, str):
        pairs = [pair.partition("=") for pair in value.split(",")]
        given = {name.strip(): to_float(factor) for name, _, factor in pairs} if "=" in value else to_float(value)
        if isinstance(given, dict) and len(given) < len(pairs):
            raise InputError(f"scale is {value!r}, expected each score once")
    factors = given if isinstance(given, Mapping) else {"all costs": given}
    for name, factor in factors.items():
        if not isinstance(factor, Real) or isinstance(factor, bool) or not np.isfinite(float(factor)):
            found = f"scale of {name!r} is {factor!r}" if isinstance(value, Mapping) else f"scale is {value!r}"
            raise InputError(f"{found}, expected a number, or one for each score, such as acoustic=0.1,language=1")
    if not isinstance(given, Mapping):
        if not float(given) > 0:
            raise InputError(f"scale is {value!r}, expected a positive number")
        return float(given)
    return {name: float(factor) for name, factor in given.items()}


def scaled(parts: MachineParts, scale: Scale, item: str) -> MachineParts:
    """The machine with its costs times a factor, or as the sum of its scores, each times its factor, 1 where none is given.

    >>> parts = MachineParts.of([(0, 1, 1, 30.0, 1)], {1: 0.0}, semiring="log")
    >>> scaled(parts, 0.1, "item 0").weights.tolist()
    [3.0]
    """
    named = scale if isinstance(scale, Mapping) else {}
    for name in named:
        if name not in parts.scores and len(parts.weights):
            there = f"it has {', '.join(map(repr, parts.scores))}" if parts.scores else "it has none"
            raise InputError(f"scale names {name!r}, but {item} has no such scores: {there}")
    if parts.semiring == "real" and len(parts.weights):
        raise InputError(f"{item}: scale is for costs (semiring 'log' or 'tropical'), its weights are 'real'")

    def times(weights: np.ndarray, scores: dict[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        with np.errstate(over="ignore", invalid="ignore"):
            if not isinstance(scale, Mapping):
                costs, own = scale * weights, {name: scale * values for name, values in scores.items()}
            else:
                own = {name: scale.get(name, 1.0) * values for name, values in scores.items()}
                costs = sum(own.values(), np.zeros(len(weights))) if own else weights
        return np.where(np.isinf(costs) & np.isfinite(weights), np.nan, costs), own  # infinity would leave an arc out

    weights, scores = times(parts.weights, parts.scores)
    final_weights, final_scores = times(parts.final_weights, parts.final_scores)
    return replace(parts, weights=weights, final_weights=final_weights, scores=scores, final_scores=final_scores)


def describe_scale(scale: Scale, machines: Sequence[MachineParts]) -> str:
    """What a scale made of the costs, for notes.

    >>> describe_scale(0.1, []), describe_scale({"acoustic": 0.1}, [])
    ('times 0.1', '0.1 * acoustic')
    """
    if not isinstance(scale, Mapping):
        return f"times {scale:g}"
    names = dict.fromkeys([*scale, *(name for machine in machines for name in machine.scores)])
    return " + ".join(f"{scale.get(name, 1.0):g} * {name}" for name in names)


def one_final(parts: MachineParts) -> MachineParts:
    """The same strings and weights with at most one final state, of weight one and with no arc out of it.

    If necessary, a state is added, with an empty arc to it from every state that was final.

    >>> parts = one_final(MachineParts.of([(0, 1, 1, 0.5, 1)], {1: 0.25}))
    >>> parts.n_states, parts.weights.tolist(), parts.final_weights.tolist()
    (3, [0.5, 0.25], [1.0])
    """
    one, finals = ONE[parts.semiring], parts.final_states
    if not len(finals) or (len(finals) == 1 and parts.final_weights[0] == one and finals[0] not in parts.sources):
        return parts
    empty, end = np.zeros(len(finals), np.int32), np.full(len(finals), parts.n_states, np.int32)
    added = zip(OF_ARCS, (finals, empty, empty, parts.final_weights, end), strict=True)
    longer: dict[str, Any] = {name: np.concatenate([getattr(parts, name), values]) for name, values in added}
    at_end = {name: parts.final_scores.get(name, np.zeros(len(finals))) for name in parts.scores}
    return replace(
        parts,
        n_states=parts.n_states + 1,
        **longer,
        final_states=np.array([parts.n_states], np.int32),
        final_weights=np.array([one]),
        scores={name: np.concatenate([values, at_end[name]]) for name, values in parts.scores.items()},
        final_scores={},
    )


def in_order(parts: MachineParts) -> MachineParts:
    """The states that are on a path from the start to a final state, numbered so that every arc leads to a larger number.

    A machine without such a path becomes empty. A cycle raises an `InputError` that shows it.

    >>> in_order(MachineParts.of([(2, 1, 1, 0.5, 0), (2, 1, 1, 0.5, 1)], {0: 1.0}, start=2)).targets.tolist()
    [1]
    """
    arcs = list(zip(parts.sources.tolist(), parts.targets.tolist(), strict=True))
    after, before = _neighbours(parts.n_states, arcs), _neighbours(parts.n_states, [(t, s) for s, t in arcs])
    useful = _reached(after, [parts.start] if parts.start >= 0 else []) & _reached(before, parts.final_states.tolist())
    if not useful:
        nothing = MachineParts.nothing(parts.name, parts.input_symbols, parts.semiring)
        return replace(nothing, output_symbols=parts.output_symbols)
    try:
        order = list(TopologicalSorter({state: useful.intersection(before[state]) for state in useful}).static_order())
    except CycleError as error:
        shown = listed(list(map(str, error.args[1][:-1])), 10)
        raise InputError(f"the states {shown} make a cycle, which this format cannot hold") from None
    number = np.full(parts.n_states, -1, np.int32)
    number[order] = np.arange(len(order))
    kept = np.flatnonzero((number[parts.sources] >= 0) & (number[parts.targets] >= 0))
    by_source = kept[np.argsort(number[parts.sources[kept]], kind="stable")]
    part = parts.select(by_source, np.flatnonzero(number[parts.final_states] >= 0))
    states = {name: number[getattr(part, name)] for name in ("sources", "targets", "final_states")}
    return replace(part, start=int(number[parts.start]), n_states=len(order), **states)


def _neighbours(n: int, arcs: list[tuple[int, int]]) -> list[list[int]]:
    lists: list[list[int]] = [[] for _ in range(n)]
    for source, target in arcs:
        lists[source].append(target)
    return lists


def _reached(neighbours: list[list[int]], first: list[int]) -> set[int]:
    seen, stack = set(first), list(first)
    while stack:
        for state in neighbours[stack.pop()]:
            if state not in seen:
                seen.add(state)
                stack.append(state)
    return seen
