"""The Nystrom space: exact if all examples are landmarks, with the right error otherwise."""

import numpy as np
import pytest
from sklearn.base import clone

import treille
from treille import SVC, SVR
from treille.kernels import AllSubstrings, NGram
from treille.spaces import Nystrom

RANDOM = np.random.default_rng(1)
TEXTS = ["".join(RANDOM.choice(list("abcd"), RANDOM.integers(1, 15))) for _ in range(80)]
Y = np.array([t.count("a") - t.count("b") for t in TEXTS], dtype=float)
LABELS = np.where(Y > 0, "more", "less")
WEIGHTED = (NGram(2, min_n=1) + NGram(3)).weighted("idf").balanced()
KERNELS = pytest.mark.parametrize(
    "kernel", [NGram(3), NGram(2).normalized(), AllSubstrings(0.5), WEIGHTED, NGram(2).centered()], ids=repr
)


def space_of(kernel, m, seed=0, texts=TEXTS):
    return Nystrom(m, seed).build(kernel, kernel.batch(texts))


@KERNELS
@pytest.mark.parametrize("m", [1, 10, 40, 80, 1000])
def test_the_matrix_is_the_projection_onto_the_landmarks(kernel, m):
    space, K = space_of(kernel, m), kernel(TEXTS)
    chosen = np.sort(np.random.default_rng(0).choice(80, min(m, 80), replace=False))
    C = K[:, chosen]
    expected = C @ np.linalg.pinv(K[np.ix_(chosen, chosen)], rcond=1e-12) @ C.T
    found = space.rows.values @ space.rows.values.T
    np.testing.assert_allclose(found, expected, atol=1e-6 * K.max())
    assert list(space.landmarks) == [TEXTS[i] for i in chosen]
    assert space.error == pytest.approx((np.trace(K) - np.trace(expected)) / np.trace(K), abs=1e-8)
    np.testing.assert_allclose(found[np.ix_(chosen, chosen)], K[np.ix_(chosen, chosen)], atol=1e-6 * K.max())


@KERNELS
def test_more_landmarks_lose_less_and_all_lose_nothing(kernel):
    drawn = [space_of(kernel, m).error for m in (1, 5, 20, 80)]
    assert all(0 <= error <= 1 for error in drawn)
    assert drawn[0] > drawn[2] > drawn[3] - 1e-12
    assert drawn[3] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (SVC(NGram(2).normalized(), tol=1e-7), LABELS),
        (SVC(NGram(2).normalized(), tol=1e-7, loss="squared_hinge"), np.arange(80) % 3),
        (SVR(NGram(2).normalized(), tol=1e-7), Y),
        (SVC(WEIGHTED, tol=1e-7), np.arange(80) % 3),
        (SVC(NGram(2).weighted("nb").normalized(), tol=1e-7), LABELS),
        (SVR(NGram(2).normalized().centered(), tol=1e-7), Y),
    ],
    ids=repr,
)
def test_with_all_examples_as_landmarks_the_answer_is_the_exact_one(model, y):
    exact, full = clone(model).fit(TEXTS, y), clone(model).set_params(space=Nystrom(80)).fit(TEXTS, y)
    assert full.report_.primal == pytest.approx(exact.report_.primal, rel=1e-6)
    decide = "predict" if isinstance(model, SVR) else "decision_function"
    new = ["abcd", "", "aaab", "dcba"]
    np.testing.assert_allclose(getattr(full, decide)(new), getattr(exact, decide)(new), atol=2e-3)


@pytest.mark.parametrize("model", [SVC(space=Nystrom(20)), SVR(space=Nystrom(20))], ids=repr)
@KERNELS
def test_models_tell_what_is_lost_and_are_saved(model, kernel, tmp_path):
    y = LABELS if isinstance(model, SVC) else Y
    model = clone(model).set_params(kernel=kernel).fit(TEXTS, y)
    error = space_of(kernel, 20).error
    assert model.report_.approximation_error == error > 0
    assert f"approximation_error={error:.2g}" in repr(model.report_)
    assert f"{error:.2g} of the kernel matrix's trace is lost" in str(model.plan_)
    assert model.plan_.space.name == "nystrom"
    if not kernel.needs_features:
        assert len(model.functions_.support) <= 20
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert np.array_equal(again.predict(TEXTS), model.predict(TEXTS))
    assert again.report_ == model.report_.timeless()
    assert again.space.n_landmarks == 20


def test_the_seed_draws_the_landmarks():
    first, again, other = (space_of(NGram(2), 10, seed) for seed in (0, 0, 1))
    assert list(first.landmarks) == list(again.landmarks) != list(other.landmarks)


def test_threads_do_not_matter():
    one, two = (SVC(NGram(2), space=Nystrom(20), n_jobs=n).fit(TEXTS, LABELS) for n in (1, 2))
    assert np.array_equal(one.decision_function(TEXTS), two.decision_function(TEXTS))


def test_a_precomputed_matrix_will_do():
    K = AllSubstrings(0.5)(TEXTS)
    given = SVC("precomputed", space=Nystrom(20)).fit(K, LABELS)
    computed = SVC(AllSubstrings(0.5), space=Nystrom(20)).fit(TEXTS, LABELS)
    np.testing.assert_allclose(given.decision_function(K), computed.decision_function(TEXTS), atol=1e-8)


def test_examples_that_are_nothing_are_approximated_by_nothing():
    space = space_of(NGram(5), 2, texts=["a", "b", ""])
    assert (space.rows.n_features, space.error) == (0, 0.0)
    assert SVC(NGram(5), space="nystrom").fit(["a", "b", "c", "d"], [0, 0, 0, 1]).predict(["a"]).tolist() == [0]
