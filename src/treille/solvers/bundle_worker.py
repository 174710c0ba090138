"""The examples that one task of a cluster works on, and its work in a round of the bundle method."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treille import _core
from treille.features import ConcatenatedRows, FeatureRows, MatrixRows, PerProblemRows
from treille.features.abilities import having
from treille.solvers.dual_cd import core_rows, rows_of, weights_of
from treille.solvers.problem import DualLoss, Problem
from treille.spaces.parts import ClusterSpace

HELD = 1e-9  # of C: how far a coefficient may be from the value at which it is held, since mixtures round
# Points where the driver looks for a better w: from the best w so far (0) to the planes' best w (1), and multiples of the latter.
LINE_STEPS = np.concatenate([[-0.1], np.arange(0, 0.3, 0.02), np.arange(0.3, 1.21, 0.05)])
MULTIPLES = np.array([0.98, 0.99, 0.995, 1.005, 1.01, 1.02, 1.05])
SWEEPS = 20  # of the local dual coordinate descent, at most
LOCAL_GAP = 0.1  # the local descent of a worker ends at this share of its first gap; 0.01 takes as many rounds
UNIT = 2.0**-24  # the largest relative error of a number rounded to float32

# A plane to drop, the plane that becomes a mixture of both, and their shares.
Drop = tuple[int, int, tuple[float, float]]


@dataclass(frozen=True)
class WorkerExamples:
    """Examples of one or more parts of the data, one after another. It is never changed."""

    rows: list[FeatureRows]  # column z is feature ids[z] of all
    problem: Problem
    ids: np.ndarray  # of the features that occur in the rows, in ascending order

    def __len__(self) -> int:
        return len(self.problem)

    def __sizeof__(self) -> int:  # Dask asks, and moves tasks to where little would have to be sent
        return object.__sizeof__(self) + sum(rows.nbytes for rows in self.rows) + self.ids.nbytes

    @property
    def loss(self) -> DualLoss:
        """The loss of the problem."""
        assert isinstance(self.problem.loss, DualLoss)
        return self.problem.loss

    def outputs(self, k: int, w: np.ndarray) -> np.ndarray:
        """f of all examples at w, whose last number is the intercept."""
        weights = w[:-1, None].astype(np.float64)
        f = np.concatenate([rows.matvec(weights)[:, 0] for rows in rows_of(self.rows, k)])
        return f + float(self.problem.intercept) * float(w[-1])

    def sums(self, k: int, *betas: np.ndarray) -> np.ndarray:
        """sum_i beta_i (x_i, 1) for some coefficients, one column each. One pass over the rows, without a copy of the sums."""
        columns, first, at = np.stack(betas, axis=1), True, 0
        sums = np.empty((len(self.ids) + 1, len(betas)))
        for rows in rows_of(self.rows, k):
            block = columns[at : at + len(rows)]
            if first:
                rows.rmatvec(block, out=sums[:-1])
            else:
                sums[:-1] += rows.rmatvec(block)
            at, first = at + len(rows), False
        sums[-1] = float(self.problem.intercept) * columns.sum(axis=0)
        return sums

    def free(self, k: int, f: np.ndarray, beta: np.ndarray) -> np.ndarray:
        """Examples whose coefficient is not the optimal one at f: the others are held there, and need not be visited."""
        y, C = self.problem.y(k), self.problem.C
        return np.abs(self.loss.subgradient(y, f, C) - beta) > HELD * C

    def for_core(self, k: int) -> tuple[Any, Any]:
        """The rows and targets of a problem."""
        return core_rows(rows_of(self.rows, k)), self.problem.only(k).core()


def worker_examples(space: ClusterSpace) -> tuple[list[Any], list[np.ndarray]]:
    """The futures of `WorkerExamples` for each group of parts, and the parts of each group. The rows of the space are released.

    Small parts are joined: there are at most as many groups as pairs of vectors of all features fit in the memory of the rows.
    This depends on the data alone, never on the workers.
    """
    worth = max(1, space.rows.nbytes // (2 * 8 * (space.n_features + 1)))
    groups = np.array_split(np.arange(len(space.futures)), min(len(space.futures), worth))
    futures = []
    for group in groups:
        own = [each[p] for each in (space.futures, space.problems) for p in group]
        futures.append(space.cluster.submit(_joined, len(group), *own))
    space.cluster.release(space.futures)
    return futures, groups


def _joined(n: int, *values: Any) -> WorkerExamples:
    rows, problems = list(values[:n]), values[n:]
    C, targets = np.concatenate([own.C for own in problems]), np.concatenate([own.targets for own in problems])
    counts = sum(own.frequencies(np.ones((len(own), 1)))[:, 0] for own in rows)
    ids = np.flatnonzero(counts).astype(np.int32)
    ids = ids if len(ids) else np.zeros(1, np.int32)  # rows have at least one column
    return WorkerExamples([_over(own, ids) for own in rows], replace(problems[0], targets=targets, C=C), ids)


def _over(rows: FeatureRows, ids: np.ndarray) -> FeatureRows:
    """The rows over these features alone."""
    if isinstance(rows, PerProblemRows):
        return PerProblemRows([_over(inside, ids) for inside in rows.problems])
    terms, first = list[FeatureRows](), 0
    for term in having(rows, MatrixRows).parts:
        inside = ids[(first <= ids) & (ids < first + term.n_features)] - first
        new = np.full(term.n_features, -1, np.int64)
        new[inside] = np.arange(len(inside))
        terms.append(term.renumbered(new, len(inside)))
        first += term.n_features
    return terms[0] if len(terms) == 1 else ConcatenatedRows(terms)


@dataclass(frozen=True)
class Request:
    """The driver's request about one problem in a round."""

    problem: int
    w: np.ndarray  # the planes' best w, in float32, and its intercept
    mixture: np.ndarray  # of the planes
    moved: tuple[float, float]  # the best w is now this much of the last best w, and this much of the planes' last w
    cut: float  # where to cut, between the best w (0) and w (1)
    drops: tuple[Drop, ...]  # planes to drop first, one after another
    seed: int
    exact: bool = True  # planes in float64

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.w.nbytes


