"""Files of graphs: JSON lines of nodes and edges, GML, GraphML, SMILES, and the folders and archives of the TU collection.

A set DS of the TU collection is the files DS_A.txt, DS_graph_indicator.txt and others, one line per edge or node.
Morris et al., TUDataset: a collection of benchmark datasets for learning with graphs, 2020.
"""

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from treille import _core

from . import jsonl, networkx_graphs, text_files
from .archive import Member
from .atomic_write import write_bytes
from .blocks import Limits, runs, split_head
from .errors import InputError
from .examples import Examples, Request, block_ids, counted
from .fields import TEXTS, Fields, Found, choose
from .graph_objects import dict_graph, edge_index_graph, has_columns, other_fields
from .open import COMPRESSED
from .packed import Same, running_sum
from .packed_graphs import LIMIT, NO_CODES, NO_WEIGHTS, PackedGraphs, PlainGraph, in_order, pack
from .unused import Unused

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
    unused = Unused()
    get = partial(_record_graph, unused=unused)
    for found in text_files.collected(rows, replace(request, text=held), limits, missing, get):
        assert found.fields is not None
        place = _lines(found.found, source)
        graphs, one_hot = _indexed(found.texts, place, one_hot)
        check_sizes(graphs, place)
        parts = pack(graphs, place)
        if found.fields.value is None:  # PyTorch Geometric writes a target as a list of one
            found.found = [(n, y[0] if isinstance(y, list) and len(y) == 1 else y) for n, y in found.found]
        ids = block_ids(found.ids, found.has_ids, request.repeated_ids) if found.id_field else None
        found.has_ids = ids is not None
        unused.leave_out("", (found.fields.label, found.id_field))
        facts = [*graph_facts(parts), *["labels = one-hot features"] * bool(one_hot), *unused.facts()]
        alike.check(parts, f"{source}, line {found.found[0][0]} and after,")
        yield request.examples(parts, found.found, found.fields, title, facts, "", found.names, ids)


def _record_graph(
    fields: Fields, record: Mapping[str, Any], place: str, unused: Unused
) -> PlainGraph | Mapping[str, Any]:
    """The graph of a record, or of the object in the field that the user named; with `edge_index`, the object as it is."""
    held = fields.get(record, fields.texts[0], place)
    held = record if fields.texts[0] in GRAPH_FIELDS else held
    if not isinstance(held, Mapping) or all(held.get(field) is None for field in GRAPH_FIELDS):
        raise InputError(f"{place}: found {json.dumps(held)[:40]}, expected an object with nodes and edges")
    if held.get("edge_index") is not None:
        unused.add(place, other_fields(held))
        return held
    graph = dict_graph(held, place, unused)
    with contextlib.suppress(ValueError, OverflowError):  # `pack` reports the error and its place
        edges = np.array(graph.edges)  # not a list of lists: the garbage collector visits each of these many times
        return graph._replace(edges=edges) if edges.dtype.kind == "i" and edges.shape[1:] == (2,) else graph
    return graph


