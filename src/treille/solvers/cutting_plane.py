"""Cutting planes on products with the kernel matrix; the two small problems of a round are in core/solve/planes.hpp."""

import time

import numpy as np

from treille import _core
from treille.solvers.problem import Hinge, Problem, QuadraticLoss, SmoothLoss, SquaredHinge
from treille.solvers.report import Recorder, Report, Solution
from treille.solvers.solver import BaseSolver, Run
from treille.solvers.time_shares import TimeShares
from treille.spaces import ProductSpace, RowsSpace

CUT_AHEAD = 0.1  # OCAS's mu: the next plane touches this fraction of the way from the best w seen to the planes' best w
POLL = 0.05  # seconds
WIDTH = 8  # problems at a time: kernels multiply this many columns in one pass, and the planes of each take memory
PRECISION = 0.01  # of the mixture of planes, relative to the current gap
PATIENCE = 20  # rounds for which a plane without weight is kept
STALLED = 50  # rounds without a smaller gap after which rounding is assumed to be the cause


class Bundle:
    """Planes below the losses of one problem, their best mixture, and the best values so far.

    Plane t says that the losses at w are at least b_t - w.v_t; plane 0 is 0. The best w for the planes is sum_t a_t v_t for the
    mixture a, a >= 0 and sum(a) = 1, that maximises b.a - 1/2 a'Ga, where G_st = v_s.v_t. Subclasses know what the v_t are.
    """

    def __init__(self) -> None:
        self.gram, self.offsets, self.mixture = np.zeros((1, 1)), np.zeros(1), np.ones(1)
        self.idle = np.zeros(1, int)  # rounds in which a plane has had no weight
        self.primal, self.dual, self.rounds, self.status = np.inf, 0.0, 0, ""
        self.recorder = Recorder()

    @property
    def relative_gap(self) -> float:
        """The gap between the best w and the best dual point so far; 1 before a primal value is known."""
        return (self.primal - self.dual) / self.primal if 0 < self.primal < np.inf else float(self.primal > 0)

    def add_plane(self, products: np.ndarray, square: float, offset: float) -> None:
        """Adds a plane, given its products with the others, its square and its offset."""
        self.gram = np.block([[self.gram, products[:, None]], [products, square]])
        self.offsets, self.mixture = np.append(self.offsets, offset), np.append(self.mixture, 0.0)
        self.idle = np.append(self.idle, 0)

    def mix_planes(self, precision: float) -> None:
        """Finds the best mixture, up to this part of its value."""
        _core.mix_planes(np.ascontiguousarray(self.gram).ravel(), self.offsets, self.mixture, precision)
        self.idle = np.where(self.mixture > 0, 0, self.idle + 1)
        self.idle[0] = 0

    def keep_planes(self, kept: np.ndarray) -> None:
        """Drops all planes but these."""
        self.gram = self.gram[np.ix_(kept, kept)]
        self.offsets, self.mixture, self.idle = self.offsets[kept], self.mixture[kept], self.idle[kept]

    def small_gap(self, tol: float) -> bool:
        """Returns whether the gap is at most `tol` of the primal value."""
        return self.primal - self.dual <= tol * self.primal

    def report(self, seed: int = 0) -> Report:
        """The values of the rounds so far."""
        return self.recorder.report(self.primal, self.dual, self.rounds, self.status, seed)


