"""Attributes of words: affixes, shape, orthographic class. Computed once for each distinct word, with Python's Unicode rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

RUNS = re.compile(r"(.)\1+", re.DOTALL)
NAME = re.compile(r"(prefix|suffix)([1-9]\d?)|lower|shape|shortshape|ortho")


class _Shapes(dict[int, str]):
    """For `str.translate`: X for upper case, x for other letters, d for digits, anything else unchanged."""

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
    """An attribute of words, None where they have none; the empty name is the word itself.

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
