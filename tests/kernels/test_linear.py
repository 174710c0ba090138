"""Linear compared with its definition."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import treille
from treille import SVC, InputError, Vectors
from treille.features import Rows
from treille.kernels import Linear
from treille.testing import check_estimator, check_kernel

NUMBERS = st.sampled_from([0.0, 0.0, 1.0, -1.0, 0.1]) | st.floats(-100, 100)
MATRICES = arrays.arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(1, 5)), elements=NUMBERS)
RANDOM = np.random.default_rng(0)
DATA = RANDOM.normal(size=(30, 6)) * (RANDOM.random((30, 6)) < 0.5)
LABELS = (DATA[:, 0] - DATA[:, 1] > 0).astype(int)


def slow(x, y):
    if isinstance(x, dict):
        return sum(value * y.get(name, 0.0) for name, value in x.items())
    return sum(a * b for a, b in zip(x, y, strict=True))


@settings(deadline=None, max_examples=30)
@given(MATRICES)
def test_it_obeys_the_laws_on_any_numbers(dense):
    dense[np.abs(dense) < 1e-100] = 0  # their squares underflow
    check_kernel(Linear(), dense, slow)


@settings(deadline=None, max_examples=20)
@given(st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(-3, 3)), min_size=2, max_size=6))
def test_it_obeys_the_laws_on_names_unseen_in_training(rows):
    check_kernel(Linear(), rows, slow)


def test_it_works_on_more_numbers_than_one_thread_takes():
    big = sp.random(400, 300, density=0.6, random_state=1, format="csr")
    check_kernel(Linear(), big)
    np.testing.assert_allclose(Linear()(big), (big @ big.T).toarray(), rtol=1e-12)


@pytest.mark.parametrize("density", [0.05, 0.5])
def test_sparse_and_dense_products_are_one_kernel(density):
    X = sp.random(20, 40, density=density, random_state=0).toarray()
    Y = sp.random(10, 40, density=density, random_state=1).toarray()
    names = [f"c{j}" for j in range(40)]
    others = [f"c{j}" for j in range(39, -1, -2)] + ["new"]
    picked = np.column_stack([Y[:, ::-2], np.ones(10)])
    np.testing.assert_allclose(Linear()(X, Y), X @ Y.T, atol=1e-14)
    expected = X[:, ::-2] @ Y[:, ::-2].T
    np.testing.assert_allclose(Linear()(Vectors(X, names), Vectors(picked, others)), expected, atol=1e-14)
    K = Linear()(X)
    assert np.array_equal(K, K.T)


def test_features_are_the_columns_in_their_order():
    features, rows = Linear().fit_features(Vectors([[1, 0, 2, 0], [3, 0, 4, 1]]))
    assert [features.name(i) for i in range(features.n_features)] == ["x0", "x1", "x2", "x3"]
    assert rows.n_features == 4
    with pytest.raises(IndexError):
        features.name(4)


def test_a_column_unseen_in_training_counts_in_the_norm_alone():
    K = Linear().normalized()([{"a": 3.0}], [{"a": 3.0, "b": 4.0}])
    assert K.tolist() == [[pytest.approx(0.6)]]


def test_an_estimator_with_it_obeys_the_laws_of_estimators():
    check_estimator(SVC(Linear()), list(DATA), LABELS)


def test_models_of_named_and_of_bare_columns_are_saved_and_read(tmp_path):
    for X in (DATA, Vectors(DATA, list("abcdef"))):
        model = SVC().fit(X, LABELS)
        model.save(tmp_path / "m.treille")
        again = treille.load(tmp_path / "m.treille")
        assert np.array_equal(again.decision_function(X), model.decision_function(X))
        assert again.top_features() == model.top_features()


def test_it_learns_what_liblinear_learns():
    from sklearn.svm import LinearSVC

    ours = SVC(Linear(), tol=1e-8, max_epochs=100_000).fit(DATA, LABELS)
    theirs = LinearSVC(loss="hinge", tol=1e-8, max_iter=1_000_000).fit(DATA, LABELS)
    np.testing.assert_allclose(ours.decision_function(DATA), theirs.decision_function(DATA), atol=1e-3)


def test_it_is_the_kernel_chosen_for_rows_of_numbers():
    assert isinstance(SVC().fit(DATA, LABELS).plan_.kernel, Linear)


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([[1.0]], [[1.0, 2.0]], "the new rows have 2 columns, expected 1 as in training"),
        ([[1.0]], [{"a": 1.0}], "the columns of the new rows have names, those of the features do not"),
        ([{"a": 1.0}], [[1.0]], "the columns of the features have names, those of the new rows do not"),
        ([[1.0], [2.0]], [[1.0], [1e200]], "row 1 contains numbers whose squares"),
        ([[1e200]], None, "row 0 contains numbers whose squares overflow: scale"),
        (treille.Strings(["ab"]), None, "found strings, expected rows of numbers"),
    ],
)
def test_rows_with_unknown_columns_or_numbers_that_overflow_are_refused(X, Y, message):
    with pytest.raises(InputError, match=message):
        Linear()(X, Y)


@pytest.mark.parametrize("columns", [[0, 0], [0, 9], [-1, 0]])
def test_columns_of_a_damaged_file_are_refused(columns):
    with pytest.raises(
        InputError, match=r"do not agree with each other|the array 'columns' has numbers outside of 0 to 2"
    ):
        Linear().load_features({"names": None, "n_columns": 3}, {"columns": np.array(columns)})


def test_rows_of_a_matrix_leave_out_columns_that_have_no_feature():
    rows = Rows.from_csr(sp.csr_matrix(DATA), ids=np.array([2, -1, 0, -1, 1, -1]), n_features=3, threads=2)
    assert np.array_equal(rows.to_csr().toarray(), DATA[:, [2, 4, 0]])
