"""Tagger against slow twins, and the law that only its parameters decide what it predicts."""

import io
import pickle
from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

import treille
from treille import InputError, Tagger
from treille.explain import Explanation
from treille.kernels import Linear, NGram, Polynomial
from treille.tagging import Sentences, chunk_scores, read_sentences

WORDS = ["the", "a", "big", "red", "old", "cat", "dog", "bird", "sees", "eats", "sleeps"]
WORDS += ["in", "on", "under", "house", "tree", "quickly", "and"]
POS = ["DT", "DT", "JJ", "JJ", "JJ", "NN", "NN", "NN", "VBZ", "VBZ", "VBZ", "IN", "IN", "IN", "NN", "NN", "RB", "CC"]


def corpus(seed, n=60):
    """Sentences of a toy grammar, with noun, verb and prepositional chunks."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        tokens, tags = [], []
        for _ in range(rng.integers(1, 4)):
            for kind in (["DT", "JJ", "NN"], ["VBZ"], ["IN"], ["RB"], ["DT", "NN"])[rng.integers(5)]:
                word = rng.choice([w for w, p in zip(WORDS, POS, strict=True) if p == kind])
                tokens.append((str(word), kind))
                inside = tags and kind in ("JJ", "NN") and tags[-1].endswith("NP")
                name = {"DT": "NP", "JJ": "NP", "NN": "NP", "VBZ": "VP", "IN": "PP"}.get(kind)
                tags.append("O" if name is None else f"{'I' if inside else 'B'}-{name}")
        X.append(tokens)
        y.append(tags)
    return X, y


X, Y = corpus(0)
NEW, NEW_Y = corpus(1, 20)


def fitted(**params):
    return Tagger(**{"min_count": 1, "tol": 1e-4} | params).fit(X, Y)


def scores_of(model, sentence, history):
    """The scores of the tags of each token for given tags before it, from the features' names and the weights' definition."""
    rows = model.features_.transform_tagged([sentence], [history])
    sums = model.weights_.scorer.scores(rows.indptr, rows.ids, model.item_of_, 1).reshape(len(sentence), -1)
    return sums * model.weights_.scale + model.intercept_


def log_softmax(scores):
    shifted = 2 * (scores - scores.max())
    return shifted - np.log(np.exp(shifted).sum())


def greedy_twin(model, sentence):
    backward, tags = model.direction == "backward", [model.tags_[0]] * len(sentence)
    order, last = range(len(sentence)), len(model.tags_)
    for t in reversed(order) if backward else order:
        scores = scores_of(model, sentence, tags)[t].copy()
        at_end = t == (0 if backward else len(sentence) - 1)
        scores[~model.allowed_[last][:-1] | (at_end & ~model.allowed_[:-1, -1])] = -np.inf
        last = int(scores.argmax())
        tags[t] = model.tags_[last]
    return tags


def full_search_twin(model, sentence):
    """The legal sequence with the highest score, by enumeration."""
    best, found = -np.inf, None
    for codes in product(range(len(model.tags_)), repeat=len(sentence)):
        around = [len(model.tags_), *codes, len(model.tags_)]
        if not all(model.allowed_[a, b] for a, b in pairwise(around)):
            continue
        tags = [model.tags_[c] for c in codes]
        worth = sum(log_softmax(s)[c] for s, c in zip(scores_of(model, sentence, tags), codes, strict=True))
        if worth > best + 1e-6:
            best, found = worth, tags
    return found


@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Polynomial(3)])
def test_greedy_search_takes_the_best_legal_tag_at_each_token(direction, kernel):
    model = fitted(kernel=kernel, direction=direction, beam=1)
    assert model.predict(NEW) == [greedy_twin(model, sentence) for sentence in NEW]


def test_a_wide_beam_finds_the_best_sequence():
    model = fitted(kernel=Polynomial(2), beam=200, C=0.05)
    short = [sentence[:4] for sentence in NEW[:12]]
    assert model.predict(short) == [full_search_twin(model, sentence) for sentence in short]


def test_the_weights_are_those_of_the_polynomial_kernel():
    model = fitted(kernel=Polynomial(2), C=1.0, tol=1e-8)
    features = model.features_
    train, new = features.transform_tagged(X, Y).to_csr(), features.transform_tagged(NEW, NEW_Y).to_csr()
    K = (1 + (train @ train.T).toarray()) ** 2 - 1
    scale = 1 / K.diagonal().mean()
    svc = treille.SVC("precomputed", C=1.0, loss="squared_hinge", tol=1e-8).fit(scale * K, np.concatenate(Y))
    expected = svc.decision_function(scale * ((1 + (new @ train.T).toarray()) ** 2 - 1))
    rows = features.transform_tagged(NEW, NEW_Y)
    sums = model.weights_.scorer.scores(rows.indptr, rows.ids, model.item_of_, 1).reshape(expected.shape)
    assert svc.classes_.tolist() == model.tags_
    assert np.allclose(sums * model.weights_.scale + model.intercept_, expected, atol=1e-3)
    assert np.isclose(model.report_.primal, svc.report_.primal, rtol=1e-6)


@pytest.mark.parametrize("multiclass", ["rest", "pairs"])
@pytest.mark.parametrize("scheme", ["auto", "BIOES", "IOE2", None])
def test_chunks_are_learned_in_every_scheme(multiclass, scheme):
    model = fitted(multiclass=multiclass, scheme=scheme)
    assert model.score(X, Y) > 0.9
    predicted = model.predict(NEW)
    assert chunk_scores(NEW_Y, predicted).f1 > 0.9
    assert {tag for tags in predicted for tag in tags} <= {tag for tags in Y for tag in tags}
    if scheme is None:
        assert model.score(NEW, NEW_Y) == pytest.approx(np.mean(np.concatenate(predicted) == np.concatenate(NEW_Y)))
    else:
        assert model.score(NEW, NEW_Y) == chunk_scores(NEW_Y, predicted).f1


def test_predictions_are_legal_sequences():
    model = fitted(C=1e-4)
    for tags in model.predict(NEW):
        for before, after in zip(["O", *tags], tags, strict=False):
            assert after[0] != "I" or before[1:] == after[1:]


def test_plain_labels_may_follow_in_any_order():
    labels = [[pos for _, pos in sentence] for sentence in X]
    model = Tagger(min_count=1).fit([[word for word, _ in sentence] for sentence in X], labels)
    assert model.score([[word for word, _ in sentence] for sentence in X], labels) == 1.0
    assert model.allowed_.all()


def test_threads_change_nothing():
    one, two = fitted(n_jobs=1), fitted(n_jobs=2)
    assert one.predict(NEW) == two.predict(NEW)
    left, right = one.weights_.state()[1], two.weights_.state()[1]
    assert all(np.array_equal(left[name], right[name]) for name in left)


@pytest.mark.parametrize(
    "params", [{}, {"multiclass": "pairs"}, {"scheme": "BIOES", "direction": "backward"}, {"kernel": Linear()}]
)
def test_a_model_survives_its_file_and_a_pickle(params, tmp_path):
    model = fitted(**params)
    model.save(tmp_path / "m.treille")
    for again in (treille.load(tmp_path / "m.treille"), pickle.loads(pickle.dumps(model))):
        assert again.predict(NEW) == model.predict(NEW)
        assert again.tags_ == model.tags_
        assert str(again.plan_.kernel) == str(model.plan_.kernel)


def test_the_file_names_the_kind_of_data_and_models_say_how_many_columns_they_read(tmp_path):
    from treille.io.model import read_spec

    model = fitted()
    model.save(tmp_path / "m.treille")
    assert read_spec(tmp_path / "m.treille")["reads"] == {"kinds": ["Sentences"], "units": []}
    assert model.reading_ == treille.load(tmp_path / "m.treille").reading_ == {"columns": 2}
    of_features = Tagger(min_count=1).fit([[{"word": "to"}, {"word": "be"}]], [["A", "B"]])
    assert of_features.reading_ == {"columns": 0}
    sentences = Sentences.read_json([[["word=be"], ["word=to"]]], of_features.reading_)
    assert of_features.predict(sentences) == of_features.predict([[{"word": "be"}, {"word": "to"}]])


def test_a_damaged_file_is_refused(tmp_path):
    from treille.io.model import read_model, write_model

    fitted().save(tmp_path / "m.treille")
    spec, arrays = read_model(tmp_path / "m.treille")
    for change in (
        {"intercept": np.zeros(2)},
        {"pairs": np.zeros(2, np.int32)},
        {"weights.levels": arrays["weights.levels"][1:]},
    ):
        write_model(tmp_path / "bad.treille", spec, arrays | change)
        with pytest.raises(InputError, match="bad"):
            treille.load(tmp_path / "bad.treille")


def test_it_is_an_estimator_of_scikit_learn():
    model = Tagger(min_count=1, C=2.0)
    assert clone(model).get_params() == model.get_params()
    assert cross_val_score(model, X, Y, cv=3).min() > 0.8
    assert cross_val_score(model, Sentences(X), Y, cv=3).min() > 0.8
    search = GridSearchCV(model, {"C": [0.01, 1.0]}, cv=2).fit(X, Y)
    assert search.best_score_ > 0.8


def test_contributions_of_features_sum_to_the_score():
    model = fitted(kernel=Polynomial(2))
    found = model.explain(NEW[0])
    assert found.predicted == model.predict(NEW[:1])[0]
    for decision, scores in zip(found, scores_of(model, NEW[0], found.predicted), strict=True):
        assert isinstance(decision, Explanation)
        score, intercept = float(decision.scores[0]), float(decision.intercept[0])
        assert score == pytest.approx(scores[model.tags_.index(decision.tag)], abs=1e-5)
        assert sum(part.contribution for part in decision.parts()) == pytest.approx(score - intercept)
        assert sum(value for _, value in decision.conjunctions()) == pytest.approx(score - intercept)
        assert decision.conjunctions(3) == decision.conjunctions()[:3]
        with pytest.raises(InputError, match="there is no class 'XX'"):
            decision.contributions("XX")


def test_sentences_are_explained_together_as_alone():
    model = fitted()
    for sentence, found in zip(NEW, model.explain_all(NEW), strict=True):
        alone = model.explain(sentence)
        assert alone.as_dict() == found.as_dict()
        assert alone.predicted == model.predict([sentence])[0]


def test_explained_tags_are_in_the_scheme_of_the_training_tags():
    model = fitted(scheme="BIOES")
    found = model.explain(NEW[0])
    assert found.as_dict()["tags"] == found.predicted == model.predict(NEW[:1])[0]
    assert {decision.tag for decision in found} <= set(model.tags_)


def test_lists_are_features_for_a_model_of_features():
    X = [[["word=to"], ["word=be"]], [["word=to"], ["word=go"]]]
    model = Tagger(min_count=1).fit(Sentences.of_features(X), [["TO", "VB"]] * 2)
    assert model.predict(X) == [["TO", "VB"]] * 2


@pytest.mark.filterwarnings("ignore:Can't test estimator")
def test_its_tags_for_scikit_learn_are_true():
    tags = Tagger().__sklearn_tags__()
    assert not tags.input_tags.two_d_array
    assert tags.input_tags.string
    assert tags.target_tags.required
    failed = [r for r in check_estimator(Tagger(), on_fail=None, on_skip=None) if r["status"] == "failed"]
    assert failed == []


@pytest.mark.parametrize(
    "check",
    [
        "estimator_tags_renamed",
        "valid_tag_types",
        "estimator_repr",
        "no_attributes_set_in_init",
        "estimators_unfitted",
        "do_not_raise_errors_in_init_or_set_params",
        "mixin_order",
        "parameters_default_constructible",
        "get_params_invariance",
        "set_params",
    ],
)
def test_the_checks_of_scikit_learn_that_need_no_matrix_pass(check):
    getattr(estimator_checks, f"check_{check}")("Tagger", Tagger())


def test_the_laws_of_scikit_learn_that_need_data_hold_for_sentences():
    model = Tagger(min_count=1)
    before = model.get_params()
    assert model.fit(X, Y) is model
    learned, predicted = set(vars(model)), model.predict(NEW)
    assert model.get_params() == before
    assert all(name.endswith("_") for name in learned - set(before))
    assert model.predict(NEW[::-1])[::-1] == predicted
    assert [model.predict([sentence])[0] for sentence in NEW] == predicted
    assert set(vars(model)) == learned
    assert model.fit(X, Y).predict(NEW) == predicted
    with pytest.raises(NotFittedError):
        clone(model).predict(NEW)


def test_tokens_may_be_dicts_of_features():
    dicts = [[{"word": word, "pos": pos, "bias": True} for word, pos in sentence] for sentence in X]
    model = Tagger(min_count=1, templates=["items", "tag[-1]"]).fit(dicts, Y)
    assert model.score(dicts, Y) > 0.9


def test_words_that_were_never_seen_have_tags_too():
    assert [len(tags) for tags in fitted().predict([[("xyzzy", "ZZ")], [], [("the", "DT"), ("plugh", "NN")]])] == [
        1,
        0,
        2,
    ]


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C is 0"),
        ({"beam": 0}, "beam is 0"),
        ({"min_count": 0}, "min_count is 0"),
        ({"loss": "log"}, "loss is 'log'"),
        ({"multiclass": "ovo"}, "multiclass is 'ovo', expected 'rest' or 'pairs'"),
        ({"scheme": "BOI"}, "BOI"),
        ({"direction": "up"}, "direction is 'up'"),
        ({"kernel": NGram(2)}, "expected Linear, Polynomial or Conjunctions"),
        ({"templates": ["x7[0]"]}, "x7"),
        ({"min_count": 10**6}, "no feature occurs 1000000 times"),
    ],
)
def test_bad_parameters_are_refused(params, message):
    with pytest.raises(InputError, match=message):
        fitted(**params)


def test_bad_sentences_are_refused():
    with pytest.raises(InputError, match="sentence 0 has 2 tokens and 1 tag"):
        Tagger().fit([["a", "b"]], [["O"]])
    with pytest.raises(InputError, match="no tokens"):
        Tagger().fit([[]], [[]])
    with pytest.raises(InputError, match="sentence 0, token 1: the tag 'NN' is not a chunk tag"):
        Tagger(scheme="BIO").fit([["a", "b"]], [["O", "NN"]])
    given = read_sentences(io.BytesIO(b"The B-NP\ncat X\n")).separate()
    with pytest.raises(InputError, match="line 2: the tag 'X' is not a chunk tag"):
        Tagger(scheme="BIO").fit(*given)
    with pytest.raises(InputError, match="1 column, expected 2"):
        fitted().predict([["the"]])
