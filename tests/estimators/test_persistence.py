"""Model files: the loaded model equals the saved one."""

import json
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open

import treille
from public_sets import data_folder, reuters
from treille import SVC, InputError
from treille.datasets import functions
from treille.io.model import read_model, write_model
from treille.kernels import NGram
from treille.solvers import DualCD

TEXTS = ["to be or not", "be to not or", "01101", "10110", "xyzzy", "zyxxy"]
CODES = np.array([0, 0, 1, 1, 2, 2])
NEW = ["not to be", "111011", "xyz", "", "seen never: Ω\U0001f600"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.treille"


def round_trip(model, path):
    model.save(path)
    return treille.load(path)


def assert_same_model(again, model, X=NEW):
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.report_ == model.report_.timeless()


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "kernel",
    [None, NGram(1), NGram(3, 1, [1.0, 0.3, 0.1]), NGram(2, unit="word"), NGram(2, unit="byte"), NGram(2).normalized()],
    ids=repr,
)
def test_decisions_are_read_back_exactly(kernel, n_classes, path):
    n = 2 * n_classes
    model = SVC(kernel, C=3.0, loss="squared_hinge", n_jobs=2).fit(TEXTS[:n], CODES[:n])
    again = round_trip(model, path)
    assert_same_model(again, model)
    assert (again.C, again.loss, again.n_iter_) == (3.0, "squared_hinge", model.n_iter_)
    assert repr(again.kernel) == repr(model.plan_.kernel)
    assert again.plan_.kernel_why == "from the model file"


@pytest.mark.parametrize(
    "X", [[list(t) for t in TEXTS], [[ord(c) for c in t] for t in TEXTS], [t.encode() for t in TEXTS]]
)
def test_tokens_integers_and_bytes_are_read_back(X, path):
    model = SVC().fit(X, CODES)
    assert_same_model(round_trip(model, path), model, X)


def test_alphabets_of_many_symbols_are_read_back(path):
    X = [np.arange(70_000), np.arange(300), np.arange(69_000, 70_000)]
    model = SVC(NGram(1).normalized()).fit(X, [0, 1, 1])
    assert_same_model(round_trip(model, path), model, X)


def test_any_code_point_is_read_back(path):
    X = ["a\0b", "\ud800 half", "\U0001f600\U0010ffff", '"\\\n\u2028']
    model = SVC(NGram(1)).fit(X, ["\ud800", "é", '"', "\0"])
    assert_same_model(round_trip(model, path), model, X)


LABELS = {
    "str": np.array(["a", "b", "c"]),
    "object": np.array(["a", "bb", "c"], dtype=object),
    "int": np.array([-1, 0, 2**40]),
    "uint8": np.array([1, 2, 255], dtype=np.uint8),
    "float": np.array([-1.0, 0.0, 3.0]),
    "float32": np.array([1, 2, 3], dtype=np.float32),
    "object int": np.array([1, 2, 3], dtype=object),
    "bool": np.array([False, True, True]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind_are_read_back(kind, path):
    labels = LABELS[kind]
    model = SVC(NGram(1)).fit(TEXTS, labels[CODES])
    again = round_trip(model, path)
    assert_same_model(again, model)
    assert {type(label) for label in again.classes_.tolist()} == {type(label) for label in labels.tolist()}


def test_labels_no_file_can_hold_are_refused(path):
    model = SVC(NGram(1)).fit(TEXTS, [date(2000 + code, 1, 1) for code in CODES])
    with pytest.raises(InputError, match="classes of type date cannot be saved: use strings or numbers"):
        model.save(path)
    assert not path.exists()


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 2: 0.5}, {np.int64(1): np.float64(3.0)}], ids=str)
@pytest.mark.parametrize(
    "solver", ["auto", DualCD(max_seconds=np.int64(60)), DualCD(shrinking=np.bool_(False))], ids=str
)
def test_parameters_are_read_back(class_weight, solver, path):
    model = SVC(NGram(1), class_weight=class_weight, solver=solver, random_state=4).fit(TEXTS, CODES)
    again = round_trip(model, path)
    assert (again.class_weight, again.random_state) == (class_weight, 4)
    assert solver == "auto" or again.solver.get_params() == solver.get_params()
    assert np.array_equal(again.fit(TEXTS, CODES).decision_function(NEW), model.decision_function(NEW))


def test_a_loaded_model_can_be_saved_again(path, tmp_path):
    model = SVC(NGram(2)).fit(TEXTS, CODES)
    again = round_trip(round_trip(model, path), tmp_path / "again.treille")
    assert_same_model(again, model)
    assert (tmp_path / "again.treille").read_bytes() == path.read_bytes()


def test_no_time_is_in_the_file(path):
    model = SVC(NGram(2), solver=DualCD()).fit(TEXTS, CODES)
    assert model.report_.seconds > 0
    model.save(path)
    report = read_model(path)[0]["report"]
    for each in (report, *report["per_class"]):
        assert (each["seconds"], each["history"], each["stages"]) == (0.0, [], [])
    assert "0 s" not in treille.load(path).report_._repr_html_()


@pytest.mark.parametrize(
    "kernel",
    [NGram(3).normalized(), NGram(4).normalized() + NGram(1, unit="word").normalized()],
    ids=["one kernel", "a sum"],
)
def test_weights_of_many_classes_take_little_space_where_many_are_zero(kernel, path):
    modules = ["json", "email", "asyncio", "xml", "html", "http", "logging", "sqlite3", "wsgiref", "tomllib"]
    texts, labels = functions(modules)
    model = SVC(kernel).fit(texts, labels)
    again = round_trip(model, path)
    assert np.array_equal(again.decision_function(texts), model.decision_function(texts))
    assert path.stat().st_size < 0.6 * model.coef_.nbytes  # with the names of the features


