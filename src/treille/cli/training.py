"""Shared by all ways of training: the job, fitting and scoring, and printing the result."""

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import typer
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from treille import SVCCV, Batch, ConvergenceWarning, InputError, LogisticRegression, LogisticRegressionCV
from treille.cli.console import Printer
from treille.cli.models import print_saved, warn_unknown
from treille.cli.options import Reading, command, option_errors
from treille.cli.predict import predicted
from treille.data.format import class_counts
from treille.explain.scores import Scores, describe, measure, measure_pairs, positive_class, summary
from treille.io import Examples
from treille.kernels import Kernel
from treille.kernels.parse import format_kernel

NOT_CONVERGED = 3  # the exit code

Splits = Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class HeldOut:
    """Scores on held-out examples: how they were held out, and the scores of each fold."""

    how: str
    folds: Sequence[Scores]
    not_converged: int = 0
    fitted: Any = None  # of a single split: the model, the examples held out, and its outputs for them
    batch: Batch | None = None
    outputs: np.ndarray | None = None

    def __str__(self) -> str:
        return f"{describe(summary(self.folds), self.folds[0].positive)}, {self.how}"

    def as_dict(self) -> dict[str, Any]:
        return {"how": self.how, "positive": self.folds[0].positive, "folds": len(self.folds), **summary(self.folds)}


@dataclass(frozen=True)
class TrainingJob:
    """The files to train on and to score on, how to read them, where to print, and where to save the model and a report."""

    files: Sequence[str]
    test: Sequence[str]
    model: Path | None
    reading: Reading
    printer: Printer
    report: Path | None = None

    def save(self, machine: Any) -> None:
        """Saves a trained machine, with how its examples were read."""
        machine.reading_ |= self.reading.remembered()
        if self.model:
            with self.printer.busy(f"saving {self.model}"):
                machine.save(self.model)

    def score(self, machine: Any, counts: Mapping[str, int]) -> HeldOut | None:
        """Scores on the test files, which are read in chunks; `counts` of the training labels determine the positive class."""
        if not self.test:
            return None
        names, kernel = machine.classes_.tolist(), machine.plan_.kernel
        pairs, truth = Counter[tuple[str, str]](), Counter[str]()
        chunks = self.reading.chunks(self.test, True, kernel, False)
        for chunk in predicted(self.printer, chunks, self.reading, kernel, machine.predict, self.test[0]):
            labels, source = chunk.examples.labels or [], chunk.examples.input or chunk.examples.source
            truth.update(labels)
            pairs.update(zip(labels, chunk.found.tolist(), strict=True))
        warn_unknown(self.printer, names, source, truth)
        return HeldOut(f"on {source}", [measure_pairs(pairs, positive_class(names, counts))])


@dataclass(frozen=True)
class Trained:
    """A trained machine, its data, and how it was scored."""

    machine: Any
    file: str
    format: str
    counts: Mapping[str, int]  # of the labels
    kernel_why: str
    training: str  # how it ended
    score: HeldOut | None = None
    candidates: list[dict[str, Any]] = field(default_factory=list)  # of a choice by cross-validation
    memory: str = ""
    running: str = ""  # the score on examples of a stream, before they were learned
    checkpoint_note: str = ""
    values: dict[str, Any] = field(default_factory=dict)  # further members of the JSON object
    ended: BaseException | None = None  # what ended the training early

    @property
    def converged(self) -> bool:
        """Whether the duality gap is as small as demanded; a stream demands none."""
        return self.machine.report_.status in ("converged", "stream")

    def show(self, task: TrainingJob) -> None:
        """Prints the result, for people or as JSON."""
        printer = task.printer
        for name, text in self._fields().items():
            if text:
                printer.field(name, text)
        if self.machine.task().n_features == 0:
            no_features = "no text has a feature of this kernel, so the model cannot distinguish them"
            printer.warn(f"{no_features}: choose a smaller n")
        if not self.converged:
            warn_gap(printer, self.machine, "raise --max-epochs or --tol, lower --C, or normalize the kernel")
        elif self.score and self.score.not_converged:
            folds = f"{self.score.not_converged} of {len(self.score.folds)} folds"
            printer.warn(f"{folds} fell short of the gap: raise --max-epochs")
        if self.checkpoint_note:
            printer.note(self.checkpoint_note)
        predict = f"{command('predict', task.model, 'FILE')}{task.reading.flags()}"
        print_saved(printer, task.model, command("inspect", task.model), predict)
        if task.report:
            printer.field("report", f"{task.report}: open it in a browser")
        printer.result(self._as_dict(task))

    def _fields(self) -> dict[str, str]:
        plan, score, several = self.machine.plan_, str(self.score or ""), len(self.candidates)
        kernel = format_kernel(plan.kernel)
        best = f"C = {self.machine.C:g}, {kernel}: the best of {several} by accuracy" if several > 1 else ""
        return {
            "chosen": best,
            "kernel": f"{kernel}, {self.kernel_why}",
            "space": f"{plan.space.name}, {plan.space_why}",
            "solver": "" if self.running else f"{plan.solver!r}, {plan.solver_why}",
            "sizes": plan.sizes,
            "memory": self.memory,
            "training": self.training,
            "score": self.running or score,
            "test": score if self.running else "",
        }

    def _as_dict(self, task: TrainingJob) -> dict[str, Any]:
        plan = self.machine.plan_
        return {
            "file": self.file,
            "format": self.format,
            "examples": sum(self.counts.values()),
            "classes": class_counts(self.counts),
            "kernel": format_kernel(plan.kernel),
            "space": plan.space.name,
            "solver": type(plan.solver).__name__,
            "features": self.machine.task().n_features,
            "report": self.machine.report_.as_dict(),
            **self.values,
            "score": self.score and self.score.as_dict(),
            **saved(task.model),
            "candidates": self.candidates,
            "page": task.report and str(task.report),
        }


