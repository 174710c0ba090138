"""Precomputed matrices and functions as kernels: values and refusals."""

import numpy as np
import pytest

import treille
from treille import SVC, InputError
from treille.kernels import CallableKernel, NGram, Precomputed, precomputed
from treille.solvers import SMO, DualCD
from treille.testing import check_kernel

X = ["abba", "ab", "baa", "aab", "bab", "cd", "ddc", "ccd", "dc", "dcc"]
Y = ["ab"] * 5 + ["cd"] * 5
NEW = ["abcd", "ba", "dd"]
KERNEL = NGram(2, min_n=1)
K, K_NEW = KERNEL(X), KERNEL(NEW, X)


def common_letters(x, y):
    return sum(x.count(letter) * y.count(letter) for letter in set(x))


def assert_same_as_ngram(model, train, new):
    reference = SVC(KERNEL, solver=SMO()).fit(X, Y)
    np.testing.assert_allclose(model.fit(train, Y).decision_function(new), reference.decision_function(NEW), atol=1e-9)


def test_a_matrix_trains_what_its_kernel_trains(tmp_path):
    model = SVC("precomputed")
    assert_same_as_ngram(model, K, K_NEW)
    assert_same_as_ngram(SVC(Precomputed()), K.tolist(), K_NEW.tolist())
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert np.array_equal(again.decision_function(K_NEW), model.decision_function(K_NEW))
    assert "because Precomputed has no explicit features" in str(model.plan_)


def test_a_function_of_lists_or_of_two_examples_trains_the_same():
    assert_same_as_ngram(SVC(lambda A, B: KERNEL(A, B)), X, NEW)
    assert_same_as_ngram(SVC(lambda x, y: KERNEL([x], [y])[0, 0]), X, NEW)
    small = SMO(cache_mb=0.0005)
    assert_same_as_ngram(SVC(lambda x, y: KERNEL([x], [y])[0, 0], solver=small), X, NEW)


def test_a_function_keeps_the_laws_of_kernels():
    check_kernel(CallableKernel(common_letters), X, common_letters)


def test_a_function_of_vectors_reads_an_array():
    points = np.random.default_rng(0).standard_normal((12, 3))
    model = SVC(lambda A, B: np.exp(-((A[:, None] - B) ** 2).sum(-1))).fit(points, np.arange(12) % 2)
    assert model.decision_function(points[:5]).shape == (5,)
    pairs = SVC(lambda x, y: np.exp(-((x - y) ** 2).sum())).fit(points, np.arange(12) % 2)
    np.testing.assert_allclose(pairs.decision_function(points), model.decision_function(points), atol=1e-9)


def test_scikit_learn_cuts_both_sides_of_a_matrix():
    from sklearn.model_selection import cross_val_score

    scores = cross_val_score(SVC("precomputed"), K, Y, cv=2, error_score="raise")
    assert np.array_equal(scores, cross_val_score(SVC(KERNEL, solver=SMO()), X, Y, cv=2))


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (K[:, :9], "the kernel matrix is 10 by 9, expected a square one"),
        (K[:9], "the kernel matrix is 9 by 10, expected a square one"),
        (np.triu(K), "not symmetric: k of examples 0 and 4 is 8.0, but 0.0 in the opposite order"),
        (np.where(np.eye(10) > 0, np.nan, K), "the kernel value at row 0, column 0 is nan"),
        (np.where(np.eye(10) > 0, np.inf, K), "the kernel value at row 0, column 0 is inf"),
        (K[0], r"found an array of shape \(10,\), expected a matrix"),
        ([["a"]], "not a matrix of numbers"),
        ("text", "not a matrix of numbers"),
        (None, "not a matrix of numbers|expected a matrix"),
    ],
    ids=["wide", "high", "lopsided", "nan", "inf", "flat", "texts", "text", "none"],
)
def test_bad_matrices_are_refused(matrix, message):
    labels = Y[: len(matrix)] if isinstance(matrix, np.ndarray) else Y
    with pytest.raises(InputError, match=message):
        SVC("precomputed").fit(matrix, labels)


