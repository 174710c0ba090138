"""Mistakes of users: one message that names the place and what to do, an exit code, and no traceback."""

import errno
import os
from pathlib import Path

import pytest

GOOD = "text,label\nred,r\nwhite,w\n"


def assert_refused(answer, code=1):
    """Returns the message, after checks that apply to every refusal."""
    assert answer.code == code
    assert answer.out == ""
    assert "Traceback" not in answer.err
    assert answer.err.count("treille: error: ") == 1
    return answer.err


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("empty.csv", b"", ["empty.csv: the file is empty"]),
        ("broken.jsonl", b'{"text": "a", "label": "b"}\n{"text": oops}\n', ["broken.jsonl, line 2", "not valid JSON"]),
        (
            "latin.csv",
            "text,label\ncafé,r\n".encode("latin-1"),
            ["latin.csv: byte 0xe9 at offset 14", "--encoding latin-1"],
        ),
        ("one.csv", b"text,label\na,yes\nb,yes\n", ["one.csv: every label is 'yes'", "two classes"]),
        ("nolabel.csv", b"text,topic\na,b\n", ["the fields are: text, topic", "--label"]),
    ],
)
def test_a_bad_file_is_named_with_the_place_and_what_to_do(cli, name, content, said):
    Path(name).write_bytes(content)
    message = assert_refused(cli("train", name, "--model", "m.treille"))
    assert all(part in message for part in said)
    assert not Path("m.treille").exists()


def test_the_encoding_that_the_message_suggests_works(cli):
    Path("latin.csv").write_bytes("text,label\ncafé,r\nthé,w\n".encode("latin-1"))
    assert cli("train", "latin.csv", "--encoding", "latin-1", "--kernel", "ngram(1)", "--model", "m.treille").code == 0


def test_an_unknown_label_column_is_refused_with_the_list_of_columns(cli, wines):
    message = assert_refused(cli("train", wines, "--label", "colour", "--model", "m.treille"))
    assert "no field 'colour'" in message
    assert "the fields are: text, label" in message


def test_a_missing_file_is_refused_with_the_most_similar_name(cli, wines):
    assert "did you mean wines.csv?" in assert_refused(cli("train", "wine.csv", "--model", "m.treille"))


@pytest.mark.parametrize(
    ("option", "value"), [("--C", -1), ("--tol", 0), ("--max-epochs", 0), ("--kernel", "ngram(0)")]
)
def test_a_value_out_of_range_is_named(cli, wines, option, value):
    assert "expected" in assert_refused(cli("train", wines, option, value, "--model", "m.treille"), code=2)


