"""Model selection on one set of features: the scores of GridSearchCV, from features computed once."""

import os
import pickle
import signal
import threading
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)

import treille
from timing import processor_seconds
from treille import SVC, SVCCV, SVR, SVRCV, InputError, Lattices, Ridge, RidgeCV, Trees
from treille.kernels import (
    AllSubstrings,
    Columns,
    Conjunctions,
    Linear,
    NGram,
    Subsequence,
    SubsetTree,
)
from treille.solvers import SMO, ConjugateGradient, ConvergenceWarning, CuttingPlane, DualCD, FiniteNewton
from treille.spaces import Nystrom
from treille.testing import check_estimator

RANDOM = np.random.default_rng(7)
WORDS = ["vine", "wine", "grape", "oak", "cask", "must", "leaf", "root", "press", "cork", "soil", "sun"]
N = 60
LABELS = RANDOM.integers(0, 3, N)


def texts():
    """The words of a class are the likelier ones."""
    each = []
    for label in LABELS:
        chance = np.where(np.arange(12) % 3 == label, 2.0, 1.0)
        each.append(" ".join(RANDOM.choice(WORDS, 6, p=chance / chance.sum())))
    return each


TEXTS = texts()
TWO = (LABELS == 0).astype(int)
NUMBERS = np.array([text.count("e") for text in TEXTS]) + 0.1 * RANDOM.normal(size=N)
WEIGHTS = RANDOM.integers(0, 4, N).astype(float)
CS = [0.02, 0.3, 5.0]
TIGHT = {"tol": 1e-9, "max_epochs": 1_000_000}
ROWS = [
    NGram(2),
    NGram(1, unit="word").weighted("idf").normalized(),
    NGram(2, unit="word").weighted("nb"),
    NGram(1, unit="word").weighted({"oak": 3.0, "vine": 0.5}, missing=0.7).normalized(),
    0.5 * NGram(1, unit="word").weighted("idf") + NGram(2).normalized(),
    (NGram(1, unit="word") + NGram(2)).centered(),
    NGram(3, min_n=2).weighted("idf").balanced(),
    NGram(2).centered().normalized(),
    NGram(2) * NGram(1, unit="word"),
]


def assert_same_scores(search, ours, atol=1e-6):
    theirs = search.cv_results_
    key = {str(sorted(p.items(), key=str)): i for i, p in enumerate(theirs["params"])}
    order = [key[str(sorted(p.items(), key=str))] for p in ours.cv_results_["params"]]
    assert len(order) == len(theirs["params"])
    for name in theirs:
        if name.endswith("_test_score") and "rank" not in name:
            np.testing.assert_allclose(ours.cv_results_[name], np.asarray(theirs[name])[order], atol=atol, err_msg=name)


def confidence(y, decision):
    """A score of decision values that no tie or threshold hides."""
    decision = np.asarray(decision)
    if decision.ndim == 1:
        decision = np.stack([-decision, decision], axis=1)
    return float(np.mean(decision[np.arange(len(y)), np.searchsorted(np.unique(y), y)]))


CONFIDENCE = make_scorer(confidence, response_method="decision_function")


def assert_scores_of_a_grid_search(
    kernel, X, y, cv=4, fit=None, scorings=("accuracy", CONFIDENCE), groups=None, atol=1e-6, **params
):
    for scoring in scorings:
        params = TIGHT | params
        search = GridSearchCV(SVC(kernel, **params), {"C": CS}, cv=cv, scoring=scoring)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # of the float64 limit, on both sides
            search.fit(X, y, groups=groups, **(fit or {}))
            ours = SVCCV(kernel, Cs=CS, cv=cv, scoring=scoring, **params).fit(X, y, groups=groups, **(fit or {}))
        assert_same_scores(search, ours, atol)
        if scoring == "accuracy":
            assert ours.best_params_ == search.best_params_


@pytest.mark.parametrize("kernel", ROWS, ids=repr)
@pytest.mark.parametrize("y", [TWO, LABELS], ids=["two classes", "three classes"])
def test_scores_are_those_of_a_grid_search(kernel, y):
    if kernel.needs_labels and len(np.unique(y)) > 2:
        kernel = kernel.normalized()
    assert_scores_of_a_grid_search(kernel, TEXTS, y)


