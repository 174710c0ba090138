"""Conjunctions: compared with its definition, with brute-force frequent itemsets, and with the polynomial kernel."""

import pickle
from collections import Counter
from itertools import combinations
from math import comb, sqrt

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import SVC, SVR, InputError, Ridge, Vectors, _core
from treille.features import ConjunctionRows
from treille.kernels import Conjunctions, Kernel, Linear, Polynomial, conjunction_features
from treille.kernels.conjunction_features import conjunction_coefficients
from treille.kernels.parse import format_kernel, parse_kernel
from treille.kernels.polynomial import conjunctions_of
from treille.solvers import ConjugateGradient, DualCD, Problem
from treille.solvers.problem import Hinge, SquaredHinge
from treille.spaces import footprint
from treille.testing import check_estimator, check_kernel

RANDOM = np.random.default_rng(1)
BINARY = (RANDOM.random((60, 11)) < 0.4 * RANDOM.random(11) + 0.1).astype(float)
LABELS = (BINARY[:, 0] + BINARY[:, 1] == 1).astype(int)
SPARSE = sp.csr_matrix((RANDOM.random((400, 60)) < 0.35 * RANDOM.random(60) ** 2).astype(float))


def frequent(X, degree, min_support):
    """All frequent itemsets by counting all subsets of all rows."""
    seen = Counter(
        subset for row in X for k in range(1, degree + 1) for subset in combinations(np.flatnonzero(row).tolist(), k)
    )
    return {subset for subset, count in seen.items() if count >= min_support}


def named(features):
    """The columns of every feature, which have no names."""
    names = [features.name(i) for i in range(features.n_features)]
    return [() if name == "constant" else tuple(int(each[1:]) for each in name.split(" & ")) for name in names]


def slow_kernel(degree, coef0, min_support, X, Y):
    """By definition, for features of Y."""
    c, kept = conjunction_coefficients(degree, coef0), frequent(Y, degree, min_support)

    def sets(row):
        items = np.flatnonzero(row).tolist()
        return {s for k in range(1, degree + 1) for s in combinations(items, k) if s in kept}

    left, right = [sets(x) for x in X], [sets(y) for y in Y]
    return np.array([[c[0] + sum(c[len(s)] for s in x & y) for y in right] for x in left])


@pytest.fixture
def on_the_fly(monkeypatch):
    monkeypatch.setattr(conjunction_features, "STORED_BYTES", 0)


@pytest.mark.parametrize("min_support", [1, 2, 5, 0.2])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_features_are_the_frequent_itemsets(degree, min_support):
    support = min_support if isinstance(min_support, int) else 12
    features, rows = Conjunctions(degree, min_support).fit_features(Vectors(BINARY))
    found = named(features)
    assert len(set(found)) == len(found)
    assert set(found) == frequent(BINARY, degree, support) | {()}
    c = conjunction_coefficients(degree)
    expected = [[sqrt(c[len(s)]) if all(row[list(s)]) else 0.0 for s in found] for row in BINARY]
    np.testing.assert_allclose(rows.to_csr().toarray(), expected, rtol=1e-15)
    assert all((np.diff(row.indices) > 0).all() for row in rows.to_csr())
    new = features.transform(Vectors(BINARY[::-1]))
    assert np.array_equal(new.to_csr().toarray(), rows.to_csr().toarray()[::-1])


