"""Fitting models, and scoring them on held-out examples."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from treille import SVCCV, Batch, ConvergenceWarning, InputError, LogisticRegression, LogisticRegressionCV
from treille.cli.console import Printer
from treille.cli.models import class_names
from treille.data.format import class_counts
from treille.explain.scores import Scores, describe, measure, positive_class, summary
from treille.kernels import Kernel
from treille.kernels.parse import format_kernel

Splits = Iterable[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class HeldOut:
    """Scores on held-out examples: how they were held out, and the scores of each fold."""

    how: str
    folds: Sequence[Scores]
    not_converged: int = 0
    fitted: Any = None  # the model of a single split

    def __str__(self) -> str:
        return f"{describe(summary(self.folds), self.folds[0].positive)}, {self.how}"

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        return {"how": self.how, "positive": self.folds[0].positive, "folds": len(self.folds), **summary(self.folds)}


def fit(model: Any, X: Any, y: Any = None) -> Any:
    """Fits a model; its report says whether it converged, so the warning is suppressed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def score(model: Any, X: Any, truth: Sequence[str], among: Sequence[str]) -> Scores:
    """Scores of a fitted model; `among`, the training labels, determine the positive class."""
    names = class_names(model)
    predicted = dict(zip(model.classes_.tolist(), names, strict=True))
    return measure(truth, [predicted[label] for label in model.predict(X).tolist()], positive_class(names, among))


@dataclass(frozen=True)
class Chosen:
    """The best model of a grid, in words, and what there was to choose from."""

    model: Any
    scored: HeldOut
    candidates: list[dict[str, Any]]  # parameters and mean accuracy of each, the best first


def choose(
    model: Any,
    kernels: Sequence[Kernel],
    Cs: Sequence[float],
    batch: Batch,
    labels: Sequence[str],
    splits: Splits,
    how: str,
) -> Chosen:
    """The best of these kernels and values of C by its accuracy on held-out examples, fitted on all."""
    own = model.get_params(deep=False)
    chooser: Any = LogisticRegressionCV if isinstance(model, LogisticRegression) else SVCCV
    params = {name: own[name] for name in chooser().get_params(deep=False) if name in own and name != "kernel"}
    positive, folds = positive_class(sorted(set(labels)), labels), list[Scores]()

    def scorer(fold: Any, X: Any, y: Any) -> float:
        folds.append(measure(y.tolist(), fold.predict(X).tolist(), positive))
        return folds[-1].accuracy

    search = chooser(list(kernels), Cs, cv=splits, scoring=scorer, **params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(batch, np.array(labels))
    kernel, value = divmod(search.best_index_, len(Cs))
    n_folds = search.gaps_.shape[1]
    of_best = [folds[(kernel * n_folds + f) * len(Cs) + value] for f in range(n_folds)]
    failed = int((search.gaps_[search.best_index_] > model.tol).sum())
    means = search.cv_results_["mean_test_score"]
    candidates = [
        {"kernel": format_kernel(params["kernel"]), "C": params["C"], "accuracy": float(mean)}
        for params, mean in zip(search.cv_results_["params"], means, strict=True)
    ]
    candidates.sort(key=lambda each: -each["accuracy"])
    return Chosen(search.best_estimator_, HeldOut(how, of_best, failed), candidates)


def held_out(model: Any, batch: Batch, labels: Sequence[str], splits: Splits, how: str) -> HeldOut:
    """Fits a copy of the model for every split, and scores it on the split's other part."""
    y, folds, failed = np.array(labels), list[Scores](), 0
    for train, test in splits:
        fitted = fit(clone(model), batch[train], y[train])
        folds.append(score(fitted, batch[test], y[test].tolist(), labels))
        failed += fitted.report_.status != "converged"
    return HeldOut(how, folds, failed, fitted if len(folds) == 1 else None)


def fold_splits(labels: Sequence[str], k: int, seed: int, printer: Printer) -> Splits:
    """The splits of a stratified k-fold cross-validation."""
    label, rarest = list(class_counts(labels).items())[-1]
    if rarest < 2:
        raise InputError(f"there is only one example of {label!r}: --cv needs two of every class at least")
    if len(labels) < k or max(class_counts(labels).values()) < k:
        raise InputError(f"no class has {k} examples: --cv {k} is too much, try --cv {rarest}")
    if rarest < k:
        printer.warn(f"there are {rarest} examples of {label!r}, fewer than the {k} folds: some folds have none of it")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scikit-learn says the same
        return list(StratifiedKFold(k, shuffle=True, random_state=seed).split(labels, labels))


def part_split(labels: Sequence[str], part: float, seed: int) -> Splits:
    """One stratified split that holds out a part."""
    try:
        return list(StratifiedShuffleSplit(1, test_size=part, random_state=seed).split(labels, labels))
    except ValueError as error:
        raise InputError(f"--holdout {part:g}: {error}") from None
