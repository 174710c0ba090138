"""Vectors: rows of numbers from all containers."""

import json
import pickle
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from treille import SVC, Batch, InputError, Vectors
from treille.kernels import Linear

ROWS = [[1.5, 0.0, -2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 1.0], [4.0, 0.0, 0.0]]
DENSE = np.array(ROWS)


class Frame:
    """The part of a DataFrame that all libraries have."""

    def __init__(self, **columns):
        self._columns = columns
        self.columns = list(columns)

    def __len__(self):
        return len(next(iter(self._columns.values())))

    def __getitem__(self, name):
        return self._columns[name]

    def to_numpy(self):
        return np.column_stack(list(self._columns.values()))


@pytest.mark.parametrize(
    "data",
    [
        ROWS,
        DENSE,
        DENSE.astype(np.float32),
        np.asfortranarray(DENSE),
        list(DENSE),
        (tuple(row) for row in ROWS),
        sp.csr_matrix(DENSE),
        sp.csc_matrix(DENSE),
        sp.coo_array(DENSE),
        DENSE.astype(object),
        Vectors(ROWS),
    ],
    ids=[
        "lists",
        "array",
        "float32",
        "fortran",
        "list of arrays",
        "generator",
        "csr",
        "csc",
        "coo",
        "objects",
        "vectors",
    ],
)
def test_all_containers_of_rows_give_the_same_batch(data):
    batch = Vectors(data)
    assert (len(batch), batch.n_columns, batch.names) == (4, 3, None)
    assert np.array_equal(batch.to_csr().toarray(), DENSE)
    assert [row.tolist() for row in batch] == ROWS
    assert batch.values.dtype == np.float64
    assert batch.columns.dtype == np.int32
    assert batch.offsets.tolist() == [0, 2, 2, 4, 5]


def test_dicts_have_their_names_sorted_and_zero_where_a_name_is_missing():
    batch = Vectors([{"b": 1, "a": True}, {}, {"c": np.float32(0.5), "b": 0}])
    assert batch.names == ["a", "b", "c"]
    assert batch.to_csr().toarray().tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 0.5]]
    assert list(batch) == [{"a": 1.0, "b": 1.0}, {}, {"c": 0.5}]


def test_str_in_dicts_are_columns_of_ones():
    batch = Vectors(
        [{"word": "The", "title": True, "length": 3, "affix": ["T", "Th"]}, {"word": "cat", "title": False}]
    )
    assert list(batch) == [
        {"affix=T": 1.0, "affix=Th": 1.0, "length": 3.0, "title": 1.0, "word=The": 1.0},
        {"word=cat": 1.0},
    ]


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset])
def test_lists_and_sets_of_str_are_binary_features(kind):
    batch = Vectors([kind(["pos=DT", "word=the"]), kind([]), kind(["word=cat", "word=the"])])
    assert batch.names == ["pos=DT", "word=cat", "word=the"]
    assert batch.to_csr().toarray().tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 1]]


def test_a_feature_counts_once_however_often_it_is_listed():
    assert list(Vectors([["a", "b", "a"]])) == [{"a": 1.0, "b": 1.0}]


def test_a_kernel_of_numbers_reads_lists_of_str_as_binary_features():
    assert Linear()([["a", "b"], {"b", "c"}]).tolist() == [[2, 1], [1, 2]]
    model = SVC(kernel=Linear(), C=10).fit([["a", "b"], ["a"], ["c"], ["b", "c"]], [0, 0, 1, 1])
    assert model.predict([["a", "d"], {"c"}]).tolist() == [0, 1]
    assert SVC(C=10).fit([{"a", "b"}, {"a"}, {"c"}], [0, 0, 1]).predict([{"c"}]).tolist() == [1]


@given(st.lists(st.lists(st.text(max_size=2), max_size=4), max_size=6))
def test_binary_features_are_those_of_the_rows(rows):
    batch = Vectors(list(map(set, rows)))
    assert [set(row) for row in batch] == list(map(set, rows))
    assert all(value == 1.0 for value in batch.values)


def test_a_frame_of_any_library_keeps_the_names_of_its_columns():
    batch = Vectors(Frame(age=[30, 40], tall=np.array([True, False])))
    assert batch.names == ["age", "tall"]
    assert batch.to_csr().toarray().tolist() == [[30, 1], [40, 0]]


def test_a_frame_of_pandas_is_read():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"age": pandas.array([30, 40], dtype="Int64"), "gc": [0.5, 0.25]})
    assert Vectors(frame).to_csr().toarray().tolist() == [[30, 0.5], [40, 0.25]]
    frame.loc[1, "age"] = pandas.NA
    with pytest.raises(InputError, match=r"'age', row 1 is missing|row 1, column 'age' is nan"):
        Vectors(frame)


def test_names_may_be_given():
    assert Vectors(ROWS, names=["x", "y", "z"])[0] == {"x": 1.5, "z": -2.0}


def test_the_data_given_are_neither_changed_nor_shared():
    given = sp.csr_matrix((np.array([1.0, 2.0, 0.0]), [1, 0, 2], [0, 3]), shape=(1, 3))  # unsorted, with a zero
    batch = Vectors(given)
    given.data[0] = 7
    assert given.nnz == 3
    assert batch[0].tolist() == [2, 1, 0]
    with pytest.raises(ValueError, match="read-only"):
        batch.values[0] = 1


@pytest.mark.parametrize("key", [slice(1, 3), slice(None, None, -1), [2, 0, 2], np.array([True, False, True, False])])
def test_a_selection_has_the_selected_rows(key):
    for batch in (Vectors(ROWS), Vectors(ROWS, list("xyz"))):
        part = batch[key]
        assert np.array_equal(part.to_csr().toarray(), DENSE[key])
        assert part.names == batch.names
        assert part.offsets.dtype == np.int64
        assert batch[np.int64(-1)] is not None


