"""The laws of kernels."""

import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from treille.data import Batch
from treille.features import (
    DependentFeaturesError,
    ExplainingMap,
    FeatureMap,
    FeatureRows,
    LocatingMap,
    MergingMap,
    Rows,
    StoredRows,
    WeighableRows,
)
from treille.features.abilities import having
from treille.io.errors import InputError
from treille.kernels import Kernel
from treille.testing.laws import assert_close, assert_same, is_ours, laws_of, run, take
from treille.testing.solver_checks import one_optimum

SlowTwin = Callable[[Any, Any], float]


def check_kernel(kernel: Kernel, X: Any, slow: SlowTwin | None = None) -> None:
    """Tests a kernel against the laws of kernels; an AssertionError names the violated law and the examples.

    The kernel matrix is symmetric and positive semi-definite, equals the definition, and is the Gram matrix of the features;
    it depends neither on the order of the examples nor on the number of threads; products with coefficients agree with it.
    Features stay the same when restricted, pickled or read back from a model file; weights of columns multiply values;
    occurrences of a feature sum to its value, contributions of parts to the value of a linear function, if the kernel provides
    these methods. Features merged or extended from parts of the examples are the features of all, in any order and grouping; a
    kernel of another package may refuse to merge, and so may one whose features depend on all examples, by a
    `DependentFeaturesError`. The normalised kernel is the cosine, also for examples with parts unseen in fit. Laws of features are
    tested for kernels that have features; laws of two sets of examples not for kernels such as weighted ones, whose values depend
    on the examples they are fitted on.

    Parameters
    ----------
    kernel : Kernel
        The kernel to check.
    X : examples
        Anything the kernel reads, at least two. Include similar and dissimilar ones, and an empty one, if that is allowed.
    slow : function or None
        ``slow(x, y)`` is k(x, y) by its definition, written for clarity. Its arguments are items of the kernel's batch:
        a str for characters, bytes for bytes, a list of tokens for words.

    Examples
    --------
    >>> from treille.kernels import NGram
    >>> from treille.testing import check_kernel
    >>> def common_letters(x, y):
    ...     return sum(x.count(letter) * y.count(letter) for letter in set(x))
    >>> check_kernel(NGram(1), ["abba", "", "cab", "dd"], slow=common_letters)
    >>> check_kernel(NGram(2), ["abba", "", "cab", "dd"], slow=common_letters)
    Traceback (most recent call last):
        ...
    AssertionError: NGram(n=2) breaks the law 'equals its slow twin': k of examples 0 and 0 is 3.0, expected 8.0
    """
    batch = kernel.batch(X)
    if len(batch) < 2:
        raise InputError(f"there are {len(batch)} examples: check_kernel needs at least two")
    laws = [law for law in LAWS if kernel.has_features or law not in FEATURE_LAWS]
    laws = [law for law in laws if not kernel.needs_features or law not in PAIR_LAWS]
    run(laws, _Case(kernel, batch, slow, kernel(batch)), kernel)


@dataclass(frozen=True)
class _Case:
    kernel: Kernel
    batch: Batch
    slow: SlowTwin | None
    K: np.ndarray

    @property
    def halves(self) -> tuple[np.ndarray, np.ndarray]:
        """Examples to fit on, and the others, which contain unseen parts."""
        everyone = np.arange(len(self.batch))
        return everyone[::2], everyone[1::2]

    def cosines(self) -> np.ndarray:
        norms = np.sqrt(self.K.diagonal())
        scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
        return self.K * np.outer(scale, scale)


def is_a_matrix_of_finite_numbers(case: _Case) -> None:
    n = len(case.batch)
    assert case.K.shape == (n, n), f"the matrix of {n} examples has the shape {case.K.shape}"
    for i, j in np.argwhere(~np.isfinite(case.K)):
        raise AssertionError(f"k of examples {i} and {j} is {case.K[i, j]}")


def is_symmetric(case: _Case) -> None:
    assert_close(case.K, case.K.T, "k", tolerance=1e-14)


