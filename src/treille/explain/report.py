"""The report of a model: how good it is, what made its decisions, and how it was trained, on one page."""

import os
from dataclasses import replace
from shlex import quote
from typing import Any

from treille.data import Strings
from treille.data.aligned import leaf_batches
from treille.data.format import count, seconds
from treille.explain import training_report
from treille.explain.examples import listed_examples, size_of
from treille.explain.page import Content, Page, Source
from treille.explain.tasks import Task
from treille.io.errors import InputError
from treille.kernels.parse import format_kernel

TOO_GOOD = "These are the training examples: the figures are too good. Examples that the model has not seen show how good it is."
NO_DATA = (
    "There are no examples: this page shows what the model itself knows. Give examples for scores and explanations: "
    "model.write_report(X, y, path), or treille report MODEL FILE."
)


def write_report(
    model: Any, X: Any, y: Any, path: str | os.PathLike[str], train: Any = None, source: Source | None = None
) -> None:
    """Writes the report of a fitted estimator to a file, see `KernelMachine.write_report`."""
    content = report_content(model, X, y, train, source)
    Page(f"treille report: {content.title}", [content]).write(path)


def report_content(model: Any, X: Any, y: Any, train: Any = None, source: Source | None = None) -> Content:
    """Returns the content of the page about the model."""
    source = source or Source()
    train = checked_pair(train)
    if X is None and y is not None:
        raise InputError("y was given without X: give the examples, too")
    if X is None and train is not None:
        (X, y), source = train, replace(source, training=True)
    X, task, name = listed_examples(X), model.task(), type(model).__name__
    curves, curves_note = training_report.convergence(model.report_, model.tol)
    features, features_note = training_report.features(task, train[0] if train is not None else X)
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
        features=features,
        features_note=features_note,
        plan=training_report.plan(model),
        warnings=[*source.warnings, *training_report.of_training(model, task)],
        commands=commands(task, source.model),
    )
    if X is None:
        return content
    n = size_of(X)
    if n == 0:
        expected = "a report needs at least one, or None for a report of the model alone"
        raise InputError(f"there are no {task.unit}s: {expected}")
    content = replace(
        content,
        title=f"{name} on {source.data}" if source.data else content.title,
        summary=sentence(task.counted(X), source.how, trained),
        banner=TOO_GOOD if source.training else "",
        data=_statistics(model, X, n),
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


def commands(task: Task, path: str) -> list[str]:
    """What to do with a model on the command line."""
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


def _statistics(model: Any, X: Any, n: int) -> dict[str, str]:
    """Statistics of the data. Texts are described by their characters, whatever the kernel reads."""
    batch = model._read_batch(X)
    kinds = {type(leaf) for _, leaf in leaf_batches(batch)}
    texts = kinds == {Strings} and isinstance(X, list)
    kind = Strings if texts else type(batch)
    return {"kind": kind.title, "examples": f"{n:,}"} | kind.summarise(X if texts else batch, 0, 80).fields
