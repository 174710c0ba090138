"""Subsequence against its definition: every length, decay, alphabet and thread."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import SVC, InputError, Strings
from treille.kernels import Subsequence
from treille.testing import check_estimator, check_kernel
from twins import subsequence_kernel

RANDOM = np.random.default_rng(0)


def gram_matrix(k, X, Y):
    return np.array([[k(x, y) for y in Y] for x in X], dtype=float)


def test_the_worked_example_of_the_paper_holds():
    """cat, car and cat's own value as in the paper; cat and cart share c-a, c-t and a-t."""
    for d in (0.5, 0.25, 1.0):
        K = Subsequence(2, d)(["cat", "car", "cart", "bar"])
        assert K[0, 1] == d**4
        assert K[0, 0] == 2 * d**4 + d**6
        assert K[0, 2] == pytest.approx(d**4 + d**5 + d**7, rel=1e-15)
        assert K[0, 3] == 0
        assert K[1, 3] == d**4


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.text("abc", max_size=9), min_size=1, max_size=12),
    st.integers(1, 6),
    st.sampled_from([1.0, 0.5, 0.9, 0.01]),
)
def test_random_strings_give_the_twins_values(texts, n, decay):
    expected = gram_matrix(subsequence_kernel(n, decay), texts, texts)
    np.testing.assert_allclose(Subsequence(n, decay)(texts), expected, rtol=1e-12)
    np.testing.assert_allclose(Subsequence(n, decay)(texts[:2], texts), expected[:2], rtol=1e-12)


def test_long_strings_agree_with_the_table_of_the_paper():
    def table(x, y, n, d):
        """K' and K'' written out."""
        prime = np.ones((len(x) + 1, len(y) + 1))
        for _ in range(n - 1):
            new = np.zeros_like(prime)
            for i in range(1, len(x) + 1):
                second = 0.0
                for j in range(1, len(y) + 1):
                    second = d * second + (d * d * prime[i - 1, j - 1] if x[i - 1] == y[j - 1] else 0.0)
                    new[i, j] = d * new[i - 1, j] + second
            prime = new
        return sum(d * d * prime[i, j] for i in range(len(x)) for j in range(len(y)) if x[i] == y[j])

    texts = ["".join(RANDOM.choice(list("acgt"), length)) for length in (83, 120, 64, 0, 1, 97, 3, 55, 120, 31)]
    for n in (1, 2, 3, 4, 5, 8):
        K = Subsequence(n, 0.7)(texts)
        for i, j in ((0, 1), (1, 8), (2, 5), (9, 6), (3, 0), (7, 7)):
            assert K[i, j] == pytest.approx(table(texts[i], texts[j], n, 0.7), rel=1e-12)


def test_counts_without_decay_are_whole_numbers():
    assert Subsequence(3, 1.0)(["a" * 100]).tolist() == [[161700.0**2]]


@pytest.mark.parametrize("kernel", [Subsequence(2), Subsequence(3, 0.9), Subsequence(1), Subsequence(5, 1.0)], ids=repr)
def test_the_laws_hold(kernel):
    X = ["abba", "", "cab", "dd", "a", "abcabcab", "bca", "ccccc", "abd", "dcba"]
    check_kernel(kernel, X, subsequence_kernel(kernel.n, kernel.decay))


def test_words_tokens_and_integers_are_symbols_too():
    words = ["the cat sat", "the dog sat"]
    assert Subsequence(2, 0.5, unit="word")(words)[0, 1] == 0.5**6
    assert Subsequence(2, 0.5)([["the", "cat", "sat"], ["the", "dog", "sat"]])[0, 1] == 0.5**6
    assert Subsequence(2, 0.5)([[7, 8, 9], [7, 1, 9]])[0, 1] == 0.5**6


def test_two_batches_have_alphabets_of_their_own():
    left, right = Strings(["zab"]), Strings(["ab", "bz", "qq"])
    assert Subsequence(2, 0.5)(left, right).tolist() == [[0.5**4, 0.0, 0.0]]
    with pytest.raises(InputError, match="use the same unit"):
        Subsequence(1)(Strings(["ab"]), Strings([["ab"]]))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n": 0}, "n is 0, expected a whole number of at least 1"),
        ({"n": 1.5}, "n is 1.5, expected a whole number"),
        ({"n": True}, "n is True, expected a whole number"),
        ({"n": 65}, "n is 65, expected at most 64"),
        ({"decay": 0}, "decay is 0, expected a positive number"),
        ({"decay": float("inf")}, "decay is inf, expected a positive number"),
        ({"decay": -0.5}, "decay is -0.5, expected a positive number"),
        ({"decay": float("nan")}, "decay is nan, expected a positive number"),
        ({"decay": "0.5"}, "decay is '0.5', expected a positive number"),
        ({"unit": "letter"}, "unit is 'letter'"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(params, message):
    for use in (Subsequence(**params), Subsequence(**params).diag, lambda X: SVC(Subsequence(**params)).fit(X, [0, 1])):
        with pytest.raises(InputError, match=message):
            use(["ab", "ba"])


def test_it_has_no_features():
    assert not Subsequence().has_features
    with pytest.raises(InputError, match="has no explicit features"):
        treille.Features(Subsequence()).fit(["ab"])


def test_models_train_save_and_load(tmp_path):
    X, y = ["abab", "baba", "abba", "cdcd", "dcdc", "cddc"], [0, 0, 0, 1, 1, 1]
    model = SVC(Subsequence(2, 0.5)).fit(X, y)
    assert "because Subsequence has no explicit features" in str(model.plan_)
    assert model.predict(["aabb", "xcydz"]).tolist() == [0, 1]
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    with pytest.raises(AttributeError, match="no weights of features"):
        again.coef_  # noqa: B018


def test_the_laws_of_estimators_hold():
    X = ["abba", "ab", "baa", "aab", "bab", "cd", "ddc", "ccd", "dc", "dcc"]
    check_estimator(SVC(Subsequence(2, 0.5)), X, ["ab"] * 5 + ["cd"] * 5)
