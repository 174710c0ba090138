"""Laws of the algebra of kernels, on random kernels and random strings."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from treille.kernels import Constant, Kernel, NGram, Power, Product, Sum
from treille.kernels.parse import format_kernel, parse_kernel
from treille.testing import check_kernel
from twins import cosine, ngram_kernel

STRINGS = st.lists(st.text(st.sampled_from("abc"), max_size=10), min_size=2, max_size=6)
NUMBERS = st.sampled_from([0.25, 0.5, 1.0, 2, 3.5])
LEAVES = st.integers(1, 3).map(lambda n: (NGram(n), ngram_kernel(n)))


def add(a, b):
    return a[0] + b[0], lambda x, y: a[1](x, y) + b[1](x, y)


def multiply(a, b):
    return a[0] * b[0], lambda x, y: a[1](x, y) * b[1](x, y)


def scale(number, a):
    return number * a[0], lambda x, y: number * a[1](x, y)


def raise_by(number, a):
    return number + a[0], lambda x, y: number + a[1](x, y)


def normalize(a):
    return a[0].normalized(), cosine(a[1])


def power(a, d):
    return a[0] ** d, lambda x, y: a[1](x, y) ** d


def grown(inner):
    """Expressions that keep features."""
    return (
        st.builds(add, inner, inner)
        | st.builds(scale, NUMBERS, inner)
        | st.builds(raise_by, NUMBERS, inner)
        | st.builds(normalize, inner)
    )


LINEAR = st.recursive(LEAVES, grown, max_leaves=4)


def degree(kernel):
    """How many features of the leaves a feature multiplies: more than a few are too many products."""
    if isinstance(kernel, Product):
        return degree(kernel.left) + degree(kernel.right)
    if isinstance(kernel, Sum):
        return max(degree(kernel.left), degree(kernel.right))
    own = kernel.degree if isinstance(kernel, Power) else 1
    return own * degree(kernel.kernel) if hasattr(kernel, "kernel") else 1


ANY = st.recursive(
    LEAVES,
    lambda inner: grown(inner) | st.builds(multiply, inner, inner) | st.builds(power, inner, st.integers(1, 3)),
    max_leaves=4,
).filter(lambda pair: degree(pair[0]) <= 4)


def assert_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


@settings(deadline=None, max_examples=30)
@given(LINEAR, STRINGS)
def test_kernels_that_keep_features_pass_all_checks(pair, texts):
    kernel, slow = pair
    assert kernel.has_features
    check_kernel(kernel, texts, slow)


@settings(deadline=None, max_examples=20)
@given(ANY, STRINGS)
def test_any_expression_obeys_what_kernels_obey(pair, texts):
    check_kernel(pair[0], texts, pair[1])


@settings(deadline=None, max_examples=60)
@given(ANY, STRINGS, STRINGS)
def test_any_expression_is_its_definition_and_positive_semi_definite(pair, X, Y):
    kernel, slow = pair
    K = kernel(X)
    assert_close(K, [[slow(x, y) for y in X] for x in X])
    assert np.array_equal(K, K.T)
    assert_close(kernel(X, Y), [[slow(x, y) for y in Y] for x in X])
    assert_close(kernel.diag(X), K.diagonal())
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -1e-9 * max(1.0, values[-1])
    beta = np.linspace(-1, 1, 2 * len(Y)).reshape(len(Y), 2)
    left, right = kernel.batch(X), kernel.batch(Y)
    assert_close(kernel.expansion(right, beta).values(left), kernel(X, Y) @ beta)


@settings(deadline=None, max_examples=60)
@given(ANY, STRINGS)
def test_an_expression_is_printed_cloned_and_described_as_it_is(pair, texts):
    kernel, K = pair[0], pair[0](texts)
    for again in (
        clone(kernel),
        Kernel.from_spec(kernel.spec()),
        parse_kernel(format_kernel(kernel)),
        eval(repr(kernel), {"NGram": NGram, "Constant": Constant}),
    ):
        assert repr(again) == repr(kernel)
        assert np.array_equal(again(texts), K)


@settings(deadline=None, max_examples=40)
@given(ANY, ANY, ANY, STRINGS)
def test_sums_and_products_commute_associate_and_distribute(a, b, c, X):
    a, b, c = a[0], b[0], c[0]
    assert_close((a + b)(X), (b + a)(X))
    assert_close((a * b)(X), (b * a)(X))
    assert_close(((a + b) + c)(X), (a + (b + c))(X))
    assert_close(((a * b) * c)(X) / 1e3, (a * (b * c))(X) / 1e3)
    assert_close((a * (b + c))(X), (a * b + a * c)(X))
    assert_close((2 * (a + b))(X), (2 * a + 2 * b)(X))


@settings(deadline=None, max_examples=40)
@given(ANY, STRINGS)
def test_centring_moves_the_mean_to_zero_and_is_done_once(pair, X):
    K = pair[0](X)
    H = np.eye(len(X)) - 1 / len(X)
    scale = max(1.0, np.abs(K).max())
    found = pair[0].centered()(X)
    assert_close(found / scale, H @ K @ H / scale)
    assert_close(found.sum(axis=0) / scale, 0)
    assert_close(pair[0].centered().centered()(X) / scale, found / scale)


@settings(deadline=None, max_examples=40)
@given(ANY, ANY, STRINGS)
def test_the_cosine_of_a_product_is_the_product_of_cosines(a, b, X):
    assert_close((a[0] * b[0]).normalized()(X), (a[0].normalized() * b[0].normalized())(X))
