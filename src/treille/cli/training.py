"""Shared by all ways of training: the job, fitting and scoring, and printing the result."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import typer
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from treille import Batch, ConvergenceWarning, InputError
from treille.cli.console import Printer
from treille.cli.models import print_saved
from treille.cli.options import Reading, Training, command, option_errors, positive_option
from treille.cli.predict import predicted
from treille.cli.scorings import SCORINGS
from treille.data.format import class_counts
from treille.explain.report import describe_report
from treille.explain.scores import Scores, describe, measure, measure_pairs, refuse_unknown_labels, summary
from treille.io import Examples
from treille.kernels import Kernel
from treille.kernels.parse import format_kernel
from treille.solvers import Report

NOT_CONVERGED = 3  # the exit code

Splits = Sequence[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class HeldOut:
    """Scores on held-out examples, and how these were held out: in words, and as JSON values."""

    text: str
    values: dict[str, Any]
    not_converged: int = 0  # of the folds
    fitted: Any = None  # of a single split: the model, the examples held out, and its outputs for them
    batch: Batch | None = None
    outputs: Any = None

    @classmethod
    def of(cls, how: str, folds: Sequence[Scores], not_converged: int = 0, *single: Any) -> "HeldOut":
        """The scores of classifiers in each fold; `single` are the attributes of a single split."""
        positive, mean = folds[0].positive, summary(folds)
        values = {"how": how, "positive": positive, "folds": len(folds), **mean}
        return cls(f"{describe(mean, positive)}, {how}", values, not_converged, *single)

    def with_score(self, scoring: str, mean: float) -> "HeldOut":
        """Adds the score that candidates were chosen by, unless it is among the others."""
        if scoring in self.values or scoring == "f1_macro":
            return self
        text = f"{SCORINGS[scoring].title} {mean:.4f}, {self.text}"
        return replace(self, text=text, values=self.values | {scoring: {"mean": mean}})


@dataclass(frozen=True)
class TrainingJob:
    """The files to train on, how to read them and to train, and where to print."""

    files: Sequence[str]
    options: Training
    reading: Reading
    printer: Printer

    def save(self, machine: Any) -> None:
        """Saves a trained machine, with how its examples were read."""
        machine.reading_ |= self.reading.remembered()
        if self.options.model:
            with self.printer.busy(f"saving {self.options.model}"):
                machine.save(self.options.model)

    def score(self, machine: Any) -> HeldOut | None:
        """Scores on the test files, which are read in chunks."""
        test = self.options.test
        if not test:
            return None
        names, kernel = machine.classes_.tolist(), machine.plan_.kernel
        pairs, truth = Counter[tuple[str, str]](), Counter[str]()
        chunks = self.reading.chunks(test, True, kernel, False)
        for chunk in predicted(self.printer, chunks, self.reading, kernel, machine.predict, test[0]):
            labels, source = chunk.examples.labels or [], chunk.examples.input or chunk.examples.source
            truth.update(labels)
            pairs.update(zip(labels, chunk.found.tolist(), strict=True))
        try:
            refuse_unknown_labels(names, truth, source)
        except InputError as error:
            saved = f". The model is saved, in {self.options.model}" if self.options.model else ""
            raise InputError(f"{error}{saved}") from None
        positive = positive_option(names, self.options.positive)
        return HeldOut.of(f"on {source}", [measure_pairs(pairs, positive)])

    @property
    def predict(self) -> str:
        """The command to predict with the model."""
        return f"{command('predict', self.options.model, 'FILE')}{self.reading.flags()}"


@dataclass(frozen=True)
class Trained:
    """A trained machine, how it was scored, and what else is printed about it."""

    machine: Any
    file: str
    kernel_why: str
    score: HeldOut | None = None
    fields: dict[str, str] = field(default_factory=dict)  # for people, in addition to those of the plan, or instead
    values: dict[str, Any] = field(default_factory=dict)  # further members of the JSON object
    further: Sequence[Report] = ()  # reports of further stages
    advice: str = "raise --max-epochs or --tol, lower --C, or normalize the kernel"
    checkpoint_note: str = ""
    ended: BaseException | None = None  # what ended the training early

    def show(self, job: TrainingJob, *commands: str, details: Callable[[], None] = lambda: None) -> None:
        """Prints the result, for people or as JSON, with commands to try; ends the command if training did not converge."""
        printer, model, page, score = job.printer, job.options.model, job.options.report, self.score
        for name, text in self._fields().items():
            if text:
                printer.field(name, text)
        details()
        if self.machine.task().n_features == 0:
            no_features = "no text has a feature of this kernel, so the model cannot distinguish them"
            printer.warn(f"{no_features}: choose a smaller n")
        reports = (self.machine.report_, *self.further)
        failed = [report.relative_gap for report in reports if report.status not in ("converged", "stream")]
        if failed:
            printer.warn(f"the duality gap is {failed[0]:.1e}, not yet {self.machine.tol:g}: {self.advice}")
        elif score and score.not_converged:
            folds = f"{score.not_converged} of {score.values['folds']} folds"
            printer.warn(f"{folds} fell short of the gap: raise --max-epochs")
        if self.checkpoint_note:
            printer.note(self.checkpoint_note)
        print_saved(printer, model, *commands)
        if page:
            printer.field("report", f"{page}: open it in a browser")
        saved = {"model": model and str(model), "bytes": model and model.stat().st_size, "page": page and str(page)}
        printer.result(self._values() | saved)
        if self.ended is not None:
            raise self.ended
        if failed:
            raise typer.Exit(NOT_CONVERGED)

    def _fields(self) -> dict[str, str]:
        plan, machine = self.machine.plan_, self.machine
        first = dict.fromkeys(("chosen", "tags", "features"), "")
        return first | {
            "kernel": f"{format_kernel(plan.kernel)}, {self.kernel_why}",
            "space": f"{plan.space.name}, {plan.space_why}",
            "solver": f"{plan.solver!r}, {plan.solver_why}",
            "learning": "",
            "sizes": plan.sizes,
            "memory": "",
            "training": describe_report(machine.report_, machine.tol, machine.task().pairs),
            "weights": f"class weights {plan.class_weights}" if plan.class_weights else "",
            "score": self.score.text if self.score else "",
            **self.fields,
        }

    def _values(self) -> dict[str, Any]:
        plan = self.machine.plan_
        return {
            "file": self.file,
            "kernel": format_kernel(plan.kernel),
            "space": plan.space.name,
            "solver": type(plan.solver).__name__,
            "features": self.machine.task().n_features,
            "report": self.machine.report_.as_dict(),
            "score": self.score and self.score.values,
            **self.values,
        }


def of_classes(format: str, counts: Mapping[str, int], candidates: Sequence[Any] = (), **more: Any) -> dict[str, Any]:
    """JSON values of examples with labels, `counts` of them, and of the candidates of a choice by cross-validation."""
    values = {"format": format, "examples": sum(counts.values()), "classes": class_counts(counts)}
    return values | {"candidates": candidates} | more


def check_scoring(options: Training, example: str) -> None:
    """Checks before any work that a model is saved or scored in one way."""
    ways = {"--cv": options.cv, "--holdout": options.holdout, "--test": options.test or None}
    chosen = [option for option, value in ways.items() if value is not None]
    if len(chosen) > 1:
        raise typer.BadParameter(f"{' and '.join(chosen)} were given: choose one way to score", param_hint=chosen[0])
    part = options.holdout
    if part is not None and not 0 < part < 1:
        raise typer.BadParameter(f"{part:g} is not between 0 and 1", param_hint="--holdout")
    if options.model is None and not chosen:
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
    if _are_tagged_tokens(examples):
        raise InputError(
            f"{source}: looks like tagged sentences, one token per line with its tag in the last column: use 'treille tag train "
            f"{source}'. If each line is an example, put a tab after its label"
        )
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


def _are_tagged_tokens(examples: Examples) -> bool:
    """Whether lines are tokens in columns, with blank lines between sentences, as in the shared tasks of CoNLL.

    All lines have as many words, and there are fewer different last ones, which are tags, than first ones.
    """
    labels, lines = examples.labels or [], examples.lines
    if examples.format != "lines" or not lines or lines[-1] - lines[0] + 1 == len(lines):
        return False
    words = [text.split() for text in examples.X]
    same = len({len(each) for each in words}) == 1 and len(words[0]) > 0
    return same and len({each[-1] for each in words}) < len(set(labels))


def _are_scores(labels: Iterable[str]) -> bool:
    """Returns whether all labels are numbers, some of them not whole."""
    try:
        return not all(float(label).is_integer() for label in labels)
    except ValueError:
        return False


def fit(model: Any, X: Any, y: Any = None) -> Any:
    """Fits a model; its report says whether it converged, so the warning is suppressed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def score(model: Any, X: Any, truth: Sequence[str], positive: str | None) -> tuple[Scores, np.ndarray]:
    """Scores of a fitted model, and its outputs."""
    outputs, task = model.decision_function(X), model.task()
    best = [task.labels[k] for k in task.columns(outputs).argmax(axis=1)]
    return measure(truth, best, positive), outputs