@pytest.mark.parametrize("coef0", [0, 1, 0.5])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_with_all_conjunctions_it_is_the_polynomial_kernel(degree, coef0):
    X, Y = BINARY[:40], BINARY[40:]
    kernel = Conjunctions(degree, coef0=coef0)
    slow = (coef0 + X @ X.T) ** degree
    for found in (kernel(X), Polynomial(degree, coef0)(X), slow_kernel(degree, coef0, 1, X, X)):
        np.testing.assert_allclose(found, slow, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(kernel(Y, X), (coef0 + Y @ X.T) ** degree, rtol=1e-10, atol=1e-10)
    features, rows = kernel.fit_features(Vectors(X))
    np.testing.assert_allclose(rows.gram(None, 1), slow, rtol=1e-10, atol=1e-10)
    new = features.transform(Vectors(Y))
    np.testing.assert_allclose(new.gram(rows, 1), (coef0 + Y @ X.T) ** degree, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(new.diag(), (coef0 + Y.sum(axis=1)) ** degree, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(Y), new.diag(), rtol=1e-12)


@pytest.mark.parametrize("coef0", [0, 1.0])
@pytest.mark.parametrize(("degree", "min_support"), [(2, 3), (3, 2), (2, 0.1)])
def test_with_frequent_conjunctions_it_is_its_definition(degree, min_support, coef0):
    X, Y = BINARY[:40], BINARY[40:]
    kernel = Conjunctions(degree, min_support, coef0)
    support = min_support if isinstance(min_support, int) else 4
    slow = slow_kernel(degree, coef0, support, X, X)
    np.testing.assert_allclose(kernel(X), slow, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), slow.diagonal(), rtol=1e-12)
    np.testing.assert_allclose(kernel(Y, X), slow_kernel(degree, coef0, support, Y, X), rtol=1e-12, atol=1e-12)
    new = kernel.fit_features(Vectors(X))[0].transform(Vectors(Y))
    np.testing.assert_allclose(new.diag(), (new.to_csr().toarray() ** 2).sum(axis=1), rtol=1e-12)
    cosines = slow / np.sqrt(np.outer(slow.diagonal(), slow.diagonal()).clip(1e-300))
    np.testing.assert_allclose(kernel.normalized()(X), cosines, atol=1e-12)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_scans_and_hash_tables_find_the_same_patterns(degree):
    indptr, columns = SPARSE.indptr.astype(np.int64), SPARSE.indices.astype(np.int32)
    order = np.argsort(np.argsort(np.bincount(columns, minlength=60), kind="stable")).astype(np.uint32)
    indptr, items = _core.recode_items(indptr, columns, order)
    values, found = np.arange(1.0, degree + 2), []
    for long_array in (0, 5, 128, 2**40):
        patterns = _core.ConjunctionFeatures.mine(indptr, items, 60, degree, 2, 2**32 - 2, True, 2, long_array)
        found.append((*patterns.trees(), *patterns.rows(indptr, items, values, 1)))
    for other in found[1:]:
        for one, same in zip(found[0], other, strict=True):
            assert np.array_equal(one, same)
    every = frequent(SPARSE.toarray(), degree, 2)
    held = [sum(set(np.flatnonzero(row)) >= set(s) for s in every) for row in SPARSE.toarray()[:20]]
    assert np.diff(found[0][3])[:20].tolist() == [1 + n for n in held]


@settings(deadline=None, max_examples=15)
@given(
    st.lists(st.sets(st.sampled_from("abcdef")), min_size=2, max_size=6),
    st.integers(1, 3),
    st.sampled_from([0, 1, 0.5]),
)
def test_it_obeys_the_laws(rows, degree, coef0):
    def slow(x, y):
        return (coef0 + len(set(x) & set(y))) ** degree

    check_kernel(Conjunctions(degree, coef0=coef0), [dict.fromkeys(row, 1) for row in rows], slow)
    check_kernel(Conjunctions(degree, 0.5, coef0 + 1), [dict.fromkeys(row, 1) for row in rows])


@pytest.mark.parametrize("min_support", [1, 0.1])
def test_an_estimator_with_it_obeys_the_laws_of_estimators(min_support):
    check_estimator(SVC(Conjunctions(2, min_support)), list(BINARY), LABELS)


def test_results_do_not_depend_on_the_number_of_threads():
    X = Vectors(sp.vstack([SPARSE] * 5, format="csr"))
    for kernel in (Conjunctions(3), Conjunctions(3, min_support=20)):
        (features, rows), *others = (kernel.fit_features(X, n_jobs) for n_jobs in (1, 2, 5))
        for other, same in others:
            for one, two in zip(features.patterns.trees(), other.patterns.trees(), strict=True):
                assert np.array_equal(one, two)
            for name in ("indptr", "entries", "codebook", "scale", "sq_norms"):
                assert np.array_equal(getattr(rows, name), getattr(same, name)), name


def stored_and_not(kernel, X, monkeypatch):
    features, rows = kernel.fit_features(X)
    monkeypatch.setattr(conjunction_features, "STORED_BYTES", 0)
    fly = kernel.fit_features(X)[1]
    assert isinstance(fly, ConjunctionRows)
    return features, rows, fly


@pytest.mark.parametrize("kernel", [Conjunctions(2), Conjunctions(3, min_support=3), Polynomial(2, 0)], ids=repr)
def test_rows_on_the_fly_are_the_stored_rows(kernel, monkeypatch):
    X = Vectors(SPARSE)
    features, rows, fly = stored_and_not(kernel, X, monkeypatch)
    assert (len(fly), fly.n_features) == (len(rows), rows.n_features)
    assert fly.nbytes < rows.nbytes + fly.patterns.n_bytes
    scale = RANDOM.uniform(0.5, 2, len(rows))
    for one, other in ((rows, fly), (rows.scaled(scale), fly.scaled(scale)), (rows.normalized(), fly.normalized())):
        np.testing.assert_allclose(other.diag(), one.diag(), rtol=1e-13)
        w, beta = RANDOM.normal(size=(rows.n_features, 3)), RANDOM.normal(size=(len(rows), 3))
        for threads in (1, 3):
            np.testing.assert_allclose(other.matvec(w, threads), one.matvec(w, threads), rtol=1e-12, atol=1e-12)
            assert np.array_equal(other.rmatvec(beta, threads), other.rmatvec(beta, 1))
            np.testing.assert_allclose(other.rmatvec(beta, threads), one.rmatvec(beta, 1), rtol=1e-12, atol=1e-12)
        K = one.gram(None, 1)
        np.testing.assert_allclose(other.gram(None, 1), K, rtol=1e-12)
        np.testing.assert_allclose(other.gram(one, 1), K, rtol=1e-12)
        np.testing.assert_allclose(other.row_products()(7), K[7], rtol=1e-12)
    new = features.transform(X)
    assert isinstance(new, ConjunctionRows)
    assert np.array_equal(new.matvec(w), fly.matvec(w))


@pytest.mark.parametrize("kernel", [Conjunctions(2), Conjunctions(3, min_support=3).normalized()], ids=repr)
def test_a_solver_takes_the_same_steps_on_rows_on_the_fly(kernel, monkeypatch):
    X, y = Vectors(SPARSE), (SPARSE[:, :7].sum(axis=1).A1 % 3).astype(np.int32)
    _, rows, fly = stored_and_not(kernel, X, monkeypatch)
    for loss, shrinking, epochs in ((Hinge(), True, 7), (Hinge(), False, 7), (SquaredHinge(), True, 200)):
        targets = Problem(loss, y, np.ones(len(y)), classes=np.arange(3)).core()
        options = _core.DualCDOptions(1.0, 1e-6, epochs, shrinking, False, 3)
        one, other = (
            _core.dual_cd(each.for_core(), targets, np.empty(0), options, 2, True, (lambda *_: None, np.inf))
            for each in (rows, fly)
        )
        assert other.epochs == one.epochs
        np.testing.assert_allclose(other.alpha, one.alpha, rtol=0, atol=1e-12)
        np.testing.assert_allclose(other.weights, one.weights, rtol=0, atol=1e-12)
    model = SVC(kernel, tol=1e-6).fit(X, y)
    assert model.plan_.representation.startswith("on the fly, because rows by conjunction would not fit in memory")
    monkeypatch.setattr(conjunction_features, "STORED_BYTES", np.inf)
    again = SVC(kernel, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), again.decision_function(X), atol=1e-2)


