"""Compare a tagger's tags with those of files.

\b
Examples:
  treille tag evaluate chunks.treille test.txt
  treille tag evaluate pos.treille test.txt.gz --tag-column 2 --json

Prints precision, recall and F1 of chunks, all together and of each type, as the script conlleval of the CoNLL shared
tasks does, and the accuracy of tags. If the tags are plain labels, such as parts of speech: the accuracy, and which
tags are taken for which most often.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from treille import Tagger
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.pages import check_report
from treille.cli.tag import sentences
from treille.data.format import visible_label
from treille.explain.page import Source
from treille.explain.report import write_report
from treille.explain.tagging import texts_of
from treille.tagging import ChunkScores, Sentences, chunk_scores

MOST_CONFUSED = 10


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
    check_report(report, [str(model), *files], force)
    tagger = sentences.load_tagger(model, files, beam, jobs)
    X, y = sentences.read_for(printer, tagger, files, tag_column, encoding)
    with printer.busy("tagging"):
        scores = compare(tagger, X, y)
    _print(printer, scores)
    if report is not None:
        source = Source(sentences.source(files), model=str(model), warnings=printer.warnings)
        write_report(tagger, X, y, report, source=source)
        printer.note(f"report written to {report}: open it in a browser")
    printer.result({"model": str(model), "file": sentences.source(files)} | scores.as_dict())


@dataclass(frozen=True)
class TagScores:
    """Accuracy of tags, the pairs that are confused most often, and the scores of chunks if tags mark chunks."""

    n_sentences: int
    n_tokens: int
    n_correct: int
    confused: list[tuple[str, str, int]]
    chunks: ChunkScores | None

    @property
    def accuracy(self) -> float:
        """The share of tokens with the right tag."""
        return self.n_correct / self.n_tokens

    def __str__(self) -> str:
        f1 = "" if self.chunks is None else f"F1 of chunks {self.chunks.f1:.4f}, "
        return f"{f1}accuracy {self.accuracy:.4f} ({self.n_correct:,} of {self.n_tokens:,} tags right)"

    def as_dict(self) -> dict[str, Any]:
        """JSON values."""
        confused = [{"true": true, "predicted": found, "tokens": n} for true, found, n in self.confused]
        value: dict[str, Any] = {"sentences": self.n_sentences, "tokens": self.n_tokens, "accuracy": self.accuracy}
        value |= {"f1": None, "confused": confused}
        if self.chunks is None:
            return value
        types = {name: _values(each) for name, each in self.chunks.types.items()}
        return value | _values(self.chunks) | {"types": types}


def compare(model: Tagger, X: Sentences, y: Sentences) -> TagScores:
    """Scores of a model on tagged sentences."""
    predicted = model.tagged(X)
    chunks = chunk_scores(y, predicted) if model.own_scheme_ is not None else None
    true, found = texts_of(y), texts_of(predicted)
    wrong = true != found
    counts = Counter(zip(true[wrong].tolist(), found[wrong].tolist(), strict=True))
    confused = sorted(((*pair, n) for pair, n in counts.items()), key=lambda each: (-each[2], each))
    return TagScores(len(X), X.n_tokens, int((~wrong).sum()), confused, chunks)


def _values(scores: Any) -> dict[str, Any]:
    counts = {"true": scores.n_true, "predicted": scores.n_predicted, "correct": scores.n_correct}
    return {"precision": scores.precision, "recall": scores.recall, "f1": scores.f1} | counts


def _print(printer: Printer, scores: TagScores) -> None:
    printer.print(str(scores), style="bold")
    if scores.chunks is not None:
        each = {name: _values(own) for name, own in [*scores.chunks.types.items(), ("all", scores.chunks)]}
        rows = [
            [visible_label(name), *(f"{v:,}" if isinstance(v, int) else f"{v:.4f}" for v in values.values())]
            for name, values in each.items()
        ]
        printer.print()
        printer.table(["chunk", "precision", "recall", "F1", "true", "predicted", "correct"], rows)
    elif scores.confused:
        printer.print()
        rows = [[visible_label(true), visible_label(found), f"{n:,}"] for true, found, n in scores.confused]
        printer.table(["true", "predicted as", "tokens"], rows[:MOST_CONFUSED], left=2)
