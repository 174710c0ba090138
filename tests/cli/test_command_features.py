"""treille features: printed counts, and the matrix in three formats."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

from treille import Features
from treille.kernels import NGram


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.csv"
    path.write_text("text,label\nabab,x\nba b,y\nabc,x\n")
    return path


def matrix():
    features = Features(NGram(2)).fit(["abab", "ba b", "abc"])
    return features, features.transform(["abab", "ba b", "abc"])


def test_the_most_frequent_features_are_counted_by_examples_and_in_all(cli, small):
    value = cli("features", small, "--kernel", "ngram(2)", "--top", 2, "--json").json()
    assert value["features"] == 5
    assert value["frequent"][0] == {"feature": "ab", "examples": 2, "total": 3.0}
    assert value["frequent"][1] == {"feature": "ba", "examples": 2, "total": 2.0}
    out = cli("features", small, "--kernel", "ngram(2)").out
    assert "features: 5 in 3 examples" in out
    assert "a·" in out


def test_npz_holds_the_matrix_and_other_files_names_and_labels(cli, small):
    answer = cli("features", small, "--kernel", "ngram(2)", "--output", "f.npz")
    assert "written:  f.npz, f.features.tsv, f.labels.txt" in answer.out
    features, expected = matrix()
    assert (sp.load_npz("f.npz") != expected).nnz == 0
    names = [line.split("\t")[1] for line in Path("f.features.tsv").read_text().splitlines()]
    assert names == features.get_feature_names_out().tolist()
    assert Path("f.labels.txt").read_text() == "x\ny\nx\n"


def test_svmlight_holds_the_matrix_and_numbers_for_classes(cli, small):
    cli("features", small, "--kernel", "ngram(2)", "--output", "f.svmlight")
    X, y = load_svmlight_file("f.svmlight", n_features=5, zero_based=False)
    assert np.array_equal(X.toarray(), matrix()[1].toarray())
    assert y.tolist() == [1, 2, 1]
    assert Path("f.features.tsv").read_text().startswith("1\tab\n")


def test_svmlight_keeps_whole_numbers_as_labels(cli, small):
    small.write_text(small.read_text().replace(",x", ",-1").replace(",y", ",1"))
    cli("features", small, "--output", "f.svmlight", "--kernel", "ngram(1)")
    assert load_svmlight_file("f.svmlight")[1].tolist() == [-1, 1, -1]


def test_tsv_holds_a_line_for_every_value_that_is_not_zero(cli, small):
    cli("features", small, "--kernel", "ngram(2).normalized()", "--output", "f.tsv")
    header, *rows = [line.split("\t") for line in Path("f.tsv").read_text().splitlines()]
    assert header == ["example", "feature", "value"]
    first = {feature: float(value) for example, feature, value in rows if example == "0"}
    assert first == pytest.approx({"ab": 2 / 5**0.5, "ba": 1 / 5**0.5})


def test_weights_by_classes_take_the_labels_of_the_file(cli, small):
    assert cli("features", small, "--kernel", "ngram(2).weighted(nb)", "--output", "f.npz").code == 0
    expected = Features(NGram(2).weighted("nb")).fit_transform(["abab", "ba b", "abc"], ["x", "y", "x"])
    assert sp.load_npz("f.npz").toarray() == pytest.approx(expected.toarray())


def test_texts_without_labels_have_no_file_of_labels(cli):
    answer = cli("features", "-", "--output", "f.npz", "--json", stdin=b"abcdef\nbcdefg\n")
    assert answer.json()["written"] == ["f.npz", "f.features.tsv"]


def test_texts_too_short_for_the_kernel_are_refused(cli, small):
    answer = cli("features", small, "--kernel", "ngram(9)")
    assert answer.code == 1
    assert "no example has a feature of ngram(9)" in answer.err