@dataclass(frozen=True)
class Search:
    """The choice of a kernel and C by cross-validation: `chooser` is the estimator that searches for `model`."""

    chooser: Any
    model: Any
    kernels: Sequence[Kernel]
    Cs: Sequence[float]
    positive: str | None
    scoring: str

    def choose(self, batch: Batch, labels: Sequence[str], splits: Splits) -> tuple[Any, HeldOut, list[dict[str, Any]]]:
        """Chooses by the score on held-out examples. Returns the model, fitted on all examples, its scores, and the parameters and
        mean score of each candidate, the best first."""
        own = self.model.get_params(deep=False)
        params = {name: own[name] for name in self.chooser().get_params(deep=False) if name in own and name != "kernel"}
        folds, wanted = list[Scores](), SCORINGS[self.scoring]

        def scorer(fold: Any, X: Any, y: Any) -> float:
            folds.append(measure(y.tolist(), fold.predict(X).tolist(), self.positive))
            return wanted.gain(fold, X, y, folds[-1])

        searching = self.chooser(list(self.kernels), self.Cs, cv=splits, scoring=scorer, **params)
        search = fit(searching, batch, np.array(labels))
        kernel, value = divmod(search.best_index_, len(self.Cs))
        n_folds = search.gaps_.shape[1]
        of_best = [folds[(kernel * n_folds + f) * len(self.Cs) + value] for f in range(n_folds)]
        failed = int((search.gaps_[search.best_index_] > self.model.tol).sum())
        means = search.cv_results_["mean_test_score"]
        candidates = [
            {"kernel": format_kernel(params["kernel"]), "C": params["C"], self.scoring: wanted.sign * float(mean)}
            for params, mean in zip(search.cv_results_["params"], means, strict=True)
        ]
        candidates.sort(key=lambda each: -wanted.sign * each[self.scoring])
        how, several = f"in {n_folds}-fold cross-validation", len(candidates)
        scored = HeldOut.of(f"{how}, {optimistic(several)}" if several > 1 else how, of_best, failed)
        scored.values["optimistic"] = several > 1
        scored = scored.with_score(self.scoring, candidates[0][self.scoring])
        return search.best_estimator_, scored, candidates

    def nested(self, batch: Batch, labels: Sequence[str], splits: Splits) -> HeldOut:
        """Scores the choice itself: for every split, chooses by folds of its training examples, and scores on the others."""
        y, folds, failed, wanted = np.array(labels), list[Scores](), 0, list[float]()
        for train, test in splits:
            own = y[train].tolist()
            try:
                inner = fold_splits(own, len(splits), self.model.random_state, Printer(quiet=True))
            except InputError as error:
                raise InputError(f"--nested: without one of the folds, {error}") from None
            best, _, _ = self.choose(batch[train], own, inner)
            folds.append(score(best, batch[test], y[test].tolist(), self.positive)[0])
            wanted.append(SCORINGS[self.scoring].value(best, batch[test], y[test], folds[-1]))
            failed += best.report_.status != "converged"
        how = f"in nested {len(splits)}-fold cross-validation: chosen anew without each fold"
        return HeldOut.of(how, folds, failed).with_score(self.scoring, float(np.mean(wanted)))


def optimistic(n_candidates: int) -> str:
    """How a score is to be read that is the best of several on the folds that chose it."""
    return f"the best of {n_candidates} on the folds that chose it, so optimistic: --nested scores on others"


def held_out(
    model: Any, batch: Batch, labels: Sequence[str], splits: Splits, how: str, positive: str | None
) -> HeldOut:
    """Fits a copy of the model for every split, and scores it on the split's other part."""
    y, folds, failed = np.array(labels), list[Scores](), 0
    for train, test in splits:
        fitted = fit(clone(model), batch[train], y[train])
        scores, outputs = score(fitted, batch[test], y[test].tolist(), positive)
        folds.append(scores)
        failed += fitted.report_.status != "converged"
    return HeldOut.of(how, folds, failed, *((fitted, batch[test], outputs) if len(folds) == 1 else ()))


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
