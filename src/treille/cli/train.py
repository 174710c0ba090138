"""Train a model on labelled examples, and save it.

\b
Examples:
  treille train reviews.csv --cv 5 --C 0.1,1,10 --kernel 'ngram(3..6)' \\
      --model reviews.treille
  treille train pos.fa neg.fa --alphabet dna --cv 5 --model sites.treille
  treille train lattices/ --labels utt2label --holdout 0.2
  treille train news.jsonl.gz --text title+body --label topics=acq \\
      --memory 2GB --checkpoint run1/ --test news.test.jsonl.gz \\
      --model acq.treille

\b
Labels are
  a field of each example, see --label;
  the names of the files, if several are given and have no field for labels;
  the names of the folders in FILE, if it is a folder;
  those of --labels FILE, by the ids of the examples, or in their order;
  those of the roots of trees, with --root-label.

Prints how FILE was understood, what was chosen and why, and how training ended: the duality gap bounds the distance
to the optimum. Scores are computed on examples that were not used for training; the saved model is trained on all
of FILE. It stores --text, --label, --weights, --scale, --alphabet and --root-label: predict and evaluate read new files
in the same way.

With --memory, FILE may be larger than memory: it is read in parts, whose features are kept on disk, and training visits
one block of parts after another, to the same optimum. With --checkpoint, the same command continues where an earlier
one ended, by Ctrl-C or otherwise.

With --stream, a perceptron learns from each example once, in the order of FILE, which need not fit in memory; - is read
as it comes. The score is the share of examples that were predicted right before they were learned. Ctrl-C saves what
was learned so far.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from sklearn.base import clone

from treille import SVC, SVCCV, Batch, InputError, LogisticRegression, LogisticRegressionCV
from treille.cli import options, training
from treille.cli.options import (
    Data,
    command,
    flag,
    kernel_options,
    numbers_option,
    option,
    positive_option,
    solver_option,
)
from treille.cli.parts import Limits, hint_memory, train_parts
from treille.cli.scorings import SCORINGS
from treille.cli.stream import train_stream
from treille.cli.training import HeldOut, Splits, Trained, TrainingJob, check_scoring, checked, of_classes
from treille.data.format import class_counts, count, shares
from treille.explain.examples import names_of, some_of
from treille.explain.page import Origin
from treille.explain.report import write_report
from treille.explain.scores import refuse_unknown_labels
from treille.kernels import Kernel
from treille.kernels.parse import format_kernel

WITH_PARTS = ("--checkpoint", "--scratch", "--min-count")
IN_MEMORY = ("--cv", "--holdout", "--report")
NOT_STREAMED = ("--C", "--loss", "--tol", "--solver", "--max-epochs", "--class-weight", "--seed", "--memory", "--dask")

CS = "Weight of the losses; with --cv, the best of several: 0.1,1,10."
LOSS = "hinge, squared_hinge, or logistic, for probabilities."
NESTED = "With --cv and several candidates: score the choice itself, on folds that it does not see."
SCORING = "With --cv: the score to choose by: accuracy, f1, f1_macro, roc_auc, or log_loss, of --loss logistic."
SOLVER = "Such as DualCD, SMO or FiniteNewton, by their names in Python."
STREAM = "Train a perceptron in one pass over a file that need not fit in memory."
Scoring = Literal["accuracy", "f1", "f1_macro", "roc_auc", "log_loss"]


@options.with_options()
def run(
    files: options.DataFiles,
    *,
    reading: options.ReadingOptions,
    kernel: options.KernelText = None,
    C: Annotated[str | None, option("NUMBER", CS, "--C", default="1; 30 with --loss logistic")] = None,
    loss: Annotated[Literal["hinge", "squared_hinge", "logistic"], option("NAME", LOSS)] = "hinge",
    tol: options.Tol = 1e-3,
    solver: Annotated[str, option("NAME", SOLVER, default="chosen for the data")] = "auto",
    class_weight: Annotated[Literal["balanced"] | None, option("balanced", "Give rare classes a larger C.")] = None,
    no_intercept: Annotated[bool, flag("--no-intercept", "Learn no intercept.")] = False,
    scoring: Annotated[Scoring, option("NAME", SCORING)] = "accuracy",
    nested: Annotated[bool, flag("--nested", NESTED)] = False,
    common: options.TrainingOptions,
    limits: Annotated[Limits, Limits],
    stream: Annotated[bool, flag("--stream", STREAM)] = False,
    given: options.GivenOptions,
    printer: options.Output,
) -> None:
    """Checks the options, trains, saves, and prints last: a reader that stops early, such as head, loses no work."""
    _refuse_options(given, stream, limits)
    if not stream:
        check_scoring(common, "--test FILE" if limits.asked_by else "--cv 5")
    common.check(reading.inputs(*files, *(common.test or ())))
    task = TrainingJob(files, common, reading, printer)
    if stream:
        trained = train_stream(task, kernel, not no_intercept)
    else:
        kernels, Cs = kernel_options(kernel), numbers_option(C, "--C") if C else []
        if common.cv is None:
            _refuse_several(kernels, Cs, limits)
        if common.cv is None:
            given.refuse(("--scoring",), "is for --cv, which chooses by it: add --cv 5, or leave it out")
        if scoring == "log_loss" and loss != "logistic":
            raise typer.BadParameter("log_loss needs probabilities: add --loss logistic", param_hint="--scoring")
        if nested and (common.cv is None or max(1, len(Cs)) * max(1, len(kernels)) == 1):
            why = "is for --cv with several kernels or values of C: without a choice, --cv is not optimistic"
            raise typer.BadParameter(why, param_hint="--nested")
        shared: dict[str, Any] = {
            "kernel": kernels[0] if kernels else None, "tol": tol, "solver": solver_option(solver), "class_weight": class_weight,
            "fit_intercept": not no_intercept, "random_state": common.seed, **common.parameters(printer),
        }  # fmt: skip
        machine: Any = LogisticRegression(**shared) if loss == "logistic" else SVC(loss=loss, **shared)
        Cs = Cs or [machine.C]
        for value in Cs:
            checked(machine.set_params(C=value))
        if limits.asked_by:
            trained = train_parts(task, machine, limits)
        else:
            search = LogisticRegressionCV if loss == "logistic" else SVCCV
            trained = _train_in_memory(task, machine, search, kernels, Cs, scoring, nested)
    trained.show(task, command("inspect", common.model), task.predict)


def _train_in_memory(
    task: TrainingJob,
    machine: Any,
    search: Any,
    kernels: Sequence[Kernel],
    Cs: Sequence[float],
    scoring: str,
    nested: bool,
) -> Trained:
    """Trains on all examples at once, by the best of several kernels and values of C if there is a cross-validation."""
    (data, tested), cv, holdout = _read(task, machine.kernel), task.options.cv, task.options.holdout
    labels, machine.kernel = data.labels, data.kernel
    batch = data.kernel.batch(data.X, machine.n_jobs)  # read once, for all folds and the final model
    if batch.note:
        task.printer.note(batch.note)
    positive = positive_option(sorted(set(labels)), task.options.positive)
    candidates, scored, splits = list[dict[str, Any]](), None, None
    if cv:
        splits = training.fold_splits(labels, cv, machine.random_state, task.printer)
        kernels = kernels or [data.kernel]
        choice = training.Search(search, machine, kernels, Cs, positive, scoring)
        unbiased = choice.nested(batch, labels, splits) if nested else None
        machine, scored, candidates = choice.choose(batch, labels, splits)
        scored = unbiased or scored
    else:
        if holdout:
            splits = training.part_split(labels, holdout, machine.random_state)
            scored = training.held_out(machine, batch, labels, splits, f"on {holdout:.0%} held out", positive)
        training.fit(machine, batch, labels)
    task.save(machine)
    if tested:
        shown = machine.plan_.kernel.batch(tested.X, machine.n_jobs)
        scores, outputs = training.score(machine, shown, tested.labels, positive)
        scored = HeldOut.of(f"on {tested.examples.source}", [scores], 0, machine, shown, outputs)
    if task.options.report:
        _write_report(task, task.options.report, machine, data, batch, scored, splits, tested)
    plan, source, several = machine.plan_, data.examples, len(candidates)
    why = data.why if plan.kernel is machine.kernel else plan.kernel_why
    chosen = f"C = {machine.C:g}, {format_kernel(plan.kernel)}: the best of {several} by {SCORINGS[scoring].title}"
    values = of_classes(source.format, class_counts(labels), candidates)
    return Trained(machine, source.source, why, scored, {"chosen": chosen if several > 1 else ""}, values)


def _write_report(
    task: TrainingJob,
    path: Path,
    machine: Any,
    data: Data,
    batch: Batch,
    scored: HeldOut | None,
    splits: Splits | None,
    tested: Data | None,
) -> None:
    """The report of `treille train`: of the test file, of the examples held out, of the first fold, or of the training data.

    For examples held out and folds, it is the report of a model trained on the others; that of a fold is trained again, since a
    cross-validation keeps the scores of its models alone.
    """
    examples, trained = (tested or data).examples, (data.X, np.array(data.labels))
    X, y = (tested.X, np.array(tested.labels)) if tested else (None, None)
    source = Origin(examples.source, names=names_of(examples), warnings=task.printer.warnings, batch=batch)
    source = replace(source, positive=task.options.positive)
    if task.options.model:
        source = replace(source, model=str(task.options.model))
    if scored and scored.fitted:
        machine, source = scored.fitted, replace(source, batch=scored.batch, outputs=scored.outputs)
    if scored and splits:
        how, (rest, rows) = "held out: the figures are of a model trained on the others", splits[0]
        if not scored.fitted:
            how = f"the first of {len(splits)} folds, of a model trained on the others; over all folds: {scored.text}"
            machine = training.fit(clone(machine), batch[rest], trained[1][rest])
            source = replace(source, batch=batch[rows])
        source = replace(source, how=how, names=[source.names[i] for i in rows] if source.names else None)
        (X, y), trained = ((some_of(data.X, part), trained[1][part]) for part in (rows, rest))
    write_report(machine, X, y, path, trained, source)


def _read(task: TrainingJob, kernel: Kernel | None) -> tuple[Data, Data | None]:
    """The training data and the test data, after notes on them."""
    printer, reading = task.printer, task.reading
    hint_memory(printer, task.files)
    data = reading.load(printer, task.files, True, kernel, labels=True)
    examples, counts = data.examples, class_counts(data.labels)
    if len(counts) < 2:
        raise InputError(f"{examples.source}: every label is {data.labels[0]!r}, expected at least two classes")
    training.check_classes(examples)
    printer.note(f"{count(len(counts), 'class')}: {shares(counts)}")
    if data.alphabet is None and examples.format in ("fasta", "fastq"):
        letters = set("".join(examples.X[:100]).upper())
        if {"A", "C", "G"} <= letters <= set("ACGTUN"):
            printer.note("these look like DNA: --alphabet dna folds case, and chooses a kernel of both strands")
    if not task.options.test:
        return data, None
    tested = replace(reading, alphabet=data.alphabet).load(printer, task.options.test, True, data.kernel)
    refuse_unknown_labels(sorted(counts), tested.labels, tested.examples.source)
    return data, tested


def _refuse_options(given: options.Given, stream: bool, limits: Limits) -> None:
    """Refuses options without effect where the data are read as a stream, in parts, or as a whole."""
    if stream:
        why = "does not apply with --stream, which trains a perceptron in one pass: leave out {}, or --stream"
        given.refuse((*NOT_STREAMED, *IN_MEMORY, *WITH_PARTS), why)
    if limits.dask is not None:
        given.refuse(("--memory", "--scratch"), "is for training on this machine: leave it out with --dask")
        given.refuse(("--alphabet",), "is not for data on a cluster: give a kernel of DNA")
    if limits.asked_by:
        leave = f"leave out {{}}, or {limits.asked_by}"
        given.refuse(IN_MEMORY, f"needs all examples in memory: {leave}; to score, give another file with --test")
        limits.check()
    else:
        given.refuse(
            ("--checkpoint", "--scratch"), "is for training in parts: add --memory 2GB, what training may take"
        )


def _refuse_several(kernels: list[Any], Cs: list[float], limits: Limits) -> None:
    """Refuses several values of an option, from which only a cross-validation chooses."""
    if max(len(kernels), len(Cs)) > 1:
        where = " on a part of FILE, without --memory" * (limits.memory is not None)
        raise typer.BadParameter(
            f"several values were given: add --cv 5 to choose the best by cross-validation{where}",
            param_hint="--C" if len(Cs) > 1 else "--kernel",
        )
