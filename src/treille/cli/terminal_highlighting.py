"""Explanations on the terminal: contributions as colours, blue for a class, orange and underlined against it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from treille.data import Trees
from treille.data.format import clipped, visible
from treille.drawing.tidy_tree import chosen_nodes
from treille.explain import Explanation
from treille.explain.characters import on_characters, text_of

SHADES, LONGEST = 5, 2000  # of each colour; characters of a text
FOR, AGAINST = ((10, 30, 80), (20, 90, 210)), ((70, 35, 0), (180, 85, 0))  # backgrounds of white text, weak and strong


def highlight(found: Explanation, label: Any) -> None:
    """The example in colours, if standard output is a terminal and it is a text or a tree; nothing otherwise."""
    console = Console(highlight=False)
    if not console.is_terminal or not len(found.names):
        return
    values = found.contributions(label)
    text = text_of(found)
    placed = None if text is None else on_characters(text, found, values)
    if text is not None and placed is not None:
        console.print(_text(text, placed))
    elif len(found.leaves) == 1 and isinstance(found.leaves[0][0], Trees):
        batch, i = found.leaves[0]
        for line in tree_lines(found.names, batch[i].parents, values):
            console.print(line, soft_wrap=True)


def _text(text: str, contributions: np.ndarray) -> Text:
    """The text, or, of a long one, the part around the largest contributions."""
    start = 0
    if len(text) > LONGEST:
        sums = np.concatenate([[0.0], np.cumsum(np.abs(contributions))])
        start = int(np.argmax(sums[LONGEST:] - sums[:-LONGEST]))
    shown = slice(start, start + LONGEST)
    most, line = float(np.abs(contributions).max(initial=0)) or 1.0, Text("  " + "… " * (start > 0))
    for c, value in zip(text[shown], contributions[shown], strict=True):
        line.append(visible(c, blanks=False), style=shade(float(value) / most))
    return line.append(" …" * (start + LONGEST < len(text)))


def tree_lines(labels: Sequence[str], parents: Sequence[int], values: np.ndarray) -> list[Text]:
    """A node per line, indented by its depth, with its contribution; of a large tree, the nodes that contribute most.

    >>> [line.plain for line in tree_lines(["S", "NP"], [-1, 0], np.array([0.0, 0.5]))]
    ['  S', '    NP +0.500']
    """
    most, lines = float(np.abs(values).max(initial=0)) or 1.0, list[Text]()
    nodes, depths = chosen_nodes(parents, np.abs(values))
    for node in nodes:
        line = Text("  " * (1 + int(depths[node])))
        line.append(clipped(visible(labels[node], blanks=False), 60), style=shade(float(values[node]) / most))
        lines.append(line.append(f" {values[node]:+.3f}" if values[node] else "", style="dim"))
    if len(nodes) < len(labels):
        lines.append(Text(f"  ({len(nodes):,} of {len(labels):,} nodes: those that contribute most)", style="dim"))
    return lines


def shade(share: float) -> str:
    """The style of a part whose contribution is this share of the largest.

    >>> shade(0.01), shade(1.0), shade(-1.0)
    ('', 'bright_white on rgb(20,90,210)', 'underline bright_white on rgb(180,85,0)')
    """
    step = round(SHADES * min(abs(share), 1.0))
    if step == 0:
        return ""
    weak, strong = FOR if share > 0 else AGAINST
    colour = ",".join(str(round(a + (b - a) * step / SHADES)) for a, b in zip(weak, strong, strict=True))
    return f"{'underline ' if share < 0 else ''}bright_white on rgb({colour})"
