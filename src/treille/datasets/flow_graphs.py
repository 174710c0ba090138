"""Functions in Python as graphs: control flow between statements, and data flow from definitions to uses."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from treille.data import Graph
from treille.io import InputError

from .functions import functions

NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
TRY: Any = (ast.Try, getattr(ast, "TryStar", ast.Try))  # the second from Python 3.11 on
Ends = list[int]  # nodes after which control continues


def function_graphs(
    packages: Sequence[str] | None = None, *, min_length: int = 120, per_package: int = 250
) -> tuple[list[Graph], list[str]]:
    """The `functions` of the standard library as graphs, see `flow_graph`, and the package each comes from as its label.

    >>> graphs, labels = function_graphs(["json", "logging"], per_package=20)
    >>> len(graphs), sorted(set(labels))
    (40, ['json', 'logging'])
    """
    texts, labels = functions(packages, min_length=min_length, per_package=per_package)
    return [flow_graph(text) for text in texts], labels


def flow_graph(source: str) -> Graph:
    """A function as a directed graph of control flow and data flow.

    Nodes are statements, labelled by their type (`If`, `Return`), and names: attributes (`.path`), names from outside the
    function (`open`, `OSError`), and, for each statement that binds it, a parameter or local variable (`path`). The first
    node is the function itself, which binds its parameters. Edges are labelled

    - "flow": from a statement to those that may follow it;
    - "use": from a statement to the names in it, from an attribute to its object, from a called function to its arguments;
    - "data": from a statement to a variable it binds, and on to what reads it, up to where it is bound again in the source.

    >>> graph = flow_graph("def f(path):\\n    return open(path).read()")
    >>> graph.nodes
    ['FunctionDef', 'path', 'Return', '.read', 'open']
    >>> [f"{u} > {v}: {label}" for (u, v), label in zip(graph.edges, graph.edge_labels)]
    ['0 > 1: data', '0 > 2: flow', '2 > 3: use', '3 > 4: use', '1 > 4: data']
    """
    try:
        body = ast.parse(source).body
    except (SyntaxError, ValueError) as error:
        raise InputError(f"the source is not Python: {error}") from None
    if len(body) != 1 or not isinstance(body[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        raise InputError(f"the source has {len(body)} statements at its top, expected one function, def or async def")
    flow = _Flow(body[0])
    return Graph(flow.nodes, list(flow.edges), list(flow.edges.values()), directed=True)


class _Flow:
    """Visits the statements in the order of the source."""

    def __init__(self, function: ast.FunctionDef | ast.AsyncFunctionDef):
        self.nodes: list[str] = []
        self.edges: dict[tuple[int, int], str] = {}
        self.bound: dict[str, int] = {}  # the node of each local variable, made where it was bound last
        self.leaving: list[tuple[Ends, Ends]] = []  # breaks and continues of the loops around
        others = (part for part in ast.walk(function) if isinstance(part, (ast.Global, ast.Nonlocal)))
        self.local = set(_names_bound(function)).difference(*(part.names for part in others))
        start = self.node(type(function).__name__)
        arguments = function.args
        for each in [*function.decorator_list, *arguments.defaults, *filter(None, arguments.kw_defaults)]:
            self.uses(each, start)
        self.bind(_names_bound(arguments), start)
        self.block(function.body, [start])

    def node(self, label: str) -> int:
        self.nodes.append(label)
        return len(self.nodes) - 1

    def edge(self, source: int, target: int, label: str) -> None:
        self.edges.setdefault((source, target), label)

    def block(self, statements: Iterable[ast.stmt], ends: Ends) -> Ends:
        for statement in statements:
            ends = self.statement(statement, ends)
        return ends

    def enter(self, part: ast.AST, ends: Ends, expressions: Iterable[ast.AST | None]) -> int:
        """A new node after `ends`, which uses and binds what is in the expressions."""
        node, present = self.node(type(part).__name__), [each for each in expressions if each is not None]
        for end in ends:
            self.edge(end, node, "flow")
        for each in present:
            self.uses(each, node)
        names = [getattr(part, "name", None), *(name for each in present for name in _names_bound(each))]
        self.bind(filter(None, names), node)
        return node

    def statement(self, part: ast.stmt, ends: Ends) -> Ends:
        if isinstance(part, (ast.For, ast.AsyncFor, ast.While)):
            return self.loop(part, ends)
        if isinstance(part, TRY):
            return self.attempt(part, ends)
        if isinstance(part, ast.If):
            node = self.enter(part, ends, [part.test])
            return self.block(part.body, [node]) + self.block(part.orelse, [node])
        if isinstance(part, (ast.With, ast.AsyncWith)):
            node = self.enter(part, ends, part.items)
            return self.block(part.body, [node]) or [node]  # it may suppress an exception
        if isinstance(part, ast.Match):
            node = self.enter(part, ends, [part.subject])
            return [node, *(end for case in part.cases for end in self.case(case, node))]
        node = self.enter(part, ends, ast.iter_child_nodes(part))
        if isinstance(part, (ast.Break, ast.Continue)):
            self.leaving[-1][isinstance(part, ast.Continue)].append(node)
        return [] if isinstance(part, (ast.Break, ast.Continue, ast.Return, ast.Raise)) else [node]

    def loop(self, part: ast.For | ast.AsyncFor | ast.While, ends: Ends) -> Ends:
        node = self.enter(part, ends, [part.test] if isinstance(part, ast.While) else [part.iter, part.target])
        self.leaving.append(([], []))
        last = self.block(part.body, [node])
        breaks, continues = self.leaving.pop()
        for end in last + continues:
            self.edge(end, node, "flow")
        return self.block(part.orelse, [node]) + breaks

    def attempt(self, part: ast.Try, ends: Ends) -> Ends:
        node = self.enter(part, ends, [])
        ends = self.block(part.orelse, self.block(part.body, [node]))
        for handler in part.handlers:
            caught = self.enter(handler, [node], [handler.type])
            ends = ends + self.block(handler.body, [caught])
        return self.block(part.finalbody, ends or [node] * bool(part.finalbody))

    def case(self, case: ast.match_case, node: int) -> Ends:
        for each in filter(None, [case.pattern, case.guard]):
            self.uses(each, node)
        self.bind(_names_bound(case.pattern), node)
        return self.block(case.body, [node])

    def uses(self, part: ast.AST, user: int) -> None:
        """Nodes for the names in an expression, and edges from `user` to them."""
        if isinstance(part, ast.Call):
            user, operands = self.call(part, user), [*part.args, *part.keywords]
        elif isinstance(part, ast.Attribute):
            user, operands = self.used(f".{part.attr}", user), [part.value]
        elif isinstance(part, ast.Name):
            self.name(part, user)
            return
        else:
            operands = list(ast.iter_child_nodes(part))
        for each in operands:
            self.uses(each, user)

    def call(self, part: ast.Call, user: int) -> int:
        function = part.func
        if isinstance(function, ast.Attribute):
            node = self.used(f".{function.attr}", user)
            self.uses(function.value, node)
        elif isinstance(function, ast.Name) and function.id not in self.local:
            node = self.used(function.id, user)
        else:
            node = self.used("call", user)
            self.uses(function, node)
        return node

    def name(self, part: ast.Name, user: int) -> None:
        if part.id not in self.local:
            self.used(part.id, user)
        elif isinstance(part.ctx, ast.Load) and part.id in self.bound:
            self.edge(self.bound[part.id], user, "data")

    def used(self, label: str, user: int) -> int:
        node = self.node(label)
        self.edge(user, node, "use")
        return node

    def bind(self, names: Iterable[str], node: int) -> None:
        for name in dict.fromkeys(names):
            if name in self.local:
                self.bound[name] = self.node(name)
                self.edge(node, self.bound[name], "data")


def _names_bound(part: ast.AST) -> Iterator[str]:
    for each in ast.walk(part):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id
        elif isinstance(each, ast.arg):
            yield each.arg
        elif isinstance(each, ast.alias):
            yield (each.asname or each.name).split(".")[0]
        elif isinstance(each, ast.MatchMapping) and each.rest:
            yield each.rest
        elif isinstance(each, NAMED) and each.name:
            yield each.name