class CuttingPlane(BaseSolver):
    """Planes below the losses, one more each round, with one product K @ beta per plane. Works on product and rows.

    For the hinge losses: in regression with a large C, a thousand planes may be too few where SMO takes 90 epochs.

    Parameters
    ----------
    max_seconds : float or None
        Stop after this time with the solution so far, and warn.

    References
    ----------
    Joachims: Training linear SVMs in linear time. KDD 2006.
    Franc, Sonnenburg: Optimized cutting plane algorithm for large-scale risk minimization. JMLR 2009.

    Examples
    --------
    >>> import treille
    >>> model = treille.SVC(treille.kernels.AllSubstrings(0.5), solver=treille.solvers.CuttingPlane(max_seconds=10))
    >>> model.fit(["ab", "cd"], [0, 1]).report_.status
    'converged'
    """

    spaces = (ProductSpace, RowsSpace)
    losses = (Hinge, SquaredHinge)

    def _solve(self, problem: Problem, space: ProductSpace | RowsSpace, run: Run) -> Solution:
        """An epoch is a round. Up to eight problems advance together: a product has a column for each of them."""
        reported, starts = time.perf_counter(), run.start
        shares = TimeShares(run.deadline, problem.n_problems, WIDTH)
        bundles = [ExampleBundle(problem, k, None if starts is None else starts[k]) for k in range(problem.n_problems)]
        while unfinished := [bundle for bundle in bundles if not bundle.status]:
            active = unfinished[:WIDTH]
            beta = np.stack([bundle.sign * bundle.C * bundle.share for bundle in active], axis=1)
            products = space.product(beta) + float(problem.intercept) * beta.sum(axis=0)
            for bundle, coefficients, values in zip(active, beta.T, products.T, strict=True):
                bundle.add(np.ascontiguousarray(coefficients), np.ascontiguousarray(values), run.tol, run.max_epochs)
                if shares.over(bundle.k) and not bundle.status:
                    bundle.end("max_seconds")
            if time.perf_counter() - reported > POLL:
                reported, gap = time.perf_counter(), max(bundle.relative_gap for bundle in active)
                run.poll(len(bundles) - len(unfinished), max(bundle.rounds for bundle in active), gap)
        coefficients = np.stack([bundle.best for bundle in bundles], axis=1)
        return Solution(
            float(problem.intercept) * coefficients.sum(axis=0),
            np.stack([bundle.alpha for bundle in bundles]),
            Report.combined([bundle.report() for bundle in bundles]),
            coefficients=coefficients,
        )