@pytest.mark.parametrize(
    "params",
    [
        {"loss": "squared_hinge", "tol": 1e-13},
        {"fit_intercept": False},
        {"fit_intercept": "free"},
        {"class_weight": "balanced"},
        {"class_weight": {0: 3.0, 1: 0.5}},
        {"solver": SMO()},
        {"solver": CuttingPlane(), "tol": 1e-7},
        {"solver": FiniteNewton(), "loss": "squared_hinge", "tol": 1e-13},
        {"space": Nystrom(12)},
        {"n_jobs": 2},
    ],
    ids=str,
)
def test_every_parameter_of_the_estimator_counts(params):
    assert_scores_of_a_grid_search(
        NGram(2).normalized(), TEXTS, TWO, atol=2e-4 if "CuttingPlane" in str(params) else 1e-6, **params
    )


def test_weights_of_examples_count_in_every_fold():
    assert_scores_of_a_grid_search(NGram(2), TEXTS, LABELS, fit={"sample_weight": WEIGHTS})
    assert_scores_of_a_grid_search(
        NGram(1, unit="word").weighted("idf"), TEXTS, TWO, fit={"sample_weight": WEIGHTS}, class_weight="balanced"
    )


@pytest.mark.parametrize(
    "cv",
    [
        KFold(3),
        PredefinedSplit(np.arange(N) % 4 - 1),
        ShuffleSplit(3, random_state=1),
        [(np.r_[:40, :5], np.arange(40, 60)), (np.arange(60) >= 30, np.arange(60) < 10)],
    ],
    ids=["folds", "predefined", "overlapping", "given"],
)
def test_any_splitter_of_scikit_learn_works(cv):
    assert_scores_of_a_grid_search(NGram(2), TEXTS, TWO, cv=cv, scorings=(CONFIDENCE,))
    assert_scores_of_a_grid_search(
        NGram(1, unit="word").weighted("idf").normalized(), TEXTS, TWO, cv=cv, scorings=(CONFIDENCE,)
    )


