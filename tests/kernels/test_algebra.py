"""Sums, products, multiples, powers and the constant: values, repr and refusals."""

import numpy as np
import pytest
from sklearn.base import clone

import treille
from treille import Features, InputError, Strings
from treille.kernels import (
    AllSubstrings,
    Constant,
    Gappy,
    Kernel,
    NGram,
    PartialTree,
    Power,
    Precomputed,
    Product,
    RootPaths,
    Scaled,
    Subpath,
    Subsequence,
    SubsetTree,
    SubTree,
    Sum,
    Wildcard,
)
from treille.kernels.precomputed import as_kernel
from treille.testing import check_kernel
from twins import ngram_kernel

TEXTS = ["to be or not to be", "", "be", "or be, or not", "o", "not to be or to"]


@pytest.mark.parametrize(
    ("kernel", "shown"),
    [
        (NGram(1) + NGram(2), "NGram(n=1) + NGram(n=2)"),
        (NGram(1) + (NGram(2) + NGram(3)), "NGram(n=1) + (NGram(n=2) + NGram(n=3))"),
        (0.5 * NGram(3) + NGram(2).normalized(), "0.5 * NGram(n=3) + NGram(n=2).normalized()"),
        (NGram(1) * NGram(2) * NGram(3), "NGram(n=1) * NGram(n=2) * NGram(n=3)"),
        (NGram(1) * (2 * NGram(2)), "NGram(n=1) * (2 * NGram(n=2))"),
        ((1 + NGram(2)) ** 3, "(1 + NGram(n=2)) ** 3"),
        ((NGram(2) ** 2) ** 3, "(NGram(n=2) ** 2) ** 3"),
        ((NGram(2) + 1).normalized().centered(), "(NGram(n=2) + 1).normalized().centered()"),
        (np.float64(2.5) * NGram(1) * np.int64(2), "2 * (2.5 * NGram(n=1))"),
        (np.float32(0.5) + NGram(1) ** np.int64(2), "0.5 + NGram(n=1) ** 2"),
        (Constant(1) + Constant(2) + NGram(1), "Constant(value=1) + 2 + NGram(n=1)"),
    ],
)
def test_a_kernel_is_shown_as_the_expression_that_makes_it(kernel, shown):
    assert repr(kernel) == shown


def test_operators_make_estimators_with_parameters():
    kernel = (1 + 0.5 * NGram(3)) ** 2 * NGram(2)
    assert [type(k) for k in (kernel, kernel.left, kernel.left.kernel, kernel.left.kernel.right)] == [
        Product,
        Power,
        Sum,
        Scaled,
    ]
    kernel.set_params(left__kernel__right__kernel__n=4, left__degree=3, right__unit="word")
    assert repr(kernel) == "(1 + 0.5 * NGram(n=4)) ** 3 * NGram(n=2, unit='word')"
    assert repr(clone(kernel)) == repr(kernel)
    assert clone(kernel).right is not kernel.right
    assert Kernel.from_spec(kernel.spec()).spec() == kernel.spec()


def test_sum_of_a_list_and_zero():
    k = NGram(1)
    assert repr(sum([k, NGram(2), NGram(3)])) == "NGram(n=1) + NGram(n=2) + NGram(n=3)"
    assert 0 + k is k
    assert k + 0.0 is k


@pytest.mark.parametrize(
    "make",
    [
        lambda k: k + "a",
        lambda k: "a" * k,
        lambda k: [1] * k,
        lambda k: True + k,
        lambda k: k - 1,
        lambda k: k / 2,
        lambda k: 2**k,
        lambda k: k**k,
        lambda k: np.ones(2) * k,
        lambda k: k * None,
    ],
)
def test_other_operations_are_type_errors(make):
    with pytest.raises(TypeError):
        make(NGram(2))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (-1 * NGram(2), "the number a kernel is multiplied by is -1, expected a positive number"),
        (0 * NGram(2), "the number a kernel is multiplied by is 0, expected a positive number"),
        (NGram(2) * np.nan, "multiplied by is nan, expected a positive number"),
        (np.inf + NGram(2), "the value of a constant kernel is inf, expected a positive number"),
        (NGram(2) + -0.5, "the value of a constant kernel is -0.5, expected a positive number"),
        (NGram(2) ** 0, "the degree of a power is 0, expected a positive integer"),
        (NGram(2) ** 1.5, "the degree of a power is 1.5, expected a positive integer"),
        (NGram(2) ** -1, "the degree of a power is -1"),
        (NGram(0) + NGram(1), "n is 0, expected a whole number"),
        (NGram(1) * (2 * NGram(0)), "n is 0, expected a whole number"),
        (Sum(NGram(1), "x"), "right is 'x', expected a kernel"),
        (Product(None, NGram(1)), "left is None, expected a kernel"),
        (Power(3, 2), "kernel is 3, expected a kernel"),
        (Scaled(2, "x"), "kernel is 'x', expected a kernel"),
    ],
)
def test_parameters_out_of_range_are_refused_before_any_work(kernel, message):
    with pytest.raises(InputError) as refused:
        kernel(TEXTS)
    assert message in str(refused.value)


