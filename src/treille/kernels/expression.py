"""Readable expressions for kernels that combine other kernels."""

from abc import ABC, abstractmethod
from collections.abc import Callable

from treille.kernels.base import Kernel

SUM, PRODUCT, POWER, NAME = range(1, 5)  # precedence of operators, as in Python

Spell = Callable[[Kernel], str]


class Expression(ABC):
    """Is shown as an expression such as ``0.5 * NGram(n=3)``; `binds` is the precedence of its operator."""

    binds = NAME

    @abstractmethod
    def write(self, spell: Spell) -> str:
        """The expression, with operands written by `spell`."""

    def __repr__(self) -> str:
        return self.write(repr)


def within(kernel: Kernel, level: int, spell: Spell) -> str:
    """An operand, in parentheses if its precedence is lower than `level`."""
    text = spell(kernel)
    return f"({text})" if getattr(kernel, "binds", NAME) < level else text