def test_groups_stay_together():
    assert_scores_of_a_grid_search(NGram(2), TEXTS, TWO, cv=GroupKFold(3), groups=np.arange(N) // 5)


def test_a_class_that_a_fold_lacks_is_unknown_there():
    y = np.where(np.arange(N) == 3, 9, LABELS)
    assert_scores_of_a_grid_search(NGram(2), TEXTS, y, cv=KFold(4), scorings=("accuracy",))
    y = np.where(np.arange(N) == 3, 9, TWO)
    assert_scores_of_a_grid_search(NGram(2), TEXTS, y, cv=KFold(4), scorings=("accuracy",))


def trees():
    return Trees([f"(s (a {'b ' * (i % 3)}) (c {'(d e)' if y else '(e d)'}))" for i, y in enumerate(TWO)])


@pytest.mark.parametrize(
    ("kernel", "X"),
    [
        (SubsetTree(), trees()),
        (Subsequence(2).normalized(), TEXTS),
        (AllSubstrings(0.5).normalized(), TEXTS),
        (NGram(2), Lattices(TEXTS)),
        (Linear(), RANDOM.normal(size=(N, 4))),
        (Conjunctions(2, min_support=4), (RANDOM.random((N, 6)) < 0.4).astype(float)),
    ],
    ids=["subset trees", "subsequences", "substrings", "lattices", "numbers", "conjunctions"],
)
def test_every_space_gives_the_scores_of_a_grid_search(kernel, X):
    loose = not kernel.has_features and kernel.multiplies(kernel.batch(X))
    assert_scores_of_a_grid_search(kernel, X, TWO, atol=2e-4 if loose else 1e-6, **({"tol": 1e-7} if loose else {}))


def test_columns_and_precomputed_kernels_have_the_scores_of_a_grid_search():
    K = NGram(2)(TEXTS)
    search = GridSearchCV(SVC("precomputed", **TIGHT), {"C": CS}, cv=4).fit(K, TWO)
    assert_same_scores(search, SVCCV("precomputed", Cs=CS, cv=4, **TIGHT).fit(K, TWO))
    table = [{"text": text, "n": float(len(text))} for text in TEXTS]
    assert_scores_of_a_grid_search(
        Columns({"text": NGram(2).weighted("idf"), "n": Linear()}, {"n": 0.01}), table, TWO, scorings=(CONFIDENCE,)
    )


@pytest.mark.parametrize(
    "kernel",
    [NGram(2).normalized(), NGram(2).weighted("idf").normalized().centered(), Subsequence(2).normalized()],
    ids=repr,
)
@pytest.mark.parametrize("scoring", [None, "neg_mean_absolute_error"])
def test_regression_has_the_scores_of_a_grid_search(kernel, scoring):
    grid = {"epsilon": [0.05, 0.3]}
    fit = {"sample_weight": WEIGHTS}
    for intercept in (True, False):
        params = TIGHT | {"fit_intercept": intercept}
        search = GridSearchCV(SVR(kernel, **params), {"C": CS} | grid, cv=4, scoring=scoring).fit(TEXTS, NUMBERS, **fit)
        ours = SVRCV(kernel, Cs=CS, grid=grid, cv=4, scoring=scoring, **params).fit(TEXTS, NUMBERS, **fit)
        assert_same_scores(search, ours)
    params = {"tol": 1e-14}
    for intercept in (True, False, "free"):
        search = GridSearchCV(Ridge(kernel, fit_intercept=intercept, **params), {"alpha": CS}, cv=4, scoring=scoring)
        ours = RidgeCV(kernel, alphas=CS, cv=4, fit_intercept=intercept, scoring=scoring, **params)
        assert_same_scores(search.fit(TEXTS, NUMBERS, **fit), ours.fit(TEXTS, NUMBERS, **fit))


@pytest.mark.parametrize("intercept", [True, False, "free"])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize(
    ("kernel", "X"),
    [(NGram(2), TEXTS), (NGram(1), TEXTS), (Subsequence(2).normalized(), TEXTS), (AllSubstrings(0.5), TEXTS)],
    ids=["more features", "fewer features", "kernel values", "products"],
)
def test_leave_one_out_in_closed_form_equals_refitting(kernel, X, weights, intercept):
    y = np.stack([NUMBERS, NUMBERS**2], axis=1) if kernel.has_features else NUMBERS
    expected = []
    for alpha in CS:
        model = Ridge(kernel, alpha, fit_intercept=intercept, tol=1e-13, max_epochs=10_000)
        params = {"sample_weight": weights}
        predicted = cross_val_predict(model, X, y, cv=LeaveOneOut(), params=params)
        errors = ((predicted - y) ** 2).reshape(N, -1).mean(axis=1)
        expected.append(-np.average(errors, weights=weights))
    ours = RidgeCV(kernel, alphas=CS, fit_intercept=intercept).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], expected, rtol=1e-6)
    assert ours.alpha_ == CS[int(np.argmax(expected))]
    assert "split0_test_score" not in ours.cv_results_


def test_leaving_one_out_takes_any_scorer():
    ours = RidgeCV(NGram(2), alphas=CS, scoring="r2").fit(TEXTS, NUMBERS)
    predicted = cross_val_predict(Ridge(NGram(2), alpha=ours.alpha_, tol=1e-12), TEXTS, NUMBERS, cv=LeaveOneOut())
    residual, total = NUMBERS - predicted, NUMBERS - NUMBERS.mean()
    assert ours.best_score_ == pytest.approx(1 - (residual @ residual) / (total @ total), abs=1e-6)


def test_kernels_and_their_parameters_are_chosen():
    kernels = [NGram(1), NGram(2).normalized()]
    ours = SVCCV(kernels, Cs=CS, cv=3, **TIGHT).fit(TEXTS, TWO)
    assert [p["kernel"] for p in ours.cv_results_["params"]] == [k for k in kernels for _ in CS]
    assert ours.best_estimator_.kernel is ours.best_params_["kernel"] or repr(ours.plan_.kernel) == repr(
        ours.best_params_["kernel"]
    )
    grid = {"kernel__n": [1, 2, 3], "loss": ["hinge", "squared_hinge"]}
    search = GridSearchCV(SVC(NGram(2).normalized(), **TIGHT), {"C": CS} | grid, cv=3).fit(TEXTS, TWO)
    ours = SVCCV(NGram(2).normalized(), Cs=CS, grid=grid, cv=3, **TIGHT).fit(TEXTS, TWO)
    assert_same_scores(search, ours)
    assert set(ours.cv_results_) == set(search.cv_results_)
    assert ours.best_score_ == pytest.approx(search.best_score_, abs=1e-9)


