"""Recognise the format of a file by its name, otherwise by its first line that is not blank."""

import os
from collections.abc import Callable, Iterable
from typing import Any

from . import crfsuite, graphs, svmlight, text_files, trees
from .open import COMPRESSED

Format = Any  # a module, or a class of users, with TITLES, SUFFIXES, guess_content and blocks, see CONTRIBUTING
BUILT_IN: tuple[Format, ...] = (graphs, trees, svmlight, crfsuite, text_files)
find_registered: Callable[[], Iterable[Format]] = tuple  # set by `treille.registry`, which is not imported here


def families() -> tuple[Format, ...]:
    """All formats of text files in the order in which they are asked: formats of users first."""
    return (*find_registered(), *BUILT_IN)


def is_of_users(name: str) -> bool:
    """Returns whether a file has a suffix of a format of users, which treille may use, too."""
    ends = tuple(end for family in find_registered() for ends in family.SUFFIXES.values() for end in ends)
    return COMPRESSED.sub("", name.lower()).endswith(ends)


def guess(name: str, line: str, text: str | None = None) -> tuple[str, str]:
    """The format of a file, and how it was recognised: by its `name` or its `content`.

    A tab-separated file of a label and a tree in brackets is a file of trees, JSON lines with edges are graphs.

    >>> guess("mail.csv.gz", "text,label"), guess("-", "text\\tlabel"), guess("mail.txt", "Well, then")
    (('csv', 'name'), ('tsv', 'content'), ('lines', 'content'))
    """
    stem = COMPRESSED.sub("", os.path.basename(name).lower())
    suffixes = ((format, ends) for family in families() for format, ends in family.SUFFIXES.items())
    named = next((format for format, ends in suffixes if stem.endswith(ends)), None)
    holds_others = {"tsv": trees, "jsonl": graphs}.get(named or "")
    if named is not None and not (holds_others and holds_others.guess_content(line, text)):
        return named, "name"
    guesses = (family.guess_content(line, text) for family in families())
    return next(format for format in guesses if format is not None), "content"
