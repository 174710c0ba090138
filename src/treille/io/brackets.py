"""Trees in brackets: ``(S (NP he) (VP (V sat)))``, as in the Penn Treebank, SVM-light-TK and KeLP."""

from collections.abc import Callable, Iterable, Iterator

from treille import _core

from .blocks import next_lines
from .errors import InputError
from .packed_trees import PackedTrees

ADVICE = "; write a bracket inside a label as -LRB- or -RRB-"


def parse(texts: list[str], threads: int = 1, place: Callable[[int], str] = "item {}".format) -> PackedTrees:
    """One tree per text; `place(i)` names text i in messages.

    >>> parse(["(S (NP he))"]).alphabet
    ['NP', 'S', 'he']
    >>> parse(["(S)", "(S) (NP he)"])
    Traceback (most recent call last):
    treille.io.errors.InputError: item 1, column 5: a second tree begins here, expected one a line
    """
    labels, parents, offsets, alphabet, fault = _core.read_brackets(_encodable(texts, place), threads)
    if fault is not None:
        item, byte, message = fault
        before = texts[item].encode()[:byte].decode()
        line, column = before.count("\n"), len(before) - (before.rfind("\n") + 1) + 1
        where = f"{place(item)}, line {line + 1} of it, column {column}" if line else f"{place(item)}, column {column}"
        raise InputError(f"{where}: {message}{ADVICE * ('bracket' in message or 'without' in message)}")
    return PackedTrees(labels, parents, offsets, alphabet)


def split_lines(lines: Iterable[str], size: int = 1 << 16) -> Iterator[tuple[int, str]]:
    """The trees of a text, given as its lines, with the line each begins on; about `size` characters are read at a time.

    A tree may span several lines, and the next begins on a new line.

    >>> list(split_lines(["( (S\\n", "  (NP he)) )\\n", "\\n", "(S)\\n"]))
    [(1, '( (S\\n  (NP he)) )'), (4, '(S)')]
    """
    rest, line, unread = b"", 1, iter(lines)
    while True:
        new = next_lines(unread, max(size, len(rest)))
        encoded, at = rest + _encodable([new], "the text, tree {}".format)[0].encode(), 0
        ends = _core.find_brackets(encoded).tolist()
        spans = list(zip(ends[::2], ends[1::2], strict=True))
        for begin, end in spans[:-1] if new else spans:  # the last one may continue
            line += encoded.count(b"\n", at, begin)
            yield line, encoded[begin:end].decode()
            line, at = line + encoded.count(b"\n", begin, end), end
        if not new:
            return
        begin = spans[-1][0] if spans else len(encoded)
        rest, line = encoded[begin:], line + encoded.count(b"\n", at, begin)


def _encodable(texts: Iterable[str], place: Callable[[int], str]) -> list[str]:
    checked = list(texts)
    for i, text in enumerate(checked):
        if not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                raise InputError(f"{place(i)}, column {error.start + 1}: a lone surrogate, expected UTF-8") from None
    return checked
