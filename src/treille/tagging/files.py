"""Sentences in files: CoNLL columns and CRFsuite items."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from treille.data.format import count
from treille.io import conll, crfsuite
from treille.io.errors import InputError
from treille.tagging.items import Items
from treille.tagging.sentences import Column, Origin, Sentences, one_column


def read_sentences(source: conll.Source, *, separator: str | None = None, encoding: str = "utf-8") -> Sentences:
    """The sentences of a file of CoNLL columns: one token per line, a blank line after each sentence.

    If the first line of tokens has a tab, columns are separated by single tabs, and lines with ``#`` first and no tab are comments;
    otherwise any run of blanks and tabs separates, and there are no comments. A line ``-DOCSTART-`` is a sentence of one token.

    Parameters
    ----------
    source : path or binary stream
        A file may be compressed by gzip, bzip2 or xz; ``"-"`` is standard input.
    separator : {None, "\\t", " "}
        None decides by the first line.

    Examples
    --------
    >>> import io
    >>> from treille.tagging import read_sentences
    >>> X, y = read_sentences(io.BytesIO(b"The DT B-NP\\ncat NN I-NP\\n\\nRun VB B-VP\\n")).separate()
    >>> X, y[0]
    (Sentences(2 sentences, 3 tokens, 2 columns), ['B-NP', 'I-NP'])
    """
    return _sentences(conll.read_columns(source, separator, encoding))


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

    def with_tags(self, tags: Any) -> bytes:
        """The text with the tags as one more column; nothing else changes."""
        column = one_column(tags, "tag").columns[0]
        if len(column.codes) != self.sentences.n_tokens:
            raise InputError(f"found {count(len(column.codes), 'tag')} for {count(self.sentences.n_tokens, 'token')}")
        return self.columns.with_column(column.codes, column.values)


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
    for columns in conll.stream_columns(source, separator, encoding, block):
        yield SentenceBlock(_sentences(columns), columns)


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


def _sentences(columns: conll.TokenColumns) -> Sentences:
    parts = map(Column, columns.codes, columns.values)
    return Sentences.of_columns(parts, columns.offsets, Origin(columns.source, columns.lines))
