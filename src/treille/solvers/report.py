"""The result of a solver: a solution, and a report that proves how good it is."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import MISSING, asdict, dataclass, fields, replace
from itertools import zip_longest
from math import inf, isfinite, nan
from numbers import Real
from typing import Any

import numpy as np
import sklearn.exceptions

from treille import _core
from treille.drawing.tables import facts, table
from treille.io import stored
from treille.io.errors import InputError, first_level_outside

Progress = Callable[[int, int, float], None]  # problems done, epochs, relative gap
History = tuple[tuple[float, float, float], ...]  # seconds, primal, dual
MOMENTS = 200  # at most, of several problems together
MOST_SHOWN = 50  # problems in the table of a notebook
STATUS = {"stopped": "max_seconds"}  # the core's names that differ


class ConvergenceWarning(sklearn.exceptions.ConvergenceWarning):
    """The limit on epochs or seconds was reached before the requested gap; the report contains the gap reached.

    >>> issubclass(ConvergenceWarning, UserWarning)
    True
    """


class LongTrainingWarning(UserWarning):
    """Many problems, such as one per class, are going to take minutes; the message says how many.

    >>> issubclass(LongTrainingWarning, UserWarning)
    True
    """


@dataclass(frozen=True)
class Report:
    """The result of a training run. The optimum lies between `dual` and `primal`: their difference, the gap, is the proof.

    >>> report = Report(primal=2.0, dual=1.998, epochs=7, seconds=0.1, status="converged", seed=0)
    >>> f"{report.gap:.3f} {report.relative_gap:.3f}"
    '0.002 0.001'
    """

    primal: float
    dual: float
    epochs: int
    seconds: float  # 0 if unknown: for a model from a file
    # "converged", "max_epochs", "max_seconds", "rounding" where float64 allows no smaller gap, or "stream" for `partial_fit`
    status: str
    seed: int
    per_class: tuple[Report, ...] = ()
    # The share of the kernel matrix's trace that the space lost; the gap refers to the problem on this space.
    approximation_error: float = 0.0
    representation: str = ""  # of W', where the solver has a choice
    # Seconds, primal and dual value on the way, for solvers that record them; with several problems the sums of values this long
    # after each was begun. The dual value is a bound at any time; DualCD computes the primal value from outputs as last read,
    # so that it is exact at the end.
    history: History = ()
    # A perceptron's objective is minus the margin. It also reports the mistakes of each epoch, the largest norm of an example, and
    # the margin of the last weights, which differs from the margin of the model where the model has their mean.
    mistakes: tuple[int, ...] = ()
    radius: float = 0.0
    last_margin: float = 0.0
    # On a cluster: rounds in which weights went out and a sum came back, the bytes of these, and seconds by stage.
    rounds: int = 0
    bytes_sent: int = 0
    stages: tuple[tuple[str, float], ...] = ()

    @property
    def gap(self) -> float:
        """Primal minus dual: no other solution has an objective that is lower by more."""
        return max(0.0, self.primal - self.dual)

    @property
    def relative_gap(self) -> float:
        """The gap as a fraction of the absolute primal value; with several problems, the largest."""
        if self.per_class:
            return max(report.relative_gap for report in self.per_class)
        return self.gap / abs(self.primal) if self.primal != 0 else 0.0

    @property
    def margin(self) -> float:
        """The least distance of a training example from the boundary of a perceptron, negative if one is misclassified.

        With several problems, the smallest. NaN after `partial_fit`, which does not look at examples again.
        """
        if self.per_class:
            return min(report.margin for report in self.per_class)
        return nan if self.status == "stream" else -self.primal

    @property
    def mistake_bound(self) -> float:
        """Novikoff's bound on the mistakes of a perceptron with weights of 1, (radius / margin)^2, for the largest margin known.

        That is the margin of the model or of the last weights. With several problems, the sum of the bounds. Infinite where no
        positive margin is known.

        >>> Report(-0.5, -0.7, 3, 0.0, "converged", 0, mistakes=(3, 1, 0), radius=2.0).mistake_bound
        16.0
        """
        if self.per_class:
            return sum(report.mistake_bound for report in self.per_class)
        known = max(-self.primal, self.last_margin)
        return (self.radius / known) ** 2 if known > 0 else inf

    def __repr__(self) -> str:
        several = f", {len(self.per_class)} classes" if self.per_class else ""
        if self.mistakes:
            return (
                f"Report(status={self.status!r}, mistakes={sum(self.mistakes)} ({self.mistakes[-1]} in the last epoch), "
                f"margin={self.margin:.3g}, epochs={self.epochs}, seconds={self.seconds:.3g}, seed={self.seed}{several})"
            )
        if self.approximation_error > 0:
            several += f", approximation_error={self.approximation_error:.2g}"
        return (
            f"Report(status={self.status!r}, relative_gap={self.relative_gap:.2g}, primal={self.primal:.6g}, dual={self.dual:.6g}, "
            f"epochs={self.epochs}, seconds={self.seconds:.3g}, seed={self.seed}{several})"
        )

    def _repr_html_(self) -> str:
        bound = f"primal {self.primal:.6g}, dual {self.dual:.6g}"
        gap = f"{self.relative_gap:.2g} of the objective ({bound})"
        lost = f"{self.approximation_error:.2g} of the trace" if self.approximation_error > 0 else ""
        seconds = f"{self.seconds:.3g} s, " if self.seconds else ""
        took = f"{self.epochs:,} epochs, {seconds}seed {self.seed}"
        shown = facts("Report", {"status": self.status, "duality gap": gap, "training": took, "approximation": lost})
        if not self.per_class:
            return shown
        rows = [
            [str(k), each.status, f"{each.relative_gap:.2g}", f"{each.epochs:,}", f"{each.primal:.6g}"]
            for k, each in enumerate(self.per_class[:MOST_SHOWN])
        ]
        more = f", the first {MOST_SHOWN}" if len(self.per_class) > MOST_SHOWN else ""
        title = f"{len(self.per_class):,} problems{more}"
        return shown + table(title, ["problem", "status", "duality gap", "epochs", "primal"], rows)

    @classmethod
    def combined(cls, each: Sequence[Report]) -> Report:
        """Combines the reports of several problems: values are summed; the status is the first other than "converged"."""
        if len(each) == 1:
            return each[0]
        worst = next((r.status for r in each if r.status != "converged"), "converged")
        primal, dual, epochs = sum(r.primal for r in each), sum(r.dual for r in each), max(r.epochs for r in each)
        parts = tuple(replace(own, history=()) for report in each for own in report.per_class or (report,))
        history = combined_history([report.history for report in each])
        mistakes = tuple(map(sum, zip_longest(*(r.mistakes for r in each), fillvalue=0)))
        found = cls(primal, dual, epochs, each[0].seconds, worst, each[0].seed, parts)
        return replace(found, history=history, mistakes=mistakes, radius=max(r.radius for r in each))

    def timeless(self) -> Report:
        """Without times, and without values at some times, which differ from run to run: what a model file keeps.

        >>> Report(2.0, 1.998, 7, 0.1, "converged", 0, history=((0.1, 2.0, 1.998),)).timeless().history
        ()
        """
        each = tuple(report.timeless() for report in self.per_class)
        return replace(self, seconds=0.0, per_class=each, history=(), stages=())

    def as_dict(self) -> dict[str, Any]:
        """JSON values, for files and scripts."""
        return asdict(self) | {"gap": self.gap, "relative_gap": self.relative_gap}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Report:
        """The inverse of `as_dict`."""
        optional = {field.name: field.default for field in fields(cls) if field.default is not MISSING}
        defaults = {name: list(value) if value == () else value for name, value in optional.items()} | values
        names = ("primal", "dual", "seconds", "approximation_error", "radius", "last_margin")
        numbers: dict[str, Any] = {k: stored.number(defaults, k) for k in names}
        counts: dict[str, Any] = {k: stored.whole(defaults, k) for k in ("epochs", "seed", "rounds", "bytes_sent")}
        texts: dict[str, Any] = {k: stored.value(defaults, k, str) for k in ("status", "representation")}
        each = tuple(cls.from_dict(v) for v in stored.value(values, "per_class", list))
        moments = np.array(stored.value(defaults, "history", list), dtype=object)
        try:
            history = tuple((float(s), float(p), float(d)) for s, p, d in moments)
        except (TypeError, ValueError):
            raise InputError("history is not a list of seconds, primal and dual values") from None
        mistakes = tuple(stored.whole({"mistakes": n}, "mistakes") for n in stored.value(defaults, "mistakes", list))
        stages = tuple((str(name), float(seconds)) for name, seconds in stored.value(defaults, "stages", list))
        return cls(**numbers, **counts, **texts, per_class=each, history=history, mistakes=mistakes, stages=stages)


def combined_history(each: Sequence[History]) -> History:
    """The sums of several problems, each with its last values. Empty if one has no history."""
    if not all(each):
        return ()
    times = sorted({moment[0] for history in each for moment in history})
    times = [*times[: -1 : -(-len(times) // MOMENTS)], times[-1]]  # before the sums: there may be thousands of problems
    total = np.zeros((len(times), 2))
    for history in each:
        moments = np.array(history)
        total += moments[np.maximum(np.searchsorted(moments[:, 0], times, side="right") - 1, 0), 1:]
    return tuple((t, float(primal), float(dual)) for t, (primal, dual) in zip(times, total, strict=True))


class Recorder:
    """Records values at times that grow by a quarter, as the core does.

    >>> recorder = Recorder()
    >>> recorder.add(2.0, 1.0, last=True)
    >>> [values for _, *values in recorder.history]
    [[2.0, 1.0]]
    """

    def __init__(self) -> None:
        self.begun, self.history = time.perf_counter(), list[tuple[float, float, float]]()

    def add(self, primal: float, dual: float, last: bool = False) -> None:
        """Keeps the values if it is time, and the last ones always."""
        seconds = time.perf_counter() - self.begun
        if last or not self.history or seconds >= 1.25 * self.history[-1][0]:
            self.history.append((seconds, primal, dual))

    def report(self, primal: float, dual: float, epochs: int, status: str, seed: int) -> Report:
        """The report of a run that ended with these values."""
        self.add(primal, dual, last=True)
        return Report(primal, dual, epochs, 0.0, status, seed, history=tuple(self.history))


@dataclass(frozen=True, eq=False)
class Solution:
    """The solution of a solver: functions f_k(x) = w_k.phi(x) + intercept_k, one per problem, and their proof.

    w is given in one of two ways: `weights` of features (one row per feature, one column per problem), or, where that is None,
    `coefficients` of the examples (one row per example): w_k = sum_i coefficients[i, k] phi(x_i). `alpha` has one row of dual
    variables per problem, at which `report` states the dual value: with the hinge losses they lie between 0 and C (squared:
    they are at least 0), and the coefficient of example i is y_i alpha_i; with other losses they are the coefficients.

    >>> report = Report(1.0, 1.0, epochs=1, seconds=0.0, status="converged", seed=0)
    >>> Solution(np.zeros(1), np.zeros((1, 2)), report, weights=np.zeros((3, 1))).weights.shape
    (3, 1)
    """

    intercept: np.ndarray
    alpha: np.ndarray
    report: Report
    weights: np.ndarray | None = None
    coefficients: np.ndarray | None = None

    @classmethod
    def combined(cls, each: Sequence[Solution]) -> Solution:
        """The solutions of several problems, one after another, as one."""
        weights = [s.weights for s in each if s.weights is not None]
        coefficients = [s.coefficients for s in each if s.coefficients is not None]
        return cls(
            np.concatenate([s.intercept for s in each]),
            np.concatenate([s.alpha for s in each]),
            replace(Report.combined([s.report for s in each]), representation=each[0].report.representation),
            np.hstack(weights) if weights else None,
            np.hstack(coefficients) if coefficients else None,
        )

    def timed(self, seconds: float) -> Solution:
        """The same solution with this time in its reports."""
        each = tuple(replace(report, seconds=seconds) for report in self.report.per_class)
        return replace(self, report=replace(self.report, seconds=seconds, per_class=each))


def reports_of(answers: _core.Answers, seed: int) -> list[Report]:
    """One report for each problem of a run in the core."""
    each = zip(answers.primal, answers.dual, answers.epochs, answers.status, answers.history, strict=True)
    return [
        Report(float(p), float(d), e, 0.0, STATUS.get(s, s), seed, history=tuple((t, v, w) for t, v, w in h))
        for p, d, e, s, h in each
    ]


def check_outcome(report: Report, tol: float) -> None:
    """Refuses an objective that is not a finite number; issues a `ConvergenceWarning` if a limit ended training.

    The warning says what to do, and is located at the call of the estimator or the solver.
    """
    if not all(isfinite(each.primal) for each in report.per_class or (report,)):
        raise InputError(
            "the objective is not a finite number: targets, weights or kernel values are too large for float64. Scale them, "
            "or use a normalized kernel"
        )
    if report.status == "converged":
        return
    if report.mistakes:
        message = (
            f"stopped at {report.status} with {report.mistakes[-1]:,} mistakes in the last of {report.epochs:,} epochs: no weights "
            "found separate the classes, and there may be none. Raise max_epochs, use a kernel with more features, or use "
            "treille.SVC, which does not need classes that can be separated"
        )
    else:
        rounding = report.status == "rounding"
        message = (
            f"stopped at {'the limits of float64' if rounding else report.status} with a relative duality gap of "
            f"{report.relative_gap:.2g}, asked for {tol:.2g}: {'' if rounding else f'raise {report.status}, '}use a larger tol, "
            "more regularisation (a smaller C, a larger alpha), a normalized kernel, or, for columns of numbers, scale them to "
            "similar ranges"
        )
    warnings.warn(message, ConvergenceWarning, stacklevel=first_level_outside())


def check_budget(max_seconds: Any) -> None:
    """Refuses a `max_seconds` that is not a positive number or None."""
    if max_seconds is not None and not (isinstance(max_seconds, Real) and float(max_seconds) > 0):
        raise InputError(f"max_seconds is {max_seconds!r}, expected a positive number or None")
