"""Predict the label of every text in a file, one per line.

\b
Examples:
  treille predict reviews.treille new.csv
  treille predict acq.treille news.jsonl.gz --text title+body --output labels.txt
  treille predict spam.treille mail.txt --scores --output scores.tsv
  echo "Buy now and win a prize" | treille predict spam.treille -

With --scores, a table with a header: the label, then the score of each class; the highest wins. Labels in FILE are
not read: give its --text only.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from treille.cli import options, words
from treille.cli.console import Voice
from treille.cli.models import check_writable, class_names, class_scores, load_model, model_alphabet
from treille.cli.options import Reading

STANDARD_OUTPUT = "-"


def run(
    model: options.ModelFile,
    file: options.DataFile,
    text: options.Text = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    weights: options.WeightKind = None,
    output: Annotated[
        str, typer.Option("--output", metavar="PATH", help="Where to write; - is standard output.")
    ] = "-",
    scores: Annotated[bool, typer.Option("--scores", help="Also write the score of every class.")] = False,
    json: options.Json = False,
) -> None:
    """Reads a model and texts, and writes labels."""
    voice = Voice(json)
    if output != STANDARD_OUTPUT:
        check_writable(Path(output), "predictions")
    svc = load_model(model, file)
    reading = Reading(text, None, format, encoding, model_alphabet(model), weights)
    examples = reading.read(voice, file, labelled=False)
    if examples.format == "lines" and "\t" in examples.texts[0]:
        voice.warn(f"{examples.source}: there are tabs, but no labels are read: each whole line was taken as a text")
    with voice.busy("predicting"):
        found, names = class_scores(svc, reading.batch(voice, examples)), class_names(svc)
    labels = [names[k] for k in found.argmax(axis=1)]
    counts, lines = words.class_counts(labels), _lines(labels, names, found if scores else None)
    value: dict[str, Any] = {"model": str(model), "file": examples.source, "examples": len(labels)}
    value |= {"classes": names, "predicted": counts}
    if output != STANDARD_OUTPUT:
        with open(output, "w", encoding="utf-8", newline="\n") as stream:
            stream.writelines(lines)
        voice.note(f"{words.count(len(labels), 'prediction')} written to {output}: {words.shares(counts)}")
        value["output"] = output
    elif json:
        value |= {"labels": labels} | ({"scores": found.tolist()} if scores else {})
    else:
        sys.stdout.writelines(lines)
    voice.result(value)


def _lines(labels: list[str], names: list[str], scores: np.ndarray | None) -> Iterator[str]:
    if scores is None:
        yield from (words.one_line(label) + "\n" for label in labels)
        return
    yield "\t".join(["label", *map(words.one_line, names)]) + "\n"
    for label, row in zip(labels, scores, strict=True):
        yield "\t".join([words.one_line(label), *(f"{value:.6g}" for value in row)]) + "\n"
