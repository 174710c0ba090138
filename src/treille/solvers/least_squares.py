"""Squared errors (ridge regression): four solvers of one problem, with a proof that costs nothing, and leave-one-out predictions.

With s_i = sqrt(2 C_i), and centred by the weights C where the intercept is free, let X and y stand for rows s_i (x_i - mean) and
targets s_i (y_i - mean); no sparse row is made dense. The problem and its dual are

    primal   min_w  1/2 |y - X w|^2 + 1/2 |w|^2          dual   max_u  u.y - 1/2 |u|^2 - 1/2 |X'u|^2

and the gap is half a squared residual: |y - (X X' + 1) u|^2 at w = X'u, and |X'(y - X w) - w|^2 at u = y - X w.
Since the primal is quadratic, the gap also bounds the sum of squared distances of the fitted values from the best ones.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, blas, cho_factor, cho_solve

from treille.features import FeatureRows, StoredRows
from treille.features.abilities import having
from treille.io.errors import InputError
from treille.io.parameters import effective_n_jobs
from treille.kernels.base import changeable, check_memory
from treille.solvers.problem import Problem, SquaredError
from treille.solvers.report import Report, Solution
from treille.solvers.solver import BaseSolver, ClusterSolver, Run
from treille.spaces import GramSpace, PartsSpace, ProductSpace, RowsSpace
from treille.spaces.parts import ClusterSpace

REFINEMENTS = 5
FEW_FEATURES = 2000
DENSE = 0.1  # share of non-zeros above which products of dense blocks are faster
BLOCK = 1 << 22  # numbers per dense block


class LeastSquaresSolver(BaseSolver):
    """Base class of the least-squares solvers."""

    losses = (SquaredError,)
    intercepts = (False, True, "free")


class NormalEquations(LeastSquaresSolver):
    """Solves (X'X + 1) w = X'y by Cholesky, for few features: O(entries) per product, d^3 for the factor. Works on rows.

    >>> import treille
    >>> model = treille.Ridge(treille.kernels.NGram(1), solver=treille.solvers.NormalEquations())
    >>> model.fit(["a", "aa", "b"], [1.0, 2.0, 0.0]).report_.status
    'converged'
    """

    spaces = (RowsSpace,)

    def recommended(self, space: RowsSpace, problem: Problem) -> bool:
        return space.n_features <= FEW_FEATURES and space.n_features < len(space)

    def _solve(self, problem: Problem, space: RowsSpace, run: Run) -> Solution:
        scaled, threads, constant = ScaledTargets(problem), effective_n_jobs(run.n_jobs), problem.intercept is True

        def matvec(w: np.ndarray) -> np.ndarray:
            return space.matvec(w[:-1]) + w[-1] if constant else space.matvec(w)

        def rmatvec(beta: np.ndarray) -> np.ndarray:
            sums = space.rmatvec(beta)
            return np.vstack([sums, beta.sum(axis=0)]) if constant else sums

        factor = _factor(normal_matrix(space.rows, scaled, constant, threads), problem)
        residual, gradient = scaled.target, rmatvec(scaled.spread(scaled.target))
        w = np.zeros_like(gradient)
        for step in range(1, REFINEMENTS + 1):
            w += cho_solve(factor, gradient)
            residual = scaled.target - scaled.centred(matvec(w))
            gradient = rmatvec(scaled.spread(residual)) - w
            primal, gap = _half_squares(residual) + _half_squares(w), _half_squares(gradient)
            if (gap <= run.tol * primal).all() or not run.poll(0, step, float((gap / primal).max())):
                break
        intercept = w[-1] if constant else scaled.intercept(matvec(w))
        report = report_of(primal, gap, step, run.tol)
        return Solution(intercept, scaled.spread(residual).T, report, weights=w[:-1] if constant else w)


class ConjugateGradient(LeastSquaresSolver):
    """Solves (X X' + 1) u = y by conjugate gradients, with one product K @ beta per epoch. Works on rows and products.

    >>> import treille
    >>> model = treille.Ridge(treille.kernels.AllSubstrings(), solver=treille.solvers.ConjugateGradient())
    >>> model.fit(["a", "aa", "b"], [1.0, 2.0, 0.0]).report_.status
    'converged'
    """

    spaces = (RowsSpace, ProductSpace, PartsSpace)

    def _solve(self, problem: Problem, space: RowsSpace | ProductSpace, run: Run) -> Solution:
        scaled, constant = ScaledTargets(problem), float(problem.intercept is True)
        u, epochs, going = np.zeros_like(scaled.target), 0, True

        def product(beta: np.ndarray) -> np.ndarray:
            return space.product(beta) + constant * beta.sum(axis=0)

        while True:
            beta = scaled.spread(u)
            values = product(beta) if epochs else np.zeros_like(u)
            # Computed anew: the updates below accumulate rounding.
            residual = scaled.target - scaled.centred(values) - u
            direction, gap, primal = residual, _half_squares(residual), scaled.primal(u, residual)
            done = gap <= run.tol * primal
            if done.all() or epochs >= run.max_epochs or not going:
                break
            while epochs < run.max_epochs and going and not done.all():
                image = scaled.centred(product(scaled.spread(direction))) + direction
                epochs += 1
                curvature = (direction * image).sum(axis=0)
                step = np.divide(2 * gap, curvature, out=np.zeros_like(gap), where=~done & (curvature > 0))
                u = u + step * direction
                residual = residual - step * image
                before, gap = gap, _half_squares(residual)
                direction = residual + np.divide(gap, before, out=np.zeros_like(gap), where=before > 0) * direction
                primal = scaled.primal(u, residual)
                done = gap <= run.tol * primal
                going = run.poll(0, epochs, float((gap[~done] / primal[~done]).max(initial=0.0)))
        intercept = constant * beta.sum(axis=0) + scaled.intercept(values)
        report = report_of(primal, gap, epochs, run.tol, "max_epochs" if going else "max_seconds")
        return Solution(intercept, beta.T, report, coefficients=beta)


class Cholesky(LeastSquaresSolver):
    """Solves (X X' + 1) u = y by Cholesky on the kernel matrix. O(n^3). Works on gram.

    >>> import treille
    >>> model = treille.Ridge(treille.kernels.NGram(1), solver=treille.solvers.Cholesky())
    >>> model.fit(["a", "aa", "b"], [1.0, 2.0, 0.0]).report_.status
    'converged'
    """

    spaces = (GramSpace,)

    def _solve(self, problem: Problem, space: GramSpace, run: Run) -> Solution:
        scaled, constant = ScaledTargets(problem), float(problem.intercept is True)
        check_memory(len(space), len(space))
        K = changeable(space.matrix())
        K += constant
        row = scaled.mean(K)
        K -= row
        K -= row[:, None] - scaled.mean(row)
        K *= scaled.root
        K *= scaled.root.T
        diagonal = K.diagonal()[:, None] + 1.0
        K[np.diag_indices(len(K))] = diagonal[:, 0]
        factor = _factor(K, problem)
        u, residual = np.zeros_like(scaled.target), scaled.target
        for step in range(1, REFINEMENTS + 1):
            u += cho_solve(factor, residual)
            # The factor fills one triangle with the diagonal; the other still holds the matrix.
            image = blas.dsymm(1.0, factor[0], u, lower=0) + (diagonal - factor[0].diagonal()[:, None]) * u
            residual = scaled.target - image
            primal, gap = scaled.primal(u, residual), _half_squares(residual)
            if (gap <= run.tol * primal).all() or not run.poll(0, step, float((gap / primal).max())):
                break
        beta = scaled.spread(u)
        intercept = (
            constant * beta.sum(axis=0) + scaled.mean(scaled.y) - (row - constant) @ beta * bool(scaled.share.any())
        )
        return Solution(intercept, beta.T, report_of(primal, gap, step, run.tol), coefficients=beta)


class ScaledTargets:
    """The targets, and the map from decision values to values scaled by s_i and, with a free intercept, centred."""

    def __init__(self, problem: Problem):
        self.y = problem.targets.reshape(len(problem), -1)
        self.C = problem.C
        self.root = np.sqrt(2 * problem.C)[:, None]
        self.share = problem.C / problem.C.sum() if problem.intercept == "free" else np.zeros(len(problem))
        self.target = self.centred(self.y)

    def mean(self, values: np.ndarray) -> np.ndarray:
        """The mean weighted by C; 0 unless the intercept is free."""
        return self.share @ values

    def centred(self, values: np.ndarray) -> np.ndarray:
        """s_i (v_i - mean)."""
        return self.root * (values - self.mean(values))

    def spread(self, u: np.ndarray) -> np.ndarray:
        """The transpose of `centred`: dual variables become coefficients of the examples as they were given."""
        beta = self.root * u
        return beta - np.outer(self.share, beta.sum(axis=0))

    def intercept(self, values: np.ndarray) -> np.ndarray:
        """The free intercept for these decision values; 0 unless it is free."""
        return self.mean(self.y) - self.mean(values)

    def primal(self, u: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """The primal value at w = X'u, where X w is target - residual - u."""
        error = residual + u
        return _half_squares(error) + 0.5 * np.maximum(0, (u * (self.target - error)).sum(axis=0))


def normal_matrix(rows: Any, scaled: ScaledTargets, constant: bool, threads: int) -> np.ndarray:
    """X'X + 1, with one more column of ones in X where `constant`; dense blocks where most entries are not zero."""
    X, d = having(rows, StoredRows).to_csr(threads), rows.n_features
    weights = scaled.root[:, 0] ** 2
    A = np.zeros((d + constant, d + constant))
    if X.nnz < DENSE * X.shape[0] * d:
        A[:d, :d] = (X.T @ X.multiply(weights[:, None]).tocsr()).toarray()
    else:
        step = max(1, BLOCK // max(1, d))
        for start in range(0, len(rows), step):
            block = scaled.root[start : start + step] * X[start : start + step].toarray()
            A[:d, :d] += block.T @ block
    if constant:
        A[:d, d] = A[d, :d] = X.T @ weights
        A[d, d] = weights.sum()
    else:
        mean = scaled.mean(X)
        A -= weights.sum() * np.outer(mean, mean)
    A[np.diag_indices(len(A))] += 1.0
    return A


def _factor(A: np.ndarray, problem: Problem) -> tuple[np.ndarray, bool]:
    try:
        return cho_factor(A.T, lower=True, overwrite_a=True, check_finite=False)  # symmetric: A.T avoids a copy
    except LinAlgError:
        raise InputError(
            f"C goes up to {problem.C.max():g}, too large for this kernel: its matrix is singular to working precision. Use a "
            "smaller C (in Ridge, a larger alpha), or a normalized kernel"
        ) from None


def _half_squares(columns: np.ndarray) -> np.ndarray:
    return 0.5 * np.einsum("ij,ij->j", columns, columns)


def report_of(primal: np.ndarray, gap: np.ndarray, epochs: int, tol: float, ended: str = "max_epochs") -> Report:
    """The report of all problems, from the value and the gap of each."""
    each = zip(primal, gap, strict=True)
    return Report.combined(
        [Report(float(p), float(p - g), epochs, 0.0, "converged" if g <= tol * p else ended, seed=0) for p, g in each]
    )


class ClusterGradients(ClusterSolver, LeastSquaresSolver):
    """Solves (X'X + 1) w = X'y by conjugate gradients, with one round over the parts per step. Works on clusters.

    A round sends a direction d and returns X'X d: each part adds its sum, and the mean of its outputs.

    >>> import treille
    >>> treille.solvers.ClusterGradients().spaces[0].name
    'cluster'
    """

    def _solve(self, problem: Problem, space: ClusterSpace, run: Run) -> Solution:
        free, size = problem.intercept == "free", space.n_features + (problem.intercept is True)
        first = _sums(space, None)
        weight = first[-2, -1]  # sum_i C_i
        means, mean = first[:size, -1] / weight, first[-2, :-1] / weight  # of the columns, and of the targets
        right, square = 2 * first[:size, :-1], 2 * first[-1, :-1]
        if free:
            right, square = right - 2 * weight * np.outer(means, mean), square - 2 * weight * mean**2
        w, residual, direction, rounds, status = np.zeros_like(right), right, right, 1, "max_epochs"
        while True:
            gap = 0.5 * (residual**2).sum(axis=0)
            primal = 0.5 * (square - (right * w).sum(axis=0) - (residual * w).sum(axis=0))
            done = gap <= run.tol * primal
            if done.all() or rounds >= run.max_epochs:
                break
            if not run.poll(0, rounds, float((gap[~done] / primal[~done]).max())):
                status = "max_seconds"
                break
            found = _sums(space, direction)
            rounds += 1
            image = 2 * found[:size] + direction
            if free:
                image -= 2 * np.outer(means, found[-2])
            curvature = (direction * image).sum(axis=0)
            step = np.divide(2 * gap, curvature, out=np.zeros_like(gap), where=~done & (curvature > 0))
            w, residual = w + step * direction, residual - step * image
            after = 0.5 * (residual**2).sum(axis=0)
            direction = residual + np.divide(after, gap, out=np.zeros_like(gap), where=gap > 0) * direction
        weights, constant = w[: space.n_features], problem.intercept is True
        intercept = w[-1] if constant else mean - means @ w if free else np.zeros_like(mean)
        report = report_of(primal, gap, rounds, run.tol, status)
        report = replace(report, rounds=rounds, bytes_sent=rounds * 2 * w.nbytes * len(space.futures))
        return Solution(intercept, np.zeros((len(mean), 0)), report, weights=np.ascontiguousarray(weights))


def _sums(space: ClusterSpace, direction: np.ndarray | None) -> np.ndarray:
    """Sums over all examples, for the outputs f of a direction; None: for the targets, and in the last column for f_i = 1.

    The rows are sum_i C_i f_i x_i, where the last one, sum_i C_i f_i, belongs to the constant feature, and sum_i C_i f_i^2.
    """
    cluster, n = space.cluster, len(space.futures)
    futures = cluster.submit_all(_of_part, space.futures, space.problems, [cluster.keep(direction)] * n)
    return cluster.total(futures)


def _of_part(rows: FeatureRows, problem: Problem, direction: np.ndarray | None) -> np.ndarray:
    if direction is None:
        f = np.column_stack([problem.targets, np.ones(len(problem))])
    else:
        f = rows.matvec(direction[: rows.n_features]) + direction[rows.n_features :].sum(axis=0)
    weighted = problem.C[:, None] * f
    return np.vstack([rows.rmatvec(weighted), weighted.sum(axis=0), (weighted * f).sum(axis=0)])


def leave_one_out(
    space: Any,
    y: np.ndarray,
    weights: np.ndarray,
    alphas: Sequence[float],
    intercept: bool | str,
    n_jobs: int | None = None,
) -> np.ndarray:
    """The prediction for each example by the fit on all others: by alpha, example and target.

    With sample weights s, D = diag(sqrt(s)) and t = D y, and centred by s where the intercept is free, the fit minimises
    |t - D X w|^2 + alpha |w|^2. Its residuals are r = alpha (M + alpha)^-1 t with M = D X X' D, and its leverages

        1 - h_i = alpha [(M + alpha)^-1]_ii  (minus s_i / sum(s) with a free intercept).

    The residual of example i in the fit without it is r_i / (1 - h_i): exact, since the fit is linear in y. All alphas share one
    eigen-decomposition: O(m^3) once and O(n m) per alpha, m the smaller of the numbers of examples and of features.
    As in `Ridge`, the regularised intercept (True) is learned relative to the mean of the other examples' targets.

    >>> from treille.kernels import Linear
    >>> space = RowsSpace.build(Linear(), Linear().batch([[1.0], [2.0], [3.0]]))
    >>> leave_one_out(space, np.array([[1.0], [2.0], [4.0]]), np.ones(3), [1e-9], "free").round(3).ravel().tolist()
    [0.0, 2.5, 3.0]
    """
    some = np.flatnonzero(weights > 0)
    if len(some) < 2:
        raise InputError(f"leave-one-out needs at least two examples with weight, found n_samples = {len(some)}")
    s, own, constant = weights[some], y[some], intercept is True
    scaled = ScaledTargets(Problem(SquaredError(), own, 0.5 * s, intercept))
    basis, values = _spectrum(space, some, scaled, constant, n_jobs)
    # For a regularised intercept the constant 1 is a target, too: the mean of the others is subtracted after the fact.
    target = np.hstack([scaled.target, scaled.root]) if constant else scaled.target
    found = np.empty((len(alphas), *y.shape))
    for a, alpha in enumerate(alphas):
        residual, rest = _residuals(basis, values, target, alpha)
        left_out = (target - residual / (rest - scaled.share)[:, None]) / scaled.root
        if len(some) < len(y):  # examples without weight: the fit on all, which does not use them
            found[a] = _fitted(space, some, scaled.spread(residual / alpha), scaled, constant)
        if constant:
            others = (s @ own - s[:, None] * own) / (s.sum() - s[:, None])
            found[a, some] = others + left_out[:, :-1] - others * left_out[:, -1:]
        else:
            found[a, some] = left_out + scaled.mean(own)
    return found


def _residuals(
    basis: np.ndarray, values: np.ndarray, target: np.ndarray, alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Returns r, and 1 - h without the part of a free intercept. The orthonormal columns of `basis` are eigenvectors of M."""
    if basis.shape[0] == basis.shape[1]:  # complete: no difference of nearly equal numbers
        kept = alpha / (values + alpha)
        return basis @ (kept[:, None] * (basis.T @ target)), (basis**2) @ kept
    shrunk = values / (values + alpha)
    return target - basis @ (shrunk[:, None] * (basis.T @ target)), 1 - (basis**2) @ shrunk


def _spectrum(
    space: Any, some: np.ndarray, scaled: ScaledTargets, constant: bool, n_jobs: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvectors and eigenvalues of M = D X X' D, from M or from the smaller matrix X' D D X."""
    threads, n = effective_n_jobs(n_jobs), len(some)
    if isinstance(space, RowsSpace) and space.n_features + constant < n:
        check_memory(n, space.n_features + constant)
        X = having(space.rows, StoredRows).to_csr(threads)[some].toarray()
        X = scaled.centred(np.hstack([X, np.ones((n, 1))]) if constant else X)
        values, vectors = np.linalg.eigh(X.T @ X)
        kept = values > max(values[-1], 0.0) * len(values) * np.finfo(float).eps
        return X @ vectors[:, kept] / np.sqrt(values[kept]), values[kept]
    check_memory(n, 3 * n)
    if isinstance(space, RowsSpace):
        K = space.rows.gram(None, threads)
    else:
        K = space.matrix() if isinstance(space, GramSpace) else space.product(np.eye(len(space)))
    values, vectors = np.linalg.eigh(scaled.centred(scaled.centred(K[np.ix_(some, some)] + float(constant)).T))
    return vectors, np.maximum(values, 0.0)


def _fitted(space: Any, some: np.ndarray, beta: np.ndarray, scaled: ScaledTargets, constant: bool) -> np.ndarray:
    """The predictions of the fit on all examples, for all of them."""
    mean = scaled.C @ scaled.y / scaled.C.sum()
    if constant:  # the fit to y minus its mean, from those to y and to 1
        beta = beta[:, :-1] - mean * beta[:, -1:]
    whole = np.zeros((len(space), beta.shape[1]))
    whole[some] = beta
    values = space.product(whole)
    return values + (beta.sum(axis=0) + mean if constant else scaled.intercept(values[some]))
