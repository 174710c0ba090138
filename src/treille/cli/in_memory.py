"""What 'treille train' does with data that fit in memory."""

from collections.abc import Sequence
from typing import Any

from treille import InputError, Lattices
from treille.cli.models import describe_report, warn_unknown
from treille.cli.options import Data
from treille.cli.pages import write_training_report
from treille.cli.parts import hint_memory
from treille.cli.training import (
    HeldOut,
    Trained,
    TrainingJob,
    check_classes,
    choose,
    fit,
    fold_splits,
    held_out,
    part_split,
    score,
)
from treille.data.format import class_counts, count, shares
from treille.kernels import Kernel


def train_in_memory(
    task: TrainingJob,
    machine: Any,
    kernels: Sequence[Kernel],
    Cs: Sequence[float],
    cv: int | None,
    holdout: float | None,
) -> Trained:
    """Trains on all examples at once, by the best of several kernels and values of C if there is a cross-validation."""
    data, tested = _read(task, machine.kernel)
    labels, machine.kernel = data.labels, data.kernel
    batch = data.kernel.batch(data.X, machine.n_jobs)  # read once, for all folds and the final model
    if isinstance(batch, Lattices):
        task.printer.note(f"read as distributions: {batch.report}")
    candidates, scored, splits = list[dict[str, Any]](), None, None
    if cv:
        splits = fold_splits(labels, cv, machine.random_state, task.printer)
        machine, scored, candidates = choose(machine, kernels or [data.kernel], Cs, batch, labels, splits)
    else:
        if holdout:
            splits = part_split(labels, holdout, machine.random_state)
            scored = held_out(machine, batch, labels, splits, f"on {holdout:.0%} held out")
        fit(machine, batch, labels)
    task.save(machine)
    if tested:
        scored = HeldOut(f"on {tested.examples.source}", [score(machine, tested.X, tested.labels, labels)])
    if task.report:
        write_training_report(task.report, task, machine, data, scored, splits, tested)
    plan, source = machine.plan_, data.examples
    why = data.why if plan.kernel is machine.kernel else plan.kernel_why
    ended = describe_report(machine.report_, machine.tol)
    return Trained(machine, source.source, source.format, class_counts(labels), why, ended, scored, candidates)


def _read(task: TrainingJob, kernel: Kernel | None) -> tuple[Data, Data | None]:
    """The training data and the test data, after notes on them."""
    printer, reading = task.printer, task.reading
    hint_memory(printer, task.files)
    data = reading.load(printer, task.files, True, kernel, labels=True)
    examples, counts = data.examples, class_counts(data.labels)
    if len(counts) < 2:
        raise InputError(f"{examples.source}: every label is {data.labels[0]!r}, expected at least two classes")
    check_classes(examples)
    printer.note(f"{count(len(counts), 'class')}: {shares(counts)}")
    if reading.alphabet is None and examples.format in ("fasta", "fastq"):
        letters = set("".join(examples.X[:100]).upper())
        if {"A", "C", "G"} <= letters <= set("ACGTUN"):
            printer.note("these look like DNA: --alphabet dna folds case, and chooses a kernel of both strands")
    if not task.test:
        return data, None
    tested = reading.load(printer, task.test, True, data.kernel)
    warn_unknown(printer, sorted(counts), tested.examples.source, tested.labels)
    return data, tested