class ExampleBundle(Bundle):
    """The planes of one problem, and the best w so far, as coefficients and decision values of examples.

        primal   min_w  1/2 |w|^2 + sum_i loss_i(w.x_i),     s_i = y_i for classes, otherwise 1

    Plane t lies below the losses and touches them at one w. It is defined by dual variables c_t, one per example, and valid for
    any values in the domain of the dual, such as 0 <= c_ti <= C_i for the hinge:

        sum_i loss_i(w.x_i)  >=  b_t - w.v_t,     v_t = sum_i c_ti s_i x_i,     b_t = sum_i -loss_i*(-c_ti s_i)

    alpha = sum_t a_t c_t for the mixture a is feasible for the dual of the whole problem, which is the proof. One product per
    plane, K (s c_t), provides its row of G and the decision values of all mixtures. The rest of a round is O(n t).
    """

    def __init__(self, problem: Problem, k: int, start: np.ndarray | None = None):
        super().__init__()
        assert isinstance(problem.loss, QuadraticLoss)
        n, self.y, self.C, self.loss = len(problem), problem.y(k), problem.C, problem.loss
        self.k, self.targets, self.sign = k, problem.core(), problem.signs(k)
        self.alpha, self.best, self.best_outputs = np.zeros(n), np.zeros(n), np.zeros(n)
        self.primal = self._primal(self.best, self.best_outputs)
        self.recorder.add(self.primal, self.dual)
        # The best w and its primal value when the gap was first small.
        self.reached: tuple[np.ndarray, float] | None = None
        self.shares, self.outputs = [np.zeros(n, np.int8)], [np.zeros(n)]
        self.least, self.since = np.inf, 0  # the gap that counted as progress, and rounds since
        # The weights of the losses at the w to cut at: c_i = C_i share_i.
        self.share = self._cut(self.best_outputs) if start is None else self._share(start)

    def add(self, beta: np.ndarray, outputs: np.ndarray, tol: float, max_epochs: int) -> None:
        """A round: adds the plane, recomputes the mixture, searches the line to the new w, and cuts near the result."""
        self.rounds += 1
        # Not beta @ other: threads of the linear algebra library would cost more than so short a sum.
        products = np.array([np.einsum("i,i", beta, other) for other in self.outputs])
        self.add_plane(products, float(beta @ outputs), self._offset(self.C * self.share))
        self.shares.append(self.share)
        self.outputs.append(outputs)
        self.mix_planes(PRECISION * (self.primal - self.dual))
        beta, mixed = self._improve()
        self.share = self._cut((1 - CUT_AHEAD) * self.best_outputs + CUT_AHEAD * mixed)
        kept = np.flatnonzero(self.idle <= PATIENCE)  # planes that have had weight in the last rounds
        if len(kept) < len(self.idle):
            self.keep_planes(kept)
            self.shares, self.outputs = [self.shares[t] for t in kept], [self.outputs[t] for t in kept]
        if self.small_gap(tol) and self.reached is None:
            # The best w is a mixture of all earlier ones, in which every example has a coefficient. The search starts again from
            # the planes' w, in which only examples at the margin have one, and is soon as good.
            self.reached, self.least = (self.best, self.primal), np.inf
            self.best, self.best_outputs, self.primal = beta, mixed, self._primal(beta, mixed)
        self._judge(tol, max_epochs)

    def end(self, status: str) -> None:
        """Ends the rounds. A gap that was reached once is kept."""
        self.status, self.shares, self.outputs = status, [], []
        if status != "converged" and self.reached is not None:
            (self.best, self.primal), self.status = self.reached, "converged"

    def _improve(self) -> tuple[np.ndarray, np.ndarray]:
        """Updates the best dual point and the best w from the current mixture; returns its coefficients and decision values."""
        alpha, outputs = np.zeros_like(self.C), np.zeros_like(self.C)
        for t in np.flatnonzero(self.mixture):
            alpha += self.mixture[t] * self.shares[t]
            outputs += self.mixture[t] * self.outputs[t]
        alpha *= self.C
        beta = self.sign * alpha
        dual = self._offset(alpha) - 0.5 * float(beta @ outputs)
        if dual > self.dual:
            self.alpha, self.dual = alpha, dual
        ahead, direction = beta - self.best, outputs - self.best_outputs
        slope, curvature = float(self.best @ direction), float(ahead @ direction)
        step = _core.best_step(self.targets, self.k, slope, curvature, self.best_outputs, direction)
        best, best_outputs = self.best + step * ahead, self.best_outputs + step * direction
        primal = self._primal(best, best_outputs)
        if primal < self.primal:
            self.best, self.best_outputs, self.primal = best, best_outputs, primal
        return beta, outputs

    def _judge(self, tol: float, max_epochs: int) -> None:
        self.recorder.add(self.primal, self.dual)
        gap = self.primal - self.dual
        if gap < 0.99 * self.least:
            self.least, self.since = gap, self.rounds
        if self.small_gap(tol):
            self.end("converged")
        elif self.rounds >= max_epochs:
            self.end("max_epochs")
        elif self.rounds - self.since > STALLED:
            self.end("rounding")

    def _cut(self, outputs: np.ndarray) -> np.ndarray:
        """The slopes of the losses at some w, one byte each if the loss is piecewise linear."""
        share = self.sign * self.loss.subgradient(self.y, outputs, np.ones_like(self.C))
        return share if isinstance(self.loss, SmoothLoss) else share.astype(np.int8)

    def _share(self, alpha: np.ndarray) -> np.ndarray:
        feasible = self.sign * self.loss.feasible(self.y, self.sign * alpha, self.C)
        return np.divide(feasible, self.C, out=np.zeros_like(self.C), where=self.C > 0)

    def _offset(self, alpha: np.ndarray) -> float:
        return float(self.loss.conjugate(self.y, self.sign * alpha, self.C).sum())

    def _primal(self, beta: np.ndarray, outputs: np.ndarray) -> float:
        return 0.5 * float(beta @ outputs) + float(self.C @ self.loss.value(self.y, outputs))