@pytest.mark.usefixtures("on_the_fly")
def test_estimators_work_on_rows_on_the_fly(tmp_path):
    y = BINARY @ np.arange(11) / 10
    kernel = Conjunctions(2, min_support=2)
    for model in (SVC(kernel), SVR(kernel), Ridge(kernel, solver=ConjugateGradient())):
        target = LABELS if isinstance(model, SVC) else y
        assert model.fit(BINARY, target).score(BINARY, target) > 0.8
    model = SVC(kernel).fit(BINARY, LABELS)
    model.save(tmp_path / "m.treille")
    assert np.array_equal(treille.load(tmp_path / "m.treille").predict(BINARY), model.predict(BINARY))


@pytest.mark.usefixtures("on_the_fly")
@pytest.mark.parametrize(
    ("kernel", "solver"),
    [
        (Conjunctions(2) + Linear(), "auto"),
        (Conjunctions(2, min_support=2).weighted("idf"), "auto"),
        (Conjunctions(2).centered(), "auto"),
        (Conjunctions(2), DualCD(representation="merged")),
    ],
    ids=repr,
)
def test_methods_that_need_stored_rows_are_refused_on_the_fly(kernel, solver):
    with pytest.raises(
        InputError, match=r"conjunctions do not fit in memory, so they are not stored, .* larger min_support"
    ):
        SVC(kernel, solver=solver).fit(BINARY, LABELS)


