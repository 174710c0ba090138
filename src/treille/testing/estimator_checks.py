"""The laws of classifiers and regressors on structured examples, which scikit-learn's checks skip since X is no matrix."""

import pickle
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline

from treille.data import Batch
from treille.estimators import load
from treille.io.errors import InputError
from treille.testing.laws import (
    assert_close,
    assert_raises,
    assert_same,
    assert_same_optimum,
    counts_examples,
    is_ours,
    laws_of,
    run,
    take,
)


def check_estimator(estimator: Any, X: Any, y: Any) -> None:
    """Checks a classifier or a regressor against their laws; an AssertionError names the law that is broken, and how.

    Fitting again, cloning, pickling, saving and loading give the same decisions; an example's decision does not depend on the other
    examples; labels and numbers of any type will do, and labels come back as given; weights of examples and of
    classes are repetitions; seeds and threads do not change the objective; the duality gap is a bound; bad input is
    refused with an `InputError`; scikit-learn's tools work.

    Parameters
    ----------
    estimator : classifier or regressor
        Unfitted; it is cloned, never changed.
    X : examples
        A list or a batch the estimator reads; 20 to 200 do.
    y : labels or numbers
        For classifiers two classes or more, four examples each at least, all of one type. For regressors one number each.

    Examples
    --------
    >>> import treille
    >>> from treille.testing import check_estimator
    >>> X = ["abba", "ab", "baa", "aab", "bab", "cd", "ddc", "ccd", "dc", "dcc"]
    >>> check_estimator(treille.SVC(treille.kernels.NGram(2)), X, ["ab"] * 5 + ["cd"] * 5)
    >>> check_estimator(treille.Ridge(treille.kernels.NGram(2)), X, range(10))
    >>> class Stubborn(treille.SVC):
    ...     def predict(self, X):
    ...         return self.classes_[[0] * len(X)]
    >>> check_estimator(Stubborn(treille.kernels.NGram(2)), X, ["ab"] * 5 + ["cd"] * 5)
    Traceback (most recent call last):
        ...
    AssertionError: Stubborn(kernel=NGram(n=2)) breaks the law 'predicts the highest decision': example 5 is 'ab'
    """
    X = X if isinstance(X, Batch) else list(X)
    labels, model = np.asarray(y), clone(estimator)
    if is_regressor(estimator):
        if labels.shape != (len(X),) or len(X) < 8:
            raise InputError("check_estimator needs a number for each example, and at least eight examples")
        labels = labels.astype(float)
        model.fit(X, labels)
        case = _Case(estimator, X, labels, np.empty(0), np.zeros(len(X), int), model, model.predict(X))
        return run(REGRESSOR_LAWS, case, estimator)
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(labels) != len(X) or len(classes) < 2 or counts.min() < 4:
        raise InputError("check_estimator needs a label for each example, and two classes of at least four examples")
    model.fit(X, labels)
    run(LAWS, _Case(estimator, X, labels, classes, codes, model, model.decision_function(X)), estimator)


@dataclass(frozen=True)
class _Case:
    estimator: Any
    X: Any
    y: np.ndarray
    classes: np.ndarray  # none for regressors
    codes: np.ndarray
    model: Any  # fitted on X, y
    decisions: np.ndarray  # predictions, for regressors

    def new(self, **params: Any) -> Any:
        """An unfitted clone, with the `params` that the estimator has."""
        known = self.estimator.get_params()
        return clone(self.estimator).set_params(**{k: v for k, v in params.items() if k in known})

    def tight(self, **params: Any) -> Any:
        return self.new(tol=1e-6, max_epochs=100_000, **params)

    def decide(self, model: Any, X: Any) -> np.ndarray:
        decide = model.predict if is_regressor(self.estimator) else model.decision_function
        return np.asarray(decide(X))

    def folds(self) -> Any:
        return KFold(2) if is_regressor(self.estimator) else StratifiedKFold(2)

    def assert_decisions(self, model: Any, what: str) -> None:
        assert_same(self.decide(model, self.X), self.decisions, f"the decision {what}, example")


def fit_returns_the_estimator(case: _Case) -> None:
    model = case.new()
    assert model.fit(case.X, case.y) is model, "fit does not return self"


def predicts_the_highest_decision(case: _Case) -> None:
    n, k = len(case.y), len(case.classes)
    shape = (n,) if k == 2 else (n, k)
    assert case.decisions.shape == shape, f"decision_function has the shape {case.decisions.shape}, expected {shape}"
    best = case.decisions.argmax(axis=1) if k > 2 else (case.decisions > 0).astype(int)
    found = case.model.predict(case.X)
    for i in np.flatnonzero(found != case.classes[best])[:1]:
        raise AssertionError(f"example {i} is {found.tolist()[i]!r}")
    assert case.model.score(case.X, case.y) == np.mean(found == case.y), "score is not the part of right predictions"