def test_an_asymmetry_is_found_wherever_it_is(monkeypatch):
    monkeypatch.setattr(precomputed, "TILE", 3)
    for i, j in ((0, 9), (9, 0), (4, 5), (8, 1)):
        bad = K.copy()
        bad[i, j] += 0.5
        with pytest.raises(InputError, match=f"k of examples {min(i, j)} and {max(i, j)} is"):
            Precomputed()(bad)


@pytest.mark.parametrize("exact", [1000, 0])
def test_an_indefinite_matrix_is_reported_and_training_ends(exact, monkeypatch):
    monkeypatch.setattr(precomputed, "EXACT", exact)
    bad = K - 8 * np.eye(10)
    smallest = np.linalg.eigvalsh(bad)[0]
    with pytest.warns(UserWarning, match=f"not positive semi-definite: it has the eigenvalue {smallest:.3g}"):
        model = SVC("precomputed", max_epochs=100).fit(bad, Y)
    assert np.isfinite(model.decision_function(bad)).all()


def test_predict_wants_the_columns_of_the_training_examples():
    model = SVC("precomputed").fit(K, Y)
    with pytest.raises(InputError, match="X has 9 columns, expected 10: one per training example"):
        model.predict(K_NEW[:, :9])


def test_a_precomputed_kernel_cannot_be_normalized():
    with pytest.raises(InputError, match="k\\(x, x\\) of new examples is not in the matrix"):
        Precomputed().normalized()


def nan_for_some(x, y):
    return float("nan") if {x, y} == {"baa", "dc"} else common_letters(x, y)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (nan_for_some, "returned nan for examples 2 and 8, 'baa' and 'dc', expected a finite number"),
        (lambda A, B: np.zeros(5), r"returned the shape \(5,\) for 2 and 3 examples, expected \(2, 3\), or a number"),
        (lambda A, B: np.zeros((3, 2)), r"returned the shape \(3, 2\) for 2 and 3 examples"),
        (lambda A, B: np.zeros((2, 3)), r"returned the shape \(2, 3\) for 10 and 10 examples, expected \(10, 10\)"),
        (lambda A, B: 1 / 0, "the kernel function fails for lists of examples"),
        (lambda A, B: np.arange(len(A))[:, None] - np.arange(len(B)), "not symmetric: k of examples 0 and"),
    ],
    ids=["nan", "flat", "transposed", "fixed", "failing", "lopsided"],
)
def test_bad_functions_are_refused(function, message):
    with pytest.raises(InputError, match=message):
        SVC(function).fit(X, Y)


def test_nan_is_named_also_where_rows_are_computed_on_demand():
    with pytest.raises(InputError, match=r"returned nan for '[a-d]+' and '[a-d]+', expected"):
        SVC(lambda x, y: 1.0 if x == y else float("nan"), solver=SMO(cache_mb=1e-4)).fit(X, Y)


def test_models_of_functions_are_not_saved(tmp_path):
    model = SVC(common_letters).fit(X, Y)
    with pytest.raises(InputError, match="cannot be saved to a model file"):
        model.save(tmp_path / "m.treille")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kernel", [3, NGram, object()], ids=["number", "class", "object"])
def test_invalid_kernels_are_refused(kernel):
    with pytest.raises(InputError, match="expected a kernel such as"):
        SVC(kernel).fit(X, Y)


def test_solvers_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="DualCD needs explicit features, which CallableKernel"):
        SVC(common_letters, solver=DualCD()).fit(X, Y)
    assert SVC(common_letters, fit_intercept=False).fit(X, Y).intercept_.tolist() == [0.0]


def test_a_matrix_too_large_for_the_memory_is_refused(monkeypatch):
    import treille.kernels.base as base

    monkeypatch.setattr(base, "available_memory", lambda: 500)
    with pytest.raises(InputError, match=r"10 by 10 kernel values would take 800 bytes, but 500 bytes are free: .*SMO"):
        KERNEL(X)
    assert KERNEL(X[:5]).shape == (5, 5)
