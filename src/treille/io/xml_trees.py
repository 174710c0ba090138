"""XML and HTML documents as trees of their elements."""

import os
from typing import Any
from xml.parsers import expat

from .errors import InputError
from .open import open_text
from .tree_parts import Nodes


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

    def tree(self) -> Nodes:
        return self.labels, self.parents


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
    return elements.tree()


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
    return elements.tree()


def _content(document: str | bytes | os.PathLike[str], place: str) -> tuple[str | bytes, str]:
    if isinstance(document, (str, bytes)):  # never a path: whoever sends documents must not choose which files are read
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