def test_features_are_computed_once_for_all_folds(monkeypatch):
    calls, count = [], NGram.fit_features
    monkeypatch.setattr(NGram, "fit_features", lambda self, *rest: calls.append(repr(self)) or count(self, *rest))
    SVCCV(NGram(2), Cs=CS, cv=4).fit(TEXTS, TWO)
    SVCCV(NGram(3).weighted("idf").normalized(), Cs=CS, cv=4).fit(TEXTS, TWO)
    SVCCV(NGram(4).centered(), Cs=CS, grid={"loss": ["hinge", "squared_hinge"]}, cv=4).fit(TEXTS, TWO)
    SVRCV(NGram(5), Cs=CS, grid={"epsilon": [0.1, 0.2]}, cv=4).fit(TEXTS, NUMBERS)
    assert calls == [repr(NGram(n)) for n in (2, 3, 4, 5)]


def test_the_model_is_the_best_one_fitted_on_all_examples(tmp_path):
    ours = SVCCV(NGram(2), Cs=CS, cv=3, **TIGHT).fit(TEXTS, LABELS)
    alone = SVC(NGram(2), C=ours.C_, **TIGHT).fit(TEXTS, LABELS)
    np.testing.assert_allclose(ours.decision_function(TEXTS), alone.decision_function(TEXTS), atol=1e-6)
    np.testing.assert_allclose(ours.coef_, alone.coef_, atol=1e-6)
    assert ours.classes_.tolist() == [0, 1, 2]
    assert ours.report_.status == "converged"
    ours.save(tmp_path / "m.treille")
    loaded = treille.load(tmp_path / "m.treille")
    assert type(loaded) is SVC
    assert loaded.C == ours.C_
    for other in (loaded, pickle.loads(pickle.dumps(ours))):
        assert (other.decision_function(TEXTS) == ours.decision_function(TEXTS)).all()


def test_threads_do_not_change_the_scores():
    one, two = (SVCCV(NGram(2), Cs=CS, cv=3, n_jobs=jobs).fit(TEXTS, LABELS) for jobs in (1, 2))
    for f in range(3):
        assert (one.cv_results_[f"split{f}_test_score"] == two.cv_results_[f"split{f}_test_score"]).all()


def test_the_order_of_values_is_kept():
    falling = SVCCV(NGram(2), Cs=CS[::-1], cv=3, **TIGHT).fit(TEXTS, TWO)
    rising = SVCCV(NGram(2), Cs=CS, cv=3, **TIGHT).fit(TEXTS, TWO)
    assert [p["C"] for p in falling.cv_results_["params"]] == CS[::-1]
    assert falling.cv_results_["mean_test_score"].tolist() == rising.cv_results_["mean_test_score"].tolist()[::-1]


def test_scikit_learn_treats_it_as_any_estimator():
    model = SVCCV(NGram(2).normalized(), Cs=3, cv=StratifiedKFold(2), max_epochs=100_000)
    assert clone(model).get_params()["Cs"] == 3
    assert cross_val_score(model, TEXTS, TWO, cv=3).shape == (3,)
    assert len(SVCCV(NGram(2).normalized(), Cs=4, cv=2, max_epochs=10_000).fit(TEXTS, TWO).cv_results_["params"]) == 4


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (SVCCV(NGram(2), Cs=[0.1, 1.0], cv=2), LABELS),
        (SVRCV(NGram(2), Cs=[0.1, 1.0], cv=2, max_epochs=10_000), NUMBERS),
        (RidgeCV(NGram(2), alphas=[0.1, 1.0]), NUMBERS),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_laws_of_estimators_hold(model, y):
    check_estimator(model, TEXTS, y)


