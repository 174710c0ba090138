"""Files of trees: brackets with or without a label before them, CoNLL-U, Newick, and XML documents in folders."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TypeVar

from . import brackets, conllu, newick, svmlight_tk
from .blocks import Limits, runs, split_head, whole_lines
from .documents import html_tree, xml_tree
from .errors import InputError
from .examples import Examples, Request
from .fields import Found, choose
from .open import COMPRESSED
from .packed_trees import Nodes, PackedTrees, pack

T = TypeVar("T")

NOT_USED = {"newick": "lengths of branches", "xml": "attributes and text"}  # of what files may hold
TITLES = {"trees": "trees in brackets", "conllu": "CoNLL-U", "newick": "Newick", "xml": "XML documents"}
SUFFIXES = {
    "trees": (".mrg", ".ptb", ".brackets", ".trees"),
    "conllu": (".conllu",),
    "newick": (".newick", ".nwk"),
    "xml": (".xml",),
}
LABEL_FIRST = dict.fromkeys(("trees", "newick"), "label first on its line") | {"xml": "label = name of the folder"}
DOCUMENTS = (".xml", ".html", ".htm")
NODE = re.compile(r"\(\s*[^()\s]|^\(\s*\(")


def looks_like_tree(line: str) -> bool:
    """Returns whether a line holds a tree of two brackets at least, alone or after a label and a tab, or between |BT| and |ET|.

    >>> [looks_like_tree(line) for line in ("1\\t(S (NP he))", "(S (NP) (VP))", "1 |BT| (S) |ET|", "(yes)", "(a (b)) (c)")]
    [True, True, True, False, False]
    """
    if _is_marked(line):
        return True
    cells = line.strip().split("\t")
    tree, depth = cells[-1].strip(), 0
    if len(cells) > 2 or tree.count("(") < 2 or len(NODE.findall(tree)) < tree.count("("):
        return False
    for place, c in enumerate(tree):
        depth += (c == "(") - (c == ")")
        if depth <= 0:
            return depth == 0 and place == len(tree) - 1
    return False


def _is_marked(line: str) -> bool:
    return "|ET|" in line and svmlight_tk.MARK.search(line) is not None


def guess_content(line: str, text: str | None) -> str | None:
    """The format of a file with this first line; None if it does not hold trees, or the user named a field of texts."""
    return "trees" if (text is None and looks_like_tree(line)) or _is_marked(line) else None


def blocks(stream: Iterator[str], request: Request, limits: Limits | None) -> Iterator[Examples]:
    """The trees of a file, and their labels."""
    if request.format == "conllu":
        return _conllu(stream, request, limits)
    if request.format == "xml":
        return _document(stream, request)
    head, lines = split_head(whole_lines(stream))
    if request.format == "newick":
        return _newick(head[-1], lines, request, limits)
    if svmlight_tk.MARK.search(head[-1]):
        return svmlight_tk.blocks(lines, request, limits)
    return _brackets(head[-1], lines, request, limits)


def _blocks(
    rows: Iterable[tuple[int, object, T]],
    names: list[str],
    text: str,
    packed: Callable[[list[T], Callable[[int], str]], PackedTrees],
    size: Callable[[T], int],
    request: Request,
    limits: Limits | None,
) -> Iterator[Examples]:
    """The trees of rows: the line, what was found for the label, and the tree, of which `packed` makes flat arrays."""
    for run in runs(rows, limits, lambda row: size(row[2]), f"{request.source}: holds no tree, expected at least one"):
        found, trees = Found(), list[T]()
        for line, label, tree in run:
            found.append((line, label))
            trees.append(tree)
        yield _examples(packed(trees, _lines(found, request.source)), found, names, text, request)


def _examples(trees: PackedTrees, found: Found, names: list[str], text: str, request: Request) -> Examples:
    """The trees of a file with the fields `names`, one of which, `text`, holds the trees."""
    fields = choose(names, text, request.label_among(names), request.labelled, request.source)
    label = LABEL_FIRST.get(request.format, "") if fields.label == "label" else ""
    title, facts = TITLES[request.format] + request.how, [f"{len(trees.labels):,} nodes"]
    if request.format in NOT_USED:
        facts.append(f"not used: {NOT_USED[request.format]}")
    return request.examples(trees, found, fields, title, facts, label, names)


def _document(stream: Iterator[str], request: Request) -> Iterator[Examples]:
    whole, source = "".join(stream), request.source
    if not whole.lstrip().startswith("<"):
        raise InputError(f"{source}: found {whole.strip()[:40]!r}, expected XML, which begins with '<'")
    yield _examples(pack([xml_tree(whole, place=source)]), [(1, None)], ["text"], "text", request)


def without_root(trees: PackedTrees) -> tuple[list[str], PackedTrees]:
    """The labels of the roots, and the trees with the label ROOT there instead, so that they do not tell their class.

    >>> labels, trees = without_root(brackets.parse(["(3 (2 fine))"]))
    >>> labels, trees.alphabet
    (['3'], ['2', 'ROOT', 'fine'])
    """
    roots = trees.offsets[:-1]
    labels = [trees.alphabet[code] for code in trees.labels[roots].tolist()]
    codes = trees.labels.copy()
    codes[roots] = len(trees.alphabet)
    return labels, trees.renamed(codes, [*trees.alphabet, "ROOT"])


def documents(folder: str | os.PathLike[str]) -> list[Path]:
    """The XML and HTML documents in a folder and those inside it."""
    files = (file for file in Path(folder).rglob("*") if file.is_file())
    return sorted(file for file in files if COMPRESSED.sub("", file.name.lower()).endswith(DOCUMENTS))


def document_blocks(folder: str | os.PathLike[str], request: Request, limits: Limits | None) -> Iterator[Examples]:
    """The documents of a folder; those in folders inside it have the name of that folder as label."""
    root, files = Path(folder), documents(folder)
    inside = {len(file.relative_to(root).parts) > 1 for file in files}
    if len(inside) > 1:
        first = next(file for file in files if file.parent == root)
        raise InputError(f"{first}: is next to folders, expected every document in a folder with its label as name")
    labelled = inside.pop()
    read = ((file, xml_tree if ".xml" in file.name.lower() else html_tree) for file in files)
    rows = ((file.relative_to(root), tree_of(file)) for file, tree_of in read)
    for run in runs(rows, limits, lambda row: _tree_size(row[1])):
        names, trees = zip(*run, strict=True)
        found: Found = [(1, name.parts[0] if labelled else None) for name in names]
        examples = _examples(pack(trees), found, ["label", "text"] if labelled else ["text"], "text", request)
        yield replace(examples, ids=[name.as_posix() for name in names], lines=())


def _brackets(first: str, lines: Iterator[str], request: Request, limits: Limits | None) -> Iterator[Examples]:
    rows: Iterable[tuple[int, object, str]]
    if "(" in first and "\t" not in first[: first.index("(")]:
        rows, names = ((line, None, tree) for line, tree in brackets.split_lines(lines)), ["text"]
    else:
        rows = ((line, label.strip(), tree) for line, label, tree in _labelled(lines, request.source))
        names = ["label", "text"]

    return _blocks(rows, names, "text", lambda trees, place: brackets.parse(trees, place=place), len, request, limits)


def _labelled(lines: Iterable[str], source: str) -> Iterator[tuple[int, str, str]]:
    """The number, the label and the tree of each line."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            label, tab, tree = line.removesuffix("\n").partition("\t")
            if not tab:
                found = line.removesuffix("\n")[:40]
                raise InputError(f"{source}, line {number}: found {found!r}, expected a label, a tab and a tree")
            yield number, label, tree


