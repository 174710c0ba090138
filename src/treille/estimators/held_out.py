"""Cross-validation of one model on one set of features: the outputs of held-out examples for many values of C."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from treille.estimators.base import KernelMachine, fit_context
from treille.estimators.plan import Plan
from treille.estimators.sources import Posed
from treille.kernels import Kernel
from treille.kernels.fitting import FitContext, KnownFeatures, same_kernel, supports_reweighting
from treille.scikit_learn import BaseEstimator, ClassifierMixin, RegressorMixin
from treille.solvers import Problem
from treille.solvers.folds import Fold, FoldOutputs, Solved, solve_path
from treille.solvers.progress import progress_bar
from treille.solvers.solver import after, solve_folds
from treille.spaces import MemorySource, Nystrom

Planned = tuple[Plan, Any]  # and the space of all examples
Split = tuple[np.ndarray, np.ndarray]  # indices of the examples to train on, and of those held out


@dataclass(frozen=True, eq=False)
class Examples:
    """The examples of a search as a model reads them, with their targets and folds."""

    model: KernelMachine
    source: MemorySource
    y: np.ndarray
    sample_weight: np.ndarray | None
    splits: list[Split]
    known: KnownFeatures = field(default_factory=KnownFeatures)

    def read_by(self, model: KernelMachine, X: Any) -> "Examples":
        """The same examples as another model reads them; models with equal kernels share batch and features."""
        if not (isinstance(model.kernel, Kernel) and same_kernel(self.source.kernel, model.kernel)):
            return replace(self, model=model, source=model._examples(X), known=KnownFeatures())
        model._know_columns_of(self.model)
        return self

    def posed(self, model: KernelMachine) -> Posed:
        """The problem that a model poses for all examples."""
        return model._posed(self.y, self.sample_weight, len(self.source))


@dataclass(frozen=True, eq=False)
class TrainedFold(Fold):
    """A fold of a model: its examples, and how to interpret its outputs."""

    train: np.ndarray
    offset: np.ndarray  # added to the outputs by predictions: the mean of the targets, or 0
    classes: np.ndarray  # indices of the classes that occur in `train`; none for regressors

    def training_problem(self) -> tuple[np.ndarray, Problem]:
        """The indices of the training examples, each once, and their problem."""
        some = np.unique(self.train)
        return some, replace(self.problem, targets=self.problem.targets[some], C=self.problem.C[some])


def trained_fold(model: KernelMachine, whole: Problem, examples: Examples, split: Split) -> TrainedFold:
    """The fold of a model with C = 1; `whole` is the problem of all examples. Labels and weights are checked as in `fit`."""
    train, test = split
    weights = None if examples.sample_weight is None else examples.sample_weight[train]
    posed = clone(model)._posed(examples.y[train], weights, len(train))
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
    model: KernelMachine, examples: Examples, folds: Sequence[TrainedFold], Cs: Sequence[float], planned: Planned
) -> FoldOutputs:
    """The outputs of held-out examples. The features of all examples are used for all folds.

    Weights and means that depend on the examples are computed again for each fold; where a kernel cannot do so, all features are.
    """
    kernel, batch, n_problems = examples.source.kernel, examples.source.batch, folds[0].problem.n_problems
    (chosen, space), options = planned, model._solver_options()
    with progress_bar(n_problems * len(folds), model.tol, model.verbose, "fold") as progress:
        if isinstance(chosen.space, Nystrom) or not supports_reweighting(kernel, batch):
            each = [_from_scratch(model, examples.source, fold, Cs) for fold in folds]
        elif kernel.needs_features:
            each = []
            for f, fold in enumerate(folds):
                refitted = chosen.space.build(kernel, batch, model.n_jobs, fold_context(fold, examples.known))
                follow = after(f * n_problems, progress)
                each.append(solve_folds(chosen.solver, refitted, [fold], Cs, progress=follow, **options))
        else:
            each = [solve_folds(chosen.solver, space, folds, Cs, progress=progress, **options)]
    found = FoldOutputs.joined(each)
    return replace(found, outputs=[out + fold.offset for out, fold in zip(found.outputs, folds, strict=True)])


def fold_context(fold: TrainedFold, known: KnownFeatures) -> FitContext:
    """Features of all examples with weights and means of the fold's training examples."""
    counts = np.bincount(fold.train, minlength=len(fold.problem)).astype(np.float64)
    return fit_context(fold.problem, counts, known)


def _from_scratch(model: KernelMachine, source: MemorySource, fold: TrainedFold, Cs: Sequence[float]) -> FoldOutputs:
    """Solves a fold with the features of its training examples alone."""
    some, problem = fold.training_problem()
    chosen, space = model._planned(MemorySource(source.kernel, source.kernel_why, source.batch[some]), problem)
    held_out = source.batch[fold.held_out]

    def solve(c: int, start: Any) -> Solved:
        at = replace(problem, C=Cs[c] * problem.C)
        solution = chosen.solver.solve(at, space, start=start, **model._solver_options())
        functions = space.functions(solution)
        return [functions.outputs(held_out, model.n_jobs)], [solution.report.relative_gap], solution.alpha

    return solve_path(Cs, solve)


class HeldOutClassifier(ClassifierMixin, BaseEstimator):
    """A model that returns the outputs of a fold for the held-out examples, for scorers."""

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
    def of(cls, classes: np.ndarray, present: np.ndarray, outputs: np.ndarray) -> "HeldOutClassifier":
        """Makes it from the outputs for all classes; ``classes_`` are those present in the training examples of the fold."""
        if len(classes) == 2:
            return cls(classes, outputs[:, 0])
        own = outputs[:, present]
        return cls(classes[present], own if len(present) > 2 else own[:, 1])


class HeldOutRegressor(RegressorMixin, BaseEstimator):
    """A regressor that returns the outputs of a fold for the held-out examples, for scorers."""

    def __init__(self, outputs: np.ndarray):
        self.outputs = outputs

    def predict(self, X: Any) -> np.ndarray:
        """The outputs, whatever X is."""
        return self.outputs
