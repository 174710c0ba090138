"""Files with a right checksum and a wrong content: refused with an `InputError` that names the file, or harmless."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import treille
from treille import SVC, Fst, InputError
from treille.data import Graph, vectors
from treille.io.model import read_model, write_model
from treille.kernels import (
    Linear,
    NGram,
    NodeAttributes,
    Polynomial,
    RandomWalk,
    Rational,
    Subpath,
    SubsetTree,
    Walks,
)
from treille.solvers import DualCD

TREES = ["(a (b (c (d e))))", "(a (b c) (d e))", "(a (b (c d)))", "(e (d (c b)))"]
TEXTS = ["abab", "bbaa", "abcabc", "ccbb"]
Y = [0, 1, 0, 1]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.treille"


def craft(model, path, change):
    """Saves a model after `change(spec, arrays)`."""
    model.save(path)
    spec, arrays = read_model(path)
    change(spec, arrays)
    write_model(path, spec, arrays)
    return path


def assert_refused(path, message):
    with pytest.raises(InputError, match=message) as caught:
        treille.load(path)
    assert str(caught.value).startswith(f"{path}: ")


def subpaths():
    return SVC(Subpath(0.5)).fit(TREES, Y)


def ngrams(n=2, **options):
    return SVC(NGram(n, **options)).fit(TEXTS, Y)


@pytest.mark.parametrize("longest", [1, 2, 3])
def test_paths_longer_than_the_kernel_allows_are_refused(longest, path):
    craft(subpaths(), path, lambda spec, arrays: spec["kernel"]["params"].update(max_length=longest))
    assert_refused(path, "the paths in the file do not fit its kernel")


def test_paths_whose_weight_underflows_are_refused(path):
    craft(subpaths(), path, lambda spec, arrays: spec["kernel"]["params"].update(decay=1e-300))
    assert_refused(path, "the paths in the file do not fit its kernel")


@pytest.mark.parametrize(
    ("symbols", "message"),
    [
        (["a", ["b"], "c"], "expected different strings"),
        (["a", "a", "b"], "expected different strings"),
        (["a", 1, "b"], "expected different strings"),
        ({"a": 0, "b": 1, "c": 2}, "expected list"),
        (None, "expected list"),
    ],
    ids=str,
)
def test_an_invalid_alphabet_in_a_file_is_refused(symbols, message, path):
    craft(ngrams(), path, lambda spec, arrays: spec["features"].update(alphabet=symbols))
    assert_refused(path, message)


@pytest.mark.parametrize(
    "classes",
    [
        {"kind": "int", "values": [0, 2**70]},
        {"kind": "int", "values": [0, True]},
        {"kind": "int", "values": [0, 0]},
        {"kind": "str", "values": ["a", None]},
        {"kind": "int", "values": {}},
        {"kind": ["int"], "values": [0, 1]},
    ],
    ids=str,
)
def test_invalid_classes_in_a_file_are_refused(classes, path):
    craft(ngrams(), path, lambda spec, arrays: spec.update(classes=classes))
    assert_refused(path, "the classes in the file|the field '(kind|values)'")


def test_a_classifier_of_one_class_is_refused(path):
    craft(ngrams(), path, lambda spec, arrays: spec.update(classes={"kind": "int", "values": [1]}))
    assert_refused(path, "fewer than two classes")


@pytest.mark.parametrize("depth", [150, 400, 5000])
def test_kernels_nested_too_deep_are_refused(depth, path):
    def change(spec, arrays):
        for _ in range(depth if depth < 1000 else 450):
            spec["kernel"] = {"kernel": "Normalized", "params": {"kernel": spec["kernel"]}}

    craft(ngrams(), path, change)
    assert_refused(path, "more than a hundred kernels, one inside the other")


def test_a_hundred_kernels_in_a_sum_are_saved_and_read(path):
    model = SVC(sum(NGram(1 + i % 3) for i in range(100)), tol=0.1).fit(TEXTS, Y)
    model.save(path)
    assert np.array_equal(treille.load(path).decision_function(TEXTS), model.decision_function(TEXTS))


def test_a_kernel_too_deep_to_be_read_is_not_saved(path):
    model = SVC(sum(NGram(1) for _ in range(150)), tol=0.1).fit(TEXTS, Y)
    with pytest.raises(InputError, match="more than a hundred kernels"):
        model.save(path)
    assert not path.exists()


def machine():
    return Fst.from_arcs([(0, s, s, 1.0, 0) for s in "abc"], {0: 1.0})


@pytest.mark.parametrize(
    "change",
    [
        {"arcs": [[0, 1, 1, 1.0, 2**31 - 2]]},
        {"arcs": [[0, 1, 1, 1.0, 2**31]]},
        {"arcs": [[0, 99, 99, 1.0, 0]]},
        {"arcs": [[0, 1, 1, 1.0]]},
        {"arcs": [[0, 1, 1, "x", 0]]},
        {"arcs": [[-1, 1, 1, 1.0, 0]]},
        {"finals": [[2**31 - 2, 1.0]]},
        {"start": 2**31 - 2},
        {"input_symbols": ["<eps>", ["a"]]},
        {"semiring": []},
    ],
    ids=str,
)
def test_an_invalid_machine_in_a_file_is_refused(change, path):
    model = SVC(Rational(machine())).fit(TEXTS, Y)
    craft(model, path, lambda spec, arrays: spec["kernel"]["params"]["T"]["machine"].update(change))
    with pytest.raises(InputError, match=f"^{path}: "):
        treille.load(path).predict(TEXTS)


@pytest.mark.parametrize("order", [2**31 - 1, 2**20])
def test_an_order_that_the_file_does_not_contain_asks_for_no_memory(order, path):
    model = ngrams(3, min_n=1)
    craft(model, path, lambda spec, arrays: spec["kernel"]["params"].update(n=order))
    assert treille.load(path).predict(TEXTS).tolist() == model.predict(TEXTS).tolist()


def test_an_automaton_that_expands_without_bound_is_refused(path):
    model = ngrams(3)
    model.save(path, representation="automaton")
    spec, arrays = read_model(path)
    spec["automaton"]["strings"] = 2**31
    write_model(path, spec, arrays)
    assert_refused(path, "expands to more than 200 times")


ROWS = np.array([[0.5, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 0.5, 0.5], [2.0, 1.0, 1.0]])


OF_WEIGHTS = [
    (SVC(Linear()), ("features", "n_columns")),
    (SVC(Polynomial(2), solver=DualCD()), ("features", "factors", 0, "terms", 1, "n_columns")),
]
OF_EXAMPLES = [(SVC(Polynomial(2)), ("support", "n_columns")), (SVC("precomputed"), ("support", "n_columns"))]


def with_columns(model, place, size, path):
    """A file of the model that claims to have `size` columns."""
    X = ROWS @ ROWS.T if model.kernel == "precomputed" else ROWS

    def change(spec, arrays):
        *holders, name = place
        for key in holders:
            spec = spec[key]
        assert name in spec
        spec[name] = size

    craft(clone(model).fit(X, Y), path, change)


@pytest.mark.parametrize(
    ("model", "place", "size"),
    [(*each, size) for each in OF_WEIGHTS + OF_EXAMPLES for size in (2**31, 2**40, 2**62, -1)]
    + [(*each, 2**31 - 1) for each in OF_EXAMPLES],
)
def test_a_number_of_columns_for_which_there_is_no_memory_is_refused(model, place, size, path, monkeypatch):
    monkeypatch.setattr(vectors, "available_memory", lambda: 10**9)
    with_columns(model, place, size, path)
    assert_refused(path, "the field 'n_columns'")


@pytest.mark.parametrize(("model", "place"), OF_WEIGHTS)
def test_weights_take_memory_only_for_the_columns_that_have_one(model, place, path):
    with_columns(model, place, 2**31 - 1, path)
    with pytest.raises(InputError, match="the new rows have 3 columns, expected 2147483647 as in training"):
        treille.load(path).predict(ROWS)


@pytest.mark.parametrize("size", [2**31 - 1, 2**27])
def test_a_number_of_attributes_that_no_array_bears_out_is_refused(size, path):
    graphs = [Graph("ab"[:n], [], attributes=[[1.0, n]] * n) for n in (1, 2, 1, 2)]
    model = SVC(NodeAttributes()).fit(graphs, Y)
    craft(model, path, lambda spec, arrays: spec["features"].update(width=size))
    assert_refused(path, "the field 'width': expands to more than 200 times")


def test_walks_of_more_steps_than_graphs_can_be_searched_for_are_refused(path):
    graphs = [
        Graph("aba", [(0, 1), (1, 2)]),
        Graph("aa", [(0, 1)]),
        Graph("bab", [(0, 1), (1, 2), (0, 2)]),
        Graph("b", []),
    ]
    craft(SVC(Walks(2)).fit(graphs, Y), path, lambda spec, arrays: spec["kernel"]["params"].update(k=127))
    with pytest.raises(InputError, match="different walks of 127 steps: use a smaller k"):
        treille.load(path).predict(graphs)


@pytest.mark.parametrize("name", ["tagger_v1", "tagger_pairs_v1"])
@pytest.mark.parametrize("field", ["n_items", "n_functions", "first_late"])
def test_sizes_of_taggers_follow_from_their_features_whatever_a_file_says(name, field, path):
    golden = Path(__file__).parents[1] / "golden" / f"{name}.treille"
    spec, arrays = read_model(golden)
    spec["weights"][field] = 2**31 - 1
    write_model(path, spec | {"format": 2}, arrays)
    sentences = [[["a", "DT"], ["dog", "NN"]]]
    assert treille.load(path).predict(sentences) == treille.load(golden).predict(sentences)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2)])
def test_the_columns_of_a_large_hash_are_read_back(kernel, path):
    rows = sp.csr_matrix(([1.0, 2.0, 1.0, 2.0], ([0, 1, 2, 3], [5, 10**6, 5, 10**6])), (4, 2**24))
    model = SVC(kernel).fit(rows, Y)
    model.save(path)
    assert treille.load(path).predict(rows).tolist() == model.predict(rows).tolist()


@pytest.mark.parametrize("name", ["weights", "intercept"])
@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused(name, number, path):
    craft(ngrams(), path, lambda spec, arrays: arrays.update({name: arrays[name] * number}))
    assert_refused(path, f"the array '{name}' is of float64, or not finite")


def test_parameters_of_the_process_are_not_read_from_a_file(path):
    craft(ngrams(), path, lambda spec, arrays: spec["params"].update(n_jobs="many"))
    assert_refused(path, "the parameter 'n_jobs' is not one that a file holds")


def test_examples_that_the_kernel_does_not_read_are_refused(path):
    model = SVC(SubsetTree(0.4)).fit(TREES, Y)
    craft(model, path, lambda spec, arrays: spec.update(kernel=NGram(2).spec()))
    assert_refused(path, "found trees|Trees")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("targets", [1, 0, 2, 9]),
        ("targets", [1, 0, -1, 1]),
        ("targets", [1, 2, 2, 1]),
        ("arcs", [0, 1, 3, 9, 4, 4]),
        ("offsets", [0, 3, 2, 5]),
        ("labels", [0, 1, 0, 5, 0]),
        ("weights", [1.0, np.inf, 1.0, 1.0]),
    ],
    ids=str,
)
def test_invalid_graphs_in_a_file_are_refused(name, values, path):
    graphs = [Graph("aba", [(0, 1), (1, 2)]), Graph("a", []), Graph("b", [])]
    model = SVC(RandomWalk(0.1)).fit(graphs, [0, 1, 1])
    craft(model, path, lambda spec, arrays: arrays.update({f"support.{name}": np.array(values)}))
    assert_refused(path, name if name != "targets" else "an arc leads|must rise|two arcs")
