"""Python source, and JSON, XML and HTML documents as trees."""

import ast
import json
import os
import warnings
from typing import Any
from xml.parsers import expat

from .errors import InputError
from .open import open_text
from .packed_trees import Nodes


def ast_tree(source: str, names: bool = False, place: str = "item 0") -> Nodes:
    """The syntax tree of Python source: labels are the names of its nodes' classes, such as ``Assign``.

    With `names`, identifiers and constants are leaves below the node they belong to.

    >>> ast_tree("x = 1")
    (['Module', 'Assign', 'Name', 'Constant'], [-1, 0, 1, 1])
    >>> ast_tree("x = 1", names=True)[0]
    ['Module', 'Assign', 'Name', 'x', 'Constant', '1']
    """
    labels, parents = list[str](), list[int]()
    waiting: list[tuple[Any, int]] = [(_parsed_python(source, place), -1)]
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


def _parsed_python(source: str, place: str) -> ast.AST:
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


def json_tree(document: Any, values: bool = True, place: str = "item 0") -> Nodes:
    """A document, parsed or as text, as a tree: the root is ``$``, members have their keys as labels, items of arrays ``[]``.

    A string, a number, true, false or null is a leaf below that, as itself or, without `values`, as its kind.

    >>> json_tree('{"vine": {"age": 3, "red": true}}')
    (['$', 'vine', 'age', '3', 'red', 'true'], [-1, 0, 1, 2, 1, 4])
    """
    try:
        document = json.loads(document) if isinstance(document, (str, bytes)) else document
    except json.JSONDecodeError as error:
        raise InputError(f"{place}, line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}") from None
    except ValueError as error:  # an integer of more digits than Python converts, or bytes that are not text
        raise InputError(f"{place}: JSON that cannot be read: {error}") from None
    except RecursionError:
        raise InputError(
            f"{place}: brackets so deep that Python's json cannot read them: give the parsed document instead of its text"
        ) from None
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


class Elements:
    """Builds a tree from the events of a parser. Text is split at white space; each word is a leaf."""

    def __init__(self, attributes: bool, text: bool):
        self.attributes, self.text = attributes, text
        self.labels, self.parents, self.above = list[str](), list[int](), [-1]
        self.pieces: list[str] = []

    def start(self, name: str, attributes: Any) -> None:
        self.flush()
        node = self.add(_local(name))
        self.above.append(node)
        if self.attributes:
            for key, value in attributes.items():
                self.above.append(self.add(f"@{_local(key)}"))
                self.add(value)
                self.above.pop()

    def end(self, name: str) -> None:
        self.flush()
        self.above.pop()

    def data(self, text: str) -> None:
        if self.text:
            self.pieces.append(text)

    def flush(self) -> None:
        for word in "".join(self.pieces).split():
            self.add(word)
        self.pieces.clear()

    def add(self, label: str) -> int:
        self.labels.append(label)
        self.parents.append(self.above[-1])
        return len(self.labels) - 1


def xml_tree(
    document: str | bytes | os.PathLike[str], attributes: bool = False, text: bool = False, place: str = ""
) -> Nodes:
    """The elements of an XML document, any depth. A str or bytes is the document; an `os.PathLike` names a file.

    With `attributes`, each is a child ``@name`` with its value below it; with `text`, each word is a leaf. Names are without
    their namespace.

    >>> xml_tree('<vine age="3">green <leaf/></vine>')
    (['vine', 'leaf'], [-1, 0])
    >>> xml_tree('<vine age="3">green <leaf/></vine>', attributes=True, text=True)
    (['vine', '@age', '3', 'green', 'leaf'], [-1, 0, 1, 0, 0])
    """
    content, place = _content(document, place)
    elements = Elements(attributes, text)
    parser = expat.ParserCreate(namespace_separator="}")
    parser.StartElementHandler, parser.EndElementHandler = elements.start, elements.end
    parser.CharacterDataHandler = elements.data
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise InputError(
            f"{place}, line {error.lineno}, column {error.offset + 1}: not valid XML: {expat.ErrorString(error.code)}"
            "; mend it, or read it as HTML, which may be faulty"
        ) from None
    return elements.labels, elements.parents


def html_tree(
    document: str | bytes | os.PathLike[str], attributes: bool = False, text: bool = False, place: str = ""
) -> Nodes:
    """The elements of an HTML document, repaired by lxml, which reads elements down to a depth of about 250."""
    try:
        from lxml import etree
    except ImportError:
        raise InputError("HTML is read by lxml, which is not installed: pip install lxml") from None
    content, place = _content(document, place)
    try:
        root = etree.fromstring(content, etree.HTMLParser())
    except (etree.LxmlError, ValueError) as error:
        raise InputError(f"{place}: lxml cannot read it as HTML: {error}") from None
    if root is None:
        raise InputError(f"{place}: there is no element, expected HTML")
    elements = Elements(attributes, text)
    for event, node in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "start":
            elements.start(node.tag, node.attrib)
            elements.data(node.text or "")
        elif event == "end":
            elements.end(node.tag)
        if event != "start":
            elements.data(node.tail or "")
    return elements.labels, elements.parents


def _content(document: str | bytes | os.PathLike[str], place: str) -> tuple[str | bytes, str]:
    if isinstance(document, (str, bytes)):  # never a path: a sender of documents must not choose which files are read
        if isinstance(document, str) and document.strip() and "<" not in document:
            raise InputError(
                f"{place or 'item 0'}: found {document[:40]!r}, which has no element, expected a document: "
                "to read a file, give a pathlib.Path"
            )
        return document, place or "item 0"
    if not isinstance(document, os.PathLike):
        raise InputError(f"{place}: found {type(document).__name__}, expected a document as str or bytes, or a Path")
    with open_text(document) as stream:  # which decompresses gzip and reports bad paths
        return bytes(stream.buffer.read()), os.fspath(document)


def _local(name: str) -> str:
    return name.rpartition("}")[2]
