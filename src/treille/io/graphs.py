"""Files of graphs: JSON lines of nodes and edges, sets of the TU collection, GML, GraphML, and SMILES."""

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from . import jsonl, networkx_graphs, text_files
from .atomic_write import write_bytes
from .blocks import Limits, runs, split_head
from .errors import InputError
from .examples import Examples, Request, block_ids, counted
from .fields import TEXTS, Fields, Found, choose
from .graph_objects import dict_graph, edge_index_graph, has_columns
from .graph_parts import GraphParts, PlainGraph, pack
from .parts import Same

TITLES = {"graphs": "JSON lines of graphs", "tu": "TU set", **networkx_graphs.TITLES, "smiles": "SMILES"}
SUFFIXES: dict[str, tuple[str, ...]] = {
    "graphs": (".graphs.jsonl", ".graphs"),
    "tu": (),
    "gml": (".gml",),
    "graphml": (".graphml",),
    "smiles": (".smi", ".smiles"),
}
GRAPH_FIELDS = ("edges", "links", "edge_index")
UNLISTED = 10_000_000  # nodes that a file may have beyond ten per edge without listing them


def guess_content(line: str, text: str | None) -> str | None:
    """`graphs` for a file whose first line is an object with edges, or an array of such.

    >>> guess_content('{"nodes": ["C", "O"], "edges": [[0, 1]]}', None), guess_content('{"text": "a", "edges": 3}', None)
    ('graphs', None)
    """
    line = line.strip()
    if text is not None or not re.match(r'[{\[].*"(edges|links|edge_index)"\s*:\s*\[', line):
        return None
    try:
        record, _ = json.JSONDecoder().raw_decode(line, line.index("{") if "{" in line else 0)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not {name.lower() for name in record}.isdisjoint(TEXTS):
        return None
    return "graphs" if any(isinstance(record.get(name), list) for name in GRAPH_FIELDS) else None


def blocks(stream: Iterator[str], request: Request, limits: Limits | None) -> Iterator[Examples]:
    """The graphs of a file, and their labels."""
    if request.columns:
        return text_files.blocks(stream, replace(request, format="jsonl"), limits)
    if request.format == "tu":
        raise InputError(f"{request.source}: is one file, expected the folder or the .zip that holds its set")
    if request.format == "smiles":
        return _smiles(stream, request, limits)
    return _json_lines(stream, request, limits) if request.format == "graphs" else _one(stream, request)


def _json_lines(stream: Iterator[str], request: Request, limits: Limits | None) -> Iterator[Examples]:
    source, (head, lines) = request.source, split_head(stream)
    held = request.text or next((f for f in GRAPH_FIELDS if head and f'"{f}"' in head[-1]), GRAPH_FIELDS[0])
    rows, alike, one_hot, title = jsonl.records(lines, source), Same(), None, TITLES["graphs"] + request.how
    missing = f"{source}: holds no graph, expected at least one"
    for found in text_files.collected(rows, replace(request, text=held), limits, missing, _record_graph):
        assert found.fields is not None
        place = _lines(found.found, source)
        graphs, one_hot = _indexed(found.texts, place, one_hot)
        check_sizes(graphs, place)
        parts = pack(graphs, place)
        if found.fields.value is None:  # PyTorch Geometric writes a target as a list of one
            found.found = [(n, y[0] if isinstance(y, list) and len(y) == 1 else y) for n, y in found.found]
        ids = block_ids(found.ids, found.has_ids) if found.id_field else None
        found.has_ids = ids is not None
        facts = [*graph_facts(parts), *["labels = one-hot features"] * bool(one_hot)]
        alike.check(parts, f"{source}, line {found.found[0][0]} and after,")
        yield request.examples(parts, found.found, found.fields, title, facts, "", found.names, ids)


def _record_graph(fields: Fields, record: Mapping[str, Any], place: str) -> PlainGraph | Mapping[str, Any]:
    """The graph of a record, or of the object in the field that the user named; with `edge_index`, the object as it is."""
    held = fields.get(record, fields.texts[0], place)
    held = record if fields.texts[0] in GRAPH_FIELDS else held
    if not isinstance(held, Mapping) or all(held.get(field) is None for field in GRAPH_FIELDS):
        raise InputError(f"{place}: found {json.dumps(held)[:40]}, expected an object with nodes and edges")
    if held.get("edge_index") is not None:
        return held
    graph = dict_graph(held, place)
    with contextlib.suppress(ValueError, OverflowError):  # `pack` finds what is wrong, and where
        edges = np.array(graph.edges)  # not a list of lists: the garbage collector visits each of these many times
        return graph._replace(edges=edges) if edges.dtype.kind == "i" and edges.shape[1:] == (2,) else graph
    return graph


def _indexed(
    items: Sequence[PlainGraph | Mapping[str, Any]], place: Callable[[int], str], one_hot: bool | None
) -> tuple[list[PlainGraph], bool | None]:
    """The graphs of all records, with rows of `x` and `edge_attr` as labels if all are one-hot; and whether these are.

    `one_hot` is what was found for earlier records; None if these have no such rows.
    """

    def graphs(one_hot: bool) -> list[PlainGraph]:
        read = partial(edge_index_graph, one_hot=one_hot)
        return [item if isinstance(item, PlainGraph) else read(item, place(i)) for i, item in enumerate(items)]

    if one_hot is None and any(not isinstance(item, PlainGraph) and has_columns(item) for item in items):
        with contextlib.suppress(InputError):
            return graphs(one_hot=True), True
        return graphs(one_hot=False), False
    return graphs(bool(one_hot)), one_hot