def test_a_batch_must_be_split_by_the_unit_of_both_sides():
    words = Strings(TEXTS, unit="word")
    with pytest.raises(InputError, match="split into units of 'word', but the kernel has unit='char'"):
        (NGram(2) + NGram(1))(words)
    assert (NGram(2, unit="word") + NGram(1, unit="word"))(words).shape == (6, 6)


def test_the_batch_is_made_once_and_read_by_both():
    kernel = NGram(2) + 3 * NGram(1)
    batch = kernel.batch(TEXTS)
    assert isinstance(batch, Strings)
    assert kernel.batch(batch) is batch
    assert np.array_equal(kernel(batch), kernel(TEXTS))


def test_a_constant_reads_any_batch_but_makes_none():
    check_kernel(Constant(2.5), Strings(TEXTS), lambda x, y: 2.5)
    with pytest.raises(InputError, match=r"found list, expected a batch, such as treille\.Strings\(X\)"):
        Constant(1)(TEXTS)


def test_features_of_a_sum_follow_each_other_and_name_their_term():
    features = Features(NGram(1) + (2 * NGram(2) + 1)).fit(["ab", "a"])
    assert features.get_feature_names_out().tolist() == [
        "NGram(n=1): a",
        "NGram(n=1): b",
        "2 * NGram(n=2): ab",
        "Constant(value=1): constant",
    ]
    np.testing.assert_allclose(
        features.transform(["ab", "bb"]).toarray(), [[1, 1, 2**0.5, 1], [0, 2, 0, 1]], rtol=1e-15
    )
    for id in (-1, 4):
        with pytest.raises(IndexError, match=f"feature {id} does not exist: there are 4"):
            features.inverse(id)


def test_unseen_features_of_every_term_count_in_the_norm():
    kernel = (NGram(1) + 2 * NGram(2)).normalized()
    features, _ = kernel.fit_features(kernel.batch(["ab"]))
    rows = features.transform(kernel.batch(["abxy"]))
    k = ngram_kernel(1)
    whole = k("abxy", "abxy") + 2 * ngram_kernel(2)("abxy", "abxy")
    np.testing.assert_allclose(rows.to_csr().toarray(), np.array([[1, 1, 2**0.5]]) / whole**0.5)
    some = features.restrict(np.array([1])).transform(kernel.batch(["abxy"]))
    np.testing.assert_allclose(some.to_csr().toarray(), [[1 / whole**0.5]])


def test_restricting_keeps_the_terms_apart():
    features, _ = (NGram(1) + NGram(2)).fit_features(Strings(["aba"]))
    with pytest.raises(InputError, match="sort them"):
        features.restrict(np.array([3, 0]))


@pytest.mark.parametrize(
    "kernel", [NGram(1) * Subsequence(2), Subsequence(2) ** 2, NGram(1) + Subsequence(2) ** 2], ids=repr
)
def test_products_have_the_features_that_their_factors_have(kernel):
    assert not kernel.has_features
    with pytest.raises(InputError, match="has no explicit features"):
        Features(kernel).fit(TEXTS)


