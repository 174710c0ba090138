"""Kernels as text: ``0.5*ngram(3, min_n=1) + ngram(5).normalized()``. Parsed with `ast`, never evaluated.

The option ``--kernel`` and the default kernels of data kinds are written this way.
"""

import ast
import difflib
import inspect
import operator
import re
from collections.abc import Sequence
from itertools import chain, product, zip_longest
from math import prod
from typing import Any

from treille.automata import Fst
from treille.data.base import from_arrow, kind_of
from treille.io.errors import InputError
from treille.io.units import BASES
from treille.kernels.base import Kernel
from treille.kernels.wrapped import Expression
from treille.registry import known

RANGE = re.compile(r"(?<![\w.])(\d+)\.\.(\d+)(?![\w.])")  # 3..6
MOST = 1000  # kernels of an expression with ranges
OPERATORS = {ast.Add: operator.add, ast.Mult: operator.mul, ast.Pow: operator.pow}
METHODS = {"normalized": 0, "centered": 0, "balanced": 0, "weighted": 2}  # and their most arguments
PYTHON_ONLY = {
    "precomputed": "takes a matrix of kernel values, which no file format holds",
    "callablekernel": "takes a Python function",
}


def known_kernels() -> dict[str, type[Kernel]]:
    """Every registered kernel by its name in lower case, except those that only Python code can make."""
    return {name.lower(): cls for name, cls in known("kernels").items() if name.lower() not in PYTHON_ONLY}


def parse_kernel(text: str) -> Kernel:
    """The kernel that `text` describes. A transducer is given by the name of its file, in quotes unless it is a plain word.

    >>> parse_kernel("ngram(3, min_n=1, unit=word).normalized()")
    NGram(n=3, min_n=1, unit='word').normalized()
    >>> parse_kernel("ngram(2, unit=word+lower)")
    NGram(n=2, unit='word+lower')
    >>> parse_kernel("(1 + 0.5*ngram(2))**2")
    (1 + 0.5 * NGram(n=2)) ** 2
    >>> parse_kernel("columns(title=ngram(2), tags=ngram(1, unit=word))").kernels["title"]
    NGram(n=2)
    >>> parse_kernel("ngrm(3)")
    Traceback (most recent call last):
    treille.io.errors.InputError: 'ngrm(3)': there is no kernel 'ngrm'; did you mean ngram?
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _refuse(text, "it cannot be parsed") from None
    try:
        return _kernel(tree)
    except InputError as error:  # from a file of a transducer
        raise InputError(f"{text!r}: {error}") from None
    except _Misspelt as error:
        raise InputError(f"{text!r}: {error}; {error.hint}") if error.hint else _refuse(text, str(error)) from None
    except (TypeError, ValueError) as error:
        raise _refuse(text, str(error)) from None
    except RecursionError:
        raise _refuse(text, "it is nested too deeply") from None


def parse_kernels(text: str) -> list[Kernel]:
    """The kernels that `text` describes, where ``3..6`` means 3, 4, 5 and 6: one for each choice of numbers.

    >>> parse_kernels("ngram(3..5).normalized()")
    [NGram(n=3).normalized(), NGram(n=4).normalized(), NGram(n=5).normalized()]
    """
    parts = RANGE.split(text)  # text, first, last, text, first, last, ..., text
    ranges = [range(int(a), int(b) + 1) for a, b in zip(parts[1::3], parts[2::3], strict=True)]
    for own, a, b in zip(ranges, parts[1::3], parts[2::3], strict=True):
        if len(own) == 0:
            raise InputError(f"{text!r}: the range {a}..{b} is empty, write the smaller number first")
    if prod(map(len, ranges)) > MOST:
        raise InputError(f"{text!r}: stands for {prod(map(len, ranges)):,} kernels, expected at most {MOST}")
    choices = product(*ranges)
    return [parse_kernel("".join(chain(*zip_longest(parts[::3], map(str, c), fillvalue="")))) for c in choices]


def format_kernel(kernel: Kernel) -> str:
    """The inverse of `parse_kernel`."""
    if isinstance(kernel, Expression):
        return kernel.write(format_kernel)
    values = kernel.get_params(deep=False)
    words = []
    for i, parameter in enumerate(_parameters(type(kernel))):
        value = values[parameter.name]
        if i < kernel.always_printed or value != parameter.default:
            words.append(_format(value) if i == 0 else f"{parameter.name}={_format(value)}")
    return f"{type(kernel).__name__.lower()}({', '.join(words)})"


def default_kernel(X: Any, features: bool = False, labels: bool = False) -> tuple[Kernel, str]:
    """The default kernel for data of this kind, and the reason.

    With `features`, the first that has explicit features; unless there are `labels`, the first that needs none.
    """
    X = from_arrow(X)
    choices = [(parse_kernel(text), f"chosen: {why}") for text, why in kind_of(X).default_kernels(X)]
    choices = [choice for choice in choices if labels or not choice[0].needs_labels]
    return next((choice for choice in choices if choice[0].has_features or not features), choices[0])


def _kernel(node: ast.expr) -> Kernel:
    if isinstance(node, ast.Name):
        return _class(node.id)()
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        operands = [_kernel(side) if _number(side) is None else _number(side) for side in (node.left, node.right)]
        combined = OPERATORS[type(node.op)](*operands)
        if isinstance(combined, Kernel):
            return combined
    if not isinstance(node, ast.Call):
        raise ValueError(f"found {ast.unparse(node)!r}, expected a kernel")
    arguments = [_argument(value) for value in node.args]
    named = {
        keyword.arg or "**": ast.unparse(keyword.value).replace(" ", "")
        if keyword.arg == "unit" and _is_unit(keyword.value)
        else _argument(keyword.value)
        for keyword in node.keywords
    }
    if isinstance(node.func, ast.Attribute):
        method = node.func.attr
        if method not in METHODS:
            names = list(METHODS)
            raise _Misspelt(f"found .{method}(...), expected .{'() or .'.join(names)}()", method, names, ".{}()")
        if len(arguments) + len(named) > METHODS[method]:
            raise ValueError(f"found .{method}(...) with an argument too many, expected .{method}()")
        made: Kernel = getattr(_kernel(node.func.value), method)(*arguments, **named)
        return made
    if not isinstance(node.func, ast.Name):
        raise ValueError(f"found {ast.unparse(node.func)!r}, expected the name of a kernel")
    cls = _class(node.func.id)
    names = [parameter.name for parameter in _parameters(cls)]
    takes_any_name = len(names) < len(inspect.signature(cls).parameters)  # such as those of the columns of `Columns`
    for name in named:
        if name not in names and not takes_any_name:
            own = f"{cls.__name__.lower()} has no parameter {name!r}: it has {', '.join(names) or 'none'}"
            raise _Misspelt(own, name, names, "{}=...")
    bound = inspect.signature(cls).bind(*arguments, **named)
    for parameter in _parameters(cls):
        if parameter.annotation in (Fst, "Fst") and isinstance(bound.arguments.get(parameter.name), str):
            bound.arguments[parameter.name] = Fst.read(bound.arguments[parameter.name]).astype("real")
    return cls(*bound.args, **bound.kwargs)


def _argument(node: ast.expr) -> Any:
    """A number, a list, a quoted or bare word, a bare file name, another kernel, or kernels by name."""
    if _is_path(node):
        return ast.unparse(node).replace(" ", "")
    if isinstance(node, (ast.Call, ast.BinOp)):
        return _kernel(node)
    if isinstance(node, ast.Dict):
        keys = [key.id if isinstance(key, ast.Name) else _argument(key or node) for key in node.keys]
        return dict(zip(keys, map(_argument, node.values), strict=True))
    if isinstance(node, ast.Name):
        return _class(node.id)() if _plain(node.id) in known_kernels() else node.id
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError):
        raise ValueError(f"found {ast.unparse(node)!r}, expected a number, a word or a list of numbers") from None


def _is_path(node: ast.expr) -> bool:
    """Returns whether this is a bare file name such as ``machines/edit-1.fst``, which Python parses as arithmetic of attributes."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.Div, ast.Sub)) and _is_path(node.right)
    return isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Attribute))


