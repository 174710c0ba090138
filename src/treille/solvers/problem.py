"""The optimisation problems: losses, targets, C for each example, and the intercept. They alone define the optimum."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, xlogy

from treille import _core
from treille.io.errors import InputError

INTERCEPTS = (False, True, "free")


@dataclass(frozen=True)
class Loss(ABC):
    """The loss of an example with target y at a decision value f, before it is multiplied by C."""

    of_classes: ClassVar[bool] = False  # y = +1 or -1, and the coefficient of an example is y times its dual variable
    intercepts: ClassVar[tuple[bool | str, ...]] = INTERCEPTS  # of the problems with this loss
    measure: ClassVar[str] = "gap"  # what solvers report as progress

    @abstractmethod
    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        """The loss of each example."""

    def primal(self, problem: "Problem", k: int, sq_norm: float, f: np.ndarray, b: float) -> float:
        """The objective of problem k, see `Problem.primal`."""
        total = 0.5 * sq_norm + float(problem.C @ self.value(problem.y(k), f))
        return total + 0.5 * b**2 if problem.intercept is True else total

    @abstractmethod
    def dual(self, problem: "Problem", k: int, sq_norm: float, beta: np.ndarray) -> float:
        """The dual value of problem k, see `Problem.dual`."""


class DualLoss(Loss):
    """A loss of problems whose dual the core solves, so that most solvers support it."""

    @abstractmethod
    def core(self) -> Any:
        """The loss for the core, see core/solve/losses.hpp."""

    @abstractmethod
    def conjugate(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        """The term of each example in the dual, -(C loss(y, .))*(-beta): the dual value is their sum minus 1/2 beta'K beta."""

    def dual(self, problem: "Problem", k: int, sq_norm: float, beta: np.ndarray) -> float:
        return float(self.conjugate(problem.y(k), beta, problem.C).sum()) - 0.5 * sq_norm

    @abstractmethod
    def subgradient(self, y: np.ndarray, f: np.ndarray, C: np.ndarray) -> np.ndarray:
        """Minus the slope of C loss(y, .) at f, for each example: there C loss(y, g) >= conjugate - beta g is an equality."""

    @abstractmethod
    def feasible(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        """The nearest coefficients in the domain of the dual."""

    def start(self, C: np.ndarray) -> np.ndarray:
        """The dual variables to begin with where none are given. With a free intercept, no step changes their sum, times y."""
        return np.zeros_like(C)


class SmoothLoss(DualLoss):
    """A loss with a continuous slope, for solvers in the primal."""

    @abstractmethod
    def curvature(self, y: np.ndarray, f: np.ndarray, C: np.ndarray) -> np.ndarray:
        """The second derivative of C loss(y, .) at f, for each example."""


class QuadraticLoss(DualLoss):
    """A loss that is linear or quadratic in pieces: max over a of a r - epsilon |a| - bend a^2 / 2, -lower <= a <= upper.

    Here r = 1 - y f for classes, and y - f otherwise. A subclass gives the four numbers, and every solver with a dual supports it;
    for classes, only `SMO` takes a lower or an epsilon other than 0. With the best a, the coefficient of an example is C a, times y
    for classes.
    """

    @abstractmethod
    def shape(self) -> tuple[float, float, float, float]:
        """The numbers lower, upper, epsilon and bend."""

    def core(self) -> Any:
        lower, upper, epsilon, bend = self.shape()
        if self.of_classes and (lower, epsilon) != (0, 0):
            raise InputError(
                f"{self!r} is of classes, with lower={lower:g} and epsilon={epsilon:g}: both must be 0, or use SMO"
            )
        return _core.QuadraticLoss(lower, upper, epsilon, bend)

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        excess, best = self._best(y, f)
        return best * (excess - 0.5 * self.shape()[3] * best)

    def conjugate(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        _, _, epsilon, bend = self.shape()
        squares = np.divide(beta**2, 2 * C, out=np.zeros_like(beta), where=C > 0)
        return y * beta - epsilon * np.abs(beta) - bend * squares

    def subgradient(self, y: np.ndarray, f: np.ndarray, C: np.ndarray) -> np.ndarray:
        best = C * self._best(y, f)[1]
        return y * best if self.of_classes else best

    def feasible(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        lower, upper, _, _ = self.shape()
        sign = y if self.of_classes else np.ones_like(beta)
        return sign * np.clip(sign * beta, times(-lower, C), times(upper, C))

    def curvature(self, y: np.ndarray, f: np.ndarray, C: np.ndarray) -> np.ndarray:
        lower, upper, _, bend = self.shape()
        best = self._best(y, f)[1]
        return (C / bend) * ((best != 0) & (best > -lower) & (best < upper))

    def _best(self, y: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The amount by which r exceeds epsilon, with its sign, and the best a."""
        lower, upper, epsilon, bend = self.shape()
        r = 1 - y * f if self.of_classes else y - f
        excess = np.maximum(r - epsilon, 0.0) + (np.minimum(r + epsilon, 0.0) if lower > 0 else 0.0)
        if bend > 0:
            return excess, np.clip(excess / bend, -lower, upper)
        return excess, np.where(excess > 0, upper, np.where(excess < 0, -lower, 0.0))


@dataclass(frozen=True)
class Hinge(QuadraticLoss):
    """max(0, 1 - y f), for y = +1 or -1."""

    of_classes = True

    def shape(self) -> tuple[float, float, float, float]:
        return 0.0, 1.0, 0.0, 0.0


@dataclass(frozen=True)
class SquaredHinge(QuadraticLoss, SmoothLoss):
    """max(0, 1 - y f)^2, for y = +1 or -1."""

    of_classes = True

    def shape(self) -> tuple[float, float, float, float]:
        return 0.0, np.inf, 0.0, 0.5


@dataclass(frozen=True)
class Logistic(SmoothLoss):
    """log(1 + exp(-y f)), for y = +1 or -1."""

    of_classes = True

    def core(self) -> Any:
        return _core.LogisticLoss()

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, -y * f)

    def conjugate(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        alpha = y * beta
        return xlogy(C, C) - xlogy(alpha, alpha) - xlogy(C - alpha, C - alpha)

    def subgradient(self, y: np.ndarray, f: np.ndarray, C: np.ndarray) -> np.ndarray:
        return y * C * expit(-y * f)

    def feasible(self, y: np.ndarray, beta: np.ndarray, C: np.ndarray) -> np.ndarray:
        return y * np.clip(y * beta, 0.0, C)

    def curvature(self, y: np.ndarray, f: np.ndarray, C: np.ndarray) -> np.ndarray:
        return C * expit(-f) * expit(f)


@dataclass(frozen=True)
class RegressionLoss(QuadraticLoss):
    """A loss of errors y - f, with a width epsilon."""

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        known = isinstance(self.epsilon, Real) and not isinstance(self.epsilon, bool)
        if not (known and 0 <= self.epsilon < np.inf):
            raise InputError(f"epsilon is {self.epsilon!r}, expected a number of at least 0")
        object.__setattr__(self, "epsilon", float(self.epsilon))


@dataclass(frozen=True)
class EpsilonInsensitive(RegressionLoss):
    """max(0, |y - f| - epsilon): errors up to epsilon cost nothing."""

    def shape(self) -> tuple[float, float, float, float]:
        return 1.0, 1.0, self.epsilon, 0.0


@dataclass(frozen=True)
class SquaredEpsilonInsensitive(RegressionLoss, SmoothLoss):
    """max(0, |y - f| - epsilon)^2."""

    def shape(self) -> tuple[float, float, float, float]:
        return np.inf, np.inf, self.epsilon, 0.5


@dataclass(frozen=True)
class Huber(RegressionLoss, SmoothLoss):
    """(y - f)^2 up to an error of epsilon, from there on linear: 2 epsilon |y - f| - epsilon^2. As in HuberRegressor."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon == 0:
            raise InputError(f"epsilon is {self.epsilon!r}, expected a number above 0 with the loss 'huber'")

    def shape(self) -> tuple[float, float, float, float]:
        return 2 * self.epsilon, 2 * self.epsilon, 0.0, 0.5


@dataclass(frozen=True)
class SquaredError(QuadraticLoss, SmoothLoss):
    """(y - f)^2."""

    def shape(self) -> tuple[float, float, float, float]:
        return np.inf, np.inf, 0.0, 0.5


@dataclass(frozen=True)
class OneClass(QuadraticLoss):
    """max(0, -f), for y = 0. The objective gains nu sum(C) b, which keeps the intercept b = -rho from 0."""

    intercepts = ("free",)
    nu: float = 0.5

    def shape(self) -> tuple[float, float, float, float]:
        return 0.0, 1.0, 0.0, 0.0

    def start(self, C: np.ndarray) -> np.ndarray:
        return np.clip(self.nu * C.sum() - (np.cumsum(C) - C), 0.0, C)  # which sum to nu sum(C)

    def primal(self, problem: "Problem", k: int, sq_norm: float, f: np.ndarray, b: float) -> float:
        return super().primal(problem, k, sq_norm, f, b) + self.nu * float(problem.C.sum()) * b


@dataclass(frozen=True)
class Separation(Loss):
    """Separate the classes by a large margin: not a sum of losses, see `Problem`. All examples with C > 0 count alike."""

    of_classes = True
    measure = "share of mistakes"

    def value(self, y: np.ndarray, f: np.ndarray) -> np.ndarray:
        return np.where((f > 0) == (y > 0), 0.0, 1.0)

    def primal(self, problem: "Problem", k: int, sq_norm: float, f: np.ndarray, b: float) -> float:
        norm = np.sqrt(sq_norm + b**2)
        return -float((problem.y(k) * f)[problem.C > 0].min(initial=np.inf) / norm) if norm > 0 else 0.0

    def dual(self, problem: "Problem", k: int, sq_norm: float, beta: np.ndarray) -> float:
        total = float(np.abs(beta).sum())
        return -float(np.sqrt(sq_norm)) / total if total > 0 else -np.inf


ALL_LOSSES: tuple[type[Loss], ...] = (
    *(Hinge, SquaredHinge, Logistic, EpsilonInsensitive, SquaredEpsilonInsensitive, Huber),
    *(SquaredError, OneClass, Separation),
)
LOSSES = {"hinge": Hinge, "squared_hinge": SquaredHinge}  # by the names that SVC knows
REGRESSION_LOSSES: dict[str, type[RegressionLoss]] = {  # by the names that SVR knows
    "epsilon_insensitive": EpsilonInsensitive,
    "squared_epsilon_insensitive": SquaredEpsilonInsensitive,
    "huber": Huber,
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
        if self.intercept not in self.loss.intercepts:
            expected = " or ".join(map(repr, self.loss.intercepts))
            raise InputError(f"intercept is {self.intercept!r}, expected {expected} with the loss {self.loss!r}")
        check_shape("C", self.C, (len(self),))
        if not ((self.C >= 0) & (np.inf > self.C)).all():
            raise InputError("C holds a value that is not a number of at least 0")

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def n_problems(self) -> int:
        """The number of problems that share the examples."""
        if self.classes is not None:
            return len(self.classes)
        return 1 if self.targets.ndim == 1 else self.targets.shape[1]

    def y(self, k: int = 0) -> np.ndarray:
        """The targets of problem k: +1 or -1 for classes, else numbers."""
        if self.classes is not None:
            return np.where(self.targets == self.classes[k], 1.0, -1.0)
        return self.targets if self.targets.ndim == 1 else self.targets[:, k]

    def signs(self, k: int) -> np.ndarray:
        """Coefficients of examples are these numbers times dual variables, and vice versa: y for classes, else 1."""
        return self.y(k) if self.loss.of_classes else np.ones(len(self))

    def only(self, k: int) -> "Problem":
        """Problem k alone."""
        if self.classes is not None:
            return replace(self, classes=self.classes[k : k + 1])
        return replace(self, targets=self.y(k))

    def take(self, examples: np.ndarray) -> "Problem":
        """Returns the same problems on some of the examples."""
        return replace(self, targets=self.targets[examples], C=self.C[examples])

    def core(self) -> Any:
        """The problems for the core: the loss and the targets; classes are empty for regression, and y for classes."""
        assert isinstance(self.loss, DualLoss)
        if self.classes is not None:
            return _core.Targets(self.loss.core(), self.targets, self.classes, np.empty(0), self.C)
        y = np.ascontiguousarray(self.targets.reshape(len(self), -1).T).ravel()
        return _core.Targets(self.loss.core(), np.empty(0, np.int32), np.empty(0, np.int32), y, self.C)

    def primal(self, sq_norm: float, f: np.ndarray, intercept: float, k: int = 0) -> float:
        """The objective of problem k at decision values f, |w|^2 and b.

        >>> problem = Problem(Hinge(), np.array([0, 1]), np.ones(2), classes=np.array([1]))
        >>> problem.primal(2.0, np.array([-1.0, 0.5]), 1.0)
        2.0
        """
        return self.loss.primal(self, k, sq_norm, f, intercept)

    def dual(self, beta: np.ndarray, sq_norm: float, k: int = 0) -> float:
        """The dual value of problem k at coefficients beta of the examples, with sq_norm = beta'K beta (K + 1 with an intercept).

        >>> problem = Problem(Hinge(), np.array([0, 1]), np.ones(2), classes=np.array([1]))
        >>> problem.dual(np.array([-0.5, 0.5]), 0.5)
        0.75
        """
        return self.loss.dual(self, k, sq_norm, beta)


def times(bound: float, C: np.ndarray) -> np.ndarray:
    """A bound for each example: 0 where C is 0, also where the bound is infinite."""
    return np.multiply(bound, C, out=np.zeros_like(C), where=C > 0)


def check_intercept(name: str, value: Any) -> None:
    """Refuses a value that is not a kind of intercept."""
    if not any(value is known or value == known == "free" for known in INTERCEPTS):
        raise InputError(f"{name} is {value!r}, expected False, True or 'free'")


def check_shape(name: str, array: np.ndarray, expected: tuple[int, ...]) -> None:
    """Refuses an array of another shape."""
    if array.shape != expected:
        raise InputError(f"{name} has the shape {array.shape}, expected {expected}")
