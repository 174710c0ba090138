"""Attributes of words: affixes, shape, orthographic class. Computed once for each distinct word, with Python's Unicode rules."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache

Derive = Callable[[str], str | None]
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
    """The same with runs of a class shortened to one.

    >>> short_shape("McDonald's"), short_shape("1999-05")
    ("XxXx'x", 'd-d')
    """
    return RUNS.sub(r"\1", shape(word))


def orthographic(word: str) -> str:
    """The orthographic class of a word: its case, and whether it has digits, hyphens, or nothing but punctuation.

    >>> [orthographic(word) for word in ("dog", "Dog", "IBM", "iPod", "vis-a-vis", "1990s", "3.5", "%")]
    ['lower', 'title', 'upper', 'mixed', 'lower+hyphen', 'lower+digit', 'number', 'punctuation']
    """
    if not any(map(str.isalnum, word)):
        return "punctuation"
    flags = []
    if any(map(str.isalpha, word)):
        first = next(filter(str.isalpha, word))
        flags.append(
            "lower"
            if word == word.lower()
            else "title"
            if first.isupper() and word.replace(first, "", 1) == word.replace(first, "", 1).lower()
            else "upper"
            if word == word.upper()
            else "mixed"
        )
        if any(map(str.isdigit, word)):
            flags.append("digit")
    else:
        flags.append("number")
    if "-" in word:
        flags.append("hyphen")
    return "+".join(flags)


@lru_cache
def derivation(name: str) -> Derive:
    """The function of an attribute; a word shorter than an affix has none.

    >>> derivation("suffix3")("sing"), derivation("prefix4")("the")
    ('ing', None)
    """
    match = NAME.fullmatch(name)
    if match is None:
        raise KeyError(name)
    if match[1]:
        n = int(match[2])
        place = slice(n) if match[1] == "prefix" else slice(-n, None)
        return lambda word: word[place] if len(word) >= n else None
    return {"lower": str.lower, "shape": shape, "shortshape": short_shape, "ortho": orthographic}[name]


def derived(name: str, words: Iterable[str]) -> list[str | None]:
    """The attribute of words; the empty name is the word itself."""
    return list(map(derivation(name), words)) if name else list(words)
