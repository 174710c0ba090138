"""Polynomial: its matrix and its features compared with the definition."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import SVC, InputError, Vectors
from treille.kernels import Kernel, Linear, Polynomial
from treille.kernels.conjunction_features import conjunction_coefficients
from treille.kernels.parse import format_kernel, parse_kernel
from treille.testing import check_estimator, check_kernel

RANDOM = np.random.default_rng(1)
BINARY = (RANDOM.random((40, 9)) < 0.4).astype(float)
REAL = RANDOM.normal(size=(40, 9)) * (RANDOM.random((40, 9)) < 0.6)
LABELS = (BINARY[:, 0] + BINARY[:, 1] == 1).astype(int)
DATA = {"binary": BINARY, "real": REAL}


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("coef0", [0, 1, 0.5])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_features_and_matrix_are_the_definition(degree, coef0, data):
    X, Y = DATA[data][:30], DATA[data][30:]
    kernel = Polynomial(degree, coef0)
    slow = (coef0 + X @ X.T) ** degree
    np.testing.assert_allclose(kernel(X), slow, rtol=1e-12, atol=1e-12)
    features, rows = kernel.fit_features(Vectors(X))
    np.testing.assert_allclose(rows.gram(None, 1), slow, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(rows.diag(), np.diag(slow), rtol=1e-12)
    new = features.transform(Vectors(Y))
    np.testing.assert_allclose(new.gram(rows, 1), (coef0 + Y @ X.T) ** degree, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(new.diag(), (coef0 + (Y * Y).sum(axis=1)) ** degree, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(Y), new.diag(), rtol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_it_is_the_power_of_one_plus_linear(degree):
    power, kernel = (1 + Linear()) ** degree, Polynomial(degree)
    assert np.array_equal(kernel(REAL), power(REAL))
    ours, theirs = (k.fit_features(Vectors(REAL))[1] for k in (kernel, power))
    assert ours.n_features == theirs.n_features
    np.testing.assert_allclose(
        np.sort(np.abs(ours.to_csr().data)), np.sort(np.abs(theirs.to_csr().data)), rtol=1e-12, atol=0
    )


@settings(deadline=None, max_examples=10)
@given(
    st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(-3, 3)), min_size=2, max_size=5),
    st.integers(1, 3),
    st.sampled_from([0, 1, 0.5]),
)
def test_it_obeys_the_laws_on_names_unseen_in_training(rows, degree, coef0):
    def slow(x, y):
        return (coef0 + sum(value * y.get(name, 0) for name, value in x.items())) ** degree

    check_kernel(Polynomial(degree, coef0), rows, slow)


def test_an_estimator_with_it_obeys_the_laws_of_estimators():
    check_estimator(SVC(Polynomial(2)), list(BINARY), LABELS)


@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("normalized", [False, True])
def test_it_learns_what_its_matrix_learns(data, normalized):
    X = np.vstack([DATA[data]] * 3)
    y = np.concatenate([LABELS] * 3)
    kernel = Polynomial(2).normalized() if normalized else Polynomial(2)
    ours = SVC(kernel, tol=1e-8, max_epochs=100_000).fit(X, y)
    assert ours.plan_.space.name == "rows"
    theirs = SVC("precomputed", tol=1e-8).fit(kernel(X), y)
    np.testing.assert_allclose(ours.decision_function(X[:40]), theirs.decision_function(kernel(X[:40], X)), atol=1e-3)


def test_it_learns_what_a_linear_kernel_cannot():
    assert SVC(Polynomial(2), C=10).fit(BINARY, LABELS).score(BINARY, LABELS) == 1.0
    assert SVC(Linear(), C=10).fit(BINARY, LABELS).score(BINARY, LABELS) < 1.0


def test_features_are_the_products_of_columns_by_name():
    rows = [{"a": 2.0, "b": 3.0}, {"b": 1.0}]
    features, matrix = Polynomial(2).fit_features(Polynomial(2).batch(rows))
    names = [features.name(i) for i in range(features.n_features)]
    assert names == ["constant", "a", "b", "a * a", "a * b", "b * b"]
    root = math.sqrt(2)
    expected = [[1, 2 * root, 3 * root, 4, 6 * root, 9], [1, 0, root, 0, 0, 1]]
    np.testing.assert_allclose(matrix.to_csr().toarray(), expected, rtol=1e-15)
    features, _ = Polynomial(3, coef0=0).fit_features(Vectors([[2.0, 1.0]]))
    names = [features.name(i) for i in range(features.n_features)]
    assert names == ["x0 * x0 * x0", "x0 * x0 * x1", "x0 * x1 * x1", "x1 * x1 * x1"]
    with pytest.raises(IndexError, match="feature 4 does not exist"):
        features.name(4)


def test_features_of_binary_rows_are_conjunctions_by_name():
    features, rows = Polynomial(3, coef0=0).fit_features(Vectors([[1.0, 1.0]]))
    assert [features.name(i) for i in range(features.n_features)] == ["x0", "x0 & x1", "x1"]
    np.testing.assert_allclose(rows.to_csr().toarray(), [[1, math.sqrt(6), 1]], rtol=1e-15)
    with pytest.raises(IndexError, match="feature 3 does not exist"):
        features.name(3)


def test_models_are_saved_and_read(tmp_path):
    for X in (BINARY, Vectors(REAL, list("abcdefghi"))):
        for kernel in (Polynomial(2, coef0=0.5), Polynomial(2, coef0=0).normalized()):
            model = SVC(kernel).fit(X, LABELS)
            model.save(tmp_path / "m.treille")
            again = treille.load(tmp_path / "m.treille")
            assert np.array_equal(again.decision_function(X), model.decision_function(X))
            assert again.top_features() == model.top_features()


def test_rows_do_not_depend_on_the_number_of_threads():
    X = sp.random(2000, 60, density=0.2, random_state=0, format="csr")
    X.data = np.round(3 * X.data)
    one, *others = (Polynomial(3).fit_features(Vectors(X), n_jobs) for n_jobs in (1, 2, 5))
    for features, rows in others:
        assert np.array_equal(features.tuples, one[0].tuples)
        for name in ("indptr", "entries", "codebook", "scale", "sq_norms"):
            assert np.array_equal(getattr(rows, name), getattr(one[1], name)), name
        new = features.transform(Vectors(X[:500]), 2)
        assert np.array_equal(new.to_csr().toarray(), one[1].to_csr()[:500].toarray())


def test_it_is_written_and_parsed():
    assert repr(parse_kernel("polynomial(2, coef0=1)")) == repr(Polynomial(2, coef0=1))
    assert format_kernel(Polynomial(3, coef0=0.5)) == "polynomial(3, coef0=0.5)"
    kernel = 0.5 * Polynomial(3, 0) + Linear()
    assert Kernel.from_spec(kernel.spec()).spec() == kernel.spec()
    np.testing.assert_allclose(kernel(REAL), 0.5 * (REAL @ REAL.T) ** 3 + REAL @ REAL.T)


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        (Polynomial(0), BINARY, "degree is 0, expected a whole number of at least 1"),
        (Polynomial(2.5), BINARY, r"degree is 2\.5, expected"),
        (Polynomial(True), BINARY, "degree is True, expected"),
        (Polynomial(2, -1), BINARY, "coef0 is -1, expected a number of at least 0"),
        (Polynomial(2, float("inf")), BINARY, "coef0 is inf, expected"),
        (Polynomial(2, "1"), BINARY, "coef0 is '1', expected"),
        (Polynomial(2), treille.Strings(["ab"]), "expected rows of numbers"),
        (Polynomial(3), [[1e60], [1.0]], r"Polynomial\(degree=3\) of example.* 0.* is inf, too large for a float64"),
    ],
)
def test_invalid_parameters_and_data_are_refused(kernel, X, message):
    with pytest.raises(InputError, match=message):
        kernel(X)
    with pytest.raises(InputError, match=message if "1e60" not in str(X) else "too large|not finite|overflow"):
        SVC(kernel).fit(X if isinstance(X, treille.Strings) else list(X), np.arange(len(X)) % 2)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("coef0", [0, 1, 2, 0.5])
def test_conjunctions_count_what_the_power_counts(degree, coef0):
    c = conjunction_coefficients(degree, coef0)
    assert len(c) == degree + 1
    for s in range(9):
        total = sum(c[k] * math.comb(s, k) for k in range(degree + 1))
        if isinstance(coef0, int):
            assert total == (coef0 + s) ** degree
        assert total == pytest.approx((coef0 + s) ** degree, rel=1e-13)


def test_coefficients_too_large_for_a_float_are_refused():
    with pytest.raises(InputError, match="degree 400 has coefficients too large"):
        conjunction_coefficients(400)
