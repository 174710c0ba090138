"""Train a tagger on tagged sentences, and save it.

\b
Examples:
  treille tag train train.txt --model chunks.treille
  treille tag train train.txt --test test.txt --kernel 'linear()' --scheme BIOES
  treille tag train ner.txt --templates template --holdout 0.1 --model ner.treille
  treille tag train items.txt --format crfsuite --model items.treille

Files have one token per line: its columns, the word first, separated by blanks or by tabs; the tag is the last one. A
blank line ends a sentence. With --format crfsuite, a line is a tag and features, separated by tabs.

Templates are those of CRF++, such as U01:%x[-1,0]/%x[0,0], or our own, such as word[-1]|word[0], suffix3[0], tag[-1];
without the option: words, parts of speech, orthography and affixes of five tokens, and the last two tags.

Prints how FILE was understood, and how training ended: the duality gap bounds the distance to the optimum. Scores are
computed on sentences that were not used for training; the saved model is trained on all of FILE.
"""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import clone

from treille import InputError, Tagger
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.models import check_writable, describe_report, print_saved
from treille.cli.options import command, kernel_option
from treille.cli.pages import check_report
from treille.cli.tag import sentences
from treille.cli.tag.scores import TagScores, compare
from treille.cli.tag.sentences import Direction, Format, Multiclass
from treille.cli.train import NOT_CONVERGED
from treille.cli.training import fit
from treille.data.format import listed
from treille.explain.report import Source, write_report
from treille.kernels.parse import format_kernel
from treille.tagging import Sentences, is_chunk_tag, read_templates

DEFAULT = Tagger()
LOSS, DIRECTION = options.Hinge(DEFAULT.loss), Direction(DEFAULT.direction)
MULTICLASS = Multiclass(DEFAULT.multiclass)


def run(
    files: sentences.TaggedFiles,
    model: options.ModelPath = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            "--kernel",
            metavar="KERNEL",
            help="Such as 'linear()' or 'polynomial(2)', of the features of a token.",
            show_default="conjunctions of two features",
        ),
    ] = None,
    templates: Annotated[
        Path | None, typer.Option("--templates", metavar="FILE", help="Feature templates, also those of CRF++.")
    ] = None,
    C: options.C = DEFAULT.C,
    loss: options.HingeName = LOSS,
    tol: options.Tol = DEFAULT.tol,
    max_epochs: options.MaxEpochs = DEFAULT.max_epochs,
    min_count: Annotated[
        int, typer.Option("--min-count", metavar="N", help="Leave out features that occur less often.")
    ] = DEFAULT.min_count,
    scheme: Annotated[
        str, typer.Option("--scheme", metavar="NAME", help="Scheme to learn chunks in, such as BIOES; auto or none.")
    ] = str(DEFAULT.scheme),
    direction: Annotated[
        Direction, typer.Option("--direction", metavar="NAME", help="Tag forward, or backward.")
    ] = DIRECTION,
    beam: Annotated[
        int, typer.Option("--beam", metavar="N", help="Sequences kept while tagging; 1 is greedy.")
    ] = DEFAULT.beam,
    multiclass: Annotated[
        Multiclass, typer.Option("--multiclass", metavar="NAME", help="One tag against the rest, or pairs of tags.")
    ] = MULTICLASS,
    tag_column: sentences.TagColumn = None,
    format: Annotated[
        Format, typer.Option("--format", metavar="NAME", help="conll: columns; crfsuite: features.")
    ] = Format.conll,
    encoding: sentences.Encoding = "utf-8",
    holdout: options.HoldOut = None,
    test: options.TestFiles = None,
    report: options.ReportPath = None,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Reads, scores, trains, saves, and prints last."""
    _check_choices(model, holdout, test)
    if model is not None:
        check_writable(model, "model", [*files, *(test or ()), *([str(templates)] if templates else [])], force)
    if report is not None:
        check_report(report, [*files, *(test or ())], force)
    tagger = Tagger(
        kernel_option(kernel), templates and read_templates(templates), C, loss.value, tol, max_epochs, min_count,
        None if scheme.lower() == "none" else scheme if scheme == "auto" else scheme.upper(),
        direction.value, beam, multiclass.value, jobs or -1, seed, int(not quiet),
    )  # fmt: skip
    try:
        tagger.check_parameters()
    except InputError as error:
        raise typer.BadParameter(str(error)) from None
    printer = Printer(json, quiet)
    X, y = sentences.read_tagged(printer, files, format, tag_column, encoding)
    tested = sentences.read_tagged(printer, test, format, tag_column, encoding) if test else None
    how, scored = f"on {sentences.source(test)}" if test else "", None
    shown: tuple[Any, Any, Any] | None = None  # the report's model, sentences and tags
    if holdout:
        how = f"on {holdout:.0%} held out"
        kept, rest = _split(len(X), holdout, seed)
        shown = (fit(clone(tagger), X[kept], y[kept]), X[rest], y[rest])
        scored = compare(*shown)
    fit(tagger, X, y)
    if model:
        tagger.save(model)
    if tested:
        shown = (tagger, *tested)
        scored = compare(*shown)
    _warn_of_tags(printer, tagger, y)
    if report:
        trained = (X[kept], y[kept]) if holdout else (X, y)
        name, file = sentences.source(test or files), str(model or "model.treille")
        source = Source(name, how if holdout else "", model=file, warnings=printer.warnings)
        own, some, tags = shown or (tagger, None, None)
        write_report(own, some, tags, report, trained, source)
        printer.note(f"report written to {report}: open it in a browser")
    _print(printer, tagger, scored, how, model)
    printer.result(_as_dict(tagger, sentences.source(files), X, y, scored, model))
    if tagger.report_.status != "converged":
        raise typer.Exit(NOT_CONVERGED)


def _check_choices(model: Path | None, holdout: float | None, test: list[str] | None) -> None:
    if holdout is not None and test:
        raise typer.BadParameter("--holdout and --test were given: choose one way to score", param_hint="--holdout")
    if holdout is not None and not 0 < holdout < 1:
        raise typer.BadParameter(f"{holdout:g} is not between 0 and 1", param_hint="--holdout")
    if model is None and holdout is None and not test:
        raise typer.BadParameter(
            "say where to save the model, for example --model my.treille, or ask for a score alone with --holdout 0.1",
            param_hint="--model",
        )


def _split(n: int, part: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sentences to train on, and those held out."""
    if n < 2:
        raise InputError(f"--holdout {part:g}: there is 1 sentence, expected at least two")
    order = np.random.default_rng(seed).permutation(n)
    held_out = min(max(round(n * part), 1), n - 1)
    return np.sort(order[held_out:]), np.sort(order[:held_out])


