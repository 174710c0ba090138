"""`treille gram`: the kernel matrix in three formats."""

import json
import os

import numpy as np
import pytest

from treille import Features, Vectors, dna
from treille.io import read
from treille.kernels import Linear, NGram

KERNEL = NGram(2).normalized()


@pytest.fixture
def genes(tmp_path):
    path = tmp_path / "genes.fa"
    path.write_text(">s1 class=a\nACGTACGT\n>s2 class=b\nacgNtt\n>s3 class=a\nTTTTACGG\n>s4 class=b\nA\n")
    return path


def test_npy_holds_the_matrix_and_another_file_the_labels(cli, genes):
    answer = cli("gram", genes, "--label", "class", "--kernel", "ngram(2).normalized()", "--output", "K.npy")
    assert answer.code == 0, answer.err
    assert "4 x 4 similarities, 0 to 1" in answer.out
    assert np.array_equal(np.load("K.npy"), KERNEL(read(genes).X))
    assert genes.with_name("K.labels.txt").read_text().split() == ["a", "b", "a", "b"]


def test_examples_are_read_over_the_alphabet_before_the_kernel_is_applied(cli, genes):
    answer = cli("gram", genes, "--alphabet", "dna", "--kernel", "ngram(2)", "--output", "K.npy", "--json")
    assert answer.json()["values"] == "similarities"
    assert "alphabet: dna, 1 unknown of 23 letters read as N" in answer.err
    assert np.array_equal(np.load("K.npy"), NGram(2)(dna(read(genes).X)))


@pytest.mark.parametrize("against", [None, "other.fa"])
def test_distances_are_computed_in_the_space_of_the_features(cli, genes, against):
    genes.with_name("other.fa").write_text(">t\nACGTT\n>u\nGG\n>v\n\n")
    extra = ["--against", against] if against else []
    answer = cli("gram", genes, *extra, "--kernel", "ngram(1)", "--distance", "--output", "K.npy")
    assert answer.code == 0, answer.err
    assert "distances" in answer.out
    texts = read(genes).X
    others = read(against).X if against else texts
    letters = sorted(set("".join(texts + others)))
    counts = [np.array([[text.count(c) for c in letters] for text in part]) for part in (texts, others)]
    expected = np.linalg.norm(counts[0][:, None, :] - counts[1][None, :, :], axis=2)
    np.testing.assert_allclose(np.load("K.npy"), expected, atol=1e-7)


def test_weights_of_features_are_computed_from_the_examples_of_the_columns(cli, genes):
    genes.with_name("new.fa").write_text(">t\nACGTT\n>u\nGG\n>v\n\n")
    kernel = ["--kernel", "ngram(2, min_n=1).weighted(idf)", "--output", "K.npy"]
    assert cli("gram", "new.fa", "--against", genes, *kernel, "--distance").code == 0
    texts, new = read(genes).X, read("new.fa").X
    features = Features(NGram(2, min_n=1).weighted("idf")).fit(texts)
    one, other = (features.transform(part).toarray() for part in (new, texts))
    expected = np.linalg.norm(one[:, None, :] - other[None, :, :], axis=2)
    np.testing.assert_allclose(np.load("K.npy"), expected, atol=1e-7)


def test_libsvm_trains_and_predicts_on_the_files_as_on_the_matrix(cli, genes):
    svmutil = pytest.importorskip("libsvm.svmutil")
    kernel = ["--kernel", "ngram(2).normalized()", "--label", "class"]
    assert cli("gram", genes, *kernel, "--output", "train.libsvm").code == 0
    genes.with_name("new.fa").write_text(">t class=a\nACGTAC\n>u class=b\nNtt\n")
    assert cli("gram", "new.fa", "--against", genes, *kernel, "--output", "new.libsvm").code == 0
    y, x = svmutil.svm_read_problem("train.libsvm")
    assert y == [1, 2, 1, 2]
    model = svmutil.svm_train(svmutil.svm_problem(y, x, isKernel=True), "-t 4 -q")
    test_y, test_x = svmutil.svm_read_problem("new.libsvm")
    labels, _, decisions = svmutil.svm_predict(test_y, test_x, model, "-q")

    from sklearn.svm import SVC

    texts, new = read(genes).X, read("new.fa").X
    twin = SVC(kernel="precomputed").fit(KERNEL(texts), y)
    assert labels == twin.predict(KERNEL(new, texts)).tolist()
    theirs = np.abs(np.ravel(decisions))  # libsvm and scikit-learn may order the classes differently
    np.testing.assert_allclose(theirs, np.abs(twin.decision_function(KERNEL(new, texts))), atol=1e-3)


def test_classes_have_the_same_numbers_in_both_files(cli, genes):
    genes.with_name("new.fa").write_text(">t class=b\nACGTAC\n")
    words = ["--kernel", "ngram(2)", "--label", "class", "--output", "new.libsvm"]
    assert cli("gram", "new.fa", "--against", genes, *words).code == 0
    assert genes.with_name("new.libsvm").read_text().startswith("2 0:1 ")


