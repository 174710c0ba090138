"""Compare a tagger's tags with those of files.

\b
Examples:
  treille tag evaluate chunks.treille test.txt
  treille tag evaluate pos.treille test.txt.gz --tag-column 2 --json

Prints precision, recall and F1 of chunks, all together and of each type, as the script conlleval of the CoNLL shared
tasks does, and the accuracy of tags. If the tags are plain labels, such as parts of speech: the accuracy, and which
tags are taken for which most often.
"""

from collections.abc import Sequence

from treille.cli import options
from treille.cli.console import Printer
from treille.cli.pages import check_report
from treille.cli.tag import sentences
from treille.cli.tag.scores import TagScores, compare
from treille.data.format import visible_label
from treille.explain.report import Source
from treille.explain.tagger_report import write_tagger_report
from treille.tagging import ChunkScores

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
        write_tagger_report(tagger, X, y, report, source=source)
        printer.note(f"report written to {report}: open it in a browser")
    printer.result({"model": str(model), "file": sentences.source(files)} | scores.as_dict())


def _print(printer: Printer, scores: TagScores) -> None:
    printer.print(str(scores), style="bold")
    if scores.chunks is not None:
        _print_chunks(printer, scores.chunks)
    elif scores.confused:
        printer.print()
        rows = [[visible_label(true), visible_label(found), f"{n:,}"] for true, found, n in scores.confused]
        printer.table(["true", "predicted as", "tokens"], rows[:MOST_CONFUSED], left=2)


def _print_chunks(printer: Printer, chunks: ChunkScores) -> None:
    printer.print()
    rows = [
        [visible_label(name), *(f"{value:.4f}" for value in (each.precision, each.recall, each.f1)), *_counts(each)]
        for name, each in [*chunks.types.items(), ("all", chunks)]
    ]
    printer.table(["chunk", "precision", "recall", "F1", "true", "predicted", "correct"], rows)


def _counts(each: object) -> Sequence[str]:
    return [f"{getattr(each, name):,}" for name in ("n_true", "n_predicted", "n_correct")]