def is_positive_semi_definite(case: _Case) -> None:
    values, vectors = np.linalg.eigh(case.K)
    worst = np.argsort(-np.abs(vectors[:, 0]))[:3].tolist()
    assert values[0] >= -1e-9 * values[-1], f"the smallest eigenvalue is {values[0]:.3g}, mostly of examples {worst}"


def equals_its_slow_twin(case: _Case) -> None:
    if case.slow is not None:
        items = list(case.batch)
        slow = np.array([[case.slow(x, y) for y in items] for x in items], dtype=np.float64)
        assert_close(case.K, slow, "k")


def diag_is_the_diagonal(case: _Case) -> None:
    assert_close(case.kernel.diag(case.batch), case.K.diagonal(), "diag")


def of_two_batches_is_the_block_of_the_whole(case: _Case) -> None:
    first, second = case.halves
    X, Y = take(case.batch, first), take(case.batch, second)
    assert_close(case.kernel(X, Y), case.K[np.ix_(first, second)], "k(X, Y)")
    assert_close(case.kernel(Y, X), case.kernel(X, Y).T, "k(Y, X)")
    assert_close(case.kernel(X, case.batch), case.K[first], "k(X, X and Y)")


def does_not_depend_on_the_order_of_examples(case: _Case) -> None:
    order = np.random.default_rng(0).permutation(len(case.batch))
    assert_close(case.kernel(take(case.batch, order)), case.K[np.ix_(order, order)], "k, examples shuffled,")


def does_not_depend_on_the_number_of_threads(case: _Case) -> None:
    first, _ = case.halves
    some = take(case.batch, first)
    for threads in (2, 3, 8):
        assert_same(case.kernel(case.batch, n_jobs=threads), case.K, f"k with {threads} threads")
        one, many = (case.kernel(some, case.batch, n_jobs=jobs) for jobs in (1, threads))
        assert_same(many, one, f"k(X, Y) with {threads} threads")
        assert_same(case.kernel.diag(case.batch, threads), case.kernel.diag(case.batch), f"diag with {threads} threads")


def features_do_not_depend_on_the_number_of_threads(case: _Case) -> None:
    times = 1 + 400_000 // max(1, case.batch.nbytes)  # little data uses one thread
    large = take(case.batch, np.tile(np.arange(len(case.batch)), times))
    features, rows = case.kernel.fit_features(large, 1)
    for threads in (2, 3, 8):
        others, same = case.kernel.fit_features(large, threads)
        _assert_same_rows(same, rows, f"fitted with {threads} threads,")
        _assert_same_rows(others.transform(large, threads), features.transform(large, 1), f"with {threads} threads,")


def is_the_gram_matrix_of_its_features(case: _Case) -> None:
    features, rows = case.kernel.fit_features(case.batch)
    phi = _csr(rows)
    assert phi.shape == (len(case.batch), features.n_features), f"the feature matrix has the shape {phi.shape}"
    assert_close((phi @ phi.T).toarray(), case.K, "the product of features")
    again = features.transform(case.batch)
    assert_close(_csr(again).toarray(), phi.toarray(), "the feature after transform (example, column)")
    assert_close(again.diag(), rows.diag(), "k(x, x)")


def weighted_columns_multiply_values(case: _Case) -> None:
    first, second = case.halves
    features, rows = case.kernel.fit_features(take(case.batch, first))
    factors = np.random.default_rng(0).uniform(0.5, 2.0, features.n_features)
    factors[::3] = 0.0
    for given in (rows, features.transform(take(case.batch, second))):
        some = having(given, WeighableRows)
        plain, weighted = _csr(some).toarray(), some.weighted(factors, unseen=2.0)
        assert_close(_csr(weighted).toarray(), plain * factors, "the weighted feature (example, column)")
        unseen = some.diag() - (plain**2).sum(axis=1)
        assert_close(weighted.diag(), ((plain * factors) ** 2).sum(axis=1) + 4 * unseen, "k(x, x) of weighted columns")
        assert_close(some.weighted(np.ones(len(factors))).diag(), some.diag(), "k(x, x) with all weights 1")