def test_libsvm_reads_every_value_back_exactly(cli, genes):
    cli("gram", genes, "--kernel", "ngram(2).normalized()", "--label", "class", "--output", "K.libsvm")
    found = [line.split() for line in genes.with_name("K.libsvm").read_text().splitlines()]
    assert [row[:2] for row in found] == [["1", "0:1"], ["2", "0:2"], ["1", "0:3"], ["2", "0:4"]]
    values = [[float(entry.partition(":")[2]) for entry in row[2:]] for row in found]
    assert np.array_equal(values, KERNEL(read(genes).X))


def test_phylip_has_the_count_then_a_name_and_values_for_each(cli, genes):
    answer = cli("gram", genes, "--kernel", "ngram(2).normalized()", "--distance", "--output", "K.phylip")
    assert answer.code == 0, answer.err
    first, *rows = genes.with_name("K.phylip").read_text().splitlines()
    assert first.split() == ["4"]
    assert [row.split()[0] for row in rows] == ["s1", "s2", "s3", "s4"]
    values = np.array([row.split()[1:] for row in rows], dtype=float)
    K = KERNEL(read(genes).X)
    diagonal = K.diagonal()
    expected = np.sqrt(np.maximum(0, diagonal[:, None] + diagonal - 2 * K))
    np.testing.assert_allclose(values, expected, atol=1e-7)


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (["a", "b", "c"], ["1", "2", "3"]),
        (["red wine\ta", "red wine\tb", "ale\tc"], ["red_wine_1", "red_wine_2", "ale"]),
    ],
)
def test_names_in_phylip_are_unique_and_have_no_blanks(cli, tmp_path, lines, names):
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n")
    assert cli("gram", "a.txt", "--kernel", "ngram(1)", "--output", "K.phylip").code == 0
    assert [row.split()[0] for row in (tmp_path / "K.phylip").read_text().splitlines()[1:]] == names


def test_rows_of_numbers_have_the_linear_kernel_by_default(cli, tmp_path):
    (tmp_path / "a.svm").write_text("1 1:0.5 3:2\n0.25 1:1\n")
    answer = cli("gram", "a.svm", "--output", "K.libsvm")
    assert "kernel: linear(), chosen" in answer.err
    assert (tmp_path / "K.libsvm").read_text() == "1 0:1 1:4.25 2:0.5\n0.25 0:2 1:0.5 2:1\n"
    assert np.array_equal(Linear()(Vectors(read("a.svm").X)), [[4.25, 0.5], [0.5, 1]])


def test_json_is_the_whole_result(cli, genes):
    value = cli("gram", genes, "--kernel", "ngram(2)", "--output", "K.npy", "--json").json()
    assert value == {
        "file": str(genes),
        "against": None,
        "kernel": "ngram(2)",
        "values": "similarities",
        "shape": [4, 4],
        "range": [0.0, 13.0],
        "written": ["K.npy", "K.ids.txt"],
    }
    assert genes.with_name("K.ids.txt").read_text().split() == ["s1", "s2", "s3", "s4"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--output", "K.txt"], 2, "K.txt ends with none of .npy, .libsvm, .phylip"),
        ([], 2, "Missing option '--output'"),
        (["--output", "K.phylip", "--against", "genes.fa"], 2, ".phylip holds a square matrix: leave --against out"),
        (["--output", "absent/K.npy"], 1, "the folder absent does not exist"),
        (["--output", "K.npy", "--kernel", "rbf()"], 2, "there is no kernel 'rbf'"),
        (["--output", "K.npy", "--kernel", "ngram(0)"], 2, "n is 0, expected a whole number"),
        (["--output", "K.npy", "--against", "absent.fa"], 1, "absent.fa: no such file"),
        (["--output", "K.npy", "--alphabet", "protein"], 0, ""),
        (["--output", "K.npy", "--alphabet", "klingon"], 2, "klingon"),
    ],
)
def test_invalid_outputs_kernels_and_files_are_refused(cli, genes, words, code, message):
    answer = cli("gram", "genes.fa", *words)
    assert answer.code == code
    assert message in answer.err


def test_an_older_file_stays_if_writing_fails(cli, genes, monkeypatch):
    genes.with_name("K.libsvm").write_text("older")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    answer = cli("gram", genes, "--kernel", "ngram(2)", "--output", "K.libsvm")
    assert answer.code == 1
    assert "K.libsvm: cannot save the matrix: No space left on device; the older file is untouched" in answer.err
    assert genes.with_name("K.libsvm").read_text() == "older"
    assert json.dumps(sorted(p.name for p in genes.parent.iterdir())) == '["K.libsvm", "genes.fa"]'
