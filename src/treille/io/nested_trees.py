"""Trees as Python objects: nested tuples or lists, a label and its children, and trees of NLTK."""

from typing import Any

from .errors import InputError
from .tree_parts import Tree


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
            raise InputError(
                f'item {i}: found {found}, expected a label and its children, such as ("S", ("NP",), ("VP",))'
            )
        labels.append(label)
        parents.append(parent)
        waiting += [(child, len(labels) - 1) for child in reversed(children)]
    return Tree(labels, parents)


def is_nltk(item: Any) -> bool:
    """Whether this is a tree of NLTK, a list with a method ``label``."""
    return isinstance(item, list) and callable(getattr(item, "label", None))
