"""Machines on sums of kernels: the same as on the stacked features."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import treille
from treille import SVC, SVR, Features, Ridge, Vectors
from treille.kernels import AllSubstrings, Linear, NGram, Subsequence
from treille.spaces import GramSpace, ProductSpace

RANDOM = np.random.default_rng(4)
CODES = np.arange(90) % 3
TEXTS = ["".join(RANDOM.choice(list("abcdef"[k : k + 4]), RANDOM.integers(0, 12))) for k in CODES]
NEW = ["abab", "", "never: xyz", "fedcba"]
KERNELS = [
    NGram(1) + NGram(2),
    0.5 * NGram(3, min_n=1) + NGram(2).normalized(),
    (1 + NGram(4)).normalized(),
    2 * (NGram(2).normalized() + (NGram(1) + 0.1 * NGram(5))),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_a_sum_equals_the_stacked_matrix(kernel, loss, tol):
    features = Features(kernel)
    stacked = Vectors(features.fit_transform(TEXTS))
    options = {"C": 0.5, "loss": loss, "tol": tol, "max_epochs": 100_000}
    model, plain = SVC(kernel, **options).fit(TEXTS, CODES), SVC(Linear(), **options).fit(stacked, CODES)
    assert model.report_.status == plain.report_.status == "converged"
    assert model.report_.primal == pytest.approx(plain.report_.primal, rel=2 * tol)
    assert model.report_.dual <= plain.report_.primal
    matrix = features.transform(NEW).toarray()
    np.testing.assert_allclose(model.decision_function(NEW), matrix @ model.coef_.T + model.intercept_, atol=1e-9)
    if tol == 1e-6:
        np.testing.assert_allclose(model.decision_function(NEW), plain.decision_function(matrix), atol=2e-2)


@pytest.mark.parametrize("kernel", [*KERNELS, KERNELS[1].normalized().normalized()], ids=repr)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_with_nested_kernels_are_read_back(kernel, n_classes, tmp_path):
    some = [i for i in range(90) if CODES[i] < n_classes]
    model = SVC(kernel).fit([TEXTS[i] for i in some], CODES[some])
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert np.array_equal(again.decision_function(NEW), model.decision_function(NEW))
    assert repr(again.kernel) == repr(kernel)
    assert again.features_.n_features <= model.features_.n_features


def test_the_number_of_threads_changes_nothing():
    one, many = (SVC(KERNELS[1], n_jobs=n).fit(TEXTS, CODES) for n in (1, 3))
    assert np.array_equal(one.coef_, many.coef_)


def test_one_part_alone_or_with_nothing_beside_it_is_the_same():
    alone, scaled = SVC(NGram(2), tol=1e-6).fit(TEXTS, CODES), SVC(1 * NGram(2), tol=1e-6).fit(TEXTS, CODES)
    assert np.array_equal(alone.coef_, scaled.coef_)


def test_top_features_say_which_part_they_are_of():
    model = SVC(NGram(1) + NGram(2)).fit(TEXTS, CODES)
    names = {name for top in model.top_features(20).values() for name, _ in top}
    assert all(name.startswith(("NGram(n=1): ", "NGram(n=2): ")) for name in names)
    assert len({name[:10] for name in names}) == 2


def test_a_grid_search_goes_into_sums():
    grid = {"kernel__left__kernel__n": [1, 2], "kernel__left__scale": [0.1, 1.0], "kernel__right__n": [3]}
    search = GridSearchCV(SVC(0.5 * NGram(3) + NGram(2)), grid, cv=2, error_score="raise").fit(TEXTS, CODES)
    assert repr(search.best_estimator_.kernel).endswith("+ NGram(n=3)")


def test_plans_and_sizes_describe_the_whole_sum():
    text = str(SVC(NGram(1) + NGram(2)).fit(TEXTS, CODES).plan_)
    assert "kernel: NGram(n=1) + NGram(n=2), as given" in text
    rows = Features(NGram(1) + NGram(2)).fit_rows(TEXTS)
    assert f"{rows.n_features:,} features, {rows.n_entries:,} entries" in text


def test_regression_reads_sums_too():
    y = np.array([len(text) for text in TEXTS], dtype=float)
    for kernel in (NGram(1) + 0.5 * NGram(2), (NGram(1) + NGram(2)).centered()):
        phi = Features(kernel).fit_transform(TEXTS).toarray()
        for machine in (SVR(kernel, tol=1e-6, max_epochs=100_000), Ridge(kernel, alpha=0.1)):
            plain = type(machine)(**{**machine.get_params(deep=False), "kernel": Linear()}).fit(phi, y)
            found = machine.fit(TEXTS, y).predict(TEXTS)
            np.testing.assert_allclose(found, plain.predict(phi), atol=2e-2)


@pytest.mark.parametrize(
    "kernel",
    [
        NGram(3, min_n=1).normalized() * NGram(4, min_n=1).normalized(),
        (1 + NGram(4, min_n=1).normalized()) ** 3,
        NGram(1).normalized() + Subsequence(2, 0.5).normalized(),
    ],
    ids=repr,
)
def test_kernels_without_features_go_by_their_values(kernel, tmp_path):
    model = SVC(kernel, tol=1e-6).fit(TEXTS, CODES)
    assert model.plan_.space.name == "gram"
    K = kernel(TEXTS)
    plain = SVC("precomputed", tol=1e-6).fit(K, CODES)
    assert model.report_.primal == pytest.approx(plain.report_.primal, rel=1e-5)
    np.testing.assert_allclose(model.decision_function(NEW), plain.decision_function(kernel(NEW, TEXTS)), atol=1e-2)
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert np.array_equal(again.decision_function(NEW), model.decision_function(NEW))


@pytest.mark.parametrize("kernel", [*KERNELS, KERNELS[1].centered(), (1 + NGram(1)) ** 2], ids=repr)
def test_rows_of_the_matrix_come_from_the_features_of_every_part(kernel):
    batch = kernel.batch(TEXTS)
    space = GramSpace(kernel, batch)
    K = kernel(TEXTS)
    np.testing.assert_allclose([space.row(i) for i in range(len(TEXTS))], K, atol=1e-9)
    np.testing.assert_allclose(space.diag(), K.diagonal(), atol=1e-9)


def test_centring_has_no_effect_with_a_free_intercept():
    kernel = NGram(2).normalized() + NGram(1).normalized()
    plain, centred = (SVC(k, fit_intercept="free", tol=1e-7).fit(TEXTS, CODES) for k in (kernel, kernel.centered()))
    np.testing.assert_allclose(centred.decision_function(NEW), plain.decision_function(NEW), atol=1e-3)


def test_sums_and_multiples_multiply_fast_where_their_terms_do():
    kernel = 0.5 * AllSubstrings(0.5) + (NGram(3, min_n=1) + 2 * AllSubstrings(0.9)).normalized()
    assert kernel.multiplies(kernel.batch(TEXTS))
    space = ProductSpace.build(kernel, kernel.batch(TEXTS))
    beta = np.linspace(-1, 1, 2 * len(TEXTS)).reshape(-1, 2)
    np.testing.assert_allclose(space.product(beta), kernel(TEXTS) @ beta, atol=1e-8)
    assert not (kernel * NGram(1)).multiplies(kernel.batch(TEXTS))
    y = np.array([len(text) for text in TEXTS], dtype=float)
    model = Ridge(kernel, alpha=0.1).fit(TEXTS, y)
    assert model.plan_.space.name in ("product", "rows")