def occurrences_sum_to_values(case: _Case) -> None:
    first, _ = case.halves
    features, _ = case.kernel.fit_features(take(case.batch, first))
    try:
        found = having(features, LocatingMap).occurrences(case.batch)
    except InputError:
        return
    owners = np.repeat(np.arange(len(case.batch)), np.diff(found.examples))
    sums = np.zeros((len(case.batch), features.n_features))
    np.add.at(sums, (owners, found.features), found.values)
    assert_close(sums, _csr(features.transform(case.batch)).toarray(), "the sum of occurrences (example, feature)")
    assert (found.parts >= 0).all(), "an occurrence covers a negative position"


def contributions_sum_to_outputs(case: _Case) -> None:
    first, _ = case.halves
    features, _ = case.kernel.fit_features(take(case.batch, first))
    weights = np.random.default_rng(0).normal(size=(features.n_features, 2))
    try:
        found = having(features, ExplainingMap).contributions(case.batch, weights)
    except InputError as error:
        if not is_ours(case.kernel):  # a kernel of others need not have them
            return
        raise AssertionError(f"there are no contributions: {error}") from None
    outputs = features.transform(case.batch).matvec(weights)
    assert_close(found.sums(), outputs, "the sum of contributions (example, function)", tolerance=1e-9)
    for part, _ in found.shares.values():
        assert len(part.part_names(0)) == part.part_offsets[1], "the parts of example 0 are not all named"


def _by_name(rows: Any, names: list[str]) -> np.ndarray:
    """The matrix with its columns in the order of their names; a few names, such as those with a wildcard, are not unique."""
    table = _csr(rows).toarray()
    return table[:, sorted(range(len(names)), key=lambda i: (names[i], table[:, i].tolist()))]


def features_of_parts_merge_to_those_of_all(case: _Case) -> None:
    if case.kernel.needs_features:
        return
    everyone = np.arange(len(case.batch))
    a, b, c = (_Fitted.fitted(case, own if len(own) else everyone[:1]) for own in (everyone[k::3] for k in range(3)))
    try:
        two, three = a + b, {"(a, b), c": (a + b) + c, "a, (b, c)": a + (b + c), "(c, a), b": (c + a) + b}
    except DependentFeaturesError:
        return
    except InputError as error:
        if not is_ours(case.kernel):  # a kernel of others need not merge
            return
        raise AssertionError(f"features of parts cannot be merged: {error}") from None
    nothing = _Fitted(a.features.restrict(a.features.ids_for_norms(np.empty(0, np.int64))), [])
    _assert_merged(nothing + a, a, "nothing, a")
    _assert_merged(a + nothing, a, "a, nothing")
    _assert_merged(two, _Fitted.fitted(case, everyone[everyone % 3 < 2]), "a, b")
    whole = _Fitted.fitted(case, everyone)
    for how, merged in three.items():
        _assert_merged(merged, whole, how)


@dataclass(frozen=True)
class _Fitted:
    """A map, and the parts of the data whose features it has: for each, the map fitted on it and its ids in the merged map."""

    features: FeatureMap
    parts: list[tuple[Batch, FeatureMap, np.ndarray]]

    @classmethod
    def fitted(cls, case: _Case, ids: np.ndarray) -> "_Fitted":
        batch = take(case.batch, ids)
        features, _ = case.kernel.fit_features(batch)
        return cls(features, [(batch, features, np.arange(features.n_features))])

    def __add__(self, other: "_Fitted") -> "_Fitted":
        both, mine, theirs = having(self.features, MergingMap).merge(other.features)
        each = ((self, mine), (other, theirs))
        return _Fitted(both, [(batch, own, new[ids]) for side, new in each for batch, own, ids in side.parts])


