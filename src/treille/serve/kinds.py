"""Examples in JSON as the examples of a model: which kind of data it reads, and how that is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treille import Batch, Graphs, InputError, Trees, Vectors
from treille.data import Graph
from treille.features import FeatureMap
from treille.io import brackets, json_arcs, plf
from treille.io.fields import Fields
from treille.io.graph_arrays import edge_index_graph
from treille.io.graph_objects import dict_graph, is_graph
from treille.io.graphs import check_sizes
from treille.io.machine import MachineList
from treille.io.smiles import smiles_graph
from treille.io.symbols import over_one_table
from treille.io.trees import without_root
from treille.io.units import TextUnit
from treille.kernels import Kernel, Precomputed
from treille.kernels.reading import column_kernels, reads
from treille.tagging import Sentences

PLACE = "item {}".format
TEXTS, TOKENS, TREES, GRAPHS, VECTORS = "texts", "tokens", "trees", "graphs", "vectors"
COLUMNS, SENTENCES = "columns", "sentences"
READABLE = {
    TEXTS: "a text",
    TOKENS: "a list of tokens, or a lattice: an object with arcs and finals, or with plf",
    TREES: "a tree in brackets, such as '(S (NP he) (VP (V sat)))'",
    GRAPHS: "an object with nodes and edges, such as {'nodes': ['C', 'O'], 'edges': [[0, 1]]}",
    VECTORS: "a list of numbers, or an object of numbers by name",
    COLUMNS: "an object with a value for each column",
    SENTENCES: "a list of tokens, or of lists with the columns of each token",
}


@dataclass(frozen=True)
class Reader:
    """Reads values of JSON as examples of one kind."""

    kind: str
    read: Callable[[list[Any]], Any]
    columns: Mapping[str, Reader]  # of examples with several columns
    n_columns: int = 1  # of the tokens of sentences; 0 if these have features

    @property
    def expected(self) -> str:
        """What an example looks like, in words."""
        return READABLE[self.kind]


def reader_of(model: Any) -> Reader:
    """How examples of a model are read.

    >>> import treille
    >>> reader = reader_of(treille.SVC(treille.kernels.NGram(2)).fit(["ab", "cd"], [0, 1]))
    >>> reader.kind, reader.read(["abc"])
    ('texts', ['abc'])
    """
    if model.task().reads is Sentences:
        return _reader_of_sentences(model)
    kernel, reading = model.plan_.kernel, model.reading_
    if isinstance(kernel, Precomputed):
        raise InputError("the model has a precomputed kernel, which reads no examples: it cannot be served")
    columns = {name: _reader(own, reading) for name, own in column_kernels(kernel)}
    if columns:
        return Reader(COLUMNS, lambda values: _columns(values, columns), columns)
    reader = _reader(kernel, reading)
    return Reader(TOKENS, reader.read, {}) if reader.kind == TEXTS and _learned_tokens(model.functions_) else reader


def _reader(kernel: Kernel, reading: Mapping[str, Any]) -> Reader:
    """For a kernel of whole examples, found by what it accepts."""
    if reads(kernel, ["(a (b))"], Trees):
        return Reader(TREES, lambda values: _trees(values, bool(reading.get("root_label"))), {})
    if reads(kernel, [Graph(["a"], [])], Graphs):
        return Reader(GRAPHS, _graphs, {})
    if reads(kernel, np.zeros((1, 1)), Vectors):
        return Reader(VECTORS, lambda values: values, {})
    return Reader(TEXTS, lambda values: _sequences(values, reading), {})


def _learned_tokens(part: Any, depth: int = 6) -> bool:
    """Whether the features, or the examples, that a model keeps are of sequences of tokens or of lattices, not of texts."""
    unit = getattr(part, "unit", None)
    if isinstance(unit, str):
        return not TextUnit.of(unit).splits_texts
    known = vars(part).values() if depth and hasattr(part, "__dict__") else ()
    inner = [each for value in known for each in (value if isinstance(value, (list, tuple)) else [value])]
    return any(_learned_tokens(each, depth - 1) for each in inner if isinstance(each, (FeatureMap, Batch)))


def _columns(values: list[Any], columns: Mapping[str, Reader]) -> list[dict[str, Any]]:
    for i, value in enumerate(values):
        if not isinstance(value, dict):
            raise InputError(f"item {i} is {_short(value)}, expected an object with {', '.join(map(repr, columns))}")
        missing = [name for name in columns if name not in value]
        if missing:
            raise InputError(f"item {i} has no {missing[0]!r}: it has {', '.join(map(repr, value)) or 'nothing'}")
    read = {name: _column(name, own, [value[name] for value in values]) for name, own in columns.items()}
    return [{name: column[i] for name, column in read.items()} for i in range(len(values))]


def _column(name: str, own: Reader, values: list[Any]) -> Any:
    try:
        return own.read(values)
    except InputError as error:
        raise InputError(f"column {name!r}: {error}") from None


def _sequences(values: list[Any], reading: Mapping[str, Any]) -> Any:
    """Texts and lists of symbols as they are; the fields of a text joined as in training; objects with arcs are lattices."""
    objects = [isinstance(value, dict) for value in values]
    if not any(objects):
        return values
    if not all(objects):
        i = objects.index(not objects[0])
        found, before = ("an object", "text") if objects[i] else ("text", "objects")
        raise InputError(f"item {i} is {found}, the items before it are {before}: send them in requests of their own")
    if "arcs" in values[0] or "plf" in values[0]:
        return _lattices(values, reading.get("weights"))
    if "text" not in reading:
        raise InputError(f"item 0 is an object of {_names(values[0])}, expected {READABLE[TEXTS]}, or arcs and finals")
    fields = Fields(tuple(name.strip() for name in reading["text"].split("+")))
    return [fields.text(value, PLACE(i)) for i, value in enumerate(values)]


def _lattices(values: list[dict[str, Any]], weights: str | None) -> MachineList:
    machines = []
    for i, value in enumerate(values):
        if isinstance(value.get("plf"), str):
            kind = value.get("weights", weights)
            if kind is not None and kind not in ("cost", "logprob", "prob"):
                raise InputError(f"item {i}: weights is {_short(kind)}, expected cost, logprob or prob")
            machines += plf.parse([value["plf"]], [PLACE(i)], PLACE(i), kind)[0]
        elif "arcs" in value:
            machines += json_arcs.parse([value], [PLACE(i)], weights)
        else:
            raise InputError(f"item {i} is an object of {_names(value)}, expected arcs and finals, or plf")
    return MachineList(over_one_table(machines))


def _trees(values: list[Any], root_label: bool) -> Any:
    for i, value in enumerate(values):
        if not isinstance(value, str):
            raise InputError(f"item {i} is {_short(value)}, expected {READABLE[TREES]}")
    return Trees(without_root(brackets.parse(values))[1]) if root_label else values


def _graphs(values: list[Any]) -> list[Graph]:
    graphs = []
    for i, value in enumerate(values):
        if isinstance(value, str):
            graphs.append(smiles_graph(value, PLACE(i)))
        elif isinstance(value, dict) and is_graph(value):
            graphs.append(edge_index_graph(value, PLACE(i)) if "edge_index" in value else dict_graph(value, PLACE(i)))
        else:
            raise InputError(f"item {i} is {_short(value)}, expected {READABLE[GRAPHS]}, or SMILES as a text")
    check_sizes(graphs, PLACE)
    return graphs


def _reader_of_sentences(model: Any) -> Reader:
    """Tokens are texts, or lists of columns; objects or lists of features for a model that was trained on such."""

    def read(values: list[Any]) -> list[Any]:
        for i, value in enumerate(values):
            if not isinstance(value, list):
                raise InputError(f"item {i} is {_short(value)}, expected {READABLE[SENTENCES]}")
        return values

    return Reader(SENTENCES, read, {}, 0 if model.features_.reads_items else model.features_.n_columns)


def _names(value: Mapping[str, Any]) -> str:
    return ", ".join(map(repr, list(value)[:10])) or "nothing"


def _short(value: Any) -> str:
    """A value of JSON in a few words, for messages."""
    kinds: Sequence[tuple[Any, str]] = ((bool, "true or false"), (str, "a text"), (list, "a list"), (dict, "an object"))
    found = next((words for kind, words in kinds if isinstance(value, kind)), "null" if value is None else "a number")
    return found if found != "a number" else f"the number {value!r}"[:40]
