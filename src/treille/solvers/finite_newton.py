"""Newton's method in the primal: the Python side of core/solve/finite_newton.hpp, and the same on products."""

import time
from collections.abc import Generator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from treille import _core
from treille.io.parameters import effective_n_jobs
from treille.solvers.problem import Problem, SmoothLoss
from treille.solvers.report import Recorder, Report, Solution, reports_of
from treille.solvers.solver import BaseSolver, Run
from treille.solvers.time_shares import TimeShares
from treille.spaces import GramSpace, ProductSpace, RowsSpace

PASSES = 30  # passes over the data if examples are three times the features or more: 11 to 88 were measured
POLL = 0.05  # seconds
WIDTH = 8  # problems at a time: kernels multiply this many columns in one pass
GAIN_FRACTION = 0.1  # conjugate gradients end when a step gains this fraction of the mean gain
GAP_FRACTION = 0.25  # or when the gap after the Newton step would be this fraction of what is asked
STUCK = 5  # Newton steps without progress after which rounding is assumed to be the cause


class FiniteNewton(BaseSolver):
    """Newton's method with conjugate gradients and an exact line search, for losses with a continuous slope.

    Works on rows, with w in the space of the features, and on product and gram, with one coefficient per example. On gram the
    kernel matrix is computed once, and kept.

    Parameters
    ----------
    max_seconds : float or None
        Stop after this time with the solution so far, and warn.

    References
    ----------
    Keerthi, DeCoste: A modified finite Newton method for fast solution of large scale linear SVMs. JMLR 2005.

    Examples
    --------
    >>> import treille
    >>> model = treille.SVC(treille.kernels.NGram(1), loss="squared_hinge", solver=treille.solvers.FiniteNewton())
    >>> model.fit(["ab", "cd"], [0, 1]).report_.status
    'converged'
    """

    spaces = (RowsSpace, ProductSpace, GramSpace)
    losses = (SmoothLoss,)

    def recommended(self, space: RowsSpace | ProductSpace | GramSpace, problem: Problem) -> bool:
        """Returns whether this solver takes fewer passes over the data than coordinate descent in the dual.

        The dual has the matrix Q + 1/(2C). With more active examples than features, Q is singular: a pass shrinks the gap by
        about exp(-1 / (1/2 + C k(x, x))), and a gap of 1e-3 takes log(1000) = 7 such factors. Random classes in F dimensions
        stop being separable at 2F examples (Cover 1965), and then the active examples outnumber the features. Below that,
        DualCD takes few passes, and conjugate gradients take many.
        """
        if not isinstance(space, RowsSpace) or len(space) < 3 * space.n_features:
            return False
        squares = np.mean([rows.diag() for rows in space.rows.problems], axis=0)
        product = float(np.mean(problem.C * (squares + float(problem.intercept))))
        return 7 * (0.5 + product) > PASSES

    def _solve(self, problem: Problem, space: RowsSpace | ProductSpace | GramSpace, run: Run) -> Solution:
        if isinstance(space, RowsSpace):
            return _solve_on_rows(problem, space, run)
        return _solve_on_products(problem, space, run)


def _solve_on_rows(problem: Problem, space: RowsSpace, run: Run) -> Solution:
    n_problems, n = problem.n_problems, len(problem)
    represented = space.represented("auto", n_problems)
    answers = _core.finite_newton(
        rows=represented.core,
        targets=problem.core(),
        start=np.empty(0) if run.start is None else run.start.ravel(),
        bias=float(problem.intercept),
        tol=run.tol,
        max_epochs=run.max_epochs,
        threads=effective_n_jobs(run.n_jobs),
        watch=run.watch,
    )
    return Solution(
        answers.bias,
        answers.alpha.reshape(n_problems, n),
        replace(Report.combined(reports_of(answers, run.seed)), representation=str(represented)),
        weights=represented.read(answers.weights.reshape(-1, n_problems)),
    )


def _solve_on_products(problem: Problem, space: ProductSpace | GramSpace, run: Run) -> Solution:
    """An epoch is a product. Up to eight problems advance together: a product has a column for each of them."""
    space = space.stored() if isinstance(space, GramSpace) else space
    each = [Newton(problem, k, run) for k in range(problem.n_problems)]
    steps = [newton.steps() for newton in each]
    wanted = {k: next(own) for k, own in enumerate(steps)}  # vectors to be multiplied; every method begins with one
    reported, shares = time.perf_counter(), TimeShares(run.deadline, len(each), WIDTH)
    while wanted:
        active = list(wanted)[:WIDTH]
        beta = np.stack([wanted.pop(k) for k in active], axis=1)
        products = space.product(beta) + float(problem.intercept) * beta.sum(axis=0)
        for k, values in zip(active, products.T, strict=True):
            each[k].epochs += 1
            each[k].time_left = not shares.over(k)
            with suppress(StopIteration):
                wanted[k] = steps[k].send(np.ascontiguousarray(values))
        if time.perf_counter() - reported > POLL:
            reported = time.perf_counter()
            gap, epochs = max(each[k].relative_gap for k in active), max(each[k].epochs for k in active)
            run.poll(len(each) - len(wanted), epochs, gap)
    coefficients = np.stack([newton.beta for newton in each], axis=1)
    return Solution(
        float(problem.intercept) * coefficients.sum(axis=0),
        np.stack([newton.alpha for newton in each]),
        Report.combined([newton.report() for newton in each]),
        coefficients=coefficients,
    )


