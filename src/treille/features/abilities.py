"""Abilities that only some feature maps and rows have. Each is a type; values without it raise an error that says what to do."""

from typing import Any, Protocol, TypeVar

from treille.io.errors import InputError

A = TypeVar("A")


class Refusing(Protocol):
    """Base class of values that may lack abilities. An ability is a type; its text `lacking` completes the message of `refusal`."""

    def refusal(self, ability: Any) -> InputError:
        """The error for an ability that this value does not have."""
        ...


def having(value: Refusing, ability: type[A]) -> A:
    """The value, if it has an ability; otherwise an `InputError` that says why not and what to do.

    >>> import numpy as np
    >>> from treille.features import MatrixRows, Rows
    >>> rows = Rows.from_csr(np.eye(2))
    >>> having(rows, MatrixRows) is rows
    True
    """
    if not isinstance(value, ability):
        raise value.refusal(ability)
    return value
