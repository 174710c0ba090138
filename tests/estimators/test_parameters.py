"""Parameters of estimators: by keyword beyond the first two, and known to type checkers."""

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import clone

import treille
from treille.registry import known

ESTIMATORS = {name: cls for name, cls in known("estimators").items() if name != "Features"}
SECOND = {
    "SVC": "C",
    "SVR": "C",
    "LogisticRegression": "C",
    "LearnedSVC": "C",
    "Ridge": "alpha",
    "LearnedRidge": "alpha",
}
SECOND |= {"SVCCV": "Cs", "SVRCV": "Cs", "LogisticRegressionCV": "Cs", "LearnedSVCCV": "Cs"}
SECOND |= {"RidgeCV": "alphas", "LearnedRidgeCV": "alphas", "OneClassSVM": "nu", "Tagger": "templates"}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_only_the_kernel_and_the_strength_are_positional(name):
    parameters = inspect.signature(ESTIMATORS[name]).parameters.values()
    positional = [each.name for each in parameters if each.kind is not inspect.Parameter.KEYWORD_ONLY]
    assert positional == ["kernel", *([SECOND[name]] if name in SECOND else [])]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_clones_keep_every_parameter(name):
    given = {"kernel": treille.kernels.NGram(2), "n_jobs": 2, "verbose": 1, "max_epochs": 7}
    model = ESTIMATORS[name](**given)
    assert {key: value for key, value in clone(model).get_params().items() if key in given and key != "kernel"} == {
        key: value for key, value in given.items() if key != "kernel"
    }
    assert repr(clone(model)) == repr(model)


@pytest.mark.slow
def test_a_type_checker_finds_misspelt_and_mistyped_parameters(tmp_path):
    pytest.importorskip("mypy")
    path = tmp_path / "wrong.py"
    lines = ["treille.SVC(kernal=3)", "treille.SVC(3)", "treille.SVC(C='a')", "treille.SVC(None, 1.0, 'hinge')"]
    lines += ["treille.RidgeCV(alpah=3)", "treille.solvers.DualCD(max_secods=3)", "treille.Perceptron(averagd=True)"]
    path.write_text("\n".join(["import treille", *lines, "treille.SVC('ngram(3)', 2.0, loss='hinge')"]))
    command = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--cache-dir", str(tmp_path), str(path)]
    sources = os.environ | {"MYPYPATH": str(Path(__file__).parents[2] / "src")}
    found = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=sources).stdout
    wrong = {int(line.split(":")[1]) for line in found.splitlines() if line.startswith("wrong.py:")}
    assert wrong == set(range(2, 2 + len(lines))), found
