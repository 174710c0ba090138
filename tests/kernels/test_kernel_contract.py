"""The contract of kernels, and their description in model files."""

import numpy as np
import pytest

from treille import InputError, Strings
from treille.kernels import Kernel, NGram
from treille.testing import check_kernel
from twins import cosine, ngram_kernel

TEXTS = ["to be or not to be", "", "be", "or be, or not", "o", "TO BE \U0001f600", "\ud800 not", "not to be or to"]


@pytest.mark.parametrize(
    ("kernel", "slow"),
    [
        (NGram(1), ngram_kernel(1)),
        (NGram(3), ngram_kernel(3)),
        (NGram(4, min_n=2, order_weights=[0.5, 1.0, 2.0]), ngram_kernel(4, 2, [0.5, 1.0, 2.0])),
        (NGram(2, unit="word"), ngram_kernel(2)),
        (NGram(2, min_n=1, unit=str.split), ngram_kernel(2, 1)),
        (NGram(3).normalized(), cosine(ngram_kernel(3))),
        (NGram(2, min_n=1, unit="word").normalized(), cosine(ngram_kernel(2, 1))),
    ],
    ids=lambda value: repr(value) if isinstance(value, Kernel) else "",
)
def test_the_battery_passes(kernel, slow):
    check_kernel(kernel, TEXTS, slow)


def test_the_battery_passes_for_every_kind_of_strings():
    check_kernel(NGram(2, unit="byte"), [b"ab\xff", b"", b"b\xffa"], ngram_kernel(2))
    check_kernel(NGram(2), [["a", "b"], [], ["b", "a", "b"]], ngram_kernel(2))
    check_kernel(NGram(2), [np.arange(400), np.arange(9), np.arange(3)[::-1]], ngram_kernel(2))
    check_kernel(NGram(2), Strings(TEXTS), ngram_kernel(2))


@pytest.mark.parametrize(
    "kernel",
    [
        NGram(),
        NGram(3, 1, (0.5, 1, 2), "word"),
        NGram(np.int64(2), order_weights=np.ones(1)),
        NGram(4).normalized().normalized(),
    ],
    ids=repr,
)
def test_spec_and_from_spec_are_inverse(kernel):
    spec = kernel.spec()
    assert Kernel.from_spec(spec).spec() == spec


def test_a_function_cannot_be_described_in_a_file():
    with pytest.raises(InputError, match=r"NGram\(unit=\.\.\.\) is a function, which a model file cannot hold"):
        NGram(2, unit=str.split).normalized().spec()


@pytest.mark.parametrize("name", ["Nonesuch", "FeatureMap", "Kernel.from_spec", "os", "", None, 3])
def test_an_unknown_kernel_is_refused(name):
    with pytest.raises(InputError, match=r"the kernel .* is unknown: install the package that provides it"):
        Kernel.from_spec({"kernel": name, "params": {}})


def test_unknown_parameters_are_refused():
    with pytest.raises(InputError, match="the kernel 'NGram' does not take these parameters"):
        Kernel.from_spec({"kernel": "NGram", "params": {"order": 3}})


def test_a_feature_that_does_not_exist_is_an_index_error():
    features, _ = NGram(2).fit_features(Strings(["abba"]))
    for id in (-1, 3):
        with pytest.raises(IndexError, match=f"feature {id} does not exist: there are 3"):
            features.name(id)


@pytest.mark.parametrize(
    "arrays",
    [
        {"grams": np.zeros((2, 3), np.uint8)},
        {"grams": np.zeros(4, np.uint8)},
        {"grams": np.full((2, 2), 9, np.uint8)},
        {"grams": np.full((2, 2), -1, np.int32)},
        {"grams": np.zeros((2, 2), np.uint8), "orders": np.array([2, 2])},
    ],
    ids=["width", "dimension", "beyond the alphabet", "negative", "orders of one order"],
)
def test_features_that_do_not_fit_the_kernel_are_refused(arrays):
    with pytest.raises(InputError, match=r"the n-grams in the file do not fit its kernel|'grams' has 1 dimensions"):
        NGram(2).load_features({"alphabet": ["a", "b"], "unit": "char"}, arrays)


@pytest.mark.parametrize("orders", [[1, 3], [0, 1], [1], []], ids=str)
def test_orders_that_do_not_fit_the_kernel_are_refused(orders):
    arrays = {"grams": np.array([[0, 0], [1, 0]], np.uint8), "orders": np.array(orders, np.int32)}
    with pytest.raises(InputError, match="the n-grams in the file do not fit its kernel"):
        NGram(2, min_n=1).load_features({"alphabet": ["a", "b"], "unit": "char"}, arrays)