def _indexed(
    items: Sequence[PlainGraph | Mapping[str, Any]], place: Callable[[int], str], one_hot: bool | None
) -> tuple[list[PlainGraph], bool | None]:
    """The graphs of all records, with rows of `x` and `edge_attr` as labels if all are one-hot; and whether these are.

    `one_hot` is the answer for earlier records; None if these have no such rows.
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


def graph_facts(parts: PackedGraphs) -> list[str]:
    """The part of a note that describes graphs."""
    return [counted(len(parts.labels), "node"), *["directed"] * parts.directed]


def _one(stream: Iterator[str], request: Request) -> Iterator[Examples]:
    """A file of one graph, which has no field for its label."""
    unused = Unused()
    graph = networkx_graphs.parse("".join(stream), request.format, request.source, request.text, unused)
    fields = choose(["graph"], "graph", request.label, request.labelled, request.source)
    parts, title = pack([graph], lambda i: request.source), TITLES[request.format] + request.how
    yield request.examples(parts, [(1, None)], fields, title, graph_facts(parts) + unused.facts())


def _smiles(stream: Iterator[str], request: Request, limits: Limits | None) -> Iterator[Examples]:
    """Each line is a molecule, and what follows after a blank its name, if all differ, or its label."""
    source, has_ids, names = request.source, None, list[str]()
    unused = Unused()
    for run in runs(_molecules(stream, source, unused), limits, lambda row: 8 * len(row[2].nodes)):
        rows = list(run)
        found: Found = [(number, name) for number, name, _ in rows]
        ids = block_ids((name for _, name, _ in rows), has_ids)
        if has_ids is None:
            has_ids = ids is not None
            named = request.labelled is None and request.label is None and ids is not None and len(ids) > 2
            names = ["label", "smiles"] if found[0][1] is not None and not named else ["smiles"]
        fields = choose(names, "smiles", request.label, request.labelled, source)
        parts, title = pack([graph for _, _, graph in rows], _lines(found, source)), TITLES["smiles"] + request.how
        yield request.examples(parts, found, fields, title, graph_facts(parts) + unused.facts(), "", names, ids)


def _molecules(stream: Iterator[str], source: str, unused: Unused) -> Iterator[tuple[int, str | None, PlainGraph]]:
    for number, line in enumerate(stream, 1):
        if line.strip():
            text, *rest = line.split(None, 1)
            graph = smiles_graph(text, f"{source}, line {number}", unused=unused)
            yield number, rest[0].strip() if rest else None, graph


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


def smiles_graph(text: Any, place: str, hydrogens: bool = False, unused: Unused | None = None) -> PlainGraph:
    """The graph of a molecule without its hydrogen atoms. Labels are elements with their charges and isotopes, such as O- and 13C.

    With `hydrogens`, labels contain the hydrogen atoms, such as CH3. `unused` collects what is not part of the graph.
    """
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
    atoms, bonds = list(molecule.GetAtoms()), list(molecule.GetBonds())
    if unused is not None:
        lost = {
            "stereochemistry": any(str(atom.GetChiralTag()) != "CHI_UNSPECIFIED" for atom in atoms)
            or any(str(bond.GetStereo()) not in ("STEREONONE", "STEREOANY") for bond in bonds),
            "radicals": not hydrogens
            and any(atom.GetNumRadicalElectrons() and not atom.GetFormalCharge() for atom in atoms),
            "atom maps": any(atom.GetAtomMapNum() for atom in atoms),
        }
        unused.add(f"{place}, {text[:40]!r}", [name for name, found in lost.items() if found])
    ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds]
    return PlainGraph(
        [_atom_label(atom, hydrogens) for atom in atoms], ends, [str(bond.GetBondType()).lower() for bond in bonds]
    )


def _atom_label(atom: Any, hydrogens: bool) -> str:
    """The label of an atom as SMILES writes it in brackets."""
    n, charge = atom.GetTotalNumHs() if hydrogens else 0, atom.GetFormalCharge()
    size = str(abs(charge)) if abs(charge) > 1 else ""
    of_hydrogen = f"H{n if n > 1 else ''}" if n else ""
    sign = f"{'+' if charge > 0 else '-'}{size}" if charge else ""
    return f"{atom.GetIsotope() or ''}{atom.GetSymbol()}{of_hydrogen}{sign}"


EDGES, INDICATOR = "_A.txt", "_graph_indicator.txt"


def set_names(members: Sequence[Member]) -> list[str]:
    """The names of the sets that these files hold: MUTAG for MUTAG_A.txt."""
    names = [_stem(member) for member in members]
    return sorted({name.removesuffix(EDGES) for name in names if name.endswith(EDGES) and len(name) > len(EDGES)})


def _stem(member: Member) -> str:
    return COMPRESSED.sub("", PurePosixPath(member.name).name)


def read_set(members: Sequence[Member], request: Request) -> Examples:
    """The graphs of a set, and their labels or, if there are none, their attributes as targets."""
    found = set_names(members)
    if len(found) != 1:
        which = f"the sets {', '.join(found)}" if found else f"no file DS{EDGES}"
        raise InputError(f"{request.source}: holds {which}, expected the files of one set: DS{EDGES}, DS{INDICATOR}")
    files = {_stem(member).removeprefix(found[0]): member for member in members if _stem(member).startswith(found[0])}
    tables = {end: _Table(file, request.encoding) for end, file in files.items() if end.endswith(".txt")}
    if INDICATOR not in tables:
        raise InputError(f"{request.source}: there is no file {found[0]}{INDICATOR}, which has the graph of every node")
    targets = _targets(tables)
    n_graphs = len(next(iter(targets.values()))) if targets else None
    parts = _packed_set(tables, n_graphs)
    fields = choose([*targets, "edges"], "edges", request.label_among(targets), request.labelled, request.source)
    of_label: Found = [(i + 1, value) for i, value in enumerate(targets[fields.label])] if fields.label else []
    facts = graph_facts(parts) + [f"{found[0]}_edge_attributes.txt not read"] * ("_edge_attributes.txt" in tables)
    examples = request.examples(parts, of_label, fields, f"TU set {found[0]}{request.how}", facts, "", [*targets])
    return replace(examples, lines=())


class _Table:
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
    """One row of numbers per line; None if a line does not hold this many numbers."""
    try:
        values = map(kind, "\n".join(lines).replace(",", " ").split())
        flat = np.array(list(values), np.int64 if kind is int else np.float64)
    except (ValueError, OverflowError):
        return None
    even = width == 1 or all(len(line.replace(",", " ").split()) == width for line in lines)
    sound = even and len(flat) == width * len(lines) and np.isfinite(flat).all()
    return flat.reshape(len(lines), width) if sound else None


def _targets(tables: dict[str, _Table]) -> dict[str, list[str]]:
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


def _packed_set(tables: dict[str, _Table], n_graphs: int | None) -> PackedGraphs:
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
    codes, alphabet = _table_labels(tables, "_node_labels.txt", len(indicator), "nodes")
    edge_codes, edge_alphabet = _table_labels(tables, "_edge_labels.txt", len(ends), "edges")
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
    return PackedGraphs(labels, offsets, arcs, nodes, arc_labels, NO_WEIGHTS, rows, alphabet, edge_alphabet, directed)


def _table_labels(tables: dict[str, _Table], end: str, n: int, what: str) -> tuple[np.ndarray, list[str]]:
    if end not in tables:
        return NO_CODES, []
    _check_length(tables[end], len(tables[end].lines), n, what)
    return tables[end].coded()


def _check_length(table: _Table, found: int, n: int, what: str) -> None:
    if found != n:
        raise InputError(f"{table.name}: has {found:,} lines, expected one for each of the {n:,} {what}")
