"""Commands 'treille train --memory' and '--dask': exact training on files that are read in parts, here or by a cluster."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from treille import InputError
from treille.cli.console import Printer
from treille.cli.options import option, option_errors
from treille.cli.training import Trained, TrainingJob, check_classes, fit, of_classes
from treille.data.base import available_memory, readable_size
from treille.data.format import class_counts, count, shares
from treille.explain.report import describe_report
from treille.io import Examples
from treille.kernels import Kernel
from treille.scale.cluster import require_dask
from treille.scale.counting import file_facts, text_bytes
from treille.scale.parts import LEAST_MEMORY, Part, Parts, part_characters, place_of

MEMORY = "Train in parts that fit, such as 2GB: FILE may be larger than memory."
DASK = "Train on a Dask cluster, such as tcp://host:8786; its workers read FILEs, a part each."
CHECKPOINT = "With --memory or --dask: if training ends early, the same command continues."
SCRATCH = "With --memory: for temporary files, three times the size of FILE."
MIN_COUNT = "Keep features that occur in N examples or more; without --memory, in parts that fit in the free memory."


@dataclass(frozen=True)
class Limits:
    """The values of the options for data in parts. Its fields declare the options; see `with_options`."""

    memory: Annotated[str | None, option("SIZE", MEMORY)] = None
    dask: Annotated[str | None, option("ADDRESS", DASK)] = None
    checkpoint: Annotated[Path | None, option("DIR", CHECKPOINT)] = None
    scratch: Annotated[Path | None, option("DIR", SCRATCH)] = None
    min_count: Annotated[int, option("N", MIN_COUNT, min=1)] = 1

    @property
    def asked_by(self) -> str | None:
        """The option for which the data are trained on in parts; None if they are not."""
        options = {
            "--dask": self.dask is not None,
            "--memory": self.memory is not None,
            "--min-count": self.min_count > 1,
        }
        return next((option for option, given in options.items() if given), None)

    def check(self) -> None:
        """Refuses bad values before any work is done."""
        if self.dask == "":
            expected = "expected the address of a scheduler, such as tcp://host:8786"
            raise typer.BadParameter(expected, param_hint="--dask")
        with option_errors("--memory"):
            Parts(lambda: iter(()), memory=self.memory or "2GB", min_count=self.min_count)


def train_parts(task: TrainingJob, machine: Any, limits: Limits) -> Trained:
    """Trains on the parts of files."""
    kernel = machine.kernel
    if kernel is not None:
        with option_errors("--kernel"):
            kernel.check_parts()
    try:
        if limits.dask is not None:
            parts, source, format = _cluster_parts(task, kernel, limits), task.files[0], ""
        else:
            memory = limits.memory or f"{max(LEAST_MEMORY, available_memory()) // 10**6}MB"
            parts, source, format = _file_parts(task, kernel, limits, memory)
        fit(machine, parts)
    except KeyboardInterrupt:
        continues = f"the same command continues from {limits.checkpoint}"
        advice = continues if limits.checkpoint else "with --checkpoint DIR, it could be continued"
        task.printer.warn(f"interrupted: {advice}")
        raise
    task.save(machine)
    counts = class_counts({str(label): n for label, n in machine.class_counts_.items()})
    scored, peak = task.score(machine), _peak_memory()
    task.printer.note(f"{count(len(counts), 'class')}: {shares(counts)}")
    allowed = f", of {limits.memory} allowed" if limits.memory else ", in this process"
    ended = describe_report(machine.report_, machine.tol, unit="round" if limits.dask else "pass")
    done = f"{limits.checkpoint} is of no use any more: remove it with rm -r {shlex.quote(str(limits.checkpoint))}"
    return Trained(
        machine,
        source,
        machine.plan_.kernel_why,
        scored,
        {"memory": f"{readable_size(peak)} at most{allowed}" if peak else "", "training": ended},
        of_classes(format, counts, peak_memory=peak or None),
        checkpoint_note=done if limits.checkpoint else "",
    )


def _file_parts(task: TrainingJob, kernel: Kernel | None, limits: Limits, memory: str) -> tuple[Parts, str, str]:
    """The parts of files, the name of the files, and their format. The first part is read at once, for the notes."""
    reading, characters = task.reading, part_characters(memory)
    chunks = reading.chunks(task.files, True, kernel, False, examples=characters // 8, characters=characters)
    with task.printer.busy(f"reading {task.files[0]}"):
        first = next(chunks)
    task.printer.note(f"in parts of about {characters / 1e6:.1f} million characters, the first: {first.note}")
    check_classes(first)

    def part(examples: Examples, printer: Printer) -> Part:
        return Part(reading.data(printer, examples, kernel), examples.labels, None, place_of(examples))

    held = [part(first, task.printer)]
    source, format = first.input or first.source, first.format

    def open_parts() -> Iterator[Part]:
        yield held.pop()  # so that its memory is free afterwards
        for examples in chunks:
            yield part(examples, Printer(quiet=True))

    parts = Parts(
        open_parts,
        memory=memory,
        scratch=limits.scratch,
        checkpoint=limits.checkpoint,
        min_count=limits.min_count,
        sources=reading.inputs(*task.files),
        options=_given(task, kernel) | ({"alphabet": reading.alphabet} if reading.alphabet else {}),
    )
    return parts, source, format


def _cluster_parts(task: TrainingJob, kernel: Kernel | None, limits: Limits) -> Parts:
    """The parts of files that the workers of a Dask cluster read, one part per file."""
    try:
        with task.printer.busy(f"connecting to {limits.dask}"):
            client = require_dask().Client(limits.dask, timeout=10)
    except (OSError, ValueError) as error:
        raise InputError(f"no Dask scheduler answers at {limits.dask}: {error}") from None
    how: dict[str, Any] = {"checkpoint": limits.checkpoint, "min_count": limits.min_count, "labelled": True}
    parts = Parts.on(client, task.files, **how, **_given(task, kernel))
    task.printer.note(f"{count(len(parts.sources), 'file')}, read by the workers of {limits.dask}, a part each")
    return parts


def _given(task: TrainingJob, kernel: Kernel | None) -> dict[str, Any]:
    return {name: value for name, value in task.reading.options(kernel).items() if value}


def _peak_memory() -> int:
    """The most memory that this process held, in bytes; 0 where the system does not report it."""
    with suppress(ImportError):  # not on Windows
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return 0


def hint_memory(printer: Printer, files: Sequence[str]) -> None:
    """Suggests --memory for files that may not fit in memory."""
    size, free = text_bytes(file_facts(tuple(files))), available_memory()
    if 2 * size > free:
        some = max(1, free * 3 // 4 // 10**9)
        printer.note(
            f"{files[0]}: about {readable_size(size)} of text, and {readable_size(free)} of memory are free: if that is too "
            f"little, --memory {some}GB trains in parts that fit, to the same optimum"
        )
