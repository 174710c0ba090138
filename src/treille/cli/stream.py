"""What 'treille train --stream' does: a perceptron learns from a file of any size in one pass, in little memory."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from treille import InputError, Perceptron
from treille.cli.console import Printer
from treille.cli.models import check_writable, describe_report, print_saved, warn_unknown
from treille.cli.options import Reading, command, kernel_option
from treille.cli.training import HeldOut, score
from treille.data.format import count, seconds
from treille.io import Examples
from treille.kernels.parse import format_kernel

INTERRUPTED = 130


def learn_stream(
    files: Sequence[str],
    model: Path | None,
    reading: Reading,
    printer: Printer,
    *,
    kernel: str | None,
    fit_intercept: bool,
    test: Sequence[str],
    jobs: int | None,
    force: bool,
    refused: dict[str, bool],
) -> None:
    """Learns from each chunk of the examples. What was learned is kept if the user, or a bad line, ends it early."""
    for option, given in refused.items():
        if given:
            raise typer.BadParameter(
                f"does not apply with --stream, which trains a perceptron in one pass: leave out {option}, or --stream",
                param_hint=option,
            )
    if model is not None:
        check_writable(model, "model", reading.inputs(*files, *test), force)
    chosen = kernel_option(kernel)
    machine = Perceptron(chosen, fit_intercept=fit_intercept, n_jobs=jobs or -1)
    begun, counts, first, ended = time.perf_counter(), Counter[str](), None, None
    with ExitStack() as shown:
        show: Callable[[Perceptron, int, float], None] | None = None
        try:
            for examples in reading.chunks(files, True, chosen, ids=False):
                if first is None:
                    first = examples
                    printer.note(f"in chunks, the first: {examples.note}")
                labels, notes = examples.labels or [], printer if first is examples else Printer(quiet=True)
                X = reading.data(notes, examples, chosen)
                show = show or shown.enter_context(_progress(printer))  # after the notes
                machine.partial_fit(X, labels)
                counts.update(labels)
                show(machine, counts.total(), time.perf_counter() - begun)
        except (KeyboardInterrupt, InputError) as error:
            if first is None or not counts:
                raise
            ended = error
    assert first is not None
    if len(counts) < 2:
        found = InputError(f"{first.source}: every label is {next(iter(counts))!r}, expected at least two classes")
        raise ended or found
    machine.reading_ |= reading.remembered()
    if model:
        machine.save(model)
    scored = _tested(printer, machine, reading, test, counts) if test and ended is None else None
    taken = time.perf_counter() - begun
    if ended is not None:
        kept = f"the model learned from the {count(counts.total(), 'example')} before that"
        what = "interrupted" if isinstance(ended, KeyboardInterrupt) else "the input ended with an error"
        printer.warn(f"{what}: {kept}{f' is saved to {model}' if model else ''}")
    _print(printer, machine, counts, taken, scored, model, reading)
    printer.result(_as_dict(machine, first, counts, taken, scored, model))
    if isinstance(ended, InputError):
        raise ended
    if ended is not None:
        raise typer.Exit(INTERRUPTED)


@contextmanager
def _progress(printer: Printer) -> Iterator[Callable[[Perceptron, int, float], None]]:
    """Shows on a terminal how many examples were learned, and how well they were predicted before that."""
    console = Console(stderr=True)
    if printer.quiet or not console.is_terminal:
        yield lambda machine, n, seconds: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("learning from the first examples")

        def show(machine: Perceptron, n: int, seconds: float) -> None:
            speed = f"{n / max(seconds, 1e-9):,.0f} a second"
            kept = machine.functions_.sizes()
            bar.update(task, description=f"{n:,} examples, {speed}, {kept}, accuracy {machine.running_accuracy_:.3f}")

        yield show


def _tested(
    printer: Printer, machine: Perceptron, reading: Reading, test: Sequence[str], counts: Counter[str]
) -> HeldOut:
    tested, truth = reading.read_labelled(printer, test, machine.plan_.kernel)
    warn_unknown(printer, sorted(counts), tested.source, truth)
    X = reading.data(printer, tested, machine.plan_.kernel)
    among = [label for label, n in counts.items() for _ in range(min(n, 2))]
    return HeldOut(f"on {tested.source}", [score(machine, X, truth, among)])


def _print(
    printer: Printer,
    machine: Perceptron,
    counts: Counter[str],
    taken: float,
    scored: HeldOut | None,
    model: Path | None,
    reading: Reading,
) -> None:
    plan = machine.plan_
    printer.field("kernel", f"{format_kernel(plan.kernel)}, {plan.kernel_why}")
    printer.field("space", f"{plan.space.name}, {plan.space_why}")
    printer.field("sizes", plan.sizes)
    printer.field("training", f"{describe_report(machine.report_, machine.tol)}, {seconds(taken)} with reading")
    running = f"accuracy {machine.running_accuracy_:.3f} on the {count(counts.total(), 'example')} of the stream"
    printer.field("score", f"{running}, each predicted before it was learned")
    if scored:
        printer.field("test", str(scored))
    print_saved(printer, model, command("inspect", model), f"{command('predict', model, 'FILE')}{reading.flags()}")


def _as_dict(
    machine: Perceptron, first: Examples, counts: Counter[str], taken: float, scored: HeldOut | None, model: Path | None
) -> dict[str, Any]:
    features = None
    with suppress(AttributeError):  # a kernel without weights of features
        features = machine.features_.n_features
    return {
        "file": first.source,
        "format": first.format,
        "examples": counts.total(),
        "classes": dict(counts.most_common()),
        "kernel": format_kernel(machine.plan_.kernel),
        "space": machine.plan_.space.name,
        "solver": "Perceptron",
        "features": features,
        "report": machine.report_.as_dict(),
        "running_accuracy": machine.running_accuracy_,
        "seconds": taken,
        "score": scored and scored.as_dict(),
        "model": model and str(model),
        "bytes": model and model.stat().st_size,
    }
