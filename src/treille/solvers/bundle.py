"""A bundle: planes below the losses, their best mixture, and the best values so far, for `CuttingPlane` and `BundleMethod`.

Plane t says that the losses at w are at least b_t - w.v_t; plane 0 is 0. The best w for the planes is sum_t a_t v_t for the mixture
a, a >= 0 and sum(a) = 1, that maximises b.a - 1/2 a'Ga, where G_st = v_s.v_t. Subclasses know what the v_t are.
"""

import numpy as np

from treille import _core
from treille.solvers.report import Recorder, Report


class Bundle:
    """The planes of one problem, by their products and offsets."""

    def __init__(self) -> None:
        self.gram, self.offsets, self.mixture = np.zeros((1, 1)), np.zeros(1), np.ones(1)
        self.idle = np.zeros(1, int)  # rounds in which a plane has had no weight
        self.primal, self.dual, self.rounds, self.status = np.inf, 0.0, 0, ""
        self.recorder = Recorder()

    @property
    def relative_gap(self) -> float:
        """The gap between the best w and the best dual point so far; 1 before a primal value is known."""
        return (self.primal - self.dual) / self.primal if 0 < self.primal < np.inf else float(self.primal > 0)

    def add_plane(self, products: np.ndarray, square: float, offset: float) -> None:
        """Adds a plane, given its products with the others, its square and its offset."""
        self.gram = np.block([[self.gram, products[:, None]], [products, square]])
        self.offsets, self.mixture = np.append(self.offsets, offset), np.append(self.mixture, 0.0)
        self.idle = np.append(self.idle, 0)

    def mix_planes(self, precision: float) -> None:
        """Finds the best mixture, up to this part of its value."""
        _core.mix_planes(np.ascontiguousarray(self.gram).ravel(), self.offsets, self.mixture, precision)
        self.idle = np.where(self.mixture > 0, 0, self.idle + 1)
        self.idle[0] = 0

    def keep_planes(self, kept: np.ndarray) -> None:
        """Drops all planes but these."""
        self.gram = self.gram[np.ix_(kept, kept)]
        self.offsets, self.mixture, self.idle = self.offsets[kept], self.mixture[kept], self.idle[kept]

    def small_gap(self, tol: float) -> bool:
        """Whether the gap is at most `tol` of the primal value."""
        return self.primal - self.dual <= tol * self.primal

    def report(self, seed: int = 0) -> Report:
        """The values of the rounds so far."""
        return self.recorder.report(self.primal, self.dual, self.rounds, self.status, seed)
