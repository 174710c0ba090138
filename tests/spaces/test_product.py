"""The product space: K @ beta, and errors."""

import numpy as np
import pytest

from treille import InputError, Strings
from treille.kernels import AllSubstrings, Kernel, NGram
from treille.spaces import ProductSpace

X = ["abba", "baab", "", "cab"]


class Constant(Kernel):
    """k = 1."""

    reads = NGram().reads

    def gram(self, left, right=None, n_jobs=None):
        return np.ones((len(left), len(left if right is None else right)))


@pytest.mark.parametrize("kernel", [AllSubstrings(0.5), NGram(3, 1), NGram(2), NGram(2, 1).normalized()], ids=repr)
def test_a_product_space_multiplies_vectors_and_matrices(kernel):
    space, K = ProductSpace.build(kernel, kernel.batch(X), n_jobs=2), kernel(X)
    beta = np.array([[1, -2], [0, 3], [5, 1], [1, 1]])
    assert len(space) == 4
    assert space.product(beta).dtype == np.float64
    np.testing.assert_allclose(space.product(beta), K @ beta, atol=1e-12)
    np.testing.assert_allclose(space.product(beta[:, 1].tolist()), K @ beta[:, 1], atol=1e-12)
    np.testing.assert_allclose(space.product(np.asfortranarray(beta)), K @ beta, atol=1e-12)
    assert space.product(np.ones((4, 0))).shape == (4, 0)


def test_it_says_how_large_it_is():
    kernel = AllSubstrings(0.5)
    sizes = ProductSpace.build(kernel, kernel.batch(["ab", "ab", "xx"])).sizes()
    assert sizes.startswith("3 examples, 6 symbols, 2 shared nodes of the suffix tree, ")


@pytest.mark.parametrize("beta", [np.ones(3), np.ones((5, 2)), np.ones((4, 1, 1)), 1.0], ids=lambda b: str(np.shape(b)))
def test_coefficients_that_do_not_fit_are_refused(beta):
    kernel = AllSubstrings()
    with pytest.raises(InputError, match=r"beta has the shape .*, expected 4 entries or rows"):
        ProductSpace.build(kernel, kernel.batch(X)).product(beta)


def test_kernels_without_a_product_say_so():
    kernel = Constant()
    assert not kernel.multiplies(Strings(["ab"]))
    assert not kernel.normalized().multiplies(Strings(["ab"]))
    with pytest.raises(InputError, match=r"Constant\(\) has no fast product: use its matrix"):
        ProductSpace.build(kernel, kernel.batch(X))
