"""Real data without a download: the functions of the Python standard library, from its source."""

import ast
import sysconfig
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from treille.io import InputError

# Large packages for different purposes that every CPython from 3.10 on has, even in minimal installations.
PACKAGES = ("asyncio", "email", "http", "importlib", "logging", "multiprocessing", "unittest", "xml")
NOT_SOURCE = {"test", "tests", "idle_test", "site-packages", "__pycache__"}


def functions(
    packages: Sequence[str] | None = None, *, min_length: int = 120, per_package: int = 250
) -> tuple[list[str], list[str]]:
    """Functions of the standard library as texts, and the package each comes from as its label.

    A text is the source of a function or method with its decorators, docstring and comments, without indentation, so that
    it parses by itself. Nested functions are part of the outer one, and of equal texts one is kept. The texts and their
    order are the same on every run of the same version of Python.

    Parameters
    ----------
    packages : packages or modules of the standard library; by default eight, leaving out those not installed.
    min_length : leave out functions of fewer characters.
    per_package : at most so many of each package, evenly spaced over its source.

    >>> texts, labels = functions(["json", "logging"], per_package=20)
    >>> len(texts), sorted(set(labels))
    (40, ['json', 'logging'])
    """
    if per_package < 1:
        raise InputError(f"per_package is {per_package}, expected at least 1")
    texts: dict[str, str] = {}
    for package in _installed(packages):
        own = list(dict.fromkeys(t for t in _functions_of(package) if len(t) >= min_length and t not in texts))
        n = min(len(own), per_package)
        texts.update((own[i * len(own) // n], package) for i in range(n))
    return list(texts), list(texts.values())


def _installed(packages: Sequence[str] | None) -> list[str]:
    wanted = list(dict.fromkeys(PACKAGES if packages is None else packages))
    found = [package for package in wanted if _files(package)]
    absent = [package for package in wanted if package not in found]
    if packages is not None and absent:
        raise InputError(
            f"no source of {', '.join(absent)} in the standard library at {_library()};"
            f" there are for example {', '.join(package for package in PACKAGES if _files(package)) or 'none'}"
        )
    if len(found) < 2 and packages is None:
        raise InputError(
            f"the source of the standard library is not at {_library()}: expected packages such as"
            f" {', '.join(PACKAGES[:3])}; install Python with its library's .py files"
        )
    return found


def _library() -> Path:
    return Path(sysconfig.get_path("stdlib"))


def _files(package: str) -> list[Path]:
    """The source files of a package, or of a module, in the order of their names."""
    root = _library() / Path(*package.split("."))
    files = root.rglob("*.py") if root.is_dir() else [root.with_name(f"{root.name}.py")]
    return sorted(
        file for file in files if file.is_file() and NOT_SOURCE.isdisjoint(file.relative_to(root.parent).parts)
    )


def _functions_of(package: str) -> Iterator[str]:
    for file in _files(package):
        with tokenize.open(file) as stream:
            source = stream.read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as an escape sequence that later versions will refuse
            tree = ast.parse(source)
        lines = source.split("\n")  # not splitlines: a form feed ends no line of Python
        for node in _outermost(tree):
            yield _left_aligned(lines, node)


def _outermost(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield child
        elif isinstance(child, ast.stmt):
            yield from _outermost(child)


def _left_aligned(lines: list[str], node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """The lines of a function without its indentation. Lines of a string with less indentation are kept."""
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    margin = " " * node.col_offset
    return "\n".join(line.removeprefix(margin) for line in lines[first - 1 : node.end_lineno])
