"""Treille inside scikit-learn's tools: pipelines, searches, cross-validation, stacking and calibration."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

import treille
from treille import SVC, Features, InputError, Strings
from treille.kernels import Linear, NGram, Polynomial
from treille.solvers import DualCD

RANDOM = np.random.default_rng(2)
CODES = np.arange(60) % 2
TEXTS = ["".join(RANDOM.choice(list("abcd" if k else "bcde"), 8)) for k in CODES]
LABELS = np.array(["no", "yes"])[CODES]
LOWER = FunctionTransformer(lambda X: [text.lower() for text in X])


@pytest.mark.parametrize("X", [TEXTS, np.array(TEXTS), pd.Series(TEXTS, index=range(100, 160)), Strings(TEXTS)])
def test_cross_validation_reads_lists_arrays_series_and_batches(X):
    split = StratifiedKFold(3, shuffle=True, random_state=0)
    expected = cross_val_score(SVC(NGram(2)), TEXTS, LABELS, cv=split)
    scores = cross_val_score(SVC(NGram(2)), X, LABELS, cv=split, error_score="raise")
    assert scores.tolist() == expected.tolist()
    assert scores.mean() > 0.6


@pytest.mark.parametrize("X", [TEXTS, Strings(TEXTS)], ids=["list", "batch"])
def test_a_grid_search_reaches_the_kernels_parameters(X):
    search = GridSearchCV(SVC(NGram(2)), {"kernel__n": [1, 2, 3], "C": [0.1, 1]}, cv=3, error_score="raise")
    search.fit(X, LABELS)
    assert search.best_estimator_.kernel.n == search.best_params_["kernel__n"]
    assert len(search.cv_results_["params"]) == 6
    assert len(set(search.cv_results_["mean_test_score"])) > 1


def test_a_grid_search_reaches_the_kernel_inside_a_cosine():
    search = GridSearchCV(SVC(NGram(2).normalized()), {"kernel__kernel__n": [1, 4]}, cv=3, error_score="raise")
    search.fit(TEXTS, LABELS)
    assert search.best_estimator_.kernel.kernel.n == search.best_params_["kernel__kernel__n"]
    assert search.predict(TEXTS).shape == (60,)


def test_a_grid_search_may_compare_kernels_and_reach_the_solver():
    grid = {"kernel": [NGram(1), NGram(2).normalized()], "solver__shrinking": [True, False]}
    search = GridSearchCV(SVC(NGram(2), solver=DualCD()), grid, cv=2, error_score="raise").fit(TEXTS, LABELS)
    assert len(search.cv_results_["params"]) == 4


def test_a_grid_search_may_use_several_processes():
    search = GridSearchCV(SVC(NGram(2)), {"C": [0.1, 1]}, cv=2, n_jobs=2, error_score="raise").fit(
        Strings(TEXTS), LABELS
    )
    assert search.best_score_ > 0.5


def test_a_pipeline_may_come_before_the_model():
    upper = [text.upper() for text in TEXTS]
    pipeline = make_pipeline(LOWER, SVC(NGram(2))).fit(upper, LABELS)
    expected = SVC(NGram(2)).fit(TEXTS, LABELS)
    assert np.array_equal(pipeline.decision_function(upper), expected.decision_function(TEXTS))
    assert pipeline.score(upper, LABELS) == expected.score(TEXTS, LABELS)


def test_weights_go_through_a_pipeline():
    weights = RANDOM.uniform(0, 2, 60)
    pipeline = Pipeline([("svc", SVC(NGram(2)))]).fit(TEXTS, LABELS, svc__sample_weight=weights)
    expected = SVC(NGram(2)).fit(TEXTS, LABELS, sample_weight=weights)
    assert np.array_equal(pipeline.decision_function(TEXTS), expected.decision_function(TEXTS))


def test_features_feed_any_linear_model():
    pipeline = make_pipeline(Features(NGram(2)), SelectKBest(chi2, k=5), LogisticRegression())
    search = GridSearchCV(pipeline, {"features__kernel__n": [1, 2]}, cv=2, error_score="raise").fit(TEXTS, LABELS)
    assert search.score(TEXTS, LABELS) > 0.6


def test_features_join_others():
    union = make_union(Features(NGram(1)), Features(NGram(2).normalized()))
    matrix = union.fit_transform(TEXTS)
    names = union.get_feature_names_out()
    assert matrix.shape == (60, len(names))
    assert names[0].startswith("features-1__")


def test_predictions_can_be_calibrated_and_cross_validated():
    assert CalibratedClassifierCV(SVC(NGram(2)), cv=2).fit(TEXTS, LABELS).predict_proba(TEXTS).shape == (60, 2)
    assert cross_val_predict(SVC(NGram(2)), TEXTS, LABELS, cv=2).shape == (60,)


@pytest.mark.parametrize(
    "model", [SVC(), SVC(NGram(2).normalized(), C=3, solver=DualCD(max_seconds=9)), Features(NGram(3))]
)
def test_clones_are_equal_and_independent(model):
    twin = clone(model)
    assert repr(twin) == repr(model)
    if model.kernel is not None:
        assert twin.kernel is not model.kernel
    assert twin.set_params(**model.get_params()) is twin


def test_unknown_parameters_are_refused_by_name():
    with pytest.raises(ValueError, match="Invalid parameter 'order' for estimator NGram"):
        SVC(NGram(2)).set_params(kernel__order=3)


def test_pickles_keep_the_fitted_model():
    model, features = SVC(NGram(2)).fit(TEXTS, LABELS), Features(NGram(2).normalized()).fit(TEXTS)
    again, columns = pickle.loads(pickle.dumps((model, features)))
    assert np.array_equal(again.decision_function(TEXTS), model.decision_function(TEXTS))
    assert (columns.transform(TEXTS) != features.transform(TEXTS)).nnz == 0
    assert columns.get_feature_names_out().tolist() == features.get_feature_names_out().tolist()


def test_unfitted_estimators_raise_an_error():
    for use in (SVC().predict, SVC().decision_function, Features(NGram(2)).transform):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            use(TEXTS)
    for use in (SVC().top_features, Features(NGram(2)).get_feature_names_out):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            use()
    assert not hasattr(SVC(), "coef_")


def test_scikit_learn_recognises_classifiers_and_regressors():
    tags = SVC().__sklearn_tags__()
    assert tags.estimator_type == "classifier"
    assert tags.input_tags.string
    assert not tags.input_tags.two_d_array


@pytest.mark.parametrize(
    "estimator",
    [
        treille.SVC(1 + Linear()),
        treille.Perceptron(1 + Linear()),
        treille.Perceptron(Linear(), averaged=False),
        treille.SVR(Linear()),
        treille.Ridge(Linear()),
        treille.SVCCV(1 + Linear(), Cs=[0.1, 1.0], cv=2),
        treille.SVRCV(Linear(), Cs=[0.1, 1.0], cv=2),
        treille.RidgeCV(Linear(), alphas=[0.1, 1.0]),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore")
def test_with_a_kernel_of_numbers_scikit_learns_checks_pass(estimator):
    # Weights of examples are the same as repetitions up to tol, but these two ask for 1e-7 at the default tol. And folds of
    # repeated examples are others, as are the steps of a perceptron.
    strict = {"check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"}
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {r["check_name"] for r in results if r["status"] == "failed"}
    assert len(results) > 55
    assert failed <= (strict if estimator.tol > 1e-6 else set())


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), Linear().normalized()], ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_features_of_numbers_pass_scikit_learns_checks_of_transformers(kernel):
    results = check_estimator(Features(kernel), on_fail=None, on_skip=None)
    assert len(results) > 45
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []


def test_tags_follow_the_kernel():
    assert treille.Features(Linear()).__sklearn_tags__().input_tags.two_d_array
    assert treille.SVC(Linear() + Linear()).__sklearn_tags__().input_tags.two_d_array
    assert not treille.SVC(NGram(1)).__sklearn_tags__().input_tags.two_d_array
    assert treille.SVC("precomputed").__sklearn_tags__().input_tags.pairwise


@pytest.mark.parametrize("n_jobs", ["all", 0, 1.5, True])
def test_an_invalid_number_of_threads_is_refused(n_jobs):
    with pytest.raises(InputError, match=r"n_jobs is .*, expected None, a number of threads, or -1 for all processors"):
        treille.SVC(NGram(1), n_jobs=n_jobs).fit(["a", "b"], [0, 1])


def test_a_frame_of_several_kinds_names_columns():
    frame = pd.DataFrame({"title": ["a b", "c d"], "year": [1, 2]})
    for model in (treille.SVC(), treille.SVC(NGram(2))):
        with pytest.raises(InputError, match=r"give each column a kernel, treille.kernels.Columns\(\{'title': NGram"):
            model.fit(frame, [0, 1])
