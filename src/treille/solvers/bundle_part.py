"""What one part does in a round of the bundle method: it knows its rows, its targets, and its share of every plane."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille import _core
from treille.features import FeatureRows, PerProblemRows
from treille.solvers.part_targets import coded_terms, part_targets, weights_of
from treille.solvers.problem import Problem

# Where the driver looks for a better w: from the best w so far (0) towards that of the planes (1), and multiples of the latter.
TOWARDS = np.concatenate([[-0.1], np.arange(0, 0.3, 0.02), np.arange(0.3, 1.21, 0.05)])
MULTIPLES = np.array([0.98, 0.99, 0.995, 1.005, 1.01, 1.02, 1.05])
SWEEPS = 20  # of the local dual coordinate descent, at most
UNIT = 2.0**-24  # the largest relative error of a number rounded to float32
HELD = 1e-9  # of C: how far a coefficient may be from the one that it is held at, since mixtures round
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
    exact: bool = True  # planes in float64


@dataclass(frozen=True)
class Answer:
    """What all parts together answer: sums. Planes are sent in float32 where the tolerance allows it."""

    losses: np.ndarray  # at the points TOWARDS and MULTIPLES
    planes: np.ndarray  # two columns: v = sum_i beta_i (x_i, 1) of the new planes
    offsets: np.ndarray  # of these
    dual: float  # what the mixture of planes adds to the dual value, besides |w|^2
    errors: np.ndarray  # bounds on the distances of the planes' v from the exact ones

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.planes.nbytes

    def rounded(self, dtype: Any) -> Answer:
        """As it is sent: v in this type, and the error that this makes."""
        if self.planes.dtype == dtype:
            return self
        norms = np.sqrt(np.einsum("zt,zt->t", self.planes, self.planes))
        return replace(self, planes=self.planes.astype(dtype), errors=self.errors + UNIT * norms)


@dataclass(frozen=True)
class PartState:
    """A part between two rounds. Nothing is changed in place: a lost state is computed anew from the one before it."""

    rows: list[FeatureRows]  # one after another
    problem: Problem
    outputs: dict[int, tuple[np.ndarray, np.ndarray]]  # of each problem: at the best w, and at that of the planes
    planes: dict[int, list[np.ndarray]]  # coefficients beta of the examples

    def __sizeof__(self) -> int:  # Dask asks, and moves tasks to where little would have to be sent
        betas = sum(beta.nbytes for planes in self.planes.values() for beta in planes)
        return object.__sizeof__(self) + sum(rows.nbytes for rows in self.rows) + betas

    def rows_of(self, k: int) -> list[FeatureRows]:
        """The rows of a problem, which may be its own."""
        return [rows.problems[k] if isinstance(rows, PerProblemRows) else rows for rows in self.rows]

    def matvec(self, k: int, w: np.ndarray) -> np.ndarray:
        """The outputs at w, whose last number is the intercept."""
        weights = w[:-1, None].astype(np.float64)
        f = np.concatenate([rows.matvec(weights)[:, 0] for rows in self.rows_of(k)])
        return f + float(self.problem.intercept) * float(w[-1])

    def new_planes(self, k: int, *betas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """v of some planes, one column each, and their offsets. One pass over the rows, without a copy of the sums."""
        problem, columns, first, at = self.problem, np.stack(betas, axis=1), True, 0
        sums = np.empty((self.rows[0].n_features + 1, len(betas)))
        for rows in self.rows_of(k):
            own = columns[at : at + len(rows)]
            if first:
                rows.rmatvec(own, out=sums[:-1])
            else:
                sums[:-1] += rows.rmatvec(own)
            at, first = at + len(rows), False
        sums[-1] = float(problem.intercept) * columns.sum(axis=0)
        y, C = problem.y(k), problem.C
        return sums, np.array([float(problem.loss.conjugate(y, beta, C).sum()) for beta in betas])


Turn = tuple[PartState, list[Answer]]  # a part after a round, and what it answered


def begin(n: int, *values: Any) -> Turn:
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
    return PartState(rows, problem, dict.fromkeys(planes, (zero, zero)), planes), []


def start_planes(turn: Turn) -> list[tuple[np.ndarray, np.ndarray]]:
    """v and offset of the plane that each problem starts with."""
    return [turn[0].new_planes(k, planes[1]) for k, planes in turn[0].planes.items()]


def add_planes(*parts: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Sums over parts, of each problem."""
    return [(sum(v for v, _ in each), sum(b for _, b in each)) for each in zip(*parts, strict=True)]


