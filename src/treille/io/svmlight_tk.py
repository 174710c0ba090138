"""Lines of SVM-light-TK and KeLP: a label, then trees, vectors and texts between marks; several of them are columns.

SVM-light-TK: `1 |BT| (tree) |BT| (tree) |ET| 1:0.5 7:1 |BV| 3:1 |EV|`. KeLP names them and has dense vectors and texts:
`yes |BT:grct| (tree) |ET| |BV:bow| vine:1 |EV| |BDV:w2v| 0.1,0.2 |EDV| |BS:comment| a text |ES|`.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import brackets
from .blocks import Limits, runs
from .errors import InputError
from .examples import Examples, Request
from .fields import Found, choose
from .packed import NumberRows, PackedColumns
from .packed_trees import PackedTrees
from .parameters import to_float

MARK = re.compile(r"\|(BT|ET|BV|EV|BDV|EDV|BS|ES)(?::([^|]*))?\|")
BEGINS = {"BT": "tree", "BV": "vector", "BDV": "vector", "BS": "string"}
Segment = tuple[str, str, str]  # the mark, the name or "", and the content


def split(line: str, place: str) -> tuple[str, list[Segment]]:
    """The label of a line, and its segments, at least one of which is a tree.

    >>> split("1 |BT| (S (NP)) |ET| 1:0.5 |EV|", "line 1")
    ('1', [('BT', '', '(S (NP))'), ('BV', '', '1:0.5')])
    """
    marks = list(MARK.finditer(line))
    ends = [mark.start() for mark in marks[1:]] + [len(line)]
    segments = list[Segment]()
    for mark, end in zip(marks, ends, strict=False):  # without a mark there is no segment
        content = line[mark.end() : end].strip()
        if mark[1] in BEGINS:
            segments.append((mark[1], mark[2] or "", content))
        elif content and not content.startswith("#"):
            if mark[1] != "ET":
                raise InputError(f"{place}: found {content[:40]!r} after |{mark[1]}|, expected a mark such as |BT|")
            segments.append(("BV", "", content.partition(" #")[0]))
    if not any(mark == "BT" for mark, _, _ in segments):
        raise InputError(f"{place}: found {line[:40]!r}, expected a label and a tree between |BT| and |ET|")
    return line[: marks[0].start()].strip(), segments


def trees(line: str, place: str) -> dict[str, str]:
    """The trees of a line by name; one without a name is called `tree`.

    >>> trees("1 |BT:a| (S) |BT| (T) |ET| 1:0.5 |EV|", "line 1")
    {'a': '(S)', 'tree': '(T)'}
    """
    found: dict[str, str] = {}
    for mark, name, content in split(line, place)[1]:
        if mark == "BT" and found.setdefault(name or "tree", content) is not content:
            raise InputError(
                f"{place}: there are two trees called {name or 'tree'!r}, expected one a line; treille.io.read makes columns"
            )
    return found


@dataclass(frozen=True)
class Layout:
    """The columns of a file: the kind of each, and of which kinds a line has several without a name."""

    kinds: dict[str, str]
    several: frozenset[str]


Row = tuple[int, str, list[Segment]]  # the line, the label and the segments


def blocks(lines: Iterator[str], request: Request, limits: Limits | None) -> Iterator[Examples]:
    """The examples of a file: the trees if there is one per line and nothing else, or if `text` names them; otherwise columns.

    Which columns there are is decided on the first block.
    """
    layout, source = None, request.source
    numbered = ((n, line.removesuffix("\n")) for n, line in enumerate(lines, 1) if line.strip())
    rows = ((n, *split(line, f"{source}, line {n}")) for n, line in numbered)
    for run in runs(rows, limits, lambda row: sum(len(content) for _, _, content in row[2])):
        some = list(run)
        if layout is None:
            layout = _layout(some)
            names = _chosen(layout, request)
            fields = ["label", *layout.kinds] if any(label for _, label, _ in some) else list(layout.kinds)
        yield _examples(some, layout, names, fields, request)


def _chosen(layout: Layout, request: Request) -> list[str]:
    names = list(request.columns) or ([request.text] if request.text is not None else list(layout.kinds))
    for name in names:
        if name not in layout.kinds:
            raise InputError(f"{request.source}: there is no column {name!r}; there are: {', '.join(layout.kinds)}")
    return names


def _examples(rows: list[Row], layout: Layout, names: list[str], fields: list[str], request: Request) -> Examples:
    source = request.source
    found: Found = [(number, label or None) for number, label, _ in rows]
    contents = _columns(rows, layout, source)
    columns = {name: _parsed(name, contents[name], layout.kinds[name], found, source) for name in names}
    X = columns[names[0]] if len(names) == 1 and not request.columns else PackedColumns(columns)
    chosen = choose(fields, names[0], request.label, request.labelled, source)
    title, facts = "trees in brackets", [_size(X)]
    if isinstance(X, PackedColumns):
        title, facts = "columns of SVM-light-TK", [f"{name} = {_size(column)}" for name, column in columns.items()]
    first = "label first on its line" if chosen.label == "label" else ""
    return request.examples(X, found, chosen, title + request.how, facts, first, fields)


def _layout(rows: list[Row]) -> Layout:
    most = Counter[str]()
    for _, _, segments in rows:
        most |= Counter(BEGINS[mark] for mark, name, _ in segments if not name)
    layout = Layout({}, frozenset(kind for kind, n in most.items() if n > 1))
    for _, _, segments in rows:
        for own, (mark, _, _) in _named(segments, layout):
            layout.kinds.setdefault(own, BEGINS[mark])
    return layout


def _named(segments: list[Segment], layout: Layout) -> Iterator[tuple[str, Segment]]:
    """The column of each segment. Those without a name are numbered if a line has several: tree1, tree2."""
    seen = Counter[str]()
    for segment in segments:
        kind = BEGINS[segment[0]]
        seen[kind] += not segment[1]
        number = f"{seen[kind]}" if kind in layout.several or seen[kind] > 1 else ""
        yield segment[1] or f"{kind}{number}", segment


def _columns(rows: list[Row], layout: Layout, source: str) -> dict[str, list[Segment | None]]:
    """The cells of each column."""
    columns: dict[str, list[Segment | None]] = {name: [None] * len(rows) for name in layout.kinds}
    for i, (line, _, segments) in enumerate(rows):
        for own, segment in _named(segments, layout):
            if own not in columns:
                raise InputError(
                    f"{source}, line {line}: there is {own!r}, and no such column on the first lines, which have "
                    f"{', '.join(columns)}: expected the same columns on every line"
                )
            columns[own][i] = segment
    return columns


def _parsed(name: str, segments: list[Segment | None], kind: str, found: Found, source: str) -> Any:
    """A column as trees, rows of numbers or texts."""
    kinds = {kind, *(BEGINS[segment[0]] for segment in segments if segment is not None)}
    for (number, _), segment in zip(found, segments, strict=True):
        if len(kinds) > 1 or (segment is None and kinds != {"vector"}):
            what = (
                f"there is no {name!r} here, but on other lines" if segment is None else f"{name!r} is of several kinds"
            )
            raise InputError(f"{source}, line {number}: {what}, expected the same columns on every line")
    texts = [segment[2] if segment is not None else "" for segment in segments]
    if kinds == {"tree"}:
        return brackets.parse(texts, place=lambda i: f"{source}, the tree on line {found[i][0]}")
    return _numbers(segments, found, source) if kinds == {"vector"} else texts


def _numbers(segments: list[Segment | None], found: Found, source: str) -> NumberRows:
    """Rows of numbers; a missing vector is zero."""
    codes, columns, values, ends = dict[str, int](), list[int](), list[float](), [0]
    for (number, _), segment in zip(found, segments, strict=True):
        entries = segment[2].replace(",", " ").split() if segment is not None else []
        if segment is not None and segment[0] == "BDV":
            entries = [f"{i}:{value}" for i, value in enumerate(entries, 1)]
        for entry in entries:
            id, _, value = entry.rpartition(":")
            if not id or not math.isfinite(to_float(value)):
                raise InputError(f"{source}, line {number}: found {entry[:40]!r}, expected id:value such as 7:0.5")
            columns.append(codes.setdefault(id, len(codes)))
            values.append(float(value))
        ends.append(len(values))
    names = sorted(codes, key=lambda id: (len(id), id) if id.isdecimal() else (0, id))
    places = np.empty(len(codes), np.int64)
    places[[codes[name] for name in names]] = np.arange(len(codes))
    arrays = (np.array(values), places[np.array(columns, np.int64)], np.array(ends))
    matrix = sp.csr_matrix(arrays, shape=(len(segments), len(codes)))
    matrix.sum_duplicates()
    return NumberRows(matrix, names)


def _size(column: Any) -> str:
    if isinstance(column, PackedTrees):
        return f"{len(column.labels):,} nodes"
    return f"{column.width} of numbers" if isinstance(column, NumberRows) else "texts"
