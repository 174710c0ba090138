"""Logistic regression: the optimum is scikit-learn's, outputs are probabilities, every space and solver agrees."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold

import treille
from treille import SVC, InputError, LogisticRegression, LogisticRegressionCV
from treille.kernels import AllSubstrings, Linear, NGram, Subsequence
from treille.solvers import SMO, DualCD, FiniteNewton
from treille.testing import check_estimator

RANDOM = np.random.default_rng(0)
CODES = np.array([0, 1, 2] * 20)
TEXTS = ["".join(RANDOM.choice(list("abcd"[k:] + "d"), 8)) for k in CODES]
LABELS = np.array(["x", "y", "z"])[CODES]
TIGHT = {"tol": 1e-9, "max_epochs": 100_000}


@pytest.mark.parametrize("kernel", [NGram(2), Subsequence(2), AllSubstrings(0.5).normalized()], ids=repr)
def test_it_obeys_the_laws_of_estimators(kernel):
    check_estimator(LogisticRegression(kernel), TEXTS, LABELS)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("solver", [DualCD(), FiniteNewton()], ids=repr)
def test_the_optimum_equals_that_of_scikit_learn(C, intercept, solver):
    y = CODES > 0
    model = LogisticRegression(NGram(2), C, fit_intercept=intercept, solver=solver, **TIGHT).fit(TEXTS, y)
    X = treille.Features(NGram(2)).fit_transform(TEXTS).toarray()
    X = np.column_stack([X, np.ones(len(X))]) if intercept else X  # a regularised intercept is the weight of a constant
    theirs = Theirs(C=C, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(X, y)
    w = np.append(model.coef_.ravel(), model.intercept_) if intercept else model.coef_.ravel()
    np.testing.assert_allclose(w, theirs.coef_.ravel(), atol=1e-4)
    objective = 0.5 * w @ w + C * np.logaddexp(0, -np.where(y, 1, -1) * (X @ w)).sum()
    assert model.report_.primal == pytest.approx(objective, rel=1e-9)
    assert model.report_.dual <= model.report_.primal
    assert model.report_.relative_gap <= 1e-9


def test_every_space_and_solver_has_the_same_optimum():
    y, kernel = CODES == 1, Subsequence(2)
    values, vectors = np.linalg.eigh(kernel(TEXTS))
    X = vectors * np.sqrt(np.maximum(values, 0))  # rows with the same inner products
    on_gram = LogisticRegression(kernel, 0.3, **TIGHT).fit(TEXTS, y)
    on_rows = LogisticRegression(Linear(), 0.3, **TIGHT).fit(X, y)
    assert on_gram.report_.primal == pytest.approx(on_rows.report_.primal, rel=1e-8)
    np.testing.assert_allclose(on_gram.decision_function(TEXTS), on_rows.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("labels", [LABELS, LABELS == "x"], ids=["three classes", "two classes"])
def test_outputs_are_probabilities(labels):
    model = LogisticRegression(NGram(2)).fit(TEXTS, labels)
    p = model.predict_proba(TEXTS)
    assert p.shape == (len(TEXTS), len(model.classes_))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(TEXTS)), p, rtol=1e-12)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(TEXTS)).all()
    assert log_loss(labels, p) < log_loss(labels, np.full_like(p, 1 / p.shape[1]))


def test_logarithms_of_tiny_probabilities_are_precise():
    model = LogisticRegression(NGram(1), 100.0).fit(["a" * 9, "b" * 9], [0, 1])
    score = model.decision_function(["b" * 2000])[0]
    assert score > 800  # exp(-score) is 0 in floating point
    assert model.predict_log_proba(["b" * 2000]).tolist() == [[-score, 0.0]]


def test_probabilities_of_separable_examples_stay_finite_with_a_large_C():
    model = LogisticRegression(NGram(1), 1e6).fit(["a", "b"] * 20, [0, 1] * 20)
    assert model.report_.status == "converged"
    assert np.isfinite(model.coef_).all()
    assert model.predict_proba(["a"])[0, 0] > 0.999


def test_an_example_without_features_gets_the_intercept():
    model = LogisticRegression(NGram(2)).fit(TEXTS, CODES == 1)
    assert model.decision_function([""])[0] == model.intercept_[0]


def test_parameters_are_chosen_by_cross_validation_as_by_a_grid_search():
    cv, Cs, exact = StratifiedKFold(3), [0.01, 0.3, 10.0], TIGHT | {"tol": 1e-12}
    for scoring in ("neg_log_loss", "accuracy"):
        ours = LogisticRegressionCV(NGram(2), Cs, cv=cv, scoring=scoring, **exact).fit(TEXTS, LABELS)
        theirs = GridSearchCV(LogisticRegression(NGram(2), **exact), {"C": Cs}, cv=cv, scoring=scoring).fit(
            TEXTS, LABELS
        )
        np.testing.assert_allclose(
            ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-6
        )
    assert (ours.gaps_ <= 1e-12).all()
    np.testing.assert_array_equal(ours.predict_proba(TEXTS), ours.best_estimator_.predict_proba(TEXTS))


def test_a_saved_model_gives_the_same_probabilities(tmp_path):
    model = LogisticRegression(NGram(2), class_weight="balanced").fit(TEXTS, LABELS)
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert type(again) is LogisticRegression
    np.testing.assert_array_equal(again.predict_proba(TEXTS), model.predict_proba(TEXTS))


def test_a_support_vector_machine_says_where_probabilities_are():
    model = SVC(NGram(2)).fit(TEXTS, LABELS)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError, match=r"SVC has no predict_proba.*LogisticRegression.*CalibratedClassifierCV"):
        model.predict_proba(TEXTS)
    calibrated = CalibratedClassifierCV(SVC(NGram(2)), cv=3).fit(TEXTS, LABELS)
    np.testing.assert_allclose(calibrated.predict_proba(TEXTS).sum(axis=1), 1)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C is 0, expected a positive number"),
        ({"fit_intercept": "free"}, "fit_intercept is 'free', expected True or False: only SMO has a free intercept"),
        ({"solver": SMO()}, "SMO solves problems with the losses .*, not Logistic"),
    ],
    ids=str,
)
def test_unsupported_parameters_are_refused(params, message):
    with pytest.raises(InputError, match=message):
        LogisticRegression(**({"kernel": NGram(2), "solver": DualCD()} | params)).fit(TEXTS, LABELS)
