"""What solvers return: a solution, and a report that proves how good it is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import sklearn.exceptions


class ConvergenceWarning(sklearn.exceptions.ConvergenceWarning):
    """The budget ended before the asked-for gap was reached; the report tells the gap that was.

    >>> issubclass(ConvergenceWarning, UserWarning)
    True
    """


@dataclass(frozen=True)
class Report:
    """How a training run ended. The optimum lies between `dual` and `primal`: their difference, the gap, is the proof.

    >>> report = Report(primal=2.0, dual=1.998, epochs=7, seconds=0.1, status="converged", seed=0)
    >>> f"{report.gap:.3f} {report.relative_gap:.3f}"
    '0.002 0.001'
    """

    primal: float
    dual: float
    epochs: int
    seconds: float
    status: str  # "converged", "max_epochs" or "max_seconds"
    seed: int
    per_class: tuple[Report, ...] = ()

    @property
    def gap(self) -> float:
        """Primal minus dual: no answer can be better than this one by more."""
        return max(0.0, self.primal - self.dual)

    @property
    def relative_gap(self) -> float:
        """The gap as a part of the primal value; with several classes, the largest of theirs."""
        if self.per_class:
            return max(report.relative_gap for report in self.per_class)
        return self.gap / self.primal if self.primal > 0 else 0.0

    def __repr__(self) -> str:
        several = f", {len(self.per_class)} classes" if self.per_class else ""
        return (
            f"Report(status={self.status!r}, relative_gap={self.relative_gap:.2g}, primal={self.primal:.6g}, dual={self.dual:.6g}, "
            f"epochs={self.epochs}, seconds={self.seconds:.3g}, seed={self.seed}{several})"
        )

    def as_dict(self) -> dict[str, Any]:
        """JSON values, for files and scripts."""
        return asdict(self) | {"gap": self.gap, "relative_gap": self.relative_gap}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Report:
        """The inverse of `as_dict`."""
        known = {k: v for k, v in values.items() if k not in ("gap", "relative_gap", "per_class")}
        return cls(**known, per_class=tuple(cls.from_dict(v) for v in values["per_class"]))


@dataclass(frozen=True)
class Solution:
    """Weights (a row per feature, a column per class), biases, dual variables (a row per class) and the report.

    >>> import numpy as np
    >>> Solution(np.zeros((3, 1)), np.zeros(1), np.zeros((1, 2)), Report(1, 1, 1, 0.0, "converged", 0)).weights.shape
    (3, 1)
    """

    weights: np.ndarray
    bias: np.ndarray
    alpha: np.ndarray
    report: Report