def _is_unit(node: ast.expr) -> bool:
    """Returns whether this is a bare unit, ``word+lower``, which Python parses as a sum."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Add) and isinstance(node.right, ast.Name) and _is_unit(node.left)
    return isinstance(node, ast.Name)


def _number(node: ast.expr) -> float | None:
    """A number, or None."""
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _class(name: str) -> type[Kernel]:
    plain, kernels = _plain(name), known_kernels()
    if plain in PYTHON_ONLY:
        raise ValueError(f"{name} {PYTHON_ONLY[plain]}: use it in Python")
    if plain not in kernels:
        raise _Misspelt(f"there is no kernel {name!r}", plain, list(kernels), "{}", 3)
    return kernels[plain]


def _plain(name: str) -> str:
    """The key of a name: the same for gapped_kmer and GappedKmer."""
    return name.lower().replace("_", "")


class _Misspelt(ValueError):
    """A name that does not exist; the message ends with the nearest ones that do, if some are near."""

    def __init__(self, message: str, name: str, names: Sequence[str], form: str, most: int = 1):
        near = difflib.get_close_matches
        close = near(name.lower(), names, n=1, cutoff=0.8) or near(name.lower(), names, n=most)
        self.hint = f"did you mean {' or '.join(map(form.format, close))}?" if close else ""
        super().__init__(message)


def _parameters(cls: type[Kernel]) -> list[inspect.Parameter]:
    return [own for own in inspect.signature(cls).parameters.values() if own.kind is not own.VAR_KEYWORD]


def _format(value: Any) -> str:
    if isinstance(value, Kernel):
        return format_kernel(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name!r}: {_format(v)}" for name, v in value.items()) + "}"
    if isinstance(value, str) and all(word.isidentifier() for word in value.split("+")):
        return value if "+" not in value or value.split("+")[0] in BASES else repr(value)
    return repr(value)


def _refuse(text: str, why: str) -> InputError:
    example = "'ngram(5).normalized()', or with +, * and **, '0.5*ngram(3) + ngram(5).normalized()'"
    return InputError(f"{text!r}: {why}. Write a kernel as in {example}; help(treille.kernels) in Python lists all")
