"""Abilities that only some feature maps and rows have. Each is a type; values without it raise an error that says what to do."""

from typing import Any, TypeVar

A = TypeVar("A")


def having(value: Any, ability: type[A]) -> A:
    """The value, feature rows or a feature map, if it has an ability; otherwise an `InputError` that says why not and what to do.

    An ability is a type; its text `lacking` completes the message of the value's `refusal`.

    >>> import numpy as np
    >>> from treille.features import MatrixRows, Rows
    >>> rows = Rows.from_csr(np.eye(2))
    >>> having(rows, MatrixRows) is rows
    True
    """
    if not isinstance(value, ability):
        raise value.refusal(ability)
    return value
