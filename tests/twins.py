"""Slow twins of fast routines, in plain Python, from the definition."""

from collections import Counter
from itertools import combinations
from math import inf

import numpy as np


def ngram_counts(x, n, min_n=None):
    """How often each n-gram occurs, by gram (a tuple of symbols)."""
    x = tuple(x)
    return Counter(x[i : i + order] for order in range(min_n or n, n + 1) for i in range(len(x) - order + 1))


def ngram_kernel(n, min_n=None, weights=None):
    """k(x, y) = sum over z of weight(|z|) count_x(z) count_y(z)."""
    weight = dict(zip(range(min_n or n, n + 1), weights or [1.0] * (n + 1), strict=False))

    def k(x, y):
        count_x, count_y = ngram_counts(x, n, min_n), ngram_counts(y, n, min_n)
        return sum(weight[len(z)] * count_x[z] * count_y[z] for z in count_x)

    return k


def subsequence_kernel(n, decay):
    """k(x, y) = sum over common subsequences of length n of decay^(span in x + span in y): every choice of places is tried."""

    def phi(x):
        sums = Counter()
        for places in combinations(range(len(x)), n):
            sums[tuple(x[i] for i in places)] += decay ** (places[-1] - places[0] + 1)
        return sums

    def k(x, y):
        left, right = phi(x), phi(y)
        return sum(left[z] * right[z] for z in left)

    return k


def all_substrings_kernel(decay=0.5, min_length=1, max_length=None):
    """k(x, y) = sum over substrings z of decay^|z| count_x(z) count_y(z)."""

    def k(x, y):
        count_x, count_y = (ngram_counts(s, max_length or max(1, len(s)), min_length) for s in (x, y))
        return sum(decay ** len(z) * count_x[z] * count_y[z] for z in count_x)

    return k


def cosine(k):
    def normalized(x, y):
        norms = k(x, x) * k(y, y)
        return k(x, y) / norms**0.5 if norms > 0 else 0.0

    return normalized


def ngram_ids(strings, n, min_n=None):
    """The grams in the order of their ids: by falling number of examples that hold them, then by first occurrence.

    "First" goes by example, then by order, then by position.
    """
    holders = Counter()
    for x in strings:
        holders.update(ngram_counts(x, n, min_n).keys())  # a Counter keeps the order of first occurrence
    return sorted(holders, key=lambda z: -holders[z])


def with_bias(K, bias):
    """Every example has one more feature, of value `bias`."""
    return K + bias**2


def primal(K, y, C, alpha, b=0.0, squared=False):
    """1/2 |w|^2 + 1/2 b^2 + sum_i C_i loss(1 - y_i (f_i + b)), where w = sum_i alpha_i y_i phi_i; K has no bias."""
    f = K @ (alpha * y)
    slack = np.maximum(0, 1 - y * (f + b))
    return 0.5 * (alpha * y) @ f + 0.5 * b**2 + C @ (slack**2 if squared else slack)


def dual(K, y, C, alpha, squared=False):
    """sum(alpha) - 1/2 alpha' Q alpha, where Q_ij = y_i y_j K_ij, plus 1 / (2 C_i) on the diagonal if squared."""
    some = C > 0
    extra = (alpha[some] ** 2 / (2 * C[some])).sum() if squared else 0.0
    return alpha.sum() - 0.5 * (alpha * y) @ K @ (alpha * y) - 0.5 * extra


def coordinate_descent(K, y, C, squared=False, epochs=1, alpha=None):
    """Algorithm 1 of Hsieh et al. on a dense matrix, in the order of the examples; yields (i, gradient, alpha_i)."""
    alpha = np.zeros(len(y)) if alpha is None else alpha
    for _ in range(epochs):
        for i in np.flatnonzero(C > 0):
            extra = 0.5 / C[i] if squared else 0.0
            gradient = y[i] * (K[i] @ (alpha * y)) - 1 + extra * alpha[i]
            upper, q = inf if squared else C[i], K[i, i] + extra
            alpha[i] = min(max(alpha[i] - gradient / q, 0.0), upper) if q > 0 else upper
            yield i, gradient, alpha[i]


def solve_dual(K, y, C, squared=False, tol=1e-10, most=200_000):
    """The optimal alphas, by coordinate descent until no projected gradient exceeds `tol`."""
    alpha = np.zeros(len(y))
    for _ in range(most):
        before, largest = alpha.copy(), 0.0
        for i, gradient, _ in coordinate_descent(K, y, C, squared, alpha=alpha):
            at_lower, at_upper = before[i] == 0, not squared and before[i] == C[i]
            projected = min(gradient, 0) if at_lower else max(gradient, 0) if at_upper else gradient
            largest = max(largest, abs(projected) if K[i, i] > 0 or squared else 0.0)
        if largest <= tol:
            break
    return alpha


def svr_primal(K, y, C, beta, b, epsilon, loss="epsilon_insensitive", bias=1.0):
    """1/2 |w|^2 + 1/2 (bias b)^2 + sum_i C_i loss(y_i - f_i - b), w = sum_i beta_i phi_i."""
    f = K @ beta
    error = np.abs(y - f - b)
    excess = np.maximum(0, error - epsilon)
    each = {
        "epsilon_insensitive": excess,
        "squared_epsilon_insensitive": excess**2,
        "huber": np.where(error <= epsilon, error**2, 2 * epsilon * error - epsilon**2),
    }
    return 0.5 * beta @ f + 0.5 * bias * b**2 + C @ each[loss]


def svr_dual(K, y, C, beta, epsilon, loss="epsilon_insensitive"):
    """y.beta - 1/2 beta' K beta, less epsilon |beta|_1 in a tube and beta_i^2 / (4 C_i) with squares; K as the bias leaves it."""
    some = C > 0
    tube, squares = epsilon * np.abs(beta).sum(), (beta[some] ** 2 / (4 * C[some])).sum()
    less = {"epsilon_insensitive": tube, "squared_epsilon_insensitive": tube + squares, "huber": squares}
    return y @ beta - 0.5 * beta @ K @ beta - less[loss]


def ridge(X, y, weights, alpha, fit_intercept=True):
    """The w and b that minimise sum_i s_i (y_i - w.x_i - b)^2 + alpha |w|^2, from the normal equations of both."""
    wide = np.hstack([X, np.ones((len(X), 1))]) if fit_intercept else X
    penalty = alpha * np.eye(wide.shape[1])
    if fit_intercept:
        penalty[-1, -1] = 0.0
    both = np.linalg.solve(wide.T @ (weights[:, None] * wide) + penalty, wide.T @ (weights[:, None] * y))
    return (both[:-1], both[-1]) if fit_intercept else (both, np.zeros(y.shape[1]))


def path_counts(tree, from_root=False):
    """How often each downward path, read upwards, occurs in a tree of labels and parents; if so, only those from the root."""
    counts = Counter()
    for node in range(len(tree.labels)):
        path = []
        while node >= 0:
            path.append(tree.labels[node])
            node = tree.parents[node]
            if node < 0 or not from_root:
                counts[tuple(path)] += 1
    return counts


def path_kernel(decay, max_length=inf, from_root=False):
    """k(x, y) = sum over paths p of decay^|p| count_x(p) count_y(p), |p| <= max_length."""

    def k(x, y):
        left, right = path_counts(x, from_root), path_counts(y, from_root)
        return sum(decay ** len(p) * left[p] * right[p] for p in left if len(p) <= max_length)

    return k
