"""Selective block minimization: dual coordinate descent on data that are in parts on disk; the core's part is in solve/part_cd.hpp.

Parts are visited in blocks that fit in memory, in a random order in each pass. w is shared and always current, so this is block
coordinate descent in the dual, but visiting each block by itself converges slowly: a block moves w to where its own examples are
right, which the next one undoes. So some examples of the other blocks stay in memory and take part in every visit: those not held
at a bound when their own block was visited, since the others would not move. With them a few passes suffice, however many blocks
there are. Where all parts fit in one block, this is DualCD.

Chang, Roth: Selective block minimization for faster convergence of limited memory large-scale linear models. KDD 2011.
Yu, Hsieh, Chang, Lin: Large linear classification when data cannot fit in memory. KDD 2010.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from treille import _core
from treille.features import DivisibleRows, FeatureRows, MatrixRows
from treille.features.abilities import having
from treille.io.parameters import check_whole, effective_n_jobs
from treille.solvers.dual_cd import core_rows, half_squares, solve_segments, true_weights, weights_of
from treille.solvers.problem import DualLoss, Problem
from treille.solvers.report import Recorder, Report, Solution
from treille.solvers.solver import BaseSolver, Run
from treille.spaces.parts import SHARES, PartsSpace

BLOCK_GAP = 0.1  # sweeps over a block end at this share of the gap that it had
PAGE = 4096
AT_ONCE = 1 << 24  # bytes read before the reader may be told to stop, so that Ctrl-C need not wait for a whole block


@dataclass(eq=False, repr=False)
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
    losses = (DualLoss,)

    sweeps: int = 5

    def check(self) -> None:
        super().check()
        check_whole("sweeps", self.sweeps)

    def _solve(self, problem: Problem, space: PartsSpace, run: Run) -> Solution:
        with Blocks(space, space.memory_left(problem.n_problems) / SHARES) as blocks:
            blocks_run = BlockRun(problem, space, blocks, run, self.sweeps)
            if blocks_run.fits_at_once():
                [(_, rows)] = blocks.read([0])
                return solve_segments(rows, problem, replace(run, start=blocks_run.state.alpha))
            return blocks_run.solution(blocks_run.run_passes())


@dataclass
class State:
    """The state of a run between two visits. A run that is continued from it computes the same numbers, bit for bit."""

    w: np.ndarray  # one row per problem
    b: np.ndarray
    alpha: np.ndarray  # one row per problem
    met: np.ndarray  # terms of the gap in this pass
    before: np.ndarray  # terms of the gap in the pass before
    # The examples of each block that take part in visits of other blocks.
    kept: dict[int, np.ndarray] = field(default_factory=dict)
    passes: int = 0
    visited: int = 0  # blocks of this pass
    ratio: float = 1.0  # of the gap measured to the gap expected, last time
    measured: int = 0  # passes that measured the gap


ARRAYS, NUMBERS = ("w", "b", "alpha", "met", "before"), ("passes", "visited", "ratio", "measured")  # of a state


class BlockRun:
    """A run on the parts."""

    def __init__(self, problem: Problem, space: PartsSpace, blocks: "Blocks", run: Run, sweeps: int):
        self.problem, self.space, self.blocks, self.run, self.sweeps = problem, space, blocks, run, sweeps
        self.threads, self.bias = effective_n_jobs(run.n_jobs), float(problem.intercept)
        K, n, F = problem.n_problems, len(problem), space.n_features
        self.state = State(np.zeros((K, F)), np.zeros(K), np.zeros((K, n)), np.zeros(K), np.full(K, np.inf))
        self.kept: dict[int, list[FeatureRows]] = {}  # the rows of `state.kept`
        self.primal, self.dual, self.recorder = np.full(K, np.inf), np.full(K, -np.inf), Recorder()
        self.column_weights = weights_of(space.rows.store.load(0))
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
            for block, rows in self.blocks.read(order[state.visited :]):
                self._visit(block, rows)
                del rows
                state.visited += 1
                gap = float((self.state.met / np.maximum(self._dual() + self.state.met, 1e-300)).max())
                if not self.run.poll(0, state.passes + 1, gap * state.ratio):
                    self._save()
                    self._measure()
                    return "converged" if self._small() else "max_seconds"
                if self.space.folder.due():
                    self._save()
            met, state.met = state.met, np.zeros_like(state.met)
            state.passes, state.visited = state.passes + 1, 0
            dual = self._dual()
            self.recorder.add(float((dual + met).sum()), float(dual.sum()))
            # The terms were met before each block was improved: the gap after the pass is about the sum in the next one.
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

    def fits_at_once(self) -> bool:
        """Returns whether all parts are in one block, and the further needs of DualCD fit in the memory for other blocks."""
        running = min(self.threads, self.problem.n_problems)
        needed = running * (20 * self.space.n_features + 64 * len(self.problem))
        return len(self.blocks) == 1 and needed <= (SHARES - 1) * self.blocks.most

    def _small(self) -> bool:
        return bool((self.primal - self.dual <= self.run.tol * self.primal).all())

    def _visit(self, block: int, rows: list[FeatureRows]) -> None:
        state, members = self.state, self.blocks.examples(block)
        others = [other for other in sorted(self.kept) if other != block]
        examples = np.concatenate([members, *(state.kept[other] for other in others)])
        segments = [*rows, *(kept for other in others for kept in self.kept[other])]
        alpha = np.ascontiguousarray(state.alpha[:, examples])
        free = np.ones(alpha.shape, np.uint8)
        seed = int(np.random.default_rng([self.run.seed, state.passes, block, 1]).integers(2**62))
        state.met += _core.improve_part(
            core_rows(segments), self.problem.take(examples).core(), self.bias, self.sweeps, BLOCK_GAP, seed,
            state.w.reshape(-1), state.b, alpha.reshape(-1), len(members), free.reshape(-1), self.threads,
        )  # fmt: skip
        state.alpha[:, examples] = alpha
        self._keep(block, rows, np.flatnonzero(free[:, : len(members)].any(axis=0)))

    def _keep(self, block: int, rows: list[FeatureRows], free: np.ndarray) -> None:
        """Keeps some of the examples of a block that are not held at a bound, as many as fit in the block's share of memory."""
        if len(self.blocks) == 1:
            return
        members = self.blocks.examples(block)
        quota = max(1, int(len(members) * self.blocks.most / self.blocks.bytes.sum()))
        if len(free) > quota:
            random = np.random.default_rng([self.run.seed, self.state.passes, block, 2])
            free = np.sort(random.choice(free, quota, replace=False))
        self.state.kept[block] = members[free]
        self.kept[block] = self.blocks.taken(block, rows, members[free])

    def _measure(self) -> None:
        """Primal and dual values, exactly: one pass over the parts."""
        state = self.state
        self.sum_w, self.sum_b = np.zeros_like(state.w), np.zeros_like(state.b)
        losses, conjugates = np.zeros_like(state.b), np.zeros_like(state.b)
        for block, rows in self.blocks.read(list(range(len(self.blocks)))):
            examples = self.blocks.examples(block)
            values = _core.measure_part(
                core_rows(rows), self.problem.take(examples).core(), self.bias,
                state.w.reshape(-1), state.b, np.ascontiguousarray(state.alpha[:, examples]).reshape(-1),
                self.sum_w.reshape(-1), self.sum_b, self.threads,
            )  # fmt: skip
            del rows
            losses, conjugates = losses + values[0], conjugates + values[1]
        state.measured += 1
        self.primal = losses + half_squares(state.w, state.b, self.column_weights)
        self.dual = conjugates - half_squares(self.sum_w, self.sum_b, self.column_weights)
        self.recorder.add(float(self.primal.sum()), float(self.dual.sum()))

    def _dual(self) -> np.ndarray:
        """The dual values at alpha, from the current w."""
        state, problem = self.state, self.problem
        each = [problem.dual(problem.signs(k) * alpha, 0.0, k) for k, alpha in enumerate(state.alpha)]
        return np.array(each) - half_squares(state.w, state.b, self.column_weights)

    def _save(self) -> None:
        arrays = {name: getattr(self.state, name) for name in ARRAYS}
        arrays |= {f"kept.{block}": examples for block, examples in self.state.kept.items()}
        numbers = {name: getattr(self.state, name) for name in NUMBERS}
        self.space.folder.save(self.space.state_name, numbers | self._identity(), arrays)

    def _resume(self) -> None:
        saved = self.space.folder.load(self.space.state_name)
        if saved is None:
            return
        spec, arrays = saved
        self.space.folder.check(self._identity(), {key: spec[key] for key in self._identity()})
        kept = {int(key.partition(".")[2]): array for key, array in arrays.items() if key.startswith("kept.")}
        values: dict[str, Any] = {name: np.array(arrays[name]) for name in ARRAYS}  # copies, to be written to
        self.state = State(**values, **{name: spec[name] for name in NUMBERS}, kept=kept)
        for block, examples in kept.items():
            self.kept[block] = self.blocks.taken(block, self.blocks.load(block), examples)

    def _identity(self) -> dict[str, Any]:
        problem = self.problem
        return {
            "loss": repr(problem.loss),
            "intercept": problem.intercept,
            "sum of C over examples": float(problem.C.sum()),
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


class Blocks(AbstractContextManager["Blocks"]):
    """Runs of parts of at most `most` bytes together. Inside ``with``, a thread reads ahead."""

    def __init__(self, space: PartsSpace, most: float):
        self.space, self.most = space, most
        self.parts: list[list[int]] = []
        sizes: list[int] = []
        for part in range(len(space.rows.offsets) - 1):
            size = space.rows.store.bytes_of(part)
            if not self.parts or sizes[-1] + size > most:
                self.parts.append([])
                sizes.append(0)
            self.parts[-1].append(part)
            sizes[-1] += size
        self.bytes = np.array(sizes, np.float64)
        self._reader, self._stopped = ThreadPoolExecutor(1), threading.Event()

    def __exit__(self, *raised: object) -> None:
        self._stopped.set()
        self._reader.shutdown()

    def __len__(self) -> int:
        return len(self.parts)

    def examples(self, block: int) -> np.ndarray:
        """The indices of the examples of a block."""
        first, last = self.parts[block][0], self.parts[block][-1] + 1
        return np.arange(self.space.rows.offsets[first], self.space.rows.offsets[last])

    def read(self, order: list[int]) -> Iterator[tuple[int, list[FeatureRows]]]:
        """The rows of each of these blocks in turn, part by part; the next ones are read meanwhile. Delete them after use."""
        ahead = [self._reader.submit(self.load, block) for block in order[:1]]
        for place, block in enumerate(order):
            held = [ahead.pop().result()]  # not by this function while they are in use: only two blocks are in memory
            if place + 1 < len(order):
                ahead.append(self._reader.submit(self.load, order[place + 1]))
            yield block, held.pop()

    def load(self, block: int) -> list[FeatureRows]:
        """The rows of a block, read from disk in order, which is faster than reading them when they are used."""
        each = [self.space.rows.store.load(part) for part in self.parts[block]]
        for entries in (term.entries for rows in each for term in having(rows, MatrixRows).parts):
            mapped = entries.reshape(-1).view(np.uint8)
            for start in range(0, len(mapped), AT_ONCE):
                if self._stopped.is_set():
                    return each
                mapped[start : start + AT_ONCE : PAGE].sum()
        return each

    def taken(self, block: int, rows: list[FeatureRows], examples: np.ndarray) -> list[FeatureRows]:
        """Copies of the rows of some examples of a block, given by their numbers among all."""
        copies = []
        for part, each in zip(self.parts[block], rows, strict=True):
            first, last = self.space.rows.offsets[part : part + 2]
            inside = examples[(first <= examples) & (examples < last)] - first
            if len(inside):
                copies.append(having(each, DivisibleRows).taken(inside))
        return copies