def _assert_merged(merged: _Fitted, whole: _Fitted, how: str) -> None:
    """The map has the features of the whole batch, and the features of each part under its ids."""
    features, what, batch = merged.features, f"merged ({how})", whole.parts[0][0]
    found, expected = _names(features), _names(whole.features)
    assert sorted(found) == sorted(expected), f"{what}, the features are {sorted(found)}, expected {sorted(expected)}"
    rows, same = features.transform(batch), whole.features.transform(batch)
    assert_close(_by_name(rows, found), _by_name(same, expected), f"{what}, the feature (example, column)")
    assert_close(rows.diag(), same.diag(), f"{what}, k(x, x)")
    for part, own, ids in merged.parts:
        _assert_renumbered(part, own, features, ids, what)


def _assert_renumbered(batch: Batch, own: FeatureMap, both: FeatureMap, ids: np.ndarray, what: str) -> None:
    """The rows of a part, renumbered, are the rows of the merged map: the same entries in the columns `ids`, and no others."""
    assert len(np.unique(ids)) == len(ids), f"{what}, two features of a part have the same id"
    assert [both.name(int(id)) for id in ids] == _names(own), f"{what}, the ids of a part do not name its features"
    rows, found = own.transform(batch), both.transform(batch)
    if isinstance(rows, Rows):
        renumbered = rows.renumbered(ids, both.n_features)
        moved, norms = _csr(renumbered).toarray(), renumbered.diag()
    else:  # rows of sums are renumbered term by term
        moved, norms = np.zeros((len(batch), both.n_features)), rows.diag()
        moved[:, ids] = _csr(rows).toarray()
    assert_close(_csr(found).toarray(), moved, f"{what}, the feature of a part (example, column)", 1e-12)
    assert_close(found.diag(), norms, f"{what}, k(x, x) of a part", 1e-12)


def _csr(rows: FeatureRows) -> Any:
    return having(rows, StoredRows).to_csr()


def _names(features: FeatureMap) -> list[str]:
    return [features.name(id) for id in range(features.n_features)]


def is_applied_to_coefficients_as_it_is(case: _Case) -> None:
    first, second = case.halves
    coefficients = np.random.default_rng(0).standard_normal((len(second), 3))
    found = case.kernel.expansion(take(case.batch, second), coefficients).values(take(case.batch, first))
    assert_close(found, case.K[np.ix_(first, second)] @ coefficients, "k(X, Y) times coefficients (example, column)")


def clones_and_set_params_keep_it(case: _Case) -> None:
    twin = clone(case.kernel)
    assert repr(twin) == repr(case.kernel), f"its clone is {twin!r}"
    twin.set_params(**case.kernel.get_params())
    assert repr(twin) == repr(case.kernel), f"with its own parameters set it is {twin!r}"
    assert_same(clone(case.kernel)(case.batch), case.K, "k of the clone")


def pickling_keeps_it(case: _Case) -> None:
    assert_same(pickle.loads(pickle.dumps(case.kernel))(case.batch), case.K, "k after pickling")


def pickling_keeps_its_features(case: _Case) -> None:
    features, _ = case.kernel.fit_features(case.batch)
    again = pickle.loads(pickle.dumps(features))
    _assert_same_rows(again.transform(case.batch), features.transform(case.batch), "features after pickling:")


def its_spec_is_json_and_describes_it(case: _Case) -> None:
    try:
        spec = case.kernel.spec()
    except InputError:
        return  # a function among the parameters cannot be saved, and the error says so
    text = json.dumps(spec, allow_nan=False)
    if not is_ours(case.kernel):
        return
    again = Kernel.from_spec(json.loads(text))
    assert again.spec() == spec, f"its spec is {spec}, read back {again.spec()}"
    assert type(again) is type(case.kernel), f"read back it is a {type(again).__name__}"
    assert_same(again(case.batch), case.K, "k read back from the spec")


def normalized_is_the_cosine(case: _Case) -> None:
    cosines, normalized = case.cosines(), case.kernel.normalized()
    ones = (case.K.diagonal() > 0).astype(float)
    assert_close(normalized.diag(case.batch), ones, "diag of the normalized kernel")
    assert_close(normalized(case.batch), cosines, "the normalized kernel")


