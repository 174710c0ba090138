"""Files of sentences, and models that tag them, for several commands."""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from treille import InputError, Tagger
from treille.cli.console import Printer
from treille.cli.models import load_model, refuse_model
from treille.cli.options import argument, option, option_errors
from treille.data.format import class_counts, count, listed, shares, visible_label
from treille.explain.tagging import texts_of
from treille.io import conll, conllu
from treille.io.open import source_name
from treille.tagging import SentenceBlock, Sentences, read_features, stream_features, stream_sentences
from treille.tagging.files import sentences_of

Tagged = tuple[Sentences, Sentences]  # their tokens, and their tags
Format = Literal["conll", "crfsuite"]
TaggedFiles = Annotated[list[str], argument("FILE", "Tagged sentences; several files; - is standard input.")]
TaggerFile = Annotated[Path, argument("MODEL", "A model that 'treille tag train' saved.")]
TAG_COLUMN = "Column of the tags: a number from 1, or a name of CoNLL-U, such as xpos."
TagColumn = Annotated[str | None, option("N|NAME", TAG_COLUMN, default="the last; of CoNLL-U upos")]
Beam = Annotated[int | None, option("N", "Sequences kept; 1 is greedy.", default="as trained", min=1)]
Encoding = Annotated[str, option("NAME", "Encoding of the files, such as latin-1.")]


def read_tagged(
    printer: Printer,
    paths: Sequence[str],
    format: Format,
    column: str | None,
    encoding: str,
    model_column: str | None = None,
) -> Tagged:
    """The sentences of files and their tags, after notes on how they were understood."""
    if format == "crfsuite" and column is not None:
        why = "is for columns: leave it out for CRFsuite's items, where the tag comes first"
        raise typer.BadParameter(why, param_hint="--tag-column")
    parts = [_read(printer, path, format, column, encoding, model_column) for path in paths]
    X, y = Sentences.join([X for X, _ in parts]), Sentences.join([y for _, y in parts])
    if X.items is not None:
        columns = f"{len(X.items.names):,} different features"
    else:
        word, tag = (" ".join(visible_label(v[codes[0]]) for codes, v in each.columns) for each in (X, y))
        columns = f"{count(len(X.columns), 'column')} and the tag, such as {word!r} and {tag!r}"
        if X.origin is not None and X.origin.tag_column:
            columns = f"CoNLL-U: the word is FORM, the tag {X.origin.tag_column.upper()}, such as {word!r} and {tag!r}"
    printer.note(f"{source(paths)}: {count(len(X), 'sentence')}, {count(X.n_tokens, 'token')}, {columns}")
    counts = class_counts(texts_of(y))
    printer.note(f"{count(len(counts), 'tag')}: {shares(counts)}")
    return X, y


def read_for(printer: Printer, model: Tagger, paths: Sequence[str], column: str | None, encoding: str) -> Tagged:
    """The sentences of files and their tags, in the format and with the columns that a model reads."""
    if model.features_.reads_items:
        return read_tagged(printer, paths, "crfsuite", column, encoding)
    X, y = read_tagged(printer, paths, "conll", column, encoding, model.reading_.get("tag_column"))
    check_columns(model, X, f"{source(paths)} without the tags")
    return X, y


def _read(
    printer: Printer, path: str, format: Format, column: str | None, encoding: str, model_column: str | None
) -> Tagged:
    refuse_model(path)
    name = source_name(path)
    with printer.busy(f"reading {name}"):
        if format == "crfsuite":
            X, y = read_features(path, encoding=encoding)
        else:
            X, y = _separated(conll.read_columns(path, encoding=encoding), column, model_column, name)
    if not X.n_tokens:
        raise InputError(f"{name}: found no token, expected one per line, with its tag")
    return X, y


def _separated(tokens: conll.TokenColumns, column: str | None, model_column: str | None, name: str) -> Tagged:
    """Words and tags of columns. A column is a number from 1, or a name of CoNLL-U, for which `model_column` is the default."""
    if conllu.is_conllu(tokens):
        with option_errors("--tag-column"):
            return sentences_of(tokens, column or model_column).separate()
    sentences, n = sentences_of(tokens), len(tokens.codes)
    if not sentences.n_tokens:
        return sentences, sentences
    if n < 2:
        raise InputError(f"{name}: found 1 column, expected at least a word and its tag, separated by a blank or a tab")
    number = n if column is None else int(column) if column.isdecimal() else 0
    if not 1 <= number <= n:
        why = f"{column} is not one of the {n} columns of {name}, which is not CoNLL-U"
        raise typer.BadParameter(why, param_hint="--tag-column")
    return sentences.separate(number - 1)


def source(paths: Sequence[str]) -> str:
    """The name of files in messages."""
    return listed([source_name(path) for path in paths], 3)


def load_tagger(path: Path, data: Sequence[str], beam: int | None, jobs: int | None) -> Tagger:
    """The tagger of a model file, with the options --beam and --jobs."""
    model = load_model(path, data)
    if not model.task().per_token:
        kind = type(model).__name__
        raise InputError(f"{path}: is a model of {kind}, expected one of 'treille tag train': use 'treille predict'")
    tagger: Tagger = model.set_params(n_jobs=jobs or -1, beam=beam or model.beam)
    return tagger


def blocks_for(model: Tagger, path: str, encoding: str) -> Iterator[tuple[Sentences, SentenceBlock | None]]:
    """Blocks of sentences of a file, as they arrive, with their text if they have columns. They need no tags."""
    if model.features_.reads_items:
        yield from ((X, None) for X, _ in stream_features(path, encoding=encoding))
        return
    for block in stream_sentences(path, encoding=encoding):
        check_columns(model, block.sentences, source_name(path))
        yield block.sentences, block


def first_sentences(model: Tagger, paths: Sequence[str], encoding: str, number: int | None) -> list[Any]:
    """The first sentences of files; without columns that the model does not read."""
    blocks = (X for path in paths for X, _ in blocks_for(model, path, encoding))
    found = chain.from_iterable(X.with_columns(model.features_.n_columns) for X in blocks)
    return list(islice(found, number))


def check_columns(model: Tagger, sentences: Sentences, name: str) -> None:
    """Refuses tokens with fewer columns than the model uses."""
    found, expected = len(sentences.columns), model.features_.n_columns
    if sentences.n_tokens and found < expected:
        raise InputError(
            f"{name}: found {count(found, 'column')}, expected {expected} as in training"
            f" ({'word and part of speech' if expected == 2 else 'the same in the same order'}), separated by blanks or tabs"
        )
