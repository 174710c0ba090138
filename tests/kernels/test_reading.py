"""What a kernel reads is declared, derived for kernels made of others, and kept in model files."""

import numpy as np
import pytest

import treille
from treille import Lattices, Strings, Trees, Vectors
from treille.data import Graphs, Table
from treille.io import read
from treille.io.model import read_model, write_model
from treille.kernels import (
    AllSubstrings,
    Columns,
    Constant,
    Linear,
    NGram,
    Polynomial,
    Reads,
    Subpath,
    SubsetTree,
    VertexHistogram,
    WeisfeilerLehman,
)

TEXTS, LABELS = ["a red wine", "dark red", "a white wine", "white and green"], ["red", "red", "white", "white"]
WORDS = NGram(1, unit="word")
FILES = [
    ("a.svm", "1 1:0.5 2:1\n", "rows of numbers"),
    ("a.trees", "(S (NP he) (VP sat))\n", "trees"),
    ("a.jsonl", '{"nodes": 3, "edges": [[0, 1], [1, 2]]}\n', "graphs"),
    ("a.plf", "((('vine', 0.5, 1),),)\n", "lattices"),
]


@pytest.mark.parametrize(
    ("kernel", "kinds", "units"),
    [
        (NGram(2), (Strings, Lattices), ("char",)),
        (AllSubstrings(0.5), (Strings,), ("char",)),
        (SubsetTree(), (Trees,), ()),
        (Subpath(index="xbw"), (Trees,), ()),
        (WeisfeilerLehman(2), (Graphs,), ()),
        (Polynomial(2), (Vectors,), ()),
        (Constant(1.0), (), ()),
        (2 * NGram(2).weighted("idf").normalized().centered(), (Strings, Lattices), ("char",)),
        (NGram(2).balanced(), (Strings, Lattices), ("char",)),
        ((1 + Linear()) ** 2, (Vectors,), ()),
        (NGram(2) + WORDS, (Strings, Lattices), ("char", "word")),
        (NGram(2) * AllSubstrings(0.5), (Strings,), ("char",)),
    ],
    ids=repr,
)
def test_kernels_declare_what_they_read_and_derive_it_from_what_is_inside(kernel, kinds, units):
    assert kernel.reads == Reads(kinds, units)


def test_columns_read_a_table_of_what_their_kernels_read():
    kernel = Columns({"a": NGram(2), "b": Linear()}).normalized() + 2 * Columns({"a": WORDS})
    assert kernel.reads.kinds == (Table,)
    assert kernel.reads.columns["a"].units == ("char", "word")
    assert kernel.reads.columns["b"] == Linear().reads


def test_columns_are_given_by_name_or_as_a_dict():
    assert repr(Columns(a=NGram(2))) == repr(Columns({"a": NGram(2)}))
    with pytest.raises(treille.InputError, match="all in the dict, or all by name"):
        Columns({"a": NGram(2)}, b=NGram(2))


@pytest.mark.parametrize(
    ("kernel", "numbers"), [(Linear().normalized(), True), (1 + Linear(), True), (NGram(2), False), (Constant(), False)]
)
def test_tags_of_scikit_learn_follow_the_declaration(kernel, numbers):
    assert treille.SVC(kernel).__sklearn_tags__().input_tags.two_d_array is numbers


def test_models_keep_the_units_of_their_examples_and_old_files_have_those_of_the_kernel(tmp_path):
    tokens = [text.split() for text in TEXTS]
    for X, units in ((TEXTS, ("word",)), (tokens, ("token",))):
        model = treille.SVC(WORDS).fit(X, LABELS)
        model.save(tmp_path / "m.treille")
        assert treille.load(tmp_path / "m.treille").reads_ == model.reads_ == Reads((Strings, Lattices), units)
    spec, arrays = read_model(tmp_path / "m.treille")
    assert spec.pop("reads") == {"kinds": ["Strings", "Lattices"], "units": ["token"]}
    write_model(tmp_path / "m.treille", spec, arrays)
    assert treille.load(tmp_path / "m.treille").reads_ == WORDS.reads


@pytest.mark.parametrize("reads", [3, {"units": "char"}, {"units": ["no such unit"]}])
def test_a_file_that_says_something_else_of_what_it_reads_is_refused(tmp_path, reads):
    treille.SVC(WORDS).fit(TEXTS, LABELS).save(tmp_path / "m.treille")
    spec, arrays = read_model(tmp_path / "m.treille")
    write_model(tmp_path / "m.treille", spec | {"reads": reads}, arrays)
    with pytest.raises(treille.InputError):
        treille.load(tmp_path / "m.treille")


def test_a_list_of_texts_and_the_batch_of_it_get_the_same_kernel_and_the_same_model():
    one, other = (treille.SVC().fit(X, LABELS) for X in (TEXTS, Strings(TEXTS)))
    assert repr(one.plan_.kernel) == repr(other.plan_.kernel)
    assert np.array_equal(one.decision_function(TEXTS), other.decision_function(Strings(TEXTS)))


@pytest.mark.parametrize("kernel", [Linear(), Subpath(), VertexHistogram()])
@pytest.mark.parametrize(("name", "text", "title"), FILES)
def test_data_of_another_kind_is_refused_with_the_kernels_for_it(kernel, name, text, title, tmp_path):
    (tmp_path / name).write_text(text)
    X = read(tmp_path / name).X
    if kernel.reads.kinds[0].title != title:
        expected = f"found {title}, expected {kernel.reads.kinds[0].title}: the default kernel for {title} is"
        with pytest.raises(treille.InputError, match=expected):
            kernel.batch(X)
