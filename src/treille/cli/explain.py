"""Show what in each example made the decision.

\b
Examples:
  treille explain reviews.treille new.csv
  treille explain sites.treille peaks.fa --examples 20 --class bound
  echo "Buy now and win a prize" | treille explain spam.treille -
  treille explain parses.treille new.mrg --html explained.html

Each symbol of a text, node of a tree or a graph, arc of a lattice or column of a row contributes to the score of a class; the
contributions, a base value where there is one, and the intercept sum to the score. On a terminal, texts and trees are
highlighted: blue speaks for the class, orange (underlined) against it. Below are the words, or other parts, that contribute
most. For models of 'treille tag train', every token is listed with its tag and the features that contribute most to it.
--html writes a page on which lattices, graphs and DNA are drawn, too.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import check_writable, load_model
from treille.cli.options import Reading, option
from treille.cli.tag import sentences
from treille.data import Trees
from treille.data.format import clipped, count, visible, visible_label
from treille.drawing.tidy_tree import chosen_nodes
from treille.explain import Decision, Explanation
from treille.explain.characters import on_characters, text_of
from treille.explain.explanation import Shown, page
from treille.explain.report import without_folders
from treille.io.atomic_write import atomic_write

Explained = tuple[dict[str, Any], list[Shown]]  # JSON values, and the content of a page
LONGEST = 60  # cells of the name of a part
PREDICTED = "the predicted one of each example"
SHADES, LONGEST_TEXT = 5, 2000  # of each colour; characters of a text
FOR, AGAINST = ((10, 30, 80), (20, 90, 210)), ((70, 35, 0), (180, 85, 0))  # backgrounds of white text, weak and strong


@options.with_options("label", "labels", "root_label", "skip_unlabelled", "alphabet")
def run(
    model: options.ModelFile,
    files: options.DataFiles,
    reading: options.ReadingOptions,
    number: Annotated[int, option("N", "How many examples to explain.", "--examples", min=1)] = 5,
    top: Annotated[int, option("N", "How many parts to list.", min=0)] = 10,
    label: Annotated[str | None, option("NAME", "The class to explain.", "--class", default=PREDICTED)] = None,
    html: Annotated[Path | None, option("PATH", "Also write a page with the examples highlighted.")] = None,
    force: options.Force = False,
    *,
    printer: options.ResultOutput,
) -> None:
    """Reads a model and examples, and prints explanations."""
    check_writable(html, "page", [str(model), *reading.inputs(*files)], force)
    estimator = load_model(model, files)
    if estimator.task().per_token:
        if label is not None:
            why = "is for classifiers: of a tagger, the tags that it gives are explained"
            raise typer.BadParameter(why, param_hint="--class")
        value, shown = _explain_sentences(printer, estimator, files, reading.encoding_of_sentences(), number, top)
    else:
        value, shown = _explain_examples(printer, estimator, files, reading.like(estimator), number, top, label)
    printer.result({"model": str(model)} | value)
    if html is not None:
        text = page(f"{model.name}: {without_folders(value['file'])}", shown).encode("utf-8", "backslashreplace")
        atomic_write(html, lambda file: file.write(text), "page")
        printer.note(f"written to {html}")


def _explain_examples(
    printer: Printer, model: Any, files: list[str], reading: Reading, number: int, top: int, label: str | None
) -> Explained:
    task, kernel = model.task(), model.plan_.kernel
    classes = dict(zip(task.names, task.labels, strict=True)) if task.any_class else {}
    if label is not None and label not in classes:
        known = f"its classes are {', '.join(map(visible_label, classes))}" if classes else "it has no classes"
        raise typer.BadParameter(f"the model has no class {label!r}: {known}", param_hint="--class")
    examples = reading.read(printer, files, labelled=False, kernel=kernel)
    if len(examples) > number and not printer.json:
        printer.note(f"the first {number} of {len(examples):,}, see --examples")
    some = examples.take(range(len(examples) if printer.json else min(number, len(examples))))
    with printer.busy("explaining"):
        found = model.explain_all(reading.data(printer, some, kernel))
    explained, shown = [], []
    for i, each in enumerate(found):
        chosen = classes[label] if label is not None else each.predicted if classes else None
        class_name = next((name for name, value in classes.items() if value == chosen), None)
        number_of = f"line {some.lines[i]}" if some.lines and not some.sources else f"example {i}"
        name = some.ids[i] if some.ids else number_of
        values = each.as_dict(chosen) | {"by": "support examples" if each.by_support else "parts"}
        members = ("score", "intercept", "base", "by", "columns", "parts", "contributions")
        own = {member: values[member] for member in members if member in values}
        explained.append({"example": name, "class": class_name} | own)
        if not printer.json:
            _print(printer, explained[-1], each, chosen, top)
        if i < number:
            shown.append(each.shown(chosen, name, class_name))
    return {"file": examples.source, "explanations": explained}, shown


def _print(printer: Printer, values: dict[str, Any], found: Explanation, label: Any, top: int) -> None:
    rest = f"intercept {values['intercept']:+.3f}" + (f", base {values['base']:+.3f}" if values["base"] else "")
    shown = f"{visible_label(values['class'])}, " if values["class"] is not None else ""
    printer.print(f"{visible_label(values['example'])}: {shown}score {values['score']:+.3f}, {rest}", style="bold")
    _highlight(found, label)
    if top:
        cells = [f"{_short(name)} {value:+.3f}" for name, value in found.parts(label, top) if value]
        if cells and values["by"] != "parts":
            printer.print("  training examples that contribute most, by their similarity to it:")
        printer.fill("  ", cells or ["(no part of it is known to the model)"], 2)
    printer.print()


def _short(name: str) -> str:
    return clipped(visible(name, blanks=len(name) == 1), LONGEST)


def _explain_sentences(
    printer: Printer, model: Any, files: list[str], encoding: str, number: int, top: int
) -> Explained:
    """Prints the tags of sentences and why they were chosen."""
    some = sentences.first_sentences(model, files, encoding, None if printer.json else number)
    values, shown = [], []
    for i, found in enumerate(model.explain_all(some)):
        values.append({"sentence": i, "tokens": [_token(decision, max(top, 1)) for decision in found]})
        if i < number:
            shown.append(found.shown(name=f"sentence {i + 1}"))
        printer.print(f"sentence {i + 1}: {count(len(found), 'token')}", style="bold")
        width = max((len(_word(decision.token)) for decision in found), default=0)
        for decision in found:
            cells = [f"{_short(name)} {share:+.3f}" for name, share in decision.parts(count=top) if share]
            head = f"  {_word(decision.token).ljust(width)} {visible_label(decision.tag)} {decision.scores[0]:+.3f}"
            printer.fill(head, cells or [""], max(len(head) + 2, width + 18))
        printer.print()
    return {"file": sentences.source(files), "sentences": values}, shown


def _token(decision: Decision, count: int) -> dict[str, Any]:
    """JSON values: a token, its tag, and what contributes most to it."""
    score, intercept = float(decision.scores[0]), float(decision.intercept[0])
    values = {"token": decision.token, "tag": decision.tag, "score": score, "intercept": intercept}
    return values | {"shares": decision.parts(count=count), "conjunctions": decision.conjunctions(count)}


def _word(token: Any) -> str:
    """A token on one line: its columns, or its first features."""
    parts = token if isinstance(token, (tuple, list)) else [token]
    return clipped(visible(" ".join(map(str, parts[:4]))), LONGEST)


def _highlight(found: Explanation, label: Any) -> None:
    """The example in colours, if standard output is a terminal and it is a text or a tree; nothing otherwise."""
    console = Console(highlight=False)
    if not console.is_terminal or not len(found.names):
        return
    values = found.contributions(label)
    text = text_of(found)
    placed = None if text is None else on_characters(text, found, values)
    if text is not None and placed is not None:
        console.print(_coloured(text, placed))
    elif len(found.leaves) == 1 and isinstance(found.leaves[0][0], Trees):
        batch, i = found.leaves[0]
        for line in _tree_lines(found.names, batch[i].parents, values):
            console.print(line, soft_wrap=True)


def _coloured(text: str, contributions: np.ndarray) -> Text:
    """The text, or, of a long one, the part around the largest contributions."""
    start = 0
    if len(text) > LONGEST_TEXT:
        sums = np.concatenate([[0.0], np.cumsum(np.abs(contributions))])
        start = int(np.argmax(sums[LONGEST_TEXT:] - sums[:-LONGEST_TEXT]))
    shown = slice(start, start + LONGEST_TEXT)
    most, line = float(np.abs(contributions).max(initial=0)) or 1.0, Text("  " + "… " * (start > 0))
    for c, value in zip(text[shown], contributions[shown], strict=True):
        line.append(visible(c, blanks=False), style=_shade(float(value) / most))
    return line.append(" …" * (start + LONGEST_TEXT < len(text)))


def _tree_lines(labels: Sequence[str], parents: Sequence[int], values: np.ndarray) -> list[Text]:
    """A node per line, indented by its depth, with its contribution; of a large tree, the nodes that contribute most.

    >>> [line.plain for line in _tree_lines(["S", "NP"], [-1, 0], np.array([0.0, 0.5]))]
    ['  S', '    NP +0.500']
    """
    most, lines = float(np.abs(values).max(initial=0)) or 1.0, list[Text]()
    nodes, depths = chosen_nodes(parents, np.abs(values))
    for node in nodes:
        line = Text("  " * (1 + int(depths[node])))
        line.append(clipped(visible(labels[node], blanks=False), 60), style=_shade(float(values[node]) / most))
        lines.append(line.append(f" {values[node]:+.3f}" if values[node] else "", style="dim"))
    if len(nodes) < len(labels):
        lines.append(Text(f"  ({len(nodes):,} of {len(labels):,} nodes: those that contribute most)", style="dim"))
    return lines


def _shade(share: float) -> str:
    """The style of a part whose contribution is this share of the largest.

    >>> _shade(0.01), _shade(1.0), _shade(-1.0)
    ('', 'bright_white on rgb(20,90,210)', 'underline bright_white on rgb(180,85,0)')
    """
    step = round(SHADES * min(abs(share), 1.0))
    if step == 0:
        return ""
    weak, strong = FOR if share > 0 else AGAINST
    colour = ",".join(str(round(a + (b - a) * step / SHADES)) for a, b in zip(weak, strong, strict=True))
    return f"{'underline ' if share < 0 else ''}bright_white on rgb({colour})"
