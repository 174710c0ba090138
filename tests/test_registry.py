"""Classes are found by name: those of treille, those registered in code, and those of entry points. Nothing else is."""

import subprocess
import sys
import textwrap
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest

import treille
from treille import SVC, InputError, Strings, registry
from treille.io.model import read_model, write_model
from treille.kernels import Kernel, NGram
from treille.kernels.parse import parse_kernel
from treille.solvers import DualCD

TEXTS, LABELS = ["ACGT", "ACGA", "GTCA", "GTAA"], ["AC", "AC", "GT", "GT"]
CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"


class Bigram(NGram):
    """A kernel of a user."""

    def __init__(self, unit="char"):
        super().__init__(2, unit=unit)


class Greedy(DualCD):
    """A solver of a user."""


class Tagged(Strings):
    """A data kind of a user."""

    title = "tagged strings"


class Committee(SVC):
    """An estimator of a user."""


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    registry._entry_points.cache_clear()
    yield
    registry._entry_points.cache_clear()


@pytest.fixture
def entry_point(monkeypatch):
    """Declares an entry point, as an installed package would."""

    def declare(name, value, group="treille.kernels"):
        point = EntryPoint(name, value, group)
        monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == point.group else [])

    return declare


def matches():
    """CONTRIBUTING's kernel."""
    block = next(b for b in CONTRIBUTING.read_text().split("```python\n")[1:] if "class Matches" in b)
    names = {"__name__": "contributed"}
    exec(block.partition("```")[0], names)
    return names["Matches"]


def test_a_kernel_that_could_not_be_loaded_is_not_saved(tmp_path):
    model = SVC(matches()().normalized()).fit(TEXTS, LABELS)
    with pytest.raises(InputError, match=r"the kernel 'Matches' is not registered.*treille\.register\(Matches\)"):
        model.save(tmp_path / "m.treille")
    assert not (tmp_path / "m.treille").exists()


def test_contributing_s_kernel_is_saved_and_loaded_after_registration(tmp_path):
    model = SVC(treille.register(matches())().normalized()).fit(TEXTS, LABELS)
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert np.array_equal(again.decision_function(TEXTS), model.decision_function(TEXTS))


def test_another_process_loads_it_if_it_registers_the_class_and_else_says_so(tmp_path):
    block = next(b for b in CONTRIBUTING.read_text().split("```python\n")[1:] if "class Matches" in b)
    (tmp_path / "mine.py").write_text(block.partition("```")[0])
    treille.register(matches())
    SVC(registry.find("kernels", "Matches")()).fit(TEXTS, LABELS).save(tmp_path / "m.treille")
    for begin, expected in (
        ("", "the kernel 'Matches' is unknown"),
        ("treille.register(mine.Matches)", "['AC', 'GT']"),
    ):
        script = textwrap.dedent(f"""
            import treille, mine
            {begin}
            try:
                print(treille.load("m.treille").predict(["ACTT", "GTGT"]).tolist())
            except treille.InputError as error:
                print(error)
        """)
        ended = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120
        )
        assert expected in ended.stdout, ended.stderr


def test_solvers_estimators_and_kinds_of_a_user_are_saved_and_loaded(tmp_path):
    for cls in (Greedy, Committee, Tagged):
        assert treille.register(cls) is cls
    model = Committee(NGram(2), solver=Greedy()).fit(TEXTS, LABELS)
    model.save(tmp_path / "m.treille")
    again = treille.load(tmp_path / "m.treille")
    assert (type(again), type(again.solver)) == (Committee, Greedy)
    assert type(treille.Batch.from_state(*Tagged(["ab"]).state())) is Tagged


@pytest.mark.parametrize(
    ("save", "message"),
    [
        (lambda path: Committee(NGram(2)).fit(TEXTS, LABELS).save(path), "the estimator 'Committee' is not registered"),
        (lambda path: SVC(NGram(2), solver=Greedy()).fit(TEXTS, LABELS).save(path), "the solver 'Greedy' is not regis"),
        (lambda path: Tagged(["ab"]).state(), "the data kind 'Tagged' is not registered"),
    ],
)
def test_unregistered_classes_are_not_saved(save, message, tmp_path):
    with pytest.raises(InputError, match=message):
        save(tmp_path / "m.treille")


def test_a_class_with_the_name_of_another_is_neither_registered_nor_saved():
    other = type("NGram", (NGram,), {"__init__": NGram.__init__})
    with pytest.raises(InputError, match=r"there is already a kernel 'NGram', treille\.kernels\.ngram\.NGram"):
        treille.register(other)
    with pytest.raises(InputError, match="the kernel 'NGram' is not registered"):
        other(2).spec()


def test_a_class_may_be_defined_and_registered_again():
    treille.register(Bigram)
    again = type("Bigram", (NGram,), {"__init__": Bigram.__init__, "__module__": Bigram.__module__})
    again.__qualname__ = Bigram.__qualname__
    assert treille.register(again) is again
    assert registry.find("kernels", "Bigram") is again


@pytest.mark.parametrize("thing", [NGram(2), "NGram", dict, treille.Batch, Kernel])
def test_only_concrete_classes_with_the_methods_are_registered(thing):
    with pytest.raises(InputError, match=r"expected a class|is not a kernel, solver, estimator or data kind"):
        treille.register(thing)


def test_the_command_line_finds_registered_kernels():
    treille.register(Bigram)
    assert parse_kernel("bigram(word)").unit == "word"


def test_entry_points_are_found_by_model_files_and_by_the_command_line(entry_point):
    entry_point("Bigram", f"{__name__}:Bigram")
    assert type(Kernel.from_spec({"kernel": "Bigram", "params": {}})).__name__ == "Bigram"
    assert type(parse_kernel("bigram()")).__name__ == "Bigram"


def test_an_entry_point_that_cannot_be_imported_is_an_error_only_where_it_is_needed(entry_point):
    entry_point("Bigram", "no_such_package:Bigram")
    with pytest.warns(UserWarning, match=r"left out: Bigram \(no_such_package:Bigram\) cannot be imported"):
        assert parse_kernel("ngram(2)").n == 2
    with pytest.raises(InputError, match=r"Bigram \(no_such_package:Bigram\) cannot be imported: ModuleNotFoundError"):
        Kernel.from_spec({"kernel": "Bigram", "params": {}})


def test_an_entry_point_must_be_a_class_of_its_own_name(entry_point):
    entry_point("Trigram", f"{__name__}:Bigram")
    with pytest.raises(InputError, match=r"the entry point 'Trigram' is .*, expected a class of that name"):
        registry.find("kernels", "Trigram")
    with pytest.warns(UserWarning, match="left out: the entry point 'Trigram'"):
        assert "Trigram" not in registry.known("kernels")


def test_an_entry_point_cannot_replace_a_class_of_treille(entry_point):
    entry_point("NGram", f"{__name__}:Bigram")
    assert registry.find("kernels", "NGram") is NGram


@pytest.mark.parametrize("name", ["os.system", "treille.registry:register", "Kernel", "FeatureMap", ["NGram"], None])
def test_a_model_file_names_classes_and_can_do_nothing_else(name, tmp_path):
    SVC(NGram(2)).fit(TEXTS, LABELS).save(tmp_path / "m.treille")
    spec, arrays = read_model(tmp_path / "m.treille")
    for change in ({"estimator": name}, {"kernel": {"kernel": name, "params": {}}}):
        write_model(tmp_path / "m.treille", spec | change, arrays)
        with pytest.raises(InputError, match="unknown"):
            treille.load(tmp_path / "m.treille")
