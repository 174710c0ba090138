"""Abilities that only some feature maps and rows have: each is a type, and what lacks it says why and what to do."""

from typing import Any, Protocol, TypeVar

from treille.io.errors import InputError

A = TypeVar("A")


class Refusing(Protocol):
    """Values that may lack abilities, which are types with a text `lacking`: what values without it cannot do."""

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
