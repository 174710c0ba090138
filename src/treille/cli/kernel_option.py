"""Kernels on a command line: ``0.5*ngram(3, min_n=1) + ngram(5).normalized()``. Read with `ast`, never evaluated."""

from __future__ import annotations

import ast
import inspect
import operator
from typing import Any

import typer

import treille.kernels
from treille.kernels import Constant, FromFunction, Kernel, Precomputed
from treille.kernels.expression import Expression

OPERATORS = {ast.Add: operator.add, ast.Mult: operator.mul, ast.Pow: operator.pow}
METHODS = ("normalized", "centered")


def known_kernels() -> dict[str, type[Kernel]]:
    """Every kernel that `treille.kernels` offers, by its name in lower case; those that come from outside have no words for it.

    >>> known_kernels()["ngram"].__name__
    'NGram'
    """
    offered = ((name, getattr(treille.kernels, name)) for name in treille.kernels.__all__)
    return {
        name.lower(): kind
        for name, kind in offered
        if isinstance(kind, type)
        and issubclass(kind, Kernel)
        and not inspect.isabstract(kind)
        and kind not in (FromFunction, Precomputed)
    }


def parse_kernel(text: str) -> Kernel:
    """The kernel that `text` names.

    >>> parse_kernel("ngram(3, min_n=1, unit=word).normalized()")
    NGram(n=3, min_n=1, unit='word').normalized()
    >>> parse_kernel("(1 + 0.5*ngram(2))**2")
    (1 + 0.5 * NGram(n=2)) ** 2
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _refuse(text, "it cannot be read") from None
    try:
        return _kernel(tree)
    except (TypeError, ValueError) as error:
        raise _refuse(text, str(error)) from None
    except RecursionError:
        raise _refuse(text, "it is nested too deeply") from None


def spell_kernel(kernel: Kernel) -> str:
    """The inverse of `parse_kernel`.

    >>> from treille.kernels import NGram
    >>> spell_kernel(NGram(3, min_n=1).normalized())
    'ngram(3, min_n=1).normalized()'
    """
    if isinstance(kernel, Expression):
        return kernel.write(spell_kernel)
    values = kernel.get_params(deep=False)
    words = []
    for i, parameter in enumerate(_parameters(type(kernel))):
        value = values[parameter.name]
        if i == 0 or value != parameter.default:
            words.append(_spell(value) if i == 0 else f"{parameter.name}={_spell(value)}")
    return f"{type(kernel).__name__.lower()}({', '.join(words)})"


def _kernel(node: ast.expr) -> Kernel:
    if isinstance(node, ast.Name):
        return _kind(node.id)()
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        operands = [_kernel(side) if _number(side) is None else _number(side) for side in (node.left, node.right)]
        combined = OPERATORS[type(node.op)](*operands)
        if isinstance(combined, Kernel):
            return combined
    if not isinstance(node, ast.Call):
        raise ValueError(f"found {ast.unparse(node)!r}, expected a kernel")
    arguments = [_argument(value) for value in node.args]
    named = {keyword.arg or "**": _argument(keyword.value) for keyword in node.keywords}
    if isinstance(node.func, ast.Attribute):
        if node.func.attr not in METHODS or arguments or named:
            raise ValueError(f"found .{node.func.attr}(...), expected .{'() or .'.join(METHODS)}()")
        made: Kernel = getattr(_kernel(node.func.value), node.func.attr)()
        return made
    if not isinstance(node.func, ast.Name):
        raise ValueError(f"found {ast.unparse(node.func)!r}, expected the name of a kernel")
    kind = _kind(node.func.id)
    inspect.signature(kind).bind(*arguments, **named)
    return kind(*arguments, **named)


def _argument(node: ast.expr) -> Any:
    """A number, a list, a quoted or bare word, another kernel, or kernels by name."""
    if isinstance(node, (ast.Call, ast.BinOp)):
        return _kernel(node)
    if isinstance(node, ast.Dict):
        return {_argument(key or node): _argument(value) for key, value in zip(node.keys, node.values, strict=True)}
    if isinstance(node, ast.Name):
        return _kind(node.id)() if node.id.lower() in known_kernels() else node.id
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        raise ValueError(f"found {ast.unparse(node)!r}, expected a number, a word or a list of numbers") from None


def _number(node: ast.expr) -> float | None:
    """A number, or None."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _kind(name: str) -> type[Kernel]:
    if name.lower() not in known_kernels():
        raise ValueError(f"there is no kernel {name!r}")
    return known_kernels()[name.lower()]


def _parameters(kind: type[Kernel]) -> list[inspect.Parameter]:
    return list(inspect.signature(kind).parameters.values())


def _spell(value: Any) -> str:
    if isinstance(value, Kernel):
        return spell_kernel(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name!r}: {_spell(v)}" for name, v in value.items()) + "}"
    return value if isinstance(value, str) and value.isidentifier() else repr(value)


def _refuse(text: str, why: str) -> typer.BadParameter:
    forms = [
        f"{name}({', '.join(p.name for p in _parameters(kind))})"
        for name, kind in known_kernels().items()
        if not issubclass(kind, (Expression, Constant))
    ]
    return typer.BadParameter(
        f"{text!r}: {why}. The kernels are: {', '.join(forms)}; for example 'ngram(5).normalized()', or with +, * and **, "
        "'0.5*ngram(3) + ngram(5).normalized()'",
        param_hint="--kernel",
    )
