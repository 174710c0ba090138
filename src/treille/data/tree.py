"""One tree: its nodes, its brackets and its drawing; and trees of Python objects."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from treille.drawing.tidy_tree import draw_tree
from treille.io.errors import InputError
from treille.io.packed_trees import pack


class Tree(NamedTuple):
    """One tree: the labels of its nodes and the parent of each, -1 for the root. As a str, it is in brackets.

    >>> tree = Tree(["S", "NP", "he", "VP", "V", "PP"], [-1, 0, 1, 0, 3, 3])
    >>> str(tree)
    '(S (NP he) (VP (V) (PP)))'
    """

    labels: Sequence[str]
    parents: Sequence[int]

    def __str__(self) -> str:
        return spell(self.labels, self.parents)

    def _repr_svg_(self) -> str:
        tree = pack([self])  # in preorder
        return draw_tree([tree.alphabet[label] for label in tree.labels], tree.parents.tolist(), alone=True)


def nested_tree(item: Any, i: int) -> Tree:
    """One tree; `i` is its position in messages.

    >>> nested_tree(("S", ("NP", "he"), ("VP",)), 0)
    Tree(labels=['S', 'NP', 'he', 'VP'], parents=[-1, 0, 1, 0])
    """
    if isinstance(item, Tree):
        return item
    labels, parents = list[str](), list[int]()
    waiting: list[tuple[Any, int]] = [(item, -1)]
    while waiting:
        node, parent = waiting.pop()
        children: tuple[Any, ...] = ()
        if isinstance(node, str) and parent >= 0:
            label = node
        elif is_nltk(node):
            label, children = node.label(), tuple(node)
        elif isinstance(node, (tuple, list)) and len(node) > 0:
            label, children = node[0], tuple(node[1:])
        else:
            empty = isinstance(node, (tuple, list))
            found = "an empty tree" if empty else f"{type(node).__name__} ({str(node)[:40]!r})"
            raise InputError(f'item {i}: found {found}, expected a label and children, such as ("S", ("NP",), ("VP",))')
        labels.append(label)
        parents.append(parent)
        waiting += [(child, len(labels) - 1) for child in reversed(children)]
    return Tree(labels, parents)


def is_nltk(item: Any) -> bool:
    """Returns whether this is a tree of NLTK, a list with a method ``label``."""
    return isinstance(item, list) and callable(getattr(item, "label", None))


def spell(labels: Sequence[str], parents: Sequence[int]) -> str:
    """A tree in brackets. An only child that is a leaf is written as a word: ``(NN vine)``.

    Brackets in a label are written ``-LRB-`` and ``-RRB-`` as in the Penn Treebank, blanks ``_``, no label ``_``.

    >>> spell(["f", "(", "x y"], [-1, 0, 0])
    '(f (-LRB-) (x_y))'
    """
    children: list[list[int]] = [[] for _ in labels]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    parts, waiting = list[str](), [(parents.index(-1), False)]
    while waiting:
        node, is_word = waiting.pop()
        if node < 0:
            parts.append(")")
            continue
        shown = labels[node] if labels[node].isalnum() else _shown(labels[node])
        parts.append(f" {shown}" if is_word else f" ({shown}")
        if not is_word:
            below = children[node]
            waiting.append((-1, False))
            waiting += [(child, len(below) == 1 and not children[child]) for child in reversed(below)]
    return "".join(parts)[1:]


def _shown(label: str) -> str:
    plain = label.replace("(", "-LRB-").replace(")", "-RRB-")
    return "_".join(plain.split()) if plain.split() else "_"