def normalized_is_the_cosine_where_parts_are_unseen(case: _Case) -> None:
    first, second = case.halves
    K = case.kernel.normalized()(take(case.batch, first), take(case.batch, second))
    assert_close(K, case.cosines()[np.ix_(first, second)], "the normalized kernel")


def leaves_the_batch_as_it_was(case: _Case) -> None:
    before = joblib.hash(case.batch)
    case.kernel(case.batch)
    assert joblib.hash(case.batch) == before, "k changed the batch"
    if case.kernel.has_features:
        features, _ = case.kernel.fit_features(case.batch)
        assert joblib.hash(case.batch) == before, "fit_features changed the batch"
        features.transform(case.batch)
        assert joblib.hash(case.batch) == before, "transform changed the batch"


def restricted_features_keep_their_values(case: _Case) -> None:
    features, _ = case.kernel.fit_features(case.batch)
    ids = features.ids_for_norms(np.arange(features.n_features)[1::2])
    some, whole = features.restrict(ids), features.transform(case.batch)
    assert some.n_features == len(ids), f"{some.n_features} features are left of the {len(ids)} asked for"
    rows = some.transform(case.batch)
    assert_same(_csr(rows).toarray(), _csr(whole).toarray()[:, ids], "the restricted feature (example, column)")
    assert_same(rows.diag(), whole.diag(), "k(x, x) of restricted features")
    for new, old in enumerate(ids):
        assert some.name(new) == features.name(old), f"feature {features.name(old)!r} is now {some.name(new)!r}"


def features_are_read_back_from_their_state(case: _Case) -> None:
    features, _ = case.kernel.fit_features(case.batch)
    spec, arrays = features.state()
    again = case.kernel.load_features(json.loads(json.dumps(spec, allow_nan=False)), arrays)
    _assert_same_rows(again.transform(case.batch), features.transform(case.batch), "features read back:")
    for id in range(features.n_features):
        assert again.name(id) == features.name(id), f"feature {features.name(id)!r} is read back as {again.name(id)!r}"


def _assert_same_rows(found: FeatureRows, expected: FeatureRows, what: str) -> None:
    for mine, theirs in zip(*(having(rows, StoredRows).parts for rows in (found, expected)), strict=True):
        for field in fields(Rows):
            left, right = getattr(mine, field.name), getattr(theirs, field.name)
            assert (left is None) == (right is None), f"{what} {field.name} is missing in one of them"
            if left is not None:
                assert_same(np.asarray(left), np.asarray(right), f"{what} {field.name}")


def has_one_optimum_in_every_space(case: _Case) -> None:
    one_optimum(case.kernel, case.batch, case.K)


def contributions_sum_to_applied_coefficients(case: _Case) -> None:
    first, second = (take(case.batch, half) for half in case.halves)
    beta = np.random.default_rng(0).normal(size=(len(second), 2))
    for kernel in (case.kernel, case.kernel + 1, (case.kernel * 0.5).normalized()):
        expansion = kernel.expansion(second, beta)
        found = expansion.contributions(first)
        if found is not None:
            outputs = expansion.values(first)
            assert_close(found.sums(), outputs, f"the sum of contributions to {kernel!r} (example, function)", 1e-9)


LAWS = laws_of(globals())
PAIR_LAWS = {
    of_two_batches_is_the_block_of_the_whole,
    is_applied_to_coefficients_as_it_is,
    contributions_sum_to_applied_coefficients,
    normalized_is_the_cosine_where_parts_are_unseen,
}
FEATURE_LAWS = {
    features_do_not_depend_on_the_number_of_threads,
    is_the_gram_matrix_of_its_features,
    weighted_columns_multiply_values,
    occurrences_sum_to_values,
    contributions_sum_to_outputs,
    features_of_parts_merge_to_those_of_all,
    pickling_keeps_its_features,
    restricted_features_keep_their_values,
    features_are_read_back_from_their_state,
}
