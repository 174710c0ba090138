"""Lattices on the command line: from a file to a model, predictions and a score."""

import json
from pathlib import Path

import numpy as np
import pytest

import treille
from treille.io import read

YES = "((('yes', -0.2, 1), ('guess', -1.7, 1),), (('so', 0.0, 1),),)"
NO = "((('no', -0.1, 1), ('know', -2.4, 1),), (('so', 0.0, 1),),)"


@pytest.fixture
def heard():
    """A file with six lattices and their labels, the last one empty."""
    lines = [(YES, "yes"), (NO, "no"), (YES, "yes"), (NO, "no"), (NO, "no"), ("()", "yes")]
    Path("heard.jsonl").write_text("".join(json.dumps({"plf": plf, "label": label}) + "\n" for plf, label in lines))
    return "heard.jsonl"


def test_a_model_learns_from_lattices_and_says_what_was_done_to_them(cli, heard):
    answer = cli("train", heard, "--text", "plf", "--model", "m.treille")
    assert answer.code == 0, answer.err
    assert "read as distributions: 6 lattices, 1 empty, 5 with a total other than 1, normalised" in answer.err
    assert "expected counts of single symbols and pairs" in answer.out
    predicted = cli("predict", "m.treille", heard, "--text", "plf")
    assert predicted.out.split()[:5] == ["yes", "no", "yes", "no", "no"]
    model, machines = treille.load("m.treille"), read(heard, text="plf", labelled=True).X.machines
    same = treille.SVC().fit(machines, ["yes", "no", "yes", "no", "no", "yes"])
    np.testing.assert_allclose(model.decision_function(machines), same.decision_function(machines), rtol=1e-6)


def test_their_features_are_listed(cli, heard):
    answer = cli("features", heard, "--text", "plf", "--kernel", "ngram(2)")
    assert answer.code == 0, answer.err
    assert "know" in answer.out


LOUD = "((('yes', -40, 1), ('guess', -60, 1)),)", "((('no', -40, 1), ('know', -60, 1)),)"


def test_lattices_of_one_path_get_a_note_and_a_scale_that_the_model_keeps(cli):
    rows = [{"plf": LOUD[i % 2], "label": "yn"[i % 2]} for i in range(6)]
    Path("loud.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ("train", "loud.jsonl", "--text", "plf", "--kernel", "ngram(1, unit=word)", "--model", "m.treille")
    plain = cli(*words)
    assert "6 of 6 with several paths have 99% of the mass on one" in plain.err
    assert "--scale 0.1" in plain.err
    answer = cli(*words, "--scale", "0.05", "--force")
    assert answer.code == 0, answer.err
    assert "weights = log-probabilities (recognised by their values, -60 to -40), times 0.05" in answer.err
    assert "of the mass on one" not in answer.err
    scored = cli("predict", "m.treille", "loud.jsonl", "--scores", "--json").json()
    model, X = treille.load("m.treille"), read("loud.jsonl", text="plf", scale=0.05, labelled=False).X
    np.testing.assert_allclose(np.ravel(scored["scores"])[:2], model.decision_function(X)[:1] * [-1, 1], rtol=1e-6)
    given = treille.Lattices.read_json([{"plf": LOUD[0]}], model.reading_)  # as the server reads
    np.testing.assert_allclose(model.decision_function(given), model.decision_function(X)[:1])
    assert "scale is 'loud'" in cli(*words, "--scale", "loud", "--force").err
    assert "best:     1 of the mass on the best path" in cli("inspect", "loud.jsonl", "--text", "plf").out
