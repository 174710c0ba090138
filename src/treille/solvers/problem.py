"""The optimisation problems: losses, targets, C for each example, and the intercept. They alone define the optimum."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, xlogy

from treille.io.errors import InputError

INTERCEPTS = (False, True, "free")


@dataclass(frozen=True)
class Loss:
    """What a decision value f costs an example with target y, before it is multiplied by C."""

    of_classes: ClassVar[bool] = False  # y = +1 or -1, and the coefficient of an example is y times its dual variable

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The loss of each example."""
        raise NotImplementedError

    def conjugate(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        """What each example adds to the dual, -(C loss(y, .))*(-beta): the dual value is their sum minus 1/2 beta'K beta."""
        raise NotImplementedError

    def subgradient(self, y: np.ndarray, f: np.ndarray, C: np.ndarray) -> np.ndarray:
        """Minus the slope of C loss(y, .) at f, for each example: there C loss(y, g) >= conjugate - beta g is an equality."""
        raise NotImplementedError


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, 1 - y f), for y = +1 or -1."""

    of_classes = True

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, 1 - y * f)

    def conjugate(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        return y * beta

    def subgradient(self, y: np.ndarray, f: np.ndarray, C: np.ndarray) -> np.ndarray:
        return y * C * (y * f < 1)


@dataclass(frozen=True)
class SquaredHinge(Hinge):
    """max(0, 1 - y f)^2, for y = +1 or -1."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return super().value(y, f) ** 2

    def conjugate(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        return y * beta - quarter_squares(beta, C)

    def subgradient(self, y: np.ndarray, f: np.ndarray, C: np.ndarray) -> np.ndarray:
        return 2 * y * C * np.maximum(0.0, 1 - y * f)


@dataclass(frozen=True)
class Logistic(Loss):
    """log(1 + exp(-y f)), for y = +1 or -1."""

    of_classes = True

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, -y * f)

    def conjugate(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        alpha = y * beta
        return xlogy(C, C) - xlogy(alpha, alpha) - xlogy(C - alpha, C - alpha)

    def subgradient(self, y: np.ndarray, f: np.ndarray, C: np.ndarray) -> np.ndarray:
        return y * C * expit(-y * f)


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """max(0, |y - f| - epsilon): errors up to epsilon cost nothing."""

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon < np.inf:
            raise InputError(f"epsilon is {self.epsilon!r}, expected a number of at least 0")

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, np.abs(y - f) - self.epsilon)

    def conjugate(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        return y * beta - self.epsilon * np.abs(beta)

    def subgradient(self, y: np.ndarray, f: np.ndarray, C: np.ndarray) -> np.ndarray:
        return C * np.sign(y - f) * (np.abs(y - f) > self.epsilon)


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(EpsilonInsensitive):
    """max(0, |y - f| - epsilon)^2."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return super().value(y, f) ** 2

    def conjugate(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        return super().conjugate(y, beta, C) - quarter_squares(beta, C)

    def subgradient(self, y: np.ndarray, f: np.ndarray, C: np.ndarray) -> np.ndarray:
        return 2 * C * np.sign(y - f) * EpsilonInsensitive.value(self, y, f)


@dataclass(frozen=True)
class SquaredError(Loss):
    """(y - f)^2."""

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return (y - f) ** 2

    def conjugate(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        return y * beta - quarter_squares(beta, C)


@dataclass(frozen=True)
class OneClass(Loss):
    """max(0, -f) for examples without target. The objective gains nu sum(C) b, which keeps the intercept b = -rho from 0."""

    nu: float = 0.5

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.maximum(0.0, -f)

    def conjugate(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        return np.zeros_like(beta)


@dataclass(frozen=True)
class Separation(Loss):
    """Separate the classes by a large margin: not a sum of losses, see `Problem`. All examples with C > 0 count alike."""

    of_classes = True

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.where((f > 0) == (y > 0), 0.0, 1.0)


LOSSES = {"hinge": Hinge, "squared_hinge": SquaredHinge}
REGRESSION_LOSSES = {
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
}


@dataclass(frozen=True, eq=False)
class Problem:
    """One problem, or several on the same examples: min over f of 1/2 |w|^2 + sum_i C_i loss(y_i, f(x_i)), f(x) = w.phi(x) + b.

    The intercept b is part of the problem: ``False``: there is none; ``True``: it is the weight of a constant feature of
    value 1 and regularised, which adds 1/2 b^2 (LIBLINEAR's -B 1; the kernel becomes k + 1); ``"free"``: it is not regularised
    (LIBSVM). The optimum depends neither on the space nor on the solver.

    With the loss `Separation`, the problem is max over f of the margin min_i y_i f(x_i) / |(w, b)|, over examples with C_i > 0. Its
    primal value is minus the margin of f. Its dual value is minus |sum_i a_i y_i (phi(x_i), 1)| / sum_i a_i, since the product of
    this sum with any unit vector (w, b) of margin m is at least m sum_i a_i.

    Parameters
    ----------
    loss : Loss
    targets : array
        For losses of classes the class code of each example; problem k separates ``classes[k]`` (+1) from the rest (-1).
        For other losses one number per example, or a row of them: problem k has column k.
    C : array
        Weight of the loss of each example, at least 0.
    intercept : False, True or "free"
    classes : array or None
        Class codes, one per problem; None for losses that are not of classes.

    Examples
    --------
    >>> problem = Problem(Hinge(), np.array([0, 1, 2]), np.ones(3), classes=np.array([0, 2]))
    >>> len(problem), problem.n_problems, problem.y(1).tolist()
    (3, 2, [-1.0, -1.0, 1.0])
    """

    loss: Loss
    targets: np.ndarray
    C: np.ndarray
    intercept: bool | str = True
    classes: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_intercept("intercept", self.intercept)
        kind = np.int32 if self.classes is not None else np.float64
        object.__setattr__(self, "targets", np.ascontiguousarray(self.targets, kind))
        object.__setattr__(self, "C", np.ascontiguousarray(self.C, np.float64))
        if self.classes is not None:
            object.__setattr__(self, "classes", np.ascontiguousarray(self.classes, np.int32))
        if self.loss.of_classes != (self.classes is not None):
            raise InputError(
                f"{self.loss!r} with classes={self.classes!r}: classes are for losses of classes, which need them"
            )
        if isinstance(self.loss, OneClass) and self.intercept != "free":
            raise InputError(f"intercept is {self.intercept!r}, expected 'free' with the loss {self.loss!r}")
        check_shape("C", self.C, (len(self),))
        if not ((self.C >= 0) & (np.inf > self.C)).all():
            raise InputError("C holds a value that is not a number of at least 0")

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def n_problems(self) -> int:
        """How many problems share the examples."""
        if self.classes is not None:
            return len(self.classes)
        return 1 if self.targets.ndim == 1 else self.targets.shape[1]

    def y(self, k: int = 0) -> np.ndarray:
        """The targets of problem k: +1 or -1 for classes, else numbers."""
        if self.classes is not None:
            return np.where(self.targets == self.classes[k], 1.0, -1.0)
        return self.targets if self.targets.ndim == 1 else self.targets[:, k]

    def primal(self, sq_norm: float, f: np.ndarray, intercept: float, k: int = 0) -> float:
        """The objective of problem k at decision values f, |w|^2 and b.

        >>> problem = Problem(Hinge(), np.array([0, 1]), np.ones(2), classes=np.array([1]))
        >>> problem.primal(2.0, np.array([-1.0, 0.5]), 1.0)
        2.0
        """
        if isinstance(self.loss, Separation):
            norm = np.sqrt(sq_norm + intercept**2)
            return -float((self.y(k) * f)[self.C > 0].min(initial=np.inf) / norm) if norm > 0 else 0.0
        total = 0.5 * sq_norm + float(self.C @ self.loss.value(self.y(k), f))
        if isinstance(self.loss, OneClass):
            total += self.loss.nu * float(self.C.sum()) * intercept
        return total + 0.5 * intercept**2 if self.intercept is True else total

    def dual(self, beta: np.ndarray, sq_norm: float, k: int = 0) -> float:
        """The dual value of problem k at coefficients beta of the examples, with sq_norm = beta'K beta (K + 1 with an intercept).

        >>> problem = Problem(Hinge(), np.array([0, 1]), np.ones(2), classes=np.array([1]))
        >>> problem.dual(np.array([-0.5, 0.5]), 0.5)
        0.75
        """
        if isinstance(self.loss, Separation):
            total = float(np.abs(beta).sum())
            return -float(np.sqrt(sq_norm)) / total if total > 0 else -np.inf
        return float(self.loss.conjugate(self.y(k), beta, self.C).sum()) - 0.5 * sq_norm


def check_intercept(name: str, value: Any) -> None:
    """Refuses a value that is not a kind of intercept."""
    if not any(value is known or value == known == "free" for known in INTERCEPTS):
        raise InputError(f"{name} is {value!r}, expected False, True or 'free'")


def check_shape(name: str, array: np.ndarray, expected: tuple[int, ...]) -> None:
    """Refuses an array of another shape."""
    if array.shape != expected:
        raise InputError(f"{name} has the shape {array.shape}, expected {expected}")


def quarter_squares(beta: np.ndarray, C: np.ndarray) -> np.ndarray:
    """beta^2 / (4 C), the term of a squared loss in the dual; 0 where C is 0."""
    return np.divide(beta**2, 4 * C, out=np.zeros_like(beta), where=C > 0)
