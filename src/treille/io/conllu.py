"""CoNLL-U: dependency trees, one token per line in ten columns, a blank line after each sentence."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from .conll import TokenColumns
from .errors import InputError
from .packed_trees import Nodes

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
TAGS = ("lemma", "upos", "xpos", "feats", "deprel", "deps", "misc")  # columns that may hold tags
ID = re.compile(r"\d+(-\d+|\.\d+)?")
LABELS = ("form", "lemma", "upos", "xpos", "deprel")


def is_conllu(tokens: TokenColumns) -> bool:
    """Whether columns are those of CoNLL-U: ten between tabs, first a number of a token, a range or an empty node, later a head."""
    if not tokens.tabs or len(tokens.codes) != len(COLUMNS) or not tokens.first:
        return False
    heads = tokens.values[COLUMNS.index("head")]
    return all(map(ID.fullmatch, tokens.first)) and all(head == "_" or head.isdecimal() for head in heads)


def tag_column(column: str | int | None) -> str:
    """The name of a column of tags, given by its name or its number from 1; None is UPOS.

    >>> tag_column(None), tag_column("XPOS"), tag_column(5)
    ('upos', 'xpos', 'xpos')
    """
    text = "upos" if column is None else str(column).lower()
    number = int(text) if text.isdecimal() and len(text) < 3 else 0
    name = COLUMNS[number - 1] if 0 < number <= len(COLUMNS) else text
    if name not in TAGS:
        numbered = ", ".join(f"{name} ({COLUMNS.index(name) + 1})" for name in TAGS)
        raise InputError(f"the column of the tags is {column!r}, expected a column of CoNLL-U: {numbered}")
    return name


def with_tags(tokens: TokenColumns, kept: np.ndarray, tags: Iterable[str], column: str) -> bytes:
    """The text of CoNLL-U with these tags of the tokens that are `kept` in a column, and nothing else changed."""
    at, pieces, text = 0, list[bytes](), tokens.text
    for end, tag in zip(tokens.ends[kept].tolist(), tags, strict=True):
        start = text.rfind(b"\n", 0, end) + 1
        cells = text[start:end].split(b"\t")
        cells[COLUMNS.index(column)] = tag.encode()
        pieces += [text[at:start], b"\t".join(cells)]
        at = end
    written = b"".join([*pieces, text[at:]])
    return written if tokens.encoding == "utf-8" else written.decode().encode(tokens.encoding)


def sentences(lines: Iterable[str], source: str, label: str = "deprel") -> Iterator[tuple[int, dict[str, str], Nodes]]:
    """The line each sentence begins on, its comments ``# name = value``, and its tree, labelled with the column `label`.

    Children are in the order of the sentence. If a sentence has several heads, they get a common root ``ROOT``.
    Ranges of tokens (``1-2``) and empty nodes (``1.1``) are left out.

    >>> text = ["# label = yes", "1\\the\\t_\\t_\\t_\\t_\\t2\\tnsubj\\t_\\t_", "2\\tsat\\t_\\t_\\t_\\t_\\t0\\troot\\t_\\t_"]
    >>> list(sentences(text, "cats.conllu"))
    [(1, {'label': 'yes'}, (['nsubj', 'root'], [1, -1]))]
    """
    if label not in LABELS:
        raise InputError(f"label is {label!r}, expected one of {', '.join(LABELS)}")
    begun, comments, rows = 0, dict[str, str](), list[tuple[int, list[str]]]()
    for number, line in enumerate(chain(lines, [""]), 1):
        line = line.strip("\r\n")
        begun = begun or number
        if line.startswith("#"):
            name, _, value = line[1:].partition("=")
            comments[name.strip()] = value.strip()
        elif line.strip():
            cells = line.split("\t")
            if len(cells) != len(COLUMNS):
                found = f"{len(cells)} column{'s' * (len(cells) != 1)}"
                raise InputError(f"{source}, line {number}: found {found}, expected the ten of CoNLL-U, between tabs")
            if cells[0].isdecimal():
                rows.append((number, cells))
        else:
            if rows:
                yield begun, comments, _tree(rows, source, COLUMNS.index(label))
            begun, comments, rows = 0, {}, []


def _tree(rows: list[tuple[int, list[str]]], source: str, column: int) -> Nodes:
    places = {cells[0]: place for place, (_, cells) in enumerate(rows)}
    parents = list[int]()
    for number, cells in rows:
        head = cells[COLUMNS.index("head")]
        if head != "0" and head not in places:
            raise InputError(f"{source}, line {number}: the head is {head!r}, expected 0 or the number of a token")
        parents.append(-1 if head == "0" else places[head])
    done = [False] * len(rows)
    for start in range(len(rows)):  # every token must lead to the root; those that were checked are not visited again
        path, v = list[int](), start
        while v != -1 and not done[v]:
            done[v] = True
            path.append(v)
            v = parents[v]
        if v in path:
            raise InputError(f"{source}, line {rows[v][0]}: the heads lead in a circle, expected them to lead to 0")
    labels = [cells[column] for _, cells in rows]
    if parents.count(-1) == 1:
        return labels, parents
    return [*labels, "ROOT"], [*(len(rows) if parent == -1 else parent for parent in parents), -1]
