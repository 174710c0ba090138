"""treille predict."""

from pathlib import Path

import treille


def test_the_output_has_one_label_per_line_equal_to_the_predictions_in_python(cli, model, wines):
    texts = [line.rsplit(",", 1)[0] for line in wines.read_text().splitlines()[1:]]
    answer = cli("predict", model, wines)
    assert answer.code == 0
    assert answer.out.splitlines() == treille.load(model).predict(texts).tolist()
    assert "60 examples" in answer.err


def test_standard_input_is_read_line_by_line(cli, model):
    answer = cli("predict", model, "-", stdin=b"a red wine of dark cherries\na white wine of green apples\n")
    assert answer.out == "red\nwhite\n"


def test_scores_come_as_a_table_whose_highest_column_is_the_label(cli, model, wines):
    header, *rows = [line.split("\t") for line in cli("predict", model, wines, "--scores").out.splitlines()]
    assert header == ["label", "red", "white"]
    assert len(rows) == 60
    for label, red, white in rows:
        assert label == ("red" if float(red) > float(white) else "white")
        assert float(red) == -float(white)


def test_output_goes_to_a_file_and_the_counts_to_standard_error(cli, model, wines):
    answer = cli("predict", model, wines, "--output", "labels.txt")
    assert answer.out == ""
    assert "60 predictions written to labels.txt: white (" in answer.err
    assert Path("labels.txt").read_text() == cli("predict", model, wines).out


def test_json_holds_labels_and_scores_or_names_the_file_that_does(cli, model, wines):
    value = cli("predict", model, wines, "--scores", "--json").json()
    assert value["labels"] == cli("predict", model, wines).out.splitlines()
    assert len(value["scores"]) == 60
    assert value["classes"] == ["red", "white"]
    value = cli("predict", model, wines, "--json", "--output", "labels.txt").json()
    assert value["output"] == "labels.txt"
    assert "labels" not in value


def test_a_label_with_a_line_end_stays_on_its_line(cli):
    Path("odd.jsonl").write_text('{"text": "a", "label": "x\\ny"}\n{"text": "b", "label": "z"}\n')
    cli("train", "odd.jsonl", "--kernel", "ngram(1)", "--model", "odd.treille")
    assert cli("predict", "odd.treille", "odd.jsonl").out == "x\\ny\nz\n"


def test_lines_with_tabs_are_warned_of_because_labels_would_be_read_as_text(cli, model):
    assert "each whole line was taken as a text" in cli("predict", model, "-", stdin=b"red\ta red wine\n").err
    assert "warning" not in cli("predict", model, "-", stdin=b"a red wine\n").err


def test_labels_that_are_numbers_are_written_as_in_files(cli):
    treille.SVC(treille.kernels.NGram(1)).fit(["a", "b", "c"], [1.0, 2.0, 10.0]).save("numbers.treille")
    Path("n.csv").write_text("text,label\na,1\nb,2\nc,10\n")
    assert cli("predict", "numbers.treille", "n.csv").out == "1\n2\n10\n"
    assert cli("evaluate", "numbers.treille", "n.csv", "--json").json()["accuracy"] == 1


def test_probabilities_of_a_logistic_model(cli, wines):
    assert cli("train", wines, "--loss", "logistic", "--kernel", "ngram(2)", "--model", "m.treille").code == 0
    table = [line.split("\t") for line in cli("predict", "m.treille", wines, "--probabilities").out.splitlines()]
    values = [[float(cell) for cell in row[1:]] for row in table[1:]]
    assert all(abs(sum(row) - 1) < 1e-5 for row in values)
    assert cli("predict", "m.treille", wines, "--probabilities", "--json").json()["probabilities"]
    answer = cli("predict", "m.treille", wines, "--probabilities", "--scores")
    assert answer.code == 2
    assert "choose one: --scores or --probabilities" in answer.err


def test_probabilities_of_another_model_are_refused(cli, wines):
    assert cli("train", wines, "--kernel", "ngram(2)", "--model", "m.treille").code == 0
    answer = cli("predict", "m.treille", wines, "--probabilities")
    assert answer.code == 2
    assert "SVC has scores, not probabilities: use --scores, or train with --loss logistic" in answer.err