def predicts_numbers(case: _Case) -> None:
    found = case.decisions
    assert found.shape == case.y.shape, f"predict has the shape {found.shape}, expected {case.y.shape}"
    assert np.isfinite(found).all(), f"the prediction of example {np.argmin(np.isfinite(found))} is no number"
    score = case.model.score(case.X, case.y)
    assert np.isclose(score, r2_score(case.y, found)), f"score is {score}, expected R^2"


def fitting_again_gives_the_same_model(case: _Case) -> None:
    case.assert_decisions(case.new().fit(case.X, case.y), "of a second fit")
    model = case.new().fit(take(case.X, range(len(case.X))[::-1]), case.y[::-1])
    case.assert_decisions(model.fit(case.X, case.y), "after a fit on other data")


def fit_leaves_parameters_and_data_as_they_were(case: _Case) -> None:
    model, weights = case.new(), np.ones(len(case.y))
    given = {"parameters": model.get_params(), "X": case.X, "y": case.y, "sample_weight": weights}
    before = {name: joblib.hash(value) for name, value in given.items()}
    model.fit(case.X, case.y, sample_weight=weights).predict(case.X)
    for name, value in (given | {"parameters": model.get_params()}).items():
        assert joblib.hash(value) == before[name], f"fit or predict changed {name}"


def clones_are_unfitted_and_alike(case: _Case) -> None:
    twin = clone(case.model)
    assert repr(twin) == repr(case.estimator), f"the clone is {twin!r}"
    assert_raises(NotFittedError, "predict of a clone", twin.predict, case.X)


def unfitted_models_say_so(case: _Case) -> None:
    assert_raises(NotFittedError, "predict", case.new().predict, case.X)
    assert_raises(NotFittedError, "a decision", lambda: case.decide(case.new(), case.X))
    assert_raises(NotFittedError, "score", case.new().score, case.X, case.y)
    assert_raises(NotFittedError, "save", case.new().save, "nowhere")


def pickling_keeps_the_decisions(case: _Case) -> None:
    case.assert_decisions(pickle.loads(pickle.dumps(case.model)), "after pickling")


