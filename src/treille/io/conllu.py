"""CoNLL-U: dependency trees, one token per line in ten columns, a blank line after each sentence."""

from collections.abc import Iterable, Iterator
from itertools import chain

from .errors import InputError
from .packed_trees import Nodes

COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
LABELS = ("form", "lemma", "upos", "xpos", "deprel")


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
