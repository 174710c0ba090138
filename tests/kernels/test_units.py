"""Sums and products of kernels that split the same texts in different ways."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import treille
from treille import InputError, Strings
from treille.data import Table, Texts
from treille.kernels import AllSubstrings, Columns, Gappy, NGram, Subsequence
from treille.testing import check_kernel

RNG = np.random.default_rng(5)
WORDS = ["red", "wine", "White", "grape", "café", "the", "of", "Vine", "x", "!"]
TEXTS = [" ".join(RNG.choice(WORDS, RNG.integers(0, 9))) for _ in range(40)]
LABELS = np.array(["red" in text.split() for text in TEXTS])
NEW = ["red wine of the vine", "", "a grape\tunknown: été"]
WORD, CHAR, BYTE, SPLIT = NGram(2, min_n=1, unit="word"), NGram(3), NGram(2, unit="byte"), NGram(1, unit=str.split)


def value(kernel, X, Y):
    """The matrix from the matrices of the parts, each on the raw texts."""
    if hasattr(kernel, "left"):
        left, right = value(kernel.left, X, Y), value(kernel.right, X, Y)
        return left + right if type(kernel).__name__ == "Sum" else left * right
    if type(kernel).__name__ == "Constant":
        return np.full((len(X), len(Y)), float(kernel.value))
    if type(kernel).__name__ == "Power":
        return value(kernel.kernel, X, Y) ** kernel.degree
    if type(kernel).__name__ == "Scaled":
        return kernel.scale * value(kernel.kernel, X, Y)
    if type(kernel).__name__ == "Normalized":
        norms = [np.sqrt(np.diag(value(kernel.kernel, Z, Z))) for Z in (X, Y)]
        return value(kernel.kernel, X, Y) / np.maximum(np.outer(*norms), 1e-300)
    return kernel(X, Y)


EXPRESSIONS = [
    WORD + CHAR,
    WORD * CHAR,
    (WORD + CHAR).normalized() + BYTE,
    0.5 * (1 + WORD * (CHAR + NGram(2))).normalized() + SPLIT,
    (1 + WORD + CHAR) ** 2,
    (WORD.normalized() + CHAR.normalized()).normalized(),
    Subsequence(2) + WORD,
    Subsequence(2) * (WORD + BYTE),
    AllSubstrings(unit="word") + CHAR,
    SPLIT + NGram(1, unit=str.splitlines) + Gappy(2, max_gap=1, unit="word"),
]


@pytest.mark.parametrize("kernel", EXPRESSIONS, ids=repr)
def test_kernels_of_different_units_are_combined_on_raw_texts(kernel):
    np.testing.assert_allclose(kernel(TEXTS, NEW), value(kernel, TEXTS, NEW), rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(NEW), np.diag(value(kernel, NEW, NEW)), rtol=1e-12)
    batch = kernel.batch(TEXTS)
    assert isinstance(batch, Texts)
    assert kernel.batch(batch) is batch
    np.testing.assert_array_equal(kernel(batch), kernel(iter(TEXTS), n_jobs=2))
    if kernel.has_features:
        features = treille.Features(kernel).fit(TEXTS)
        F, G = features.transform(TEXTS), features.transform(NEW)
        np.testing.assert_allclose((F @ G.T).toarray(), value(kernel, TEXTS, NEW), rtol=1e-9, atol=1e-12)


def test_a_kernel_with_a_word_and_a_character_part_keeps_the_laws_of_kernels():
    check_kernel(WORD + CHAR.normalized(), TEXTS)
    check_kernel((WORD * NGram(2)).normalized(), TEXTS)


@pytest.mark.parametrize(
    "kernel", [WORD + CHAR.normalized(), Subsequence(2).normalized() + WORD, (1 + WORD + CHAR) ** 3]
)
@pytest.mark.parametrize("estimator", [treille.SVC, treille.Ridge, treille.SVR, treille.OneClassSVM])
def test_estimators_read_raw_texts_and_models_are_saved(kernel, estimator, tmp_path):
    model = estimator(kernel, n_jobs=2)
    model.fit(TEXTS) if estimator is treille.OneClassSVM else model.fit(TEXTS, LABELS * 1.0)
    model.save(tmp_path / "m.treille")
    expected = model.predict(NEW)
    for copy in (treille.load(tmp_path / "m.treille"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.predict(NEW), expected)
    np.testing.assert_array_equal(clone(model).set_params(n_jobs=1).fit(TEXTS, LABELS * 1.0).predict(NEW), expected)


def test_units_are_searched():
    grid = {"kernel__left__unit": ["word", "byte", "char"], "kernel__right__kernel__n": [1, 3]}
    search = GridSearchCV(treille.SVC(WORD + CHAR.normalized()), grid, cv=3).fit(np.array(TEXTS, dtype=object), LABELS)
    assert search.best_score_ > 0.8


def test_columns_hold_texts_of_several_units():
    X = {"title": TEXTS[:20], "tags": TEXTS[20:]}
    a, b = Columns({"title": WORD + CHAR, "tags": WORD}), Columns({"title": BYTE, "tags": WORD}).normalized()
    expected = a(X) + b(X)
    batch = (a + b).batch(X)
    assert isinstance(batch, Table)
    assert set(batch.columns["title"].columns) == {"word", "char", "byte"}
    assert isinstance(batch.columns["tags"], Strings)
    for Z in (X, batch, (a + b).batch(batch)):
        np.testing.assert_allclose((a + b)(Z), expected)
    model = treille.SVC(a * b).fit(X, LABELS[:20])
    np.testing.assert_array_equal(model.predict(batch), model.predict(X))


def test_texts_are_indexed_and_cut_like_other_batches():
    batch = (WORD + CHAR).batch(TEXTS)
    assert (len(batch), batch.shape) == (40, (40,))
    assert batch[3] == {"word": Strings(TEXTS, "word")[3], "char": TEXTS[3]}
    for key in (slice(4, 9), [7, 2], np.arange(40) % 3 == 0):
        some = batch[key]
        assert list(some.columns["char"]) == list(np.array(TEXTS, dtype=object)[key])
        np.testing.assert_array_equal((WORD + CHAR)(some), (WORD + CHAR)(batch)[key][:, key])
    assert [text for part in batch.chunks(60) for text in part.columns["char"]] == TEXTS
    spec, arrays = batch.state()
    read = treille.Batch.from_state(spec, arrays)
    assert list(read) == list(batch)
    assert "word" in repr(batch)
    with pytest.raises(InputError, match="the texts of unit 'char' in the file are Strings"):
        treille.Batch.from_state(spec | {"names": spec["names"][::-1]}, arrays)
    with pytest.raises(InputError, match="a function, which a model file cannot hold"):
        (SPLIT + CHAR).batch(TEXTS).state()


def test_sequences_that_are_already_split_have_one_unit():
    tokens = [text.split() for text in TEXTS]
    assert isinstance((WORD + CHAR).batch(tokens), Strings)
    np.testing.assert_array_equal((WORD + CHAR)(tokens), WORD(tokens) + CHAR(tokens))
    with pytest.raises(InputError, match="split into units of 'word', but the kernel has unit='char'"):
        (WORD + CHAR)(Strings(TEXTS, unit="word"))
    with pytest.raises(InputError, match="the texts are split by 'word', 'char', but the kernel has unit='byte'"):
        BYTE((WORD + CHAR).batch(TEXTS))
    with pytest.raises(InputError, match="the strings are bytes, but unit is 'word'"):
        (BYTE + WORD)([b"ab"])
    with pytest.raises(InputError, match="item 1 is None"):
        (WORD + CHAR)(["a", None])
    with pytest.raises(InputError, match="different columns or units"):
        (WORD + CHAR).fit_features((WORD + CHAR).batch(TEXTS))[0].occurrences((WORD + CHAR).batch(TEXTS))
