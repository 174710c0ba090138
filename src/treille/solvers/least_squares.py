"""Ridge regression: one problem, three ways to its solution, and a proof that costs nothing.

With weights s_i of the examples, and centred by them where there is an intercept, let X and y stand for rows sqrt(s_i) (x_i - mean)
and sqrt(s_i) (y_i - mean); no sparse row is made dense. The problem and its dual are

    primal   min_w  |y - X w|^2 + alpha |w|^2        dual   max_u  2 alpha u.y - alpha^2 |u|^2 - alpha |X'u|^2

and the gap is a residual: |y - (X X' + alpha) u|^2 at w = X'u, and |X'(y - X w) - alpha w|^2 / alpha at u = (y - X w) / alpha.
Since the primal is quadratic, the gap also bounds how far the fitted values are from the best ones, squared and summed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, blas, cho_factor, cho_solve

from treille.features import FeatureRows
from treille.io.errors import InputError
from treille.solvers.report import Report, together, warn_unless_converged

Product = Callable[[np.ndarray], np.ndarray]
REFINEMENTS = 5
DENSE = 0.1  # part of non-zeros from which products of dense blocks are faster
BLOCK = 1 << 22  # numbers of a dense block


@dataclass(frozen=True)
class Fit:
    """Coefficients (of features, or of examples), a column per target; intercepts; and the report.

    >>> Fit(np.zeros((2, 1)), np.zeros(1), Report(1, 1, 1, 0.0, "converged", 0)).coefficients.shape
    (2, 1)
    """

    coefficients: np.ndarray
    intercept: np.ndarray
    report: Report


class LeastSquares:
    """min over f of sum_i s_i (y_i - f(x_i))^2 + alpha |w|^2, a column of y per target; the intercept of f is free.

    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[1.0], [-1.0]])
    >>> problem = LeastSquares(y, np.ones(2), alpha=1.0, fit_intercept=False)
    >>> problem.by_cholesky(K.copy()).coefficients.ravel().round(6).tolist()
    [0.5, -0.5]
    """

    def __init__(
        self,
        y: np.ndarray,
        weights: np.ndarray,
        alpha: float,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_epochs: int = 1000,
    ):
        self.y, self.weights, self.alpha = y, weights, float(alpha)
        self.tol, self.max_epochs = tol, max_epochs
        self.root = np.sqrt(weights)[:, None]
        self.share = weights / weights.sum() if fit_intercept else np.zeros(len(weights))
        self.target = self.centred(y)
        self.begun = time.perf_counter()

    def mean(self, values: np.ndarray) -> np.ndarray:
        """By the weights of examples; 0 where there is no intercept."""
        return self.share @ values

    def centred(self, values: np.ndarray) -> np.ndarray:
        """sqrt(s_i) (v_i - mean): outputs of rows become outputs of rows scaled and centred."""
        return self.root * (values - self.mean(values))

    def spread(self, u: np.ndarray) -> np.ndarray:
        """The transpose of `centred`: dual variables become coefficients of the examples as they were given."""
        beta = self.root * u
        return beta - np.outer(self.share, beta.sum(axis=0))

    def by_normal_equations(self, rows: FeatureRows, threads: int) -> Fit:
        """For few features: (X'X + alpha) w = X'y by Cholesky. O(entries) for each product, d^3 for the factor."""
        factor = self._factor(self._normal_matrix(rows, threads))
        w = np.zeros((rows.n_features, self.y.shape[1]))
        residual, gradient = self.target, rows.rmatvec(self.spread(self.target), threads)
        steps, small = 0, False
        while steps < REFINEMENTS and not small:
            steps += 1
            w += cho_solve(factor, gradient)
            residual = self.target - self.centred(rows.matvec(w, threads))
            gradient = rows.rmatvec(self.spread(residual), threads) - self.alpha * w
            primal, gap = _squares(residual) + self.alpha * _squares(w), _squares(gradient) / self.alpha
            small = bool((gap <= self.tol * primal).all())
        return self._fit(w, self.mean(rows.matvec(w, threads)), primal, gap, steps)

    def _normal_matrix(self, rows: FeatureRows, threads: int) -> np.ndarray:
        X, d = rows.to_csr(threads), rows.n_features
        step = max(1, BLOCK // max(1, d))
        if X.nnz < DENSE * X.shape[0] * d:
            A = (X.T @ X.multiply(self.weights[:, None]).tocsr()).toarray()
        else:
            A = np.zeros((d, d))
            for start in range(0, len(rows), step):
                block = self.root[start : start + step] * X[start : start + step].toarray()
                A += block.T @ block
        mean = self.mean(X)
        A -= self.weights.sum() * np.outer(mean, mean)
        A[np.diag_indices(d)] += self.alpha
        return A

    def by_conjugate_gradients(self, product: Product) -> Fit:
        """(X X' + alpha) u = y, where ``product(beta)`` is K beta: any space that has it will do. A product for each epoch."""
        u, epochs = np.zeros_like(self.target), 0
        while True:
            gamma = self.spread(u)
            outputs = product(gamma) if epochs else np.zeros_like(u)
            residual = self.target - self.centred(outputs) - self.alpha * u  # taken anew: the sums below drift
            direction, gap, primal = residual, _squares(residual), self._primal(u, residual)
            done = gap <= self.tol * primal
            if done.all() or epochs >= self.max_epochs:
                return self._fit(gamma, self.mean(outputs), primal, gap, epochs)
            while epochs < self.max_epochs and not done.all():
                image = self.centred(product(self.spread(direction))) + self.alpha * direction
                epochs += 1
                curvature = (direction * image).sum(axis=0)
                step = np.divide(gap, curvature, out=np.zeros_like(gap), where=~done & (curvature > 0))
                u = u + step * direction
                residual = residual - step * image
                before, gap = gap, _squares(residual)
                direction = residual + np.divide(gap, before, out=np.zeros_like(gap), where=before > 0) * direction
                done = gap <= self.tol * self._primal(u, residual)

    def by_cholesky(self, K: np.ndarray) -> Fit:
        """(X X' + alpha) u = y by Cholesky on the kernel's matrix, which is overwritten. O(n^3)."""
        row = self.mean(K)
        K -= row
        K -= row[:, None] - self.mean(row)
        K *= self.root
        K *= self.root.T
        diagonal = K.diagonal()[:, None] + self.alpha
        K[np.diag_indices(len(K))] = diagonal[:, 0]
        factor = self._factor(K)
        u, residual = np.zeros_like(self.target), self.target
        steps, small = 0, False
        while steps < REFINEMENTS and not small:
            steps += 1
            u += cho_solve(factor, residual)
            # The factor fills one triangle with the diagonal; the other still holds the matrix.
            image = blas.dsymm(1.0, factor[0], u, lower=0) + (diagonal - factor[0].diagonal()[:, None]) * u
            residual = self.target - image
            primal, gap = self._primal(u, residual), _squares(residual)
            small = bool((gap <= self.tol * primal).all())
        gamma = self.spread(u)
        return self._fit(gamma, row @ gamma, primal, gap, steps)

    def _primal(self, u: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """At w = X'u: X w is target - residual - alpha u."""
        error = residual + self.alpha * u
        return _squares(error) + self.alpha * np.maximum(0, (u * (self.target - error)).sum(axis=0))

    def _factor(self, A: np.ndarray) -> tuple[np.ndarray, bool]:
        try:
            factor, lower = cho_factor(
                A.T, lower=True, overwrite_a=True, check_finite=False
            )  # symmetric: A.T spares a copy
            return factor, lower
        except LinAlgError:
            raise InputError(
                f"alpha is {self.alpha:g}, too small for this kernel: its matrix is singular to working precision. "
                "Use a larger alpha, or a normalized kernel"
            ) from None

    def _fit(
        self, coefficients: np.ndarray, mean_output: np.ndarray, primal: np.ndarray, gap: np.ndarray, epochs: int
    ) -> Fit:
        seconds = time.perf_counter() - self.begun
        each = tuple(
            Report(float(p), float(p - g), epochs, seconds, "converged" if g <= self.tol * p else "max_epochs", 0)
            for p, g in zip(primal, gap, strict=True)
        )
        report = together(each)
        warn_unless_converged(report, self.tol, "a larger alpha")
        return Fit(coefficients, self.mean(self.y) - mean_output, report)


def _squares(columns: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", columns, columns)
