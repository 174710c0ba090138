"""Kernels made of other kernels are shown as the expressions that make them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from treille.kernels.base import Kernel

SUM, PRODUCT, POWER, NAME = range(1, 5)  # how tightly a form holds together, as in Python

Spell = Callable[[Kernel], str]


class Expression(ABC):
    """Has a form such as ``0.5 * NGram(n=3)``; `binds` is how tightly the form holds together."""

    binds = NAME

    @abstractmethod
    def write(self, spell: Spell) -> str:
        """The form, its operands written by `spell`."""

    def __repr__(self) -> str:
        return self.write(repr)


def within(kernel: Kernel, level: int, spell: Spell) -> str:
    """An operand, in parentheses where it holds together less tightly than `level`."""
    text = spell(kernel)
    return f"({text})" if getattr(kernel, "binds", NAME) < level else text