def _lines(found: Found, source: str) -> Callable[[int], str]:
    return lambda i: f"{source}, the tree on line {found[i][0]}"


def _tree_size(tree: Nodes) -> int:
    return 8 * len(tree[0])


def _newick(first: str, lines: Iterator[str], request: Request, limits: Limits | None) -> Iterator[Examples]:
    rows: Iterable[tuple[int, object, Nodes]]
    if "\t" not in first.partition("(")[0]:
        rows, names = ((at, None, tree) for at, tree in newick.newick_trees(lines, request.source)), ["text"]
    else:
        rows, names = _labelled_newick(lines, request.source), ["label", "text"]
    return _blocks(rows, names, "text", lambda trees, _: pack(trees), _tree_size, request, limits)


def _labelled_newick(lines: Iterable[str], source: str) -> Iterator[tuple[int, object, Nodes]]:
    for number, label, text in _labelled(lines, source):
        own = [tree for _, tree in newick.newick_trees(text, source, number, len(label) + 2)]
        if len(own) != 1:
            raise InputError(f"{source}, line {number}: found {len(own)} trees, expected a label, a tab and one tree")
        yield number, label.strip(), own[0]


def _conllu(lines: Iterable[str], request: Request, limits: Limits | None) -> Iterator[Examples]:
    source, text, label = request.source, request.text, request.label
    column = text if text in conllu.LABELS else "deprel"
    if text is not None and text != column:
        raise InputError(
            f"{source}: --text is {text!r}, expected the column for the labels of nodes: {', '.join(conllu.LABELS)}"
        )
    rows = conllu.sentences(lines, source, column)
    first = next(rows, None)
    if first is None:
        raise InputError(f"{source}: found no sentence, expected one at least")
    name = (label or "label").partition("=")[0].strip()
    found = ((line, comments.get(name), tree) for line, comments, tree in chain([first], rows))
    return _blocks(found, [*first[1], column], column, pack, _tree_size, request, limits)
