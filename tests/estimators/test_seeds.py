"""`random_state` is what scikit-learn and numpy take: a number, None, a RandomState or a Generator, in every estimator."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import treille
from treille import SVC, SVCCV, SVR, InputError, LearnedSVC, LogisticRegression, Perceptron, Tagger
from treille.kernels import NGram
from treille.spaces import Nystrom

TEXTS = ["abab", "bbaa", "abcabc", "ccbb", "bcbc", "cacaca"]
Y = [0, 1, 0, 1, 0, 1]
SENTENCES, TAGS = [["to", "sing"], ["to", "be"]], [["TO", "VB"], ["TO", "VB"]]
MODELS = [
    SVC(NGram(2)),
    SVCCV(NGram(2), Cs=[1.0], cv=2),
    SVR(NGram(2)),
    LogisticRegression(NGram(2)),
    LearnedSVC(NGram(2)),
    Perceptron(NGram(2)),
    Tagger("linear()", ["word[0]"], min_count=1),
]


def fitted(model, random_state):
    model = clone(model).set_params(random_state=random_state)
    return model.fit(SENTENCES, TAGS) if isinstance(model, Tagger) else model.fit(TEXTS, Y)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_the_same_generator_gives_the_same_model_and_draws_another_seed_each_time(model, make):
    one, two, generator = fitted(model, make(3)), fitted(model, make(3)), make(3)
    assert 0 <= one.report_.seed == two.report_.seed < 2**32
    assert fitted(model, generator).report_.seed == one.report_.seed
    if not isinstance(model, SVCCV):  # which clones its model, and the generator with it, as GridSearchCV does
        assert fitted(model, generator).report_.seed != one.report_.seed


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_none_draws_a_seed_that_can_be_given_again(model):
    seeds = {fitted(model, None).report_.seed for _ in range(4)}
    assert len(seeds) > 1
    seed = seeds.pop()
    assert fitted(model, seed).report_.seed == seed


@pytest.mark.parametrize("bad", [-1, 2**32, 0.5, "x", True, np.random.PCG64(0)], ids=lambda bad: type(bad).__name__)
@pytest.mark.parametrize("model", [SVC(NGram(2)), Tagger("linear()", ["word[0]"])], ids=["SVC", "Tagger"])
def test_what_is_no_seed_is_refused(model, bad):
    expected = (
        "expected None, a whole number from 0 to below 2\\^32, a numpy.random.RandomState or a numpy.random.Generator"
    )
    with pytest.raises(InputError, match=f"random_state is .*, {expected}"):
        fitted(model, bad)


@pytest.mark.parametrize(
    "seed", [None, np.random.RandomState(0), np.random.default_rng(0)], ids=lambda seed: type(seed).__name__
)
def test_landmarks_are_drawn_from_generators_too(seed):
    model = SVC(NGram(2), space=Nystrom(3, seed=seed)).fit(TEXTS, Y)
    assert model.predict(TEXTS).shape == (6,)


@pytest.mark.parametrize(
    "random_state", [None, np.random.RandomState(0), np.random.default_rng(0)], ids=lambda seed: type(seed).__name__
)
def test_a_model_with_a_generator_is_saved_with_the_seed_that_was_drawn(random_state, tmp_path):
    model = SVC(NGram(2), random_state=random_state, space=Nystrom(3, seed=random_state)).fit(TEXTS, Y)
    model.save(tmp_path / "m")
    again = treille.load(tmp_path / "m")
    assert again.report_.seed == model.report_.seed
    assert (again.random_state, again.space.seed) == (None, None)


def test_scikit_learn_clones_and_validates_models_with_generators():
    model = SVC(NGram(2), random_state=np.random.default_rng(0))
    assert len(cross_val_score(model, TEXTS, Y, cv=2, error_score="raise")) == 2
