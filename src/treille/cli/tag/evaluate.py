"""Compare a tagger's tags with the tags in files.

\b
Examples:
  treille tag evaluate chunks.treille test.txt
  treille tag evaluate pos.treille test.txt.gz --tag-column 2 --json
  treille tag evaluate pos.treille dev.conllu

Prints precision, recall and F1 of chunks, all together and of each type, as the script conlleval of the CoNLL shared
tasks does, and the accuracy of tags. If the tags are plain labels, such as parts of speech: the accuracy, and which
tags are taken for which most often.
"""

from collections import Counter
from typing import Any

from treille import Tagger
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import check_writable
from treille.cli.tag import sentences
from treille.data.format import visible_label
from treille.explain.page import Origin
from treille.explain.report import write_report
from treille.explain.tagging import texts_of
from treille.tagging import Sentences, chunk_scores

MOST_CONFUSED = 10
COLUMNS = ("precision", "recall", "f1", "true", "predicted", "correct")


@options.with_options()
def run(
    model: sentences.TaggerFile,
    files: sentences.TaggedFiles,
    tag_column: sentences.TagColumn = None,
    beam: sentences.Beam = None,
    encoding: sentences.Encoding = "utf-8",
    report: options.ReportPath = None,
    jobs: options.Jobs = None,
    force: options.Force = False,
    *,
    printer: options.ResultOutput,
) -> None:
    """Reads a model and tagged sentences, and prints scores."""
    check_writable(report, "report", [str(model), *files], force)
    tagger = sentences.load_tagger(model, files, beam, jobs)
    X, y = sentences.read_for(printer, tagger, files, tag_column, encoding)
    with printer.busy("tagging"):
        scores, tags = compare(tagger, X, y)
    _print(printer, scores)
    if report is not None:
        source = Origin(sentences.source(files), model=str(model), warnings=printer.warnings, outputs=tags)
        write_report(tagger, X, y, report, source=source)
        printer.note(f"report written to {report}: open it in a browser")
    printer.result({"model": str(model), "file": sentences.source(files)} | scores)


def compare(model: Tagger, X: Sentences, y: Sentences) -> tuple[dict[str, Any], Sentences]:
    """Scores of a model on tagged sentences, as JSON values: accuracy, tags that are confused, chunks if tags mark such. Returns
    also the predicted tags."""
    predicted = model.tagged(X)
    true, found = texts_of(y), texts_of(predicted)
    wrong = true != found
    counts = Counter(zip(true[wrong].tolist(), found[wrong].tolist(), strict=True))
    pairs = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    confused = [{"true": true, "predicted": found, "tokens": n} for (true, found), n in pairs]
    value: dict[str, Any] = {"sentences": len(X), "tokens": X.n_tokens, "accuracy": float((~wrong).sum() / X.n_tokens)}
    value |= {"f1": None, "confused": confused}
    if model.own_scheme_ is None:
        return value, predicted
    chunks = chunk_scores(y, predicted)
    types = {name: _values(each) for name, each in chunks.types.items()}
    return value | _values(chunks) | {"types": types}, predicted


def _values(scores: Any) -> dict[str, Any]:
    counts = {"true": scores.n_true, "predicted": scores.n_predicted, "correct": scores.n_correct}
    return {"precision": scores.precision, "recall": scores.recall, "f1": scores.f1} | counts


def describe(scores: dict[str, Any]) -> str:
    """The scores of `compare` in a line."""
    f1 = "" if scores["f1"] is None else f"F1 of chunks {scores['f1']:.4f}, "
    right = round(scores["accuracy"] * scores["tokens"])
    return f"{f1}accuracy {scores['accuracy']:.4f} ({right:,} of {scores['tokens']:,} tags right)"


def _print(printer: Printer, scores: dict[str, Any]) -> None:
    printer.print(describe(scores), style="bold")
    if scores["f1"] is not None:
        each = scores["types"] | {"all": {name: scores[name] for name in COLUMNS}}
        cells = [[f"{v:,}" if isinstance(v, int) else f"{v:.4f}" for v in values.values()] for values in each.values()]
        rows = [[visible_label(name), *row] for name, row in zip(each, cells, strict=True)]
        printer.print()
        printer.table(["chunk", *COLUMNS[:2], "F1", *COLUMNS[3:]], rows)
    elif scores["confused"]:
        printer.print()
        pairs = scores["confused"][:MOST_CONFUSED]
        rows = [
            [visible_label(each["true"]), visible_label(each["predicted"]), f"{each['tokens']:,}"] for each in pairs
        ]
        printer.table(["true", "predicted as", "tokens"], rows, left=2)
