"""All inputs that once failed, the seeds, and a few hundred new inputs: no crash, and only errors of treille."""

import shutil
from pathlib import Path

import pytest

import treille
from fuzz import mutations, readers
from fuzz.models import MODELS, ModelTarget, exercise
from fuzz.runner import fuzz
from fuzz.targets import TARGETS
from treille.io.errors import InputError

FOUND = sorted(path for path in (Path(__file__).parent / "found").iterdir() if path.suffix != ".md")


def outcome(read, *arguments):
    """How reading ends; any other exception than an `InputError` is passed on."""
    try:
        read(*arguments)
    except InputError:
        return "refused"
    return "read"


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.name)
def test_files_that_once_failed_are_read_or_refused(path, tmp_path):
    copy = Path(shutil.copy(path, tmp_path))
    for check in (treille.load, readers.whole, *readers.DOCUMENTS.values()):
        assert outcome(check, copy) in ("read", "refused")


@pytest.mark.parametrize("path", sorted(readers.CORPUS.iterdir()), ids=lambda path: path.name)
def test_every_seed_is_read(path):
    if (
        f"read-{path.name}" in TARGETS
        and path.suffix not in (".isyms", ".osyms", ".symbols", ".html", ".json", ".py")
        and path.name != "lines.trees"
    ):
        assert outcome(readers.whole, path) == "read"
    if path.name in readers.DOCUMENTS:
        assert outcome(readers.DOCUMENTS[path.name], path) == "read"


@pytest.mark.parametrize("name", ["automaton-classes", "centered", "columns-gram", "rational", "subpath-xbw"])
def test_every_seed_model_is_read(name, tmp_path):
    target = ModelTarget(name, tmp_path)
    for X in (target.X, target.batch):
        assert outcome(lambda X=X: exercise(treille.load(target.path), X)) == "read"


def test_there_is_a_model_of_every_kernel():
    from treille.kernels import __all__

    used = {word for name in MODELS for word in name.replace("-", "").split()}
    families = {name.lower() for name in __all__} - {
        "kernel",
        "reads",
        "callablekernel",
        "constant",
        "scaled",
        "normalized",
    }
    assert all(any(family in name for name in used) for family in families), families


@pytest.mark.slow  # .ci/run fuzzes for half a minute
@pytest.mark.parametrize("name", sorted(TARGETS))
def test_a_few_changed_inputs_do_no_harm(name):
    done, findings = fuzz(name, TARGETS[name], seconds=60, seed=5, count=20)
    assert (done, [finding.detail + finding.what for finding in findings]) == (20, [])


class Target:
    """Fails in every way that fuzzing must notice."""

    def __init__(self, folder):
        self.blocks = []

    def case(self, rng):
        return bytes([rng.randrange(4)])

    def run(self, data):
        if data == b"\1":
            raise KeyError("foreign")
        if data == b"\2":
            __import__("os").abort()
        if data == b"\3":
            self.blocks.append(bytearray(3 << 30))


def test_crashes_foreign_exceptions_and_memory_are_noticed():
    done, findings = fuzz("own", Target, seconds=60, seed=1, count=12)
    assert done == 12
    kinds = {finding.detail.split(" at ")[0] or finding.what for finding in findings}
    assert kinds == {"KeyError", "MemoryError", "crash: SIGABRT"}


def test_the_same_seed_gives_the_same_change():
    import random

    data = b"label,text\n1,a vine\n"
    one, other = (mutations.of_bytes(data, [data], random.Random(3)) for _ in range(2))
    assert one == other
