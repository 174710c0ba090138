"""SVM-light text: `label id:value id:value ... # comment`, a line for each example. `qid` is not used."""

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import scipy.sparse as sp

from .blocks import Limits, runs, split_head
from .errors import InputError
from .examples import Examples, Request
from .fields import Found, choose
from .packed import NumberRows
from .parameters import to_float

TITLES = {"svmlight": "SVM-light"}
SUFFIXES = {"svmlight": (".svmlight", ".libsvm", ".svm")}
NUMBER = r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?"  # each text in one way: no backtracking
LINE = re.compile(rf"\s*{NUMBER}(\s+qid:\d+)?(\s+\d+:{NUMBER})+\s*(#.*)?$")


def guess_content(line: str, text: str | None) -> str | None:
    """The format of a file with this first line; None if it is another one.

    >>> guess_content("+1 3:0.5 7:1 # a vine", None), guess_content("1 vine", None)
    ('svmlight', None)
    """
    return "svmlight" if LINE.match(line) else None


def blocks(stream: Iterator[str], request: Request, limits: Limits | None) -> Iterator[Examples]:
    """The rows of a file, and their labels."""
    source, (head, stream) = request.source, split_head(stream)
    fields = choose(["label", "text"], request.text, request.label, request.labelled, f"{source}, line {len(head)}")
    missing = f"{source}: found comments and no example after them, expected at least one"
    lines = ((number, line) for number, line in enumerate(stream, 1) if line.partition("#")[0].strip())
    for run in runs(lines, limits, lambda line: len(line[1]), missing):
        numbers, found = rows(run, source)
        title, facts = TITLES["svmlight"] + request.how, [numbers.width]
        yield request.examples(numbers, found, fields, title, facts, "label first on its line")


def rows(lines: Iterable[tuple[int, str]], source: str) -> tuple[NumberRows, Found]:
    """The rows of numbered lines, columns named by their ids, and the label of each with its line. Ids may be in any order.

    >>> numbers, labels = rows([(1, "+1 3:0.5 1:2 # a vine\\n"), (2, "-1 qid:2 3:1\\n")], "vines.svm")
    >>> numbers.names, numbers.matrix.toarray().tolist(), labels
    (['1', '3'], [[2.0, 0.5], [0.0, 1.0]], [(1, 1), (2, -1)])
    """
    ids, values, ends, found = array("q"), array("d"), array("q", [0]), Found()
    for number, line in lines:
        entries = line.partition("#")[0].split()
        place = f"{source}, line {number}"
        found.append((number, _label(entries[0], place)))
        first = 2 if len(entries) > 1 and entries[1].startswith("qid:") else 1
        for entry in entries[first:]:
            id, value = _entry(entry, place)
            ids.append(id)
            values.append(value)
        row = ids[ends[-1] :]
        if len(set(row)) < len(row):
            twice = next(id for id, n in Counter(row).items() if n > 1)
            raise InputError(f"{place}: the id {twice} occurs twice, expected each once: leave one out, or add them")
        ends.append(len(ids))
    known, columns = np.unique(np.array(ids, dtype=np.int64), return_inverse=True)
    matrix = sp.csr_matrix((np.array(values), columns, np.array(ends)), shape=(len(ends) - 1, len(known)))
    matrix.sort_indices()
    return NumberRows(matrix, [str(id) for id in known.tolist()]), found


def _label(text: str, place: str) -> int | float:
    """`+1`, `1` and `1.0` are one label."""
    if ":" in text:
        raise InputError(f"{place}: found {text[:40]!r}, expected a label first: a number, 0 where there is none")
    value = to_float(text)
    if not math.isfinite(value):
        raise InputError(f"{place}: the label is {text[:40]!r}, expected a number")
    return int(value) if value.is_integer() else value


def _entry(text: str, place: str) -> tuple[int, float]:
    id, _, value = text.partition(":")
    try:
        number = float(value)
        if id.isdecimal() and int(id) < 2**63 and math.isfinite(number):
            return int(id), number
    except ValueError:
        pass
    raise InputError(f"{place}: found {text[:40]!r}, expected id:value, a whole number and a finite one, such as 7:0.5")