@pytest.mark.parametrize("first", [SubsetTree(0.4), PartialTree(0.4), SubTree(0.4)])
def test_expressions_that_begin_with_a_tree_kernel(first):
    trees, second = ["(a b)", "(a (b c))", "(c d)"], PartialTree(0.3)
    one, other = first(trees), second(trees)
    for kernel, expected in (
        (first + second, one + other),
        (first * second, one * other),
        (2.0 * first, 2 * one),
        (first**2, one**2),
    ):
        np.testing.assert_allclose(kernel(trees), expected)
        np.testing.assert_allclose(kernel.diag(trees), expected.diagonal())
    treille.SVC(first + second).fit(trees, [0, 0, 1])


@pytest.mark.parametrize(
    "kernel",
    [2.0 * Precomputed(), Precomputed() + Precomputed(), Precomputed() ** 2, Precomputed().centered()],
    ids=str,
)
def test_a_matrix_given_by_the_user_is_never_changed(kernel):
    K = np.array([[2.0, 1.0], [1.0, 2.0]])
    kernel(K)
    treille.Ridge(Precomputed(), solver=treille.solvers.Cholesky()).fit(K, [0.0, 1.0])
    assert K.tolist() == [[2.0, 1.0], [1.0, 2.0]]


def test_a_matrix_that_a_function_keeps_is_never_changed():
    K = np.array([[2.0, 1.0], [1.0, 2.0]])
    kernel = 3.0 * as_kernel(lambda X, Y: K if len(Y) == 2 else np.ones((len(X), len(Y))))
    kernel(["a", "b"], ["a", "b"])
    assert K.tolist() == [[2.0, 1.0], [1.0, 2.0]]


def test_values_that_are_not_finite_are_refused():
    kernel = NGram(1) ** 300
    texts = ["a" * 1000, "b", "ab", "ba"]
    with pytest.raises(InputError, match="of examples 0 and 0 is inf, too large for a float64"):
        kernel(texts)
    with pytest.raises(InputError, match="of example 0 is inf, too large"):
        kernel.diag(texts)
    with pytest.raises(InputError, match="of example 0 is inf, too large"):
        treille.SVC(kernel).fit(texts, [0, 1, 0, 1])
    with pytest.raises(InputError, match="the output for item 1 is"):
        treille.SVC(kernel).fit(["a", "b"], [0, 1]).predict(["a", "a" * 1000])


@pytest.mark.parametrize(
    "kernel", [AllSubstrings(2.0), Subsequence(2, 2.0), Gappy(2, 2.0, max_gap=2), Wildcard(2, 1, 2.0)], ids=str
)
def test_a_decay_above_one_keeps_the_laws(kernel):
    slow = clone(kernel).set_params(decay=1.0)
    texts = ["abab", "ba", "bbab"]
    assert (kernel(texts) >= slow(texts)).all()
    check_kernel(kernel, texts)


@pytest.mark.parametrize(
    "kernel",
    [
        Subpath(2.0),
        Subpath(2.0, index="xbw"),
        RootPaths(2.0),
        SubTree(2.0),
        SubsetTree(2.0),
        PartialTree(2.0, 1.5),
    ],
    ids=str,
)
def test_a_decay_above_one_keeps_the_laws_on_trees(kernel):
    check_kernel(kernel, ["(a (b c))", "(a (b) (b))", "(a b)"])


def test_a_decay_above_one_that_overflows_is_refused():
    for kernel, example in ((AllSubstrings(2.0), "a" * 5000), (Subpath(3.0), "(a " * 3000 + "b" + ")" * 3000)):
        with pytest.raises(InputError, match="too large for a float64"):
            kernel.diag([example])
    assert Subpath(3.0)(["(a " + "(b) " * 3000 + ")"]) > 0  # only long paths overflow, not large trees


def test_parameters_are_set_through_wrappers():
    model = treille.SVC(2.0 * NGram(2).normalized())
    assert repr(model.set_params(kernel__n=4, kernel__scale=3.0).kernel) == "3.0 * NGram(n=4).normalized()"
    with pytest.raises(ValueError, match="Invalid parameter 'm'"):
        model.set_params(kernel__m=4)


def test_a_kernel_is_given_by_an_expression():
    model = treille.SVC("ngram(2).normalized()").fit(["ab", "cd"], [0, 1])
    assert repr(model.plan_.kernel) == "NGram(n=2).normalized()"
    assert clone(model).kernel == "ngram(2).normalized()"
