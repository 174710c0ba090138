"""Ridge regression with parameters chosen by cross-validation."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import check_scoring

from treille.data import Batch
from treille.estimators.base import KernelParameter
from treille.estimators.held_out import HeldOutRegressor, Split
from treille.estimators.ridge import Ridge
from treille.estimators.search import Evaluated, Results, SearchCV
from treille.estimators.targets import check_sample_weight
from treille.io.errors import InputError
from treille.kernels import Centered, Kernel
from treille.kernels.fitting import KnownFeatures
from treille.solvers import Solver
from treille.solvers.leave_one_out import leave_one_out
from treille.spaces import MemorySource, Nystrom


@dataclass(eq=False, repr=False)
class RidgeCV(RegressorMixin, SearchCV):
    """`Ridge` with alpha, and other parameters, chosen by cross-validation, by default leave-one-out in closed form.

    Parameters
    ----------
    kernel, grid
        As in `SVCCV`.
    alphas : list of float, or int
        The values of alpha to try; a number of values is spread evenly on a logarithmic scale from 0.001 to 1000.
    cv : None, int, splitter, or iterable of splits
        None is leave-one-out: exact, for all alphas from one eigen-decomposition of the smaller of the kernel matrix and the
        covariance of the features. Otherwise as in `SVCCV`.
    scoring : str, callable or None
        As in scikit-learn. None is R^2, and for leave-one-out minus the squared error. For leave-one-out, a scorer is called once
        with the predictions for all examples.
    fit_intercept, tol, max_epochs, solver, space, n_jobs, verbose
        As in `Ridge`.

    Attributes
    ----------
    alpha_ : float
        The best alpha.
    best_params_, best_score_, best_index_, cv_results_, best_estimator_
        As in `SVCCV`; ``cv_results_`` of leave-one-out has one score for all examples.

    Examples
    --------
    >>> import treille
    >>> from treille.kernels import NGram
    >>> model = treille.RidgeCV(NGram(1), alphas=[0.01, 1, 100]).fit(["a", "aa", "ab", "b"], [1.0, 2.0, 0.0, -1.0])
    >>> model.alpha_, model.predict(["aab", "aaa"]).round(1).tolist()
    (0.01, [1.0, 3.0])
    """

    estimator = Ridge
    path = ("alpha", "alphas")

    kernel: KernelParameter | Sequence[KernelParameter] = None
    alphas: Sequence[float] | int = 10
    grid: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    cv: Any = None
    scoring: Any = None
    fit_intercept: bool | str = "free"
    tol: float = 1e-6
    max_epochs: int = 1000
    solver: str | Solver = "auto"
    space: str | Nystrom = "auto"
    n_jobs: int | None = None
    verbose: int = 0

    def strength(self, value: float) -> float:
        return 0.5 / value

    def _unit(self) -> float:
        return 0.5

    def _splits(self, X: Any, y: Any, groups: Any, n: int) -> list[Split]:
        return [] if self.cv is None else super()._splits(X, y, groups, n)

    def _evaluate(
        self,
        model: Any,
        kernel: Kernel,
        why: str,
        batch: Batch,
        known: KnownFeatures,
        y: Any,
        sample_weight: Any,
        splits: list[Split],
    ) -> Evaluated:
        if self.cv is not None:
            return super()._evaluate(model, kernel, why, batch, known, y, sample_weight, splits)
        inner = kernel.kernel if isinstance(kernel, Centered) and model.fit_intercept == "free" else kernel
        if inner.needs_features or isinstance(model.space, Nystrom) or model.space == "nystrom":
            raise InputError(
                f"cv is None, leave-one-out in closed form, but the features of {kernel!r} depend on all training examples: "
                "use folds, such as cv=5"
            )
        values, n = self._values(), len(batch)
        source, whole = MemorySource(kernel, why, batch), model._posed(y, sample_weight, n).problem
        chosen, space = model._planned(source, whole, known)
        begun = time.perf_counter()
        numbers, weights = np.asarray(y, np.float64).reshape(n, -1), check_sample_weight(sample_weight, n)
        outputs = leave_one_out(space, numbers, weights, values, model.fit_intercept, model.n_jobs)
        seconds = np.full((len(values), 1), (time.perf_counter() - begun) / len(values))

        def refit(value: float) -> Any:
            model.set_params(alpha=value)._solve(source, model._posed(y, sample_weight, n), chosen, space)
            return model

        return Evaluated([], [outputs], np.zeros((len(values), 1)), seconds, refit)

    def _score(
        self, evaluated: Evaluated, params: dict[str, Any], X: Any, y: Any, sample_weight: Any, results: Results
    ) -> tuple[float, float]:
        if self.cv is not None:
            return super()._score(evaluated, params, X, y, sample_weight, results)
        results.splits = False
        self.scorer_ = check_scoring(self, scoring=self.scoring)
        numbers, values, means = np.asarray(y, np.float64), self._values(), []
        for c, (value, outputs) in enumerate(zip(values, evaluated.outputs[0], strict=True)):
            begun = time.perf_counter()
            predicted = outputs.reshape(numbers.shape)
            if self.scoring is None:
                errors = ((predicted - numbers) ** 2).reshape(len(numbers), -1).mean(axis=1)
                score = -float(np.average(errors, weights=sample_weight))
            else:
                weights = self._weights_to_score(sample_weight, slice(None))
                score = float(self.scorer_(HeldOutRegressor(predicted), X, numbers, **weights))
            if not np.isfinite(score):
                raise InputError(f"the score is {score} for {params | {'alpha': value}}: use another scoring")
            took = np.array([time.perf_counter() - begun])
            results.add(params | {"alpha": value}, np.array([score]), evaluated.seconds[c], took)
            means.append(score)
        return max(means), values[int(np.argmax(means))]
