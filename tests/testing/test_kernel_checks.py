"""Every law of check_kernel catches a kernel that breaks it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from treille import InputError
from treille.features import DependentFeaturesError, Rows
from treille.kernels import NGram
from treille.kernels.ngram import NGramMap
from treille.testing import check_kernel, kernel_checks
from twins import ngram_kernel

TEXTS = ["abba", "", "cab", "dab", "abc", "aaa", "bca"]


class Infinite(NGram):
    def __call__(self, X, Y=None, n_jobs=None):
        return super().__call__(X, Y, n_jobs) * np.inf


class Lopsided(NGram):
    def __call__(self, X, Y=None, n_jobs=None):
        return np.triu(super().__call__(X, Y, n_jobs))


class Indefinite(NGram):
    def __call__(self, X, Y=None, n_jobs=None):
        return 3 - super().__call__(X, Y, n_jobs)


class Miscounted(NGram):
    def fit_features(self, batch, n_jobs=None):
        features, rows = super().fit_features(batch, n_jobs)
        return features, replace(rows, codebook=rows.codebook * 2)


class WrongDiagonal(NGram):
    def diag(self, X, n_jobs=None):
        return super().diag(X, n_jobs) + 1


class Transposed(NGram):
    def __call__(self, X, Y=None, n_jobs=None):
        K = super().__call__(X, Y, n_jobs)
        return K if Y is None else K[::-1]


class Ordered(NGram):
    def __call__(self, X, Y=None, n_jobs=None):
        first = Y is None and self.batch(X)[0] == TEXTS[0]
        return super().__call__(X, Y, n_jobs) * (1 if first or Y is not None else 2)


class Threaded(NGram):
    def fit_features(self, batch, n_jobs=None):
        features, rows = super().fit_features(batch, n_jobs)
        return features, rows if (n_jobs or 1) == 1 else replace(rows, scale=rows.scale * (1 + 1e-15))


class Unfeatured(NGram):
    def __call__(self, X, Y=None, n_jobs=None):
        return 2 * super().__call__(X, Y, n_jobs)

    def diag(self, X, n_jobs=None):
        return 2 * super().diag(X, n_jobs)


class GoodMatrix(NGram):
    """A kernel with wrong features and a correct matrix."""

    def gram(self, left, right=None, n_jobs=None):
        return NGram(self.n).gram(left, right, n_jobs)

    def diagonal(self, batch, n_jobs=None):
        return NGram(self.n).diagonal(batch, n_jobs)


class ThreadedFeatures(GoodMatrix, Threaded):
    pass


class Misapplied(NGram):
    def expansion(self, support, coefficients, n_jobs=None):
        return super().expansion(support, coefficients + 1, n_jobs)


class Crooked(NGram):
    def fit_product(self, batch, n_jobs=None):
        return NGram(1).fit_product(batch, n_jobs)


class Unclonable(NGram):
    def __init__(self, n=2):
        super().__init__(np.int64(n))


class Unpicklable(NGram):
    def __reduce__(self):
        return NGram, (self.n + 1,)


class Misdescribed(NGram):
    def spec(self):
        return {"kernel": "NGram", "params": {"n": np.int64(self.n)}}


class NoCosine(NGram):
    def normalized(self):
        return self


class Meddling(NGram):
    def fit_features(self, batch, n_jobs=None):
        found = super().fit_features(batch, n_jobs)
        batch.alphabet.append("one more")
        return found


class Mapped(NGram):
    """A kernel with a wrong map of features."""

    map: type[NGramMap]

    def fit_features(self, batch, n_jobs=None):
        features, rows = super().fit_features(batch, n_jobs)
        return self.map(features.kernel, features.features, features.alphabet, features.unit), rows


class Unpickled(Mapped):
    class map(NGramMap):
        def __reduce__(self):
            return self.restrict(np.arange(self.n_features // 2)).__reduce__()


class Forgetful(Mapped):
    class map(NGramMap):
        def transform(self, batch, n_jobs=None):
            rows = super().transform(batch, n_jobs)
            return replace(rows, sq_norms=np.asarray(rows.to_csr().power(2).sum(axis=1)).ravel())


class Scrambled(Mapped):
    class map(NGramMap):
        def restrict(self, ids):
            return super().restrict(ids[::-1])


class Halved(Mapped):
    class map(NGramMap):
        def state(self):
            return self.restrict(np.arange(self.n_features // 2)).state()


class Doubled(Mapped):
    class map(NGramMap):
        def occurrences(self, batch):
            return super().occurrences(batch).scaled(2.0)


class Halfhearted(Mapped):
    class map(NGramMap):
        def contributions(self, batch, weights, n_jobs=None):
            return super().contributions(batch, 0.5 * weights, n_jobs)


class Generous(NGram):
    def expansion(self, support, coefficients, n_jobs=None):
        found = super().expansion(support, coefficients, n_jobs)
        twice = super().expansion(support, 2 * coefficients, n_jobs)
        return SimpleNamespace(values=found.values, contributions=twice.contributions)


class Unmerged(Mapped):
    class map(NGramMap):
        def merge(self, other):
            return self, np.arange(self.n_features), np.zeros(other.n_features, np.int64)


class Unweighted(GoodMatrix):
    class Fixed(Rows):
        def weighted(self, column_weights, unseen=1.0):
            return self

    def fit_features(self, batch, n_jobs=None):
        features, rows = super().fit_features(batch, n_jobs)
        return features, self.Fixed(**vars(rows))


class Own(NGram):
    """A correct class that treille does not export."""


MUTANTS = {
    "is a matrix of finite numbers": Infinite,
    "is symmetric": Lopsided,
    "is positive semi definite": Indefinite,
    "equals its slow twin": Miscounted,
    "diag is the diagonal": WrongDiagonal,
    "of two batches is the block of the whole": Transposed,
    "does not depend on the order of examples": Ordered,
    "does not depend on the number of threads": Threaded,
    "features do not depend on the number of threads": ThreadedFeatures,
    "is the gram matrix of its features": Unfeatured,
    "weighted columns multiply values": Unweighted,
    "occurrences sum to values": Doubled,
    "contributions sum to outputs": Halfhearted,
    "contributions sum to applied coefficients": Generous,
    "features of parts merge to those of all": Unmerged,
    "is applied to coefficients as it is": Misapplied,
    "has one optimum in every space": Crooked,
    "clones and set params keep it": Unclonable,
    "pickling keeps it": Unpicklable,
    "pickling keeps its features": Unpickled,
    "its spec is json and describes it": Misdescribed,
    "normalized is the cosine": NoCosine,
    "normalized is the cosine where parts are unseen": Forgetful,
    "leaves the batch as it was": Meddling,
    "restricted features keep their values": Scrambled,
    "features are read back from their state": Halved,
}


def test_every_law_has_a_mutant():
    assert sorted(MUTANTS) == sorted(law.__name__.replace("_", " ") for law in kernel_checks.LAWS)


@pytest.mark.parametrize("law", MUTANTS)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_kernel_that_breaks_a_law_is_caught_by_name(law):
    mutant = MUTANTS[law](2)
    slow = ngram_kernel(2) if law == "equals its slow twin" else None
    with pytest.raises(AssertionError, match=f"breaks the law '{law}': "):
        check_kernel(mutant, TEXTS, slow)


def test_the_message_names_the_examples_at_fault():
    with pytest.raises(AssertionError, match=r"NGram\(n=2\) breaks .*: k of examples 0 and 0 is 3.0, expected 3.5"):
        check_kernel(NGram(2), TEXTS, slow=lambda x, y: ngram_kernel(2)(x, y) + (x == y == "abba") / 2)


def test_a_kernel_that_raises_is_caught_with_the_reason():
    with pytest.raises(AssertionError, match="breaks the law 'equals its slow twin': ZeroDivisionError: "):
        check_kernel(NGram(2), TEXTS, slow=lambda x, y: 1 / 0)


def test_a_user_defined_kernel_need_not_be_registered():
    check_kernel(Own(2), TEXTS, ngram_kernel(2))
    check_kernel(Own(2).normalized(), TEXTS)


def test_one_example_is_too_few():
    with pytest.raises(InputError, match="there are 1 examples: check_kernel needs at least two"):
        check_kernel(NGram(2), ["abba"])


class Muddled(Mapped):
    """The ids of two features are exchanged."""

    class map(NGramMap):
        def merge(self, other):
            both, mine, theirs = super().merge(other)
            return Muddled.map(both.kernel, both.features, both.alphabet, both.unit), mine, np.roll(theirs, 1)


class Shrinking(Mapped):
    """A map without features in the first position forgets those of the other."""

    class map(NGramMap):
        def merge(self, other):
            return super().merge(other) if self.n_features else (self, np.arange(0), np.arange(other.n_features))

        def restrict(self, ids):
            some = super().restrict(ids)
            return Shrinking.map(some.kernel, some.features, some.alphabet, some.unit)


@pytest.mark.parametrize(("mutant", "found"), [(Muddled, "do not name"), (Shrinking, "nothing")])
def test_every_way_to_merge_is_checked(mutant, found):
    with pytest.raises(AssertionError, match=f"breaks the law 'features of parts merge to those of all'.*{found}"):
        check_kernel(mutant(2), TEXTS)


def test_kernels_of_treille_must_merge_and_others_need_not(monkeypatch):
    def refuse(self, other):
        raise InputError("no")

    def depend(self, other):
        raise DependentFeaturesError("on all")

    monkeypatch.setattr(NGramMap, "merge", refuse)
    with pytest.raises(AssertionError, match="features of parts cannot be merged: no"):
        check_kernel(NGram(2), TEXTS)
    check_kernel(Own(2), TEXTS)
    monkeypatch.setattr(NGramMap, "merge", depend)
    check_kernel(NGram(2), TEXTS)
