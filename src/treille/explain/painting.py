"""Explanations as HTML: contributions as colours on the example itself."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from treille.data.format import visible

if TYPE_CHECKING:
    from treille.explain.explanation import Explanation


def painted(found: Explanation, label: Any = None) -> str:
    """The example with a colour for each part: one kind speaks for the class, by default the predicted one, another against it.

    The fragment has no style of its own: `templates/painting.css` has it. A part's strength, 0 to 1, is its property `--share`.
    """
    values = found.contributions(label)
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    spans = "".join(span(visible(name), float(value), most) for name, value in zip(found.names, values, strict=True))
    return f'<div class="painted">{spans}</div>'


def span(text: str, value: float, most: float) -> str:
    """A text with its colour, and its contribution as a hint."""
    if value == 0:
        return escape(text)
    side = "for" if value > 0 else "against"
    return f'<span class="{side}" style="--share: {abs(value) / most:.2f}" title="{value:+.3g}">{escape(text)}</span>'
