"""Sentences in files: CoNLL columns and CRFsuite items."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from treille.data.format import count
from treille.io import conll, conllu, crfsuite
from treille.io.errors import InputError
from treille.tagging.items import Items
from treille.tagging.sentences import Column, Origin, Sentences, one_column


def read_sentences(
    source: conll.Source,
    *,
    separator: str | None = None,
    encoding: str = "utf-8",
    tag_column: str | int | None = None,
) -> Sentences:
    """The sentences of a file of CoNLL columns: one token per line, a blank line after each sentence.

    If the first line of tokens has a tab, columns are separated by single tabs, and lines with ``#`` first and no tab are comments;
    otherwise any run of blanks and tabs separates, and there are no comments. A line ``-DOCSTART-`` marks a document, and is no
    sentence. CoNLL-U is recognised by its ten columns: its tokens have two columns, FORM and a tag, so that nothing that depends on
    the tag is taken for a feature; ranges of tokens (``1-2``) and empty nodes (``1.1``) are left out.

    Parameters
    ----------
    source : path or binary stream
        A file may be compressed by gzip, bzip2 or xz; ``"-"`` is standard input.
    separator : {None, "\\t", " "}
        None decides by the first line.
    tag_column : {None, "upos", "xpos", "lemma", "feats", "deprel", "deps", "misc"} or int
        For CoNLL-U: the column of the tags, by its name or its number from 1. None is UPOS.

    Examples
    --------
    >>> import io
    >>> from treille.tagging import read_sentences
    >>> X, y = read_sentences(io.BytesIO(b"The DT B-NP\\ncat NN I-NP\\n\\nRun VB B-VP\\n")).separate()
    >>> X, y[0]
    (Sentences(2 sentences, 3 tokens, 2 columns), ['B-NP', 'I-NP'])
    """
    tokens = conll.read_columns(source, separator, encoding)
    if tag_column is not None and tokens.first and not conllu.is_conllu(tokens):
        raise InputError(f"{tokens.source}: holds no CoNLL-U, for which tag_column is: use separate(column)")
    return sentences_of(tokens, tag_column)


def read_features(source: conll.Source, *, encoding: str = "utf-8") -> tuple[Sentences, Sentences]:
    """The sentences of a file of CRFsuite items, ``label TAB feature TAB feature ...``, and their labels.

    >>> import io
    >>> from treille.tagging import read_features
    >>> X, y = read_features(io.BytesIO(b"DT\\tword=The\\tbias\\nNN\\tword=cat\\tbias\\n"))
    >>> X[0], y[0]
    ([['word=The', 'bias'], ['word=cat', 'bias']], ['DT', 'NN'])
    """
    return _features(crfsuite.read_items(source, encoding))


def _features(read: crfsuite.TokenItems) -> tuple[Sentences, Sentences]:
    origin = Origin(read.source, read.lines)
    for k in np.flatnonzero(read.weights != 1)[:1]:
        line = read.lines[np.searchsorted(read.item_offsets, k, side="right") - 1]
        raise InputError(
            f"{read.source}, line {line}: the feature {read.names[read.items[k]]!r} has the weight {read.weights[k]:g}, expected 1:"
            " divide its values into ranges, with a feature for each"
        )
    items = Items(read.items, read.item_offsets, read.names)
    labels = Sentences.of_columns([Column(read.labels, read.label_names)], read.offsets, origin)
    return Sentences._made((), read.offsets, items, origin), labels


@dataclass(frozen=True, repr=False)
class SentenceBlock:
    """Some sentences of a file, and their text.

    >>> import io
    >>> from treille.tagging import stream_sentences
    >>> block = next(stream_sentences(io.BytesIO(b"The  cat\\r\\n\\r\\n")))
    >>> block.sentences[0], block.with_tags([["D"]])
    ([('The', 'cat')], b'The  cat D\\r\\n\\r\\n')
    """

    sentences: Sentences
    columns: conll.TokenColumns
    is_conllu: bool = False

    def with_tags(self, tags: Any, column: str | None = None) -> bytes:
        """The text with the tags as one more column, or in a `column` of CoNLL-U; nothing else changes.

        Lines that are no tokens get the tag O in one more column, or _ in CoNLL-U, so that all lines have as many columns.
        """
        own, kept = one_column(tags, "tag").columns[0], _are_tokens(self.columns, self.is_conllu)
        if len(own.codes) != self.sentences.n_tokens:
            raise InputError(f"found {count(len(own.codes), 'tag')} for {count(self.sentences.n_tokens, 'token')}")
        if self.is_conllu and column is not None:
            return conllu.with_tags(self.columns, kept, (own.values[code] for code in own.codes.tolist()), column)
        codes = np.full(len(kept), len(own.values), np.int32)
        codes[kept] = own.codes
        return self.columns.with_column(codes, [*own.values, "_" if self.is_conllu else "O"])


def stream_sentences(
    source: conll.Source, *, separator: str | None = None, encoding: str = "utf-8", block: int = conll.BLOCK
) -> Iterator[SentenceBlock]:
    """The sentences that `read_sentences` returns, in parts of about `block` bytes, so that memory is bounded.

    A pipe, such as standard input, is read as data arrives.

    >>> import io
    >>> from treille.tagging import stream_sentences
    >>> [list(part.sentences) for part in stream_sentences(io.BytesIO(b"a\\n\\nb\\nc\\n"), block=4)]
    [[['a']], [['b', 'c']]]
    """
    is_conllu: bool | None = None
    for columns in conll.stream_columns(source, separator, encoding, block):
        if is_conllu is None and columns.first:
            is_conllu = conllu.is_conllu(columns)
        yield SentenceBlock(sentences_of(columns, None, bool(is_conllu)), columns, bool(is_conllu))


def write_sentences(path: str | os.PathLike[str], sentences: Any, tags: Any = None, separator: str = " ") -> None:
    """Writes CoNLL columns, with tags as the last one. A value that could not be read back raises an `InputError`.

    >>> from treille.tagging import read_sentences, write_sentences
    >>> write_sentences("cats.txt", [[("The", "DT"), ("cat", "NN")]], [["B-NP", "I-NP"]])
    >>> list(read_sentences("cats.txt"))
    [[('The', 'DT', 'B-NP'), ('cat', 'NN', 'I-NP')]]
    """
    if separator not in (" ", "\t"):
        raise InputError(f"separator is {separator!r}, expected a blank or a tab")
    given = [Sentences(sentences)] + ([] if tags is None else [one_column(tags, "tag")])
    if given[0].items is not None:
        raise InputError("the tokens have features and no columns, which CoNLL files cannot hold")
    if given[-1].offsets.tolist() != given[0].offsets.tolist():
        raise InputError("the tags do not have the lengths of the sentences")
    columns = [[values[c] for c in codes.tolist()] for each in given for codes, values in each.columns]
    conll.write_columns(path, columns, given[0].offsets, separator == "\t")


def stream_features(
    source: conll.Source, *, encoding: str = "utf-8", block: int = conll.BLOCK
) -> Iterator[tuple[Sentences, Sentences]]:
    """The sentences and labels that `read_features` returns, in parts of about `block` bytes; pipes are read as data arrives.

    >>> import io
    >>> from treille.tagging import stream_features
    >>> [y[0] for X, y in stream_features(io.BytesIO(b"DT\\tthe\\n\\nNN\\tcat\\n"), block=4)]
    [['DT'], ['NN']]
    """
    return map(_features, crfsuite.stream_items(source, encoding, block))


def sentences_of(
    tokens: conll.TokenColumns, tag_column: str | int | None = None, is_conllu: bool | None = None
) -> Sentences:
    """The sentences of columns; those of CoNLL-U have two, FORM and the column of the tags."""
    of_conllu = conllu.is_conllu(tokens) if is_conllu is None else is_conllu
    kept, name = _are_tokens(tokens, of_conllu), ""
    if of_conllu:
        name = conllu.tag_column(tag_column)
        tokens = tokens.select(kept, [conllu.COLUMNS.index(each) for each in ("form", name)])
    elif not kept.all():
        tokens = tokens.select(kept, range(len(tokens.codes)))
    parts = map(Column, tokens.codes, tokens.values)
    return Sentences.of_columns(parts, tokens.offsets, Origin(tokens.source, tokens.lines, tag_column=name))


def _are_tokens(tokens: conll.TokenColumns, is_conllu: bool) -> np.ndarray:
    """Which lines are tokens: not ranges or empty nodes of CoNLL-U, and not marks of documents."""
    return tokens.are(str.isdecimal if is_conllu else lambda value: value != conll.DOCUMENT)
