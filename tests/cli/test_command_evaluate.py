"""treille evaluate: the scores equal those of scikit-learn."""

from pathlib import Path

import pytest
from sklearn.metrics import accuracy_score, classification_report, confusion_matrix, f1_score, roc_auc_score

import treille


def test_the_scores_equal_those_of_scikit_learn(cli, model, wines):
    texts, truth = map(list, zip(*(line.rsplit(",", 1) for line in wines.read_text().splitlines()[1:]), strict=True))
    svc = treille.load(model)
    predicted = svc.predict(texts).tolist()
    value = cli("evaluate", model, wines, "--json").json()
    report = classification_report(truth, predicted, output_dict=True)
    assert value["accuracy"] == value["micro_f1"] == accuracy_score(truth, predicted)
    assert value["macro_f1"] == pytest.approx(f1_score(truth, predicted, average="macro"))
    assert value["confusion"] == confusion_matrix(truth, predicted).tolist()
    assert value["auc"] == pytest.approx(roc_auc_score([t == "red" for t in truth], -svc.decision_function(texts)))
    assert value["positive"] == "red"
    for label, scores in value["per_class"].items():
        assert scores == pytest.approx({k.replace("-score", ""): v for k, v in report[label].items()})


def test_the_tables_show_every_class_the_averages_and_the_confusions(cli, model, wines):
    answer = cli("evaluate", model, wines)
    assert answer.code == 0
    assert "accuracy 0.9667 (58 of 60 right)" in answer.out
    assert "F1 of 'red' 0.9500, area under the ROC curve 0." in answer.out
    assert [line.split()[0] for line in answer.out.splitlines() if line][2:7] == [
        "class",
        "red",
        "white",
        "macro",
        "micro",
    ]
    assert "true, predicted as  red  white" in answer.out


def test_a_label_that_the_model_does_not_know_is_reported_and_counts_as_an_error(cli, model):
    Path("more.csv").write_text("text,label\na red wine of dark cherries,red\na pink wine,pink\n")
    answer = cli("evaluate", model, "more.csv", "--json")
    assert "pink (1)" in answer.err
    value = answer.json()
    assert value["accuracy"] == 0.5
    assert value["unknown_labels"] == {"pink": 1}
    assert value["per_class"]["pink"]["recall"] == 0
    assert value["auc"] is None


def test_confusions_are_numbered_where_names_are_too_wide_and_left_out_of_many_classes(cli):
    def evaluate(n):
        names = [f"a rather long name of a class, {chr(97 + i)}" for i in range(n)]
        Path("m.tsv").write_text(
            "text\tlabel\n" + "".join(f"{chr(97 + i) * 3}\t{name}\n" for i, name in enumerate(names)) * 2
        )
        cli("train", "m.tsv", "--kernel", "ngram(1)", "--model", "m.treille")
        return cli("evaluate", "m.treille", "m.tsv").out

    assert "1 a rather long name of a class, a" in evaluate(10)
    assert "predicted as" not in evaluate(11)
