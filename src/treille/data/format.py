"""Formatting of numbers and texts for people."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from rich.cells import cell_len, set_cell_size

from treille.drawing.svg import MARKS
from treille.drawing.svg import visible as visible
from treille.io.fields import listed as listed

MEANING = {" ": "a blank", "\n": "the end of a line", "\t": "a tab"}
ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})


def legend(texts: Iterable[str]) -> str:
    """The meaning of the marks that `visible` puts into these texts.

    >>> legend(["if x:", "\\tx"]), legend(["x"])
    ('; · is a blank, ⇥ is a tab', '')
    """
    characters = set().union(*texts)
    used = [f"{mark} is {MEANING[c]}" for c, mark in MARKS.items() if c in characters]
    return f"; {', '.join(used)}" if used else ""


def short_json(value: Any) -> str:
    """A value of JSON in a few words, for messages.

    >>> short_json({"b": 1}), short_json([1]), short_json(0.5)
    ("an object of 'b'", 'a list', 'the number 0.5')
    """
    if isinstance(value, dict):
        return f"an object of {', '.join(map(repr, list(value)[:10])) or 'nothing'}"
    kinds = {bool: "true or false", str: "a text", list: "a list", type(None): "null"}
    return kinds.get(type(value), f"the number {value!r}"[:40])


def one_line(text: str) -> str:
    """A text with tabs and line ends written as escapes, for files of one item per line."""
    return text.translate(ESCAPES)


def clipped(text: str, width: int) -> str:
    """At most `width` cells of a text, with an ellipsis where it was cut."""
    return text if cell_len(text) <= width else set_cell_size(text, max(width - 1, 0)).rstrip() + "…"


def count(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 'es' if noun.endswith('s') else 's'}"


def span(sizes: np.ndarray) -> str:
    """The least, greatest, median and total of some sizes."""
    if not len(sizes):
        return "none"
    return f"{sizes.min():,} to {sizes.max():,}, median {np.median(sizes):,.0f}, {sizes.sum():,} in all"


def seconds(value: float) -> str:
    """A time.

    >>> seconds(0.0042), seconds(0.528), seconds(12.34), seconds(200)
    ('4.2 ms', '0.53 s', '12.3 s', '3 min 20 s')
    """
    if value < 0.1:
        return f"{1000 * value:.1f} ms"
    if value < 120:
        return f"{value:.{2 if value < 10 else 1}f} s"
    return f"{value // 60:.0f} min {value % 60:.0f} s"


def class_counts(labels: Iterable[str] | Mapping[str, int]) -> dict[str, int]:
    """The number of occurrences of each label, the most frequent first, from labels or their counts.

    >>> class_counts(["b", "a", "c", "c"]), class_counts({"b": 1, "a": 1})
    ({'c': 2, 'a': 1, 'b': 1}, {'a': 1, 'b': 1})
    """
    counts = Counter(labels)
    return dict(Counter({label: counts[label] for label in sorted(counts)}).most_common())


def shares(counts: Mapping[str, int]) -> str:
    """Classes with their counts and shares."""
    total = sum(counts.values())
    return listed([f"{visible_label(label)} ({n:,}, {n / total:.1%})" for label, n in counts.items()], 10)


def visible_label(label: str) -> str:
    """A label with escapes for unprintable characters."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in label)
