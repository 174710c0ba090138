"""Arrays, chunked arrays and tables of pyarrow: texts, tokens, labels, numbers and columns, wherever lists are taken."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import treille
from treille import SVC, SVR, Features, InputError, Strings
from treille.kernels import Columns, Linear, NGram, SubsetTree

pa = pytest.importorskip("pyarrow")

TEXTS = ["a red wine", "dark and red", "red, a dark red", "a white wine", "white and green", "very white"] * 2
Y = ["red", "red", "red", "white", "white", "white"] * 2
MAKE = {
    "array": pa.array,
    "chunked": lambda values: pa.chunked_array([values[:5], values[5:]]),
    "dictionary": lambda values: pa.array(values).dictionary_encode(),
    "large": lambda values: pa.array(values, pa.large_string()),
    "view": lambda values: pa.array(values, pa.string_view()),
}


@pytest.fixture(params=MAKE)
def make(request):
    return MAKE[request.param]


@pytest.mark.parametrize("kernel", [None, NGram(2), NGram(2) + NGram(1, unit="word")], ids=repr)
def test_texts_and_labels_are_those_of_lists(make, kernel):
    expected, found = SVC(kernel).fit(TEXTS, Y), SVC(kernel).fit(make(TEXTS), make(Y))
    assert repr(found.plan_.kernel) == repr(expected.plan_.kernel)
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert np.array_equal(found.decision_function(make(TEXTS)), expected.decision_function(TEXTS))
    assert found.score(make(TEXTS), make(Y)) == expected.score(TEXTS, Y)
    assert found.explain_all(make(TEXTS))[0].parts() == expected.explain_all(TEXTS)[0].parts()


def test_features_and_batches_are_those_of_lists(make):
    assert list(Strings(make(TEXTS))) == TEXTS
    assert (Features(NGram(2)).fit_transform(make(TEXTS)) != Features(NGram(2)).fit_transform(TEXTS)).nnz == 0
    assert np.array_equal(NGram(2)(make(TEXTS), make(TEXTS[:3])), NGram(2)(TEXTS, TEXTS[:3]))


@pytest.mark.parametrize("name", ["array", "chunked"])
def test_scikit_learn_splits_them(name):
    X, y = MAKE[name](TEXTS), MAKE[name](Y)
    expected = cross_val_score(SVC(NGram(2)), TEXTS, Y, cv=2)
    assert cross_val_score(SVC(NGram(2)), X, y, cv=2, error_score="raise").tolist() == expected.tolist()
    search = GridSearchCV(SVC(NGram(2)), {"C": [0.1, 1.0]}, cv=2, error_score="raise").fit(X, y)
    assert search.predict(X).tolist() == search.predict(TEXTS).tolist()


def test_tables_and_dicts_are_columns(make):
    kernel, numbers = Columns(title=NGram(2), year=Linear()), list(range(12))
    expected = SVC(kernel).fit({"title": TEXTS, "year": numbers}, Y)
    for X in (pa.table({"title": make(TEXTS), "year": numbers}), {"title": make(TEXTS), "year": pa.array(numbers)}):
        assert np.array_equal(SVC(kernel).fit(X, Y).decision_function(X), expected.decision_function(X))


def test_tokens_trees_numbers_and_weights_are_read():
    tokens, trees = [text.split() for text in TEXTS], ["(a (b c))", "(a (d c))"]
    assert np.array_equal(NGram(1)(pa.array(tokens)), NGram(1)(tokens))
    assert np.array_equal(SubsetTree()(pa.array(trees)), SubsetTree()(trees))
    rows = [[0.5, 1.0], [2.0, 0.0]]
    assert np.array_equal(Linear()(pa.array(rows)), Linear()(rows))
    numbers, weights = np.arange(12.0), np.arange(1.0, 13.0)
    expected = SVR(NGram(2)).fit(TEXTS, numbers, sample_weight=weights)
    found = SVR(NGram(2)).fit(TEXTS, pa.chunked_array([numbers]), sample_weight=pa.array(weights))
    assert np.array_equal(found.coef_, expected.coef_)


def test_what_is_missing_is_named():
    with pytest.raises(InputError, match="item 1 is None"):
        SVC(NGram(2)).fit(pa.array(["a", None]), [0, 1])
    with pytest.raises(InputError, match="label 1 is missing"):
        SVC(NGram(2)).fit(["a", "b"], pa.array(["x", None]))
    with pytest.raises(InputError, match="there is no column 'title': there are 'year'"):
        SVC(Columns(title=NGram(2))).fit(pa.table({"year": [1, 2]}), [0, 1])
    assert treille.SVC().fit(pa.array(TEXTS), Y).plan_.kernel is not None
