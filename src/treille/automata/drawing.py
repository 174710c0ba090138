"""Drawings of machines: the source text for Graphviz, and the picture if Graphviz is installed."""

import shutil
import subprocess

from treille.automata.validation import ONE
from treille.io.machine import MachineParts

LARGEST = 500  # arcs: larger pictures take minutes to lay out and are unreadable


def dot_text(parts: MachineParts) -> str:
    """The machine in Graphviz's language."""
    one = ONE[parts.semiring]

    def name(label: int, symbols: list[str] | None) -> str:
        return "ε" if label == 0 else str(label) if symbols is None else symbols[label]

    def weighted(text: str, weight: float) -> str:
        full = text if weight == one else f"{text}/{weight:.6g}"
        return full.replace("\\", "\\\\").replace('"', '\\"')

    tables = [None if table is None else list(table) for table in (parts.input_symbols, parts.output_symbols)]
    finals = dict(zip(parts.final_states.tolist(), parts.final_weights.tolist(), strict=True))
    lines = ["digraph {", "  rankdir=LR", "  node [shape=circle]"]
    for state in range(parts.n_states):
        shape = ", shape=doublecircle" if state in finals else ""
        style = ", style=bold" if state == parts.start else ""
        lines.append(f'  {state} [label="{weighted(str(state), finals.get(state, one))}"{shape}{style}]')
    columns = (parts.sources, parts.inputs, parts.outputs, parts.weights, parts.targets)
    for source, input, output, weight, target in zip(*(column.tolist() for column in columns), strict=True):
        sides = [name(input, tables[0]), name(output, tables[1])]
        label = weighted(sides[0] if sides[0] == sides[1] else ":".join(sides), weight)
        lines.append(f'  {source} -> {target} [label="{label}"]')
    return "\n".join([*lines, "}", ""])


def svg_picture(parts: MachineParts) -> str | None:
    """The picture, by Graphviz's program `dot`; None where there is no such program, or the machine is too large to read."""
    program = shutil.which("dot")
    if program is None or len(parts.sources) > LARGEST:
        return None
    drawn = subprocess.run([program, "-Tsvg"], input=dot_text(parts).encode(), capture_output=True, check=False)
    return drawn.stdout.decode() if drawn.returncode == 0 else None
