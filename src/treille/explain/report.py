"""The report of a model: how good it is, what made its decisions, and how it was trained, on one page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Any

from treille.data import Strings
from treille.data.aligned import leaf_batches
from treille.explain import training_report
from treille.explain.outputs import listed_examples, size_of
from treille.explain.page import Content, Page
from treille.explain.shown_examples import MOST
from treille.explain.tasks import Task
from treille.io.errors import InputError

TOO_GOOD = "These are the training examples: the figures are too good. Examples that the model has not seen show how good it is."
NO_DATA = (
    "There are no examples: this page shows what the model itself knows. Give examples for scores and explanations: "
    "model.write_report(X, y, path), or treille report MODEL FILE."
)


@dataclass(frozen=True)
class Source:
    """Where the examples of a report come from, and what else the page says about them."""

    data: str = ""  # the file
    how: str = ""  # how the examples were held out
    training: bool = False  # whether the model was trained on these examples
    names: Sequence[str] | None = None  # of the examples
    model: str = "model.treille"  # the model's file, for the commands
    warnings: Sequence[str] = ()
    name: str = ""  # of this part, on a page of several models
    most: int = MOST  # examples


def write_report(
    model: Any, X: Any, y: Any, path: str | os.PathLike[str], train: Any = None, source: Source | None = None
) -> None:
    """Writes the report of a fitted estimator to a file, see `SVC.write_report`."""
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
    X, task = listed_examples(X), model.task()
    content = training_report.of_model(model, task, source.warnings, train[0] if train is not None else X)
    content = replace(content, name=source.name, unit=task.unit, commands=commands(task, source.model))
    if X is None:
        return replace(content, summary=sentence(content.summary), banner=NO_DATA)
    n = size_of(X)
    if n == 0:
        raise InputError(
            f"there are no {task.unit}s: a report needs at least one, or None for a report of the model alone"
        )
    content = replace(
        content,
        title=training_report.titled(task, source.data),
        summary=sentence(task.counted(X), source.how, content.summary),
        banner=TOO_GOOD if source.training else "",
        data=_statistics(model, X, n),
    )
    return task.report(content, X, y, train, source)


def checked_pair(train: Any) -> tuple[Any, Any] | None:
    """The training examples and their labels."""
    if train is None:
        return None
    if not isinstance(train, (tuple, list)) or len(train) != 2:
        raise InputError(
            f"train is {type(train).__name__}, expected a pair (X, y) of training examples and their labels"
        )
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
