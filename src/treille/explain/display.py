"""Explanations for notebooks and for files: the decision, the example highlighted, and the largest contributions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from treille.data.format import clipped, visible_label
from treille.explain.characters import on_characters, stretches, text_of
from treille.explain.highlighting import stylesheet

if TYPE_CHECKING:
    from markupsafe import Markup

    from treille.explain.explanation import Explanation

LONGEST = 160  # characters of a name


class Shown(NamedTuple):
    """What is shown of an explanation. Tagged sentences have no score."""

    name: str
    highlighting: Markup
    label: str | None = None
    score: str = ""
    parts: str = ""
    base: str = ""
    intercept: str = ""
    largest: Markup | None = None


def page(title: str | None, explained: Sequence[Shown]) -> str:
    """A page of explanations; without a title the fragment that notebooks show, with its style."""
    from markupsafe import Markup

    head = {"page": title is not None, "title": shortened(title or "")}
    return str(_template().render(head, css=Markup(stylesheet()), explained=list(explained)))


def largest(found: Explanation, label: Any = None) -> list[tuple[str, float]]:
    """Words of a text, runs of a sequence, or parts, with their contributions.

    >>> import treille
    >>> model = treille.SVC(treille.kernels.NGram(1)).fit(["aa", "cc"], ["left", "right"])
    >>> [(name, round(value, 2)) for name, value in largest(model.explain("abc"), "right")]
    [('a', -0.5), ('b', 0.0), ('c', 0.5)]
    """
    values = found.contributions(label)
    text = text_of(found) if len(values) else None
    placed = None if text is None else on_characters(text, found, values)
    if text is not None and placed is not None:
        return stretches(text, placed)
    return list(zip(found.names, values.tolist(), strict=True))


def shortened(name: str) -> str:
    """The name of an example, or a class, with visible characters."""
    return clipped(visible_label(name[: 2 * LONGEST]), LONGEST)


@lru_cache(maxsize=1)
def _template() -> Any:
    from jinja2 import Environment, FileSystemLoader

    folder = Path(__file__).parent / "templates"
    return Environment(loader=FileSystemLoader(folder), autoescape=True).get_template("explained.html")
