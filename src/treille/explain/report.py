"""The report of a model: how good it is, what made its decisions, and how it was trained, on one page."""

import os
import warnings
from dataclasses import replace
from math import isfinite
from pathlib import PurePath
from shlex import quote
from typing import Any

import numpy as np
from markupsafe import Markup

from treille.data import Batch, Strings
from treille.data.format import count, seconds, visible, visible_label
from treille.data.table import Texts
from treille.explain.examples import listed_examples, sample, size_of, some_of
from treille.explain.page import Content, Feature, Origin, Page, Panel
from treille.explain.plots import Line, axis_of, plot
from treille.explain.tasks import Task
from treille.io.errors import InputError
from treille.kernels.parse import format_kernel
from treille.solvers.report import Report, check_outcome

MOST_FEATURES, FEWEST, ALL_FEATURES = 40, 10, 240  # of a class, and of all together: joining n-grams takes time
MOST_FRAGMENTS = 20
MOST_READ = 1_000  # examples in which features are looked for
MOST_CLASSES = 40
SPREAD = 8  # from this ratio on, the objective is shown on a logarithmic axis
TOO_GOOD = "These are the training examples: the figures are too good. Evaluate the model on new examples."
NO_DATA = (
    "There are no examples: this page describes the model alone. Give examples for scores and explanations: "
    "model.write_report(X, y, path), or treille report MODEL FILE."
)


def write_report(
    model: Any, X: Any, y: Any, path: str | os.PathLike[str], train: Any = None, source: Origin | None = None
) -> None:
    """Writes the report of a fitted estimator to a file, see `SVC.write_report`."""
    content = report_content(model, X, y, train, source)
    Page(f"treille report: {content.title}", [content]).write(path)


def report_content(model: Any, X: Any, y: Any, train: Any = None, source: Origin | None = None) -> Content:
    """Returns the content of the page about the model."""
    source = source or Origin()
    train = checked_pair(train)
    if X is None and y is not None:
        raise InputError("y was given without X: give the examples, too")
    if X is None and train is not None:
        (X, y), source = train, replace(source, training=True)
    X, task, name = listed_examples(X), model.task(), type(model).__name__
    curves, curves_note = convergence(model.report_, model.tol)
    heaviest, features_note = features(task, train[0] if train is not None else X)
    trained = f"trained in {seconds(model.report_.seconds)}" if model.report_.seconds else "trained"
    content = Content(
        name=source.name,
        title=f"{name}, {count(len(task.names), task.noun)}" if task.names else name,
        kernel=format_kernel(model.plan_.kernel),
        summary=sentence(trained),
        banner=NO_DATA,
        unit=task.unit,
        convergence=curves,
        convergence_note=curves_note,
        features=heaviest,
        features_note=features_note,
        plan=plan(model),
        warnings=[*source.warnings, *of_training(model, task)],
        commands=commands(task, source.model),
    )
    if X is None:
        return content
    if size_of(X) == 0:
        expected = "a report needs at least one, or None for a report of the model alone"
        raise InputError(f"there are no {task.unit}s: {expected}")
    source = replace(source, batch=model._read_batch(X) if source.batch is None else source.batch)
    content = replace(
        content,
        title=f"{name} on {without_folders(source.data)}" if source.data else content.title,
        summary=sentence(task.counted(source.batch), source.how, trained),
        banner=TOO_GOOD if source.training else "",
        data=_statistics(X, source.batch),
    )
    return task.report(content, X, y, train, source)


def checked_pair(train: Any) -> tuple[Any, Any] | None:
    """The training examples and their labels."""
    if train is None:
        return None
    if not isinstance(train, (tuple, list)) or len(train) != 2:
        expected = "a pair (X, y) of training examples and their labels"
        raise InputError(f"train is {type(train).__name__}, expected {expected}")
    return listed_examples(train[0]), train[1]


def without_folders(files: str) -> str:
    """The names of files in a title.

    >>> without_folders("data/a.fa, data/b.fa"), without_folders("data/pos.fa and 1 more")
    ('a.fa, b.fa', 'pos.fa and 1 more')
    """
    return ", ".join(PurePath(each).name for each in files.split(", "))


def commands(task: Task, path: str) -> list[str]:
    """Commands that use a model, to be pasted."""
    verbs = [*task.commands.values(), "explain"]
    lines = [f"treille {verb} {quote(path)} FILE" for verb in verbs]
    others = ["report {} FILE --output report.html", "serve {}", "inspect {}"]
    return [*lines, *(f"treille {other}".format(quote(path)) for other in others)]


def sentence(*parts: str) -> str:
    """Joins the first sentence of the page from parts that may be empty.

    >>> sentence("20 examples", "", "trained in 1 s")
    '20 examples; trained in 1 s.'
    """
    text = "; ".join(part for part in parts if part)
    return f"{text[:1].upper()}{text[1:]}."


def _statistics(X: Any, batch: Batch) -> dict[str, str]:
    """Statistics of the data. Texts are described by their characters, whatever the kernel reads."""
    texts = isinstance(batch, (Strings, Texts)) and isinstance(X, list)
    kind = Strings if texts else type(batch)
    return {"kind": kind.title, "examples": f"{len(batch):,}"} | kind.summarise(X if texts else batch, 0, 80).fields


def plan(model: Any) -> dict[str, str]:
    """The choices with their reasons, the parameters, and how training ended."""
    chosen = dict(line.split(": ", 1) for line in str(model.plan_).splitlines() if ": " in line)
    skipped = ("kernel", "n_jobs", "verbose", "templates")
    values = {k: v for k, v in model.get_params(deep=False).items() if k not in skipped and v is not None}
    chosen["parameters"] = ", ".join(f"{name}={value!r}" for name, value in values.items())
    ended = describe_report(model.report_, model.tol, model.task().pairs)
    return chosen | {"training": f"{ended}, seed {model.report_.seed}"}


