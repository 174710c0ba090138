"""Show what in each example made the decision.

\b
Examples:
  treille explain reviews.treille new.csv
  treille explain sites.treille peaks.fa --examples 20 --class bound
  echo "Buy now and win a prize" | treille explain spam.treille -
  treille explain parses.treille new.mrg --html explained.html

Each symbol of a text, node of a tree or a graph, arc of a lattice or column of a row contributes to the score of a class; the
contributions, a base value where there is one, and the intercept sum to the score. On a terminal, texts and trees are
painted: blue speaks for the class, orange (underlined) against it. Below are the words, or other parts, that contribute
most. For models of 'treille tag train', every token is listed with its tag and the features that contribute most to it.
--html writes a page on which lattices, graphs and DNA are drawn, too.
"""

from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any

import typer

from treille import Tagger
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import check_writable, class_names, load_model
from treille.cli.options import Reading, option
from treille.cli.tag import sentences
from treille.cli.terminal_painting import paint
from treille.data.format import clipped, count, visible, visible_label
from treille.explain import Explanation, display
from treille.io.atomic_write import atomic_write
from treille.tagging import stream_features, stream_sentences

LONGEST = 60  # cells of the name of a part
PREDICTED = "the predicted one of each example"


@options.with_options("label", "labels", "root_label", "skip_unlabelled", "alphabet")
def run(
    model: options.ModelFile,
    files: options.DataFiles,
    reading: options.ReadingOptions,
    number: Annotated[int, option("N", "How many examples to explain.", "--examples", min=1)] = 5,
    top: Annotated[int, option("N", "How many parts to list.", min=0)] = 10,
    label: Annotated[str | None, option("NAME", "The class to explain.", "--class", default=PREDICTED)] = None,
    html: Annotated[Path | None, option("PATH", "Also write a page with the examples painted.")] = None,
    force: options.Force = False,
    *,
    printer: options.ResultOutput,
) -> None:
    """Reads a model and examples, and prints explanations."""
    check_writable(html, "page", [str(model), *reading.inputs(*files)], force)
    estimator = load_model(model, files)
    if isinstance(estimator, Tagger):
        if label is not None:
            raise typer.BadParameter(
                "is for classifiers: of a tagger, the tags that it gives are explained", param_hint="--class"
            )
        text = _explain_sentences(printer, estimator, model, files, reading.encoding, number, top)
    else:
        text = _explain_examples(printer, estimator, model, files, reading, number, top, label)
    if html is not None:
        page = text.encode("utf-8", "backslashreplace")
        atomic_write(html, lambda file: file.write(page), "page")
        printer.note(f"written to {html}")


def _explain_examples(
    printer: Printer,
    model: Any,
    path: Path,
    files: list[str],
    reading: Reading,
    number: int,
    top: int,
    label: str | None,
) -> str:
    """Prints explanations of single examples, and returns the page."""
    names = class_names(model) if hasattr(model, "classes_") else []
    if label is not None and label not in names:
        known = f"its classes are {', '.join(map(visible_label, names))}" if names else "it has no classes"
        raise typer.BadParameter(f"the model has no class {label!r}: {known}", param_hint="--class")
    reading, kernel = reading.like(model), model.plan_.kernel
    examples = reading.read(printer, files, labelled=False, kernel=kernel)
    if len(examples) > number and not printer.json:
        printer.note(f"the first {number} of {len(examples):,}, see --examples")
    some = examples.take(range(len(examples) if printer.json else min(number, len(examples))))
    with printer.busy("explaining"):
        found = model.explain_all(reading.data(printer, some, kernel))
    classes = dict(zip(names, model.classes_.tolist(), strict=True)) if names else {}
    explained, shown = [], []
    for i, each in enumerate(found):
        chosen = classes[label] if label is not None else each.predicted if names else None
        class_name = next((name for name, value in classes.items() if value == chosen), None)
        number_of = f"line {some.lines[i]}" if some.lines and not some.sources else f"example {i}"
        name = some.ids[i] if some.ids else number_of
        explained.append(_as_dict(name, each, chosen, class_name))
        if not printer.json:
            _print(printer, explained[-1], each, chosen, top)
        if i < number:
            shown.append((each, chosen, name, class_name))
    printer.result({"model": str(path), "file": examples.source, "explanations": explained})
    return display.page(f"{path.name}: {examples.source}", [display.shown(*each) for each in shown])


