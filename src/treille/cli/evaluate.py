"""Compare a model's predictions with the labels of a file.

\b
Examples:
  treille evaluate reviews.treille reviews.test.csv
  treille evaluate acq.treille test.jsonl.gz --text title+body --label topics=acq
  treille evaluate spam.treille mail.tsv --json

Give the --text and --label that the model was trained with. Prints accuracy, precision, recall and F1 of each class,
which class is taken for which and, where there are two, the area under the ROC curve. A label that the model does
not know counts as an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from treille import InputError
from treille.cli import options
from treille.cli.console import Voice, aligned
from treille.cli.models import class_names, class_scores, load_model, model_alphabet, warn_unknown
from treille.cli.options import Reading
from treille.cli.scores import Scores, area, measure, positive_class
from treille.cli.words import visible_label

MOST_CONFUSED = 10


def run(
    model: options.ModelFile,
    file: options.DataFile,
    text: options.Text = None,
    label: options.Label = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    weights: options.WeightKind = None,
    json: options.Json = False,
) -> None:
    """Reads a model and labelled texts, and prints scores."""
    voice = Voice(json)
    svc = load_model(model, file)
    names = class_names(svc)
    try:
        reading = Reading(text, label, format, encoding, model_alphabet(model), weights)
        examples, truth = reading.read_labelled(voice, file)
        unknown = warn_unknown(voice, names, examples, truth)
    except InputError as error:
        raise InputError(f"{error}{_hint(names, label)}") from None
    with voice.busy("predicting"):
        found = class_scores(svc, reading.batch(voice, examples))
    positive = positive_class(names, truth)
    scores = measure(truth, [names[k] for k in found.argmax(axis=1)], positive)
    if positive is not None:
        k = names.index(positive)
        scores = replace(scores, auc=area(truth, found[:, k], positive, names[1 - k]))
    _tell(voice, scores, len(truth))
    value = {"model": str(model), "file": examples.source, "examples": len(truth), "unknown_labels": unknown}
    voice.result(value | scores.as_dict())


def _hint(names: list[str], label: str | None) -> str:
    """For a model of one value against the rest, what its --label must have been."""
    positive = positive_class(names, [])
    if "=" in (label or "") or f"not {positive}" not in names:
        return ""
    return f". This model tells {positive!r} from the rest: it wants --label FIELD={positive}"


def _tell(voice: Voice, scores: Scores, n: int) -> None:
    voice.say(f"accuracy {scores.accuracy:.4f} ({round(scores.accuracy * n):,} of {n:,} right)", style="bold")
    if scores.positive is not None:
        area = "" if scores.auc is None else f", area under the ROC curve {scores.auc:.4f}"
        voice.say(f"F1 of {scores.positive!r} {scores.f1:.4f}{area}", style="bold")
    voice.say()
    each = list(scores.per_class.values())
    rows = [_row(name, (c.precision, c.recall, c.f1), c.support) for name, c in scores.per_class.items()]
    macro = [sum(getattr(c, name) for c in each) / len(each) for name in ("precision", "recall", "f1")]
    averages = [_row("macro average", macro, n), _row("micro average", [scores.micro_f1] * 3, n)]
    voice.table(["class", "precision", "recall", "F1", "examples"], rows + averages)
    if len(each) <= MOST_CONFUSED:
        _tell_confusion(voice, scores)


def _row(name: str, values: Sequence[float], support: int) -> list[str]:
    return [visible_label(name), *(f"{value:.4f}" for value in values), f"{support:,}"]


def _tell_confusion(voice: Voice, scores: Scores) -> None:
    """A row per true class, a column per predicted one; columns are numbered where their names are too wide."""
    names = [visible_label(name) for name in scores.per_class]
    rows = [[name, *(f"{n:,}" for n in counts)] for name, counts in zip(names, scores.confusion, strict=True)]
    header = ["true, predicted as", *names]
    if len(aligned([header, *rows])[0]) > voice.width:
        rows = [[f"{i} {name}", *counts] for i, (name, *counts) in enumerate(rows, 1)]
        header[1:] = [str(i) for i in range(1, len(header))]
    voice.say()
    voice.table(header, rows)