def test_an_expansion_that_does_not_fit_is_refused_with_its_size(monkeypatch):
    with pytest.raises(
        InputError,
        match=r"\(degree=4\) has about 2,\d{3},\d{3},\d{3} conj.* would take .* GB.* larger min_s",
    ):
        Conjunctions(4).fit_features(Vectors(np.ones((50, 500))))
    with pytest.raises(InputError, match=r"min_support=2.* has about [\d,]{10,} conjunctions.* smaller degree"):
        Conjunctions(4, min_support=2).fit_features(Vectors(np.ones((50, 700))))
    monkeypatch.setattr(conjunction_features, "available_memory", lambda: 30_000)
    with pytest.raises(InputError, match=r"would take .*, but 30\.0 kB are free"):
        Conjunctions(2).fit_features(Vectors(SPARSE))
    assert SVC(Conjunctions(2)).fit(SPARSE, np.arange(400) % 2).plan_.space.name == "gram"


MANY = sp.csr_matrix((RANDOM.random((1500, 40)) < 0.3).astype(float))


def test_the_support_is_counted_in_all_of_many_examples():
    model = SVC(Conjunctions(2, min_support=200), tol=0.1).fit(MANY, np.arange(1500) % 2)
    assert model.features_.n_features == len(frequent(MANY.toarray(), 2, 200)) + 1


@pytest.mark.parametrize("kernel", [Conjunctions(3), Polynomial(3)], ids=repr)
def test_rows_of_many_examples_that_do_not_fit_are_matched_and_not_refused(kernel, monkeypatch):
    for module in (conjunction_features, footprint):
        monkeypatch.setattr(module, "available_memory", lambda: 3_000_000)
    model = SVC(kernel, solver=DualCD(), tol=0.1, C=1e-4).fit(MANY, np.arange(1500) % 2)
    assert (model.plan_.space.name, model.report_.status) == ("rows", "converged")


def test_sizes_are_estimated_by_a_sample_of_roots():
    X = sp.csr_matrix((RANDOM.random((3000, 400)) < 0.05).astype(float))
    items = X.indptr.astype(np.int64), X.indices.astype(np.uint32)
    for degree, support in ((2, 1), (2, 5), (3, 2)):
        patterns, occurrences = _core.estimate_conjunctions(*items, 400, degree, support, 1e12)
        features, rows = Conjunctions(degree, support, 0).fit_features(Vectors(X))
        assert (patterns, occurrences) == (features.n_features, rows.n_entries)
        about = _core.estimate_conjunctions(*items, 400, degree, support, 1e5)
        np.testing.assert_allclose(about, (patterns, occurrences), rtol=0.2)


def test_polynomial_on_binary_rows_has_the_same_features(monkeypatch):
    ours, theirs = (kernel.fit_features(Vectors(BINARY)) for kernel in (Polynomial(3), Conjunctions(3)))
    assert named(ours[0]) == named(theirs[0])
    assert np.array_equal(ours[1].entries, theirs[1].entries)
    assert SVC(Polynomial(2)).fit(BINARY, LABELS).plan_.space.name == "rows"


