"""Every command works with the models of every estimator, or refuses them with the reason."""

import numpy as np
import pytest

import treille
from treille.kernels import NGram, Subsequence

TEXTS = ["a", "aa", "ab", "b", "bb", "aab"]
NUMBERS = [1.0, 2.0, 0.0, -1.0, -2.0, 1.0]
TABLE = "text,label\n" + "".join(f"{text},{number}\n" for text, number in zip(TEXTS, NUMBERS, strict=True))
REGRESSORS = [treille.Ridge(NGram(1), alpha=0.01), treille.SVR(NGram(1), C=100.0), treille.Ridge(Subsequence(1))]


@pytest.fixture
def numbers(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE)
    return tmp_path / "a.csv"


@pytest.mark.parametrize("estimator", REGRESSORS, ids=repr)
def test_models_of_numbers_are_used_by_every_command(cli, numbers, estimator):
    model = estimator.fit(TEXTS, NUMBERS)
    model.save("m.treille")
    predicted = cli("predict", "m.treille", numbers)
    assert predicted.code == 0, predicted.err
    assert [float(line) for line in predicted.out.splitlines()] == pytest.approx(model.predict(TEXTS).tolist())
    assert cli("predict", "m.treille", numbers, "--json").json()["numbers"] == pytest.approx(model.predict(TEXTS))
    evaluated = cli("evaluate", "m.treille", numbers, "--json")
    assert evaluated.code == 0, evaluated.err
    assert evaluated.json()["r2"] == pytest.approx(model.score(TEXTS, NUMBERS))
    error = np.abs(model.predict(TEXTS) - NUMBERS).mean()
    assert evaluated.json()["mean_absolute_error"] == pytest.approx(error)
    assert "R2 " in cli("evaluate", "m.treille", numbers).out
    inspected = cli("inspect", "m.treille")
    assert inspected.code == 0, inspected.err
    assert f"a model of treille ({type(model).__name__})" in inspected.out
    assert cli("inspect", "m.treille", "--json").json()["classes"] == []


def test_models_of_several_targets_predict_rows_and_are_not_evaluated(cli, numbers):
    model = treille.Ridge(NGram(1)).fit(TEXTS, np.column_stack([NUMBERS, NUMBERS[::-1]]))
    model.save("m.treille")
    rows = [line.split("\t") for line in cli("predict", "m.treille", numbers).out.splitlines()]
    assert np.allclose(np.array(rows, float), model.predict(TEXTS))
    answer = cli("evaluate", "m.treille", numbers)
    assert answer.code == 1
    assert "the model predicts 2 numbers per example, and a.csv has one label for each" in answer.err.replace(
        str(numbers), "a.csv"
    )
    assert "target 2" in cli("inspect", "m.treille").out


def test_scores_of_a_model_of_numbers_are_refused(cli, numbers):
    treille.Ridge(NGram(1)).fit(TEXTS, NUMBERS).save("m.treille")
    answer = cli("predict", "m.treille", numbers, "--scores")
    assert answer.code == 2
    assert "Ridge predicts numbers, which have no scores" in answer.err


def test_labels_that_are_not_numbers_are_refused(cli, tmp_path):
    treille.Ridge(NGram(1)).fit(TEXTS, NUMBERS).save("m.treille")
    (tmp_path / "b.csv").write_text("text,label\nab,spam\n")
    answer = cli("evaluate", "m.treille", "b.csv")
    assert answer.code == 1
    assert "b.csv, line 2: the label is 'spam', expected a finite number" in answer.err


def test_models_of_one_class_separate_inliers_from_outliers(cli, tmp_path):
    model = treille.OneClassSVM(NGram(1), nu=0.5).fit(TEXTS)
    model.save("m.treille")
    expected = [str(label) for label in model.predict(TEXTS)]
    (tmp_path / "a.csv").write_text(
        "text,label\n" + "".join(f"{x},{y}\n" for x, y in zip(TEXTS, expected, strict=True))
    )
    assert cli("predict", "m.treille", "a.csv").out.split() == expected
    assert cli("predict", "m.treille", "a.csv", "--scores").out.startswith("label\t-1\t1\n")
    assert cli("evaluate", "m.treille", "a.csv", "--json").json()["accuracy"] == 1.0
    assert "a model of treille (OneClassSVM)" in cli("inspect", "m.treille").out


@pytest.mark.parametrize("kernel", ["ngram(1)", "subsequence(1)"])
def test_models_of_classes_are_used_by_every_command(cli, wines, kernel):
    assert cli("train", wines, "--kernel", kernel, "--model", "m.treille").code == 0
    for words in (("predict", "m.treille", wines), ("evaluate", "m.treille", wines), ("inspect", "m.treille")):
        answer = cli(*words)
        assert answer.code == 0, answer.err
