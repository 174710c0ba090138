"""Models of older versions load and make the same decisions as before; the same model is the same file."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import treille
from golden.make import READERS, cases, examples, outputs
from treille.io.model import FORMAT, read_model
from treille.registry import known

HERE = Path(__file__).parent
MODELS = sorted(HERE.glob("*.treille"))


def assert_same(found, expected):
    """Equal up to rounding in the twelfth digit, at any depth."""
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-13)
    else:
        assert found == expected


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_an_old_model_loads_and_gives_the_decisions_it_gave(path, tmp_path):
    recorded = json.loads(path.with_suffix(".json").read_text())
    X, model = examples(recorded), treille.load(path)
    model.save(tmp_path / "again.treille")
    for each in (model, treille.load(tmp_path / "again.treille")):
        found = outputs(each, X)
        assert found.keys() == recorded.keys() - READERS.keys() - {"treille"}
        assert found["primal"] == recorded["primal"]
        for name, values in found.items():
            assert_same(values, recorded[name])


@pytest.mark.parametrize("group", ["kernels", "estimators"])
def test_there_is_a_golden_file_of_every_kernel_and_estimator_that_a_file_can_hold(group):
    specs = [json.dumps(read_model(path)[0]) for path in MODELS]
    own = known(group).keys() & set(import_module(f"treille.{group}").__all__)  # not those that other tests register
    # A file holds no functions; a search saves the model with the best parameters; Features is not saved.
    expected = [name for name in sorted(own) if name not in ("CallableKernel", "Features") and not name.endswith("CV")]
    assert [name for name in expected if not any(f'"{name}"' in spec for spec in specs)] == []


def test_every_model_that_the_script_makes_is_there():
    names = {path.stem.rpartition("_v")[0] for path in MODELS}
    assert {name for name, _ in cases()} <= names


def test_there_is_a_golden_file_of_every_format():
    assert {read_model(path)[0]["format"] for path in MODELS} == set(range(1, FORMAT + 1))


DIGESTS = """
import hashlib, sys, warnings
from pathlib import Path
from golden.make import cases
warnings.simplefilter("ignore")
for name, case in cases():
    model = case.fitted()
    for path in map(Path, ("one", "two")):
        model.save(path, **case.options)
    assert Path("one").read_bytes() == Path("two").read_bytes(), name
    print(name, hashlib.sha256(Path("one").read_bytes()).hexdigest())
"""


def test_a_model_is_the_same_file_whenever_and_wherever_it_is_fitted(tmp_path):
    processes = []
    for seed in ("1", "2"):  # of the order of sets
        folder = tmp_path / seed
        folder.mkdir()
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", DIGESTS]
        processes.append(subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True))
    one, two = (process.communicate()[0].splitlines() for process in processes)
    assert len(one) == len(list(cases()))
    assert one == two
