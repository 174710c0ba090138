"""Selective block minimization: dual coordinate descent on data that are in parts on disk; the core's part is in solve/part_cd.hpp.

Parts are visited in blocks that fit in memory, in a random order in each pass. w is shared and always current, so this is block
coordinate descent in the dual, but visiting each block by itself converges slowly: a block moves w to where its own examples are
right, which the next one undoes. So some examples of the other blocks stay in memory and take part in every visit: those not held at a
bound when their own block was visited, since the others would not move. With them a few passes suffice, however many blocks there are.

Chang, Roth: Selective block minimization for faster convergence of limited memory large-scale linear models. KDD 2011.
Yu, Hsieh, Chang, Lin: Large linear classification when data cannot fit in memory. KDD 2010.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from treille import _core
from treille.features import FeatureRows, PartedRows
from treille.io.parameters import check_whole, effective_n_jobs
from treille.solvers.part_targets import blocks_of, coded_terms, part_targets, true_weights, weights_of
from treille.solvers.problem import (
    EpsilonInsensitive,
    Hinge,
    Logistic,
    Problem,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from treille.solvers.report import Recorder, Report, Solution
from treille.solvers.solver import BaseSolver, Run, after
from treille.spaces.parts import PartsSpace

SHARES = (
    4  # of the memory left: a block, the next one that is read meanwhile, examples of other blocks, and copies of these
)
ENOUGH = 0.1  # of the gap that a block had: sweeps over it end there


class BlockMinimization(BaseSolver):
    """Dual coordinate descent on one block of parts after another, together with kept examples of the others. Works on parts.

    Parameters
    ----------
    sweeps : int
        Over a block and the kept examples while they are in memory, at most.
    max_seconds : float or None
        Stop after this time with the solution so far, and warn.

    References
    ----------
    Chang, Roth: Selective block minimization for faster convergence of limited memory large-scale linear models. KDD 2011.

    Examples
    --------
    >>> import treille
    >>> from treille.scale import Parts
    >>> parts = Parts.of([(["ab", "cd"], [0, 1]), (["ba", "dc"], [0, 1])])
    >>> model = treille.SVC(treille.kernels.NGram(1), solver=treille.solvers.BlockMinimization()).fit(parts)
    >>> model.report_.status
    'converged'
    """

    spaces = (PartsSpace,)
    losses = (Hinge, SquaredHinge, Logistic, EpsilonInsensitive, SquaredEpsilonInsensitive)

    def __init__(self, sweeps: int = 5, max_seconds: float | None = None):
        self.sweeps = sweeps
        self.max_seconds = max_seconds

    def check(self) -> None:
        super().check()
        check_whole("sweeps", self.sweeps)

    def _solve_each(self, problem: Problem, space: PartsSpace, run: Run) -> Solution:
        if not space.rows.n_problems:
            return self._solve(problem, space, run)
        assert problem.classes is not None
        solutions = []
        for k in range(problem.n_problems):  # the rows differ from problem to problem
            store = space.rows.store.changed(lambda rows, k=k: rows.problems[k])
            own = replace(space, rows=PartedRows(store, space.n_features))
            one = replace(problem, classes=problem.classes[k : k + 1])
            solutions.append(self._solve(one, own, replace(run, seed=run.seed + k, poll=after(k, run.poll)), f"-{k}"))
        return Solution.combined(solutions)

    def _solve(self, problem: Problem, space: PartsSpace, run: Run, name: str = "") -> Solution:
        with ThreadPoolExecutor(1) as reader:
            visits = Visits(problem, space, run, self.sweeps, name, reader)
            return visits.solution(visits.run_passes())


@dataclass
class Kept:
    """Examples of a block that take part in visits of the others."""

    examples: np.ndarray  # their numbers among all
    rows: list[FeatureRows]


@dataclass
class State:
    """All that a run needs to go on from the boundary between two visits: the same numbers, bit for bit."""

    w: np.ndarray  # one row per problem
    b: np.ndarray
    alpha: np.ndarray  # one row per problem
    kept: dict[int, np.ndarray] = field(default_factory=dict)  # by block
    passes: int = 0
    visited: int = 0  # blocks of this pass
    met: np.ndarray = field(default_factory=lambda: np.zeros(0))  # terms of the gap in this pass
    before: np.ndarray = field(default_factory=lambda: np.zeros(0))  # those of the pass before
    ratio: float = 1.0  # of the gap measured to the one expected, last time
    measured: int = 0  # passes that measured the gap


class Visits:
    """A run on the parts."""

    def __init__(
        self, problem: Problem, space: PartsSpace, run: Run, sweeps: int, name: str, reader: ThreadPoolExecutor
    ):
        self.problem, self.space, self.run, self.sweeps, self.name = problem, space, run, sweeps, f"solver{name}"
        self.reader = reader
        self.threads, self.bias = effective_n_jobs(run.n_jobs), float(problem.intercept)
        K, n, F = problem.n_problems, len(problem), space.n_features
        self.share = space.memory_left(K) / SHARES
        self.blocks, self.bytes = blocks_of(space, self.share)
        self.state = State(np.zeros((K, F)), np.zeros(K), np.zeros((K, n)), met=np.zeros(K), before=np.full(K, np.inf))
        self.kept: dict[int, Kept] = {}
        self.primal, self.dual, self.recorder = np.full(K, np.inf), np.full(K, -np.inf), Recorder()
        self.column_weights = weights_of(space.load(0))
        if run.start is not None:
            self.state.alpha[:] = run.start
            self._measure()
            self.state.w, self.state.b = self.sum_w, self.sum_b
        else:
            self._resume()

    def run_passes(self) -> str:
        state, tol = self.state, self.run.tol
        while state.passes + state.measured < self.run.max_epochs:
            order = np.random.default_rng([self.run.seed, state.passes]).permutation(len(self.blocks)).tolist()
            for block, rows in self._read(order[state.visited :]):
                self._visit(block, rows)
                state.visited += 1
                gap = float((self.state.met / np.maximum(self._dual() + self.state.met, 1e-300)).max())
                if not self.run.poll(0, state.passes + 1, gap * state.ratio):
                    self._measure()
                    return "converged" if self._small() else "max_seconds"
                if self.space.folder.due():
                    self._save()
            rows = None
            met, state.met = state.met, np.zeros_like(state.met)
            state.passes, state.visited = state.passes + 1, 0
            dual = self._dual()
            self.recorder.add(float((dual + met).sum()), float(dual.sum()))
            # The terms were met before each block was improved: after the pass the gap is about what the next one would meet.
            expected = state.ratio * met * np.clip(met / np.maximum(state.before, 1e-300), 0.1, 1.0)
            state.before = met
            if (expected <= tol * (dual + met)).all():
                self._measure()
                if self._small():
                    return "converged"
                gap = self.primal - self.dual
                state.ratio = float(np.clip((state.ratio * gap / np.maximum(expected, 1e-300)).max(), 0.25, 16.0))
        self._measure()
        return "converged" if self._small() else "max_epochs"

    def _small(self) -> bool:
        return bool((self.primal - self.dual <= self.run.tol * self.primal).all())

    def _read(self, order: list[int]) -> Any:
        """The rows of each block in turn; the next ones are read meanwhile."""
        futures = [self.reader.submit(self._load, block) for block in order[:1]]
        for place, block in enumerate(order):
            rows = futures.pop().result()
            if place + 1 < len(order):
                futures.append(self.reader.submit(self._load, order[place + 1]))
            yield block, rows

    def _load(self, block: int) -> list[FeatureRows]:
        rows = [self.space.load(part) for part in self.blocks[block]]
        for part in self.blocks[block]:
            self.space.touch(part)
        return rows

    def _range(self, block: int) -> np.ndarray:
        first, last = self.blocks[block][0], self.blocks[block][-1] + 1
        return np.arange(self.space.offsets[first], self.space.offsets[last])

    def _visit(self, block: int, rows: list[FeatureRows]) -> None:
        state, own = self.state, self._range(block)
        others = [kept for other, kept in sorted(self.kept.items()) if other != block]
        examples = np.concatenate([own, *(kept.examples for kept in others)])
        segments = [coded_terms(each) for each in rows] + [coded_terms(r) for kept in others for r in kept.rows]
        alpha = np.ascontiguousarray(state.alpha[:, examples])
        free = np.zeros(alpha.shape, np.uint8)
        seed = int(np.random.default_rng([self.run.seed, state.passes, block, 1]).integers(2**62))
        state.met += _core.improve_part(
            _core.PartRows(segments), part_targets(self.problem, examples), self.bias, 1.0, self.sweeps, ENOUGH, seed,
            state.w.reshape(-1), state.b, alpha.reshape(-1), len(own), free.reshape(-1), self.threads,
        )  # fmt: skip
        state.alpha[:, examples] = alpha
        self._keep(block, rows, np.flatnonzero(free[:, : len(own)].any(axis=0)))

    def _keep(self, block: int, rows: list[FeatureRows], free: np.ndarray) -> None:
        """Keeps some of the examples of a block that are not held at a bound: its share of the memory for such."""
        if len(self.blocks) == 1:
            return
        own, share = self._range(block), self.bytes[block] / self.bytes.sum()
        quota = max(1, int(len(own) * share * self.share / self.bytes[block]))
        if len(free) > quota:
            random = np.random.default_rng([self.run.seed, self.state.passes, block, 2])
            free = np.sort(random.choice(free, quota, replace=False))
        self.state.kept[block] = own[free]
        self.kept[block] = self._taken(block, rows, own[free])

    def _taken(self, block: int, rows: list[FeatureRows], examples: np.ndarray) -> Kept:
        taken = []
        for part, each in zip(self.blocks[block], rows, strict=True):
            first, last = self.space.offsets[part : part + 2]
            inside = examples[(first <= examples) & (examples < last)] - first
            if len(inside):
                taken.append(each.taken(inside))
        return Kept(examples, taken)

    def _measure(self) -> None:
        """Primal and dual values, exactly: one pass over the parts."""
        state = self.state
        self.sum_w, self.sum_b = np.zeros_like(state.w), np.zeros_like(state.b)
        losses, own = np.zeros_like(state.b), np.zeros_like(state.b)
        for block, rows in self._read(list(range(len(self.blocks)))):
            examples = self._range(block)
            values = _core.measure_part(
                _core.PartRows([coded_terms(each) for each in rows]), part_targets(self.problem, examples), self.bias,
                state.w.reshape(-1), state.b, np.ascontiguousarray(state.alpha[:, examples]).reshape(-1),
                self.sum_w.reshape(-1), self.sum_b, self.threads,
            )  # fmt: skip
            losses, own = losses + values[0], own + values[1]
        state.measured += 1
        self.primal = losses + 0.5 * self._sq_norm(state.w, state.b)
        self.dual = own - 0.5 * self._sq_norm(self.sum_w, self.sum_b)
        self.recorder.add(float(self.primal.sum()), float(self.dual.sum()))

    def _sq_norm(self, w: np.ndarray, b: np.ndarray) -> np.ndarray:
        true = true_weights(w, self.column_weights)
        return np.einsum("kz,kz->k", true, true) + b**2

    def _dual(self) -> np.ndarray:
        """The dual values at alpha, from w as it is kept up to date."""
        state, problem = self.state, self.problem
        each = (
            problem.loss.conjugate(problem.y(k), self._coefficients(k), problem.C).sum()
            for k in range(problem.n_problems)
        )
        return np.array(list(each)) - 0.5 * self._sq_norm(state.w, state.b)

    def _coefficients(self, k: int) -> np.ndarray:
        return self.problem.y(k) * self.state.alpha[k] if self.problem.loss.of_classes else self.state.alpha[k]

    def _save(self) -> None:
        state = self.state
        spec = {"passes": state.passes, "visited": state.visited, "ratio": state.ratio, "measured": state.measured}
        arrays = {"w": state.w, "b": state.b, "alpha": state.alpha, "met": state.met, "before": state.before}
        arrays |= {f"kept.{block}": examples for block, examples in state.kept.items()}
        self.space.folder.save(self.name, spec | self._identity(), arrays)

    def _resume(self) -> None:
        found = self.space.folder.load(self.name)
        if found is None:
            return
        spec, arrays = found
        self.space.folder.check(self._identity(), {key: spec[key] for key in self._identity()})
        kept = {int(key.partition(".")[2]): array for key, array in arrays.items() if key.startswith("kept.")}
        numbers = {key: spec[key] for key in ("passes", "visited", "ratio", "measured")}
        names = ("w", "b", "alpha", "met", "before")
        w, b, alpha, met, before = (np.array(arrays[name]) for name in names)  # copies, to be written to
        self.state = State(w, b, alpha, kept, met=met, before=before, **numbers)
        for block, examples in kept.items():
            self.kept[block] = self._taken(block, self._load(block), examples)

    def _identity(self) -> dict[str, Any]:
        problem = self.problem
        return {
            "loss": repr(problem.loss),
            "intercept": problem.intercept,
            "sum of C": float(problem.C.sum()),
            "random_state": self.run.seed,
            "sweeps": self.sweeps,
        }

    def solution(self, status: str) -> Solution:
        """The functions, with the report of each problem."""
        self.recorder.add(float(self.primal.sum()), float(self.dual.sum()), last=True)
        epochs = self.state.passes + self.state.measured
        reports = [
            Report(float(p), float(d), epochs, 0.0, "converged" if p - d <= self.run.tol * p else status, self.run.seed)
            for p, d in zip(self.primal, self.dual, strict=True)
        ]
        report = replace(Report.combined(reports), history=tuple(self.recorder.history))
        weights = true_weights(self.state.w, self.column_weights).T
        return Solution(self.bias * self.state.b, self.state.alpha, report, weights=np.ascontiguousarray(weights))
