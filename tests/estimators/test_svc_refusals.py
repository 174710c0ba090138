"""SVC and Features refuse bad input with a message that says what to do."""

import numpy as np
import pandas as pd
import pytest

from treille import SVC, Features, InputError
from treille.kernels import NGram

TEXTS, LABELS = ["ab", "ba", "cd", "dc"], ["x", "x", "y", "y"]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("abba", r"one str was given, expected a list of them: write \[text\]"),
        (["ab", None, "cd", "dc"], "item 1 is None, expected str"),
        (["ab", 7, "cd", "dc"], r"item 1 is int \(7\), expected str"),
        ([], "there are no examples"),
        (None, "found NoneType, expected a list"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("kernel", [NGram(2), NGram(2).normalized()], ids=repr)
def test_bad_examples_are_refused(X, message, kernel):
    with pytest.raises(InputError, match=message):
        SVC(kernel).fit(X, LABELS)
    with pytest.raises(InputError, match=message):
        Features(kernel).fit(X)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, r"labels are missing: fit\(X, y\) requires y to be passed"),
        (["x", "y"], "there are 4 examples but 2 labels"),
        (LABELS * 2, "there are 4 examples but 8 labels"),
        ("xxyy", r"labels have the shape \(\), expected one dimension"),
        (np.eye(4), r"labels have the shape \(4, 4\), expected one dimension"),
        ([0.0, np.nan, 1.0, 1.0], "label 1 is NaN"),
        (["x", "x", float("nan"), "y"], r"label 2 is missing \(None or NaN\)"),
        (["x", None, "y", "y"], r"label 1 is missing \(None or NaN\)"),
        (pd.Series(["x", "y", None, "y"]), r"label 2 is missing"),
        (pd.Series(["x", "y", pd.NA, "y"], dtype="string"), r"label 2 is missing"),
        ([0.5, 1, 1, 2], "label 0 is not a whole number, so it names no class"),
        ([1, 1, np.inf, 2], "label 2 is not a whole number"),
        (["x", "y", 1, "y"], r"labels are of several types \(int, str\), expected one"),
        (np.array(["x", 2, 3, 4], dtype=object), r"labels are of several types \(int, str\), expected one"),
        (["x"] * 4, "all labels are .*'x'.*: there is one class, expected at least two"),
        ([True] * 4, "all labels are .*True.*: there is one class, expected at least two"),
    ],
    ids=repr,
)
def test_bad_labels_are_refused(y, message):
    with pytest.raises(InputError, match=message):
        SVC(NGram(2)).fit(TEXTS, y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"C": 0}, "C is 0, expected a positive number"),
        ({"C": -1.0}, "C is -1.0, expected a positive number"),
        ({"C": np.nan}, "C is nan, expected a positive number"),
        ({"C": np.inf}, "C is inf, expected a positive number"),
        ({"C": "1"}, "C is '1', expected a positive number"),
        ({"C": True}, "C is True, expected a positive number"),
        ({"C": None}, "C is None, expected a positive number"),
        ({"loss": "log"}, "loss is 'log', expected 'hinge' or 'squared_hinge'"),
        ({"tol": 0}, "tol is 0, expected a positive number"),
        ({"tol": "1e-3"}, "tol is '1e-3', expected a positive number"),
        ({"max_epochs": 0}, "max_epochs is 0, expected a whole number of at least 1"),
        ({"max_epochs": 1.5}, "max_epochs is 1.5, expected a whole number of at least 1"),
        ({"random_state": -1}, "random_state is -1, expected None, a whole number from 0"),
        ({"random_state": "seven"}, "random_state is 'seven', expected None, a whole number from 0"),
        ({"kernel": "ngrams"}, "there is no kernel 'ngrams'"),
        ({"kernel": 3}, "kernel is 3, expected a kernel such as treille.kernels.NGram"),
        ({"kernel": NGram}, "kernel is .*, expected a kernel such as"),
        ({"kernel": NGram(0)}, "n is 0, expected a whole number of at least 1"),
        ({"kernel": NGram(-1).normalized()}, "n is -1, expected a whole number of at least 1"),
        ({"solver": "smo"}, "solver is 'smo', expected 'auto' or a solver such as"),
        ({"class_weight": "even"}, "class_weight is 'even', expected None, 'balanced' or a dict"),
        ({"class_weight": {"z": 2}}, r"class_weight names 'z', which is no class: there are \['x', 'y'\]"),
        ({"class_weight": {"x": 0}}, "class_weight holds a weight that is not a positive number"),
        ({"class_weight": {"x": np.inf}}, "class_weight holds a weight that is not a positive number"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(params, message):
    model = SVC(**({"kernel": NGram(2)} | params))
    with pytest.raises(InputError, match=message):
        model.fit(TEXTS, LABELS)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1], r"sample_weight has the shape \(3,\), expected \(4,\)"),
        ([[1], [1], [1], [1]], r"sample_weight has the shape \(4, 1\), expected \(4,\)"),
        ([1, -1, 1, 1], r"sample_weight\[1\] is -1.0, expected a number of at least 0"),
        ([1, 1, np.nan, 1], r"sample_weight\[2\] is nan, expected a number of at least 0"),
        ([1, 1, 1, np.inf], r"sample_weight\[3\] is inf, expected a number of at least 0"),
        ([1, 1, 0, 0], "sample_weight leaves fewer than two classes with any weight"),
    ],
    ids=str,
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(InputError, match=message):
        SVC(NGram(2)).fit(TEXTS, LABELS, sample_weight=weights)


def test_a_class_without_weight_is_allowed_beside_two_with():
    model = SVC(NGram(1)).fit([*TEXTS, "e"], [*LABELS, "z"], sample_weight=[1, 1, 1, 1, 0])
    assert model.classes_.tolist() == ["x", "y", "z"]


@pytest.mark.parametrize("method", ["predict", "decision_function"])
def test_bad_examples_are_refused_in_prediction_too(method):
    model = SVC(NGram(2)).fit(TEXTS, LABELS)
    for X, message in (("ab", "one str was given"), (["ab", None], "item 1 is None"), (7, "found int")):
        with pytest.raises(InputError, match=message):
            getattr(model, method)(X)
