"""CRFsuite items: `label TAB feature TAB feature:weight ...`, a token on each line, and a blank line after each sentence.

A colon in a name is written `\\:`, a backslash `\\\\`. A feature without a weight has the weight 1; one that a line has
twice counts once.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from treille import _core

from .blocks import Limits, runs, whole_lines
from .conll import Source, check_text, reader, refuse_bytes
from .errors import InputError
from .examples import Examples, Request
from .fields import choose
from .packed import NumberRows

TITLES = {"crfsuite": "CRFsuite items"}
SUFFIXES = {"crfsuite": (".crfsuite",)}
END_OF_SENTENCE = re.compile(rb"\n[ \t\r]*\n")


@dataclass(frozen=True, repr=False)
class TokenItems:
    """Tokens with labels and features: token i has ``names[items[k]]``, k from ``item_offsets[i]`` to ``item_offsets[i + 1]``."""

    labels: np.ndarray
    label_names: list[str]
    items: np.ndarray
    weights: np.ndarray
    item_offsets: np.ndarray
    names: list[str]
    offsets: np.ndarray  # of the sentences
    lines: np.ndarray
    source: str


def guess_content(line: str, text: str | None) -> str | None:
    """None: such a file is recognised only by its name."""
    return None


def blocks(stream: Iterator[str], request: Request, limits: Limits | None) -> Iterator[Examples]:
    """The tokens of a file as rows of numbers, and their labels."""
    line, none = 1, True
    for run in runs(whole_lines(stream), limits, len):
        lines = list(run)
        tokens = _items("".join(lines).encode(), request.source, line)
        line += len(lines)
        if len(tokens.labels):
            none = False
            yield _examples(tokens, request)
    if none:
        raise InputError(f"{request.source}: holds no token, expected a label and features on each line")


def _examples(tokens: TokenItems, request: Request) -> Examples:
    fields = choose(["label", "text"], request.text, request.label, request.labelled, request.source)
    labels = [tokens.label_names[code] for code in tokens.labels.tolist()]
    matrix = sp.csr_matrix((tokens.weights, tokens.items, tokens.item_offsets), (len(labels), len(tokens.names)))
    matrix.sort_indices()
    found = list(zip(tokens.lines.tolist(), labels, strict=True))
    rows, title = NumberRows(matrix, tokens.names), TITLES["crfsuite"] + request.how
    return request.examples(rows, found, fields, title, [rows.width], "label first on its line")


def read_items(source: Source, encoding: str = "utf-8") -> TokenItems:
    """All tokens of a file."""
    read, name = reader(source, encoding)
    return _items(read(-1), name)


def stream_items(source: Source, encoding: str, block: int) -> Iterator[TokenItems]:
    """The tokens of a file or stream in parts of whole sentences, of about `block` bytes each, or as they arrive in a pipe."""
    read, name = reader(source, encoding)
    text, line, end = b"", 1, False
    while not end:
        new = read(max(block, len(text)))
        text, end = text + new, not new
        cut = len(text) if end else max((found.end() for found in END_OF_SENTENCE.finditer(text)), default=0)
        if cut:
            yield _items(text[:cut], name, line)
            text, line = text[cut:], line + text.count(b"\n", 0, cut)


def _items(text: bytes, name: str, first: int = 1) -> TokenItems:
    """The tokens of a text that begins on the line `first` of its file."""
    parsed = _core.parse_items(text.removeprefix(codecs.BOM_UTF8), first, True)
    line, _, field = parsed.fault
    if line:
        raise InputError(
            f"{name}, line {line}: the weight in {field[:40].decode(errors='replace')!r} is not a finite number, expected"
            " feature:weight; a colon inside a name is written \\:"
        )
    labels, lines, items, ends = parsed.codes[0], parsed.lines, parsed.items, parsed.item_offsets
    check_text(labels, parsed.values[0], parsed.n_values[0], lines, name)
    names = parsed.item_names
    if len(names) < parsed.n_item_names:
        at = int(np.flatnonzero(items == len(names))[0])
        refuse_bytes(lines[np.searchsorted(ends, at, side="right") - 1], name)
    return TokenItems(labels, parsed.values[0], items, parsed.weights, ends, names, parsed.offsets, lines, name)
