"""LIBLINEAR on a given matrix, on one thread, with the largest eps that reliably reaches a duality gap."""

from __future__ import annotations

import contextlib
import ctypes
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np

EPS = tuple(float(f"{10**-e:.3g}") for e in np.arange(0.0, 5.01, 0.125))
COARSE = 4  # steps of the grid at a time, at first


class Liblinear:
    """The hinge loss, a regularised bias, one class against the rest. Building the problem is not timed."""

    def __init__(self, matrix: Any, codes: np.ndarray, C: float):
        from liblinear.liblinearutil import problem

        self.matrix, self.codes, self.C = matrix, codes, C
        self.problem = problem(codes.astype(float), matrix, bias=1)

    def train(self, eps: float, options: str = "-q") -> Any:
        from liblinear.liblinearutil import parameter, train

        return train(self.problem, parameter(f"-s 3 -c {self.C} -B 1 -e {eps} {options}"))

    def gap(self, eps: float) -> float:
        """The relative gap; of several classes the largest, as in treille. The dual values are printed by LIBLINEAR."""
        with printed() as lines:
            model = self.train(eps, "")
        duals = [-float(line.split("=")[1]) for line in lines if line.startswith("Objective value")]
        w = np.array(model.w[: (model.nr_feature + 1) * len(duals)]).reshape(-1, len(duals))
        signs = np.where(self.codes[:, None] == np.array(model.label[: len(duals)]), 1, -1)
        slack = np.maximum(0, 1 - signs * (self.matrix @ w[:-1] + w[-1]))
        primals = 0.5 * (w**2).sum(axis=0) + self.C * slack.sum(axis=0)
        return float(((primals - duals) / primals).max())

    def eps_for(self, gap: float, careful: bool = True) -> float:
        """The largest eps of the grid with which two runs reach the gap, if its two smaller neighbours reach it, too.

        LIBLINEAR's primal value fluctuates, and users do not see the gap, so an eps that reaches it by chance does not count. If
        not `careful`: the first eps of a coarse grid with which one run reaches the gap.
        """
        first = next((k for k in range(0, len(EPS), COARSE) if self.gap(EPS[k]) <= gap), None)
        if first is not None and not careful:
            return EPS[first]
        good = 0
        for k in range(max(0, (first or 0) - COARSE + 1), len(EPS)) if first is not None else ():
            good = good + 1 if self.gap(EPS[k]) <= gap and self.gap(EPS[k]) <= gap else 0
            if good == 3:
                return EPS[k - 2]
        raise RuntimeError(f"no eps in the grid reaches a gap of {gap}")


@contextlib.contextmanager
def printed() -> Iterator[list[str]]:
    """Captures the lines that compiled code prints inside ``with``."""
    lines: list[str] = []
    ctypes.CDLL(None).fflush(None)
    with tempfile.TemporaryFile("w+") as file:
        kept = os.dup(1)
        os.dup2(file.fileno(), 1)
        try:
            yield lines
        finally:
            ctypes.CDLL(None).fflush(None)
            os.dup2(kept, 1)
            os.close(kept)
            file.seek(0)
            lines.extend(file.read().splitlines())
