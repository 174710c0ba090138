"""Command 'treille train --stream': a perceptron learns from a file of any size in one pass, in little memory."""

import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack

from treille import InputError, Perceptron
from treille.cli.console import Printer
from treille.cli.options import kernel_option
from treille.cli.training import Trained, TrainingJob, check_classes, of_classes
from treille.data.format import count, seconds
from treille.explain.report import describe_report
from treille.solvers.progress import running_text


def train_stream(task: TrainingJob, kernel: str | None, fit_intercept: bool) -> Trained:
    """Learns from each chunk of the examples. What was learned is kept if the user, or a bad line, ends it early."""
    printer, reading, chosen = task.printer, task.reading, kernel_option(kernel)
    machine = Perceptron(chosen, fit_intercept=fit_intercept, n_jobs=task.options.jobs or -1)
    begun, counts, first, ended = time.perf_counter(), Counter[str](), None, None
    with ExitStack() as shown:
        show: Callable[[str], None] | None = None
        try:
            for examples in reading.chunks(task.files, True, chosen, ids=False):
                if first is None:
                    first = examples
                    printer.note(f"in chunks, the first: {examples.note}")
                    check_classes(first)
                labels, notes = examples.labels or [], printer if first is examples else Printer(quiet=True)
                X = reading.data(notes, examples, chosen)
                if show is None:  # after the notes
                    show = shown.enter_context(running_text(verbose=int(not printer.quiet)))
                    show("learning from the first examples")
                machine.partial_fit(X, labels)
                counts.update(labels)
                speed = f"{counts.total() / max(time.perf_counter() - begun, 1e-9):,.0f} a second"
                kept = f"{machine.plan_.sizes}, accuracy {machine.running_accuracy_:.3f}"
                show(f"{counts.total():,} examples, {speed}, {kept}")
        except (KeyboardInterrupt, InputError) as error:
            if first is None or not counts:
                raise
            ended = error
    assert first is not None
    if len(counts) < 2:
        found = InputError(f"{first.source}: every label is {next(iter(counts))!r}, expected at least two classes")
        raise ended or found
    task.save(machine)
    scored = task.score(machine) if ended is None else None
    taken, n = time.perf_counter() - begun, count(counts.total(), "example")
    if ended is not None:
        what = "interrupted" if isinstance(ended, KeyboardInterrupt) else "the input ended with an error"
        where = f" is saved to {task.options.model}" if task.options.model else ""
        printer.warn(f"{what}: the model learned from the {n} before that{where}")
    accuracy = machine.running_accuracy_
    fields = {
        "solver": "",
        "training": f"{describe_report(machine.report_, machine.tol)}, {seconds(taken)} with reading",
        "score": f"accuracy {accuracy:.3f} on the {n} of the stream, each predicted before it was learned",
        "test": scored.text if scored else "",
    }
    values = of_classes(first.format, counts, running_accuracy=accuracy, seconds=taken)
    return Trained(machine, first.source, machine.plan_.kernel_why, scored, fields, values, ended=ended)
