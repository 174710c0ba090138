"""The Nystrom space: dense features from the kernel's values with some landmark examples. An approximation, asked for by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from treille.data import Batch
from treille.data.base import readable_size
from treille.features import DenseRows
from treille.io.errors import InputError
from treille.io.parameters import check_whole
from treille.kernels import Kernel


class Nystrom(BaseEstimator):
    """How to approximate a kernel: by its values with `n_landmarks` examples, drawn by `seed`.

    Parameters
    ----------
    n_landmarks : int
        More are more exact, and cost more: a kernel value for each example and landmark.
    seed : int
        Of the draw. The result also depends on the order of the examples.

    References
    ----------
    Williams, Seeger: Using the Nystroem method to speed up kernel machines. NIPS 2000.

    Examples
    --------
    >>> import treille
    >>> from treille.spaces import Nystrom
    >>> model = treille.SVC(treille.kernels.NGram(2), space=Nystrom(n_landmarks=3))
    >>> model.fit(["abab", "baba", "ccdd", "dccd"], [0, 0, 1, 1]).report_.approximation_error < 0.2
    True
    """

    def __init__(self, n_landmarks: int = 300, seed: int = 0):
        self.n_landmarks = n_landmarks
        self.seed = seed

    def check(self) -> None:
        """Raises an `InputError` where a parameter is out of its range."""
        check_whole("n_landmarks", self.n_landmarks)
        check_whole("seed", self.seed, 0)

    @staticmethod
    def asked_for(space: Any) -> Nystrom | None:
        """The options that an estimator's parameter `space` names: None for "auto".

        >>> Nystrom.asked_for("nystrom"), Nystrom.asked_for("auto")
        (Nystrom(), None)
        """
        if isinstance(space, Nystrom):
            space.check()
            return space
        if isinstance(space, str) and space in ("auto", "nystrom"):
            return Nystrom() if space == "nystrom" else None
        raise InputError(f"space is {space!r}, expected 'auto', 'nystrom' or treille.spaces.Nystrom(n_landmarks=...)")


@dataclass(frozen=True)
class NystromSpace:
    """phi(x) = k(x, Z) P for landmarks Z, where P P' is the pseudo-inverse of k(Z, Z): phi(x).phi(z) = k(x, z) for z in Z.

    f(x) = w.phi(x) is the function with coefficients P w of the landmarks. O(n m) kernel values, O(n m^2 + m^3) beside.

    >>> import numpy as np
    >>> from treille.kernels import NGram
    >>> kernel = NGram(1)
    >>> space = NystromSpace.of(kernel, kernel.batch(["ab", "b", "abc"]), Nystrom(n_landmarks=2))
    >>> len(space.landmarks), space.rows.n_features, 0 < space.error < 0.5
    (2, 2, True)
    """

    landmarks: Batch
    projection: np.ndarray  # P: a row per landmark, a column per feature
    rows: DenseRows
    error: float  # 1 - trace of the approximate matrix / trace of the exact one: 0 is exact

    @classmethod
    def of(cls, kernel: Kernel, batch: Batch, options: Nystrom, n_jobs: int | None = None) -> NystromSpace:
        """Draws the landmarks and computes the features of the batch."""
        n = len(batch)
        drawn = np.random.default_rng(options.seed).choice(n, min(options.n_landmarks, n), replace=False)
        landmarks = batch[np.sort(drawn)]
        values, vectors = np.linalg.eigh(kernel.gram(landmarks, n_jobs=n_jobs))
        kept = values > max(values[-1], 0.0) * len(values) * np.finfo(float).eps
        projection = vectors[:, kept] / np.sqrt(values[kept])
        rows = DenseRows(kernel(batch, landmarks, n_jobs=n_jobs) @ projection)
        exact = kernel.diagonal(batch, n_jobs).sum()
        error = max(0.0, 1.0 - float(rows.diag().sum() / exact)) if exact > 0 else 0.0
        return cls(landmarks, projection, rows, error)

    def for_core(self) -> Any:
        """The rows as solvers in the core take them."""
        return self.rows.for_core()

    def read_weights(self, cells: np.ndarray) -> np.ndarray:
        """The weight of every feature, from what a solver gives."""
        return cells

    def sizes(self) -> str:
        """How large the space is, in words, and how far from exact."""
        rows, size = self.rows, readable_size(self.rows.nbytes)
        counts = f"{len(rows):,} examples, {len(self.landmarks):,} landmarks, {rows.n_features:,} features"
        return f"{counts}, {size} of rows; {self.error:.2g} of the kernel matrix's trace is lost"
