"""`treille explain`: contributions of the parts of each example."""

import json

import numpy as np
import pytest

import treille


@pytest.fixture
def model(cli, wines):
    assert cli("train", wines, "--kernel", "ngram(2).normalized()", "--model", "m.treille").code == 0
    return "m.treille"


def test_contributions_sum_to_the_score(cli, wines, model):
    explained = cli("explain", model, wines, "--json").json()["explanations"]
    scores = cli("predict", model, wines, "--scores", "--json").json()
    for found, own in zip(explained, scores["scores"], strict=True):
        total = sum(found["contributions"]) + found["intercept"] + found["base"]
        assert total == pytest.approx(found["score"])
        assert found["score"] == pytest.approx(own[scores["classes"].index(found["class"])])
        assert len(found["parts"]) == len(found["contributions"])


def test_the_first_examples_are_printed_with_their_largest_parts(cli, wines, model):
    answer = cli("explain", model, wines, "--examples", "2", "--top", "3")
    assert answer.code == 0, answer.err
    assert answer.out.count("score ") == 2
    assert "the first 2 of" in answer.err


def test_a_class_can_be_chosen_and_must_exist(cli, wines, model):
    classes = treille.load(model).classes_.tolist()
    each = [cli("explain", model, wines, "--class", label, "--json").json()["explanations"] for label in classes]
    np.testing.assert_allclose(each[0][0]["contributions"], -np.array(each[1][0]["contributions"]))
    answer = cli("explain", model, wines, "--class", "beer")
    assert answer.code == 2
    assert "the model has no class 'beer': its classes are" in answer.err


def test_parts_of_kernels_without_features_are_explained_too(cli, wines):
    assert cli("train", wines, "--kernel", "subsequence(2)", "--model", "m.treille").code == 0
    found = cli("explain", "m.treille", wines, "--json").json()["explanations"][0]
    assert found["by"] == "parts"
    assert sum(found["contributions"]) + found["intercept"] + found["base"] == pytest.approx(found["score"])


def test_a_model_without_contributions_of_parts_lists_training_examples(cli, tmp_path):
    graphs = [{"nodes": ["C", "O"], "edges": [[0, 1]], "label": "a"}, {"nodes": ["N", "N"], "edges": [], "label": "b"}]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(graph) + "\n" for graph in graphs * 3))
    assert cli("train", "data.jsonl", "--kernel", "randomwalk(0.1)", "--model", "m.treille").code == 0
    answer = cli("explain", "m.treille", "data.jsonl", "--examples", "1", "--html", "page.html")
    assert "training examples that contribute most" in answer.out
    assert "2 nodes C O, 1 edge 0-1 +" in answer.out
    assert "training examples" in (tmp_path / "page.html").read_text()
    found = cli("explain", "m.treille", "data.jsonl", "--json").json()["explanations"][0]
    assert found["by"] == "support examples"
    assert sum(found["contributions"]) + found["intercept"] == pytest.approx(found["score"])


def test_the_output_says_if_no_part_of_an_example_is_known(cli, model, tmp_path):
    (tmp_path / "new.txt").write_text("%%%%\n")
    assert "(no part of it is known to the model)" in cli("explain", model, "new.txt").out


def test_words_and_letters_of_one_text_are_not_mixed_on_the_terminal_and_named_in_json(cli, wines):
    kernel = "ngram(1, unit=word+lower) + ngram(3, unit=char+lower)"
    assert cli("train", wines, "--kernel", kernel, "--model", "m.treille").code == 0
    answer = cli("explain", "m.treille", wines, "--examples", "1")
    assert " dark +" in answer.out
    assert " d +" not in answer.out
    found = cli("explain", "m.treille", wines, "--json").json()["explanations"][0]
    assert [name for name, _ in found["columns"]] == ["word+lower", "char+lower"]
    assert sum(size for _, size in found["columns"]) == len(found["parts"])


def test_columns_of_texts_are_listed_by_word(cli, tmp_path):
    rows = [f'{{"title": "the {a}", "text": "it was {a} all over", "label": "{a}"}}' for a in ("good", "bad")] * 5
    (tmp_path / "a.jsonl").write_text("\n".join(rows))
    kernel = "columns({'title': ngram(1, unit=word) + ngram(2), 'text': ngram(3)})"
    assert cli("train", "a.jsonl", "--kernel", kernel, "--model", "m.treille").code == 0
    answer = cli("explain", "m.treille", "a.jsonl", "--examples", "1")
    assert answer.out.count("  good +") == 2, answer.out
