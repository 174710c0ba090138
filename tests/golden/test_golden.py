"""Models of older versions still load, and decide as they did."""

import json
from pathlib import Path

import pytest

import treille

HERE = Path(__file__).parent
MODELS = sorted(HERE.glob("*.treille"))


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_an_old_model_loads_and_gives_the_decisions_it_gave(path):
    known = json.loads(path.with_suffix(".json").read_text())
    model = treille.load(path)
    assert model.classes_.tolist() == known["classes"]
    assert model.predict(known["texts"]).tolist() == known["predictions"]
    assert model.decision_function(known["texts"]).tolist() == [
        pytest.approx(row, rel=1e-12) for row in known["decisions"]
    ]
    assert model.report_.primal == known["primal"]


def test_there_is_a_golden_file_of_every_format():
    from treille.io.model import FORMAT, read_model

    assert {read_model(path)[0]["format"] for path in MODELS} == set(range(1, FORMAT + 1))
