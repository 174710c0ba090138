"""The cascade: each part of the data solves its own problem, and the examples that this does not settle are solved together.

Where the rows of all parts fit at the driver, they are gathered and solved there, as in memory: dual coordinate descent takes so
few passes over the rows that nothing is gained by dividing them.

Else: most examples of a support vector machine are held at a bound, at 0, since they are on the right side by more than the margin,
or at C. Where that is so in the part's own problem, it is likely so in the problem of all parts. So

1. every part solves its own problem by dual coordinate descent, as if all parts were like it;
2. the examples that are not held there, and the sum of the others, w = sum_i a_i y_i x_i, go to the driver, which improves the
   variables of the examples that it has by the same descent, with those of all others fixed;
3. the parts receive w, and answer with their losses, which prove how far w is from the optimum, and with the examples that w no
   longer holds where they are. These go to the driver, too, and never return; steps 2 and 3 repeat until the gap is small.

An example is sent at most once. Three to six rounds suffice as a rule, however many parts there are, and a round is one pass over
the rows. The answer depends on the seed and the parts, but not on which worker did what.

Graf, Cosatto, Bottou, Durdanovic, Vapnik: Parallel support vector machines: the cascade SVM. NIPS 2004. There, support vectors are
merged in pairs; here all those at C are one sum. Vapnik: Estimation of dependences based on empirical data, 1982: chunking, step 3.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from treille import _core
from treille.features import FeatureRows
from treille.io.parameters import effective_n_jobs
from treille.io.sizes import parse_size
from treille.solvers.bundle_method import WIDTH, BundleMethod
from treille.solvers.cascade_part import (
    Answer,
    Leaving,
    add_arrays,
    check,
    dual_variables,
    free_examples,
    leaving,
    solve_alone,
    sums_of,
)
from treille.solvers.cluster_part import joined_parts, rows_of, sent_type, signs, some_problems
from treille.solvers.part_targets import coded_terms, part_targets, true_weights, weights_of
from treille.solvers.problem import Problem, QuadraticLoss
from treille.solvers.report import Recorder, Report, Solution
from treille.solvers.solver import BaseSolver, Run, after
from treille.spaces.cluster import ClusterSpace

NEAR = 0.5  # of the gap that is asked for: to which the gathered examples are solved
ALONE = 1 - 1e-9  # the same where they are all: the gap is measured again, and sums round


class Cascade(BaseSolver):
    """Solves the problem of each part, and then one problem of all examples that these leave open. Works on clusters.

    Parameters
    ----------
    memory : int or str
        For the rows of the gathered examples, "1GB" say. Where those of all examples take no more, all are gathered at once. Where
        those of the examples left open take more, `BundleMethod` is used instead.
    max_seconds : float or None
        Stop after this time with the solution so far, and warn.

    References
    ----------
    Graf, Cosatto, Bottou, Durdanovic, Vapnik: Parallel support vector machines: the cascade SVM. NIPS 2004.

    Examples
    --------
    >>> import treille
    >>> treille.solvers.Cascade().spaces[0].name
    'cluster'
    """

    spaces = (ClusterSpace,)
    losses = (QuadraticLoss,)

    def __init__(self, memory: int | str = "1GB", max_seconds: float | None = None):
        self.memory = memory
        self.max_seconds = max_seconds

    def check(self) -> None:
        super().check()
        parse_size("memory", self.memory)

    def _fits(self, space: ClusterSpace) -> bool:
        return space.rows.nbytes <= parse_size("memory", self.memory)

    def _solve(self, problem: Problem, space: ClusterSpace, run: Run) -> Solution:
        memory, solutions, K = parse_size("memory", self.memory), list[Solution](), problem.n_problems
        everything = _gathered(problem, space) if self._fits(space) else None
        parts, groups = ([], []) if everything else joined_parts(space)
        saved = None if space.folder is None else space.folder.load("cluster")
        start = run.start if saved is None else saved[1]["alpha"]
        width = 1 if space.rows.n_problems else WIDTH  # problems may have rows of their own
        alpha = np.zeros((K, len(space))) if space.folder is not None else None
        for first in range(0, K, width):
            some = tuple(range(first, min(K, first + width)))
            own = None if start is None or not start[list(some)].any() else start[list(some)]
            each = replace(run, start=own, poll=after(first, run.poll))
            gathering = Gathering(problem, some, space, parts, groups, each, memory, alpha)
            if everything:
                gathering.take_all(*everything)
            status = gathering.run_rounds()
            if status == "too many":
                return BundleMethod(self.max_seconds)._solve(problem, space, run)
            solutions.append(gathering.solution(status))
        found, reports = Solution.combined(solutions), [solution.report for solution in solutions]
        rounds, sent = (sum(getattr(report, name) for report in reports) for name in ("rounds", "bytes_sent"))
        if everything:
            rounds, sent = 1, space.rows.nbytes
        return replace(found, report=replace(found.report, rounds=rounds, bytes_sent=sent))


class Gathering:
    """The gathered examples of some problems, their w, and the parts that hold the others."""

    def __init__(
        self,
        problem: Problem,
        problems: tuple[int, ...],
        space: ClusterSpace,
        parts: list[Any],
        groups: list[np.ndarray],
        run: Run,
        memory: float,
        alpha: np.ndarray | None,
    ):
        self.problem, self.problems, self.space, self.run, self.cluster = problem, problems, space, run, space.cluster
        self.bias, self.threads = float(problem.intercept), effective_n_jobs(run.n_jobs)
        K, F, offsets = len(problems), space.n_features, space.rows.offsets
        self.first = np.array([offsets[group[0]] for group in groups])  # example of each group
        sizes = np.array([offsets[group[-1] + 1] for group in groups]) - self.first
        self.memory, self.gathered = memory, 0  # bytes of rows that may be here, and that are
        starts = [self.cluster.keep(run.start[:, a:b]) for a, b in pairwise(offsets) if parts and run.start is not None]
        self.alone = [  # none: all examples are gathered at once
            self.cluster.submit(
                solve_alone, part, problems, len(space) / max(1, size), run.seed + 1000 * number,
                *(starts[p] for p in group if starts),
            )
            for number, (part, group, size) in enumerate(zip(parts, groups, sizes, strict=True))
        ]  # fmt: skip
        self.saved = alpha  # of all problems and examples, where they are to be saved
        self.gone = [np.zeros(0, np.int64) for _ in groups]  # examples of each group that are here, by number there
        self.rows: list[FeatureRows] = []
        self.numbers = np.zeros(0, np.int64)  # of the examples here, among all
        self.here, self.alpha = replace(problem, targets=problem.targets[:0], C=problem.C[:0]), np.zeros((K, 0))
        self.w = self.fixed = np.zeros((K, F + 1))  # of all examples, and the share of those that are not here
        self.elsewhere = np.zeros(K)  # losses of the examples that are not here, when last heard of
        self.best, self.primal, self.dual = np.zeros((K, F + 1)), np.full(K, np.inf), np.full(K, -np.inf)
        self.count, self.bytes, self.recorder = 0, 0, Recorder()

    def run_rounds(self) -> str:
        """Until the gap is small; returns how it ended."""
        answers = self._begin() if self.alone else []
        while True:
            if not self._take(answers):
                return "too many"
            if self.space.folder is not None and self.count > 1 and self.space.folder.due():
                self._save()
            status = self._improve()
            answers = self.step()
            self.recorder.add(float(self.primal.sum()), float(self.dual.sum()))
            if (self.primal - self.dual <= self.run.tol * self.primal).all():
                return "converged"
            if "stopped" in status or not self._poll():
                return "max_seconds"
            if self.count >= self.run.max_epochs:
                return "max_epochs"
            if status != {"converged"} and not any(len(answer.free) for answer in answers):
                return "rounding" if "rounding" in status else "max_epochs"  # the next round would be like this one

    @property
    def relative_gap(self) -> float:
        """The largest of all problems; 1 before the parts have answered."""
        known = (self.primal > 0) & (self.primal < np.inf)
        return float(np.divide(self.primal - self.dual, self.primal, out=np.ones_like(self.primal), where=known).max())

    def _poll(self) -> bool:
        return self.run.poll(0, self.count, self.relative_gap)

    def _begin(self) -> list[Answer]:
        found = self.cluster.submit_all(free_examples, self.alone)
        total = self.cluster.reduced(self.cluster.submit_all(sums_of, self.alone), add_arrays)
        answers: list[Answer] = self.cluster.gather(found)
        self.count, self.bytes = 1, total.nbytes * len(self.alone)
        self.dual = np.sum([answer.dual for answer in answers], axis=0) - _half_squares(total)
        self.w, self.fixed = total, total.copy()
        return answers

    def take_all(self, rows: list[FeatureRows], problem: Problem) -> None:
        """All examples, before the first round."""
        K, n = len(self.problems), len(problem)
        self.rows, self.here, self.numbers = rows_of(rows, self.problems[0]), problem, np.arange(n)
        self.alpha = np.zeros((K, n)) if self.run.start is None else self.run.start
        self.dual = np.zeros(K)

    def _take(self, answers: list[Answer]) -> bool:
        """Adds the examples that leave the parts; False: they are too many, and none has left."""
        new = sum(answer.nbytes for answer in answers)
        if self.gathered + new > self.memory:
            return False
        self.gathered, self.bytes = self.gathered + new, self.bytes + new
        some = [group for group, answer in enumerate(answers) if len(answer.free)]
        alone, free = [self.alone[group] for group in some], [answers[group].free for group in some]
        found: list[Leaving] = self.cluster.gather(self.cluster.submit_all(leaving, alone, free)) if some else []
        for group, own in zip(some, found, strict=True):
            self.gone[group] = np.concatenate([self.gone[group], own.examples])
            self.numbers = np.concatenate([self.numbers, self.first[group] + own.examples])
            self._unfix(own)
            self.rows += own.rows
            self.here = replace(
                self.here,
                targets=np.concatenate([self.here.targets, own.targets]),
                C=np.concatenate([self.here.C, own.C]),
            )
            self.alpha = np.concatenate([self.alpha, own.alpha], axis=1)
        return True

    def _unfix(self, new: Leaving) -> None:
        own, at = replace(self.here, targets=new.targets, C=new.C), 0
        beta = np.stack([signs(own, k) * a for k, a in zip(self.problems, new.alpha, strict=True)], axis=1)
        for rows in new.rows:
            self.fixed[:, :-1] -= rows.rmatvec(beta[at : at + len(rows)]).T
            at += len(rows)
        self.fixed[:, -1] -= self.bias * beta.sum(axis=0)

    def _core_problem(self) -> tuple[Any, Any]:
        own = some_problems(self.here, self.problems)
        return _core.PartRows([coded_terms(rows) for rows in self.rows]), part_targets(own, np.arange(len(own)))

    def _improve(self) -> set[str]:
        """Dual coordinate descent on the examples that are here; returns how it ended."""
        if not self.rows:
            return {"converged"}
        (rows, targets), (u, b) = self._core_problem(), self._for_core(self.fixed)
        alpha, tol = np.array(self.alpha, order="C"), self.run.tol * (NEAR if self.alone else ALONE)
        seed = int(np.random.default_rng([self.run.seed, self.count]).integers(2**62))
        # Where other examples are elsewhere, the gap here is not that of all.
        poll = (lambda *_: self._poll()) if self.alone else self.run.poll
        ends = _core.solve_part(
            rows, targets, self.bias, tol, self.run.max_epochs, seed, u.reshape(-1), b, self.elsewhere, alpha.reshape(-1),
            self.threads, poll,
        )  # fmt: skip
        self.alpha, self.w = alpha, self._from_core(u, b)
        return {status for status, _ in ends}

    def _for_core(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """u = s w, see core/features/part_rows.hpp, and the intercepts."""
        weights = weights_of(self.rows[0])
        u = w[:, :-1] if weights is None else w[:, :-1] * weights
        return np.array(u, order="C"), np.array(w[:, -1])

    def _from_core(self, u: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.concatenate([true_weights(u, weights_of(self.rows[0])), b[:, None]], axis=1)

    def step(self) -> list[Answer]:
        """Sends w; the answers of the parts and what is here give a primal and a dual value of all examples."""
        self.count += 1
        sent = self.w.astype(sent_type(self.run.tol)) if self.alone else self.w
        exact, n = sent.astype(np.float64), len(self.alone)
        futures = self.cluster.submit_all(check, self.alone, [self.cluster.keep(sent)] * n, self.gone) if n else []
        losses, dual = self._measure(exact)  # while the parts are at work
        answers: list[Answer] = self.cluster.gather(futures) if n else []
        self.bytes += sent.nbytes * n
        self.elsewhere = np.sum([answer.losses for answer in answers], axis=0)
        primal = losses + self.elsewhere + _half_squares(exact)
        dual = dual + np.sum([answer.dual for answer in answers], axis=0) - _half_squares(self.w)
        self.dual = np.maximum(self.dual, dual)
        better = primal < self.primal
        self.primal, self.best[better] = np.minimum(primal, self.primal), exact[better]
        return answers

    def _measure(self, sent: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Losses at the w that was sent, and dual values besides |w|^2, of the examples here; w is summed anew."""
        zero = np.zeros(len(self.problems))
        if not self.rows:
            return zero, zero
        rows, targets = self._core_problem()
        (u, b), (sum_u, sum_b) = self._for_core(sent), self._for_core(self.fixed)
        losses, dual = _core.measure_part(
            rows, targets, self.bias, u.reshape(-1), b, np.ascontiguousarray(self.alpha).reshape(-1), sum_u.reshape(-1), sum_b,
            self.threads,
        )  # fmt: skip
        self.w = self._from_core(sum_u, sum_b)
        return losses, dual

    def _save(self) -> None:
        """Keeps the dual variables of all examples: what another cluster can start from."""
        assert self.saved is not None
        some = list(self.problems)
        if not self.saved[some].any():
            each = self.cluster.gather(self.cluster.submit_all(dual_variables, self.alone))
            self.saved[some] = np.concatenate(each, axis=1)
        self.saved[np.ix_(np.array(some), self.numbers)] = self.alpha
        self.space.folder.save("cluster", {"rounds": self.count}, {"alpha": self.saved})

    def solution(self, status: str) -> Solution:
        """The best w of each problem. Dual variables stay on the cluster."""
        self.recorder.add(float(self.primal.sum()), float(self.dual.sum()), last=True)
        small = self.primal - self.dual <= self.run.tol * self.primal
        reports = [
            Report(float(p), float(d), self.count, 0.0, "converged" if ok else status, self.run.seed)
            for p, d, ok in zip(self.primal, self.dual, small, strict=True)
        ]
        history = tuple(self.recorder.history)
        report = replace(Report.combined(reports), rounds=self.count, bytes_sent=self.bytes, history=history)
        weights, intercept = np.ascontiguousarray(self.best[:, :-1].T), self.bias * self.best[:, -1]
        return Solution(intercept, np.zeros((len(reports), 0)), report, weights=weights)


def _gathered(problem: Problem, space: ClusterSpace) -> tuple[list[FeatureRows], Problem]:
    """The rows of all parts, and the problem with their examples."""
    n = len(space.futures)
    found = space.cluster.gather([*space.futures, *space.problems])
    targets, C = (np.concatenate([getattr(own, name) for own in found[n:]]) for name in ("targets", "C"))
    return [rows for rows in found[:n] if len(rows)], replace(problem, targets=targets, C=C)


def _half_squares(w: np.ndarray) -> np.ndarray:
    """1/2 |w|^2 of each row."""
    halves: np.ndarray = 0.5 * np.einsum("kz,kz->k", w, w)
    return halves
