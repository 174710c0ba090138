"""SVC: optimum, attributes, report and warnings."""

import warnings

import numpy as np
import pandas as pd
import pytest

import treille
from treille import SVC, Strings
from treille.kernels import NGram
from treille.solvers import ConvergenceWarning, DualCD
from treille.testing import check_estimator
from twins import primal

RANDOM = np.random.default_rng(0)


def examples(n_classes=2, n=40):
    codes = np.arange(n) % n_classes
    texts = ["".join(RANDOM.choice(list("abcdefg "[2 * k :]), 12)) for k in codes]
    return texts, np.array(["red", "green", "blue"])[codes]


TWO, THREE = examples(2), examples(3)


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        SVC(NGram(2)),
        SVC(NGram(3, min_n=1, order_weights=[1, 0.5, 0.25]).normalized(), C=10),
        SVC(NGram(2), loss="squared_hinge", fit_intercept=False),
        SVC(NGram(2, unit="word"), class_weight="balanced", random_state=5),
        SVC(NGram(2, unit=str.split), solver=DualCD(shrinking=False)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("data", [TWO, THREE], ids=["two classes", "three classes"])
def test_the_battery_passes(model, data):
    check_estimator(model, *data)


@pytest.mark.parametrize(
    "X",
    [
        Strings(TWO[0]),
        [text.encode() for text in TWO[0]],
        [list(text) for text in TWO[0]],
        [np.frombuffer(text.encode(), np.uint8) for text in TWO[0]],
    ],
    ids=["batch", "bytes", "tokens", "integers"],
)
def test_the_battery_passes_for_every_kind_of_strings(X):
    check_estimator(SVC(), X, TWO[1])


def test_labels_of_the_battery_may_be_of_any_type():
    check_estimator(SVC(NGram(2)), TWO[0], TWO[1] == "red")
    check_estimator(SVC(NGram(2)), THREE[0], np.unique(THREE[1], return_inverse=True)[1])
    check_estimator(SVC(NGram(2)), THREE[0], THREE[1].astype(object))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_report_is_the_objective_of_the_model(loss, fit_intercept):
    texts, labels = TWO
    model = SVC(NGram(2), C=0.5, loss=loss, fit_intercept=fit_intercept, tol=1e-6, max_epochs=10**6).fit(texts, labels)
    y = np.where(labels == model.classes_[1], 1, -1)
    slack = np.maximum(0, 1 - y * model.decision_function(texts))
    losses = 0.5 * (slack if loss == "hinge" else slack**2).sum()
    value = 0.5 * (model.coef_**2).sum() + 0.5 * model.intercept_[0] ** 2 + losses
    assert model.report_.primal == pytest.approx(value, rel=1e-9)
    assert (model.intercept_ != 0).any() == fit_intercept


def test_the_primal_value_follows_from_the_kernel_matrix():
    """Alphas with the decisions of the model have its primal value, computed from the kernel matrix."""
    texts, labels = TWO
    model = SVC(NGram(2), fit_intercept=False, tol=1e-9, max_epochs=10**6).fit(texts, labels)
    K, y = NGram(2)(texts), np.where(labels == model.classes_[1], 1.0, -1.0)
    alpha = np.linalg.lstsq(K * y, model.decision_function(texts), rcond=None)[0]
    assert primal(K, y, np.ones(len(y)), alpha) == pytest.approx(model.report_.primal, rel=1e-9)


def test_attributes_are_those_of_scikit_learn():
    for (texts, labels), rows in ((TWO, 1), (THREE, 3)):
        model = SVC(NGram(2)).fit(texts, labels)
        assert model.classes_.tolist() == sorted(set(labels))
        assert model.coef_.shape == (rows, model.features_.n_features)
        assert model.intercept_.shape == (rows,)
        assert model.n_iter_ == model.report_.epochs > 0
        features = treille.Features(NGram(2)).fit(texts).transform(texts)
        scores = features @ model.coef_.T + model.intercept_
        np.testing.assert_allclose(model.decision_function(texts), scores[:, 0] if rows == 1 else scores, atol=1e-12)


def test_the_report_has_all_documented_fields():
    report = SVC(NGram(2), random_state=3).fit(*TWO).report_
    assert report.dual <= report.primal
    assert report.relative_gap <= 1e-3
    assert (report.status, report.seed) == ("converged", 3)
    assert report.seconds > 0


def test_learning_generalises_to_new_texts():
    texts, labels = examples(3, 300)
    assert SVC(NGram(2, min_n=1), C=0.1, tol=1e-2).fit(texts[:200], labels[:200]).score(texts[200:], labels[200:]) > 0.7


def test_unseen_symbols_are_ignored():
    model = SVC(NGram(1)).fit(["aab", "bcc"], [0, 1])
    assert model.decision_function(["xa", "a", "aΩ\U0001f600"]).tolist() == [model.decision_function(["a"])[0]] * 3
    assert model.decision_function(["", "xyz"]).tolist() == [model.intercept_[0]] * 2


def test_long_data_are_predicted_in_chunks(monkeypatch):
    texts, labels = THREE
    model = SVC(NGram(2)).fit(texts, labels)
    whole = model.decision_function(texts)
    monkeypatch.setattr("treille.spaces.functions.CHUNK", 30)
    assert np.array_equal(model.decision_function(texts), whole)
    assert model.decision_function([]).shape == (0, 3)


def test_a_generator_is_read_once():
    texts, labels = TWO
    for kernel in (None, NGram(2)):
        model = SVC(kernel).fit((text for text in texts), labels)
        assert np.array_equal(
            model.decision_function(iter(texts)), SVC(kernel).fit(texts, labels).decision_function(texts)
        )


def test_labels_may_be_a_series_or_a_column():
    texts, labels = TWO
    expected = SVC(NGram(2)).fit(texts, labels).predict(texts).tolist()
    for y in (
        pd.Series(labels),
        pd.Series(labels, dtype="category"),
        pd.DataFrame(labels),
        labels[:, None],
        tuple(labels),
    ):
        assert SVC(NGram(2)).fit(texts, y).predict(texts).tolist() == expected


def test_top_features_speak_for_their_class():
    model = SVC(NGram(1)).fit(["aaab", "bccc", "bddd"], ["A", "C", "D"])
    top = model.top_features(2)
    assert list(top) == ["A", "C", "D"]
    assert [pairs[0][0] for pairs in top.values()] == ["a", "c", "d"]
    for k, pairs in enumerate(top.values()):
        assert len(pairs) <= 2
        for name, weight in pairs:
            assert weight > 0
            assert weight in model.coef_[k]
            assert len(name) == 1


def test_two_classes_share_one_row_of_weights_with_opposite_signs():
    model = SVC(NGram(1)).fit(["aab", "bcc"], [False, True])
    (no, minus), (yes, plus) = model.top_features(1)[False][0], model.top_features(1)[True][0]
    assert (no, yes) == ("a", "c")
    assert {minus, plus} == {-model.coef_.min(), model.coef_.max()}


def test_too_few_epochs_warn_and_still_give_a_model():
    texts, labels = TWO
    with pytest.warns(ConvergenceWarning, match="raise max_epochs"):
        model = SVC(NGram(2), C=1e4, tol=1e-9, max_epochs=1).fit(texts, labels)
    assert model.report_.status == "max_epochs"
    assert len(model.predict(texts)) == len(texts)


def test_the_warning_points_at_the_line_that_called_fit():
    texts, labels = TWO
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SVC(NGram(2), C=1e4, tol=1e-9, max_epochs=1).fit(texts, labels)
    assert caught[0].filename == __file__


def test_verbose_says_nothing_where_there_is_no_terminal(capfd):
    SVC(NGram(2), verbose=1).fit(*TWO)
    assert capfd.readouterr() == ("", "")


def test_weights_and_intercept_are_read_only():
    model = treille.SVC(NGram(1)).fit(["ab", "cd"], [0, 1])
    for values in (model.coef_, model.intercept_):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1.0
