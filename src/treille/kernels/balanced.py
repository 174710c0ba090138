"""Balanced kernels: every order normalised separately, so that frequent short n-grams do not outweigh long ones."""

from treille.kernels.additive import AdditiveOver
from treille.kernels.algebra import Scaled, Sum
from treille.kernels.base import Kernel
from treille.kernels.ngram import NGram
from treille.kernels.normalized import Normalized
from treille.kernels.weighted import Weighted


class Balanced(Normalized):
    """k(x, y) = sum over orders n of k_n(x, y) / sqrt(k_n(x, x) k_n(y, y)), normalised; see `Kernel.balanced`.

    The parts are the orders of `NGram`, and the terms of a sum. Weights of features apply before a part is normalised: in
    ``NGram(5, min_n=2).weighted("idf").balanced()`` each order is a normalised TF-IDF kernel. Weights of orders, and factors of
    terms, multiply the normalised parts.

    >>> from treille.kernels import NGram
    >>> kernel = NGram(2, min_n=1).balanced()
    >>> kernel(["abab", "aabb"]).round(3).tolist()  # cosines 1.0 of single symbols, 0.516 of pairs
    [[1.0, 0.758], [0.758, 1.0]]
    """

    def check(self) -> None:
        super().check()
        parts_of(self.kernel)

    def inside(self) -> Kernel:
        return NormalizedTerms(self.kernel)


class NormalizedTerms(AdditiveOver):
    """The sum of the parts of a kernel, each normalised separately."""

    def terms(self) -> list[tuple[str, Kernel]]:
        return [
            (prefix, Normalized(part) if weight == 1 else Scaled(weight, Normalized(part)))
            for prefix, part, weight in parts_of(self.kernel)
        ]


def parts_of(kernel: Kernel) -> list[tuple[str, Kernel, float]]:
    """The parts that `Balanced` normalises: the prefix of their features' names in `kernel`, and their weights in k."""
    if isinstance(kernel, NGram):
        return [("", part, weight) for part, weight in kernel.single_orders()]
    if isinstance(kernel, Sum):
        terms = [(own, parts_of(term)) for own, term in kernel.terms()]
        return [(own + prefix, part, weight) for own, parts in terms for prefix, part, weight in parts]
    if isinstance(kernel, Scaled):
        return [(prefix, part, kernel.scale * weight) for prefix, part, weight in parts_of(kernel.kernel)]
    if isinstance(kernel, Weighted):
        return [(prefix, kernel.around(part, prefix), weight) for prefix, part, weight in parts_of(kernel.kernel)]
    return [("", kernel, 1.0)]
