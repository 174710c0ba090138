"""Products and powers with explicit features: the same kernel, and the rule that prefers them."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import SVC, InputError, Strings, _core
from treille.kernels import Columns, Kernel, Linear, NGram, Power, Product, Subsequence, product_features
from treille.kernels.fitting import FitContext
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
    check_kernel((constant + NGram(n)) * NGram(m), texts, lambda x, y: (constant + a(x, y)) * b(x, y))


@settings(deadline=None, max_examples=6)
@given(STRINGS, st.integers(1, 2), st.integers(1, 4), st.sampled_from([0, 1, 0.5]))
def test_a_power_obeys_the_whole_battery(texts, n, degree, constant):
    a = ngram_kernel(n)
    check_kernel((constant + NGram(n)) ** degree, texts, lambda x, y: (constant + a(x, y)) ** degree)


def test_products_of_products_and_of_normalized_kernels():
    a, b, c = NGram(1), NGram(2).normalized(), 1 + NGram(1)
    texts = ["abba", "ab", "", "cabab"]
    check_kernel(a * b * c, texts)
    np.testing.assert_allclose((a * b * c)(texts), a(texts) * b(texts) * c(texts))


def test_features_are_all_products_once():
    batch = Strings(["abc", "ab"])
    features, rows = (NGram(1) ** 3).fit_features(batch)
    assert features.n_features == math.comb(3 + 3 - 1, 3)
    names = [features.name(i) for i in range(features.n_features)]
    matrix = rows.to_csr().toarray()
    assert matrix[1, names.index("a, a, b")] == pytest.approx(3**0.5)  # 3! / 2! ways
    assert matrix[0, names.index("a, b, c")] == pytest.approx(6**0.5)
    assert matrix[1, names.index("b, b, b")] == 1
    features, rows = (NGram(1) * NGram(2)).fit_features(batch)
    assert features.n_features == 3 * 2
    for id in (-1, 6):
        with pytest.raises(IndexError, match=f"feature {id} does not exist: there are 6"):
            features.name(id)


def test_numbers_multiply_too():
    X, kernel = RANDOM.normal(size=(12, 3)), (1 + Linear()) ** 2
    np.testing.assert_allclose(kernel(X), (1 + X @ X.T) ** 2)
    rows = treille.Features(kernel).fit_rows(X)
    assert rows.n_features == math.comb(4 + 1, 2)
    np.testing.assert_allclose(rows.gram(None, 1), (1 + X @ X.T) ** 2)


@pytest.mark.parametrize(
    ("kernel", "preferred"),
    [
        ((1 + NGram(1)) ** 2, True),  # 15 products an example
        (NGram(1) * NGram(2), True),  # at most 4 * 16
        (NGram(1) ** 8, True),  # 165
        (NGram(2) ** 4, False),  # 3876
        (NGram(3) * NGram(4), False),  # about 27 * 27
        (NGram(2) * (NGram(4) * NGram(5)), False),
        (NGram(1) * Subsequence(2), False),
        (NGram(2) + 0.5 * NGram(3).normalized(), True),
        (0.5 * NGram(1) ** 2 + (NGram(1) * (NGram(1) * NGram(2))).normalized(), True),
        (NGram(1) + 0.5 * (NGram(3) * NGram(4)).normalized(), False),
        (NGram(1).centered() * NGram(1), True),  # defined by features only
    ],
    ids=repr,
)
def test_features_are_preferred_where_they_are_few(kernel, preferred):
    batch = Strings(DNA)
    assert kernel.prefers_features(batch) == preferred
    assert kernel.prefers_features(batch) == preferred, "asked again"


def test_few_examples_prefer_the_matrix():
    assert not ((1 + NGram(1)) ** 2).prefers_features(Strings(DNA[:5])), "5 examples have 25 kernel values"


def test_each_column_is_asked_for_its_own_part():
    columns = Columns({"a": NGram(1) ** 2, "b": NGram(5)}, column_weights={"a": 2})
    assert columns.prefers_features(columns.batch({"a": DNA, "b": DNA}))
    assert not Columns({"a": NGram(2) ** 4}).prefers_features(Columns({"a": NGram(1)}).batch({"a": DNA}))


class CountingNGram(NGram):
    fits = 0

    def fit_features(self, batch, n_jobs=None):
        CountingNGram.fits += 1
        return super().fit_features(batch, n_jobs)


def test_factors_are_fitted_once_for_the_choice_and_for_the_features():
    kernel, batch = CountingNGram(1) ** 2, Strings(DNA)
    CountingNGram.fits = 0
    context = FitContext()
    assert kernel.prefers_features(batch, known=context.known)
    _, rows = context.fit(kernel, batch)
    assert CountingNGram.fits == 1
    np.testing.assert_allclose(rows.gram(None, 1), NGram(1)(DNA) ** 2)
    CountingNGram.fits = 0
    SVC(kernel, C=1e-4).fit(batch, np.arange(len(DNA)) % 2)
    assert CountingNGram.fits == 1


def test_features_that_are_known_are_those_of_the_same_batch_and_parameters_only():
    kernel, batch, context = CountingNGram(1) ** 2, Strings(DNA), FitContext()
    assert kernel.prefers_features(batch, known=context.known)
    np.testing.assert_allclose(context.fit(kernel, batch[:3])[1].gram(None, 1), NGram(1)(DNA[:3]) ** 2)
    np.testing.assert_allclose(context.fit(CountingNGram(2) ** 2, batch)[1].gram(None, 1), NGram(2)(DNA) ** 2)
    assert vars(kernel).keys() == {"kernel", "degree"}, "a kernel is its parameters"


@pytest.mark.parametrize(
    "kernel", [((1 + NGram(1)) ** 2).normalized(), 0.5 * (NGram(1) * NGram(2)).normalized() + NGram(3)], ids=repr
)
def test_estimators_use_features_and_models_are_read_back(kernel, tmp_path):
    model = treille.SVC(kernel).fit(DNA, CODES)
    assert model.plan_.space.name == "rows"
    assert repr(model.plan_.kernel) == repr(kernel)
    assert model.score(DNA, CODES) > 0.8
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    new = ["ACGT", "", "NNNA", DNA[0]]
    assert np.array_equal(again.decision_function(new), model.decision_function(new))


def test_a_product_with_a_centred_factor_predicts():
    kernel = NGram(1).centered() * NGram(1)
    model = treille.SVC(kernel).fit(DNA, CODES)
    np.testing.assert_allclose(
        model.decision_function(DNA[:9]),
        model.features_.transform(Strings(DNA[:9])).matvec(model.coef_.T)[:, 0] + model.intercept_,
    )


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (Power(NGram(1), 0), "the degree of a power is 0"),
        (Product(NGram(1), NGram(0)), "n is 0"),
        ((NGram(1) * Subsequence(2)) ** 2, "since NGram(n=1) * Subsequence(n=2) has none"),
        (NGram(1) * Subsequence(2), "since Subsequence(n=2) has none"),
    ],
    ids=repr,
)
def test_products_without_features_are_refused(kernel, message):
    with pytest.raises(InputError) as refused:
        treille.Features(kernel).fit(DNA)
    assert message in str(refused.value)


@pytest.mark.parametrize("kernel", [NGram(3) ** 12, NGram(2) ** 20 * NGram(3), (1 + NGram(1)) ** 900], ids=repr)
def test_too_many_products_are_refused_before_they_are_computed(kernel):
    size = r"has [\d,]+ products of features in these examples, which would take [\d.]+ GB, but [\d.]+ GB are free"
    with pytest.raises(InputError, match=size + ": use its matrix.* smaller degree.*Conjunctions with a larger min_"):
        treille.Features(kernel).fit(DNA)
    assert not kernel.prefers_features(Strings(DNA * 100))


def test_the_limit_is_the_free_memory(monkeypatch):
    kernel, batch = (
        (1 + NGram(1)) ** 2,
        Strings(DNA),
    )  # 2,960 products of 15 different ones: 24 kB, and a bound of 250 kB
    for free, enough in ((1_000_000, True), (50_000, True), (20_000, False)):
        monkeypatch.setattr(product_features, "available_memory", lambda free=free: free)
        assert kernel.prefers_features(batch) == enough
        if enough:
            assert kernel.fit_features(batch)[1].n_features == 15
        else:
            with pytest.raises(InputError, match=r"has 2,960 products .* would take \d+\.\d kB, but 20\.0 kB are free"):
                kernel.fit_features(batch)


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_estimates_of_different_products_are_close(degree):
    X = sp.random(400, 80, density=0.2, random_state=degree, format="csr")
    arrays = [(X.indptr.astype(np.int64), X.indices.astype(np.uint32), X.data)]
    features, rows = (Linear() ** degree).fit_features(treille.Vectors(X))
    for threads in (1, 2):
        products, values = _core.estimate_products(arrays, degree, threads)
        assert products == pytest.approx(features.n_features, rel=0.06)
        assert values == pytest.approx(len(rows.codebook), rel=0.06)


def test_a_degree_that_no_features_have_uses_the_matrix():
    kernel = NGram(1).normalized() ** 100_000
    assert not kernel.prefers_features(Strings(["a"] * 9))
    assert kernel(["a", "b"]).tolist() == [[1, 0], [0, 1]]
    with pytest.raises(InputError, match="has the degree 100000, and features up to 1000: use its matrix"):
        kernel.fit_features(Strings(["a"]))


def test_a_large_degree_has_features():
    rows = treille.Features(NGram(1).normalized() ** 1000).fit_rows(["a", "ab", "b"])
    assert rows.n_features == 1001
    np.testing.assert_allclose(
        rows.gram(None, 1), (NGram(1).normalized() ** 1000)(["a", "ab", "b"]), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("scale", [1e-60, 1.0, 1e60])
def test_normalised_factors_of_any_scale_have_features(scale):
    X, kernel = scale * RANDOM.normal(size=(12, 3)), Linear().normalized() ** 4
    _, rows = kernel.fit_features(treille.Vectors(X))
    np.testing.assert_allclose(rows.gram(None, 1), kernel(X), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(rows.diag(), 1)


def test_normalised_counts_take_four_bytes_per_entry():
    _, rows = (NGram(2).normalized() * NGram(1).normalized()).fit_features(Strings(DNA))
    assert rows.entries.itemsize == 4
    assert len(rows.codebook) < 100


@pytest.mark.parametrize("kernel", [NGram(3) * (1 + NGram(2)), (0.5 + NGram(2)) ** 3, NGram(4) ** 1], ids=repr)
def test_rows_do_not_depend_on_the_number_of_threads(kernel):
    batch, half = Strings(DNA * 3), Strings(DNA[:100])
    one, *others = (kernel.fit_features(batch, n_jobs) for n_jobs in (1, 2, 3))
    part = kernel.fit_features(half)[0]
    assert np.array_equal(one[0].tuples, np.unique(one[0].tuples, axis=0)), "in lexicographic order"
    for n_jobs, (features, rows) in enumerate(others, 2):
        assert np.array_equal(features.tuples, one[0].tuples)
        for mine, theirs in ((rows, one[1]), (features.transform(batch, n_jobs), one[1])):
            for name in ("indptr", "entries", "codebook"):
                assert np.array_equal(getattr(mine, name), getattr(theirs, name)), name
        new = part.transform(batch, n_jobs)
        np.testing.assert_allclose(new.diag(), rows.diag())
        assert np.array_equal(new.to_csr().toarray(), part.transform(batch).to_csr().toarray())


def test_fitted_features_are_pickled():
    features, rows = ((1 + NGram(2)) ** 2).fit_features(Strings(DNA[:20]))
    again = pickle.loads(pickle.dumps(features))
    assert [again.name(i) for i in range(again.n_features)] == [features.name(i) for i in range(features.n_features)]
    assert np.array_equal(again.transform(Strings(DNA[:20])).to_csr().toarray(), rows.to_csr().toarray())


@pytest.mark.parametrize("tuples", [[[0, 0, 0]], [[0, 9]], [[-1, 0]], [0, 0], [[0, 0], [0, 0]]], ids=str)
def test_products_that_do_not_fit_their_factors_are_refused(tuples):
    kernel = NGram(1) * NGram(2)
    spec, arrays = kernel.fit_features(Strings(["ab"]))[0].state()
    with pytest.raises(
        InputError, match=r"the products in the file do not fit their factors|'tuples' has 1 dimensions"
    ):
        Kernel.from_spec(kernel.spec()).load_features(spec, arrays | {"tuples": np.array(tuples)})
