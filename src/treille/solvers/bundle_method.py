"""The bundle method on a cluster: in every round the weights go out, and one sum over the parts comes back.

    primal   min_w  1/2 |w|^2 + sum_i loss_i(w.x_i)

Any coefficients beta in the domain of the dual give a plane below the losses, sum_i loss_i(w.x_i) >= b - w.v, v = sum_i beta_i x_i,
b the sum of the conjugates. The best w for planes (b_t, v_t) is sum_t a_t v_t for the mixture a, a >= 0 and sum(a) = 1, that
maximises b.a - 1/2 |sum_t a_t v_t|^2; the same mixture of the beta_t, which each part keeps for its own examples, is feasible for
the dual. So the driver knows a lower bound without seeing an example, and the losses that parts report at some points give an upper
bound. The v_t are sent in float32 unless `tol` is very small, and the bound accounts for what that may change. Each group of
examples receives the weights of the features that occur in it, and answers with sums over these.

Each round adds two planes: the subgradient near the best w, as cutting planes do, and the answer of dual coordinate descent on each
group of examples by itself, see `bundle_worker`. The second is near the dual optimum, which saves half of the rounds or more; in
the first round, where w = 0, every group solves its own problem. The answer depends on the seed and the parts, but not on which
worker did what.

Joachims: Training linear SVMs in linear time. KDD 2006. Franc, Sonnenburg: Optimized cutting plane algorithm for large-scale risk
minimization. JMLR 2009. Ma et al.: Adding vs. averaging in distributed primal-dual optimization. ICML 2015, for the local problems.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from operator import attrgetter, getitem, itemgetter
from typing import Any

import numpy as np

from treille.solvers.bundle_worker import (
    LINE_STEPS,
    MULTIPLES,
    Answer,
    Drop,
    Request,
    add_answers,
    begin,
    divide,
    dual_variables,
    start_planes,
    take_part,
    unite,
    worker_examples,
)
from treille.solvers.cutting_plane import Bundle
from treille.solvers.problem import DualLoss, Problem
from treille.solvers.report import Report, Solution
from treille.solvers.solver import ClusterSolver, Run
from treille.solvers.time_shares import TimeShares
from treille.spaces.parts import FAN, ClusterSpace

BLOCK = 8192  # numbers
WIDTH = 8  # problems at a time
MOST_PLANES = 60  # of a problem
PATIENCE = 2  # rounds for which a plane without weight is kept; 10 take as many rounds
CUT_AHEAD = 0.1  # OCAS's mu: the next cut is this fraction of the way from the best point of the line to the planes' w
PRECISION = 1e-6  # of the mixture of planes, relative to the current gap
EXACT_TOL = 1e-5  # the tolerance below which planes are sent in float64


class BundleMethod(ClusterSolver):
    """Planes below the losses, two more each round, one of them from dual coordinate descent on each part. Works on clusters.

    Parameters
    ----------
    max_seconds : float or None
        Stop after this time with the solution so far, and warn.

    References
    ----------
    Franc, Sonnenburg: Optimized cutting plane algorithm for large-scale risk minimization. JMLR 2009.
    Ma, Smith, Jaggi, Jordan, Richtárik, Takáč: Adding vs. averaging in distributed primal-dual optimization. ICML 2015.

    Examples
    --------
    >>> import treille
    >>> treille.solvers.BundleMethod().spaces[0].name
    'cluster'
    """

    losses = (DualLoss,)

    def _solve(self, problem: Problem, space: ClusterSpace, run: Run) -> Solution:
        rounds = Rounds(problem, space, run)
        while active := [planes for planes in rounds.each if not planes.status][:WIDTH]:
            rounds.step(active)
        return rounds.solution()


class Rounds:
    """The groups of examples on the cluster, and the planes of each problem here."""

    def __init__(self, problem: Problem, space: ClusterSpace, run: Run):
        self.problem, self.space, self.run, self.cluster = problem, space, run, space.cluster
        self.count, self.bytes = 0, 0
        saved = None if space.folder is None else space.folder.load("cluster")
        start = run.start if saved is None else saved[1]["alpha"]
        examples, groups = worker_examples(space)
        self._unite(self.cluster.submit_all(attrgetter("ids"), examples))
        at = space.rows.offsets
        starts = [] if start is None else [self.cluster.keep(start[:, a:b]) for a, b in pairwise(at)]
        self.turns = [
            self.cluster.submit(begin, own, *(starts[p] for p in group if starts))
            for own, group in zip(examples, groups, strict=True)
        ]
        self.each = [Planes(k, space.n_features + 1) for k in range(problem.n_problems)]
        self.shares = TimeShares(run.deadline, len(self.each), WIDTH)
        if start is not None:
            answers = self._sum(self.cluster.submit_all(start_planes, self.turns))
            for planes, answer in zip(self.each, answers, strict=True):
                planes.add(answer)
                planes.mix()

    def _unite(self, ids: list[Any]) -> None:
        """Builds the tree in which answers are added up. The features of its nodes are found once; the root has all features."""
        self.unions = list[list[tuple[Any, int]]]()  # by level: the futures of unions, and of how many groups each is
        sizes = self.cluster.gather(self.cluster.submit_all(len, ids))
        self.sent = sum(sizes) + len(sizes)  # numbers of a vector that goes to all groups
        while not self.unions or len(self.unions[-1]) > 1:
            groups = [ids[at : at + FAN] for at in range(0, len(ids), FAN)]
            n_features = self.space.n_features if len(groups) == 1 else None
            unions = [self.cluster.submit(unite, n_features, *group) for group in groups]
            self.unions.append(list(zip(unions, map(len, groups), strict=True)))
            ids = self.cluster.submit_all(attrgetter("ids"), unions)

    def _sum(self, answers: list[Any]) -> list[Answer]:
        """The sums of the answers of the groups, from the leaves of the tree to its root."""
        for unions in self.unions:
            left = iter(answers)
            answers = [self.cluster.submit(add_answers, union, *islice(left, n)) for union, n in unions]
        [found] = self.cluster.gather(answers)
        return found

    def _divided(self, requests: list[Request]) -> list[Any]:
        """The requests for each group, from the root of the tree to its leaves: each with the weights of its features only."""
        found = [self.cluster.keep(requests)]
        for unions in reversed(self.unions):
            divided = self.cluster.submit_all(divide, [union for union, _ in unions], found)
            each = [(own, child) for own, (_, n) in zip(divided, unions, strict=True) for child in range(n)]
            found = self.cluster.submit_all(getitem, *zip(*each, strict=True))
        return found

    def step(self, active: "list[Planes]") -> None:
        """One round for some problems."""
        self.count += 1
        exact = self.run.tol < EXACT_TOL
        requests = [own.request(self.run.seed + 1000 * self.count, exact) for own in active]
        self.turns = self.cluster.submit_all(take_part, self.turns, self._divided(requests))
        answers = self._sum(self.cluster.submit_all(itemgetter(1), self.turns))
        self.bytes += self.sent * sum(4 + len(own.planes) * own.planes.itemsize for own in answers)
        for planes, answer in zip(active, answers, strict=True):
            planes.take(answer, self.run.tol, self.run.max_epochs)
            if self.shares.over(planes.problem) and not planes.status:
                planes.status = "max_seconds"
        done = sum(bool(planes.status) for planes in self.each)
        self.run.poll(done, self.count, max(planes.relative_gap for planes in active))
        if self.space.folder is not None and self.space.folder.due():
            self._save()

    def solution(self) -> Solution:
        """The best w of each problem. The mixture of its planes as dual variables stays on the cluster."""
        each, w = [planes.report(self.run.seed) for planes in self.each], np.stack([p.best for p in self.each], axis=1)
        report = replace(Report.combined(each), rounds=self.count, bytes_sent=self.bytes)
        bias = float(self.problem.intercept)
        return Solution(bias * w[-1], np.zeros((len(each), 0)), report, weights=np.ascontiguousarray(w[:-1]))

    def _save(self) -> None:
        """Keeps the mixtures of planes as dual variables of all examples: what another cluster can start from."""
        mixtures = self.cluster.keep([planes.mixture for planes in self.each])
        found = self.cluster.submit_all(dual_variables, self.turns, [mixtures] * len(self.turns))
        alpha = np.concatenate(self.cluster.gather(found), axis=1)
        self.space.folder.save("cluster", {"rounds": self.count}, {"alpha": alpha})


class Planes(Bundle):
    """The planes of one problem as vectors of all features, and the best w so far."""

    def __init__(self, problem: int, size: int):
        super().__init__()
        self.problem = problem
        self.vectors, self.errors = [np.zeros(size, np.float32)], np.zeros(1)
        self.best, self.w, self.mixed, self.half_square = np.zeros(size), np.zeros(size), np.zeros(size), 0.0
        self.moved, self.ahead = (1.0, 0.0), 0.3

    def request(self, seed: int, exact: bool) -> Request:
        """The request to the workers for the next round. w is sent in float32: any w has a primal value."""
        sent = self.mixed.astype(np.float32)
        self.w = sent.astype(np.float64)
        cut, drops = self.ahead + CUT_AHEAD * (1 - self.ahead), list[Drop]()
        while len(self.vectors) > MOST_PLANES or self.idle.max() > PATIENCE:
            drops.append(self._drop())
        return Request(self.problem, sent, self.mixture, self.moved, cut, tuple(drops), seed + self.problem, exact)

    def take(self, answer: Answer, tol: float, max_epochs: int) -> None:
        """The answer of all workers: a better w, perhaps, and two planes."""
        self.rounds += 1
        self._search(answer.losses)
        self.dual = max(self.dual, answer.dual - self.half_square)  # exact where conjugates are not linear
        self.add(answer)
        self.mix()
        self.recorder.add(self.primal, self.dual)
        if self.small_gap(tol):
            self.status = "converged"
        elif self.rounds >= max_epochs:
            self.status = "max_epochs"

    def add(self, answer: Answer) -> None:
        """Adds the planes of an answer, whose vectors are kept in the type in which they were sent."""
        new, known = list(answer.planes), len(self.vectors)
        self.vectors += new
        for t, products in enumerate(_products(new, self.vectors), start=known):
            self.add_plane(products[:t], products[t], float(answer.offsets[t - known]))
        self.errors = np.append(self.errors, answer.errors)

    def mix(self) -> None:
        """The best mixture of the planes, and its w."""
        gap = self.primal - self.dual if self.primal < np.inf else abs(self.offsets).max()
        self.mix_planes(PRECISION * max(gap, 0.0))
        held = np.flatnonzero(self.mixture)
        self.mixed = np.concatenate([self.mixture[held] @ block for block in _blocks([self.vectors[t] for t in held])])
        # At least 1/2 |sum_t a_t v_t|^2 of the exact v_t: the vectors here may have been rounded.
        norm = float(_products([self.mixed], [self.mixed])[0, 0]) ** 0.5
        self.half_square = 0.5 * (norm + float(self.mixture @ self.errors)) ** 2
        self.dual = max(self.dual, float(self.offsets @ self.mixture) - self.half_square)

    def _search(self, losses: np.ndarray) -> None:
        """The best point of the line, and of the multiples of w."""
        points = np.array([(1 - t, t) for t in LINE_STEPS] + [(0.0, m) for m in MULTIPLES])
        pair = [self.best, self.w]
        values = 0.5 * np.einsum("pi,ij,pj->p", points, _products(pair, pair), points) + losses
        at, self.moved = int(values.argmin()), (1.0, 0.0)
        if values[at] < self.primal:
            (u, v), self.primal = points[at].tolist(), float(values[at])
            self.moved, self.best = (u, v), u * self.best + v * self.w
        self.ahead = float(np.clip(LINE_STEPS[values[: len(LINE_STEPS)].argmin()], 0.02, 1.0))

    def _drop(self) -> Drop:
        """Drops the plane that has had no weight for longest; if all have weight, merges the two lightest."""
        at, into, u, v = 1 + int(self.idle[1:].argmax()), 0, 0.0, 1.0
        if self.idle[at] == 0:
            at, into = (1 + np.argsort(self.mixture[1:], kind="stable")[:2]).tolist()
            total = self.mixture[at] + self.mixture[into]
            u, v = float(self.mixture[at] / total), float(self.mixture[into] / total)
            self.vectors[into] = u * self.vectors[at].astype(np.float64) + v * self.vectors[into]
            self.offsets[into] = u * self.offsets[at] + v * self.offsets[into]
            self.errors[into] = u * self.errors[at] + v * self.errors[into]
            row = u * self.gram[at] + v * self.gram[into]
            self.gram[into], self.gram[:, into] = row, row
            self.gram[into, into] = _products([self.vectors[into]], [self.vectors[into]])[0, 0]
            self.mixture[into] = total
        del self.vectors[at]
        kept = np.delete(np.arange(len(self.offsets)), at)
        self.keep_planes(kept)
        self.errors = self.errors[kept]
        return at, into, (u, v)


def _blocks(vectors: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
    """The vectors as rows of matrices in float64, some columns at a time.

    Blocks stay in the cache, and are so small that the linear algebra library uses one thread: its threads would wait for those
    of workers.
    """
    for at in range(0, len(vectors[0]), BLOCK):
        yield np.array([v[at : at + BLOCK] for v in vectors], np.float64)


def _products(some: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> np.ndarray:
    """The products of some vectors with others, in float64."""
    blocks = zip(_blocks(some), _blocks(others), strict=True)
    return sum((left @ right.T for left, right in blocks), np.zeros((len(some), len(others))))
