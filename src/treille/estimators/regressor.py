"""What the regressors share: prediction, weights, model files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from treille.data import Batch
from treille.estimators.functions import Functions, LinearFunctions, read_functions
from treille.estimators.persistence import estimator_spec, save_estimator
from treille.estimators.targets import (
    check_kernel_parameter,
    check_numbers,
    check_positive,
    check_sample_weight,
    check_whole,
)
from treille.io.errors import InputError
from treille.kernels import FeatureMap, Kernel
from treille.solvers import Report
from treille.spaces import Plan, plan


class Regressor(RegressorMixin, BaseEstimator):
    """A function of structured examples, learnt from numbers; subclasses implement ``fit``.

    >>> import treille
    >>> isinstance(treille.Ridge(), Regressor)
    True
    """

    kernel: Kernel | None
    n_jobs: int | None
    tol: float
    max_epochs: int
    plan_: Plan
    report_: Report
    functions_: Functions
    n_iter_: int
    one_target_: bool

    def _read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Plan, Batch, np.ndarray, np.ndarray]:
        """What to learn, checked: plan, examples, numbers (as many dimensions as given), weights."""
        X = list(X) if isinstance(X, Iterator) else X  # looked at first, then read
        chosen = plan(self.kernel, X)
        batch = chosen.kernel.batch(X, self.n_jobs)
        if len(batch) == 0:
            raise InputError("there are no examples: fit needs at least one")
        return chosen, batch, check_numbers(y, len(batch)), check_sample_weight(sample_weight, len(batch))

    def _keep(self, functions: Functions, report: Report, chosen: Plan, one_target: bool) -> None:
        self.functions_, self.report_, self.plan_ = functions, report, chosen
        self.n_iter_, self.one_target_ = report.epochs, one_target

    def check_parameters(self) -> None:
        """Raises an `InputError` where a parameter is out of its range. `fit` begins with it."""
        check_positive("tol", self.tol)
        check_whole("max_epochs", self.max_epochs, 1)
        check_kernel_parameter(self.kernel)

    def predict(self, X: Any) -> np.ndarray:
        """A number for every example; a row of numbers where there are several targets."""
        check_is_fitted(self, "functions_")
        outputs = self.functions_.outputs(self.plan_.kernel.batch(X, self.n_jobs), self.n_jobs)
        return outputs[:, 0] if self.one_target_ else outputs

    @property
    def coef_(self) -> np.ndarray:
        """Weights, a number per feature; with several targets, a row of them for each."""
        weights = self._linear().weights
        return weights[:, 0] if self.one_target_ else weights.T

    @property
    def features_(self) -> FeatureMap:
        """The fitted features; ``features_.name(i)`` reads entry i of ``coef_``."""
        return self._linear().features

    @property
    def intercept_(self) -> Any:
        """A number; with several targets, one for each."""
        check_is_fitted(self, "functions_")
        return float(self.functions_.intercept[0]) if self.one_target_ else self.functions_.intercept

    def _linear(self) -> LinearFunctions:
        check_is_fitted(self, "functions_")
        if not isinstance(self.functions_, LinearFunctions):
            raise AttributeError(f"{self.plan_.kernel!r} has no explicit features, so there are no weights of features")
        return self.functions_

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to a file that `treille.load` reads; only features or examples with weight are kept."""
        check_is_fitted(self, "functions_")
        functions_spec, arrays = self.functions_.state()
        spec = estimator_spec(self, skip=("kernel", "n_jobs", "verbose"))
        spec |= {"kernel": self.plan_.kernel.spec(), "report": self.report_.as_dict(), "one_target": self.one_target_}
        save_estimator(path, spec | functions_spec, arrays, np.empty(0))  # no classes

    def _restore(self, spec: dict[str, Any], arrays: dict[str, np.ndarray], classes: np.ndarray) -> None:
        self.kernel = Kernel.from_spec(spec["kernel"])
        functions = read_functions(self.kernel, spec, arrays, len(arrays["intercept"]))
        if spec["one_target"] not in (True, False) or (spec["one_target"] and len(functions.intercept) != 1):
            raise InputError("the number of targets in the file does not fit its weights")
        chosen = replace(plan(self.kernel, []), kernel_why="from the model file", sizes=functions.sizes())
        self._keep(functions, Report.from_dict(spec["report"]), chosen, spec["one_target"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags
