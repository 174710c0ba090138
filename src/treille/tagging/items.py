"""Features of tokens made by a user's function: lists, sets or dicts for each token."""

from collections.abc import Mapping, Set
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from treille.data.base import codes_of, running_sum
from treille.io.errors import InputError


class Items(NamedTuple):
    """Features of tokens as strings: token i has ``names[codes[k]]`` for k from ``offsets[i]`` to ``offsets[i + 1]``."""

    codes: np.ndarray
    offsets: np.ndarray
    names: list[str]


def items_of(tokens: list[Any], offsets: np.ndarray) -> Items:
    """The features of tokens that are lists, tuples, sets or dicts; each feature of a token counts once."""
    kinds = set(map(type, tokens))
    if any(issubclass(kind, Mapping) for kind in kinds):
        lists = [names_of(token) if isinstance(token, Mapping) else token for token in tokens]
    else:
        lists = tokens
    if not all(issubclass(kind, (list, tuple, Set, Mapping)) for kind in kinds):
        i = next(i for i, token in enumerate(tokens) if not isinstance(token, (list, tuple, Set, Mapping)))
        raise InputError(
            f"{place(offsets, i)} is {type(tokens[i]).__name__} ({str(tokens[i])[:40]!r}), expected a list, set or dict of features"
        )
    if not all(issubclass(kind, (Set, Mapping)) for kind in kinds):
        lists = [list(dict.fromkeys(each)) for each in lists]
    try:
        names = codes_of(dict.fromkeys(chain.from_iterable(lists)))
    except TypeError:
        names = {}
    ends = running_sum(list(map(len, lists)))
    if not all(isinstance(name, str) for name in names) or (ends[-1] and not names):
        i, value = next((i, value) for i, each in enumerate(lists) for value in each if not isinstance(value, str))
        raise InputError(f"{place(offsets, i)}: {explain(value)}")
    codes = np.fromiter(map(names.__getitem__, chain.from_iterable(lists)), np.int32, int(ends[-1]))
    return Items(codes, ends, list(names))


def names_of(features: Mapping[Any, Any], prefix: str = "") -> list[Any]:
    """The names of binary features in a dict; a value that cannot be read is kept, in a tuple with its name.

    >>> names_of({"word": "cat", "title": False, "bias": 1.0, "suffix": ["at", "t"], "-1": {"word": "the"}})
    ['word=cat', 'bias', 'suffix=at', 'suffix=t', '-1:word=the']
    """
    names: list[Any] = []
    for name, value in features.items():
        if isinstance(value, str):
            names.append(f"{prefix}{name}={value}")
        elif isinstance(value, (Real, np.bool_)) and value in (0, 1):
            if value:
                names.append(f"{prefix}{name}")
        elif isinstance(value, Mapping):
            names += names_of(value, f"{prefix}{name}:")
        elif isinstance(value, (list, tuple, Set)) and all(isinstance(each, str) for each in value):
            names += [f"{prefix}{name}={each}" for each in value]
        else:
            names.append((name, value))
    return names


def explain(value: Any) -> str:
    """Why a value is not a feature, for messages."""
    if isinstance(value, tuple) and len(value) == 2:
        name, value = value
        advice = ": divide it into ranges, with a feature for each" if isinstance(value, (Real, np.number)) else ""
        return f"the feature {name!r} is {value!r}, expected str, bool, 0 or 1{advice}"
    return f"{str(value)[:40]!r} is {type(value).__name__}, expected a feature as str"


def place(offsets: np.ndarray, token: int) -> str:
    """Sentence and position of a token."""
    sentence = int(np.searchsorted(offsets, token, side="right")) - 1
    return f"sentence {sentence}, token {token - int(offsets[sentence])}"