def dual_variables(turn: Turn, mixtures: list[np.ndarray]) -> np.ndarray:
    """The mixture of planes of each problem, as dual variables: one row per problem."""
    state, each = turn[0], enumerate(mixtures)
    return np.stack([_signs(state.problem, k) * _mixed(state.planes[k], mixture) for k, mixture in each])


def _signs(problem: Problem, k: int) -> np.ndarray:
    """What dual variables are multiplied by to give coefficients, and the other way round."""
    return problem.y(k) if problem.loss.of_classes else np.ones(len(problem))


def add_answers(*answers: list[Answer]) -> list[Answer]:
    """Sums over parts, of each problem: in float64, and sent in the type in which they came."""
    return [_added(each).rounded(each[0].planes.dtype) for each in zip(*answers, strict=True)]


def _added(answers: tuple[Answer, ...]) -> Answer:
    first, *others = answers
    planes = first.planes.astype(np.float64)
    for other in others:
        planes += other.planes
    losses, offsets, errors = (sum(getattr(own, name) for own in answers) for name in ("losses", "offsets", "errors"))
    return Answer(losses, planes, offsets, sum(own.dual for own in answers), errors)


def answers_of(turn: Turn) -> list[Answer]:
    """What a part answered."""
    return turn[1]


def take_part(turn: Turn, requests: list[Request]) -> Turn:
    """One round: outputs at the planes' w, losses along a line, and two planes for each problem asked about.

    The *vertex* is the subgradient of the losses near the best w, which repairs the primal value. The *local* plane is the answer
    of dual coordinate descent on the part's own examples, the other parts unchanged: it is near the dual optimum, and its
    overshoot, since all parts move at the same time, is corrected by the mixture of planes.
    """
    state, answers = turn[0], list[Answer]()
    outputs, planes = dict(state.outputs), dict(state.planes)
    for request in requests:
        k = request.problem
        own, (best, last) = list(planes[k]), outputs[k]
        for drop in request.drops:
            if drop.into is not None:
                own[drop.into] = drop.shares[0] * own[drop.plane] + drop.shares[1] * own[drop.into]
            del own[drop.plane]
        u, v = request.moved
        best = u * best + v * last
        f = state.matvec(k, request.w)
        y, C, loss = state.problem.y(k), state.problem.C, state.problem.loss
        points = [best + t * (f - best) for t in TOWARDS] + [m * f for m in MULTIPLES]
        losses = np.array([C @ loss.value(y, point) for point in points])
        mixed = _mixed(own, request.mixture)
        vertex = loss.subgradient(y, best + request.cut * (f - best), C)
        local = _improved(state, k, mixed, f, request)
        sums, offsets = state.new_planes(k, vertex, local)
        own += [vertex, local]
        outputs[k], planes[k] = (best, f), own
        dual = float(loss.conjugate(y, mixed, C).sum())
        answer = Answer(losses, sums, offsets, dual, np.zeros(2))
        answers.append(answer.rounded(np.float64 if request.exact else np.float32))
    return replace(state, outputs=outputs, planes=planes), answers


def _mixed(planes: list[np.ndarray], mixture: np.ndarray) -> np.ndarray:
    total = np.zeros_like(planes[0])
    for share, beta in zip(mixture, planes, strict=True):
        if share > 0:
            total += share * beta
    return total


def _improved(state: PartState, k: int, beta: np.ndarray, f: np.ndarray, request: Request) -> np.ndarray:
    if len(beta) == 0:
        return beta
    problem, each = state.problem, state.rows_of(k)
    weights = weights_of(each[0])
    one = (
        replace(problem, classes=problem.classes[k : k + 1])
        if problem.classes is not None
        else replace(problem, targets=problem.y(k))
    )
    y = _signs(problem, k)
    u = np.array(request.w[:-1] if weights is None else request.w[:-1] * weights, np.float64)
    b, alpha = np.array(request.w[-1:], np.float64), y * beta
    # Where the coefficient is what the loss asks for at f, the example is held there, and need not be visited.
    free = (np.abs(problem.loss.subgradient(problem.y(k), f, problem.C) - beta) > HELD * problem.C).astype(np.uint8)
    rows, targets = _core.PartRows([coded_terms(own) for own in each]), part_targets(one, np.arange(len(alpha)))
    limits = (SWEEPS, ENOUGH, request.seed)
    _core.improve_part(rows, targets, float(problem.intercept), 1.0, *limits, u, b, alpha, len(alpha), free, 1)
    return y * alpha
