"""Centred kernels: the mean of the training examples lies at 0, also for new ones, and rows stay sparse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treille
from treille import Features, InputError, Strings
from treille.features import CenteredRows
from treille.kernels import Kernel, NGram, Subsequence

KERNELS = [
    NGram(2).centered(),
    NGram(3, min_n=1).normalized().centered(),
    (NGram(1) + 0.5 * NGram(2)).centered(),
    (2 * (1 + NGram(2)).centered()).normalized(),
    NGram(1).centered() + NGram(2),
]
TEXTS = st.lists(st.text("abc", max_size=8), min_size=2, max_size=6)
RANDOM = np.random.default_rng(5)
CODES = np.arange(60) % 3
MANY = ["".join(RANDOM.choice(list("abcd"[k:] + "xy"), 10)) for k in CODES]


def dense(kernel, X, Y):
    """Features of X and Y, fitted on X, centred by hand."""
    features = Features(kernel).fit(X)
    return features.transform(X).toarray(), features.transform(Y).toarray()


@settings(deadline=None, max_examples=40)
@given(TEXTS, TEXTS, st.sampled_from([NGram(2), NGram(2, min_n=1).normalized(), 1 + NGram(1)]))
def test_new_examples_are_centred_on_the_training_mean(X, Y, kernel):
    phi, psi = dense(kernel, X, Y)
    mean = phi.mean(axis=0)
    features = Features(kernel.centered())
    rows = features.fit_rows(X)
    new = features.feature_map_.transform(kernel.batch(Y))
    np.testing.assert_allclose(rows.to_csr().toarray(), phi - mean, atol=1e-12)
    np.testing.assert_allclose(new.to_csr().toarray(), psi - mean, atol=1e-12)
    np.testing.assert_allclose(rows.gram(None, 1), (phi - mean) @ (phi - mean).T, atol=1e-10)
    np.testing.assert_allclose(rows.gram(new, 1), (phi - mean) @ (psi - mean).T, atol=1e-10)
    weights = np.linspace(-1, 1, 2 * phi.shape[1]).reshape(-1, 2)
    np.testing.assert_allclose(new.matvec(weights, 1), (psi - mean) @ weights, atol=1e-10)
    beta = np.linspace(-1, 1, 2 * len(Y)).reshape(-1, 2)
    np.testing.assert_allclose(new.rmatvec(beta, 1), (psi - mean).T @ beta, atol=1e-10)
    unseen = kernel.diag(Y) - (psi**2).sum(axis=1)  # what lies outside the features still counts in the norm
    np.testing.assert_allclose(new.diag(), ((psi - mean) ** 2).sum(axis=1) + unseen, atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_features_give_the_matrix_and_are_read_back(kernel):
    features, rows = kernel.fit_features(kernel.batch(MANY))
    np.testing.assert_allclose(rows.gram(None, 1), kernel(MANY), atol=1e-10)
    np.testing.assert_allclose(rows.diag(), kernel.diag(MANY), atol=1e-10)
    again = Kernel.from_spec(kernel.spec()).load_features(*features.state())
    new = kernel.batch(["abx", "", "zzz"])
    weights = np.arange(features.n_features, dtype=float)[:, None]
    expected = features.transform(new).matvec(weights, 1)
    assert np.array_equal(again.transform(new).matvec(weights, 1), expected)
    ids = np.arange(features.n_features)[1::3]
    some = features.restrict(ids)
    once_more = kernel.load_features(*some.state())
    for part in (some, once_more):
        moved = part.transform(new)
        np.testing.assert_allclose(moved.to_csr().toarray(), features.transform(new).to_csr().toarray()[:, ids])
        np.testing.assert_allclose(moved.diag(), features.transform(new).diag())
        assert [part.name(i) for i in range(len(ids))] == [features.name(i) for i in ids]


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_model_is_that_of_the_centred_matrix(kernel, loss, tmp_path):
    rows = treille.Features(kernel).fit_rows(MANY)
    model = treille.SVC(kernel, C=0.3, loss=loss, tol=1e-6, max_epochs=100_000).fit(MANY, CODES)
    phi = rows.to_csr()
    f = phi @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(model.decision_function(MANY), f, atol=1e-8)
    signs = np.where(CODES[:, None] == np.arange(3), 1.0, -1.0)
    slack = np.maximum(0, 1 - signs * f)
    primal = 0.5 * (model.coef_**2).sum() + 0.5 * (model.intercept_**2).sum()
    primal += 0.3 * (slack**2 if loss == "squared_hinge" else slack).sum()
    assert primal == pytest.approx(model.report_.primal, rel=1e-9)
    assert model.report_.relative_gap <= 1e-6
    model.save(tmp_path / "m.treille")
    new = ["abx", "", "zzz", "dxy"]
    again = treille.load(tmp_path / "m.treille")
    assert np.array_equal(again.decision_function(new), model.decision_function(new))


def test_rows_stay_sparse():
    rows = Features(NGram(2).centered()).fit_rows(MANY)
    assert isinstance(rows, CenteredRows)
    assert rows.n_entries == Features(NGram(2)).fit_rows(MANY).n_entries


def test_centred_rows_are_not_written_out_where_that_is_too_much(monkeypatch):
    monkeypatch.setattr("treille.features.concatenated_rows.DENSE", 100)
    with pytest.raises(InputError, match=r"centred rows have no zeros: 60 x \d+ values would take .* kB"):
        Features(NGram(2).centered()).fit_transform(MANY)


def test_values_of_two_sets_are_refused():
    for call in (
        lambda k: k(["a"], ["b"]),
        lambda k: (k * NGram(1))(["a"], ["b"]),
        lambda k: k.expansion(Strings(["b"]), np.ones((1, 1))).values(Strings(["a"])),
    ):
        with pytest.raises(InputError, match="of two sets is not defined, since it centres on one of them"):
            call(NGram(1).centered())


def test_without_features_estimators_refuse_it_before_training():
    with pytest.raises(InputError, match=r"Subsequence\(n=2\) has no explicit features to take means of: leave"):
        treille.SVC(Subsequence(2).centered()).fit(["ab", "ba"], [0, 1])


def test_features_are_centred_once():
    kernel = (1 + NGram(1).centered()).centered()
    assert kernel(["a", "b"]).shape == (2, 2)
    with pytest.raises(InputError, match="is centred twice: centre the outermost kernel only"):
        Features(kernel).fit(["a", "b"])


@pytest.mark.parametrize(
    "damage",
    [{"mean": np.zeros(3)}, {"kept": np.array([1, 0])}, {"kept": np.array([0, 9])}, {"kept": np.zeros((1, 1))}],
)
def test_means_that_do_not_fit_are_refused(damage):
    features, _ = NGram(1).centered().fit_features(Strings(["ab"]))
    spec, arrays = features.state()
    with pytest.raises(
        InputError, match=r"the means in the file do not fit its features|'kept' has 2 dimensions, expected 1"
    ):
        NGram(1).centered().load_features(spec, arrays | damage)
