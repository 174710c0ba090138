"""Files of trees: brackets with or without a label before them, CoNLL-U, Newick, and XML documents in folders."""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from . import brackets, conllu, marked, newick
from .errors import InputError
from .examples import Examples, Request, against_the_rest, counted, note
from .fields import choose
from .labels import Found, labels_of
from .open import COMPRESSED
from .tree_parts import Tree, TreeParts, pack
from .xml_trees import html_tree, xml_tree

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


@dataclass(frozen=True)
class TreeRows:
    """Trees of a file, what was found for the label of each, and the names of its fields."""

    trees: TreeParts
    found: Found
    fields: list[str]
    text: str  # the one the trees are of


def looks_like_tree(line: str) -> bool:
    """Whether a line holds a tree of two brackets at least, alone or after a label and a tab, or between |BT| and |ET|.

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
    return "|ET|" in line and marked.MARK.search(line) is not None


def guess_content(line: str, text: str | None) -> str | None:
    """The format of a file with this first line; None if it does not hold trees, or the user named a field of texts."""
    return "trees" if (text is None and looks_like_tree(line)) or _is_marked(line) else None


def read(stream: Iterator[str], request: Request) -> Examples:
    """The trees of a file, and their labels."""
    format, source, text = request.format, request.source, request.text
    if format == "conllu":
        return _examples(_conllu(stream, source, text, request.label), request)
    whole = "".join(stream)
    if format == "newick":
        return _examples(_newick(whole, source), request)
    if format == "trees":
        is_marked = marked.MARK.search(next(line for line in whole.split("\n") if line.strip()))
        return marked.read(whole, request) if is_marked else _examples(_brackets(whole, source), request)
    if not whole.lstrip().startswith("<"):
        raise InputError(f"{source}: found {whole.strip()[:40]!r}, expected XML, which begins with '<'")
    return _examples(TreeRows(pack([xml_tree(whole, place=source)]), [(1, None)], ["text"], "text"), request)


def _examples(rows: TreeRows, request: Request) -> Examples:
    format, source = request.format, request.source
    fields = choose(rows.fields, rows.text, request.label, request.labelled, source)
    labels = labels_of(rows.found, fields, source, request.skip_unlabelled)
    label = LABEL_FIRST[format] if format in LABEL_FIRST and fields.label == "label" else f"label = {fields.label}"
    label += against_the_rest(fields, labels or [])
    n, nodes = counted(len(rows.trees), "example"), [f"{len(rows.trees.labels):,} nodes"]
    understood_as = note(request, TITLES[format] + request.how, n, nodes, labels, label)
    return Examples(rows.trees, labels, format, source, understood_as, [line for line, _ in rows.found], rows.fields)


def without_root(trees: TreeParts) -> tuple[list[str], TreeParts]:
    """The labels of the roots, and the trees with the label ROOT there instead, so that they do not tell their class.

    >>> labels, trees = without_root(brackets.parse(["(3 (2 fine))"]))
    >>> labels, trees.alphabet
    (['3'], ['2', 'ROOT', 'fine'])
    """
    roots = trees.offsets[:-1]
    labels = [trees.alphabet[code] for code in trees.labels[roots].tolist()]
    codes = trees.labels.copy()
    codes[roots] = len(trees.alphabet)
    names = [*trees.alphabet, "ROOT"]
    used = np.unique(codes)
    alphabet = sorted({names[code] for code in used.tolist()})
    position, places = {name: i for i, name in enumerate(alphabet)}, np.zeros(len(names), np.int32)
    places[used] = [position[names[code]] for code in used.tolist()]
    return labels, TreeParts(places[codes], trees.parents, trees.offsets, alphabet)


def documents(folder: str | os.PathLike[str]) -> list[Path]:
    """The XML and HTML documents in a folder and those inside it."""
    files = (file for file in Path(folder).rglob("*") if file.is_file())
    return sorted(file for file in files if COMPRESSED.sub("", file.name.lower()).endswith(DOCUMENTS))


def read_documents(folder: str | os.PathLike[str], request: Request) -> Examples:
    """The documents of a folder; those in folders inside it have the name of that folder as label."""
    root, files = Path(folder), documents(folder)
    inside = {len(file.relative_to(root).parts) > 1 for file in files}
    if len(inside) > 1:
        first = next(file for file in files if file.parent == root)
        raise InputError(f"{first}: is next to folders, expected every document in a folder with its label as name")
    labelled = inside.pop()
    trees = [xml_tree(file) if ".xml" in file.name.lower() else html_tree(file) for file in files]
    found: Found = [(1, file.relative_to(root).parts[0] if labelled else None) for file in files]
    rows = TreeRows(pack(trees), found, ["label", "text"] if labelled else ["text"], "text")
    ids = [file.relative_to(root).as_posix() for file in files]
    return replace(_examples(rows, request), ids=ids, lines=())


def _brackets(whole: str, source: str) -> TreeRows:
    first = next(line for line in whole.split("\n") if line.strip())
    if "(" in first and "\t" not in first[: first.index("(")]:
        split = brackets.split(whole)
        found: Found = [(line, None) for line, _ in split]
        parts = brackets.parse([tree for _, tree in split], place=_lines(found, source))
        return TreeRows(parts, found, ["text"], "text")
    found, trees = [], []
    for number, line in enumerate(whole.split("\n"), 1):
        if line.strip():
            label, tab, tree = line.partition("\t")
            if not tab:
                raise InputError(f"{source}, line {number}: found {line[:40]!r}, expected a label, a tab and a tree")
            found.append((number, label.strip()))
            trees.append(tree)
    return TreeRows(brackets.parse(trees, place=_lines(found, source)), found, ["label", "text"], "text")


def _lines(found: Found, source: str) -> Callable[[int], str]:
    return lambda i: f"{source}, the tree on line {found[i][0]}"


def _newick(whole: str, source: str) -> TreeRows:
    first = next(line for line in whole.split("\n") if line.strip())
    if "\t" not in first.partition("(")[0]:
        rows = list(newick.newick_trees(whole, source))
        found: Found = [(line, None) for line, _ in rows]
        return TreeRows(pack(tree for _, tree in rows), found, ["text"], "text")
    found, trees = [], list[Tree]()
    for number, line in enumerate(whole.split("\n"), 1):
        if not line.strip():
            continue
        label, _, rest = line.partition("\t")
        own = [tree for _, tree in newick.newick_trees(rest, source, number, len(label) + 2)]
        if len(own) != 1:
            raise InputError(f"{source}, line {number}: found {len(own)} trees, expected a label, a tab and one tree")
        found.append((number, label.strip()))
        trees += own
    return TreeRows(pack(trees), found, ["label", "text"], "text")


def _conllu(lines: Iterable[str], source: str, text: str | None, label: str | None) -> TreeRows:
    column = text if text in conllu.LABELS else "deprel"
    if text is not None and text != column:
        raise InputError(
            f"{source}: --text is {text!r}, expected the column for the labels of nodes: {', '.join(conllu.LABELS)}"
        )
    rows = list(conllu.sentences(lines, source, column))
    if not rows:
        raise InputError(f"{source}: found no sentence, expected one at least")
    name = (label or "label").partition("=")[0].strip()
    found: Found = [(line, comments.get(name)) for line, comments, _ in rows]
    fields = [*rows[0][1], column]
    return TreeRows(pack((tree for _, _, tree in rows), _lines(found, source)), found, fields, column)
