"""treille report, and --report of other commands: the page has the right examples, and names them."""

import re
from pathlib import Path

import pytest

import treille
from treille.kernels import NGram


def page(name="report.html"):
    return re.sub(
        r"\s+", " ", re.sub(r"<(style|script)>.*?</\1>", "", Path(name).read_text(encoding="utf-8"), flags=re.S)
    )


def test_it_writes_a_page_with_both_baselines(cli, wines, model):
    answer = cli("report", model, wines, "--train", wines)
    assert answer.code == 0, answer.err
    assert answer.out.startswith("written:  report.html, ")
    text = page()
    assert "SVC on wines.csv" in text
    assert "<h1><bdi>SVC on wines.csv</bdi></h1>" in text
    assert "60 examples; trained" in text  # how long is not in a model file
    assert "TF-IDF words, LinearSVC" in text
    assert "too good" not in text
    assert f"predict {model}" in text
    assert "line 2" in text


def test_a_report_without_a_file_is_of_the_training_data_and_marked(cli, wines, model):
    assert cli("report", model, "--train", wines).code == 0
    assert "These are the training examples: the figures are too good." in page()


def test_a_report_without_data_describes_the_model_only(cli, model):
    value = cli("report", model, "--output", "alone.html", "--json").json()
    assert value == {"model": str(model), "report": "alone.html", "bytes": Path("alone.html").stat().st_size}
    assert "There are no examples" in page("alone.html")


def test_examples_without_labels_have_no_scores(cli, model):
    Path("new.txt").write_text("a red wine\na white wine\n")
    assert cli("report", model, "new.txt").code == 0
    assert "There are no labels, so there are no scores." in page()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--model", "m.treille"], "too good"),
        (["--holdout", "0.25"], "held out: the figures are of a model trained on the others"),
        (["--cv", "3"], "the first of 3 folds"),
        (["--test", "test.csv"], "on test.csv"),
    ],
)
def test_train_reports_on_held_out_examples_if_there_are_any(cli, wines, words, said):
    Path("test.csv").write_text("".join(wines.read_text().splitlines(keepends=True)[:6]))
    answer = cli("train", wines, *words, "--kernel", "ngram(3).normalized()", "--report", "page.html", "--json")
    assert answer.code == 0, answer.err
    assert answer.json()["page"] == "page.html"
    text = page("page.html")
    assert said in text
    assert ("too good" in text) == (said == "too good")
    assert "TF-IDF" in text


def test_the_report_has_the_held_out_examples_that_are_scored(cli, wines):
    answer = cli("train", wines, "--holdout", "0.25", "--kernel", "ngram(3)", "--report", "page.html", "--json")
    accuracy = answer.json()["score"]["accuracy"]["mean"]
    assert f'<p class="value">{accuracy:.3f}</p>' in page("page.html")
    assert "15 examples" in page("page.html")


@pytest.mark.parametrize(
    ("words", "read", "predicted"),
    [
        (["--model", "m.treille"], [60, 60], [60]),
        (["--holdout", "0.5"], [60, 30], [30]),
        (["--cv", "2"], [60, 30], [30]),
        (["--test", "wines.csv"], [60, 60, 60], [60]),
    ],
)
def test_train_reads_and_predicts_the_examples_of_its_report_once(cli, wines, monkeypatch, words, read, predicted):
    # The last examples read are a sample of the training examples: joined features are looked for in their texts.
    found, outputs, batch, decide = [], [], NGram.batch, treille.SVC.decision_function

    def counting(kernel, X, n_jobs=None):
        found.extend([len(X)] * (isinstance(X, list) and len(X) > 20))  # at most 20 examples are explained at once
        return batch(kernel, X, n_jobs)

    def counting_outputs(model, X):
        outputs.append(len(X))
        return decide(model, X)

    monkeypatch.setattr(NGram, "batch", counting)
    monkeypatch.setattr(treille.SVC, "decision_function", counting_outputs)
    assert cli("train", wines, *words, "--kernel", "ngram(3)", "--report", "page.html").code == 0
    assert (found, outputs) == (read, predicted)


def test_evaluate_reports_too(cli, wines, model):
    answer = cli("evaluate", model, wines, "--report", "page.html", "--json")
    assert f'<p class="value">{answer.json()["accuracy"]:.3f}</p>' in page("page.html")


def test_evaluate_reports_on_numbers(cli, tmp_path):
    X = [f"{'very ' * (i % 5)}good" for i in range(20)]
    treille.Ridge("ngram(1, unit=word)").fit(X, [float(i % 5) for i in range(20)]).save(tmp_path / "ridge.treille")
    Path("data.tsv").write_text("".join(f"{i % 5}\t{x}\n" for i, x in enumerate(X)))
    assert cli("evaluate", "ridge.treille", "data.tsv", "--report", "page.html").code == 0
    assert "R²" in page("page.html")
    assert cli("report", "ridge.treille", "data.tsv", "--train", "data.tsv").code == 0
    assert "always the mean" in page()


def test_a_tagger_reads_tagged_sentences(cli):
    Path("chunks.txt").write_text(
        "the DT B-NP\ncat NN I-NP\nsleeps VBZ B-VP\n\na DT B-NP\ndog NN I-NP\nbarks VBZ B-VP\n\n" * 3
    )
    assert cli("tag", "train", "chunks.txt", "--model", "chunks.treille", "--min-count", "1").code == 0
    assert cli("report", "chunks.treille", "chunks.txt", "--train", "chunks.txt").code == 0
    assert "F1 of chunks" in page()
    assert "Tagger on chunks.txt" in page()
    assert "6 sentences with 18 tokens" in page()
    assert cli("tag", "evaluate", "chunks.treille", "chunks.txt", "--report", "evaluated.html").code == 0
    assert "Accuracy of tags" in page("evaluated.html")


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--holdout", "0.34"], "held out"), (["--test", "chunks.txt"], "6 sentences"), ([], "too good")],
)
def test_tag_train_reports_on_held_out_sentences_if_there_are_any(cli, words, said):
    Path("chunks.txt").write_text("the DT B-NP\ncat NN I-NP\n\na DT B-NP\ndog NN I-NP\n\n" * 3)
    rest = ["--min-count", "1", "--model", "m.treille", "--report", "page.html"]
    assert cli("tag", "train", "chunks.txt", *words, *rest).code == 0
    assert said in page("page.html")
    assert ("too good" in page("page.html")) == (said == "too good")


def test_a_report_overwrites_reports_only(cli, wines, model):
    Path("thesis.html").write_text("<p>my thesis</p>")
    for words in (
        ["report", model, "--output"],
        ["evaluate", model, wines, "--report"],
        ["train", wines, "--cv", "3", "--report"],
    ):
        answer = cli(*words, "thesis.html")
        assert answer.code == 1
        assert "exists and is no report of treille" in answer.err
    assert Path("thesis.html").read_text() == "<p>my thesis</p>"
    assert cli("report", model, "--output", "thesis.html", "--force").code == 0
    assert cli("report", model, "--output", "thesis.html").code == 0
    assert "is an input" in cli("report", model, wines, "--output", wines).err
