"""Drawings of machines: a picture, and the source text for Graphviz."""

from treille.automata.validation import ONE
from treille.drawing.layered import Machine, draw_machine
from treille.io.machine import MachineParts


def dot_text(parts: MachineParts) -> str:
    """The machine in Graphviz's language."""

    def escaped(text: str) -> str:
        return text.replace("\\", "\\\\").replace('"', '\\"')

    finals = dict(zip(parts.final_states.tolist(), parts.final_weights.tolist(), strict=True))
    one = ONE[parts.semiring]
    lines = ["digraph {", "  rankdir=LR", "  node [shape=circle]"]
    for state in range(parts.n_states):
        shape = ", shape=doublecircle" if state in finals else ""
        style = ", style=bold" if state == parts.start else ""
        lines.append(f'  {state} [label="{_weighted(str(state), finals.get(state, one), one)}"{shape}{style}]')
    ends = zip(parts.sources.tolist(), parts.targets.tolist(), arc_labels(parts, 6), strict=True)
    lines += [f'  {source} -> {target} [label="{escaped(label)}"]' for source, target, label in ends]
    return "\n".join([*lines, "}", ""])


def arc_labels(parts: MachineParts, digits: int) -> list[str]:
    """What every arc reads and writes, and its weight, if it is not one."""
    one = ONE[parts.semiring]
    tables = [None if table is None else list(table) for table in (parts.input_symbols, parts.output_symbols)]

    def name(label: int, symbols: list[str] | None) -> str:
        return "ε" if label == 0 else str(label) if symbols is None else symbols[label]

    texts = []
    for input, output, weight in zip(*(c.tolist() for c in (parts.inputs, parts.outputs, parts.weights)), strict=True):
        sides = [name(input, tables[0]), name(output, tables[1])]
        texts.append(_weighted(sides[0] if sides[0] == sides[1] else ":".join(sides), weight, one, digits))
    return texts


def _weighted(text: str, weight: float, one: float, digits: int = 6) -> str:
    return text if weight == one else f"{text}/{weight:.{digits}g}"


def picture(parts: MachineParts) -> str:
    """The machine as SVG, from left to right; a large one in part."""
    one = ONE[parts.semiring]
    weights = zip(parts.final_states.tolist(), parts.final_weights.tolist(), strict=True)
    finals = {state: "" if weight == one else f"{weight:.3g}" for state, weight in weights}
    machine = Machine(parts.start, parts.n_states, parts.sources, parts.targets, arc_labels(parts, 3), finals)
    return draw_machine(machine, alone=True)
