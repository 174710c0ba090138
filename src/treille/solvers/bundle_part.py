"""What one part does in a round of the bundle method: it knows its rows, its targets, and its share of every plane."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from treille import _core
from treille.features import FeatureRows
from treille.solvers.part_targets import coded_terms, part_targets, weights_of
from treille.solvers.problem import Problem

# Where the driver looks for a better w: from the best w so far (0) towards that of the planes (1), and multiples of the latter.
TOWARDS = np.concatenate([[-0.1], np.arange(0, 0.3, 0.02), np.arange(0.3, 1.21, 0.05)])
MULTIPLES = np.array([0.98, 0.99, 0.995, 1.005, 1.01, 1.02, 1.05])
SWEEPS = 20  # of the local dual coordinate descent, at most
ENOUGH = 0.01  # of the gap that a part had: its sweeps end there


@dataclass(frozen=True)
class Drop:
    """A plane to drop; another one may become a mixture of both."""

    plane: int
    into: int | None = None
    shares: tuple[float, float] = (0.0, 1.0)  # of the two in the mixture


@dataclass(frozen=True)
class Request:
    """What the driver sends to all parts about one problem in a round."""

    problem: int
    w: np.ndarray  # that of the planes, and its intercept
    mixture: np.ndarray  # of the planes
    moved: tuple[float, float]  # the best w is now so much of the last one, and so much of the last w of the planes
    cut: float  # where to cut, between the best w (0) and w (1)
    drops: tuple[Drop, ...]  # planes to drop first, one after another
    seed: int


@dataclass(frozen=True)
class Answer:
    """What all parts together answer: sums."""

    losses: np.ndarray  # at the points TOWARDS and MULTIPLES
    planes: np.ndarray  # two rows: v = sum_i beta_i (x_i, 1) of the new planes
    offsets: np.ndarray  # of these
    dual: float  # what the mixture of planes adds to the dual value, besides |w|^2

    def __add__(self, other: Answer) -> Answer:
        each = (self.losses + other.losses, self.planes + other.planes, self.offsets + other.offsets)
        return Answer(*each, self.dual + other.dual)


@dataclass(frozen=True)
class PartState:
    """A part between two rounds. Nothing is changed in place: a lost state is computed anew from the one before it."""

    rows: list[FeatureRows]  # one after another
    problem: Problem
    outputs: dict[int, tuple[np.ndarray, np.ndarray]]  # of each problem: at the best w, and at that of the planes
    planes: dict[int, list[np.ndarray]]  # coefficients beta of the examples

    def matvec(self, w: np.ndarray) -> np.ndarray:
        """The outputs at w, whose last number is the intercept."""
        f = np.concatenate([rows.matvec(w[:-1, None])[:, 0] for rows in self.rows])
        return f + float(self.problem.intercept) * w[-1]

    def plane(self, k: int, beta: np.ndarray) -> tuple[np.ndarray, float]:
        """v and offset of a plane."""
        at = np.cumsum([0, *map(len, self.rows)])
        v = np.zeros(self.rows[0].n_features)
        for rows, first, last in zip(self.rows, at[:-1], at[1:], strict=True):
            v += rows.rmatvec(beta[first:last, None])[:, 0]
        problem = self.problem
        offset = float(problem.loss.conjugate(problem.y(k), beta, problem.C).sum())
        return np.append(v, float(problem.intercept) * beta.sum()), offset


def begin(n: int, *values: Any) -> PartState:
    """A part before the first round, of n parts of the data: their rows, then their problems, then dual variables to start from.

    The planes are 0 and, if these are given, that of the dual variables, which have one row per problem.
    """
    rows, problems, starts = list(values[:n]), values[n : 2 * n], values[2 * n :]
    C, targets = np.concatenate([own.C for own in problems]), np.concatenate([own.targets for own in problems])
    problem, size = replace(problems[0], targets=targets, C=C), len(C)
    zero = np.zeros(size)
    planes = {k: [zero] for k in range(problem.n_problems)}
    if starts[0] is not None:
        for k, own in planes.items():
            own.append(_signs(problem, k) * np.concatenate([start[k] for start in starts]))
    return PartState(rows, problem, {k: (zero, zero) for k in planes}, planes)


def start_planes(state: PartState) -> list[tuple[np.ndarray, float]]:
    """v and offset of the plane that each problem starts with."""
    return [state.plane(k, planes[1]) for k, planes in state.planes.items()]


def add_planes(*parts: list[tuple[np.ndarray, float]]) -> list[tuple[np.ndarray, float]]:
    """Sums over parts, of each problem."""
    return [(sum(v for v, _ in each), sum(b for _, b in each)) for each in zip(*parts, strict=True)]


def dual_variables(state: PartState, mixtures: list[np.ndarray]) -> np.ndarray:
    """The mixture of planes of each problem, as dual variables: one row per problem."""
    each = enumerate(mixtures)
    return np.stack([_signs(state.problem, k) * _mixed(state.planes[k], mixture) for k, mixture in each])


def _signs(problem: Problem, k: int) -> np.ndarray:
    """What dual variables are multiplied by to give coefficients, and the other way round."""
    return problem.y(k) if problem.loss.of_classes else np.ones(len(problem))


def add_answers(*answers: list[Answer]) -> list[Answer]:
    """Sums over parts, of each problem."""
    return [reduce(add, each) for each in zip(*answers, strict=True)]


def take_part(state: PartState, requests: list[Request]) -> tuple[PartState, list[Answer]]:
    """One round: outputs at the planes' w, losses along a line, and two planes for each problem asked about.

    The *vertex* is the subgradient of the losses near the best w, which repairs the primal value. The *local* plane is the answer of
    dual coordinate descent on the part's own examples, the other parts unchanged: it is near the dual optimum, and its overshoot, since
    all parts move at the same time, is corrected by the mixture of planes.
    """
    outputs, planes, answers = dict(state.outputs), dict(state.planes), []
    for request in requests:
        k = request.problem
        own, (best, last) = list(planes[k]), outputs[k]
        for drop in request.drops:
            if drop.into is not None:
                own[drop.into] = drop.shares[0] * own[drop.plane] + drop.shares[1] * own[drop.into]
            del own[drop.plane]
        u, v = request.moved
        best = u * best + v * last
        f = state.matvec(request.w)
        y, C, loss = state.problem.y(k), state.problem.C, state.problem.loss
        points = [best + t * (f - best) for t in TOWARDS] + [m * f for m in MULTIPLES]
        losses = np.array([C @ loss.value(y, point) for point in points])
        mixed = _mixed(own, request.mixture)
        vertex = loss.subgradient(y, best + request.cut * (f - best), C)
        local = _improved(state, k, mixed, request)
        each = [state.plane(k, beta) for beta in (vertex, local)]
        own += [vertex, local]
        outputs[k], planes[k] = (best, f), own
        dual = float(loss.conjugate(y, mixed, C).sum())
        answers.append(Answer(losses, np.stack([v for v, _ in each]), np.array([b for _, b in each]), dual))
    return replace(state, outputs=outputs, planes=planes), answers


def _mixed(planes: list[np.ndarray], mixture: np.ndarray) -> np.ndarray:
    total = np.zeros_like(planes[0])
    for share, beta in zip(mixture, planes, strict=True):
        if share > 0:
            total += share * beta
    return total


def _improved(state: PartState, k: int, beta: np.ndarray, request: Request) -> np.ndarray:
    problem, weights = state.problem, weights_of(state.rows[0])
    one = replace(problem, classes=problem.classes[k : k + 1]) if problem.classes is not None else replace(problem, targets=problem.y(k))
    y = _signs(problem, k)
    u = np.array(request.w[:-1] if weights is None else request.w[:-1] * weights, np.float64)
    b, alpha = np.array(request.w[-1:], np.float64), y * beta
    free = np.zeros(len(alpha), np.uint8)
    _core.improve_part(
        _core.PartRows([coded_terms(rows) for rows in state.rows]), part_targets(one, np.arange(len(alpha))), float(problem.intercept), 1.0, SWEEPS,
        ENOUGH, request.seed, u, b, alpha, len(alpha), free, 1,
    )  # fmt: skip
    return y * alpha
