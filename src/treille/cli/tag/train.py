"""Train a tagger on tagged sentences, and save it.

\b
Examples:
  treille tag train train.txt --model chunks.treille
  treille tag train train.txt --test test.txt --kernel 'linear()' --scheme BIOES
  treille tag train ner.txt --templates template --holdout 0.1 --model ner.treille
  treille tag train items.txt --format crfsuite --model items.treille

Files have one token per line: its columns, the word first, separated by blanks or by tabs; the tag is the last one. A
blank line ends a sentence. CoNLL-U is recognised: the word is FORM, the tag UPOS, or --tag-column. With
--format crfsuite, a line is a tag and features, separated by tabs.

Templates are written as in CRF++, U01:%x[-1,0]/%x[0,0], or as in treille, word[-1]|word[0], suffix3[0], tag[-1];
without the option: words, parts of speech, orthography and affixes of five tokens, and the last two tags.

Prints how FILE was understood, and how training ended: the duality gap bounds the distance to the optimum. Scores are
computed on sentences that were not used for training; the saved model is trained on all of FILE.
"""

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from sklearn.base import clone

from treille import InputError, Tagger
from treille.cli import options
from treille.cli.console import Printer
from treille.cli.options import Reading, command, kernel_option, option
from treille.cli.tag import sentences
from treille.cli.tag.evaluate import compare, describe
from treille.cli.tag.sentences import Tagged
from treille.cli.training import HeldOut, Trained, TrainingJob, check_scoring, checked, fit
from treille.data.format import class_counts, listed
from treille.explain.page import Origin
from treille.explain.report import write_report
from treille.explain.tagging import texts_of
from treille.explain.tasks import Tagging
from treille.tagging import Sentences, is_chunk_tag, read_templates

DEFAULT = Tagger()
PAIRS = "One tag against the rest, or pairs of tags."
KERNEL = "Such as 'linear()' or 'polynomial(2)', of the features of a token."
SCHEME = "Scheme to learn chunks in, such as BIOES; auto or none."


@options.with_options("cv", "positive")
def run(
    files: sentences.TaggedFiles,
    kernel: Annotated[str | None, option("KERNEL", KERNEL, default="conjunctions of two features")] = None,
    templates: Annotated[Path | None, option("FILE", "Feature templates of treille or CRF++.")] = None,
    C: options.C = DEFAULT.C,
    loss: Annotated[Literal["hinge", "squared_hinge"], option("NAME", "hinge or squared_hinge.")] = "squared_hinge",
    tol: options.Tol = DEFAULT.tol,
    min_count: Annotated[int, option("N", "Leave out features that occur less often.")] = DEFAULT.min_count,
    scheme: Annotated[str, option("NAME", SCHEME)] = str(DEFAULT.scheme),
    direction: Annotated[Literal["forward", "backward"], option("NAME", "Tag forward, or backward.")] = "forward",
    beam: Annotated[int, option("N", "Sequences kept while tagging; 1 is greedy.")] = DEFAULT.beam,
    multiclass: Annotated[Literal["rest", "pairs"], option("NAME", PAIRS)] = "rest",
    tag_column: sentences.TagColumn = None,
    format: Annotated[sentences.Format, option("NAME", "conll: columns; crfsuite: features.")] = "conll",
    encoding: sentences.Encoding = "utf-8",
    *,
    common: options.TrainingOptions,
    printer: options.Output,
) -> None:
    """Reads, scores, trains, saves, and prints last."""
    check_scoring(common, "--holdout 0.1")
    common.check([*files, *(common.test or ()), *([str(templates)] if templates else [])])
    holdout, test, seed = common.holdout, common.test, common.seed
    tagger = checked(
        Tagger(
            kernel_option(kernel), templates and read_templates(templates), C=C, loss=loss, tol=tol, min_count=min_count,
            scheme=None if scheme.lower() == "none" else scheme if scheme == "auto" else scheme.upper(), direction=direction,
            beam=beam, multiclass=multiclass, random_state=seed, **common.parameters(printer),
        )
    )  # fmt: skip
    data = sentences.read_tagged(printer, files, format, tag_column, encoding)
    tested = sentences.read_tagged(printer, test, format, tag_column, encoding) if test else None
    shown = _hold_out(tagger, data, holdout, seed) if holdout else None
    how = f"on {holdout:.0%} held out" if holdout else f"on {sentences.source(test)}" if test else ""
    fit(tagger, *data)
    job = TrainingJob(files, common, Reading(encoding=encoding), printer)
    job.save(tagger)
    if tested:
        shown = tagger, tested, data
    scores, predicted = compare(shown[0], *shown[1]) if shown else (None, None)
    _warn_of_tags(printer, tagger, data[1])
    if common.report:
        name, file = sentences.source(test or files), str(common.model or "model.treille")
        source = Origin(name, how if holdout else "", model=file, warnings=printer.warnings, outputs=predicted)
        own, (some, tags), trained = shown or (tagger, (None, None), data)
        write_report(own, some, tags, common.report, trained, source)
    (X, y), task, features = data, Tagging(tagger), tagger.features_
    found = {"sentences": len(X), "tokens": X.n_tokens, "columns": len(X.columns), "tags": class_counts(texts_of(y))}
    found |= {"scheme": tagger.own_scheme_, "templates": list(map(str, features.templates))}
    Trained(
        tagger,
        sentences.source(files),
        tagger.plan_.kernel_why,
        HeldOut(f"{describe(scores)} {how}", scores) if scores else None,
        {"tags": f"{listed(tagger.tags_, 10)}: {task.scheme}", "features": task.token_features, "space": ""},
        found | {"features": features.n_features},
        advice="raise --max-epochs or --tol, or lower --C",
    ).show(job, *(command("tag", verb, common.model, "FILE") for verb in ("run", "evaluate")))


def _hold_out(tagger: Tagger, data: Tagged, part: float, seed: int) -> tuple[Tagger, Tagged, Tagged]:
    """A tagger trained on the rest of the sentences, the held-out sentences, and the rest."""
    (X, y), n = data, len(data[0])
    if n < 2:
        raise InputError(f"--holdout {part:g}: there is 1 sentence, expected at least two")
    order, size = np.random.default_rng(seed).permutation(n), min(max(round(n * part), 1), n - 1)
    rest, kept = ((X[rows], y[rows]) for rows in (np.sort(order[size:]), np.sort(order[:size])))
    return fit(clone(tagger), *rest), kept, rest


def _warn_of_tags(printer: Printer, tagger: Tagger, y: Sentences) -> None:
    """Warns if most tags look like chunk tags but are taken as plain labels."""
    if tagger.own_scheme_ is not None or tagger.scheme is None:
        return
    tags = texts_of(y)
    counts = class_counts(tags)
    others = [tag for tag in counts if not is_chunk_tag(tag)]
    are_chunks = any("-" in tag and tag not in others for tag in counts)
    if not are_chunks or 2 * sum(counts[tag] for tag in others) > len(tags):
        return
    if others:
        place = y.place(int(np.flatnonzero(tags == others[0])[0]))
        reason = f"the tag {others[0]!r} is not one of a chunk ({place})"
    else:
        reason = "there is no scheme in which all sequences of tags are legal (treille.tagging.repair makes them so)"
    printer.warn(f"{reason}, so all tags are taken as plain labels: any may follow any, and the score is the accuracy")