def _as_dict(name: str, found: Explanation, label: Any, class_name: str | None) -> dict[str, Any]:
    function, sign = found.function(label)
    return {
        "example": name,
        "class": class_name,
        "score": float(sign * found.scores[function]),
        "intercept": float(sign * found.intercept[function]),
        "base": float(sign * found.base[function]),
        "by": "support examples" if found.by_support else "parts",
        "parts": found.names,
        "contributions": found.contributions(label).tolist(),
    }


def _print(printer: Printer, values: dict[str, Any], found: Explanation, label: Any, top: int) -> None:
    rest = f"intercept {values['intercept']:+.3f}" + (f", base {values['base']:+.3f}" if values["base"] else "")
    shown = f"{visible_label(values['class'])}, " if values["class"] is not None else ""
    printer.print(f"{visible_label(values['example'])}: {shown}score {values['score']:+.3f}, {rest}", style="bold")
    paint(found, label)
    if top:
        parts = sorted(display.largest(found, label), key=lambda part: -abs(part[1]))[:top]
        cells = [f"{_short(name)} {value:+.3f}" for name, value in parts if value]
        if cells and values["by"] != "parts":
            printer.print("  training examples that contribute most, by their similarity to it:")
        printer.fill("  ", cells or ["(no part of it is known to the model)"], 2)
    printer.print()


def _short(name: str) -> str:
    return clipped(visible(name, blanks=len(name) == 1), LONGEST)


def _explain_sentences(
    printer: Printer, model: Tagger, path: Path, files: list[str], encoding: str, number: int, top: int
) -> str:
    """Prints the tags of sentences and why, and returns the page."""
    if sentences.reads_features(model):
        found = chain.from_iterable(X for file in files for X, _ in stream_features(file, encoding=encoding))
    else:
        blocks = (block.sentences for file in files for block in stream_sentences(file, encoding=encoding))
        found = chain.from_iterable(_checked(model, block, sentences.source(files)) for block in blocks)
    some = list(islice(found, None if printer.json else number))
    values, decided = [], []
    for i, sentence in enumerate(some):
        decisions = model.explain(sentence, count=max(top, 1))
        values.append({"sentence": i, "tokens": [decision._asdict() for decision in decisions]})
        if i < number:
            decided.append((f"sentence {i + 1}", decisions))
        if printer.json:
            continue
        printer.print(f"sentence {i + 1}: {count(len(decisions), 'token')}", style="bold")
        width = max((len(_word(decision.token)) for decision in decisions), default=0)
        for decision in decisions:
            cells = [f"{_short(name)} {share:+.3f}" for name, share in decision.shares[:top] if share]
            head = f"  {_word(decision.token).ljust(width)} {visible_label(decision.tag)} {decision.score:+.3f}"
            printer.fill(head, cells or [""], max(len(head) + 2, width + 18))
        printer.print()
    printer.result({"model": str(path), "file": sentences.source(files), "sentences": values})
    return display.page(f"{path.name}: {sentences.source(files)}", sentences=decided)


def _checked(model: Tagger, block: Any, name: str) -> Any:
    sentences.check_columns(model, block, name)
    return block


def _word(token: Any) -> str:
    """A token on one line: its columns, or its first features."""
    parts = token if isinstance(token, (tuple, list)) else [token]
    return clipped(visible(" ".join(map(str, parts[:4]))), LONGEST)
