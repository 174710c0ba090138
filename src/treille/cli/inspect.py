"""Look into a model, or into a data file before training on it.

\b
Examples:
  treille inspect reviews.treille
  treille inspect acq.treille --top 25 --json
  treille inspect news.jsonl.gz --text title+body --label topics=acq
  head -100 mail.txt | treille inspect -

Of a model: kernel, classes, size, how training ended and, for each class, the features that speak most for it.
Of a data file: how it is understood, its fields and classes, lengths, alphabet and first examples.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from treille import Strings, Trees, Vectors
from treille.cli import options, words
from treille.cli.console import Voice
from treille.cli.kernel_option import spell_kernel
from treille.cli.models import class_names, describe_report, load_model, looks_like_model, model_alphabet, say_telling
from treille.cli.options import Reading
from treille.data.base import readable_size
from treille.io import Examples

SAMPLES = 3


def run(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A model, or data; - is data on standard input.")],
    top: Annotated[
        int, typer.Option("--top", metavar="N", min=0, help="Of a model: so many features of a class.")
    ] = 10,
    text: options.Text = None,
    label: options.Label = None,
    format: options.Format = None,
    encoding: options.Encoding = "utf-8",
    json: options.Json = False,
) -> None:
    """Tells a model from data, and describes it."""
    voice = Voice(json)
    if looks_like_model(file):
        _inspect_model(voice, Path(file), top)
    else:
        _inspect_data(voice, Reading(text, label, format, encoding), file)


def _inspect_model(voice: Voice, path: Path, top: int) -> None:
    model = load_model(path)
    names, kernel, report = class_names(model), spell_kernel(model.plan_.kernel), model.report_
    by_features = hasattr(model, "features_")
    top_features = model.top_features(top) if by_features else {}
    telling = {names[k]: features for k, features in enumerate(top_features.values())}
    size = path.stat().st_size
    voice.say(f"{path}: a model of treille, {readable_size(size)}", style="bold")
    voice.field("kernel", kernel)
    alphabet = model_alphabet(path)
    if alphabet is not None:
        voice.field("alphabet", f"{alphabet.value}, as which texts are read")
    voice.field("classes", words.listed([words.visible_label(name) for name in names], 20))
    kept, of_what = model.functions_.sizes().split(" ", 1)
    voice.field(of_what.split()[0], f"{kept} with weight")
    chosen = f"C={model.C:g}, {model.loss} loss, seed {report.seed}"
    voice.field("training", f"{describe_report(report, model.tol)}, {chosen}")
    if top and by_features:
        voice.say()
        say_telling(voice, telling, weights=True)
    voice.result(
        {
            "kind": "model",
            "file": str(path),
            "bytes": size,
            "kernel": kernel,
            "alphabet": alphabet and alphabet.value,
            "classes": names,
            "features": model.features_.n_features if by_features else None,
            "parameters": {
                name: getattr(model, name) for name in ("C", "loss", "tol", "fit_intercept", "class_weight")
            },
            "report": report.as_dict(),
            "telling": {name: [{"feature": f, "weight": w} for f, w in features] for name, features in telling.items()},
        }
    )


def _inspect_data(voice: Voice, reading: Reading, path: str) -> None:
    examples = reading.read(voice, path, labelled=None)
    counts = words.class_counts(examples.labels or [])
    if examples.fields and examples.format != "lines":
        voice.field("fields", ", ".join(examples.fields))
    voice.field("classes", words.shares(counts) if counts else "no labels; name a field with --label")
    value: dict[str, Any] = {"kind": "data", "file": examples.source, "format": examples.format}
    value |= {"fields": list(examples.fields), "examples": len(examples), "classes": counts}
    if examples.trees is not None:
        value |= _describe_trees(voice, Trees(examples.trees))
    elif examples.numbers is None:
        value |= _describe_texts(voice, examples)
    else:
        value |= _describe_numbers(voice, Vectors(examples.numbers))
    voice.say("first examples:", style="bold")
    for i, shown in enumerate(_samples(examples, voice.width)):
        label = f"{words.visible_label(examples.labels[i])}  " if examples.labels else ""
        voice.say(words.clipped(f"  {label}{shown}", voice.width), wrap=False)
    voice.result(value)


def _describe_texts(voice: Voice, examples: Examples) -> dict[str, Any]:
    batch = Strings(examples.texts, "char", n_jobs=-1)
    lengths = np.diff(batch.offsets)
    span = f"{lengths.min():,} to {lengths.max():,} characters, median {np.median(lengths):,.0f}"
    voice.field("lengths", f"{span}, {lengths.sum():,} in all")
    voice.field("alphabet", f"{words.count(len(batch.alphabet), 'character')}: {_alphabet(batch)}")
    return {
        "lengths": {"min": int(lengths.min()), "median": float(np.median(lengths)), "max": int(lengths.max())},
        "characters": int(lengths.sum()),
        "alphabet": len(batch.alphabet),
    }


def _describe_numbers(voice: Voice, batch: Vectors) -> dict[str, Any]:
    numbers, cells = len(batch.values), len(batch) * batch.n_columns
    low, high = (float(batch.values.min()), float(batch.values.max())) if numbers else (0.0, 0.0)
    voice.field("columns", f"{batch.n_columns:,}, {words.listed(batch.names or [])}")
    voice.field("numbers", f"{numbers:,} are not zero, {numbers / max(cells, 1):.2%} of all, {low:.4g} to {high:.4g}")
    return {"columns": batch.n_columns, "numbers": numbers, "range": [low, high]}


def _describe_trees(voice: Voice, batch: Trees) -> dict[str, Any]:
    sizes, leaves = np.diff(batch.offsets), int(batch.is_leaf.sum())
    span = (
        f"{sizes.min():,} to {sizes.max():,}, median {np.median(sizes):,.0f}, {sizes.sum():,} in all, {leaves:,} leaves"
    )
    voice.field("nodes", span)
    voice.field("labels", f"{len(batch.alphabet):,}, {words.listed(batch.alphabet)}")
    return {"nodes": int(sizes.sum()), "leaves": leaves, "labels": len(batch.alphabet)}


def _samples(examples: Examples, width: int) -> list[str]:
    if examples.trees is not None:
        return [words.visible(str(tree)[:width], blanks=False) for tree in Trees(examples.trees)[:SAMPLES]]
    if examples.numbers is None:
        return [words.visible(text[:width], blanks=False) for text in examples.texts[:SAMPLES]]
    rows = Vectors(examples.numbers)[:SAMPLES]
    return [" ".join(f"{name}:{value:g}" for name, value in row.items()) for row in rows]


def _alphabet(batch: Strings, most: int = 40) -> str:
    shown = "".join(words.visible(symbol) for symbol in batch.alphabet[:most])
    return shown + ("…" if len(batch.alphabet) > most else "")
