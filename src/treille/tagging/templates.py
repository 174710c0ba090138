"""Templates: which features a token has, and the attributes of words that they read.

A template is one or more atoms joined by ``|``, each the value of an attribute some tokens away from the token::

    word[0]  word[-1]|word[0]  pos[1]  x2[0]           columns: word is the first, pos the second, x2 the third
    lower[0]  prefix3[0]  suffix2[-1]                  of words: lower case and affixes; a shorter word has none
    shape[0]  shortshape[0]  ortho[0]                  "Xxxx", "Xx", "title"
    x1.prefix1[0]                                      the same attributes of another column
    tag[-1]  tag[-2]|tag[-1]  word[0]|tag[-1]          the tags given before: the last one is -1, in either direction
    items                                              the features that the tokens were given with
    bias                                               one feature that every token has

Attributes are computed once for each distinct word, with Python's Unicode rules. Offsets count in the order of the text. Values
outside of the sentence are ``_B-1``, ``_B-2``, ... before it and ``_B+1``, ... after it.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from treille.data.format import count
from treille.io.errors import InputError
from treille.io.open import open_text, source_name

RUNS = re.compile(r"(.)\1+", re.DOTALL)
NAME = re.compile(r"(prefix|suffix)([1-9]\d?)|lower|shape|shortshape|ortho")


class _Shapes(dict[int, str]):
    """A table for `str.translate`: X for upper case, x for other letters, d for digits, anything else unchanged."""

    def __missing__(self, point: int) -> str:
        c = chr(point)
        self[point] = "X" if c.isupper() else "x" if c.isalpha() else "d" if c.isdigit() else c
        return self[point]


_shapes = _Shapes()


def shape(word: str) -> str:
    """The classes of the characters of a word.

    >>> shape("McDonald's"), shape("1999-05")
    ("XxXxxxxx'x", 'dddd-dd')
    """
    return word.translate(_shapes)


def short_shape(word: str) -> str:
    """The shape of a word with runs of a class shortened to one.

    >>> short_shape("McDonald's"), short_shape("1999-05")
    ("XxXx'x", 'd-d')
    """
    return RUNS.sub(r"\1", shape(word))


def orthographic(word: str) -> str:
    """The orthographic class of a word: its case, and whether it has digits, hyphens, or nothing but punctuation.

    >>> [orthographic(word) for word in ("dog", "Dog", "IBM", "iPod", "vis-a-vis", "1990s", "3.5", "%")]
    ['lower', 'title', 'upper', 'mixed', 'lower+hyphen', 'lower+digit', 'number', 'punctuation']
    """
    return _class_of_shape(word.translate(_shapes))


@lru_cache(1 << 16)
def _class_of_shape(form: str) -> str:
    letters = [c for c in form if c in "Xx"]
    if not letters and "d" not in form:
        return "punctuation"
    flags = ["number"]
    if letters:
        capitals = letters.count("X")
        title = capitals == 1 and letters[0] == "X"
        flags = ["lower" if not capitals else "title" if title else "upper" if capitals == len(letters) else "mixed"]
        flags += ["digit"] * ("d" in form)
    return "+".join(flags + ["hyphen"] * ("-" in form))


def derived(name: str, words: Sequence[str]) -> Sequence[str | None]:
    """An attribute of words, None for a word without it; the empty name is the word itself.

    >>> derived("suffix3", ["sing", "be"]), derived("", ["be"])
    (['ing', None], ['be'])
    """
    if not name:
        return words
    affix = NAME.fullmatch(name)
    if affix is None:
        raise KeyError(name)
    n = int(affix[2] or 0)
    if affix[1] == "prefix":
        return [word[:n] if len(word) >= n else None for word in words]
    if affix[1] == "suffix":
        return [word[-n:] if len(word) >= n else None for word in words]
    return list(map(DERIVE[name], words))


DERIVE: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "shape": shape,
    "shortshape": short_shape,
    "ortho": orthographic,
}


REACH = 32  # the largest offset, as in the core
COLUMNS = ("word", "pos")
ATOM = re.compile(r"(?:(word|pos|x\d{1,6})\.)?(\w+)\[([-+]?\d{1,3})\]")
MACRO = re.compile(r"%x\[\s*([-+]?\d{1,3})\s*,\s*(\d{1,6})\s*\]")
TAG, ITEMS = -1, -2  # in place of a column


class Atom(NamedTuple):
    """An attribute of a column, `offset` tokens away; the empty attribute is the value itself.

    The column -1 are the tags: there `offset` counts the steps back and is positive. The column -2 are the features given with the
    tokens.
    """

    column: int
    attribute: str
    offset: int

    def __str__(self) -> str:
        if self.column == ITEMS:
            return "items"
        if self.column == TAG:
            return f"tag[-{self.offset}]"
        column = COLUMNS[self.column] if self.column < len(COLUMNS) else f"x{self.column}"
        name = column if not self.attribute else f"{column}.{self.attribute}" if self.column else self.attribute
        return f"{name}[{self.offset}]"


@dataclass(frozen=True)
class Template:
    """Atoms joined to one feature, atoms of tags last. `str` gives the text that `parse` reads.

    >>> from treille.tagging import Template
    >>> str(Template.parse("tag[-1] | suffix3[0]")), Template.parse("x1[+1]").atoms
    ('suffix3[0]|tag[-1]', (Atom(column=1, attribute='', offset=1),))
    """

    atoms: tuple[Atom, ...]
    place: str = field(default="", compare=False, repr=False)  # where it was read, for messages

    @classmethod
    def parse(cls, text: str, place: str = "") -> "Template":
        """The template of a text."""
        if text.strip() in ("items", "bias"):
            return cls((Atom(ITEMS, "", 0),) if text.strip() == "items" else (), place)
        return cls._of((_atom(part.strip(), text, place) for part in text.split("|")), place)

    @classmethod
    def _of(cls, atoms: Iterable[Atom], place: str) -> "Template":
        return cls(tuple(sorted(dict.fromkeys(atoms), key=lambda atom: atom.column == TAG)), place)

    @property
    def dynamic(self) -> bool:
        """Whether the template reads tags."""
        return any(atom.column == TAG for atom in self.atoms)

    def __str__(self) -> str:
        return "|".join(map(str, self.atoms)) or "bias"


def default_templates(n_columns: int) -> list[str]:
    """Templates for tokens of this many columns: a window of two tokens to each side, and the last two tags.

    In the window are all columns, and of the words prefixes and suffixes of 2 to 4 characters and the orthographic class.
    Neighbours have the lower case of their words, and their columns joined with the token's. Tokens without columns have their
    given features, and the last two tags.

    >>> from treille.tagging import default_templates
    >>> len(default_templates(2)), default_templates(0)
    (55, ['items', 'tag[-1]', 'tag[-2]', 'tag[-2]|tag[-1]'])
    """
    names = [str(Atom(j, "", 0)).removesuffix("[0]") for j in range(n_columns)]
    if n_columns:
        names += ["ortho", *(f"{affix}{n}" for affix in ("prefix", "suffix") for n in (2, 3, 4))]
    window = [f"{name}[{offset}]" for name in names for offset in range(-2, 3)]
    for name in names[:n_columns]:
        window += [f"{name}[-1]|{name}[0]", f"{name}[0]|{name}[1]"]
    if n_columns:
        window += ["lower[-1]", "lower[0]", "lower[1]"]
    return [*(window or ["items"]), "tag[-1]", "tag[-2]", "tag[-2]|tag[-1]"]


def read_templates(path: str | os.PathLike[str]) -> list[Template]:
    """The templates of a file of CRF++, or of a file with one template such as ``word[0]`` on each line; ``#`` begins a comment.

    ``U05:%x[-1,0]/%x[0,0]`` joins the first column of the token before and of the token itself; ``B`` is the last tag, and
    ``B01:%x[0,0]`` joins it with a column.

    >>> from pathlib import Path
    >>> from treille.tagging import read_templates
    >>> _ = Path("template").write_text("U00:%x[-1,0]/%x[0,1]\\n\\n# the last tag\\nB\\n")
    >>> [str(template) for template in read_templates("template")]
    ['word[-1]|pos[0]', 'tag[-1]']
    """
    found = []
    with open_text(path) as lines:
        for number, line in enumerate(lines, 1):
            text = line.strip()
            if text and not text.startswith("#"):
                found.append(_line(text, f"{source_name(path)}, line {number}"))
    if not found:
        raise InputError(f"{source_name(path)}: found no template, expected lines such as U00:%x[0,0]")
    return list(dict.fromkeys(found))


def as_templates(given: Any, n_columns: int, items: bool = False) -> list[Template]:
    """Templates from strings, `Template` or a file, or the default ones for None, checked against the columns."""
    if given is None:
        given = default_templates(n_columns)
    elif isinstance(given, os.PathLike) or (isinstance(given, str) and os.path.isfile(given)):
        given = read_templates(given)
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InputError(f"templates are {given!r}, expected a list such as ['word[0]', 'tag[-1]'], or a path")
    found: list[Template] = []
    for i, each in enumerate(given):
        if not isinstance(each, (str, Template)):
            raise InputError(f"template {i} is {type(each).__name__}, expected str such as 'word[-1]|word[0]'")
        found.append(each if isinstance(each, Template) else Template.parse(each))
    if not found:
        raise InputError("there is no template, expected at least one, such as 'word[0]'")
    for template in found:
        check_columns(template, n_columns, items)
    return list(dict.fromkeys(found))


def check_columns(template: Template, n_columns: int, items: bool) -> None:
    """Refuses a template that reads what the tokens do not have."""
    where = f"{template.place}: " if template.place else ""
    for column in (atom.column for atom in template.atoms):
        if column >= n_columns:
            there = f"{count(n_columns, 'column')}" + (f", 0 to {n_columns - 1}" if n_columns > 1 else "")
            raise InputError(
                f"{where}the template {str(template)!r} reads column {column}, but the tokens have {there}"
            )
        if column == ITEMS and not items:
            raise InputError(
                f"{where}the template 'items' reads features, but the tokens have columns: see Sentences.of_features"
            )


def _atom(part: str, text: str, place: str) -> Atom:
    match, where = ATOM.fullmatch(part), f"{place}: " if place else ""
    if match is None:
        raise InputError(
            f"{where}found {part[:40]!r} in the template {text[:60]!r}, expected a name and an offset, such as word[0],"
            " suffix3[-1] or tag[-1]; | joins several"
        )
    column, name, offset = match[1], match[2], int(match[3])
    if abs(offset) > REACH:
        raise InputError(f"{where}the offset in {part[:40]!r} is {offset}, expected -{REACH} to {REACH}")
    if name == "tag" and column is None:
        if offset >= 0:
            raise InputError(f"{where}found {part!r}, expected a tag given before, such as tag[-1]")
        return Atom(TAG, "", -offset)
    if column is None and (name in COLUMNS or re.fullmatch(r"x\d{1,6}", name)):
        return Atom(_column(name), "", offset)
    if not NAME.fullmatch(name):
        raise InputError(
            f"{where}{name[:40]!r} in {part[:40]!r} is unknown, expected word, pos, x0, x1, ..., lower, prefix1, suffix1, ...,"
            " shape, shortshape, ortho or tag"
        )
    return Atom(_column(column or "word"), name, offset)


def _column(name: str) -> int:
    return COLUMNS.index(name) if name in COLUMNS else int(name[1:])


def _line(text: str, place: str) -> Template:
    """A line of a template file."""
    if text[0] not in "UB":
        return Template.parse(text, place)
    name, colon, body = text.partition(":")
    rest = MACRO.sub("", body)
    if not re.fullmatch(r"[UB]\w*", name) or "%" in rest or (colon and not body.strip() and name[0] == "B"):
        raise InputError(
            f"{place}: found {text[:60]!r}, expected a template such as U05:%x[-1,0]/%x[0,0], or B for the last tag"
        )
    atoms = [Atom(int(column), "", int(row)) for row, column in MACRO.findall(body)]
    far = next((atom for atom in atoms if abs(atom.offset) > REACH), None)
    if far is not None:
        raise InputError(f"{place}: the offset in {text[:60]!r} is {far.offset}, expected -{REACH} to {REACH}")
    return Template._of([*atoms, *([Atom(TAG, "", 1)] if name[0] == "B" else [])], place)


def described(templates: Sequence[Template]) -> str:
    """Templates in few words: windows for those that differ in their offsets only.

    >>> from treille.tagging import Template
    >>> described([Template.parse(text) for text in ("word[-1]", "word[0]", "word[1]", "pos[0]", "word[0]|tag[-1]")])
    'word[-1..1], pos[0], word[0]|tag[-1]'
    """
    windows: dict[str, list[int]] = {}
    for text in map(str, templates):
        name, bracket, offset = text.removesuffix("]").rpartition("[")
        plain = bracket and "|" not in text
        windows.setdefault(name if plain else text, []).extend([int(offset)] if plain else [])
    return ", ".join(_window(name, sorted(offsets)) for name, offsets in windows.items())


def _window(name: str, offsets: list[int]) -> str:
    if not offsets:
        return name
    if len(offsets) > 1 and all(b == a + 1 for a, b in pairwise(offsets)):
        return f"{name}[{offsets[0]}..{offsets[-1]}]"
    return ", ".join(f"{name}[{offset}]" for offset in offsets)