def test_selecting_nothing_and_beyond_the_end():
    assert len(Vectors(ROWS)[:0]) == 0
    assert Vectors(ROWS)[[]].n_columns == 3
    with pytest.raises(IndexError):
        Vectors(ROWS)[4]


def test_chunks_contain_all_rows_in_order():
    batch = Vectors(ROWS)
    parts = list(batch.chunks(2))
    assert sum(map(len, parts)) == 4
    assert len(parts) > 1
    assert np.array_equal(sp.vstack([part.to_csr() for part in parts]).toarray(), DENSE)


@given(arrays.arrays(np.float64, st.tuples(st.integers(0, 6), st.integers(0, 5)), elements=st.floats(-1e9, 1e9)))
def test_batches_come_back_from_pickle_and_from_their_state(dense):
    for names in (None, [f"c{j}" for j in range(dense.shape[1])]):
        batch = Vectors(dense, names)
        spec, kept = batch.state()
        for again in (pickle.loads(pickle.dumps(batch)), Batch.from_state(json.loads(json.dumps(spec)), kept)):
            assert np.array_equal(again.to_csr().toarray(), dense)
            assert (again.names, again.nbytes, again.n_columns) == (batch.names, batch.nbytes, batch.n_columns)
            assert not again.values.flags.writeable


def test_a_damaged_state_is_refused():
    spec, kept = Vectors(ROWS).state()
    with pytest.raises(InputError, match="the array 'columns' has numbers outside of 0 to"):
        Batch.from_state(spec, kept | {"columns": kept["columns"] + 7})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([[1, 2], [3, float("nan")]], r"row 1, column 1 is nan, expected a finite number: fill it in"),
        (np.array([[1.0, np.inf]]), r"row 0, column 1 is inf"),
        (sp.csr_matrix([[0, 0], [0, -np.inf]]), r"row 1, column 1 is -inf"),
        ([{"a": 1}, {"b": float("nan"), "a": 2}], r"row 1, column 'b' is nan"),
        (Frame(age=[30, None]), r"column 'age', row 1 is missing, expected a number: fill it in or leave the row out"),
        (Frame(name=np.array(["x", "y"])), r"column 'name', row 0 is 'x' \(str_?\), expected a number"),
        ([[1, 2], [3]], r"row 1 has 1 numbers, expected 2 like the rows before it"),
        ([[1, "2"]], r"row 0, column 1 is '2' \(str\), expected a number"),
        ([[1, 2j]], r"row 0, column 1 is '2j' \(complex\), expected a number"),
        ([{"a": b"1"}], r"row 0, 'a' is \"b'1'\" \(bytes\), expected a number"),
        ([{"a": ["b", 1]}], r"row 0, 'a' is .* \(list\), expected a number"),
        ([["a"], ["b", 1]], r"row 1: '1' is int, expected str like the features before it"),
        ([["a"], ["b", []]], r"row 1: '\[\]' is list, expected str like the features before it"),
        ([{"a"}, 3], r"row 1 is int, expected a list or set of str like the rows before it"),
        ([{"a"}, "ab"], r"row 1 is str, expected a list or set of str like the rows before it"),
        ([{"a": None}], r"row 0, 'a' is missing"),
        ([{1: 2.0}], r"row 0: the name 1 is int, expected str"),
        ([{"a": 1}, [1]], r"row 1 is list, expected a dict like the rows before it"),
        ([[1], {"a": 1}], r"row 1 is dict .*expected a list of numbers"),
        (["abba"], r"row 0 is str \('abba'\), expected a list of numbers"),
        ([1, 2], r"row 0 is int \('1'\), expected a list of numbers"),
        (np.arange(3), r"shape \(3,\), expected two dimensions"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\), expected two dimensions"),
        (sp.csr_matrix([[1j]]), r"sparse matrix of complex128, expected numbers"),
        ("abba", r"found str, expected rows of numbers"),
        ({"a": 1}, r"found dict, expected rows of numbers"),
        (3, r"found int, expected rows of numbers"),
        (sp.csr_matrix((1, 2**31 + 5)), r"2,147,483,653 columns, expected at most"),
    ],
)
def test_invalid_rows_are_refused_with_their_place(data, message):
    with pytest.raises(InputError, match=message):
        Vectors(data)


@pytest.mark.parametrize(
    ("data", "names", "message"),
    [
        (ROWS, ["x"], "1 names were given for 3 columns"),
        (ROWS, ["x", "y", "x"], "two columns have the name 'x'"),
        ([{"a": 1}], ["a"], "the columns have names already"),
    ],
)
def test_invalid_names_of_columns_are_refused(data, names, message):
    with pytest.raises(InputError, match=message):
        Vectors(data, names)


def test_two_columns_of_a_frame_with_one_name_are_refused():
    frame = Frame(a=[1])
    frame.columns = ["a", "a"]
    with pytest.raises(InputError, match="two columns have the name 'a'"):
        Vectors(frame)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (DENSE, True),
        (sp.csr_matrix(DENSE), True),
        (ROWS, True),
        ([{"a": 1}], True),
        ([{"a"}], True),
        ([frozenset()], True),
        ([["a", "b"]], False),  # words
        ([{1}], False),
        (Frame(a=[1]), True),
        (Vectors(ROWS), True),
        (np.array([[1, 2], [3, 4]]), False),  # integers are sequences of symbols
        ([[1, 2]], False),
        (["abba"], False),
        ("abba", False),
        ([], False),
        (SimpleNamespace(columns=[1]), False),
    ],
)
def test_rows_of_numbers_are_distinguished_from_sequences(data, expected):
    assert Vectors.recognises(data) is expected