@pytest.mark.slow
@pytest.mark.skipif(data_folder() is None, reason="TREILLE_DATA names no folder of public sets")
def test_the_default_model_of_59_topics_takes_less_than_60_megabytes(path):
    texts, topics = reuters()
    kept = [i for i, own in enumerate(topics) if len(own) == 1]
    model = SVC().fit([texts[i] for i in kept], [topics[i][0] for i in kept])
    again = round_trip(model, path)
    assert len(again.classes_) == 59
    assert np.array_equal(again.coef_, model.coef_)
    assert path.stat().st_size < 60e6 < model.coef_.nbytes / 3


def test_only_features_with_weight_are_kept(path):
    model = SVC(NGram(1), fit_intercept=False).fit(["ab", "cd", "e"], [0, 1, 1], sample_weight=[1, 1, 0])
    assert model.features_.n_features == 5
    assert round_trip(model, path).features_.n_features == 4


def test_a_model_without_features_is_read_back(path):
    for kernel in (NGram(2), NGram(2, min_n=1)):
        model = SVC(kernel).fit(["", "", ""], [0, 1, 1])
        assert_same_model(round_trip(model, path), model)


def test_a_function_in_the_kernel_is_refused_and_nothing_is_written(path):
    model = SVC(NGram(1, unit=str.split)).fit(TEXTS, CODES)
    with pytest.raises(InputError, match="is a function, which a model file cannot hold"):
        model.save(path)
    assert list(path.parent.iterdir()) == []


def test_the_file_is_a_safetensors_file_with_a_json_spec(path):
    SVC(NGram(2)).fit(TEXTS, CODES).save(str(path))
    with safe_open(path, framework="numpy") as file:
        spec = json.loads(file.metadata()["treille"])
        names = set(file.keys())
    assert names == {"sha256", "weights", "intercept", "features.grams"}
    assert (spec["format"], spec["treille"]) == (2, treille.__version__)
    assert spec["reads"] == {"kinds": ["Strings", "Lattices"], "units": ["char"]}
    assert spec["estimator"] == "SVC"
    assert spec["kernel"] == {
        "kernel": "NGram",
        "params": {"min_n": None, "n": 2, "unit": "char", "order_weights": None, "counts": "raw"},
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 3}, r"written by a newer treille \(format 3, this one reads 2\): upgrade treille"),
        ({"kernel": {"kernel": "Quilt", "params": {}}}, "the kernel 'Quilt' is unknown: install the package"),
        ({"kernel": {"kernel": "NGram", "params": {"gap": 1}}}, "the kernel 'NGram' does not take these parameters"),
        ({"kernel": {"kernel": "NGram", "params": {"n": 3}}}, "the n-grams in the file do not fit its kernel"),
        ({"kernel": {"kernel": "NGram", "params": {"n": 0}}}, "n is 0, expected a whole number"),
        ({"kernel": {}}, "the field 'kernel' is missing"),
        ({"kernel": None}, "the field 'kernel' is None, expected dict"),
        ({"estimator": "Oracle"}, "holds a 'Oracle', which is unknown: call treille.register"),
        ({"estimator": "load"}, "holds a 'load', which is unknown"),
        ({"estimator": None}, "holds a None, which is unknown"),
        ({"params": {"no": 1}}, "incomplete"),
        (
            {"params": {"solver": {"object": "Simplex", "params": {}}}},
            "the solver 'Simplex' is unknown: install the package",
        ),
        ({"params": {"solver": {"object": "os.system"}}}, "the solver 'os.system' is unknown"),
        ({"classes": {"kind": "int", "values": [1, 2]}}, "the weights in the file do not fit its features and classes"),
        (
            {"classes": {"kind": "date", "values": [1, 2, 3]}},
            "the classes in the file are not different strings or numbers",
        ),
        ({"classes": {"kind": "int", "values": ["a", "b", "c"]}}, "model.treille: "),
        ({"features": {"alphabet": ["a"], "unit": "char"}}, "the n-grams in the file do not fit its kernel"),
        ({"features": {}}, "the field 'unit' is missing"),
        ({"report": {}}, "the field 'primal' is missing"),
    ],
    ids=str,
)
def test_a_sound_file_with_a_strange_spec_is_refused(change, message, path):
    SVC(NGram(2)).fit(TEXTS, CODES).save(path)
    spec, arrays = read_model(path)
    write_model(path, spec | change, arrays)
    with pytest.raises(InputError, match=f"^{path}: ") as caught:
        treille.load(path)
    assert message.replace("\\", "") in str(caught.value)


@pytest.mark.parametrize("missing", ["weights", "intercept", "features.grams"])
def test_a_sound_file_with_an_array_missing_is_refused(missing, path):
    SVC(NGram(2)).fit(TEXTS, CODES).save(path)
    spec, arrays = read_model(path)
    write_model(path, spec, {name: array for name, array in arrays.items() if name != missing})
    with pytest.raises(InputError, match=f"{path}: the array '{missing.removeprefix('features.')}' is missing"):
        treille.load(path)


def test_loading_needs_no_training_data_and_no_pickle(path, monkeypatch):
    model = SVC(NGram(2)).fit(TEXTS, CODES)
    model.save(path)
    assert b"pickle" not in path.read_bytes()
    monkeypatch.setattr("pickle.loads", None)
    monkeypatch.setattr("pickle.load", None)
    assert_same_model(treille.load(Path(path)), model)
