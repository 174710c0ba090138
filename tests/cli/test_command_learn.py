"""treille learn: weights of features and of parts, printed, saved, and refused."""

from pathlib import Path

import pytest

import treille

WORDS = ("--kernel", "ngram(1, unit=word)")


def test_the_weights_are_printed_and_the_model_is_saved(cli, wines):
    answer = cli("learn", wines, *WORDS, "--C", 0.1, "--model", "w.treille", "--cv", 3)
    assert answer.code == 0
    assert "features with weight" in answer.out
    assert "effect:   positive: for white, negative: for red" in answer.out
    assert "score:    accuracy" in answer.out
    model = treille.load("w.treille")
    names = [each.name for each in model.learned_weights_]
    assert {"red", "white"} & set(names)
    assert all(name in answer.out for name in names[:3])
    assert cli("predict", "w.treille", wines).out.splitlines()[0] == "red"
    assert cli("evaluate", "w.treille", wines).code == 0


def test_json_has_the_whole_result(cli, wines):
    value = cli("learn", wines, *WORDS, "--json", "--cv", 2).json()
    [table] = value["weights"].values()
    assert sum(each["share"] for each in table) == pytest.approx(1.0)
    assert value["learning"]["status"] == "converged"
    assert value["score"]["folds"] == 2


def test_commands_that_train_describe_what_they_trained_alike(cli, wines):
    Path("chunks.txt").write_text("the DT B-NP\ncat NN I-NP\n\na DT B-NP\ndog NN I-NP\n\n" * 3)
    alike = {"file", "kernel", "space", "solver", "features", "report", "score", "model", "bytes", "page"}
    for command in (["train", wines, *WORDS], ["learn", wines, *WORDS], ["tag", "train", "chunks.txt"]):
        value = cli(*command, "--model", "m.treille", "--json").json()
        assert alike <= set(value)
        assert (value["model"], value["bytes"]) == ("m.treille", Path("m.treille").stat().st_size)
        answer = cli(*command, "--model", "m.treille", "--max-epochs", 3, "--tol", 1e-12)
        assert answer.code == 3, answer.err
        assert "not yet 1e-12: raise --max-epochs or --tol" in answer.err


def test_parts_have_one_weight_each(cli, wines):
    answer = cli("learn", wines, "--kernel", "ngram(2, unit=word) + ngram(3)", "--groups", "parts")
    assert answer.code == 0
    assert "parts with weight" in answer.out


@pytest.mark.parametrize("extra", [["--spread", "even"], ["--learn", "alignment"]])
def test_numbers_are_learned_by_ridge_regression(cli, tmp_path, extra):
    rows = [f"{'good ' * (k % 4)}wine {k % 7},{k % 4}" for k in range(40)]
    (tmp_path / "r.csv").write_text("\n".join(["text,label", *rows]) + "\n")
    answer = cli("learn", "r.csv", *WORDS, "--regression", "--alpha", 0.1, "--cv", 4, "--model", "r.treille", *extra)
    assert answer.code == 0
    assert "good" in answer.out
    assert "root mean squared error" in answer.out
    assert treille.load("r.treille").predict(["good good wine"])[0] == pytest.approx(2.0, abs=0.5)


def test_bad_input_is_refused(cli, wines):
    assert cli("learn", wines, "--kernel", "ngram(2)", "--groups", "parts").code == 2
    assert "has one part only" in cli("learn", wines, "--kernel", "ngram(2)", "--groups", "parts").err
    assert "C is -1.0, expected a positive number" in cli("learn", wines, "--C", -1).err
    assert "expected a finite number" in cli("learn", wines, *WORDS, "--regression").err
    assert "no example has a feature of NGram(n=99)" in cli("learn", wines, "--kernel", "ngram(99)").err
    Path("few.csv").write_text("text,label\na,1\nb,2\n")
    assert "--cv 9 is too much, try --cv 2" in cli("learn", "few.csv", *WORDS, "--regression", "--cv", 9).err
    answer = cli("learn", wines, *WORDS, "--max-epochs", 1, "--tol", 1e-12)
    assert answer.code in (1, 3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--alpha", "1"), "it is for --regression; for classes use --C"),
        (("--alpha", "2"), "it is for --regression; for classes use --C"),
        (("--regression", "--C", "2"), "with --regression, the weight is --alpha"),
        (("--regression", "--seed", "0"), "it is for the folds of --cv"),
        (("--learn", "alignment", "--spread", "even"), "is for --learn risk: leave it out with --learn alignment"),
    ],
    ids=str,
)
def test_an_option_without_effect_is_refused(cli, wines, words, message):
    answer = cli("learn", wines, *words)
    assert answer.code == 2
    assert message in " ".join(answer.err.split())
