"""Texts to a trained SVM, end to end: on data that every machine has, and on Reuters stories if they are present."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import diags
from scipy.sparse.linalg import norm
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

import treille
from treille import SVC, Features, Strings
from treille.datasets import functions
from treille.kernels import NGram


@pytest.fixture(scope="module")
def code():
    """Functions of the standard library, and the package each is from."""
    texts, labels = functions(["email", "logging", "unittest"])
    return texts, np.array(labels)


@pytest.fixture(scope="module")
def model(code):
    texts, labels = code
    return SVC(NGram(5).normalized(), n_jobs=2).fit(texts[::2], labels[::2])


def test_packages_are_recognised_by_their_n_grams(code, model):
    texts, labels = code
    assert model.score(texts[1::2], labels[1::2]) > 0.8
    assert model.report_.status == "converged"
    assert {"asser", "ssert"} & {name for name, _ in model.top_features(30)["unittest"]}


def test_another_process_loads_the_model_and_decides_the_same(code, model, tmp_path):
    texts, _ = code
    model.save(tmp_path / "functions.treille")
    (tmp_path / "texts.json").write_text(json.dumps(texts[1:20:2]))
    script = (
        "import json, treille\n"
        "model = treille.load('functions.treille')\n"
        "print(json.dumps(model.decision_function(json.load(open('texts.json'))).tolist()))\n"
    )
    answer = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(answer.stdout) == model.decision_function(texts[1:20:2]).tolist()


def test_the_features_are_those_of_scikit_learns_vectorizer(code):
    texts, _ = code
    ours = Features(NGram(3)).fit(texts)
    theirs = CountVectorizer(analyzer="char", ngram_range=(3, 3), lowercase=False)
    plain = [" ".join(text.split()) for text in texts]  # it makes runs of white space one blank, silently
    matrix, found = theirs.fit_transform(plain), Features(NGram(3)).fit(plain)
    columns = [theirs.vocabulary_[name] for name in found.get_feature_names_out()]
    assert (found.transform(plain) != matrix[:, columns]).nnz == 0
    assert ours.transform(texts).sum() > found.transform(plain).sum()


def test_a_batch_made_once_serves_many_models(code):
    texts, labels = code
    batch = Strings(texts, n_jobs=2)
    for n in (2, 4):
        one = SVC(NGram(n).normalized(), tol=0.01).fit(batch[::2], labels[::2])
        other = SVC(NGram(n).normalized(), tol=0.01).fit(texts[::2], labels[::2])
        assert np.array_equal(one.decision_function(batch[1::2]), other.decision_function(texts[1::2]))


def test_threads_change_no_bit_of_a_model_of_stories(stories):
    texts, labels = stories
    one, two = (SVC(NGram(4).normalized(), n_jobs=jobs).fit(texts[:2000], labels[:2000]) for jobs in (1, 2))
    assert np.array_equal(one.coef_, two.coef_)
    assert np.array_equal(one.intercept_, two.intercept_)
    assert np.array_equal(one.decision_function(texts), two.decision_function(texts))


def test_predictions_for_new_stories_equal_those_of_scikit_learns_vectorizer_and_svm(stories):
    """The same steps in scikit-learn. The norm of a new story includes n-grams that were not seen in fit."""
    texts, labels = stories
    train, new, y = texts[:2000], texts[2000:], labels[:2000]
    model = SVC(NGram(4).normalized(), tol=1e-5, max_epochs=100_000).fit(train, y)
    options = {"analyzer": "char", "ngram_range": (4, 4), "lowercase": False, "dtype": float}
    known, every = CountVectorizer(**options).fit(train), CountVectorizer(**options).fit(new)
    theirs = LinearSVC(loss="hinge", dual=True, tol=1e-6, max_iter=100_000).fit(normalize(known.transform(train)), y)
    cosines = diags(1 / norm(every.transform(new), axis=1)) @ known.transform(new)
    np.testing.assert_allclose(model.decision_function(new), theirs.decision_function(cosines), atol=1e-3)


def test_features_of_stories_are_the_same_for_any_number_of_threads_and_scikit_learns(stories):
    texts = stories[0][:500]
    one, two = (Features(NGram(5).normalized(), n_jobs=jobs).fit(texts) for jobs in (1, 2))
    assert (one.transform(texts) != two.transform(texts)).nnz == 0
    theirs = CountVectorizer(analyzer="char", ngram_range=(5, 5), lowercase=False)
    matrix = normalize(theirs.fit_transform(texts).astype(float))
    columns = [theirs.vocabulary_[name] for name in one.get_feature_names_out()]
    assert abs(one.transform(texts) - matrix[:, columns]).max() < 1e-15


def test_the_public_names_are_the_contract():
    assert {"SVC", "Features", "Strings", "load", "InputError", "Report", "ConvergenceWarning"} <= set(treille.__all__)