def saved(model: Path | None) -> dict[str, Any]:
    """Members of a JSON object: the file of the model, and its size."""
    return {"model": model and str(model), "bytes": model and model.stat().st_size}


def warn_gap(printer: Printer, machine: Any, advice: str) -> None:
    printer.warn(f"the duality gap is {machine.report_.relative_gap:.1e}, not yet {machine.tol:g}: {advice}")


def check_scoring(model: Path | None, ways: Mapping[str, Any], example: str) -> None:
    """Checks before any work that a model is saved or scored; `ways` to score are options with their values."""
    chosen = [option for option, value in ways.items() if value is not None]
    if len(chosen) > 1:
        raise typer.BadParameter(f"{' and '.join(chosen)} were given: choose one way to score", param_hint=chosen[0])
    part = ways["--holdout"]
    if part is not None and not 0 < part < 1:
        raise typer.BadParameter(f"{part:g} is not between 0 and 1", param_hint="--holdout")
    if model is None and not chosen:
        raise typer.BadParameter(
            f"say where to save the model, for example --model my.treille, or ask for a score alone with {example}",
            param_hint="--model",
        )


def checked(machine: Any) -> Any:
    """An estimator whose parameters are valid; others are bad values of options."""
    with option_errors():
        machine.check_parameters()
    return machine


def check_classes(examples: Examples) -> None:
    """Refuses labels that are scores, or names of the examples: most of them have one example only."""
    labels, source = examples.labels or [], examples.source
    counts = class_counts(labels)
    single, many = [label for label, n in counts.items() if n == 1], 2 * len(counts) > len(labels)
    if many and _are_scores(counts):
        raise InputError(
            f"{source}: the labels are {len(counts):,} different numbers, such as {labels[0]}: scores, not classes."
            " To learn scores use treille.SVR in Python, on treille.io.read(...).targets()"
        )
    first_words = "first in its header" in examples.note or "first word of its line" in examples.note
    if len(counts) <= 2 or 2 * len(single) <= len(counts) or not (first_words or many):
        return
    taken = " (the first word of a line or header)" * first_words
    found = f"{len(single):,} of {len(counts):,} classes have one example only, such as {single[0][:40]!r}{taken}"
    if examples.format in ("fasta", "fastq"):
        field = "--label KEY for KEY=VALUE in the headers"
    else:
        field = "a tab after the label" if examples.format == "lines" else "--label FIELD for another field"
    raise InputError(
        f"{source}: {found}: these are no labels. Give labels by one file or folder per class (treille train pos.fa neg.fa), "
        f"by --labels FILE with an id and its label on each line, or by {field}"
    )


def _are_scores(labels: Iterable[str]) -> bool:
    """Whether all labels are numbers, some of them not whole."""
    try:
        return not all(float(label).is_integer() for label in labels)
    except ValueError:
        return False


def fit(model: Any, X: Any, y: Any = None) -> Any:
    """Fits a model; its report says whether it converged, so the warning is suppressed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def score(model: Any, X: Any, truth: Sequence[str], among: Sequence[str]) -> tuple[Scores, np.ndarray]:
    """Scores of a fitted model, and its outputs; `among`, the training labels, determine the positive class."""
    outputs, task = model.decision_function(X), model.task()
    best = [task.labels[k] for k in task.columns(outputs).argmax(axis=1)]
    return measure(truth, best, positive_class(task.labels, among)), outputs


def choose(
    model: Any, kernels: Sequence[Kernel], Cs: Sequence[float], batch: Batch, labels: Sequence[str], splits: Splits
) -> tuple[Any, HeldOut, list[dict[str, Any]]]:
    """Chooses the kernel and C of highest accuracy on held-out examples. Returns the model, fitted on all examples, its scores, and
    the parameters and mean accuracy of each candidate, the best first."""
    own = model.get_params(deep=False)
    chooser: Any = LogisticRegressionCV if isinstance(model, LogisticRegression) else SVCCV
    params = {name: own[name] for name in chooser().get_params(deep=False) if name in own and name != "kernel"}
    positive, folds = positive_class(sorted(set(labels)), labels), list[Scores]()

    def scorer(fold: Any, X: Any, y: Any) -> float:
        folds.append(measure(y.tolist(), fold.predict(X).tolist(), positive))
        return folds[-1].accuracy

    search = fit(chooser(list(kernels), Cs, cv=splits, scoring=scorer, **params), batch, np.array(labels))
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
    scored = HeldOut(f"in {n_folds}-fold cross-validation", of_best, failed)
    return search.best_estimator_, scored, candidates


def held_out(model: Any, batch: Batch, labels: Sequence[str], splits: Splits, how: str) -> HeldOut:
    """Fits a copy of the model for every split, and scores it on the split's other part."""
    y, folds, failed = np.array(labels), list[Scores](), 0
    for train, test in splits:
        fitted = fit(clone(model), batch[train], y[train])
        scores, outputs = score(fitted, batch[test], y[test].tolist(), labels)
        folds.append(scores)
        failed += fitted.report_.status != "converged"
    return HeldOut(how, folds, failed, *((fitted, batch[test], outputs) if len(folds) == 1 else ()))


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
