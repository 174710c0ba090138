"""Kernel learning from its definitions: the paper's programs, solved by clarabel, and values of the primal and the dual."""

import cvxpy as cp
import numpy as np
from scipy.optimize import nnls

from treille.solvers.problem import Hinge


def as_groups(X, groups):
    """The blocks U_g: columns, or groups of columns, divided by the root of the sum of their squares."""
    groups = np.arange(X.shape[1]) if groups is None else groups
    blocks = [X[:, groups == g] for g in range(groups.max() + 1)]
    return [block / np.sqrt((block**2).sum()) if block.any() else block for block in blocks]


def quadratic_program(problem, X, trace, groups=None, k=0):
    """Half the optimal value of the paper's programs (10) and (15), with groups as well, and the shares of the trace.

    min -2 beta'y + (beta_i^2 / (2 C_i), squared losses) + trace t^2 over |U_g' beta| <= t; with the hinge losses, beta = y alpha.
    """
    y, C, blocks = problem.y(k), problem.C, as_groups(X, groups)
    unit = min(1.0, C.max())  # of beta, for numbers of similar sizes
    beta, t = cp.Variable(len(y)), cp.Variable()
    bounds = [cp.norm(U.T @ beta) <= t if U.shape[1] > 1 else cp.abs(U.T @ beta) <= t for U in blocks if U.any()]
    constraints, objective = list(bounds), -2 * y @ beta + unit * trace * cp.square(t)
    if problem.loss.of_classes:
        constraints.append(cp.multiply(y, beta) >= 0)
    if type(problem.loss) is Hinge:
        constraints.append(cp.multiply(y, beta) <= C / unit)
    else:
        objective += unit * cp.sum_squares(cp.multiply(beta, np.sqrt(0.5 / np.where(C > 0, C, 1))))
        constraints.append(beta[C == 0] == 0)
    if problem.intercept is True:
        objective += unit * cp.square(cp.sum(beta))
    if problem.intercept == "free":
        constraints.append(cp.sum(beta) == 0)
    program = cp.Problem(cp.Minimize(objective), constraints)
    program.solve(solver=cp.CLARABEL)
    assert program.status == "optimal"
    shares = np.zeros(len(blocks))
    shares[[U.any() for U in blocks]] = [np.linalg.norm(bound.dual_value) for bound in bounds]
    return -0.5 * unit * program.value, shares / max(shares.sum(), 1e-300)


def primal(problem, X, trace, learned, k=0):
    """The primal value at u and b of `learned`, features only."""
    [*blocks] = as_groups(X, None)
    f = np.hstack(blocks) @ learned.u + learned.intercept
    return problem.primal(np.abs(learned.u).sum() ** 2 / trace, f, learned.intercept, k)


def dual(problem, X, trace, beta, groups=None, k=0):
    """The dual value at beta, which is checked to be feasible."""
    y, C = problem.y(k), problem.C
    if problem.loss.of_classes:
        assert (y * beta >= 0).all()
    if type(problem.loss) is Hinge:
        assert (y * beta <= C * (1 + 1e-12)).all()
    assert (beta[C == 0] == 0).all()
    if problem.intercept == "free":
        assert abs(beta.sum()) <= 1e-9 * np.abs(beta).sum()
    t = max(np.linalg.norm(U.T @ beta) for U in as_groups(X, groups))
    value = problem.loss.conjugate(y, beta, C).sum() - 0.5 * trace * t**2
    return value - 0.5 * beta.sum() ** 2 if problem.intercept is True else value


def alignment(X, y, groups=None, centered=True):
    """Alignments of the matrices of features or groups with yy', and the mu of least squares with its value."""
    H = np.eye(len(y)) - (1 / len(y) if centered else 0)
    groups = np.arange(X.shape[1]) if groups is None else groups
    matrices = [H @ (X[:, groups == g] @ X[:, groups == g].T) @ H for g in range(groups.max() + 1)]
    target = np.outer(H @ y, H @ y)
    products = np.array([(K * target).sum() for K in matrices])
    sizes = np.array([np.linalg.norm(K) for K in matrices])
    kept = sizes > 1e-9
    aligned = np.divide(products, sizes * np.linalg.norm(target), out=np.zeros(len(sizes)), where=kept)
    best = np.zeros(len(sizes))
    A = np.array([K.ravel() for K, keep in zip(matrices, kept, strict=True) if keep]).T
    best[kept], distance = nnls(A, target.ravel())
    return aligned, best, 0.5 * distance**2
