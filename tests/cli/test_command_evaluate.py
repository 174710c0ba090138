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
    assert value["auc"] == pytest.approx(roc_auc_score([t == "white" for t in truth], svc.decision_function(texts)))
    assert value["positive"] == "white"
    for label, scores in value["per_class"].items():
        assert scores == pytest.approx({k.replace("-score", ""): v for k, v in report[label].items()})


def test_the_tables_show_every_class_the_averages_and_the_confusions(cli, model, wines):
    answer = cli("evaluate", model, wines)
    assert answer.code == 0
    assert "accuracy 0.9667 (58 of 60 right)" in answer.out
    assert "F1 of 'white' 0.9750, area under the ROC curve 0." in answer.out
    assert [line.split()[0] for line in answer.out.splitlines() if line][2:7] == [
        "class",
        "red",
        "white",
        "macro",
        "micro",
    ]
    assert "true, predicted as  red  white" in answer.out


def test_labels_that_the_model_does_not_know_are_an_error_in_evaluate_and_report(cli, model):
    Path("more.csv").write_text("text,label\na red wine of dark cherries,red\na pink wine,pink\n")
    for answer in (cli("evaluate", model, "more.csv"), cli("report", model, "more.csv", "--output", "r.html")):
        assert (answer.code, answer.out) == (1, "")
        assert (
            "more.csv: 1 example has a label that the model does not know, pink (1); it knows red, white" in answer.err
        )
    assert not Path("r.html").exists()


@pytest.mark.parametrize(
    ("labels", "positive"),
    [("+-", "+"), ("01", "1"), (["-1", "1"], "1"), (["No", "Yes"], "Yes"), (["True", "False"], "True"), ("ba", "b"),
     (["positive", "zero"], "positive")],
)  # fmt: skip
def test_every_command_takes_the_same_class_as_positive_however_rare_it_is(cli, labels, positive):
    one, other = labels
    for rare, often in ((one, other), (other, one)):
        names = [rare] * 4 + [often] * 8
        rows = "".join(f"{'ab' if name == one else 'cd'}{'xy' * (i % 3)}\t{name}\n" for i, name in enumerate(names))
        Path("a.tsv").write_text(f"text\tlabel\n{rows}")
        train = ("train", "a.tsv", "--kernel", "ngram(2)", "--json")
        for how in (["--cv", 2], ["--holdout", 0.5], ["--test", "a.tsv"], ["--cv", 2, "--C", "0.1,1"]):
            assert cli(*train, *how).json()["score"]["positive"] == positive
        assert cli(*train, "--cv", 2, "--positive", one).json()["score"]["positive"] == one
        assert cli(*train, "--model", "m.treille").code == 0
        assert cli("evaluate", "m.treille", "a.tsv", "--json").json()["positive"] == positive
        assert cli("evaluate", "m.treille", "a.tsv", "--json", "--positive", other).json()["positive"] == other
        assert cli("report", "m.treille", "a.tsv", "--force").code == 0
        assert f"F1 of {positive}" in Path("report.html").read_text()
        assert cli("report", "m.treille", "a.tsv", "--force", "--positive", other).code == 0
        assert f"F1 of {other}" in Path("report.html").read_text()


def test_a_positive_class_that_is_none_is_refused(cli, model, wines):
    for words in (("evaluate", model, wines), ("report", model, wines), ("train", wines, "--cv", 2)):
        answer = cli(*words, "--positive", "rosé")
        assert answer.code == 2
        assert "--positive" in answer.err
        assert "the classes are red, white" in answer.err


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