def _lines(found: Found, source: str) -> Callable[[int], str]:
    return lambda i: f"{source}, line {found[i][0]}"


def check_sizes(graphs: Sequence[PlainGraph], place: Callable[[int], str]) -> None:
    """Refuses a small file that asks for much memory by the numbers of nodes that it states."""
    allowed = UNLISTED
    for i, graph in enumerate(graphs):
        if isinstance(graph.nodes, int):
            edges = graph.edges if isinstance(graph.edges, (list, np.ndarray)) else ()
            allowed -= max(0, graph.nodes - 10 * len(edges))
            if allowed < 0:
                raise InputError(
                    f"{place(i)}: states {graph.nodes:,} nodes, most without an edge: expected a list of their labels"
                )


def graph_facts(parts: GraphParts) -> list[str]:
    """The part of a note that describes graphs."""
    return [counted(len(parts.labels), "node"), *["directed"] * parts.directed]


def _one(stream: Iterator[str], request: Request) -> Iterator[Examples]:
    """A file of one graph, which has no field for its label."""
    graph = networkx_graphs.parse("".join(stream), request.format, request.source, request.text)
    fields = choose(["graph"], "graph", request.label, request.labelled, request.source)
    parts, title = pack([graph], lambda i: request.source), TITLES[request.format] + request.how
    yield request.examples(parts, [(1, None)], fields, title, graph_facts(parts))


def _smiles(stream: Iterator[str], request: Request, limits: Limits | None) -> Iterator[Examples]:
    """Each line is a molecule, and what follows after a blank its name, if all differ, or its label."""
    source, has_ids, names = request.source, None, list[str]()
    for run in runs(_molecules(stream, source), limits, lambda row: 8 * len(row[2].nodes)):
        rows = list(run)
        found: Found = [(number, name) for number, name, _ in rows]
        ids = block_ids((name for _, name, _ in rows), has_ids)
        if has_ids is None:
            has_ids = ids is not None
            named = request.labelled is None and request.label is None and ids is not None and len(ids) > 2
            names = ["label", "smiles"] if found[0][1] is not None and not named else ["smiles"]
        fields = choose(names, "smiles", request.label, request.labelled, source)
        parts, title = pack([graph for _, _, graph in rows], _lines(found, source)), TITLES["smiles"] + request.how
        yield request.examples(parts, found, fields, title, graph_facts(parts), "", names, ids)


def _molecules(stream: Iterator[str], source: str) -> Iterator[tuple[int, str | None, PlainGraph]]:
    for number, line in enumerate(stream, 1):
        if line.strip():
            text, *rest = line.split(None, 1)
            yield number, rest[0].strip() if rest else None, smiles_graph(text, f"{source}, line {number}")


def format_graph(graph: PlainGraph, label: str | None = None) -> str:
    """A graph as a line of JSON, as `read` understands it.

    >>> format_graph(PlainGraph(["C", "O"], [(0, 1)]), "alcohol")
    '{"label": "alcohol", "nodes": ["C", "O"], "edges": [[0, 1]]}'
    """
    nodes, edges, edge_labels, weights, attributes, directed = graph
    record: dict[str, Any] = {} if label is None else {"label": label}
    record |= {"nodes": nodes, "edges": [[int(u), int(v)] for u, v in edges]}
    rows = None if attributes is None else [[float(value) for value in row] for row in attributes]
    optional = {"edge_labels": edge_labels, "weights": weights, "node_attr": rows, "directed": directed or None}
    return json.dumps(record | {name: value for name, value in optional.items() if value is not None})


def write_graphs(
    path: str | os.PathLike[str], graphs: Sequence[PlainGraph], labels: Sequence[str] | None = None
) -> None:
    """Writes graphs as JSON lines, zipped if the name ends in .gz.

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.jsonl"
    >>> write_graphs(path, [PlainGraph(2, [(0, 1)])])
    >>> path.read_text()
    '{"nodes": 2, "edges": [[0, 1]]}\\n'
    """
    known: Sequence[str | None] = labels or [None] * len(graphs)
    text = "".join(f"{format_graph(graph, label)}\n" for graph, label in zip(graphs, known, strict=True))
    write_bytes(path, text.encode(), "graphs")


def smiles_graph(text: Any, place: str) -> PlainGraph:
    """The graph of a molecule, hydrogen atoms left out unless they are written as atoms."""
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        raise InputError("SMILES are read by rdkit, which is not installed: pip install rdkit") from None
    if not isinstance(text, str):
        raise InputError(f"{place} is {type(text).__name__}, expected SMILES as a str")
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(text)
    if molecule is None or not text.strip():
        raise InputError(f"{place}: rdkit cannot read {text[:80]!r}, expected SMILES such as CC(=O)O")
    atoms = [atom.GetSymbol() for atom in molecule.GetAtoms()]
    bonds = list(molecule.GetBonds())
    ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds]
    return PlainGraph(atoms, ends, [str(bond.GetBondType()).lower() for bond in bonds])