class Newton:
    """Newton's method for one problem with w = sum_i beta_i x_i, where K @ beta is all that is known of the x_i.

    core/solve/finite_newton.hpp has the method for rows: it keeps w, and passes over the active examples alone. Kernels without
    rows multiply whole vectors: here vectors have coefficients of examples, and `steps` yields each one to be multiplied.

    With f = K beta, a_i = -s_i loss_i'(f_i) and s_i = y_i for classes, otherwise 1, all vectors of the method have coefficients:

        gradient   g = w - sum_i a_i s_i x_i  has  beta - a s          Hessian   H p  has  p + c K p,  c_i = loss_i''(f_i)

    and the inner product of two vectors is u.Kv; the gap is 1/2 |g|^2. As K p is kept beside p, a step of conjugate gradients
    takes one product, K (c K p), and so does a Newton step, K (a s). The latter also gives the decision values of
    w(a) = sum_i a_i s_i x_i. If this w has a small gap, too, it is the solution: only examples with a_i != 0 are part of it.
    """

    def __init__(self, problem: Problem, k: int, run: Run):
        self.run, self.start = run, None if run.start is None else run.start[k]
        assert isinstance(problem.loss, SmoothLoss)
        self.y, self.signs, self.C, self.loss = problem.y(k), problem.signs(k), problem.C, problem.loss
        self.k, self.targets = k, problem.core()
        self.slopes = self.beta = np.zeros(len(problem))  # minus the slopes of the losses: the coefficients of w(a)
        self.primal, self.gap = np.inf, np.inf
        self.epochs, self.status, self.time_left = 0, "", True
        self.least_primal, self.least_gap, self.idle = np.inf, np.inf, 0
        self.recorder = Recorder()

    def report(self) -> Report:
        """The values of the steps so far."""
        return self.recorder.report(self.primal, self.primal - self.gap, self.epochs, self.status, self.run.seed)

    @property
    def relative_gap(self) -> float:
        return self.gap / self.primal if 0 < self.primal < np.inf else self.gap

    def steps(self) -> Generator[np.ndarray, np.ndarray, None]:
        """Yields each vector to be multiplied by K, and expects the product."""
        f, exact = np.zeros_like(self.beta), True
        if self.start is not None:
            self.beta = self.loss.feasible(self.y, self.signs * self.start, self.C)
            f = yield self.beta
        while True:
            slopes = self.slopes = self.loss.subgradient(self.y, f, self.C)
            c = self.loss.curvature(self.y, f, self.C)
            values = yield slopes
            gamma, image = self.beta - slopes, f - values
            self.primal, self.gap = self._primal(self.beta, f), max(0.0, 0.5 * float(gamma @ image))
            self._judge()
            if self.status and not exact:  # `f` has gathered rounding
                f, exact = (yield self.beta), True
                continue
            if self.status:
                break
            step, values = yield from self._direction(-gamma, -image, c)
            slope, bend, length = float(gamma @ values), float(step @ values), 1.0
            if slope < 0:
                length = _core.line_minimum(self.targets, self.k, slope, bend, f, values)
            self.beta, f, exact = self.beta + length * step, f + length * values, False
        primal, dual = self._primal(slopes, values), self.primal - self.gap
        if self.status == "converged" and primal - dual <= self.run.tol * primal:
            self.beta, self.primal, self.gap = slopes, primal, max(0.0, primal - dual)

    @property
    def alpha(self) -> np.ndarray:
        return self.signs * self.slopes

    def _primal(self, beta: np.ndarray, f: np.ndarray) -> float:
        return 0.5 * float(beta @ f) + float(self.C @ self.loss.value(self.y, f))

    def _direction(
        self, r: np.ndarray, Kr: np.ndarray, c: np.ndarray
    ) -> Generator[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
        """Solves H s = r by conjugate gradients, up to a small residual or until steps gain little; returns s and K s."""
        s, Ks, p, Kp = np.zeros_like(r), np.zeros_like(r), r, Kr
        rr, gained, count = 2 * self.gap, 0.0, 0
        while rr > 0 and self._going():
            v = c * Kp
            Kv = yield v
            length = rr / (float(p @ Kp) + float(Kp @ v))
            s, Ks = s + length * p, Ks + length * Kp
            r, Kr = r - length * (p + v), Kr - length * (Kp + Kv)
            gain, before, rr = 0.5 * length * rr, rr, float(r @ Kr)
            gained, count = gained + gain, count + 1
            if 0.5 * rr <= GAP_FRACTION * self.run.tol * self.primal or count * gain <= GAIN_FRACTION * gained:
                break
            p, Kp = r + rr / before * p, Kr + rr / before * Kp
        return s, Ks

    def _judge(self) -> None:
        self.recorder.add(self.primal, self.primal - self.gap)
        better = self.primal < self.least_primal * (1 - 1e-14) or self.gap < 0.9 * self.least_gap
        self.least_primal, self.least_gap = min(self.least_primal, self.primal), min(self.least_gap, self.gap)
        self.idle = 0 if better else self.idle + 1
        self.status = ""
        if self.gap <= self.run.tol * self.primal:
            self.status = "converged"
        elif not self._going():
            self.status = "max_epochs" if self.time_left else "max_seconds"
        elif self.idle > STUCK:
            self.status = "rounding"

    def _going(self) -> bool:
        return self.time_left and self.epochs < self.run.max_epochs
