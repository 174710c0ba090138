"""Laws of estimators: cross-validation is a grid search, and threads do not change what a model computes."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut

import treille
from treille.kernels import AllSubstrings, Gappy, Linear, NGram, Subsequence

CS = [0.02, 1.5, 26.0, 30.0]
TIGHT = {"tol": 1e-9, "max_epochs": 200_000}


def examples(seed, n=18):
    """Texts, rows of numbers, classes that letters hint at, and targets."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(n) % 3
    texts = ["".join(rng.choice(list("abcd"[k:]), rng.integers(2, 8))) for k in codes]
    return texts, rng.normal(size=(n, 3)).round(1), codes, rng.normal(size=n).round()


def certainty(model, X, y):
    """A score that changes whenever an output does."""
    outputs = np.asarray(model.decision_function(X) if hasattr(model, "decision_function") else model.predict(X))
    return -float(np.mean(np.tanh(outputs - np.linspace(0, 1, outputs.size).reshape(outputs.shape)) ** 2))


CLASSIFIERS = [
    *((treille.SVC, treille.SVCCV, {"loss": loss}) for loss in ("hinge", "squared_hinge")),
    (treille.LogisticRegression, treille.LogisticRegressionCV, {}),
]
REGRESSORS = [
    (treille.SVR, treille.SVRCV, {"loss": loss, "epsilon": 0.2})
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive", "huber")
]
INTERCEPTS = (False, True, "free")
KERNELS = [
    *(NGram(2, min_n=1), NGram(2, min_n=1).normalized(), NGram(2).centered(), NGram(1) + NGram(2)),
    *(NGram(2, min_n=1).weighted("idf"), Subsequence(2), AllSubstrings(0.5), Linear()),
]


def agree(made, searched, X, y, cv, options, path=("C", "Cs"), values=CS):
    with warnings.catch_warnings():
        warnings.simplefilter("error", treille.solvers.ConvergenceWarning)
        grid = GridSearchCV(made(**options), {path[0]: values}, cv=cv, scoring=certainty, error_score="raise").fit(X, y)
        found = searched(**options, **{path[1]: values}, cv=cv, scoring=certainty).fit(X, y)
    each = [key for key in grid.cv_results_ if key.startswith("split")]
    for key in each:
        np.testing.assert_allclose(found.cv_results_[key], grid.cv_results_[key], atol=1e-3)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_cross_validation_of_regressors_is_a_grid_search(kernel):
    for seed, (made, searched, options) in enumerate(REGRESSORS):
        intercept = INTERCEPTS[(seed + KERNELS.index(kernel)) % 3]  # every pair occurs
        texts, numbers, _, y = examples(seed)
        X = numbers if isinstance(kernel, Linear) else texts
        cv = LeaveOneOut() if isinstance(kernel, Linear) else KFold(3)
        solver = {"solver": treille.solvers.SMO()} if intercept == "free" else {}
        agree(made, searched, X, y, cv, {"kernel": kernel, "fit_intercept": intercept} | options | solver | TIGHT)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", [*KERNELS[:-1], NGram(2, min_n=1).weighted("nb")], ids=repr)
def test_cross_validation_of_classifiers_is_a_grid_search(kernel, n_classes):
    for seed, (made, searched, options) in enumerate(CLASSIFIERS):
        texts, _, codes, _ = examples(seed)
        if made is treille.LogisticRegression and not kernel.has_features:
            continue
        agree(made, searched, texts, codes % n_classes, 3, {"kernel": kernel} | options | TIGHT)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_cross_validation_of_ridge_regression_is_a_grid_search(kernel):
    texts, numbers, _, y = examples(7)
    X, options = numbers if isinstance(kernel, Linear) else texts, {"kernel": kernel, "tol": 1e-10}
    for intercept, cv in zip(INTERCEPTS, (KFold(4), LeaveOneOut(), KFold(3)), strict=True):
        agree(
            treille.Ridge,
            treille.RidgeCV,
            X,
            y,
            cv,
            options | {"fit_intercept": intercept},
            ("alpha", "alphas"),
            CS[:2],
        )


def test_cross_validation_of_learned_kernels_is_a_grid_search():
    texts, _, codes, y = examples(3)
    options = {"kernel": NGram(2, min_n=1), "trace": 1.0, "tol": 1e-8}
    agree(treille.LearnedSVC, treille.LearnedSVCCV, texts, codes % 2, 3, options, values=[0.5, 5.0])
    agree(treille.LearnedRidge, treille.LearnedRidgeCV, texts, y, KFold(3), options, ("alpha", "alphas"), [0.5, 5.0])


MACHINES = [
    treille.SVC(NGram(3, min_n=1)),
    treille.SVC(NGram(2).weighted("nb"), n_jobs=2),
    treille.SVC(Subsequence(2)),
    treille.SVC(AllSubstrings(0.5)),
    treille.SVC(Gappy(2, max_gap=2, decay=0.5).normalized(), loss="squared_hinge"),
    treille.LogisticRegression(NGram(2)),
    treille.SVR(NGram(2)),
    treille.Ridge(NGram(2)),
    treille.Perceptron(NGram(2), max_epochs=3),
    treille.OneClassSVM(NGram(2)),
]


IGNORED = pytest.mark.filterwarnings("ignore:stopped at max_epochs")


def in_threads(work, items):
    """The results of all items, four at a time."""
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(work, items))


@IGNORED
def test_models_fitted_in_threads_have_the_bits_of_those_fitted_one_by_one():
    texts, _, codes, _ = examples(0, n=60)

    def outputs(made):
        return clone(made).fit(texts, codes)._outputs(texts).tobytes()

    alone = [outputs(made) for made in MACHINES]
    assert in_threads(outputs, MACHINES * 2) == alone * 2


@IGNORED
@pytest.mark.parametrize("made", MACHINES, ids=repr)
def test_one_model_predicts_and_explains_in_threads_what_it_does_alone(made):
    texts, _, codes, _ = examples(1, n=40)
    model = clone(made).fit(texts, codes)

    def answers(text):
        explanation = model.explain(text)
        return model.predict([text]).tobytes(), model._outputs([text]).tobytes(), repr(explanation.parts())

    alone = [answers(text) for text in texts]
    assert in_threads(answers, texts) == alone
