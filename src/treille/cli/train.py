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
of FILE. It stores --text, --weights, --alphabet and --root-label: predict and evaluate read new files in the same way.

With --memory, FILE may be larger than memory: it is read in parts, whose features are kept on disk, and training visits
one block of parts after another, to the same optimum. With --checkpoint, the same command continues where an earlier
one ended, by Ctrl-C or otherwise.

With --stream, a perceptron learns from each example once, in the order of FILE, which need not fit in memory; - is read
as it comes. The score is the share of examples that were predicted right before they were learned. Ctrl-C saves what
was learned so far.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer

from treille import SVC, InputError, Lattices, LogisticRegression
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import check_writable, describe_report, print_saved, warn_unknown
from treille.cli.options import Reading, command, kernel_options, numbers_option
from treille.cli.pages import check_report, write_training_report
from treille.cli.parts import Limits, check_kernel, hint_memory, train_parts
from treille.cli.stream import learn_stream
from treille.cli.training import HeldOut, choose, fit, fold_splits, held_out, part_split, score
from treille.data.format import class_counts, count, shares
from treille.io import Examples
from treille.kernels import Kernel
from treille.kernels.parse import default_kernel, format_kernel

NOT_CONVERGED = 3


@options.reading_options()
def run(
    files: options.DataFiles,
    model: options.ModelPath = None,
    *,
    reading: Reading,
    kernel: options.KernelText = None,
    C: options.Cs = "1",
    loss: options.LossName = options.Loss.hinge,
    tol: options.Tol = 1e-3,
    max_epochs: options.MaxEpochs = 1000,
    class_weight: options.ClassWeightName = None,
    no_intercept: options.NoIntercept = False,
    cv: options.Folds = None,
    holdout: options.HoldOut = None,
    test: options.TestFiles = None,
    report: options.ReportPath = None,
    memory: options.Memory = None,
    dask: options.Dask = None,
    checkpoint: options.Checkpoint = None,
    scratch: options.Scratch = None,
    min_count: options.MinCount = 1,
    stream: options.Stream = False,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Reads, scores, trains, saves, and prints last: a reader that stops early, such as head, loses no work."""
    if stream:
        refused = {"--C": C != "1", "--loss": loss is not options.Loss.hinge, "--tol": tol != 1e-3, "--seed": seed != 0}
        refused |= {"--max-epochs": max_epochs != 1000, "--cv": cv is not None, "--holdout": holdout is not None}
        refused |= {"--class-weight": class_weight is not None, "--report": report is not None}
        refused |= {"--memory": memory is not None, "--dask": dask is not None}
        return learn_stream(
            files, model, reading, Printer(json, quiet), kernel=kernel, fit_intercept=not no_intercept, test=test or [],
            jobs=jobs, force=force, refused=refused,
        )  # fmt: skip
    limits = Limits(memory, checkpoint, scratch, min_count, dask)
    limits.check({"--cv": cv is not None, "--holdout": holdout is not None, "--report": report is not None})
    _check_choices(model, cv, holdout, test, "--cv 5" if memory is dask is None else "--test FILE")
    if model is not None:
        check_writable(model, "model", reading.inputs(*files, *(test or ())), force)
    if report is not None:
        check_report(report, reading.inputs(*files, *(test or ()), str(model or "")), force)
    kernels, Cs = kernel_options(kernel), numbers_option(C, "--C")
    if cv is None and max(len(kernels), len(Cs)) > 1:
        raise typer.BadParameter(
            "several values were given: add --cv 5 to choose the best by cross-validation"
            + " on a part of FILE, without --memory" * (memory is not None),
            param_hint="--C" if len(Cs) > 1 else "--kernel",
        )
    shared: dict[str, Any] = {
        "kernel": kernels[0] if kernels else None, "tol": tol, "max_epochs": max_epochs, "fit_intercept": not no_intercept,
        "class_weight": class_weight and class_weight.value, "n_jobs": jobs or -1, "random_state": seed,
        "verbose": int(not quiet),
    }  # fmt: skip
    logistic = loss is options.Loss.logistic
    machine: Any = LogisticRegression(**shared) if logistic else SVC(loss=loss.value, **shared)
    for value in Cs:
        _check_parameters(machine.set_params(C=value))
    printer = Printer(json, quiet)
    if limits.in_parts:
        check_kernel(machine.kernel)
        raise typer.Exit(train_parts(files, model, reading, printer, machine, limits, test or (), _check_classes))
    hint_memory(printer, files)
    chosen = machine.kernel
    assert chosen is None or isinstance(chosen, Kernel)
    examples, labels = reading.read_labelled(printer, files, chosen)
    _note_classes(printer, examples, labels)
    tested, truth = reading.read_labelled(printer, test, chosen) if test else (None, [])
    if tested:
        warn_unknown(printer, sorted(set(labels)), tested.source, truth)
    _hint_alphabet(printer, reading, examples)
    why = "as given"
    if chosen is None:
        chosen, why = default_kernel(reading.data(Printer(quiet=True), examples), labels=True)
        machine.kernel = chosen
    X = reading.data(printer, examples, chosen)
    X_test = reading.data(printer, tested, chosen) if tested else None
    batch = chosen.batch(X, machine.n_jobs)  # read once, for all folds and the final model
    if isinstance(batch, Lattices):
        printer.note(f"read as distributions: {batch.report}")
    candidates, scored, splits = list[dict[str, Any]](), None, None
    if cv:
        splits, how = fold_splits(labels, cv, seed, printer), f"in {cv}-fold cross-validation"
        found = choose(machine, kernels or [chosen], Cs, batch, labels, splits, how)
        machine, scored, candidates = found.model, found.scored, found.candidates
    else:
        if holdout:
            how = f"on {holdout:.0%} held out"
            splits = part_split(labels, holdout, seed)
            scored = held_out(machine, batch, labels, splits, how)
        fit(machine, batch, labels)
    machine.reading_ |= reading.remembered()
    if model:
        machine.save(model)
    if tested:
        scored = HeldOut(f"on {tested.source}", [score(machine, X_test, truth, labels)])
    if report:
        compared = (tested, X_test) if tested else None
        write_training_report(report, printer, machine, model, (examples, X), scored, splits, compared)
    _print(printer, machine, why, scored, model, reading, candidates)
    if report:
        printer.field("report", f"{report}: open it in a browser")
    printer.result(
        _as_dict(machine, examples, scored, model) | {"candidates": candidates, "page": report and str(report)}
    )
    if machine.report_.status != "converged":
        raise typer.Exit(NOT_CONVERGED)


def _hint_alphabet(printer: Printer, reading: Reading, examples: Examples) -> None:
    """Says that there is an option for DNA, where sequences look like it."""
    if reading.alphabet is None and examples.format in ("fasta", "fastq"):
        letters = set("".join(examples.X[:100]).upper())
        if {"A", "C", "G"} <= letters <= set("ACGTUN"):
            printer.note("these look like DNA: --alphabet dna folds case, and chooses a kernel of both strands")


def _check_choices(
    model: Path | None, cv: int | None, holdout: float | None, test: list[str] | None, scoring: str
) -> None:
    """Checks the command line before any work is done."""
    chosen = [
        f"--{name}" for name, value in (("cv", cv), ("holdout", holdout), ("test", test or None)) if value is not None
    ]
    if len(chosen) > 1:
        raise typer.BadParameter(f"{' and '.join(chosen)} were given: choose one way to score", param_hint=chosen[0])
    if holdout is not None and not 0 < holdout < 1:
        raise typer.BadParameter(f"{holdout:g} is not between 0 and 1", param_hint="--holdout")
    if model is None and not chosen:
        raise typer.BadParameter(
            f"say where to save the model, for example --model my.treille, or ask for a score alone with {scoring}",
            param_hint="--model",
        )


def _check_parameters(machine: Any) -> None:
    try:
        machine.check_parameters()
    except InputError as error:
        raise typer.BadParameter(str(error)) from None


def _note_classes(printer: Printer, examples: Examples, labels: list[str]) -> None:
    counts = class_counts(labels)
    if len(counts) < 2:
        raise InputError(f"{examples.source}: every label is {labels[0]!r}, expected at least two classes")
    _check_classes(examples)
    printer.note(f"{count(len(counts), 'class')}: {shares(counts)}")


def _check_classes(examples: Examples) -> None:
    """Refuses labels that are scores, or names of the examples."""
    labels, source = examples.labels or [], examples.source
    counts = class_counts(labels)
    if 2 * len(counts) > len(labels) and _are_scores(counts):
        raise InputError(
            f"{source}: the labels are {len(counts):,} different numbers, such as {labels[0]}: scores, not classes."
            " To learn scores use treille.SVR in Python, on treille.io.read(...).targets()"
        )
    single = [label for label, n in counts.items() if n == 1]
    first_words = "first in its header" in examples.note or "first word of its line" in examples.note
    if len(counts) > 2 and 2 * len(single) > len(counts) and (first_words or 2 * len(counts) > len(labels)):
        raise _no_classes(examples, single, len(counts), first_words)


def _no_classes(examples: Examples, single: list[str], n: int, first_words: bool) -> InputError:
    """For labels most of which only one example has: they are something else."""
    taken = " (the first word of a line or header)" * first_words
    found = f"{len(single):,} of {n:,} classes have one example only, such as {single[0][:40]!r}{taken}: these are no labels"
    ways = [
        "one file or folder per class (treille train pos.fa neg.fa)",
        "--labels FILE with an id and its label on each line",
    ]
    if examples.format in ("fasta", "fastq"):
        ways.append("--label KEY for KEY=VALUE in the headers")
    else:
        ways.append("a tab after the label" if examples.format == "lines" else "--label FIELD for another field")
    return InputError(f"{examples.source}: {found}. Give labels by {', by '.join(ways[:-1])}, or by {ways[-1]}")


def _are_scores(labels: Iterable[str]) -> bool:
    """Numbers, and not all of them whole."""
    try:
        return not all(float(label).is_integer() for label in labels)
    except ValueError:
        return False


def _print(
    printer: Printer,
    machine: Any,
    why: str,
    scored: HeldOut | None,
    model: Path | None,
    reading: Reading,
    candidates: list[dict[str, Any]],
) -> None:
    chosen = machine.plan_
    if len(candidates) > 1:
        printer.field(
            "chosen", f"C = {machine.C:g}, {format_kernel(chosen.kernel)}: the best of {len(candidates)} by accuracy"
        )
    printer.field(
        "kernel", f"{format_kernel(chosen.kernel)}, {why if chosen.kernel is machine.kernel else chosen.kernel_why}"
    )
    printer.field("space", f"{chosen.space.name}, {chosen.space_why}")
    printer.field("solver", f"{chosen.solver!r}, {chosen.solver_why}")
    printer.field("sizes", chosen.sizes)
    printer.field("training", describe_report(machine.report_, machine.tol))
    if _n_features(machine) == 0:
        printer.warn("no text has a feature of this kernel, so the model cannot distinguish them: choose a smaller n")
    if scored:
        printer.field("score", str(scored))
    if machine.report_.status != "converged":
        reached = f"the duality gap is {machine.report_.relative_gap:.1e}, not yet {machine.tol:g}"
        printer.warn(f"{reached}: raise --max-epochs or --tol, lower --C, or normalize the kernel")
    elif scored and scored.not_converged:
        printer.warn(f"{scored.not_converged} of {len(scored.folds)} folds fell short of the gap: raise --max-epochs")
    print_saved(printer, model, command("inspect", model), f"{command('predict', model, 'FILE')}{reading.flags()}")


def _n_features(machine: Any) -> int | None:
    """None for a kernel without explicit features."""
    return machine.features_.n_features if hasattr(machine, "features_") else None


def _as_dict(machine: Any, examples: Examples, scored: HeldOut | None, model: Path | None) -> dict[str, Any]:
    chosen = machine.plan_
    return {
        "file": examples.source,
        "format": examples.format,
        "examples": len(examples),
        "classes": class_counts(examples.labels or []),
        "kernel": format_kernel(chosen.kernel),
        "space": chosen.space.name,
        "solver": type(chosen.solver).__name__,
        "features": _n_features(machine),
        "report": machine.report_.as_dict(),
        "score": scored and scored.as_dict(),
        "model": model and str(model),
        "bytes": model and model.stat().st_size,
    }
