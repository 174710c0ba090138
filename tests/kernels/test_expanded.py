"""Products and powers with explicit features: the same kernel, and the rule that chooses them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import InputError, Strings
from treille.kernels import Columns, Expanded, Kernel, Linear, NGram, Power, Product
from treille.testing import check_kernel
from twins import ngram_kernel

STRINGS = st.lists(st.text("abc", max_size=7), min_size=2, max_size=5)
RANDOM = np.random.default_rng(6)
CODES = np.arange(200) % 2
DNA = ["".join(RANDOM.choice(list("ACGT"), 30, p=[0.4, 0.1, 0.1, 0.4] if k else [0.25] * 4)) for k in CODES]


@settings(deadline=None, max_examples=6)
@given(STRINGS, st.integers(1, 2), st.integers(1, 2), st.sampled_from([0, 1, 0.5]))
def test_a_product_obeys_the_whole_battery(texts, n, m, constant):
    a, b = ngram_kernel(n), ngram_kernel(m)
    kernel = Expanded((constant + NGram(n)) * NGram(m))
    check_kernel(kernel, texts, lambda x, y: (constant + a(x, y)) * b(x, y))


@settings(deadline=None, max_examples=6)
@given(STRINGS, st.integers(1, 2), st.integers(1, 4), st.sampled_from([0, 1, 0.5]))
def test_a_power_obeys_the_whole_battery(texts, n, degree, constant):
    a = ngram_kernel(n)
    check_kernel(Expanded((constant + NGram(n)) ** degree), texts, lambda x, y: (constant + a(x, y)) ** degree)


def test_products_of_products_and_of_normalized_kernels():
    a, b, c = NGram(1), NGram(2).normalized(), 1 + NGram(1)
    texts = ["abba", "ab", "", "cabab"]
    kernel = Expanded(Expanded(a * b) * c)
    check_kernel(kernel, texts)
    np.testing.assert_allclose(kernel(texts), a(texts) * b(texts) * c(texts))


def test_features_are_all_products_once():
    batch = Strings(["abc", "ab"])
    features, rows = Expanded(NGram(1) ** 3).fit_features(batch)
    assert features.n_features == math.comb(3 + 3 - 1, 3)
    names = [features.name(i) for i in range(features.n_features)]
    matrix = rows.to_csr().toarray()
    assert matrix[1, names.index("a, a, b")] == pytest.approx(3**0.5)  # 3! / 2! ways
    assert matrix[0, names.index("a, b, c")] == pytest.approx(6**0.5)
    assert matrix[1, names.index("b, b, b")] == 1
    features, rows = Expanded(NGram(1) * NGram(2)).fit_features(batch)
    assert features.n_features == 3 * 2
    for id in (-1, 6):
        with pytest.raises(IndexError, match=f"feature {id} does not exist: there are 6"):
            features.name(id)


def test_numbers_multiply_too():
    X = RANDOM.normal(size=(12, 3))
    np.testing.assert_allclose(Expanded((1 + Linear()) ** 2)(X), (1 + X @ X.T) ** 2)
    rows = treille.Features(Expanded((1 + Linear()) ** 2)).fit_rows(X)
    assert rows.n_features == math.comb(4 + 1, 2)
    np.testing.assert_allclose(rows.gram(None, 1), (1 + X @ X.T) ** 2)


def test_the_rule_takes_features_where_they_are_few():
    batch = Strings(DNA)
    for kernel, expanded in [
        ((1 + NGram(1)) ** 2, True),  # 15 products an example
        (NGram(1) * NGram(2), True),  # at most 4 * 16
        (NGram(1) ** 8, True),  # 165
        (NGram(2) ** 4, False),  # 3876
        (NGram(3) * NGram(4), False),  # about 27 * 27
        (NGram(1).centered() * NGram(1), False),
        (NGram(2) * (NGram(4) * NGram(5)), False),
    ]:
        assert isinstance(kernel.suited(batch), Expanded) == expanded, kernel
        assert kernel.suited(batch).has_features == expanded
    assert not ((1 + NGram(1)) ** 2).suited(batch[:5]).has_features, "5 examples have 25 kernel values"
    plain = NGram(2) + 0.5 * NGram(3).normalized()
    assert plain.suited(batch) is plain


def test_parts_are_suited_wherever_they_stand():
    kernel = (0.5 * NGram(1) ** 2 + (NGram(1) * (NGram(1) * NGram(2))).normalized()).suited(Strings(DNA))
    inner = "NGram(n=1) * Expanded(kernel=NGram(n=1) * NGram(n=2))"
    assert repr(kernel) == f"0.5 * Expanded(kernel=NGram(n=1) ** 2) + Expanded(kernel={inner}).normalized()"
    columns = Columns({"a": NGram(1) ** 2, "b": NGram(5)}, weights={"a": 2})
    batch = columns.batch({"a": DNA, "b": DNA})
    assert repr(columns.suited(batch)) == (
        "Columns(kernels={'a': Expanded(kernel=NGram(n=1) ** 2), 'b': NGram(n=5)}, weights={'a': 2})"
    )
    plain = Columns({"b": NGram(5)})
    assert plain.suited(batch) is plain


@pytest.mark.parametrize(
    "kernel", [((1 + NGram(1)) ** 2).normalized(), 0.5 * (NGram(1) * NGram(2)).normalized() + NGram(3)], ids=repr
)
def test_machines_take_the_cheaper_form_and_models_are_read_back(kernel, tmp_path):
    model = treille.SVC(kernel).fit(DNA, CODES)
    assert "Expanded" in repr(model.plan_.kernel)
    assert repr(model.kernel) == repr(kernel)
    assert model.score(DNA, CODES) > 0.8
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    new = ["ACGT", "", "NNNA", DNA[0]]
    assert np.array_equal(again.decision_function(new), model.decision_function(new))


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (NGram(1), "the kernel to expand is NGram(n=1), expected a product or a power"),
        ("x", "the kernel to expand is 'x'"),
        (Power(NGram(1), 0), "the degree of a power is 0"),
        (Product(NGram(1), NGram(0)), "n is 0"),
        ((NGram(1) * NGram(2)) ** 2, "since NGram(n=1) * NGram(n=2) has no explicit features"),
    ],
)
def test_what_cannot_be_expanded_is_refused(kernel, message):
    with pytest.raises(InputError) as refused:
        Expanded(kernel).check()
    assert message in str(refused.value)


def test_too_many_products_are_refused():
    with pytest.raises(InputError, match=r"has [\d,]+ products of features in these examples, more than 16,777,216"):
        treille.Features(Expanded(NGram(3) ** 6)).fit(DNA)


@pytest.mark.parametrize("tuples", [[[0, 0, 0]], [[0, 9]], [[-1, 0]], [0, 0], [[0, 0], [0, 0]]], ids=str)
def test_products_that_do_not_fit_their_factors_are_refused(tuples):
    kernel = Expanded(NGram(1) * NGram(2))
    spec, arrays = kernel.fit_features(Strings(["ab"]))[0].state()
    with pytest.raises(InputError, match="the products in the file do not fit their factors"):
        Kernel.from_spec(kernel.spec()).load_features(spec, arrays | {"tuples": np.array(tuples)})