@pytest.mark.parametrize("coef0", [0, 0.5, 1])
@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_polynomial_fitted_on_binary_rows_reads_other_numbers(degree, coef0):
    Y = RANDOM.normal(size=(30, 11)) * (RANDOM.random((30, 11)) < 0.6)
    kernel = Polynomial(degree, coef0)
    features, rows = kernel.fit_features(Vectors(BINARY))
    new = features.transform(Vectors(Y))
    np.testing.assert_allclose(new.gram(rows, 1), (coef0 + Y @ BINARY.T) ** degree, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(new.diag(), (coef0 + (Y * Y).sum(axis=1)) ** degree, rtol=1e-12)
    assert ((new.to_csr().toarray() ** 2).sum(axis=1) <= new.diag() * (1 + 1e-12)).all()


def test_models_are_saved_and_read(tmp_path):
    for X in (BINARY, Vectors(BINARY, list("abcdefghijk"))):
        for kernel in (
            Conjunctions(3, coef0=0.5),
            Conjunctions(2, 0.05),
            Conjunctions(2, 2, 0).normalized(),
            0.5 * Conjunctions(2, 2) + Linear(),
            Polynomial(2),
        ):
            model = SVC(kernel).fit(X, LABELS)
            model.save(tmp_path / "m.treille")
            again = treille.load(tmp_path / "m.treille")
            np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), rtol=1e-12, atol=1e-12)
            assert again.top_features() == model.top_features()


def test_restricted_features_remain_trees():
    features, rows = Conjunctions(3).fit_features(Vectors(BINARY))
    names = [features.name(i) for i in range(features.n_features)]
    deep = np.array([i for i, name in enumerate(names) if name.count("&") == 2][::7])
    some = features.restrict(deep)
    assert [some.name(i) for i in range(some.n_features)] == [names[i] for i in deep]
    assert np.array_equal(some.transform(Vectors(BINARY)).to_csr().toarray(), rows.to_csr().toarray()[:, deep])
    again = some.restrict(np.arange(0, len(deep), 3))
    assert [again.name(i) for i in range(again.n_features)] == [names[i] for i in deep[::3]]
    none = features.restrict(np.empty(0, np.int64))
    assert (none.n_features, none.transform(Vectors(BINARY)).n_entries) == (0, 0)
    with pytest.raises(IndexError, match="feature 0 does not exist"):
        none.name(0)


@pytest.mark.parametrize(
    "change",
    [
        {"levels": np.array([2, 1], np.uint8)},
        {"levels": np.array([1], np.uint8)},
        {"items": np.array([1, 0], np.uint32)},
        {"items": np.array([0, 9], np.uint32)},
        {"kept": np.array([1], np.uint8)},
        {"levels": np.array([1, 3], np.uint8)},
    ],
    ids=str,
)
def test_conjunctions_that_do_not_fit_are_refused(change):
    spec = {"columns": {"names": None, "n_columns": 2}, "constant": True}
    arrays = {"columns": np.arange(2), "levels": np.array([1, 2], np.uint8), "items": np.array([0, 1], np.uint32)}
    assert Conjunctions(2).load_features(spec, arrays).name(2) == "x0 & x1"
    with pytest.raises(InputError, match="the conjunctions in the file do not fit its kernel"):
        Conjunctions(2).load_features(spec, arrays | change)
    with pytest.raises(InputError, match="coef0 of its kernel is 0"):
        Conjunctions(2, coef0=0).load_features(spec, arrays)


def test_it_is_written_and_parsed():
    assert repr(parse_kernel("conjunctions(2, min_support=0.01)")) == repr(Conjunctions(2, min_support=0.01))
    assert format_kernel(Conjunctions(3, min_support=5)) == "conjunctions(3, min_support=5)"
    kernel = 0.5 * Conjunctions(3, 2, 0) + Linear()
    assert Kernel.from_spec(kernel.spec()).spec() == kernel.spec()


