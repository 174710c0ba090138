"""Recognise the format of a file by its name, otherwise by its first line that is not blank."""

import os

from . import crfsuite, graphs, svmlight, text_files, trees
from .open import COMPRESSED

FAMILIES = (graphs, trees, svmlight, crfsuite, text_files)  # modules with TITLES, SUFFIXES, guess_content and read
SUFFIXES = {format: suffixes for family in FAMILIES for format, suffixes in family.SUFFIXES.items()}


def guess(name: str, line: str, text: str | None = None) -> tuple[str, str]:
    """The format of a file, and how it was recognised: by its `name` or its `content`.

    A tab-separated file of a label and a tree in brackets is a file of trees, JSON lines with edges are graphs.

    >>> guess("mail.csv.gz", "text,label"), guess("-", "text\\tlabel"), guess("mail.txt", "Well, then")
    (('csv', 'name'), ('tsv', 'content'), ('lines', 'content'))
    """
    stem = COMPRESSED.sub("", os.path.basename(name).lower())
    named = next((format for format, suffixes in SUFFIXES.items() if stem.endswith(suffixes)), None)
    holds_others = {"tsv": trees, "jsonl": graphs}.get(named or "")
    if named is not None and not (holds_others and holds_others.guess_content(line, text)):
        return named, "name"
    guesses = (family.guess_content(line, text) for family in FAMILIES)
    return next(format for format in guesses if format is not None), "content"
