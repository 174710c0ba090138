"""Python source as abstract syntax trees."""

import ast
import warnings
from typing import Any

from .errors import InputError
from .tree_parts import Nodes


def ast_tree(source: str, names: bool = False, place: str = "item 0") -> Nodes:
    """The syntax tree of Python source: labels are the names of its nodes' classes, such as ``Assign``.

    With `names`, identifiers and constants are leaves below the node they belong to.

    >>> ast_tree("x = 1")
    (['Module', 'Assign', 'Name', 'Constant'], [-1, 0, 1, 1])
    >>> ast_tree("x = 1", names=True)[0]
    ['Module', 'Assign', 'Name', 'x', 'Constant', '1']
    """
    labels, parents = list[str](), list[int]()
    waiting: list[tuple[Any, int]] = [(_parsed(source, place), -1)]
    while waiting:
        node, parent = waiting.pop()
        labels.append(node if isinstance(node, str) else type(node).__name__)
        parents.append(parent)
        if isinstance(node, str):
            continue
        at, children = len(labels) - 1, list[Any]()
        for name, field in ast.iter_fields(node):
            for value in field if isinstance(field, list) else [field]:
                if isinstance(value, ast.AST):
                    if not isinstance(value, ast.expr_context):  # Load, Store, Del: implied by the position of a name
                        children.append(value)
                elif names and (value is not None or (isinstance(node, ast.Constant) and name == "value")):
                    children.append(value if isinstance(value, str) else _written(value, place))
        waiting += [(child, at) for child in reversed(children)]
    return labels, parents


def _written(value: Any, place: str) -> str:
    try:
        return repr(value)
    except ValueError:  # 0x... may have more digits than Python writes in decimal
        raise InputError(f"{place}: found an integer of more than 4,300 digits") from None


def _parsed(source: str, place: str) -> ast.AST:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as an escape sequence that later versions will refuse
            return ast.parse(source)
    except SyntaxError as error:
        raise InputError(f"{place}, line {error.lineno}, column {error.offset}: not Python: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise InputError(f"{place}: nested deeper than this Python's own parser can read") from None
    except ValueError as error:
        raise InputError(f"{place}: not Python: {error}") from None
