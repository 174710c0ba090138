"""Folders and archives of the TU collection of graphs: DS_A.txt, DS_graph_indicator.txt and others, one line per edge or node.

Morris et al., TUDataset: a collection of benchmark datasets for learning with graphs, 2020.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np

from treille import _core

from .archive import Member
from .errors import InputError
from .examples import Examples, Request
from .fields import Found, choose
from .graph_parts import LIMIT, NO_CODES, NO_WEIGHTS, GraphParts, in_order
from .graphs import graph_facts
from .open import COMPRESSED
from .parts import running_sum

EDGES, INDICATOR = "_A.txt", "_graph_indicator.txt"


def prefixes(members: Sequence[Member]) -> list[str]:
    """The names of the sets that these files hold: MUTAG for MUTAG_A.txt."""
    names = [_stem(member) for member in members]
    return sorted({name.removesuffix(EDGES) for name in names if name.endswith(EDGES) and len(name) > len(EDGES)})


def _stem(member: Member) -> str:
    return COMPRESSED.sub("", PurePosixPath(member.name).name)


def read(members: Sequence[Member], request: Request) -> Examples:
    """The graphs of a set, and their labels or, if there are none, their attributes as targets."""
    found = prefixes(members)
    if len(found) != 1:
        which = f"the sets {', '.join(found)}" if found else f"no file DS{EDGES}"
        raise InputError(f"{request.source}: holds {which}, expected the files of one set: DS{EDGES}, DS{INDICATOR}")
    files = {_stem(member).removeprefix(found[0]): member for member in members if _stem(member).startswith(found[0])}
    tables = {end: _Lines(file, request.encoding) for end, file in files.items() if end.endswith(".txt")}
    if INDICATOR not in tables:
        raise InputError(f"{request.source}: there is no file {found[0]}{INDICATOR}, which has the graph of every node")
    targets = _targets(tables)
    n_graphs = len(next(iter(targets.values()))) if targets else None
    parts = _graphs(tables, n_graphs)
    fields = choose([*targets, "edges"], "edges", request.label, request.labelled, request.source)
    of_label: Found = [(i + 1, value) for i, value in enumerate(targets[fields.label])] if fields.label else []
    facts = graph_facts(parts) + [f"{found[0]}_edge_attributes.txt not read"] * ("_edge_attributes.txt" in tables)
    examples = request.examples(parts, of_label, fields, f"TU set {found[0]}{request.how}", facts, "", [*targets])
    return replace(examples, lines=())


class _Lines:
    """The lines of a file, without blanks at their ends and blank lines at the end of the file."""

    def __init__(self, member: Member, encoding: str):
        with member.text(encoding) as stream:
            self.name, self.lines = member.name, stream.read().replace("\r", "").rstrip().split("\n")
        if self.lines == [""]:
            self.lines = []

    def numbers(self, kind: type, expected: str, width: int | None = None) -> np.ndarray:
        """One row of numbers per line, between commas or blanks; as many as on the first line if no `width` is given."""
        if width is None:
            width = len(self.lines[0].replace(",", " ").split()) if self.lines else 0
        rows = _numbers(self.lines, kind, width)
        if rows is None:
            each = enumerate(self.lines, 1)
            number, line = next((n, line) for n, line in each if _numbers([line], kind, width) is None)
            raise InputError(f"{self.name}, line {number}: found {line[:40]!r}, expected {expected}")
        return rows

    def coded(self) -> tuple[np.ndarray, list[str]]:
        """The lines as labels: their codes, and the alphabet."""
        distinct = {line: ",".join(cell.strip() for cell in line.split(",")) for line in set(self.lines)}
        alphabet = in_order(set(distinct.values()))
        position = {name: code for code, name in enumerate(alphabet)}
        codes = {line: position[name] for line, name in distinct.items()}
        return np.fromiter((codes[line] for line in self.lines), np.int32, len(self.lines)), alphabet


def _numbers(lines: Sequence[str], kind: type, width: int) -> np.ndarray | None:
    """One row of numbers per line; None if a line does not hold so many numbers."""
    try:
        values = map(kind, "\n".join(lines).replace(",", " ").split())
        flat = np.array(list(values), np.int64 if kind is int else np.float64)
    except (ValueError, OverflowError):
        return None
    even = width == 1 or all(len(line.replace(",", " ").split()) == width for line in lines)
    sound = even and len(flat) == width * len(lines) and np.isfinite(flat).all()
    return flat.reshape(len(lines), width) if sound else None


def _targets(tables: dict[str, _Lines]) -> dict[str, list[str]]:
    """Labels and attributes of graphs, by name: label, target, or target1 and so on."""
    found = dict[str, list[str]]()
    if "_graph_labels.txt" in tables:
        found["label"] = [line.strip() for line in tables["_graph_labels.txt"].lines]
    if "_graph_attributes.txt" in tables:
        table = tables["_graph_attributes.txt"]
        rows = table.numbers(float, "numbers, as many as on the first line")
        names = ["target"] if rows.shape[1] == 1 else [f"target{j + 1}" for j in range(rows.shape[1])]
        found |= {name: [repr(float(value)) for value in column] for name, column in zip(names, rows.T, strict=True)}
        if "label" in found and len(found["label"]) != len(rows):
            raise InputError(f"{table.name}: has {len(rows):,} lines, but there are {len(found['label']):,} graphs")
    return found


def _graphs(tables: dict[str, _Lines], n_graphs: int | None) -> GraphParts:
    indicator = tables[INDICATOR].numbers(int, "the number of the graph of a node, counted from 1", 1)[:, 0]
    n = int(indicator.max(initial=0)) if n_graphs is None else n_graphs
    if n > max(LIMIT, len(indicator)) or (n_graphs is None and n > 2 * len(indicator) + 1):
        raise InputError(f"{tables[INDICATOR].name}: the largest number is {n:,}, for {len(indicator):,} nodes")
    outside = (indicator < 1) | (indicator > n)
    if outside.any():
        v = int(outside.argmax())
        raise InputError(
            f"{tables[INDICATOR].name}, line {v + 1}: there is no graph {indicator[v]}, expected 1 to {n:,}"
        )
    order = np.argsort(indicator, kind="stable")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    offsets = running_sum(np.bincount(indicator - 1, minlength=n))
    edges = tables[EDGES]
    ends = edges.numbers(int, "the numbers of two nodes, counted from 1", 2) - 1
    absent = (ends < 0) | (ends >= len(indicator))
    if absent.any():
        e = int(absent.any(axis=1).argmax())
        raise InputError(
            f"{edges.name}, line {e + 1}: joins the nodes {edges.lines[e].strip()}, but there are {len(indicator):,}"
        )
    graph = indicator[ends] - 1
    if (graph[:, 0] != graph[:, 1]).any():
        e = int((graph[:, 0] != graph[:, 1]).argmax())
        raise InputError(
            f"{edges.name}, line {e + 1}: joins a node of graph {graph[e, 0] + 1} and one of graph {graph[e, 1] + 1}"
        )
    by_graph = np.argsort(graph[:, 0], kind="stable")
    local = place[ends] - offsets[graph]
    starts = running_sum(np.bincount(graph[:, 0], minlength=n))
    codes, alphabet = _labels(tables, "_node_labels.txt", len(indicator), "nodes")
    edge_codes, edge_alphabet = _labels(tables, "_edge_labels.txt", len(ends), "edges")
    attributes = np.empty((len(indicator), 0))
    if "_node_attributes.txt" in tables:
        attributes = tables["_node_attributes.txt"].numbers(float, "numbers, as many as on the first line")
        _check_length(tables["_node_attributes.txt"], len(attributes), len(indicator), "nodes")
    labels = codes[order] if alphabet else np.zeros(len(indicator), np.int32)
    edge_labels = edge_codes[by_graph] if edge_alphabet else NO_CODES
    sources, targets = (np.ascontiguousarray(local[by_graph, side]) for side in (0, 1))
    for directed in (False, True):  # some sets label the two directions of an edge differently
        given = (offsets, starts, sources, targets, edge_labels, NO_WEIGHTS)
        arcs, nodes, arc_labels, _, fault = _core.adjacency(*given, directed)
        if fault is None:
            break
    if fault is not None:
        g, e, other = fault
        first, second = (int(by_graph[starts[g] + k]) + 1 for k in (e, other))
        raise InputError(f"{edges.name}, line {first}: is the edge of line {second}, with another label")
    rows = np.ascontiguousarray(attributes[order])
    return GraphParts(labels, offsets, arcs, nodes, arc_labels, NO_WEIGHTS, rows, alphabet, edge_alphabet, directed)


def _labels(tables: dict[str, _Lines], end: str, n: int, what: str) -> tuple[np.ndarray, list[str]]:
    if end not in tables:
        return NO_CODES, []
    _check_length(tables[end], len(tables[end].lines), n, what)
    return tables[end].coded()


def _check_length(table: _Lines, found: int, n: int, what: str) -> None:
    if found != n:
        raise InputError(f"{table.name}: has {found:,} lines, expected one for each of the {n:,} {what}")
