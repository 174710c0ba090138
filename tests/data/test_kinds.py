"""Data kinds describe themselves: one default kernel each, recognised and summarised by the kind alone."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import treille
from treille import Batch, Fst, Graphs, InputError, Lattices, Strings, Trees, Vectors, registry
from treille.data import Graph
from treille.data.base import Summary, kind_of
from treille.estimators.plan import choose_kernel
from treille.io import read
from treille.kernels import NGram
from treille.kernels.parse import default_kernel, parse_kernel
from treille.kernels.reading import Reads

MACHINE = Fst.from_arcs([(0, "a", "a", 1.0, 1)], {1: 1.0})
DATA = {
    "texts": (["to be", "or not"], Strings),
    "bytes": ([b"ab", b"c"], Strings),
    "tokens": ([["to", "be"], ["or"]], Strings),
    "integers": ([np.arange(3), np.arange(2)], Strings),
    "lists of integers": ([[0, 1], [1, 0]], Strings),
    "numbers": (np.eye(2), Vectors),
    "sparse numbers": (sp.csr_matrix(np.eye(2)), Vectors),
    "dicts": ([{"gc": 0.5}], Vectors),
    "sets of names": ([{"word=the", "title"}], Vectors),
    "tuples": ([("S", ("NP",))], Trees),
    "machines": ([MACHINE], Lattices),
    "graphs": ([Graph(2, [(0, 1)])], Graphs),
    "a series of graphs": (pd.Series([Graph(2, [(0, 1)])], index=["a"]), Graphs),
    "a series of rows": (pd.Series([[0.5, 1.0]], index=["a"]), Vectors),
    "networkx": ([nx.path_graph(3)], Graphs),
    "adjacency matrices": ([np.eye(2), np.ones((3, 3))], Graphs),
    "sparse adjacency matrices": ([sp.csr_matrix(np.eye(2))], Graphs),
    "edges and labels": ([({(0, 1): 1, (1, 0): 1}, {0: "C", 1: "O"})], Graphs),
    "edge_index": ([{"edge_index": [[0, 1], [1, 0]], "num_nodes": 2}], Graphs),
    "dicts of graphs": ([{"nodes": ["C", "O"], "edges": [[0, 1]]}], Graphs),
    "dicts of numbers called edges": ([{"nodes": 3, "edges": 2}], Vectors),
    "batch": (Trees(["(S (NP))"]), Trees),
    "nothing": ([], Strings),
}
FILES = {
    "a.csv": ("text,label\nred wine,red\n", Strings),
    "a.svm": ("1 1:0.5 2:1\n", Vectors),
    "a.crfsuite": ("NN\tword=vine\ttitle\n", Vectors),
    "a.trees": ("(S (NP he) (VP sat))\n", Trees),
    "a.graphs.jsonl": ('{"y": 1, "nodes": ["C", "O"], "edges": [[0, 1]]}\n', Graphs),
    "b.jsonl": ('{"y": 1, "nodes": 3, "edges": [[0, 1], [1, 2]]}\n', Graphs),
    "a.gml": ("graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]\n", Graphs),
    "a.plf": ("((('vine', 0.5, 1),),)\n", Lattices),
}


@pytest.mark.parametrize("name", DATA)
def test_the_kind_of_data_is_recognised(name):
    data, kind = DATA[name]
    assert kind_of(data) is kind
    assert default_kernel(data)[0].spec() == parse_kernel(kind.default_kernels(data)[0][0]).spec()
    assert choose_kernel(None, data)[0].spec() == default_kernel(data)[0].spec()
    assert choose_kernel(None, data)[1] == default_kernel(data)[1]


@pytest.mark.parametrize("name", ["graphs", "dicts", "sets", "rows"])
def test_a_series_is_trained_on_as_a_list_is(name):
    rows = {
        "graphs": [Graph(2, [(0, 1)]), Graph(3, [(0, 1), (1, 2)])],
        "dicts": [{"a": 0.5}, {"b": 1.0}],
        "sets": [{"a"}, {"b"}],
        "rows": [[0.5, 1.0], [1.0, 0.0]],
    }[name]
    series = pd.Series(rows, index=["u", "v"])
    expected, found = treille.SVC().fit(rows, [0, 1]), treille.SVC().fit(series, [0, 1])
    assert np.array_equal(found.decision_function(series), expected.decision_function(rows))


@pytest.mark.parametrize("name", FILES)
def test_files_give_examples_of_their_kind_which_is_summarised(name, tmp_path):
    text, kind = FILES[name]
    (tmp_path / name).write_text(text)
    examples = read(tmp_path / name)
    assert kind_of(examples.X) is kind
    assert isinstance(examples.X, kind.packed or list)
    summary = kind.summarise(examples.X, 3, 80)
    assert len(summary.samples) == len(examples) == 1
    assert summary.fields
    assert len(kind(examples.X)) == 1


@pytest.mark.parametrize("name", DATA)
def test_default_features_are_explicit_for_every_kind(name):
    kernel, _ = default_kernel(DATA[name][0], features=True)
    assert kernel.has_features


@pytest.mark.parametrize(("name", "text", "kind"), [(name, *FILES[name]) for name in FILES])
def test_features_of_every_kind_need_no_kernel(name, text, kind, tmp_path, capsys):
    from treille.cli import main

    (tmp_path / name).write_text(text)
    assert main(["features", str(tmp_path / name), "--json"]) == 0, capsys.readouterr().err


class Sets(Batch):
    """A new kind: sets of symbols, in one class and one registration."""

    title = "sets"

    def __init__(self, data):
        self.items = [frozenset(item) for item in data]

    @classmethod
    def recognises(cls, data):
        return isinstance(data, cls) or (
            isinstance(data, list) and bool(data) and isinstance(data[0], (set, frozenset))
        )

    @classmethod
    def default_kernels(cls, data):
        return (("overlap()", "sets are compared by their common symbols"),)

    @classmethod
    def summarise(cls, data, n_samples, width):
        return Summary({"sizes": str(sorted(map(len, data)))}, {"sets": len(data)})

    def __len__(self):
        return len(self.items)

    def __getitem__(self, key):
        return self.items[key] if isinstance(key, int) else Sets(np.array(self.items, object)[key])

    @property
    def nbytes(self):
        return 8 * len(self)

    def _state(self):
        return {"items": [sorted(item) for item in self.items]}, {}

    @classmethod
    def _read_state(cls, spec, arrays):
        return cls(spec["items"])


class Overlap(treille.kernels.Kernel):
    """k(x, y) = |x & y|."""

    reads = Reads((Sets,))

    def gram(self, left, right=None, n_jobs=None):
        return np.array([[len(x & y) for y in (left if right is None else right)] for x in left], float)

    def diagonal(self, batch, n_jobs=None):
        return np.array([len(x) for x in batch], float)


def test_a_new_kind_is_one_class_and_one_registration(monkeypatch, tmp_path):
    monkeypatch.setattr(registry, "_registered", {})
    treille.register(Sets)
    treille.register(Overlap)
    X, y = [{1, 2}, {1}, {3}, {3, 4}], [0, 0, 1, 1]
    assert kind_of(X) is Sets
    model = treille.SVC().fit(X, y)
    assert model.plan_.kernel_why == "chosen: sets are compared by their common symbols"
    model.save(tmp_path / "m.treille")
    new = [{1, 9}, {4}, {2, 3}]
    assert np.array_equal(treille.load(tmp_path / "m.treille").decision_function(new), model.decision_function(new))
    with pytest.raises(InputError, match="found sets, expected strings"):
        NGram(2)(Sets(X))
