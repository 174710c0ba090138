"""What 'treille train --memory' does: exact training on a file that does not fit in memory, read in parts."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from treille import InputError
from treille.cli.console import Printer
from treille.cli.models import class_names, describe_report, print_saved, warn_unknown
from treille.cli.options import Reading, command
from treille.cli.predicting import predicted
from treille.cli.training import HeldOut, fit
from treille.data.base import available_memory, readable_size
from treille.data.format import count, shares
from treille.explain.scores import measure_pairs, positive_class
from treille.io import Examples
from treille.kernels import Kernel
from treille.kernels.parse import format_kernel
from treille.scale.cluster import require_dask
from treille.scale.parts import Part, Parts, part_characters, place_of
from treille.scale.sources import file_facts, text_bytes

INTERRUPTED = 130


@dataclass(frozen=True)
class Limits:
    """The values of the options for data in parts."""

    memory: str | None
    checkpoint: Path | None = None
    scratch: Path | None = None
    min_count: int = 1
    dask: str | None = None

    @property
    def in_parts(self) -> bool:
        """Whether the data are trained on in parts."""
        return self.memory is not None or self.dask is not None

    def check(self, refused: dict[str, bool]) -> None:
        """Refuses options that need --memory, or that it excludes, before any work is done."""
        own = {"--checkpoint": self.checkpoint, "--scratch": self.scratch, "--min-count": self.min_count > 1}
        if self.dask is not None and (self.memory is not None or self.scratch is not None):
            option = "--memory" if self.memory is not None else "--scratch"
            raise typer.BadParameter("is for training on this machine: leave it out with --dask", param_hint=option)
        if not self.in_parts:
            for option, given in own.items():
                if given:
                    raise typer.BadParameter(
                        "is for training in parts: add --memory 2GB, what training may take", param_hint=option
                    )
            return
        for option, given in refused.items():
            if given:
                raise typer.BadParameter(
                    f"needs all examples in memory: leave out {option}, or {'--dask' if self.dask else '--memory'}; to score, give "
                    "another file with --test",
                    param_hint=option,
                )
        try:
            Parts(lambda: iter(()), memory=self.memory or "2GB", min_count=self.min_count)
        except InputError as error:
            raise typer.BadParameter(str(error), param_hint="--memory") from None


def check_kernel(kernel: Kernel | None) -> None:
    """Refuses a kernel that is not trained in parts, before anything is read."""
    try:
        if kernel is not None:
            kernel.check_parts()
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--kernel") from None


class FileParts:
    """The parts of files as the reading options ask for them. The first is read at once, for the notes."""

    def __init__(
        self,
        files: Sequence[str],
        reading: Reading,
        printer: Printer,
        machine: Any,
        limits: Limits,
        check_classes: Callable[[Examples], None],
    ):
        assert limits.memory is not None
        characters = part_characters(limits.memory)
        self.reading, self.kernel = reading, machine.kernel
        self.chunks = reading.chunks(files, True, self.kernel, False, examples=characters // 8, characters=characters)
        with printer.busy(f"reading {files[0]}"):
            first = next(self.chunks)
        printer.note(f"in parts of about {characters / 1e6:.1f} million characters, the first: {first.note}")
        check_classes(first)
        self.source, self.format = first.input or first.source, first.format
        self.held = [self._part(first, printer)]
        options = {name: value for name, value in reading.options(self.kernel).items() if value}
        self.parts = Parts(
            self._open,
            memory=limits.memory,
            scratch=limits.scratch,
            checkpoint=limits.checkpoint,
            min_count=limits.min_count,
            sources=reading.inputs(*files),
            options=options | ({"alphabet": reading.alphabet.value} if reading.alphabet else {}),
        )

    def _part(self, examples: Examples, printer: Printer) -> Part:
        return Part(self.reading.data(printer, examples, self.kernel), examples.labels, None, place_of(examples))

    def _open(self) -> Iterator[Part]:
        yield self.held.pop()  # so that its memory is free afterwards
        for examples in self.chunks:
            yield self._part(examples, Printer(quiet=True))


class ClusterFiles:
    """Files that the workers of a Dask cluster read, each of them one part."""

    def __init__(self, files: Sequence[str], reading: Reading, printer: Printer, machine: Any, limits: Limits):
        if reading.alphabet is not None:
            raise typer.BadParameter("is not for data on a cluster: give a kernel of DNA", param_hint="--alphabet")
        if limits.dask == "":
            raise typer.BadParameter(
                "expected the address of a scheduler, such as tcp://host:8786", param_hint="--dask"
            )
        try:
            with printer.busy(f"connecting to {limits.dask}"):
                client = require_dask().Client(limits.dask, timeout=10)
        except (OSError, ValueError) as error:
            raise InputError(f"no Dask scheduler answers at {limits.dask}: {error}") from None
        options = {name: value for name, value in reading.options(machine.kernel).items() if value}
        self.parts = Parts.on(
            client, files, checkpoint=limits.checkpoint, min_count=limits.min_count, labelled=True, **options
        )
        self.source, self.format = files[0], ""
        printer.note(f"{count(len(self.parts.sources), 'file')}, read by the workers of {limits.dask}, a part each")


def train_parts(
    files: Sequence[str],
    model: Path | None,
    reading: Reading,
    printer: Printer,
    machine: Any,
    limits: Limits,
    test: Sequence[str],
    check_classes: Callable[[Examples], None],
) -> int:
    """Trains on the parts of files, saves, scores on another file, and prints. Returns the exit code."""
    data: FileParts | ClusterFiles
    try:
        if limits.dask is not None:
            data = ClusterFiles(files, reading, printer, machine, limits)
        else:
            data = FileParts(files, reading, printer, machine, limits, check_classes)
        fit(machine, data.parts)
    except KeyboardInterrupt:
        kept = f"the same command continues from {limits.checkpoint}"
        printer.warn(f"interrupted: {kept if limits.checkpoint else 'with --checkpoint DIR, it could be continued'}")
        raise typer.Exit(INTERRUPTED) from None
    machine.reading_ |= reading.remembered()
    if model:
        with printer.busy(f"saving {model}"):
            machine.save(model)
    counts = {str(label): n for label, n in data.parts.class_counts.items()}
    scored = _tested(printer, machine, reading, test, counts) if test else None
    peak = _peak_memory()
    _print(printer, machine, counts, peak, scored, model, reading, limits)
    printer.result(_as_dict(machine, data, counts, peak, scored, model))
    return 0 if machine.report_.status == "converged" else 3


def _tested(printer: Printer, machine: Any, reading: Reading, test: Sequence[str], counts: dict[str, int]) -> HeldOut:
    """Scores on other files, which are read in chunks: what is kept is how often each label was predicted for each true one."""
    names, kernel = class_names(machine), machine.plan_.kernel
    written = dict(zip(machine.classes_.tolist(), names, strict=True))
    pairs, truth = Counter[tuple[str, str]](), Counter[str]()
    for chunk in predicted(
        printer, reading.chunks(test, True, kernel, False), reading, kernel, machine.predict, test[0]
    ):
        labels, source = chunk.examples.labels or [], chunk.examples.input or chunk.examples.source
        truth.update(labels)
        pairs.update(zip(labels, (written[label] for label in chunk.found.tolist()), strict=True))
    warn_unknown(printer, names, source, truth)
    return HeldOut(f"on {source}", [measure_pairs(pairs, positive_class(names, counts))])


def _print(
    printer: Printer,
    machine: Any,
    counts: dict[str, int],
    peak: int,
    scored: HeldOut | None,
    model: Path | None,
    reading: Reading,
    limits: Limits,
) -> None:
    plan = machine.plan_
    printer.note(f"{count(len(counts), 'class')}: {shares(counts)}")
    printer.field("kernel", f"{format_kernel(plan.kernel)}, {plan.kernel_why}")
    printer.field("space", f"{plan.space.name}, {plan.space_why}")
    printer.field("solver", f"{plan.solver!r}, {plan.solver_why}")
    printer.field("sizes", plan.sizes)
    if peak:
        printer.field(
            "memory",
            f"{readable_size(peak)} at most{f', of {limits.memory} allowed' if limits.memory else ', in this process'}",
        )
    printer.field("training", describe_report(machine.report_, machine.tol, unit="round" if limits.dask else "pass"))
    if scored:
        printer.field("score", str(scored))
    if machine.report_.status != "converged":
        reached = f"the duality gap is {machine.report_.relative_gap:.1e}, not yet {machine.tol:g}"
        printer.warn(f"{reached}: raise --max-epochs or --tol, lower --C, or normalize the kernel")
    if limits.checkpoint:
        printer.note(
            f"{limits.checkpoint} is of no use any more: remove it with rm -r {shlex.quote(str(limits.checkpoint))}"
        )
    print_saved(printer, model, command("inspect", model), f"{command('predict', model, 'FILE')}{reading.flags()}")


def _as_dict(
    machine: Any,
    data: FileParts | ClusterFiles,
    counts: dict[str, int],
    peak: int,
    scored: HeldOut | None,
    model: Path | None,
) -> dict[str, Any]:
    plan = machine.plan_
    return {
        "file": data.source,
        "format": data.format,
        "examples": sum(counts.values()),
        "classes": dict(Counter(counts).most_common()),
        "kernel": format_kernel(plan.kernel),
        "space": plan.space.name,
        "solver": type(plan.solver).__name__,
        "features": machine.features_.n_features,
        "report": machine.report_.as_dict(),
        "peak_memory": peak or None,
        "score": scored and scored.as_dict(),
        "model": model and str(model),
        "bytes": model and model.stat().st_size,
        "candidates": [],
        "page": None,
    }


def _peak_memory() -> int:
    """The most memory that this process held, in bytes; 0 where the system does not report it."""
    with suppress(ImportError):  # not on Windows
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return 0


def hint_memory(printer: Printer, files: Sequence[str]) -> None:
    """Says that there is an option for files that may not fit in memory."""
    size, free = text_bytes(file_facts(tuple(files))), available_memory()
    if 2 * size > free:
        some = max(1, free * 3 // 4 // 10**9)
        printer.note(
            f"{files[0]}: about {readable_size(size)} of text, and {readable_size(free)} of memory are free: if that is too "
            f"little, --memory {some}GB trains in parts that fit, to the same optimum"
        )