def test_solvers_of_least_squares_agree_on_folds():
    scores = [
        RidgeCV(NGram(2), alphas=CS, cv=3, solver=solver, tol=1e-12).fit(TEXTS, NUMBERS).cv_results_["mean_test_score"]
        for solver in (ConjugateGradient(), treille.solvers.Cholesky(), treille.solvers.NormalEquations())
    ]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-6)
    np.testing.assert_allclose(scores[0], scores[2], atol=1e-6)


def test_one_warning_states_how_many_solutions_did_not_converge():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        SVCCV(NGram(2), Cs=[0.1, 1.0], cv=3, tol=1e-9, max_epochs=2, solver=DualCD()).fit(TEXTS, TWO)
    assert sum("of 6 solutions of folds stopped" in str(w.message) for w in found) == 1
    assert all(issubclass(w.category, ConvergenceWarning) and w.filename == __file__ for w in found)


REFUSALS = [
    (lambda: SVCCV(NGram(2), Cs=[1.0, -1.0]).fit(TEXTS, TWO), "a value of Cs is -1.0, expected a positive number"),
    (lambda: SVCCV(NGram(2), Cs=[]).fit(TEXTS, TWO), "Cs is empty"),
    (lambda: SVCCV(NGram(2), Cs="1,2").fit(TEXTS, TWO), "Cs is '1,2', expected a list"),
    (lambda: RidgeCV(NGram(2), alphas=[0.0]).fit(TEXTS, NUMBERS), "a value of alphas is 0.0"),
    (lambda: SVCCV([], Cs=2).fit(TEXTS, TWO), "kernel is an empty list"),
    (lambda: SVCCV(NGram(2), grid={"kernel__m": [1]}).fit(TEXTS, TWO), "grid has 'kernel__m', which is no parameter"),
    (lambda: SVCCV(NGram(2), grid={"C": [1]}).fit(TEXTS, TWO), "grid has 'C', whose values belong in Cs"),
    (lambda: SVCCV(NGram(2), grid={"loss": "hinge"}).fit(TEXTS, TWO), "expected a list of values"),
    (lambda: SVCCV(NGram(2), Cs=[0.1], grid={"kernel__n": [2, 0]}).fit(TEXTS, TWO), "n is 0"),
    (lambda: SVCCV(NGram(2), cv=KFold(2)).fit(TEXTS, np.arange(N) >= 30), "training examples of fold 0, all labels"),
    (lambda: SVCCV(NGram(2), cv=50).fit(TEXTS, TWO), "cv: "),
    (lambda: SVCCV(NGram(2), cv=[(np.arange(9), [])]).fit(TEXTS, TWO), "fold 0 has 9 examples to train on and 0 held"),
    (lambda: SVRCV(NGram(2), cv=LeaveOneOut()).fit(TEXTS, NUMBERS), "the score of fold 0 is nan"),
    (lambda: SVCCV(NGram(2)).fit(TEXTS, TWO[:-1]), "60 examples but 59 labels"),
    (lambda: RidgeCV(NGram(2).weighted("idf")).fit(TEXTS, NUMBERS), "depend on all training examples: use folds"),
    (lambda: RidgeCV(NGram(2)).fit(["ab"], [1.0]), "at least two examples"),
    (lambda: SVCCV(NGram(2), tol=-1).fit(TEXTS, TWO), "tol is -1"),
]


@pytest.mark.parametrize(("act", "message"), REFUSALS, ids=[message for _, message in REFUSALS])
@pytest.mark.filterwarnings("ignore:R.2 score")
def test_invalid_grids_folds_and_scores_are_refused(act, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        act()


def test_interrupting_ends_the_search_at_once():
    X = ["".join(RANDOM.choice(list("abcdefgh"), 400)) for _ in range(1500)]
    y = RANDOM.integers(0, 2, 1500)
    model = SVCCV(NGram(2), Cs=[1e3, 1e4], cv=3, tol=1e-9, max_epochs=10_000_000)
    threading.Timer(1.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with processor_seconds(3), pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert not hasattr(model, "best_estimator_")
