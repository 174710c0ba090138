"""The Nystrom space: dense features from the kernel's values with some landmark examples. An approximation, requested by name."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from treille.data import Batch
from treille.data.base import readable_size
from treille.data.format import count
from treille.features import DenseRows, FeatureMap, FeatureRows, MatrixRows, Representation
from treille.features.abilities import having
from treille.io.errors import InputError
from treille.io.parameters import RandomState, check_seed, check_whole, effective_n_jobs, seed_of
from treille.kernels import Kernel
from treille.kernels.fitting import FitContext
from treille.kernels.frozen import frozen
from treille.scikit_learn import BaseEstimator
from treille.spaces.functions import DecisionFunctions, KernelFunctions, LinearFunctions
from treille.spaces.space import KernelRowsSpace


class Nystrom(BaseEstimator):
    """An approximation of a kernel by its values with `n_landmarks` examples, drawn at random.

    Parameters
    ----------
    n_landmarks : int
        More landmarks are more exact, and cost more: one kernel value per example and landmark.
    seed : int, RandomState, Generator or None
        Seed of the random draw, or what draws it. The result also depends on the order of the examples.

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

    def __init__(self, n_landmarks: int = 300, seed: RandomState = 0):
        self.n_landmarks = n_landmarks
        self.seed = seed

    def check(self) -> None:
        """Raises an `InputError` where a parameter is out of its range."""
        check_whole("n_landmarks", self.n_landmarks)
        check_seed("seed", self.seed)

    name: ClassVar[str] = "nystrom"

    def offered(self, kernel: Kernel, batch: Batch) -> bool:
        """Returns whether the space can be built: always, since every kernel has values."""
        return True

    def build(
        self, kernel: Kernel, batch: Batch, n_jobs: int | None = None, context: FitContext | None = None
    ) -> "NystromSpace":
        """Draws the landmarks and computes the features of the batch."""
        n, context = len(batch), context or FitContext()
        kernel = frozen(kernel, batch, context, n_jobs)
        drawn = np.random.default_rng(seed_of("seed", self.seed)).choice(n, min(self.n_landmarks, n), replace=False)
        landmarks = batch[np.sort(drawn)]
        fitted = None
        if kernel.needs_features:  # the features are fitted on all examples, not on the landmarks
            features, whole = context.fit(kernel, batch, n_jobs)
            own, threads = having(features.transform(landmarks, n_jobs), MatrixRows), effective_n_jobs(n_jobs)
            fitted = features, own
            among, across = own.gram(None, threads), having(whole, MatrixRows).gram(own, threads)
            exact = whole.diag().sum()
        else:
            among, across = kernel.gram(landmarks, n_jobs=n_jobs), kernel.gram(batch, landmarks, n_jobs)
            exact = kernel.diagonal(batch, n_jobs).sum()
        values, vectors = np.linalg.eigh(among)
        kept = values > max(values[-1], 0.0) * len(values) * np.finfo(float).eps
        P = vectors[:, kept] / np.sqrt(values[kept])
        rows = DenseRows(across @ P)
        error = max(0.0, 1.0 - float(rows.diag().sum() / exact)) if exact > 0 else 0.0
        return NystromSpace(
            rows, None, n_jobs, error, kernel=kernel, batch=batch, landmarks=landmarks, projection=P, fitted=fitted
        )


@dataclass(frozen=True, eq=False)
class NystromSpace(KernelRowsSpace):
    """phi(x) = k(x, Z) P for landmarks Z, where P P' is the pseudo-inverse of k(Z, Z): phi(x).phi(z) = k(x, z) for z in Z.

    f(x) = w.phi(x) is the function with coefficients P w of the landmarks. O(n m) kernel values, and O(n m^2 + m^3) operations.

    >>> from treille.kernels import NGram
    >>> kernel = NGram(1)
    >>> space = Nystrom(n_landmarks=2).build(kernel, kernel.batch(["ab", "b", "abc"]))
    >>> len(space.landmarks), space.rows.n_features, 0 < space.error < 0.5
    (2, 2, True)
    """

    name: ClassVar[str] = "nystrom"

    rows: DenseRows
    landmarks: Batch = field(kw_only=True)
    projection: np.ndarray = field(kw_only=True)  # P: one row per landmark, one column per feature
    # If k is defined by fitted features: the features, and the rows of the landmarks.
    fitted: tuple[FeatureMap, FeatureRows] | None = field(default=None, kw_only=True)

    def represented(self, representation: str, n_problems: int) -> Representation:
        """The rows as DualCD reads them: dense."""
        if representation not in ("auto", "flat"):
            raise InputError(f"representation is {representation!r}, but a Nystrom space has dense rows: use 'auto'")
        return Representation("flat", "dense rows", f"{count(self.rows.n_features, 'feature')}", self.rows.for_core())

    def functions(self, solution: Any) -> DecisionFunctions:
        own, weights, intercept = solution.coefficients, solution.weights, solution.intercept
        coefficients = self.projection @ (weights if own is None else self.rmatvec(own))
        if self.fitted is not None:
            features, landmarks = self.fitted
            return LinearFunctions(features, landmarks.rmatvec(coefficients, effective_n_jobs(self.n_jobs)), intercept)
        return KernelFunctions.of(self.kernel, self.landmarks, coefficients, intercept)

    def sizes(self) -> str:
        rows, size = self.rows, readable_size(self.rows.nbytes)
        counts = f"{count(len(rows), 'example')}, {count(len(self.landmarks), 'landmark')}, {count(rows.n_features, 'feature')}"
        return f"{counts}, {size} of rows; {self.error:.2g} of the kernel matrix's trace is lost"
