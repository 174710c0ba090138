"""core/solve/part_cd.hpp in plain Python, from the definitions; random numbers are those of core/solve/random.hpp."""

import numpy as np

from treille.solvers.problem import Logistic, RegressionLoss, SquaredEpsilonInsensitive, SquaredHinge

MASK = 2**64 - 1


class Tie(Exception):
    """Rounding decides what comes next."""


class SplitMix:
    """Steele, Lea, Flood, OOPSLA 2014, figure 15."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return ((z ^ (z >> 31)) * n) >> 64


def sign_of(loss, y):
    return y if loss.of_classes else 1.0


def conjugate(loss, y, a, C):
    """The term of an example in the dual value."""
    return float(loss.conjugate(np.array([y]), np.array([sign_of(loss, y) * a]), np.array([C]))[0])


def term(loss, y, C, a, f):
    """The share of an example in the duality gap: its loss minus what it adds to the dual, plus a s f."""
    return C * float(loss.value(np.array([y]), np.array([f]))[0]) - conjugate(loss, y, a, C) + a * sign_of(loss, y) * f


def bounds(loss, C):
    upper = 1e3 if isinstance(loss, (SquaredHinge, SquaredEpsilonInsensitive)) else C
    return (-upper if isinstance(loss, RegressionLoss) else 0.0), upper


def slopes(loss, y, C, a, f):
    """The derivatives of the negative dual by a, to the left and to the right, where f is the output at a."""
    if isinstance(loss, Logistic):
        return (y * f + np.log(a / (C - a)),) * 2
    squared = a / (2 * C) if isinstance(loss, (SquaredHinge, SquaredEpsilonInsensitive)) else 0.0
    if not isinstance(loss, RegressionLoss):
        return (y * f - 1 + squared,) * 2
    g = f - y + squared
    return g + (loss.epsilon if a > 0 else -loss.epsilon), g + (loss.epsilon if a >= 0 else -loss.epsilon)


def projected(loss, y, C, a, f):
    """The derivative, 0 where it points out of the bounds, or holds a at a kink; for the logistic loss see losses.hpp."""
    if isinstance(loss, Logistic):
        return a / C - 1 / (1 + np.exp(y * f))
    (low, high), (left, right) = bounds(loss, C), slopes(loss, y, C, a, f)
    if right < 0 and a < high:
        return right
    return left if left > 0 and a > low else 0.0


def best(loss, y, C, a, f, q):
    """The a that maximises the dual, the others fixed: by bisection, not by a formula."""
    low, high = bounds(loss, C)

    def at(x):
        return slopes(loss, y, C, x, f + sign_of(loss, y) * q * (x - a))

    if not isinstance(loss, Logistic):
        for x in (0.0, low, high):
            left, right = at(x)
            if (left <= 0 or x == low) and (right >= 0 or x == high):
                return x
    for _ in range(200):
        x = 0.5 * (low + high)
        low, high = (x, high) if at(x)[1] < 0 else (low, x)
    return 0.5 * (low + high)


def improve_part(loss, phi, y, C, bias, sweeps, enough, seed, w, b, alpha, n_counted):
    """Changes w, b and alpha; returns the terms of the gap met, and which examples are not held.

    Raises a `Tie` where an example is visited twice in a row: then rounding decides whether its gradient is 0.
    """
    random, free = SplitMix(seed), np.zeros(len(y), np.uint8)
    active = [i for i in range(len(y)) if C[i] > 0]
    met = first = small = 0.0
    for sweep in range(sweeps):
        if not active:
            break
        for k in range(len(active) - 1):
            j = k + random.below(len(active) - k)
            active[k], active[j] = active[j], active[k]
        kept, gap, gradients = [], 0.0, 0.0
        for i in active:
            f = phi[i] @ w + bias * b[0]
            own = term(loss, y[i], C[i], alpha[i], f)
            gap += own
            met += own if sweep == 0 and i < n_counted else 0.0
            gradient = projected(loss, y[i], C[i], alpha[i], f)
            if min(map(abs, slopes(loss, y[i], C[i], alpha[i], f) if alpha[i] else (1,))) < 1e-9:
                raise Tie
            free[i] = gradient != 0
            if gradient == 0:
                continue
            kept.append(i)
            gradients += abs(gradient)
            if abs(gradient) < small:
                continue
            q = phi[i] @ phi[i] + bias**2
            new = best(loss, y[i], C[i], alpha[i], f, q)
            step = (new - alpha[i]) * sign_of(loss, y[i])
            alpha[i] = new
            w += step * phi[i]
            b[0] += bias * step
        first = gap if sweep == 0 else first
        if gap <= enough * first and sweep > 0:
            break
        small = 0.6 * gradients / len(kept) if kept else 0.0
        active = kept
    return met, free


def measure_part(loss, phi, y, C, bias, w, b, alpha):
    """Losses at w and b; what alpha adds to the dual besides |w|^2; and w and b of alpha."""
    taking = C > 0
    losses = (C * loss.value(y, phi @ w + bias * b[0]))[taking].sum()
    dual = sum(conjugate(loss, *each) for each in zip(y[taking], alpha[taking], C[taking], strict=True))
    beta = np.where(taking, alpha * sign_of(loss, y), 0.0)
    return losses, dual, phi.T @ beta, bias * beta.sum()