@pytest.mark.parametrize("harm", ["truncated", "altered", "foreign", "empty", "absent"])
@pytest.mark.parametrize("verb", ["predict", "evaluate", "inspect"])
def test_a_model_that_is_not_whole_is_refused(cli, model, wines, harm, verb):
    data = model.read_bytes()
    bad = {
        "truncated": data[: len(data) // 2],
        "altered": data[:-1] + b"?",
        "foreign": wines.read_bytes(),
        "empty": b"",
    }
    Path("bad.treille").write_bytes(bad.get(harm, b""))
    if harm == "absent":
        Path("bad.treille").unlink()
    message = assert_refused(cli(verb, "bad.treille", *([wines] if verb != "inspect" else [])))
    assert "bad.treille: " in message
    assert {"altered": "altered", "absent": "no such file"}.get(harm, "damaged") in message


def test_model_and_data_in_the_wrong_order_are_recognised(cli, model, wines):
    assert "The model comes first: MODEL FILE" in assert_refused(cli("predict", wines, model))


@pytest.mark.parametrize("path", ["absent/m.treille", ".", "file/m.treille"])
def test_a_model_path_that_cannot_be_written_is_refused_before_the_data_is_read(cli, path):
    Path("file").write_text("")
    message = assert_refused(cli("train", "not-even-read.csv", "--model", path))
    assert "not-even-read.csv" not in message
    assert "for the model" in message


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a user whom folder permissions hold")
def test_a_folder_without_permission_is_refused_before_the_data_is_read(cli, tmp_path):
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    assert "cannot be written here" in assert_refused(
        cli("train", "not-even-read.csv", "--model", folder / "m.treille")
    )


def test_a_disk_that_fills_up_leaves_the_older_model_intact(cli, wines, model, monkeypatch):
    before = model.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    message = assert_refused(cli("train", wines, "--C", 7, "--model", model))
    assert "No space left on device" in message
    assert model.read_bytes() == before
    assert sorted(p.name for p in model.parent.iterdir()) == ["wines.csv", "wines.treille"]


def test_labels_are_refused_if_the_model_knows_none_of_them(cli, model):
    Path("other.csv").write_text("text,label\na,spam\nb,ham\n")
    message = assert_refused(cli("evaluate", model, "other.csv"))
    assert "knows none of its labels, ham (1), spam (1); it knows red, white" in message


def test_a_test_file_without_known_labels_is_refused_before_training(cli, wines):
    Path("other.csv").write_text("text,label\na,spam\nb,ham\n")
    assert "knows none of its labels" in assert_refused(
        cli("train", wines, "--test", "other.csv", "--model", "m.treille")
    )
    assert not Path("m.treille").exists()


def test_a_model_of_one_value_against_the_rest_names_the_label_option(cli):
    Path("news.csv").write_text("text,topic\naa,acq\nbb,grain\n")
    assert cli("train", "news.csv", "--label", "topic=acq", "--kernel", "ngram(1)", "--model", "m.treille").code == 0
    assert cli("evaluate", "m.treille", "news.csv", "--label", "topic=acq").code == 0
    assert cli("evaluate", "m.treille", "news.csv").code == 0  # the model remembers
    Path("other.csv").write_text("text,class\naa,acq\nbb,grain\n")
    assert "use --label FIELD=acq" in assert_refused(cli("evaluate", "m.treille", "other.csv"))
    assert "use --label FIELD=acq" not in assert_refused(cli("evaluate", "m.treille", "news.csv", "--label", "x=acq"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["trian"], "trian"),
        (["train"], "FILE"),
        (["train", "wines.csv"], "--model"),
        (["train", "wines.csv", "--modle", "m"], "--model"),
        (["train", "wines.csv", "--cv", "1"], "--cv"),
        (["train", "wines.csv", "--cv", "many"], "--cv"),
        (["train", "wines.csv", "--loss", "log"], "squared_hinge"),
        (["train", "wines.csv", "--cv", "2", "--holdout", "0.5"], "choose one way to score"),
        (["train", "wines.csv", "--holdout", "1.5"], "between 0 and 1"),
        (["train", "wines.csv", "--kernel", "rbf(3)", "--cv", "2"], "there is no kernel 'rbf'. Write a kernel as in"),
        (["features", "wines.csv", "--output", "x.mat"], ".npz, .svmlight, .tsv"),
    ],
)
def test_a_command_line_that_cannot_be_understood_ends_with_2_and_points_to_the_help(cli, wines, words, said):
    message = assert_refused(cli(*words), code=2)
    assert said in message
    assert " --help'." in message


@pytest.mark.parametrize(
    ("rows", "options", "said"),
    [
        ("a,x\nb,x\nc,y\n", ["--cv", 2], "only one example of 'y'"),
        ("a,x\nb,x\nc,y\nd,y\n", ["--cv", 5], "no class has 5 examples"),
        ("a,x\nb,x\nc,y\n", ["--holdout", 0.5], "--holdout 0.5"),
    ],
)
def test_too_few_examples_to_score_are_reported(cli, rows, options, said):
    Path("few.csv").write_text(f"text,label\n{rows}")
    assert said in assert_refused(cli("train", "few.csv", *options))


def test_a_class_with_fewer_examples_than_folds_causes_a_warning(cli):
    Path("few.csv").write_text("text,label\n" + "a,x\n" * 5 + "b,y\n" * 2)
    answer = cli("train", "few.csv", "--cv", 4, "--kernel", "ngram(1)")
    assert answer.code == 0
    assert "2 examples of 'y', fewer than the 4 folds" in answer.err


def test_predictions_that_cannot_be_written_are_refused_first(cli, model):
    assert "for the predictions" in assert_refused(
        cli("predict", model, "not-even-read.csv", "--output", "absent/labels.txt")
    )
