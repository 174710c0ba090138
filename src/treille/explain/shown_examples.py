"""The choice and the display of examples in a report: highlighted with the contributions of their parts."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from markupsafe import Markup

from treille.data.format import count
from treille.explain.examples import size_of, some_of
from treille.explain.explanation import Explained, Explanation, example_name
from treille.explain.highlighting import bars
from treille.explain.page import Content, Example, Highlight, Origin
from treille.io.errors import InputError

MOST_BYTES = 4_000_000  # of all highlights together
MOST_PARTS = 4_000  # of an example that is highlighted; of a longer one, the largest contributions are listed
MOST_SECONDS = 10.0  # of explaining and highlighting
AT_ONCE = 20
LISTED = 40
SMALLEST = 0.7  # of the size of a drawing
DRAWING = re.compile(r'(<svg[^>]* class="treille-drawing"[^>]*) width="([\d.]+)" height="[\d.]+"')
PLAIN = 2_000  # characters of an example that is not highlighted

Wanted = Callable[[int], Sequence[tuple[str, Any]]]  # for each highlight: its title, and the label that is explained
Said = Callable[[int], tuple[str, str | None, bool | None, str, float, float]]
Drawn = Callable[[int, Any | None], list[Highlight]]  # the highlights of a row with its explanation, if it has one


def choose(error: np.ndarray | None, confidence: np.ndarray, most: int) -> np.ndarray:
    """The rows to show: errors, the largest first, confident and uncertain ones in turn, two errors for each of the others.

    >>> choose(np.array([-3.0, 2.0, -1.0, -2.0]), np.array([3.0, 2.0, 1.0, 2.0]), 3).tolist()
    [1, 0, 2]
    """
    n = len(confidence)
    by_confidence = np.argsort(-confidence, kind="stable")
    wrong = np.array([], int) if error is None else np.argsort(-error, kind="stable")[: int((error > 0).sum())]
    errors = iter(wrong)
    queues = [errors, errors, iter(by_confidence), iter(by_confidence[::-1])]
    rows = dict[int, None]()
    while len(rows) < min(most, n):
        for queue in queues:
            row = next((int(i) for i in queue if int(i) not in rows), None)
            if row is not None and len(rows) < most:
                rows[row] = None
    return np.array(list(rows), int)


def with_examples(
    content: Content, model: Any, X: Any, source: Origin, rows: np.ndarray, drawn: Drawn, said: Said, which: str
) -> Content:
    """The content with the examples of these rows, and a note on `which` they are.

    ``said(row)`` returns the prediction, the truth, whether it is wrong, the score, the confidence and the error.
    """
    examples, note, size, begun = list[Example](), "", 0, time.perf_counter()
    names: Any = source.names if source.names is not None else [f"#{row}" for row in range(size_of(X))]
    for first in range(0, len(rows), AT_ONCE):
        if size > MOST_BYTES or time.perf_counter() - begun > MOST_SECONDS:
            break
        some = rows[first : first + AT_ONCE]
        found: Sequence[Explained | None] = [None] * len(some)
        if not note:
            try:
                found = model.explain_all(some_of(X, some))
            except InputError as error:
                note = f" Decisions are not explained: {error}."
        for row, each in zip(some.tolist(), found, strict=True):
            highlights = drawn(row, each)
            size += sum(len(highlight.html) for highlight in highlights)
            examples.append(Example(names[row], row, *said(row), highlights))
            if size > MOST_BYTES:
                break
    total = size_of(X)
    shown = f"{len(examples):,} of {total:,}: {which}."
    if len(examples) == total:
        shown = f"All {count(total, content.unit)}."
    return replace(content, examples=examples, examples_note=shown + note)


def drawn_for(model: Any, X: Any, wanted: Wanted) -> Drawn:
    """Draws the examples X for the labels that are wanted; those without an explanation are a line of text."""

    def drawn(row: int, found: Explanation | None) -> list[Highlight]:
        if found is None:
            text = example_name(model._read_batch(some_of(X, np.array([row]))), 0, PLAIN)
            return [Highlight("", Markup('<div class="highlighted">{}</div>').format(text))]
        return [Highlight(title, highlight(found, label)) for title, label in wanted(row)]

    return drawn


def highlight(found: Explanation, label: Any) -> Markup:
    """The highlighted example; of a very long one, a list of the largest contributions."""
    if len(found.names) == 0:
        return Markup('<p class="empty">(empty: the score is the intercept)</p>')
    if len(found.names) <= MOST_PARTS:
        return Markup(DRAWING.sub(_scaled, found.html(label)))
    head = f"{count(len(found.names), 'part')}, too many to highlight; those that contribute most:"
    listed = Markup(bars(found.parts(label), count=LISTED))
    return Markup('<p class="empty">{}</p><div class="highlighted">{}</div>').format(head, listed)


def _scaled(match: re.Match[str]) -> str:
    """A drawing that shrinks to the width of the page, though not so far that it cannot be read."""
    width = float(match[2])
    return f'{match[1]} style="width: clamp({SMALLEST * width:.0f}px, 100%, {width:.0f}px); height: auto"'
