"""Show what in each example made the decision.

\b
Examples:
  treille explain reviews.treille new.csv
  treille explain sites.treille peaks.fa --examples 20 --class bound
  echo "Buy now and win a prize" | treille explain spam.treille -
  treille explain reviews.treille new.csv --json > explained.json

Each symbol of a text, node of a tree or a graph, or column of a row contributes to the score of a class; the contributions,
a base value where there is one, and the intercept sum to the score. On a terminal, texts are painted: green speaks for the
class, red against it. Below are the words, or other parts, that contribute most.
"""

from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import class_names, load_model, refuse_tagger
from treille.cli.options import Reading
from treille.data.format import visible
from treille.explain import Explanation
from treille.explain.characters import on_characters, stretches

SHADES = 5  # of each colour


@options.reading_options("label", "labels", "root_label", "skip_unlabelled", "alphabet")
def run(
    model: options.ModelFile,
    files: options.DataFiles,
    reading: Reading,
    count: Annotated[int, typer.Option("--examples", metavar="N", min=1, help="How many examples to explain.")] = 5,
    top: Annotated[int, typer.Option("--top", metavar="N", min=0, help="How many parts to list.")] = 10,
    label: Annotated[
        str | None,
        typer.Option(
            "--class", metavar="NAME", help="The class to explain.", show_default="the predicted one of each example"
        ),
    ] = None,
    json: options.Json = False,
    quiet: options.QuietNotes = False,
) -> None:
    """Reads a model and examples, and prints explanations."""
    printer = Printer(json, notes=not quiet)
    estimator = load_model(model, files)
    refuse_tagger(estimator, model, "run")
    names = class_names(estimator) if hasattr(estimator, "classes_") else []
    if label is not None and label not in names:
        known = f"its classes are {', '.join(names)}" if names else "it has no classes"
        raise typer.BadParameter(f"the model has no class {label!r}: {known}", param_hint="--class")
    reading, kernel = reading.like(estimator), estimator.plan_.kernel
    examples = reading.read(printer, files, labelled=False, kernel=kernel)
    if len(examples) > count and not json:
        printer.note(f"the first {count} of {len(examples):,}, see --examples")
    rows = range(len(examples) if json else min(count, len(examples)))
    some = examples.take(rows)
    with printer.busy("explaining"):
        found = estimator.explain_all(reading.data(printer, some, kernel))
    classes = dict(zip(names, estimator.classes_.tolist(), strict=True)) if names else {}
    explained = []
    for i, each in enumerate(found):
        chosen = classes[label] if label is not None else each.predicted if names else None
        shown = next((name for name, value in classes.items() if value == chosen), "")
        text = some.X[i] if isinstance(some.X, list) and isinstance(some.X[i], str) else None
        name = some.ids[i] if some.ids else f"line {some.lines[i]}" if some.lines else f"example {i}"
        explained.append(_as_dict(name, each, chosen, shown))
        if not json:
            _print(printer, explained[-1], each, chosen, text, top)
    printer.result({"model": str(model), "file": examples.source, "explanations": explained})


def _as_dict(name: str, found: Explanation, label: Any, shown: str) -> dict[str, Any]:
    function, sign = found.function(label)
    return {
        "example": name,
        "class": shown or None,
        "score": float(sign * found.scores[function]),
        "intercept": float(sign * found.intercept[function]),
        "base": float(sign * found.base[function]),
        "parts": found.names,
        "contributions": found.contributions(label).tolist(),
    }


def _print(
    printer: Printer, values: dict[str, Any], found: Explanation, label: Any, text: str | None, top: int
) -> None:
    rest = f"intercept {values['intercept']:+.3f}" + (f", base {values['base']:+.3f}" if values["base"] else "")
    shown = f"{values['class']}, " if values["class"] else ""
    printer.print(f"{values['example']}: {shown}score {values['score']:+.3f}, {rest}", style="bold")
    parts: list[tuple[str, float]] = [(part.name, part.contribution) for part in found.parts(label, top)]
    placed = None if text is None else on_characters(text, found, found.contributions(label))
    if text is not None and placed is not None:
        _paint(text, placed)
        parts = sorted(stretches(text, placed), key=lambda part: -abs(part[1]))[:top]
    if top:
        cells = [f"{visible(name, blanks=len(name) == 1)} {value:+.3f}" for name, value in parts if value]
        printer.fill("  ", cells or ["(no part of it is known to the model)"], 2)
    printer.print()


def _paint(text: str, contributions: np.ndarray) -> None:
    """The text with a background by contribution, on a terminal; nothing elsewhere."""
    console = Console(highlight=False)
    if not console.is_terminal:
        return
    most = np.abs(contributions).max(initial=0) or 1.0
    line = Text("  ")
    for c, value in zip(text, contributions, strict=True):
        shade = round(SHADES * abs(value) / most)
        level = 40 + 30 * shade
        colour = f"rgb(0,{level},0)" if value > 0 else f"rgb({level},0,0)"
        line.append(visible(c, blanks=False), style=f"white on {colour}" if shade else "")
    console.print(line)
