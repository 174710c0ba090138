"""Base class of the regressors: targets, prediction, model files."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import r2_score

from treille.estimators.base import KernelMachine
from treille.estimators.sources import Posed, check_numbers, check_sample_weight, warn_of_column
from treille.explain.tasks import Regression
from treille.io import stored
from treille.io.errors import InputError
from treille.scale.cluster import computed
from treille.scale.dask_counting import ClusterCounts
from treille.scale.parts import Collected
from treille.scikit_learn import RegressorMixin
from treille.solvers import Problem
from treille.solvers.problem import Loss


class Regressor(RegressorMixin, KernelMachine):
    """A regression function of structured examples; subclasses name the loss."""

    most_targets: ClassVar[float] = inf  # per example
    _task = Regression
    one_target_: bool

    def _posed(self, y: Any, sample_weight: Any, n: int) -> Posed:
        """The problem of n examples.

        A regularised intercept would pull predictions towards 0, so it is learned relative to the mean of y.
        """
        (loss, C), numbers, weights = self._loss_and_C(), check_numbers(y, n), check_sample_weight(sample_weight, n)
        if numbers.ndim == 2 and numbers.shape[1] > self.most_targets:
            raise InputError(
                f"targets have the shape {numbers.shape}, expected one number per example: Ridge takes more"
            )
        one_target = numbers.ndim == 1 or self.most_targets == 1
        if numbers.ndim == 2 and one_target:
            warn_of_column()
        numbers = numbers.reshape(n, -1)
        mean = np.average(numbers, axis=0, weights=weights) * (self.fit_intercept is True)
        problem = Problem(loss, numbers - mean, C * weights, self.fit_intercept)
        return Posed(problem, {"one_target_": one_target}, mean)

    def _loss(self) -> Loss:
        return self._loss_and_C()[0]

    @abstractmethod
    def _loss_and_C(self) -> tuple[Loss, float]:
        """The loss and its weight C."""

    def _posed_on_cluster(self, counts: ClusterCounts) -> tuple[Posed, Callable[[Collected], Problem]]:
        (loss, C), cluster = self._loss_and_C(), counts.cluster
        each: list[tuple[float, np.ndarray, bool]] = cluster.gather(cluster.submit_all(_sums, counts.labels))
        (place, first), *others = [(own.place, sums) for own, sums in zip(counts.facts, each, strict=True) if own.n]
        for other, found in others:
            if len(found[1]) != len(first[1]) or found[2] != first[2]:
                shown = f"{other}: has {_numbers_per_example(found)}, {place} {_numbers_per_example(first)}"
                raise InputError(f"{shown}: use the same number of targets in all parts")
        if len(first[1]) > self.most_targets:
            raise InputError(f"there are {len(first[1])} targets per example, expected one: Ridge takes more")
        weight, one_target = sum(own[0] for own in each), first[2] or self.most_targets == 1
        if weight == 0:
            raise InputError("sample_weight is zero for every example: there is nothing to learn from")
        sums = np.sum([first[1], *(found[1] for _, found in others)], axis=0)
        mean = sums / weight * (self.fit_intercept is True)
        whole = Problem(loss, np.zeros((0, len(mean))), np.zeros(0), self.fit_intercept)
        return Posed(whole, {"one_target_": one_target}, mean), partial(_problem_of_part, whole, mean, C)

    def predict(self, X: Any) -> np.ndarray:
        """One number per example; with several targets, one row per example."""
        return self._predicted(X, lambda outputs: outputs[:, 0] if self.one_target_ else outputs)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The coefficient of determination R^2 of the predictions."""
        found = computed(self.predict(X))
        return r2_score(check_numbers(computed(y), len(found)), found, sample_weight=computed(sample_weight))

    @property
    def coef_(self) -> np.ndarray:
        """Weights, one per feature; with several targets, one row per target."""
        return super().coef_[0] if self.one_target_ else super().coef_

    @property
    def intercept_(self) -> Any:
        """A number; with several targets, one per target."""
        return float(super().intercept_[0]) if self.one_target_ else super().intercept_

    def _extra(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        return {"one_target": self.one_target_}, {}

    def _restore(self, spec: dict[str, Any], arrays: dict[str, np.ndarray], classes: np.ndarray) -> None:
        n_targets = len(stored.array(arrays, "intercept", np.float64))
        one_target = stored.value(spec, "one_target", bool)
        if n_targets == 0 or (one_target and n_targets != 1):
            raise InputError("the number of targets in the file does not fit its weights")
        self._read(spec, arrays, n_targets)
        self.one_target_ = one_target


def _columns(labels: Collected) -> np.ndarray:
    return np.asarray(labels.labels[0], np.float64).reshape(labels.n, -1) if labels.n else np.zeros((0, 0))


def _numbers_per_example(found: tuple[float, np.ndarray, bool]) -> str:
    return "one number per example" if found[2] else f"rows of {len(found[1])} numbers"


def _sums(labels: Collected) -> tuple[float, np.ndarray, bool]:
    """The weight of the examples of a part, the weighted sums of their targets, and whether there is one target."""
    weights = labels.sample_weight()
    return float(weights.sum()), weights @ _columns(labels), labels.n > 0 and np.ndim(labels.labels[0]) == 1


def _problem_of_part(whole: Problem, mean: np.ndarray, C: float, labels: Collected) -> Problem:
    targets = _columns(labels) - mean if labels.n else np.zeros((0, len(mean)))
    return replace(whole, targets=targets, C=C * labels.sample_weight())
