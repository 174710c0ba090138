"""Cross-validation of one model on one set of features: the outputs of held-out examples for many values of C."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from treille.data import Batch
from treille.estimators.base import KernelMachine, fit_context
from treille.estimators.plan import Plan
from treille.kernels import Kernel
from treille.kernels.fitting import FitContext, KnownFeatures, supports_reweighting
from treille.scikit_learn import BaseEstimator, ClassifierMixin, RegressorMixin
from treille.solvers import ConvergenceWarning, Problem
from treille.solvers.folds import Fold, FoldOutputs, solve_folds
from treille.solvers.progress import progress_bar
from treille.solvers.solver import after
from treille.spaces import MemorySource, Nystrom

Split = tuple[np.ndarray, np.ndarray]  # indices of the examples to train on, and of those held out


@dataclass(frozen=True, eq=False)
class TrainedFold(Fold):
    """A fold of a model: what its examples are, and what the outputs mean."""

    train: np.ndarray
    offset: np.ndarray  # what predictions add to the outputs: the mean of the targets, or 0
    classes: np.ndarray  # that occur in `train`, as indices into those of all examples; none for regressors


def trained_fold(model: KernelMachine, whole: Problem, y: Any, sample_weight: Any, split: Split) -> TrainedFold:
    """The fold of a model with C = 1; `whole` is the problem of all examples. Labels and weights are checked as in `fit`."""
    train, test = split
    weights = None if sample_weight is None else np.asarray(sample_weight)[train]
    posed = clone(model)._posed(np.asarray(y)[train], weights, len(train))
    own = posed.problem
    C = np.zeros(len(whole))
    np.add.at(C, train, own.C)  # an example may be drawn several times
    if whole.classes is not None:
        classes = np.unique(whole.targets[train])
        return TrainedFold(replace(whole, C=C), test, train, np.zeros(whole.n_problems), classes)
    targets = np.zeros((len(whole), whole.n_problems))
    targets[train] = own.targets.reshape(len(train), -1)
    return TrainedFold(replace(whole, C=C, targets=targets), test, train, posed.shift, np.empty(0, int))


def evaluate_folds(
    model: KernelMachine,
    kernel: Kernel,
    batch: Batch,
    folds: Sequence[TrainedFold],
    Cs: Sequence[float],
    chosen: Plan,
    space: Any,
    known: KnownFeatures,
) -> FoldOutputs:
    """The outputs of held-out examples. `space` is that of all examples: its features, which are `known`, are used for all folds.

    Weights and means of features that depend on the examples are computed again from those of each fold; only where a kernel
    cannot do so are all features.
    """
    n_problems = folds[0].problem.n_problems * len(folds)
    options: dict[str, Any] = {"tol": model.tol, "max_epochs": model.max_epochs, "n_jobs": model.n_jobs}
    options["seed"] = model.random_state
    with progress_bar(n_problems, model.tol, model.verbose, "fold") as progress:
        if isinstance(chosen.space, Nystrom) or not supports_reweighting(kernel, batch):
            parts = [_from_scratch(model, kernel, batch, fold, Cs, chosen, options) for fold in folds]
            found = FoldOutputs.joined(parts)
        elif kernel.needs_features:
            parts = []
            for f, fold in enumerate(folds):
                refitted = chosen.space.build(kernel, batch, model.n_jobs, fold_context(fold, known))
                follow = progress and after(f * fold.problem.n_problems, progress)
                parts.append(solve_folds(chosen.solver, refitted, [fold], Cs, progress=follow, **options))
            found = FoldOutputs.joined(parts)
        else:
            found = solve_folds(chosen.solver, space, folds, Cs, progress=progress, **options)
    outputs = [out + fold.offset for out, fold in zip(found.outputs, folds, strict=True)]
    return replace(found, outputs=outputs)


def fold_context(fold: TrainedFold, known: KnownFeatures) -> FitContext:
    """Features of all examples with weights and means of the fold's training examples."""
    counts = np.bincount(fold.train, minlength=len(fold.problem)).astype(np.float64)
    return fit_context(fold.problem, counts, known)


def _from_scratch(
    model: KernelMachine,
    kernel: Kernel,
    batch: Batch,
    fold: TrainedFold,
    Cs: Sequence[float],
    chosen: Plan,
    options: dict[str, Any],
) -> FoldOutputs:
    """A fold with features of its own."""
    some, held_out = np.unique(fold.train), batch[fold.held_out]
    problem = replace(fold.problem, targets=fold.problem.targets[some], C=fold.problem.C[some])
    own, space = model._planned(MemorySource(kernel, chosen.kernel_why, batch[some]), problem)
    outputs, gaps, seconds, start = [None] * len(Cs), np.zeros((len(Cs), 1)), np.zeros((len(Cs), 1)), None
    for c in np.argsort(Cs):
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            solution = own.solver.solve(replace(problem, C=Cs[c] * problem.C), space, start=start, **options)
        start, gaps[c] = solution.alpha, solution.report.relative_gap
        functions = space.functions(solution.intercept, solution.weights, solution.coefficients)
        outputs[c] = functions.outputs(held_out, model.n_jobs)
        seconds[c] = time.perf_counter() - begun
    return FoldOutputs([np.stack(outputs)], gaps, seconds)  # type: ignore[arg-type]


class HeldOutClassifier(ClassifierMixin, BaseEstimator):
    """What scorers see of a fold: its outputs for the held-out examples, computed before."""

    def __init__(self, classes: np.ndarray, outputs: np.ndarray):
        self.classes_ = classes
        self.outputs = outputs

    def decision_function(self, X: Any) -> np.ndarray:
        """The outputs, whatever X is."""
        return self.outputs

    def predict(self, X: Any) -> np.ndarray:
        """The class of each held-out example."""
        best = (self.outputs > 0).astype(int) if self.outputs.ndim == 1 else self.outputs.argmax(axis=1)
        return self.classes_[best]

    @classmethod
    def of(cls, classes: np.ndarray, present: np.ndarray, outputs: np.ndarray) -> HeldOutClassifier:
        """From the outputs for all classes; only those that are present in the training examples of the fold are known."""
        if len(classes) == 2:
            return cls(classes, outputs[:, 0])
        own = outputs[:, present]
        return cls(classes[present], own if len(present) > 2 else own[:, 1])


class HeldOutRegressor(RegressorMixin, BaseEstimator):
    """The same for numbers."""

    def __init__(self, outputs: np.ndarray):
        self.outputs = outputs

    def predict(self, X: Any) -> np.ndarray:
        """The outputs, whatever X is."""
        return self.outputs
