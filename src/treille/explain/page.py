"""The parts of a report as values, and the page that shows them: one HTML file that needs nothing else."""

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from treille.data.format import clipped, visible_label
from treille.explain.highlighting import stylesheet
from treille.io.atomic_write import atomic_write

LABEL_WIDTH = 80
TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Origin:
    """The origin of the examples of a report, and notes about them."""

    data: str = ""  # the file
    how: str = ""  # how the examples were held out
    training: bool = False  # whether the model was trained on these examples
    names: Sequence[str] | None = None  # of the examples
    model: str = "model.treille"  # the model's file, for the commands
    warnings: Sequence[str] = ()
    name: str = ""  # of this part, on a page of several models
    most: int = 200  # examples, at most
    batch: Any = None  # the examples as the model reads them, if it has read them
    outputs: Any = None  # of its decision function for them, or its tags, if they are known
    positive: str | None = None  # the class of interest of two, if it is not the one of `positive_class`


class Bar(NamedTuple):
    """A number with a bar: of the model, or of a baseline beside it."""

    name: str
    text: str
    share: float  # 0 to 1


class Figure(NamedTuple):
    """A headline figure, with a bar for the model and for each baseline."""

    name: str
    text: str
    bars: Sequence[Bar] = ()
    note: str = ""

    @classmethod
    def of(
        cls, name: str, values: Mapping[str, float], note: str = "", digits: str = ".3f", most: float = 1
    ) -> "Figure":
        """The figure of the first of these values, the model's; the bar of a value of `most` is full."""
        bars = [Bar(other, f"{value:{digits}}", min(1.0, max(0.0, value / most))) for other, value in values.items()]
        return cls(name, bars[0].text, bars, note)


class Highlight(NamedTuple):
    """An example with its contributions, and the class or value that they favour."""

    title: str
    html: Markup


class Example(NamedTuple):
    """An example as a report shows it."""

    name: str
    number: int  # its position in the data
    predicted: str
    truth: str | None
    wrong: bool | None  # None: neither right nor wrong, for numbers for instance
    score: str
    confidence: float
    error: float  # distance of the prediction from the truth; 0 or less if it is right
    highlights: Sequence[Highlight]


class Cell(NamedTuple):
    """A cell of a table, and the number that it is sorted by."""

    text: str
    value: float | None = None


class Table(NamedTuple):
    """A table that can be sorted: columns of texts first, then of numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    texts: int = 1  # how many columns are texts


class Confusion(NamedTuple):
    """A confusion matrix: counts of predicted classes, one row per true class."""

    names: Sequence[str]
    counts: Sequence[Sequence[int]]
    note: str = ""

    def share(self, i: int, j: int) -> float:
        """The share of class i that was predicted as class j."""
        return self.counts[i][j] / max(1, sum(self.counts[i]))


class Panel(NamedTuple):
    """Plots, one beside the other, each with a caption; of one class, if there are several to choose from."""

    name: str
    plots: Sequence[tuple[str, Markup]]


class Feature(NamedTuple):
    """A feature with its weight; in how many examples it occurs, and a place where it does, if that is known."""

    name: str
    weight: float
    documents: int | None = None
    place: str = ""


@dataclass(frozen=True)
class Content:
    """The content of a report about one model. Empty parts are left out of the page."""

    name: str
    title: str
    kernel: str
    summary: str
    banner: str = ""
    figures: Sequence[Figure] = ()
    figures_note: str = ""
    examples: Sequence[Example] = ()
    examples_note: str = ""
    unit: str = "example"
    known: bool = False  # whether the truth is
    labels: Sequence[str] = ()  # the classes of the examples, to choose from
    confusion: Confusion | None = None
    curves: Sequence[Panel] = ()
    classes: Table | None = None
    classes_title: str = "Classes"
    convergence: Panel | None = None
    convergence_note: str = ""
    features: dict[str, list[Feature]] = field(default_factory=dict)
    features_note: str = ""
    plan: dict[str, str] = field(default_factory=dict)
    data: dict[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    commands: Sequence[str] = ()
    curves_title: str = "ROC and precision-recall"
    legend: str = "Blue speaks for the class, orange against it; the stronger, the more."

    @property
    def sections(self) -> list[tuple[str, str]]:
        """Name and title of the sections that are not empty."""
        named = [
            ("figures", "Figures", self.figures or self.figures_note),
            ("examples", f"{self.unit.capitalize()}s", self.examples),
            ("confusion", "Confusion matrix", self.confusion),
            ("curves", self.curves_title, self.curves),
            ("classes", self.classes_title, self.classes),
            ("convergence", "Convergence", True),
            ("features", "Features", self.features or self.features_note),
            ("details", "Plan and data", True),
            ("commands", "Commands", self.commands),
        ]
        return [(name, title) for name, title, there in named if there]


@dataclass(frozen=True)
class Page:
    """A page about one model or several."""

    title: str
    contents: Sequence[Content]
    introduction: str = ""
    overview: Table | None = None

    def html(self) -> str:
        css, script = _asset("palette.css") + stylesheet() + _asset("report.css"), _asset("report.js")
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        parts = {"css": Markup(css), "script": Markup(script), "digest": digest, "version": version("treille")}
        return _environment().get_template("report.html").render(parts, page=self, date=datetime.now(timezone.utc))

    def write(self, path: str | os.PathLike[str]) -> None:
        text = self.html().encode("utf-8", "backslashreplace")  # lone surrogates
        atomic_write(path, lambda file: file.write(text), "report")


@cache
def _environment() -> Environment:
    found = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: visible_label(value) if type(value) is str else value,  # Markup is no plain str
    )
    found.filters["label"] = lambda text: clipped(visible_label(text), LABEL_WIDTH)
    return found


def _asset(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")