def saving_and_loading_keeps_the_decisions(case: _Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.treille"
        try:
            case.model.save(path)
        except InputError:
            return  # a function among the parameters cannot be saved, and the model says so
        if not is_ours(case.estimator):
            return
        again = load(path)
    case.assert_decisions(again, "after save and load")
    if len(case.classes):
        assert again.classes_.tolist() == case.model.classes_.tolist(), f"the classes are read back as {again.classes_}"
    assert again.predict(case.X).tolist() == case.model.predict(case.X).tolist(), "predictions are not read back"


def a_decision_does_not_depend_on_the_company(case: _Case) -> None:
    n = len(case.y)
    # Sums over training examples may be taken in another order for other company.
    agree = assert_same if hasattr(case.model, "coef_") else assert_close
    for ids in (range(0, n, 3), range(n)[::-1], [n - 1], [0, 0], []):
        found = case.decide(case.model, take(case.X, ids))
        agree(found, case.decisions[list(ids)], f"the decision in the company of {list(ids)}, example")


def the_order_of_training_examples_does_not_matter(case: _Case) -> None:
    order = np.random.default_rng(0).permutation(len(case.y))
    other = case.new().fit(take(case.X, order), case.y[order])
    if not hasattr(other, "cv_results_"):  # other folds may prefer other parameters
        assert_same_optimum(other.report_, case.model.report_, "examples shuffled")


def labels_of_every_type_come_back_as_given(case: _Case) -> None:
    n = len(case.classes)
    kinds: dict[str, Any] = {
        "str": np.array([f"class {k:03d}" for k in range(n)]),
        "int": np.arange(n) - 1,
        "float": np.arange(n) * 2.0,
        "object": np.array([f"class {k:03d}" for k in range(n)], dtype=object),
    }
    if n == 2:
        kinds["bool"] = np.array([False, True])
    expected = case.model.predict(case.X)
    for kind, names in kinds.items():
        for labels in (names[case.codes], names[case.codes].tolist()):
            model = case.new(class_weight=None).fit(case.X, labels)
            assert model.classes_.tolist() == names.tolist(), f"{kind}: the classes are {model.classes_}"
            found = model.predict(case.X)
            types = {type(label) for label in found.tolist()}
            assert types == {type(names.tolist()[0])}, f"{kind}: predictions are {types}"
            if case.estimator.get_params().get("class_weight") is None:
                same = names[np.searchsorted(case.classes, expected)]
                assert found.tolist() == same.tolist(), f"{kind}: other predictions than for labels as given"


def numbers_of_every_type_will_do(case: _Case) -> None:
    whole = np.round(case.y)
    expected = case.decide(case.new().fit(case.X, whole), case.X)
    for y in (whole.astype(int), whole.astype(int).tolist(), whole.tolist(), whole.astype(np.float32)):
        found = case.decide(case.new().fit(case.X, y), case.X)
        assert_same(found, expected, f"{type(y).__name__} of {np.asarray(y).dtype}: the prediction, example")


def a_constant_added_to_the_numbers_is_added_to_the_predictions(case: _Case) -> None:
    if not case.estimator.get_params().get("fit_intercept", True):
        return
    far = case.decide(case.tight().fit(case.X, case.y + 1000), case.X) - 1000
    near = case.decide(case.tight().fit(case.X, case.y), case.X)
    assert_close(far, near, "the prediction", tolerance=1e-2)


def a_whole_weight_is_a_repetition(case: _Case) -> None:
    weights = 1 + np.arange(len(case.y)) % 3
    ids = np.repeat(np.arange(len(case.y)), weights)
    weighted = case.tight(class_weight=None).fit(case.X, case.y, sample_weight=weights)
    repeated = case.tight(class_weight=None).fit(take(case.X, ids), case.y[ids])
    if not counts_examples(weighted):
        assert_same_optimum(weighted.report_, repeated.report_, "examples repeated")


def no_weight_is_no_example(case: _Case) -> None:
    kept = np.arange(len(case.y)) % 3 > 0
    kept[np.unique(case.codes, return_index=True)[1]] = True  # every class stays
    some = case.tight(class_weight=None).fit(take(case.X, np.flatnonzero(kept)), case.y[kept])
    all = case.tight(class_weight=None).fit(case.X, case.y, sample_weight=kept.astype(float))
    if not counts_examples(all):
        assert_same_optimum(all.report_, some.report_, "examples left out")


def a_class_weight_is_a_sample_weight(case: _Case) -> None:
    factors = 1.0 + np.arange(len(counts := np.bincount(case.codes)))
    by_name = dict(zip(case.classes.tolist(), factors.tolist(), strict=True))
    for class_weight, weights in ((by_name, factors), ("balanced", len(case.y) / (len(counts) * counts))):
        by_class = case.tight(class_weight=class_weight).fit(case.X, case.y)
        by_example = case.tight(class_weight=None).fit(case.X, case.y, sample_weight=weights[case.codes])
        if not counts_examples(by_class):
            assert_same_optimum(by_class.report_, by_example.report_, f"class_weight={class_weight!r}")


def another_seed_gives_the_same_objective(case: _Case) -> None:
    case.assert_decisions(case.new(random_state=case.model.report_.seed).fit(case.X, case.y), "of the same seed")
    for seed in (1, 2, 12345):
        other = case.new(random_state=seed).fit(case.X, case.y)
        assert_same_optimum(other.report_, case.model.report_, f"seed {seed}")


def the_gap_is_a_bound(case: _Case) -> None:
    for model in (case.model, case.tight().fit(case.X, case.y)):
        for report in (model.report_, *model.report_.per_class):
            assert report.dual <= report.primal * (1 + 1e-9), f"the dual value is above the primal one: {report}"
            assert report.gap == max(0.0, report.primal - report.dual), f"the gap is not primal - dual: {report}"
            tol = model.get_params().get("tol", np.inf)
            assert report.status != "converged" or report.relative_gap <= tol, f"converged, but not to {tol}: {report}"


def the_number_of_threads_does_not_matter(case: _Case) -> None:
    for threads in (1, 2):
        case.assert_decisions(case.new(n_jobs=threads).fit(case.X, case.y), f"with n_jobs={threads}")


def bad_examples_are_refused(case: _Case) -> None:
    items = list(case.X)
    bad: dict[str, Any] = {
        "one string": "abc",
        "a number": 3,
        "None": None,
        "an empty list": [],
        "None inside": [*items[:1], None, *items[2:]],
        "a number inside": [*items[:1], 3.5, *items[2:]],
    }
    for what, X in bad.items():
        assert_raises(InputError, f"fit with {what} for X", case.new().fit, X, case.y)
        if what != "an empty list":
            assert_raises(InputError, f"predict with {what} for X", case.model.predict, X)


def bad_labels_are_refused(case: _Case) -> None:
    holes, named = case.codes.astype(float), [f"class {k}" for k in case.codes]
    holes[len(holes) // 2] = np.nan
    bad: dict[str, Any] = {
        "no labels": None,
        "one label too few": case.y[:-1],
        "one label too many": np.append(case.y, case.y[:1]),
        "one class only": np.full(len(case.y), case.classes[0]),
        "NaN among numbers": holes,
        "NaN among names": [float("nan"), *named[1:]],
        "None among names": [None, *named[1:]],
        "two types": [1, *named[1:]],
        "labels that are no whole numbers": case.codes + 0.5,
        "a table of labels": np.column_stack([case.y, case.y]),
    }
    for what, y in bad.items():
        assert_raises(InputError, f"fit with {what}", case.new().fit, case.X, y)


def bad_numbers_are_refused(case: _Case) -> None:
    holes, endless = case.y.copy(), case.y.copy()
    holes[1], endless[1] = np.nan, np.inf
    bad: dict[str, Any] = {
        "no numbers": None,
        "one number too few": case.y[:-1],
        "one number too many": np.append(case.y, 1.0),
        "NaN": holes,
        "infinity": endless,
        "strings": [str(v) for v in case.y],
        "None inside": [None, *case.y[1:]],
        "complex numbers": case.y + 1j,
    }
    for what, y in bad.items():
        assert_raises(InputError, f"fit with {what} for y", case.new().fit, case.X, y)


def bad_weights_and_parameters_are_refused(case: _Case) -> None:
    ones, label = np.ones(len(case.y)), next(iter(case.classes.tolist()), None)
    for what, weights in (("negative", -ones), ("NaN", ones * np.nan), ("too few", ones[1:]), ("zero", 0 * ones)):
        assert_raises(InputError, f"fit with weights that are {what}", case.new().fit, case.X, case.y, weights)
    bad: dict[str, tuple[Any, ...]] = {
        "C": (0, -1.0, np.nan, np.inf, "1"),
        "alpha": (0, -1.0, np.nan, np.inf, "1"),
        "epsilon": (-0.1, np.nan, np.inf, "1"),
        "tol": (0, -1e-3, np.nan),
        "max_epochs": (0, 1.5),
        "class_weight": ("even", {"no such class": 2.0}, {label: -1.0}, {label: np.inf}),
    }
    for name in bad.keys() & case.estimator.get_params().keys():
        for value in bad[name]:
            model = case.new(**{name: value})
            assert_raises(InputError, f"fit with {name}={value!r}", model.fit, case.X, case.y)


def a_refused_fit_leaves_the_model_as_it_was(case: _Case) -> None:
    model = case.new().fit(case.X, case.y)
    assert_raises(InputError, "fit with one label too few", model.fit, case.X, case.y[:-1])
    case.assert_decisions(model, "after a fit that failed")


def works_in_a_pipeline(case: _Case) -> None:
    case.assert_decisions(make_pipeline(case.new()).fit(case.X, case.y), "of a pipeline")


def works_in_cross_validation(case: _Case) -> None:
    split = case.folds()
    scores = cross_val_score(case.new(), case.X, case.y, cv=split, error_score="raise")
    for score, (train, test) in zip(scores, split.split(case.y, case.y), strict=True):
        model = case.new().fit(take(case.X, train), case.y[train])
        expected = model.score(take(case.X, test), case.y[test])
        assert score == expected, f"cross_val_score gives {score}, the same fold by hand {expected}"


def works_in_a_grid_search(case: _Case) -> None:
    params = case.estimator.get_params()
    grid: list[dict[str, list[Any]]] = [
        {name: [params[name], params[name] / 10]} for name in ("C", "alpha") if name in params
    ] or [{}]
    if params.get("kernel") is not None:
        inner = [name for name in sorted(params) if name.startswith("kernel__")]
        grid.append({"kernel": [params["kernel"].normalized()]})
        grid.append({name: [params[name]] for name in inner})
    search = GridSearchCV(case.new(), grid, cv=case.folds(), error_score="raise").fit(case.X, case.y)
    assert len(search.predict(case.X)) == len(case.y), "the best model does not predict"


_LAWS = laws_of(globals())
_FOR_CLASSES = (
    predicts_the_highest_decision,
    labels_of_every_type_come_back_as_given,
    a_class_weight_is_a_sample_weight,
    bad_labels_are_refused,
)
_FOR_NUMBERS = (
    predicts_numbers,
    numbers_of_every_type_will_do,
    a_constant_added_to_the_numbers_is_added_to_the_predictions,
    bad_numbers_are_refused,
)
LAWS = tuple(law for law in _LAWS if law not in _FOR_NUMBERS)
REGRESSOR_LAWS = tuple(law for law in _LAWS if law not in _FOR_CLASSES)
