"""Newick: phylogenetic trees, ``((A,B)C,D)E;``."""

import re
from collections.abc import Iterable, Iterator
from math import isnan

from .blocks import next_lines
from .errors import InputError
from .packed_trees import Nodes
from .parameters import to_float

UNNAMED = "*"
TOKEN = re.compile(r"\s+|\[[^\]]*\]|'(?:[^']|'')*'|[(),:;]|[^\s()\[\],:;']+")


def newick_trees(text: str | Iterable[str], source: str, line: int = 1, column: int = 1) -> Iterator[tuple[int, Nodes]]:
    """The trees of a text, and the line each begins on. Branch lengths are dropped; a node without a name is called ``*``.

    The text, or its lines, which are read as they are needed, begins at `line` and `column` of its file.

    >>> list(newick_trees("((A:0.1,B:0.2)C:0.3,'D e');", "item 0"))
    [(1, (['*', 'C', 'A', 'B', 'D e'], [-1, 0, 1, 1, 0]))]
    """
    reader, begun, first = _Reader(), 0, line
    unread = iter([text] if isinstance(text, str) else text)
    for part in unread:
        at = 0
        while at < len(part):
            match = TOKEN.match(part, at)
            if (
                not match and part[at] in "'[" and (more := next_lines(unread, len(part)))
            ):  # it may go over several lines
                part += more
                continue
            token = match[0] if match else part[at]
            if token.strip() and (token[0] != "[" or not match):
                begun = begun or line
                wrong = reader.take(token) if match else f"found {token!r} that is not closed"
                if wrong:
                    before = at - (part.rfind("\n", 0, at) + 1)
                    place = f"line {line}, column {before + (column if line == first else 1)}"
                    raise InputError(f"{source}, {place}: {wrong}")
                if token == ";":
                    yield begun, (reader.labels, reader.parents)
                    reader, begun = _Reader(), 0
            line, at = line + token.count("\n"), at + len(token)
    if begun:
        raise InputError(
            f"{source}, line {line}: the text ends, expected ';' after the tree that begins on line {begun}"
        )


class _Reader:
    """One tree, token by token."""

    def __init__(self) -> None:
        self.labels, self.parents = list[str](), list[int]()
        self.above, self.current = list[int](), -1
        self.may_open = self.may_name = True
        self.length = False

    def take(self, token: str) -> str | None:
        """The error in the token; None if there is none."""
        if self.current < 0:
            self._add(-1)
            if token in "),:;":
                return f"found {token!r}, expected a tree: '(' or a name"
        if self.length:
            self.length = False
            return f"found {token[:40]!r}, expected the length of a branch" if isnan(to_float(token)) else None
        if token == ":":
            self.length, self.may_open, self.may_name = True, False, False
        elif token == "(":
            if not self.may_open:
                return "found '(' after a name, expected ',', ')' or ';'"
            self.above.append(self.current)
            self._add(self.current)
        elif token == ",":
            if not self.above:
                return "found ',' outside of the brackets: a second root"
            self._add(self.above[-1])
        elif token == ")":
            if not self.above:
                return "')' without its '('"
            self.current, self.may_open, self.may_name = self.above.pop(), False, True
        elif token == ";":
            return f"the tree ends, but {len(self.above)} of its brackets are not closed" if self.above else None
        else:
            if not self.may_name:
                return f"found {token[:40]!r} after a name or a length, expected ',', ')' or ';'"
            self.labels[self.current] = token[1:-1].replace("''", "'") if token[0] == "'" else token
            self.may_open = self.may_name = False
        return None

    def _add(self, parent: int) -> None:
        self.labels.append(UNNAMED)
        self.parents.append(parent)
        self.current, self.may_open, self.may_name = len(self.labels) - 1, True, True
