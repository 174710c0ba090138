"""SVM-light text: rows of numbers."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import treille
from treille import InputError, Vectors
from treille.io import read


@pytest.fixture
def write(tmp_path):
    def write(*lines, name="a.svm"):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
        return tmp_path / name

    return write


def test_rows_are_read_in_any_order_of_ids_and_without_what_is_not_used(write):
    path = write("# vines", "+1 qid:3 7:0.5 2:-1e-2 # a vine", "", "-1", "1.0 2:3 10:+4.", "2.5 2:.5")
    examples = read(path)
    vectors = Vectors(examples.X)
    assert examples.labels == ["1", "-1", "1", "2.5"]
    assert examples.lines == [2, 4, 5, 6]
    assert vectors.names == ["2", "7", "10"]
    assert list(vectors) == [{"2": -0.01, "7": 0.5}, {}, {"2": 3.0, "10": 4.0}, {"2": 0.5}]
    assert examples.note.endswith("4 examples, SVM-light (guessed from its name), 3 columns, label first on its line")


@pytest.mark.parametrize("name", ["a.svm", "a.libsvm", "a.svmlight", "a.txt", "a"])
def test_the_format_is_recognised_by_name_or_content(write, name):
    assert read(write("-1 3:0.5 7:1 # vine", name=name)).format == "svmlight"


@pytest.mark.parametrize("line", ["1 vine", "at 3:45 it rained", "1 3:45 pm", "3:45", "1"])
def test_texts_are_not_recognised_as_this_format(write, line):
    assert read(write(line, name="a.txt")).format == "lines"


def test_labels_are_left_out_or_set_against_the_rest(write):
    path = write("1 1:1", "2 1:2", "3 1:3")
    assert read(path, labelled=False).labels is None
    assert read(path, label="label=2").labels == ["not 2", "2", "not 2"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1:1", "found '1:1', expected a label first"),
        ("spam 1:1", "the label is 'spam', expected a number"),
        ("nan 1:1", "the label is 'nan', expected a number"),
        ("1 2", "found '2', expected id:value, a whole number and a finite one"),
        ("1 a:2", "found 'a:2', expected id:value"),
        ("1 -3:2", "found '-3:2', expected id:value"),
        ("1 3:x", "found '3:x', expected id:value"),
        ("1 3:", "found '3:', expected id:value"),
        ("1 3:nan", "found '3:nan', expected id:value"),
        ("1 3:1e999", "found '3:1e999', expected id:value"),
        ("1 9999999999999999999:1", "found '9999999999999999999:1', expected id:value"),
        ("1 1.5:1", "found '1.5:1', expected id:value"),
        ("1 2:1 7:1 2:0", "the id 2 occurs twice, expected each once"),
    ],
)
def test_a_bad_line_is_named_with_the_entry(write, line, message):
    with pytest.raises(InputError) as caught:
        read(write("1 1:1", line))
    assert f"a.svm, line 2: {message}" in str(caught.value)


def test_a_file_of_comments_alone_is_refused(write):
    with pytest.raises(InputError, match="found comments and no example after them"):
        read(write("# nothing"))


def test_a_field_of_text_is_refused(write):
    with pytest.raises(InputError, match=r"a\.svm, line 1: there is no field 'body' for the text"):
        read(write("1 1:1"), text="body")


def test_a_kernel_of_texts_says_what_it_found(write):
    with pytest.raises(InputError, match="found rows of numbers, expected strings: the default kernel for"):
        treille.kernels.NGram(2)(read(write("1 1:1")).X)


MATRICES = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.just(0.0) | st.floats(-1e9, 1e9)
)


@settings(deadline=None)
@given(MATRICES, st.integers(-3, 3))
def test_files_written_by_scikit_learn_are_read_as_it_reads_them(tmp_path_factory, dense, label):
    file = io.BytesIO()
    dump_svmlight_file(dense, [label] * len(dense), file, zero_based=False)
    path = tmp_path_factory.mktemp("svm") / "a.svm"
    path.write_bytes(file.getvalue())
    theirs, labels = load_svmlight_file(io.BytesIO(file.getvalue()), n_features=dense.shape[1], zero_based=False)
    examples = read(path)
    ours = Vectors(examples.X)
    columns = [int(name) - 1 for name in ours.names]
    assert examples.targets() == labels.tolist()
    assert np.array_equal(ours.to_csr().toarray(), theirs.toarray()[:, columns])
    assert theirs.nnz == len(ours.values)


def test_a_model_of_a_file_predicts_on_another_with_other_ids(write):
    train = read(write("1 3:1 5:0.5", "1 3:2", "-1 4:1", "-1 4:2 5:0.5"))
    model = treille.SVC().fit(train.X, train.labels)
    assert model.predict(read(write("0 3:1 99:7", "0 4:1 1:7")).X).tolist() == ["1", "-1"]