def describe_report(report: Report, tol: float, pairs: bool = False, unit: str = "epoch") -> str:
    """The end of training, in one line.

    >>> describe_report(Report(2.0, 1.999, 12, 0.5, "converged", 0), 1e-3)
    'converged, duality gap 5.0e-04 of the objective (tol: 0.001), 12 epochs, 0.50 s'
    """
    ended = "converged" if report.status == "converged" else f"stopped at {report.status}, NOT converged"
    several = f"{count(len(report.per_class), 'class')} one against the rest, " if report.per_class else ""
    took = f", {seconds(report.seconds)}" if report.seconds else ""  # unknown for a model from a file
    if report.mistakes and report.status == "stream":
        return f"one pass over a stream, {several}{count(sum(report.mistakes), 'mistake')}{took}"
    if report.mistakes:
        separated = "no mistake" if report.mistakes[-1] == 0 else count(report.mistakes[-1], "mistake")
        in_all = f"{several}{sum(report.mistakes):,} in all{took}"
        return f"{ended}, {separated} in the last of {count(report.epochs, 'epoch')}, {in_all}"
    if pairs and several:
        several = f"{count(len(report.per_class), 'pair')} of classes, "
    return (
        f"{ended}, duality gap {report.relative_gap:.1e} of the objective (tol: {tol:g}), {several}"
        f"{count(report.epochs, unit)}{took}"
    )


def of_training(model: Any, task: Task) -> list[str]:
    """Warnings that follow from the report of the solver."""
    report = model.report_
    with warnings.catch_warnings(record=True) as met:  # what `fit` issued, which a model file does not keep
        warnings.simplefilter("always")
        if report.status != "stream":
            check_outcome(report, model.tol)
    said = [str(warning.message) for warning in met]
    if report.approximation_error > 0:
        said.append(f"the space approximates the kernel: {report.approximation_error:.2g} of its trace was lost")
    if task.n_features == 0:
        said.append("no training example has a feature of this kernel, so the model cannot distinguish examples")
    return said


def convergence(report: Any, tol: float) -> tuple[Panel | None, str]:
    """Primal and dual value over the seconds of training."""
    points = [p for p in report.history if all(isfinite(v) for v in p)]
    if len(points) < 2:
        reason = "the solver has none, or the model was read from a file"
        return None, f"The values during training were not recorded: {reason}."
    times, primal, dual = (np.array(column, float) for column in zip(*points, strict=True))
    log = float(dual[-1]) > 0 and float(primal.max()) > SPREAD * float(dual[-1])
    kept = dual > 0 if log else np.full(len(dual), True)
    values = [*primal.tolist(), *dual[kept].tolist()]
    if log:
        values = [v for v in values if v >= dual[-1] / SPREAD]
    lines = [Line("model", times.tolist(), primal.tolist()), Line("other", times[kept].tolist(), dual[kept].tolist())]
    x, y = axis_of("seconds", [0.0, *times.tolist()]), axis_of("objective", values, log)
    drawn = plot("convergence", x, y, lines)
    text = "Primal value, from above, and dual value, from below; the optimum is between them"
    return Panel("", [(text, drawn), *_gaps(times, primal, dual, report, tol)]), ""


def _gaps(times: np.ndarray, primal: np.ndarray, dual: np.ndarray, report: Any, tol: float) -> list[tuple[str, Markup]]:
    """A plot of the relative gap over the seconds, with the tolerance as a line."""
    gaps = (primal - dual) / np.maximum(np.abs(primal), 1e-300)
    kept = gaps > 0
    if kept.sum() < 2 or not tol > 0:
        return []
    x, y = axis_of("seconds", [0.0, *times.tolist()]), axis_of("relative gap", [*gaps[kept].tolist(), tol], log=True)
    asked = Line("diagonal", [0.0, float(times[-1])], [tol, tol])
    drawn = plot("relative gap", x, y, [asked, Line("model", times[kept].tolist(), gaps[kept].tolist())])
    return [(f"Their relative distance, at the end {report.relative_gap:.1e}; the dashed line is tol, {tol:g}", drawn)]


def features(task: Task, examples: Any = None) -> tuple[dict[str, list[Feature]], str]:
    """The features with the largest weights, by class or target, and a note. `examples` show where they occur."""
    if task.features is None:
        top = _named(task.fragments(MOST_FRAGMENTS))
        return top, "The tree fragments with the largest weights in favour of each class." if top else task.no_weights
    some = None if examples is None else some_of(examples, sample(size_of(examples), MOST_READ))
    most = min(MOST_FEATURES, max(FEWEST, ALL_FEATURES // max(1, len(task.names))))
    shown = _named(task.top_features(most, merge=True, examples=some))
    note = task.about_weights
    if any(each.documents is not None for found in shown.values() for each in found):
        note += f" Occurrences are those in {count(size_of(some), 'example')}."
    if len(shown) > MOST_CLASSES:
        note += f" The first {MOST_CLASSES} of {len(shown)} classes."
        shown = dict(list(shown.items())[:MOST_CLASSES])
    return shown, f"{note} {task.n_features:,} features have a weight in all."


def _named(top: dict[str, list[Any]]) -> dict[str, list[Feature]]:
    return {visible_label(name): [_feature(*each) for each in found] for name, found in top.items()}


def _feature(name: str, weight: float, documents: int | None = None, place: str | None = None) -> Feature:
    return Feature(visible(name), weight, documents, visible(place or "", blanks=False))
