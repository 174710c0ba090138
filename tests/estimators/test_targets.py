"""Labels and targets are checked in one place, for all estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import treille
from treille import InputError
from treille.kernels import NGram

X = ["abab", "baba", "ccdd", "ddcc", "abba", "cdcd"]
CLASSIFIERS = [
    treille.SVC,
    treille.LogisticRegression,
    treille.Perceptron,
    treille.LearnedSVC,
    treille.SVCCV,
    treille.LogisticRegressionCV,
    treille.LearnedSVCCV,
]
REGRESSORS = [treille.SVR, treille.Ridge, treille.LearnedRidge, treille.SVRCV, treille.RidgeCV, treille.LearnedRidgeCV]
NO_LABELS: list[tuple[Any, str]] = [
    ([{"p"}, {"q"}, {"p", "q"}, {"p"}, {"q"}, {"p"}], "label 0 is a set, expected one label per example.*train one model for each"),
    ([["p"], ["q"], ["p", "q"], [], ["q"], ["p"]], "label 0 is a list"),
    ([["p"], ["q"], ["p"], ["q"], ["q"], ["p"]], "label 0 is a list"),
    (["p", ("q", "p"), "p", "q", "q", "p"], "label 1 is a tuple"),
    (pd.Series([["p"], ["q"], ["p", "q"], [], ["q"], ["p"]]), "label 0 is a list"),
    ([{"p": 1}] * 6, "label 0 is a dict"),
    (np.eye(6, dtype=int), r"labels have the shape \(6, 6\).*train one model for each"),
    ("ababab", r"labels have the shape \(\)"),
    ({1, 2}, "the labels are a set"),
    (iter("ababab"), "the labels are a str_(ascii_)?iterator"),
    (dict.fromkeys("abcdef", 1), "the labels are a dict"),
    ([object() for _ in X], "labels are of the type object, which has no order"),
]  # fmt: skip
NO_NUMBERS: list[tuple[Any, str]] = [
    ([{1}, {2}, {3}, {4}, {5}, {6}], "target 0 is a set"),
    ([[1.0], [1.0, 2.0], [3.0], [1.0], [1.0], [2.0]], "targets are lists of different lengths"),
    (dict.fromkeys("abcdef", 1.0), "the targets are a dict"),
]


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.parametrize(("y", "said"), NO_LABELS)
def test_what_is_not_one_label_per_example_is_refused_by_name_in_every_classifier(estimator, y, said):
    with pytest.raises(InputError, match=said):
        estimator(NGram(2)).fit(X, y)


@pytest.mark.parametrize("estimator", REGRESSORS)
@pytest.mark.parametrize(("y", "said"), NO_NUMBERS)
def test_what_is_not_a_number_per_example_is_refused_by_name_in_every_regressor(estimator, y, said):
    with pytest.raises(InputError, match=said):
        estimator(NGram(2)).fit(X, y)


def test_streams_weights_by_labels_scores_and_reports_check_labels_in_the_same_way(tmp_path):
    sets = NO_LABELS[0][0]
    model, path = treille.SVC(NGram(2)).fit(X, list("aabbab")), tmp_path / "report.html"
    for use in (
        lambda: treille.Perceptron(NGram(2)).partial_fit(X, sets),
        lambda: treille.Perceptron(NGram(2)).partial_fit(X, list("aabbab"), classes=sets),
        lambda: treille.Features(NGram(2).weighted("nb")).fit(X, sets),
        lambda: model.score(X, sets),
        lambda: model.write_report(X, sets, path),
        lambda: model.write_report(X, list("aabbab"), path, train=(X, sets)),
    ):
        with pytest.raises(InputError, match="label 0 is a set"):
            use()
    with pytest.raises(InputError, match="target 0 is a set"):
        treille.Ridge(NGram(2)).fit(X, range(6)).score(X, NO_NUMBERS[0][0])


def test_a_column_of_a_data_frame_is_one_label_per_example():
    with pytest.warns(UserWarning, match="column-vector"):
        model = treille.SVC(NGram(2)).fit(X, pd.DataFrame({"y": list("aabbab")}))
    assert model.classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("options", [{}, {"groups": "parts"}, {"learn": "alignment"}, {"learn": "alignment-nnls"}])
def test_kernels_are_learned_for_several_targets(options):
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(6, 2))
    for given in (Y, Y.tolist()):
        model = treille.LearnedRidge(NGram(2, min_n=1), **options).fit(X, given)
        assert model.predict(X).shape == (6, 2)


def test_a_default_kernel_with_one_part_is_refused_where_parts_are_to_be_weighed():
    X = np.random.default_rng(0).normal(size=(8, 3))
    with pytest.raises(InputError, match="has one part only"):
        treille.LearnedRidge(groups="parts").fit(X, X[:, 0])
