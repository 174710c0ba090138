"""Dual coordinate descent at the driver, on the rows of all parts of a cluster, which are sent there once.

Descent takes so few passes over the rows that nothing is gained by dividing them where they fit in one memory. Workers divide the
reading, the counting of features and the computation of rows.
"""

from dataclasses import replace

import numpy as np

from treille.data.base import readable_size
from treille.io.errors import InputError
from treille.io.parameters import parse_size
from treille.solvers.dual_cd import DualCD
from treille.solvers.problem import Problem
from treille.solvers.report import Solution
from treille.solvers.segments import solve_segments
from treille.solvers.solver import ClusterSolver, Run
from treille.spaces.cluster import ClusterSpace


class GatheredDualCD(ClusterSolver):
    """Gathers the rows of all parts at the driver, and solves the problem there as `DualCD` does. Works on clusters.

    Parameters
    ----------
    memory : int or str
        Memory for the rows, "1GB" say. Where they take more, ``solver="auto"`` is `BundleMethod`, and this solver refuses them.
    max_seconds : float or None
        Stop after this time with the solution so far, and warn.

    Examples
    --------
    >>> import treille
    >>> treille.solvers.GatheredDualCD().spaces[0].name
    'cluster'
    """

    losses = DualCD.losses

    def __init__(self, memory: int | str = "1GB", max_seconds: float | None = None):
        self.memory = memory
        self.max_seconds = max_seconds

    def check(self) -> None:
        super().check()
        parse_size("memory", self.memory)

    def recommended(self, space: ClusterSpace, problem: Problem) -> bool:
        return space.rows.nbytes <= parse_size("memory", self.memory)

    def _solve(self, problem: Problem, space: ClusterSpace, run: Run) -> Solution:
        if not self.recommended(space, problem):
            raise InputError(
                f"the rows take {readable_size(space.rows.nbytes)}, more than memory={self.memory!r}: allow more, or use "
                "solver='auto' or BundleMethod(), which leave them on the workers"
            )
        n = len(space.futures)
        found = space.cluster.gather([*space.futures, *space.problems])
        space.cluster.release(space.futures)
        targets, C = (np.concatenate([getattr(own, name) for own in found[n:]]) for name in ("targets", "C"))
        whole = replace(problem, targets=targets, C=C)
        solution = solve_segments([rows for rows in found[:n] if len(rows)], whole, run)
        # On a cluster, epochs are rounds.
        return replace(solution, report=replace(solution.report, epochs=1, rounds=1, bytes_sent=space.rows.nbytes))
