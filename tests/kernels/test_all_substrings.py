"""AllSubstrings against its definition, by matrix, by product and by diagonal; and the laws of kernels."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from treille import InputError, Strings
from treille.kernels import AllSubstrings, Kernel, NGram
from treille.spaces import ProductSpace
from treille.spaces.functions import KernelFunctions, read_functions
from twins import all_substrings_kernel, cosine, ngram_kernel

RANDOM = np.random.default_rng(0)
WORDS = ["abracadabra", "", "cad", "barbara", "a", "b" * 9, "abab", "xyz", "abracadabra"]


def gram_matrix(k, X, Y):
    return np.array([[k(x, y) for y in Y] for x in X], dtype=float).reshape(len(X), len(Y))


@st.composite
def parameters(draw):
    min_length = draw(st.integers(1, 4))
    return {
        "decay": draw(st.sampled_from([0.01, 0.3, 0.5, 0.9, 1.0])),
        "min_length": min_length,
        "max_length": draw(st.one_of(st.none(), st.integers(min_length, 8))),
    }


texts = st.lists(st.text("abc", max_size=20), max_size=7)


@settings(deadline=None, max_examples=80)
@given(texts, texts, parameters())
def test_random_strings_give_the_twins_values(X, Y, params):
    kernel, slow = AllSubstrings(**params), all_substrings_kernel(**params)
    expected = gram_matrix(slow, X, X)
    K = kernel(X)
    np.testing.assert_allclose(K, expected, rtol=1e-13)
    assert np.array_equal(K, K.T)
    np.testing.assert_allclose(kernel.diag(X), expected.diagonal(), rtol=1e-13)
    np.testing.assert_allclose(kernel(X, Y), gram_matrix(slow, X, Y), rtol=1e-13)


@settings(deadline=None, max_examples=40)
@given(texts, texts, parameters(), st.integers(0, 19))
def test_products_are_those_of_the_matrix(X, Y, params, n_functions):
    kernel = AllSubstrings(**params)
    beta = RANDOM.normal(size=(len(X), n_functions))
    K, cross = kernel(X), kernel(Y, X)
    left, right = kernel.batch(Y), kernel.batch(X)
    fitted = kernel.fit_product(right)
    np.testing.assert_allclose(fitted.matvec(beta), K @ beta, rtol=1e-9, atol=1e-9 * K.max(initial=1))
    np.testing.assert_allclose(
        kernel.expansion(right, beta).values(left), cross @ beta, rtol=1e-9, atol=1e-9 * cross.max(initial=1)
    )
    for column in beta.T:
        assert np.array_equal(fitted.matvec(column), fitted.matvec(column[:, None])[:, 0])


def test_a_column_s_product_does_not_depend_on_its_neighbours():
    kernel = AllSubstrings(0.7)
    fitted = kernel.fit_product(kernel.batch(WORDS))
    beta = RANDOM.normal(size=(len(WORDS), 21))
    together = fitted.matvec(beta)
    for width in (1, 2, 3, 8, 9):
        assert np.array_equal(fitted.matvec(beta[:, :width]), together[:, :width])


@pytest.mark.parametrize("decay", [0.5, 1.0])
def test_one_symbol_repeated_is_counted_in_closed_form(decay):
    """a^m holds a^l (m - l + 1) times: nodes nest as deep as the string is long."""
    sizes = [3000, 2500, 1]
    K = AllSubstrings(decay)(["a" * m for m in sizes])
    lengths = np.arange(1, 3001)
    counts = np.maximum(0, np.array(sizes)[:, None] - lengths + 1.0)
    np.testing.assert_allclose(K, (counts * decay**lengths) @ counts.T, rtol=1e-12)


def test_long_common_strings_count_whatever_their_length():
    x = "".join(RANDOM.choice(list("ACGT"), 5000))
    n_strings = [
        sum(m - length + 1 for length in range(1000, m + 1)) for m in (5000, 5001)
    ]  # none of them occurs twice
    assert AllSubstrings(1.0, 1000)([x, x + "N"]).tolist() == [[n_strings[0]] * 2, n_strings]


def test_large_alphabets_and_tokens_are_exact():
    x, y = RANDOM.integers(0, 70_000, 300), RANDOM.integers(0, 70_000, 200)
    X = [x, y, np.concatenate([y[:50], x[10:60]]), x[:0]]
    slow = all_substrings_kernel(0.5, 1, 60)
    items = [tuple(i.tolist()) for i in X]
    np.testing.assert_allclose(AllSubstrings(0.5, 1, 60)(X), gram_matrix(slow, items, items), rtol=1e-13)
    np.testing.assert_allclose(
        AllSubstrings(0.5, 1, 60)(X[:1], X[1:]), gram_matrix(slow, items[:1], items[1:]), rtol=1e-13
    )
    assert AllSubstrings(1.0, unit="word")(["to be or not", "not to be"]).tolist() == [[10, 4], [4, 6]]


def test_with_a_bound_it_is_the_weighted_n_gram_kernel():
    weights = [0.5**length for length in range(2, 6)]
    np.testing.assert_allclose(AllSubstrings(0.5, 2, 5)(WORDS), NGram(5, 2, weights)(WORDS), rtol=1e-12)


def test_it_is_positive_semi_definite_and_its_blocks_are_those_of_the_whole():
    X = ["".join(RANDOM.choice(list("ab"), length)) for length in RANDOM.integers(0, 30, 40)]
    for kernel in (AllSubstrings(), AllSubstrings(1.0, 2, 9), AllSubstrings().normalized()):
        K = kernel(X)
        values = np.linalg.eigvalsh(K)
        assert values[0] >= -1e-9 * values[-1]
        np.testing.assert_allclose(kernel(X[:13], X[13:]), K[:13, 13:], rtol=1e-12)
        np.testing.assert_allclose(kernel(X[13:], X[:13]), K[13:, :13], rtol=1e-12)
        order = RANDOM.permutation(len(X))
        np.testing.assert_allclose(kernel([X[i] for i in order]), K[np.ix_(order, order)], rtol=1e-12)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_the_number_of_threads_changes_nothing(threads):
    kernel = AllSubstrings(0.7)
    batch = kernel.batch(["".join(RANDOM.choice(list("abc"), length)) for length in RANDOM.integers(0, 3000, 100)])
    beta = RANDOM.normal(size=(100, 33))
    for use in (
        lambda n_jobs: kernel.gram(batch, None, n_jobs),
        lambda n_jobs: kernel.gram(batch[:30], batch[30:], n_jobs),
        lambda n_jobs: kernel.diagonal(batch, n_jobs),
        lambda n_jobs: kernel.fit_product(batch, n_jobs).matvec(beta),
        lambda n_jobs: kernel.expansion(batch[30:], beta[30:], n_jobs).values(batch[:30], n_jobs),
    ):
        assert np.array_equal(use(1), use(threads))


def test_it_clones_pickles_and_is_described():
    kernel = AllSubstrings(0.25, 2, 7, unit="word")
    K = kernel(WORDS)
    described = Kernel.from_spec(json.loads(json.dumps(kernel.spec())))
    for twin in (clone(kernel), pickle.loads(pickle.dumps(kernel)), described):
        assert repr(twin) == repr(kernel) == "AllSubstrings(decay=0.25, min_length=2, max_length=7, unit='word')"
        assert np.array_equal(twin(WORDS), K)


def test_the_cosine_is_the_true_one_also_by_products():
    kernel, slow = AllSubstrings(0.5).normalized(), cosine(all_substrings_kernel(0.5))
    K = gram_matrix(slow, WORDS, WORDS)
    np.testing.assert_allclose(kernel(WORDS), K, rtol=1e-12)
    batch, beta = kernel.batch(WORDS), RANDOM.normal(size=(len(WORDS), 3))
    assert kernel.multiplies(batch)
    np.testing.assert_allclose(kernel.fit_product(batch).matvec(beta), K @ beta, atol=1e-12)
    np.testing.assert_allclose(kernel.fit_product(batch).matvec(beta[:, 0]), K @ beta[:, 0], atol=1e-12)
    np.testing.assert_allclose(
        kernel.expansion(batch[4:], beta[4:]).values(batch[:4]), K[:4, 4:] @ beta[4:], atol=1e-12
    )


@settings(deadline=None, max_examples=40)
@given(texts, st.integers(1, 3), st.lists(st.floats(0.01, 100), min_size=1, max_size=5))
def test_n_gram_ranges_have_the_same_products(X, min_n, weights):
    n = min_n + len(weights) - 1
    kernel = NGram(n, min_n, weights)
    beta = RANDOM.normal(size=(len(X), 2))
    K = gram_matrix(ngram_kernel(n, min_n, weights), X, X)
    space = ProductSpace.build(kernel, kernel.batch(X))
    np.testing.assert_allclose(space.product(beta), K @ beta, rtol=1e-9, atol=1e-9 * K.max(initial=1))


def test_orders_longer_than_every_sequence_are_no_trouble():
    for kernel in (NGram(50), NGram(2**31 - 1), AllSubstrings(0.5, 50), AllSubstrings(0.5, 2**30, 2**31 - 1)):
        assert kernel.fit_product(kernel.batch(["abc", "ab", ""])).matvec(np.ones(3)).tolist() == [0, 0, 0]
    for kernel in (AllSubstrings(0.5, 50), AllSubstrings(0.5, 2**30, 2**31 - 1)):
        assert kernel(["abc", "ab"], ["ab"]).tolist() == [[0], [0]]
        assert kernel.diag(["abc", "ab"]).tolist() == [0, 0]
    assert AllSubstrings(1.0, 1, 2**31 - 1)(["ab"]).tolist() == [[3.0]]


def test_no_examples_give_an_empty_matrix():
    kernel = AllSubstrings()
    assert kernel([]).shape == (0, 0)
    assert kernel(["ab"], []).shape == (1, 0)
    assert kernel([], ["ab"]).shape == (0, 1)
    assert kernel.diag([]).tolist() == []
    empty, some = kernel.batch([]), kernel.batch(["ab", "b"])
    assert kernel.expansion(some, np.ones((2, 3))).values(empty).shape == (0, 3)
    assert kernel.expansion(empty, np.ones((0, 3))).values(some).tolist() == [[0] * 3] * 2


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"decay": 0}, "decay is 0, expected a positive number"),
        ({"decay": -0.5}, "decay is -0.5, expected"),
        ({"decay": float("inf")}, "decay is inf, expected"),
        ({"decay": float("nan")}, "decay is nan, expected"),
        ({"decay": True}, "decay is True, expected"),
        ({"decay": "0.5"}, "decay is '0.5', expected"),
        ({"min_length": 0}, "min_length is 0, expected a whole number of at least 1"),
        ({"min_length": 1.5}, "min_length is 1.5, expected a whole number"),
        ({"min_length": None}, "min_length is None, expected a whole number"),
        ({"min_length": 3, "max_length": 2}, "max_length is 2, less than min_length, which is 3"),
        ({"max_length": 0}, "max_length is 0, expected a whole number of at least 1"),
        ({"max_length": True}, "max_length is True, expected a whole number"),
        ({"unit": "letter"}, "unit is 'letter', expected one of"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_where_they_are_used(params, message):
    kernel = AllSubstrings(**params)
    for use in (kernel, kernel.diag, lambda X: ProductSpace.build(kernel, kernel.batch(X))):
        with pytest.raises(InputError, match=message):
            use(["abba"])


def test_numpy_numbers_are_good_parameters():
    assert AllSubstrings(np.float32(0.5), np.int64(1), np.int32(2)).diag(["ab"]).tolist() == [1.25]


def test_it_has_products_but_no_features():
    kernel = AllSubstrings()
    assert kernel.multiplies(kernel.batch(["ab"]))
    assert not kernel.has_features
    with pytest.raises(InputError, match=r"AllSubstrings\(decay=0.5\) has no explicit features"):
        kernel.fit_features(kernel.batch(["ab"]))


def test_functions_of_examples_come_back_from_their_state():
    kernel = AllSubstrings(0.5).normalized()
    kept = KernelFunctions.of(kernel, kernel.batch(WORDS), RANDOM.normal(size=(len(WORDS), 2)), np.ones(2))
    again = read_functions(kernel, *kept.state(), 2)
    new = kernel.batch(["cadaver", "", "zzz"])
    assert np.array_equal(again.outputs(new), kept.outputs(new))
    np.testing.assert_allclose(kept.outputs(new), kernel(new, WORDS) @ kept.coefficients + 1, atol=1e-12)


def test_a_batch_split_by_another_unit_is_refused():
    with pytest.raises(InputError, match="the batch is split into units of 'word', but the kernel has unit='char'"):
        AllSubstrings()(Strings(["a b"], unit="word"))
