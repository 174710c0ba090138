"""What trainings have in common, however the data are read: the task, the result, and how it is printed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from treille.cli.console import Printer
from treille.cli.models import class_names, n_features, print_saved, warn_unknown
from treille.cli.options import Reading, command, option_errors
from treille.cli.predicting import predicted
from treille.cli.training import HeldOut
from treille.data.format import class_counts
from treille.explain.scores import measure_pairs, positive_class
from treille.kernels.parse import format_kernel

NOT_CONVERGED = 3  # the exit code


@dataclass(frozen=True)
class Task:
    """The files to train on and to score on, how to read them, where to save the model, and where to print."""

    files: Sequence[str]
    test: Sequence[str]
    model: Path | None
    reading: Reading
    printer: Printer

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
        names, kernel = class_names(machine), machine.plan_.kernel
        written = dict(zip(machine.classes_.tolist(), names, strict=True))
        pairs, truth = Counter[tuple[str, str]](), Counter[str]()
        chunks = self.reading.chunks(self.test, True, kernel, False)
        for chunk in predicted(self.printer, chunks, self.reading, kernel, machine.predict, self.test[0]):
            labels, source = chunk.examples.labels or [], chunk.examples.input or chunk.examples.source
            truth.update(labels)
            pairs.update(zip(labels, (written[label] for label in chunk.found.tolist()), strict=True))
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
    page: Path | None = None
    memory: str = ""
    running: str = ""  # the score on examples of a stream, before they were learned
    checkpoint_note: str = ""
    values: dict[str, Any] = field(default_factory=dict)  # further members of the JSON object
    ended: BaseException | None = None  # by what the training was ended early

    @property
    def converged(self) -> bool:
        """Whether the duality gap is as small as demanded; a stream demands none."""
        return self.machine.report_.status in ("converged", "stream")

    def show(self, task: Task) -> None:
        """Prints the result, for people or as JSON."""
        printer = task.printer
        for name, text in self._fields().items():
            if text:
                printer.field(name, text)
        if n_features(self.machine) == 0:
            printer.warn(
                "no text has a feature of this kernel, so the model cannot distinguish them: choose a smaller n"
            )
        if not self.converged:
            warn_gap(printer, self.machine, "raise --max-epochs or --tol, lower --C, or normalize the kernel")
        elif self.score and self.score.not_converged:
            folds = f"{self.score.not_converged} of {len(self.score.folds)} folds"
            printer.warn(f"{folds} fell short of the gap: raise --max-epochs")
        if self.checkpoint_note:
            printer.note(self.checkpoint_note)
        predict = f"{command('predict', task.model, 'FILE')}{task.reading.flags()}"
        print_saved(printer, task.model, command("inspect", task.model), predict)
        if self.page:
            printer.field("report", f"{self.page}: open it in a browser")
        printer.result(self._as_dict(task.model))

    def _fields(self) -> dict[str, str]:
        plan, score = self.machine.plan_, str(self.score or "")
        kernel = format_kernel(plan.kernel)
        best = (
            f"C = {self.machine.C:g}, {kernel}: the best of {len(self.candidates)} by accuracy"
            if len(self.candidates) > 1
            else ""
        )
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

    def _as_dict(self, model: Path | None) -> dict[str, Any]:
        plan = self.machine.plan_
        return {
            "file": self.file,
            "format": self.format,
            "examples": sum(self.counts.values()),
            "classes": class_counts(self.counts),
            "kernel": format_kernel(plan.kernel),
            "space": plan.space.name,
            "solver": type(plan.solver).__name__,
            "features": n_features(self.machine),
            "report": self.machine.report_.as_dict(),
            **self.values,
            "score": self.score and self.score.as_dict(),
            **saved(model),
            "candidates": self.candidates,
            "page": self.page and str(self.page),
        }


def saved(model: Path | None) -> dict[str, Any]:
    """Members of a JSON object: the file of the model, and its size."""
    return {"model": model and str(model), "bytes": model and model.stat().st_size}


def warn_gap(printer: Printer, machine: Any, advice: str) -> None:
    """Warns that the duality gap is larger than demanded."""
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