@pytest.mark.parametrize(
    ("kernel", "X", "message"),
    [
        (Conjunctions(0), BINARY, "degree is 0, expected a whole number of at least 1"),
        (Conjunctions(101), BINARY, "degree is 101, expected at most 100"),
        (Conjunctions(2, 0), BINARY, "min_support is 0, expected a number of examples, at least 1, or a share"),
        (Conjunctions(2, -3), BINARY, "min_support is -3, expected"),
        (Conjunctions(2, 0.0), BINARY, r"min_support is 0\.0, expected"),
        (Conjunctions(2, 1.0), BINARY, r"min_support is 1\.0, expected"),
        (Conjunctions(2, 1.5), BINARY, r"min_support is 1\.5, expected"),
        (Conjunctions(2, True), BINARY, "min_support is True, expected"),
        (Conjunctions(2, "2"), BINARY, "min_support is '2', expected"),
        (Conjunctions(2, float("nan")), BINARY, "min_support is nan, expected"),
        (Conjunctions(2, 61), BINARY, "min_support is 61, but there are 60 examples: use a smaller one"),
        (Conjunctions(2, coef0=-1), BINARY, "coef0 is -1, expected a number of at least 0"),
        (
            Conjunctions(2),
            [[1.0, 0.0], [0.0, 2.5]],
            r"row 1, column 1 is 2\.5, expected 0 or 1.*: binarise .* or use Polynomial",
        ),
        (Conjunctions(2), [{"a": 1.0}, {"a": -1.0}], r"row 1, column 'a' is -1, expected 0 or 1"),
        (Conjunctions(2), treille.Strings(["ab", "b"]), "expected rows of numbers"),
    ],
    ids=str,
)
def test_invalid_parameters_and_rows_that_are_not_binary_are_refused(kernel, X, message):
    with pytest.raises(InputError, match=message):
        kernel(X)
    with pytest.raises(InputError, match=message):
        SVC(kernel).fit(X if isinstance(X, treille.Strings) else list(X), np.arange(len(X)) % 2)


def test_new_rows_of_other_numbers_are_refused():
    model = SVC(Conjunctions(2, 2)).fit(BINARY, LABELS)
    with pytest.raises(InputError, match="row 0, column 0 is 3, expected 0 or 1"):
        model.predict(3 * BINARY[BINARY[:, 0] > 0])


def test_taggers_ask_for_coefficients_and_support():
    for kernel, c, support in (
        (Linear(), [1.0], 1),
        (Polynomial(2), [3.0, 2.0], 1),
        (Conjunctions(3, 0.01), [7.0, 12.0, 6.0], 3),
        (Conjunctions(1, 4), [1.0], 4),
    ):
        found = conjunctions_of(kernel, 250)
        assert (found[0].tolist(), found[1]) == (c, support)
    with pytest.raises(InputError, match="expected Linear, Polynomial or Conjunctions"):
        conjunctions_of(treille.kernels.NGram(2), 1)


def test_occurrences_are_counted_by_binomials():
    lengths = np.array([0, 3, 7, 1])
    for degree in (1, 2, 5, 9):
        expected = sum(comb(n, k) for n in lengths.tolist() for k in range(1, degree + 1))
        assert conjunction_features.occurrences(lengths, degree) == expected


@pytest.mark.parametrize(
    "kernel", [Conjunctions(1), Conjunctions(2), Conjunctions(3, coef0=0.0), Conjunctions(3, min_support=4)]
)
@pytest.mark.parametrize("n_functions", [1, 3])
def test_products_by_tables_are_those_of_the_rows(kernel, n_functions):
    features, rows = kernel.fit_features(kernel.batch(BINARY))
    weights = RANDOM.normal(size=(features.n_features, n_functions)) * (RANDOM.random((features.n_features, 1)) < 0.5)
    products, new = features.row_products(weights), kernel.batch(SPARSE[:, : BINARY.shape[1]])
    expected = features.transform(new).matvec(weights)
    assert np.array_equal(products(kernel.batch(BINARY[:1])), rows.matvec(weights)[:1])
    assert products.tables is None  # not worth it for one row
    for n_jobs in (1, 2):
        assert np.allclose(products(new, n_jobs), expected, rtol=1e-12, atol=1e-12)
    assert products.tables is not None


def test_a_model_that_predicted_by_tables_can_be_copied(tmp_path):
    model = SVC(Polynomial(2)).fit(BINARY, LABELS)
    by_rows = model.decision_function(BINARY)
    for _ in range(20):
        model.predict(BINARY)
    assert model.functions_._products.tables is not None
    assert np.allclose(model.decision_function(BINARY), by_rows, rtol=1e-12)
    assert np.allclose(pickle.loads(pickle.dumps(model)).decision_function(BINARY), by_rows, rtol=1e-12)
