"""NGram against its definition: any order, any alphabet, any count."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille import Features, InputError, Strings
from treille.features import Rows
from treille.kernels import NGram
from treille.solvers import DualCD, Problem
from treille.solvers.problem import Hinge
from treille.spaces import RowsSpace
from twins import ngram_counts, ngram_kernel

RANDOM = np.random.default_rng(0)


def gram_matrix(k, X, Y):
    return np.array([[k(x, y) for y in Y] for x in X], dtype=float)


def random_sequences(n_symbols, lengths):
    return [RANDOM.integers(0, n_symbols, length) * 3 + 5 for length in lengths]


def fit(kernel, X) -> Rows:
    return kernel.fit_features(kernel.batch(X))[1]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.text("abc", max_size=30), min_size=1, max_size=6), st.integers(1, 12))
def test_random_strings_give_the_twins_values_exactly(texts, n):
    assert np.array_equal(NGram(n)(texts), gram_matrix(ngram_kernel(n), texts, texts))


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.text("ab", max_size=20), min_size=2, max_size=6),
    st.lists(st.floats(0.01, 100), min_size=1, max_size=5),
    st.integers(1, 4),
)
def test_several_orders_with_weights_give_the_twins_values(texts, weights, min_n):
    n = min_n + len(weights) - 1
    expected = gram_matrix(ngram_kernel(n, min_n, weights), texts, texts)
    np.testing.assert_allclose(NGram(n, min_n, weights)(texts), expected, rtol=1e-12)


@pytest.mark.parametrize("n", [50, 1000])
def test_long_orders_on_repetitive_text_are_exact(n):
    texts = ["ab" * 1500, "a" * 3000, "a" * 1400 + "b" + "a" * 1400, ("abc" * 400 + "d") * 2, "ab" * 10]
    assert np.array_equal(NGram(n)(texts), gram_matrix(ngram_kernel(n), texts, texts))


@pytest.mark.parametrize("size", [1, 2, 255, 256, 257, 300, 65536, 65537, 70_000])
@pytest.mark.parametrize(("min_n", "n"), [(1, 1), (2, 2), (1, 3)])
def test_alphabets_of_every_size_are_exact(size, min_n, n):
    everyone = RANDOM.permutation(size) * 3 + 5
    X = [everyone, *random_sequences(size, [400, 0, 1, 300]), everyone[: size // 2]]
    X += [x.copy() for x in X[:2]]
    counts = [ngram_counts(x.tolist(), n, min_n) for x in X]
    expected = [[sum(a[z] * b[z] for z in min(a, b, key=len)) for b in counts] for a in counts]
    assert np.array_equal(NGram(n, min_n=min_n)(X), expected)


@pytest.mark.parametrize("fitted", [1, 2, 255, 256, 300, 65536])
@pytest.mark.parametrize("unseen", [0, 1, 300, 70_000])
def test_unseen_symbols_are_no_features_but_count_in_the_norm(fitted, unseen):
    kernel = NGram(2, min_n=1)
    features, _ = kernel.fit_features(kernel.batch([np.arange(fitted)]))
    new = np.concatenate([np.arange(min(fitted, 50)), np.arange(fitted, fitted + unseen), [0]])
    rows = features.transform(kernel.batch([new, new[::-1]]))
    known = {(a,) for a in range(fitted)} | {(a, a + 1) for a in range(fitted - 1)}
    for x, row, sq_norm in zip([new, new[::-1]], rows.to_csr(), rows.sq_norms, strict=True):
        counts = ngram_counts(x.tolist(), 2, 1)
        assert sorted(row.data) == sorted(count for z, count in counts.items() if z in known)
        assert sq_norm == sum(count**2 for count in counts.values())


def test_unseen_symbols_are_told_apart_in_the_norm():
    kernel = NGram(1)
    features, _ = kernel.fit_features(kernel.batch(["ab"]))
    assert features.transform(kernel.batch(["xxx", "xyz", "axx"])).sq_norms.tolist() == [9, 3, 5]


def test_more_than_256_distinct_counts_are_exact():
    texts = [chr(200 + k) * k for k in range(1, 301)]
    rows = fit(NGram(1), texts)
    assert rows.code_bits == 9
    assert rows.codebook.tolist() == list(range(1, 301))
    assert rows.to_csr().data.tolist() == list(range(1, 301))
    shuffled = Features(NGram(1)).fit(texts[::-1])
    assert np.array_equal(shuffled.transform(texts).sum(axis=1).A1, np.arange(1, 301))


def test_counts_beyond_65536_are_exact():
    x = "a" * 70_000 + "b" * 3
    assert NGram(1)([x, "ab"]).tolist() == [[70_000**2 + 9, 70_003], [70_003, 2]]
    assert NGram(3).diag([x]).tolist() == [69_998**2 + 3]


def test_entries_too_wide_for_four_bytes_take_eight():
    """Many features times many distinct values: 21 bits of id and 13 of code."""
    orders = np.arange(1, 13)
    weights = np.sqrt(np.arange(2.0, 14.0)) + RANDOM.random(12)
    kernel = NGram(12, min_n=1, order_weights=weights)
    runs = [np.full(k, -1) for k in range(1, 401)]
    space = RowsSpace.build(kernel, kernel.batch([np.arange(100_000), *runs]))
    rows = space.rows
    assert rows.entries.dtype == np.uint64
    assert rows.code_bits == 13
    matrix = rows.to_csr()
    for k in (1, 7, 12, 13, 400):
        some = orders[orders <= k]
        expected = [sqrt(weights[o - 1]) * (k - o + 1) for o in some]
        assert sorted(matrix[k].data) == pytest.approx(sorted(expected), rel=1e-15)
    assert matrix[0].nnz == sum(100_000 - o + 1 for o in orders)
    again = space.features.transform(kernel.batch([runs[12], np.arange(20)]))
    np.testing.assert_array_equal(again.to_csr()[0].toarray(), matrix[13].toarray())

    codes = np.arange(len(rows)) % 2
    solution = DualCD().solve(Problem(Hinge(), codes, np.full(len(rows), 1e-8), True, np.array([1])), space)
    f = matrix @ solution.weights[:, 0]
    np.testing.assert_allclose(rows.matvec(solution.weights, 2)[:, 0], f, atol=1e-9 * np.abs(f).max())
    w = matrix.T @ (solution.alpha[0] * np.where(codes == 1, 1, -1))
    np.testing.assert_allclose(solution.weights[:, 0], w, atol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_strings_shorter_than_the_order_are_zero(n):
    texts = ["", "a" * (n - 1), "a" * n]
    assert NGram(n)(texts).tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert NGram(n)(texts, ["", "a" * n]).tolist() == [[0, 0], [0, 0], [0, 1]]


def test_no_examples_give_an_empty_matrix():
    assert NGram(2)([]).shape == (0, 0)
    assert NGram(2)(["ab"], []).shape == (1, 0)
    assert NGram(2)([], ["ab"]).shape == (0, 1)
    assert NGram(2).diag([]).tolist() == []


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n": 0}, "n is 0, expected a whole number of at least 1"),
        ({"n": -3}, "n is -3, expected a whole number"),
        ({"n": 1.5}, "n is 1.5, expected a whole number"),
        ({"n": True}, "n is True, expected a whole number"),
        ({"n": "3"}, "n is '3', expected a whole number"),
        ({"n": None}, "n is None, expected a whole number"),
        ({"n": 3, "min_n": 0}, "min_n is 0, expected a whole number of at least 1"),
        ({"n": 3, "min_n": 4}, "min_n is 4, more than n, which is 3"),
        (
            {"n": 3, "min_n": 2, "order_weights": [1.0]},
            "order_weights has 1 numbers, expected 2: one for each order from 2 to 3",
        ),
        ({"n": 1, "order_weights": [0.0]}, "order_weights contains 0.0, expected positive numbers"),
        ({"n": 1, "order_weights": [-1]}, "order_weights contains -1, expected positive numbers"),
        ({"n": 1, "order_weights": [float("nan")]}, "order_weights contains nan, expected positive numbers"),
        ({"n": 1, "order_weights": [float("inf")]}, "order_weights contains inf, expected positive numbers"),
        ({"n": 1, "order_weights": ["1"]}, "order_weights contains '1', expected positive numbers"),
        ({"unit": "letter"}, "unit is 'letter', expected one of"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused_where_they_are_used(params, message):
    kernel = NGram(**params)  # scikit-learn's way: the constructor only keeps them
    for use in (kernel, kernel.diag, Features(kernel).fit):
        with pytest.raises(InputError, match=message):
            use(["abba"])


def test_numpy_numbers_are_good_parameters():
    kernel = NGram(np.int64(2), np.int32(1), np.array([1.0, 2.0]))
    assert kernel.diag(["ab"]).tolist() == [4.0]


@pytest.mark.parametrize(("cut", "unit"), [("char", "word"), ("char", "byte"), ("word", "char"), ("byte", "word")])
def test_a_batch_split_by_another_unit_is_refused(cut, unit):
    batch = Strings(["a b"], unit=cut)
    with pytest.raises(InputError, match=f"the batch is split into units of '{cut}', but the kernel has unit='{unit}'"):
        NGram(2, unit=unit)(batch)


@pytest.mark.parametrize("unit", ["char", "word", "byte", str.split])
def test_tokens_and_integers_are_cut_already_whatever_the_unit(unit):
    assert NGram(1, unit=unit)([["ab", "c"], ["ab"]]).tolist() == [[2, 1], [1, 1]]
    assert NGram(1, unit=unit)([[7, 8], [7]]).tolist() == [[2, 1], [1, 1]]


@pytest.mark.parametrize(
    ("unit", "text", "names"),
    [
        ("char", "ab ab", ["ab", "b ", " a"]),
        ("word", "to be, to be", ["to be", "be ,", ", to"]),
        ("byte", "é\n", ["\\xc3\\xa9", "\\xa9\\n"]),
        (lambda text: text.split("-"), "a-b-c", ["a b", "b c"]),
    ],
    ids=["char", "word", "byte", "callable"],
)
def test_units_cut_texts_and_name_features(unit, text, names):
    assert Features(NGram(2, unit=unit)).fit([text]).get_feature_names_out().tolist() == names


@pytest.mark.parametrize("min_n", [None, 1, 3, 2**31 - 2, 2**31 - 1])
def test_orders_longer_than_every_text_cost_nothing_and_change_nothing(min_n):
    huge, texts, new = NGram(2**31 - 1, min_n=min_n), ["abab", "", "abc"], ["ababababab", "b", ""]
    first, features = min(min_n or 99, 99), huge.fit_features(huge.batch(texts))[0]
    bounded = NGram(99, min_n=first)
    assert np.array_equal(huge(texts), bounded(texts))
    assert np.array_equal(huge(texts, new), bounded(texts, new))
    assert np.array_equal(features.transform(huge.batch(new)).diag(), bounded.diag(new))
    empty = huge.fit_features(huge.batch([""]))[0]
    assert np.array_equal(empty.transform(huge.batch(new)).diag(), bounded.diag(new))
    for one, other in ((features, empty), (empty, features), (empty, empty)):
        merged = one.merge(other)[0]
        assert merged.n_features == max(one.n_features, other.n_features)
        assert np.array_equal(merged.transform(huge.batch(new)).diag(), bounded.diag(new))
    again = huge.load_features(*features.state())
    assert np.array_equal(
        again.transform(huge.batch(new)).to_csr().toarray(), features.transform(huge.batch(new)).to_csr().toarray()
    )


def test_a_model_predicts_for_texts_longer_than_those_it_was_trained_on():
    kernel = NGram(50, min_n=1).normalized()
    features, _ = kernel.fit_features(kernel.batch(["abc", "cab"]))
    rows = features.transform(kernel.batch(["abcabcabcabc"]))
    assert np.allclose(
        rows.to_csr().toarray() @ features.transform(kernel.batch(["abc"])).to_csr().toarray().T,
        kernel(["abcabcabcabc"], ["abc"]),
    )