@dataclass(frozen=True)
class Answer:
    """Sums over one or more groups of examples. Planes are sent in float32 where the tolerance allows it."""

    losses: np.ndarray  # at the points LINE_STEPS and MULTIPLES
    planes: np.ndarray  # two rows: v = sum_i beta_i (x_i, 1) of the new planes, over the features of these examples
    offsets: np.ndarray  # of these
    dual: float  # the contribution of the mixture of planes to the dual value, besides |w|^2
    errors: np.ndarray  # bounds on the distances of the planes' v from the exact ones

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.planes.nbytes

    def rounded(self, dtype: Any) -> "Answer":
        """The answer with v rounded to this type, and the error of rounding."""
        if self.planes.dtype == dtype:
            return self
        norms = np.sqrt(np.einsum("tz,tz->t", self.planes, self.planes))
        return replace(self, planes=self.planes.astype(dtype), errors=self.errors + UNIT * norms)


@dataclass(frozen=True)
class WorkerState:
    """A group of examples between two rounds. Nothing is changed in place: a lost state is computed anew from the one before it."""

    examples: WorkerExamples
    outputs: dict[int, tuple[np.ndarray, np.ndarray]]  # of each problem: at the best w, and at the planes' w
    planes: dict[int, list[np.ndarray]]  # coefficients beta of the examples

    def __sizeof__(self) -> int:  # Dask asks, and moves tasks to where little would have to be sent
        betas = sum(beta.nbytes for planes in self.planes.values() for beta in planes)
        return object.__sizeof__(self) + self.examples.__sizeof__() + betas

    def new_planes(self, k: int, *betas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """v of some planes, one row each, and their offsets."""
        offsets = [self.examples.problem.dual(beta, 0.0, k) for beta in betas]
        return np.ascontiguousarray(self.examples.sums(k, *betas).T), np.array(offsets)


Turn = tuple[WorkerState, list[Answer]]  # a group after a round, and its answer


@dataclass(frozen=True)
class Union:
    """The union of the features of several groups, and the places in its vectors of each group's features and of the intercept."""

    ids: np.ndarray
    places: list[np.ndarray]

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.ids.nbytes + sum(own.nbytes for own in self.places)


def unite(n_features: int | None, *each: np.ndarray) -> Union:
    """The union of the features of several groups; all features where their number is given."""
    occurs = np.zeros(n_features or 1 + max(int(own[-1]) for own in each), bool)
    for own in each:
        occurs[own] = True
    ids = np.flatnonzero(occurs | (n_features is not None)).astype(np.int32)
    return Union(ids, [np.append(np.searchsorted(ids, own), len(ids)).astype(np.int32) for own in each])


def divide(union: Union, requests: list[Request]) -> list[list[Request]]:
    """The requests for each of the groups: with the weights of its features only."""
    return [[replace(request, w=request.w.take(places)) for request in requests] for places in union.places]


def begin(examples: WorkerExamples, *starts: np.ndarray) -> Turn:
    """A group before the first round, and dual variables to start from, which have one row per problem.

    The planes are 0 and, if dual variables are given, their plane.
    """
    zero = np.zeros(len(examples))
    planes = {k: [zero] for k in range(examples.problem.n_problems)}
    if starts:
        for k, own in planes.items():
            own.append(examples.problem.signs(k) * np.concatenate([start[k] for start in starts]))
    return WorkerState(examples, dict.fromkeys(planes, (zero, zero)), planes), []


def start_planes(turn: Turn) -> list[Answer]:
    """The plane that each problem starts with."""
    none = np.zeros(1)
    return [Answer(none, *turn[0].new_planes(k, planes[1]), 0.0, none) for k, planes in turn[0].planes.items()]


def dual_variables(turn: Turn, mixtures: list[np.ndarray]) -> np.ndarray:
    """The mixture of planes of each problem, as dual variables: one row per problem."""
    state, each = turn[0], enumerate(mixtures)
    return np.stack([state.examples.problem.signs(k) * _mixed(state.planes[k], mixture) for k, mixture in each])


def add_answers(union: Union, *answers: list[Answer]) -> list[Answer]:
    """Sums over groups, of each problem: in float64, and sent in the type in which they came."""
    return [_added(union, each).rounded(each[0].planes.dtype) for each in zip(*answers, strict=True)]


def _added(union: Union, answers: tuple[Answer, ...]) -> Answer:
    planes = np.zeros((len(answers[0].planes), len(union.ids) + 1))
    for places, own in zip(union.places, answers, strict=True):
        for total, v in zip(planes, own.planes, strict=True):
            np.add.at(total, places, v.astype(np.float64))  # a third of the time of total[places] += v
    losses, offsets, errors = (sum(getattr(own, name) for own in answers) for name in ("losses", "offsets", "errors"))
    return Answer(losses, planes, offsets, sum(own.dual for own in answers), errors)


def take_part(turn: Turn, requests: list[Request]) -> Turn:
    """One round: outputs at the planes' w, losses along a line, and two planes for each problem asked about.

    The *vertex* is the subgradient of the losses near the best w, which repairs the primal value. The *local* plane is the answer
    of dual coordinate descent on these examples, all others unchanged: it is near the dual optimum, and its overshoot, since all
    groups move at the same time, is corrected by the mixture of planes.
    """
    state, answers = turn[0], list[Answer]()
    outputs, planes = dict(state.outputs), dict(state.planes)
    problem = state.examples.problem
    for request in requests:
        k = request.problem
        own, (best, last) = list(planes[k]), outputs[k]
        for at, into, shares in request.drops:
            own[into] = shares[0] * own[at] + shares[1] * own[into]
            del own[at]
        u, v = request.moved
        best = u * best + v * last
        f = state.examples.outputs(k, request.w)
        y, C, loss = problem.y(k), problem.C, state.examples.loss
        points = [best + t * (f - best) for t in LINE_STEPS] + [m * f for m in MULTIPLES]
        losses = np.array([C @ loss.value(y, point) for point in points])
        mixed = _mixed(own, request.mixture)
        vertex = loss.subgradient(y, best + request.cut * (f - best), C)
        local = _improved(state.examples, k, mixed, f, request)
        sums, offsets = state.new_planes(k, vertex, local)
        own += [vertex, local]
        outputs[k], planes[k] = (best, f), own
        answer = Answer(losses, sums, offsets, problem.dual(mixed, 0.0, k), np.zeros(2))
        answers.append(answer.rounded(np.float64 if request.exact else np.float32))
    return replace(state, outputs=outputs, planes=planes), answers


def _mixed(planes: list[np.ndarray], mixture: np.ndarray) -> np.ndarray:
    total = np.zeros_like(planes[0])
    for share, beta in zip(mixture, planes, strict=True):
        if share > 0:
            total += share * beta
    return total


def _improved(examples: WorkerExamples, k: int, beta: np.ndarray, f: np.ndarray, request: Request) -> np.ndarray:
    if not len(examples):
        return beta
    weights, y = weights_of(rows_of(examples.rows, k)[0]), examples.problem.signs(k)
    u = np.array(request.w[:-1] if weights is None else request.w[:-1] * weights, np.float64)
    b, alpha, free = np.array(request.w[-1:], np.float64), y * beta, examples.free(k, f, beta).astype(np.uint8)
    rows, targets = examples.for_core(k)
    bias, n = float(examples.problem.intercept), len(alpha)
    _core.improve_part(rows, targets, bias, SWEEPS, LOCAL_GAP, request.seed, u, b, alpha, n, free, 1)
    return y * alpha
