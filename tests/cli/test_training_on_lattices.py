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