def _warn_of_tags(printer: Printer, tagger: Tagger, y: Sentences) -> None:
    """Where most tags look like those of chunks, and are taken as plain labels."""
    if tagger.own_scheme_ is not None or tagger.scheme is None:
        return
    counts = sentences.tag_counts(y)
    others = [tag for tag in counts if not is_chunk_tag(tag)]
    if (
        not any("-" in tag and is_chunk_tag(tag) for tag in counts)
        or 2 * sum(map(counts.__getitem__, others)) > y.n_tokens
    ):
        return
    if others:
        codes, values = y.columns[0]
        place = y.place(int(np.flatnonzero(codes == values.index(others[0]))[0]))
        reason = f"the tag {others[0]!r} is not one of a chunk ({place})"
    else:
        reason = "there is no scheme in which all sequences of tags are legal (treille.tagging.repair makes them so)"
    printer.warn(f"{reason}, so all tags are taken as plain labels: any may follow any, and the score is the accuracy")


def _print(printer: Printer, tagger: Tagger, scored: TagScores | None, how: str, model: Path | None) -> None:
    plan, report, task = tagger.plan_, tagger.report_, tagger.task()
    printer.field("tags", f"{listed(tagger.tags_, 10)}: {task.scheme}")
    printer.field("features", task.token_features)
    printer.field("kernel", f"{format_kernel(plan.kernel)}, {plan.kernel_why}")
    printer.field("solver", f"{plan.solver!r}, {plan.solver_why}")
    printer.field("sizes", plan.sizes)
    printer.field("training", describe_report(report, tagger.tol, task.pairs))
    if scored:
        printer.field("score", f"{scored} {how}")
    if report.status != "converged":
        reached = f"the duality gap is {report.relative_gap:.1e}, not yet {tagger.tol:g}"
        printer.warn(f"{reached}: raise --max-epochs or --tol, or lower --C")
    print_saved(printer, model, command("tag", "run", model, "FILE"), command("tag", "evaluate", model, "FILE"))


def _as_dict(
    tagger: Tagger, source: str, X: Sentences, y: Sentences, scored: TagScores | None, model: Path | None
) -> dict[str, Any]:
    return {
        "file": source,
        "sentences": len(X),
        "tokens": X.n_tokens,
        "columns": len(X.columns),
        "tags": sentences.tag_counts(y),
        "scheme": tagger.own_scheme_,
        "kernel": format_kernel(tagger.plan_.kernel),
        "templates": [str(template) for template in tagger.features_.templates],
        "features": tagger.features_.n_features,
        "report": tagger.report_.as_dict(),
        "score": scored and scored.as_dict(),
        "model": model and str(model),
        "bytes": model and model.stat().st_size,
    }
