"""JSON documents as trees."""

import json
from typing import Any

from .errors import InputError
from .tree_parts import Nodes


def json_tree(document: Any, values: bool = True, place: str = "item 0") -> Nodes:
    """A document, parsed or as text, as a tree: the root is ``$``, members have their keys as labels, items of arrays ``[]``.

    A string, a number, true, false or null is a leaf below that, as itself or, without `values`, as its kind.

    >>> json_tree('{"vine": {"age": 3, "red": true}}')
    (['$', 'vine', 'age', '3', 'red', 'true'], [-1, 0, 1, 2, 1, 4])
    """
    if isinstance(document, (str, bytes)):
        document = _parsed(document, place)
    labels, parents = list[str](), list[int]()
    waiting: list[tuple[str, int, Any]] = [("$", -1, document)]
    while waiting:
        name, parent, value = waiting.pop()
        labels.append(name)
        parents.append(parent)
        node = len(labels) - 1
        if isinstance(value, dict):
            waiting += [(str(key), node, member) for key, member in reversed(value.items())]
        elif isinstance(value, (list, tuple)):
            waiting += [("[]", node, item) for item in reversed(value)]
        else:
            labels.append(_leaf(value, values, place))
            parents.append(node)
    return labels, parents


def _parsed(text: str | bytes, place: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{place}, line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}") from None
    except ValueError as error:  # an integer of more digits than Python converts, or bytes that are not text
        raise InputError(f"{place}: JSON that cannot be read: {error}") from None
    except RecursionError:
        raise InputError(
            f"{place}: brackets so deep that Python's json cannot read them: give the parsed document instead of its text"
        ) from None


def _leaf(value: Any, values: bool, place: str) -> str:
    if value is not None and not isinstance(value, (str, int, float)):
        raise InputError(
            f"{place}: found {type(value).__name__}, expected what JSON has: dict, list, str, a number, None"
        )
    if isinstance(value, str):
        return value if values else "string"
    try:
        return json.dumps(value) if values or value is None or isinstance(value, bool) else "number"
    except ValueError:
        raise InputError(f"{place}: found an integer of more than 4,300 digits: give it as a string") from None
