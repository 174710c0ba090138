"""Small problems for solvers, each with its dense kernel matrix."""

from dataclasses import dataclass

import numpy as np

from treille.kernels import NGram
from treille.solvers import DualCD
from treille.solvers import Problem as Posed
from treille.solvers.problem import LOSSES, REGRESSION_LOSSES
from treille.spaces import RowsSpace
from twins import dual, primal, with_bias


def classification(codes, C, loss="hinge", intercept=True, classes=(1,)):
    """The problem that separates each of `classes` from the rest."""
    return Posed(LOSSES[loss](), codes, C, intercept, np.array(classes))


def regression(y, C, loss="epsilon_insensitive", epsilon=0.1, intercept=True):
    """The problem of regression on y."""
    return Posed(REGRESSION_LOSSES[loss](epsilon), y, C, intercept)


@dataclass(frozen=True)
class Problem:
    space: RowsSpace
    codes: np.ndarray  # 0 or 1, or one of several classes
    C: np.ndarray

    @property
    def y(self):
        return np.where(self.codes == 1, 1.0, -1.0)

    @property
    def K(self):
        matrix = self.space.rows.to_csr()
        return (matrix @ matrix.T).toarray()

    def solve(self, solver=None, classes=(1,), loss="hinge", intercept=True, **options):
        """By DualCD, to a tight gap unless asked otherwise."""
        options = {"tol": 1e-9, "max_epochs": 1_000_000} | options
        posed = classification(self.codes, self.C, loss, intercept, classes)
        return (solver or DualCD()).solve(posed, self.space, **options)

    def values(self, alpha, b, intercept=True, squared=False):
        """Primal and dual value of these variables, by the twins."""
        lower = dual(with_bias(self.K, float(intercept)), self.y, self.C, alpha, squared)
        return primal(self.K, self.y, self.C, alpha, b, squared), lower


def liblinear(problem, loss, intercept, C, options=""):
    """LIBLINEAR's primal value on the same matrix, and the arguments it was given."""
    from liblinear import liblinearutil

    matrix, y = problem.space.rows.to_csr(), problem.y
    kind = 3 if loss == "hinge" else 1
    model = liblinearutil.train(
        liblinearutil.problem(y, matrix), f"-s {kind} -c {C} -e 1e-9 -B {1 if intercept else -1} {options}"
    )
    w, b = (np.array(part) * model.get_labels()[0] for part in model.get_decfun())
    slack = np.maximum(0, 1 - y * (matrix @ w + b))
    return 0.5 * w @ w + 0.5 * b**2 + problem.C @ (slack if loss == "hinge" else slack**2)


def random_problem(n=30, seed=0, kernel=None, C=1.0, weights="none", noise=0.15, n_classes=2):
    """Strings whose letters lean to their class; some have the wrong label."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    texts = ["".join(rng.choice(list("abcdef"[k:]), rng.integers(3, 9))) for k in codes]
    codes = np.where(rng.random(n) < noise, rng.integers(0, n_classes, n), codes)
    factors = {"none": np.ones(n), "class": np.where(codes == 1, 3.0, 0.5), "sample": rng.uniform(0.1, 3, n)}[weights]
    kernel = kernel or NGram(2, min_n=1).normalized()
    return Problem(RowsSpace.build(kernel, kernel.batch(texts)), codes, C * factors)


def endless_problem():
    """Noise with a huge C: coordinate descent would take hours."""
    rng = np.random.default_rng(0)
    texts = ["".join(row) for row in rng.choice(list("abcd"), (2000, 60))]
    space = RowsSpace.build(NGram(3), NGram(3).batch(texts))
    return Problem(space, rng.integers(0, 2, 2000), np.full(2000, 1e3))
