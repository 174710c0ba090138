"""The bundle method on a cluster: in every round the weights go out, and one sum over the parts comes back.

    primal   min_w  1/2 |w|^2 + sum_i loss_i(w.x_i)

Any coefficients beta in the domain of the dual give a plane below the losses, sum_i loss_i(w.x_i) >= b - w.v, v = sum_i beta_i x_i,
b the sum of the conjugates. The best w for planes (b_t, v_t) is sum_t a_t v_t for the mixture a, a >= 0 and sum(a) = 1, that
maximises b.a - 1/2 |sum_t a_t v_t|^2; the same mixture of the beta_t, which each part keeps for its own examples, is feasible for
the dual. So the driver knows a lower bound without seeing an example, and the losses that parts report at some points give an upper
bound. The v_t are sent in float32 unless `tol` is very small, and the bound accounts for what that may change.

Each round adds two planes: the subgradient near the best w, as cutting planes do, and the answer of dual coordinate descent on each
part by itself, see `bundle_part`. The second is near the dual optimum, which saves half of the rounds or more; in the first round,
where w = 0, every part solves its own problem. The answer depends on the seed and the parts, but not on which worker did what.

Joachims: Training linear SVMs in linear time. KDD 2006. Franc, Sonnenburg: Optimized cutting plane algorithm for large-scale risk
minimization. JMLR 2009. Ma et al.: Adding vs. averaging in distributed primal-dual optimization. ICML 2015, for the local problems.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from treille import _core
from treille.solvers.bundle_part import (
    MULTIPLES,
    TOWARDS,
    Answer,
    Drop,
    Request,
    add_answers,
    add_planes,
    answers_of,
    begin,
    dual_variables,
    start_planes,
    take_part,
)
from treille.solvers.cluster_part import joined_parts, sent_type
from treille.solvers.problem import DualLoss, Problem
from treille.solvers.report import Recorder, Report, Solution
from treille.solvers.solver import BaseSolver, Run
from treille.spaces.cluster import ClusterSpace

BLOCK = 16_384  # numbers
WIDTH = 8  # problems at a time
MOST = 60  # planes of a problem
BEYOND = 0.1  # OCAS's mu: the next cut is this fraction of the way from the best point of the line to the planes' w
PRECISION = 1e-6  # of the mixture of planes, relative to the current gap


class BundleMethod(BaseSolver):
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

    spaces = (ClusterSpace,)
    losses = (DualLoss,)

    def __init__(self, max_seconds: float | None = None):
        self.max_seconds = max_seconds

    def _solve(self, problem: Problem, space: ClusterSpace, run: Run) -> Solution:
        rounds = Rounds(problem, space, run)
        while active := [planes for planes in rounds.each if not planes.status][:WIDTH]:
            rounds.step(active)
        return rounds.solution()


class Rounds:
    """The parts on the cluster, and the planes of each problem here."""

    def __init__(self, problem: Problem, space: ClusterSpace, run: Run):
        self.problem, self.space, self.run, self.cluster = problem, space, run, space.cluster
        self.count, self.bytes = 0, 0
        saved = None if space.folder is None else space.folder.load("cluster")
        start = run.start if saved is None else saved[1]["alpha"]
        parts, groups = joined_parts(space)
        starts = self._starts(start)
        self.turns = [
            self.cluster.submit(begin, part, *(starts[p] for p in group if starts))
            for part, group in zip(parts, groups, strict=True)
        ]
        self.each = [Planes(k, space.n_features + 1) for k in range(problem.n_problems)]
        if start is not None:
            found = self.cluster.reduced(self.cluster.submit_all(start_planes, self.turns), add_planes)
            for planes, (v, b) in zip(self.each, found, strict=True):
                planes.add(v[:, 0], float(b[0]))
                planes.mix()

    def _starts(self, start: np.ndarray | None) -> list[Any]:
        at = self.space.rows.offsets
        return [] if start is None else [self.cluster.keep(start[:, a:b]) for a, b in pairwise(at)]

    def step(self, active: list[Planes]) -> None:
        """One round for some problems."""
        self.count += 1
        exact = sent_type(self.run.tol) is np.float64
        requests = [planes.request(self.run.seed + 1000 * self.count, exact) for planes in active]
        message = self.cluster.keep(requests)
        self.turns = self.cluster.submit_all(take_part, self.turns, [message] * len(self.turns))
        answers: list[Answer] = self.cluster.reduced(self.cluster.submit_all(answers_of, self.turns), add_answers)
        self.bytes += sum(
            request.w.nbytes + answer.planes.nbytes for request, answer in zip(requests, answers, strict=True)
        )
        for planes, answer in zip(active, answers, strict=True):
            planes.take(answer, self.run.tol, self.run.max_epochs)
        done = sum(bool(planes.status) for planes in self.each)
        if not self.run.poll(done, self.count, max(planes.relative_gap for planes in active)):
            for planes in self.each:
                planes.status = planes.status or "max_seconds"
        if self.space.folder is not None and self.space.folder.due():
            self._save()

    def solution(self) -> Solution:
        """The best w of each problem, and the mixture of its planes as dual variables, which stay on the cluster."""
        each, w = [planes.report(self.run.seed) for planes in self.each], np.stack([p.best for p in self.each], axis=1)
        report = replace(Report.combined(each), rounds=self.count, bytes_sent=self.bytes * len(self.turns))
        if len(each) == 1:
            report = replace(report, history=tuple(self.each[0].recorder.history))
        bias = float(self.problem.intercept)
        return Solution(bias * w[-1], np.zeros((len(each), 0)), report, weights=np.ascontiguousarray(w[:-1]))

    def _save(self) -> None:
        """Keeps the mixtures of planes as dual variables of all examples: what another cluster can start from."""
        mixtures = self.cluster.keep([planes.mixture for planes in self.each])
        found = self.cluster.submit_all(dual_variables, self.turns, [mixtures] * len(self.turns))
        alpha = self.cluster.reduced(found, _side_by_side)
        self.space.folder.save("cluster", {"rounds": self.count}, {"alpha": alpha})


def _side_by_side(*arrays: np.ndarray) -> np.ndarray:
    return np.concatenate(arrays, axis=1)


def inner(u: np.ndarray, v: np.ndarray) -> float:
    """The product of two vectors, by one thread: those of the linear algebra library wait for each other."""
    return float(np.einsum("z,z", u, v))


class Planes:
    """The planes of one problem, their best mixture, and the best w so far, with its proof."""

    def __init__(self, problem: int, size: int):
        self.problem = problem
        self.vectors, self.offsets, self.gram = [np.zeros(size)], np.zeros(1), np.zeros((1, 1))
        self.mixture, self.idle, self.errors = np.ones(1), np.zeros(1, int), np.zeros(1)
        self.best, self.w, self.mixed = np.zeros(size), np.zeros(size), np.zeros(size)
        self.primal, self.dual, self.rounds, self.status = np.inf, 0.0, 0, ""
        self.moved, self.ahead = (1.0, 0.0), 0.3
        self.drops: list[Drop] = []
        self.recorder = Recorder()

    @property
    def relative_gap(self) -> float:
        """Of the best w and the best dual point so far."""
        return (self.primal - self.dual) / self.primal if 0 < self.primal < np.inf else float(self.primal > 0)

    def request(self, seed: int, exact: bool) -> Request:
        """What the parts are asked in the next round. w is sent in float32: any w has a primal value."""
        sent = self.mixed.astype(np.float32)
        self.w = sent.astype(np.float64)
        cut = self.ahead + BEYOND * (1 - self.ahead)
        return Request(self.problem, sent, self.mixture, self.moved, cut, tuple(self.drops), seed + self.problem, exact)

    def take(self, answer: Answer, tol: float, max_epochs: int) -> None:
        """The answer of all parts: a better w, perhaps, and two planes."""
        self.rounds += 1
        self._search(answer.losses)
        self.drops = []
        self.dual = max(self.dual, answer.dual - self._half_square())  # exact where conjugates are not linear
        for v, b, error in zip(answer.planes.T, answer.offsets, answer.errors, strict=True):
            self.add(v.astype(np.float64), float(b), float(error))
        self.mix()
        self.recorder.add(self.primal, self.dual)
        if self.primal - self.dual <= tol * self.primal:
            self.status = "converged"
        elif self.rounds >= max_epochs:
            self.status = "max_epochs"
        self.idle = np.where(self.mixture > 0, 0, self.idle + 1)
        while len(self.vectors) > MOST:
            self._drop()

    def add(self, v: np.ndarray, b: float, error: float = 0.0) -> None:
        """Adds a plane, whose v is known up to an error."""
        v = np.ascontiguousarray(v)
        row = np.array([inner(v, other) for other in self.vectors])
        self.gram = np.block([[self.gram, row[:, None]], [row, inner(v, v)]])
        self.vectors.append(v)
        self.errors = np.append(self.errors, error)
        self.offsets, self.mixture, self.idle = (
            np.append(self.offsets, b),
            np.append(self.mixture, 0.0),
            np.append(self.idle, 0),
        )

    def mix(self) -> None:
        """The best mixture of the planes, and its w."""
        gap = self.primal - self.dual if self.primal < np.inf else abs(self.offsets).max()
        _core.mix_planes(np.ascontiguousarray(self.gram).ravel(), self.offsets, self.mixture, PRECISION * max(gap, 0.0))
        self._mix_vectors()
        self.dual = max(self.dual, float(self.offsets @ self.mixture) - self._half_square())

    def _mix_vectors(self) -> None:
        """A block of numbers after another, so that sums stay in the cache."""
        held = [(share, v) for share, v in zip(self.mixture, self.vectors, strict=True) if share > 0]
        self.mixed = np.zeros_like(self.best)
        product = np.empty(min(BLOCK, len(self.mixed)))
        for at in range(0, len(self.mixed), BLOCK):
            total = self.mixed[at : at + BLOCK]
            for share, v in held:
                total += np.multiply(v[at : at + BLOCK], share, out=product[: len(total)])

    def _half_square(self) -> float:
        """1/2 |sum_t a_t v_t|^2 of the exact v_t, at most: those here may have been rounded."""
        norm = inner(self.mixed, self.mixed) ** 0.5 + float(self.mixture @ self.errors)
        return 0.5 * norm**2

    def _search(self, losses: np.ndarray) -> None:
        """The best point of the line, and of the multiples of w."""
        points = [(1 - t, t) for t in TOWARDS] + [(0.0, m) for m in MULTIPLES]
        products = np.array([[inner(u, v) for v in (self.best, self.w)] for u in (self.best, self.w)])
        values = np.array([0.5 * float(np.array(p) @ products @ np.array(p)) for p in points]) + losses
        at, self.moved = int(values.argmin()), (1.0, 0.0)
        if values[at] < self.primal:
            self.primal, self.moved = float(values[at]), points[at]
            self.best = points[at][0] * self.best + points[at][1] * self.w
        self.ahead = float(np.clip(TOWARDS[values[: len(TOWARDS)].argmin()], 0.02, 1.0))

    def _drop(self) -> None:
        """Drops the plane that has had no weight for longest; where all have some, the two lightest become one."""
        at = 1 + int(self.idle[1:].argmax())
        drop = Drop(at)
        if self.idle[at] == 0:
            at, into = 1 + np.argsort(self.mixture[1:], kind="stable")[:2]
            total = self.mixture[at] + self.mixture[into]
            u, v = float(self.mixture[at] / total), float(self.mixture[into] / total)
            self.vectors[into] = u * self.vectors[at] + v * self.vectors[into]
            self.offsets[into] = u * self.offsets[at] + v * self.offsets[into]
            self.errors[into] = u * self.errors[at] + v * self.errors[into]
            row = u * self.gram[at] + v * self.gram[into]
            self.gram[into], self.gram[:, into] = row, row
            self.gram[into, into] = inner(self.vectors[into], self.vectors[into])
            self.mixture[into], drop = total, Drop(int(at), int(into), (u, v))
        self.drops.append(drop)
        del self.vectors[drop.plane]
        kept = np.delete(np.arange(len(self.offsets)), drop.plane)
        self.gram = self.gram[np.ix_(kept, kept)]
        self.offsets, self.mixture, self.idle = self.offsets[kept], self.mixture[kept], self.idle[kept]
        self.errors = self.errors[kept]

    def report(self, seed: int) -> Report:
        """Of the rounds so far."""
        self.recorder.add(self.primal, self.dual, last=True)
        history = tuple(self.recorder.history)
        return Report(self.primal, self.dual, self.rounds, 0.0, self.status, seed, history=history)
