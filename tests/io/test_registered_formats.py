"""A kind of data and its file format, registered by a user's module, work like those of treille."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest

import treille
from treille import Batch, registry
from treille.data.base import as_index, kind_of
from treille.io import Examples, read, read_chunks
from treille.io.blocks import runs
from treille.kernels import Kernel, Reads
from treille.serve.api import Served


class Series(Batch):
    """Lists of numbers of different lengths."""

    title = "time series"

    def __init__(self, data):
        self.items = [np.asarray(item, float) for item in data]

    @classmethod
    def recognises(cls, data):
        return isinstance(data, cls) or (isinstance(data, list) and bool(data) and isinstance(data[0], np.ndarray))

    @classmethod
    def default_kernels(cls, data):
        return (("moments()", "means and squares suit most series"),)

    @classmethod
    def json_schema(cls, units=()):
        return {"title": "series", "description": "a list of numbers", "type": "array", "items": {"type": "number"}}

    def __len__(self):
        return len(self.items)

    def __getitem__(self, key):
        key = as_index(key, len(self))
        return self.items[key] if isinstance(key, int) else Series([self.items[i] for i in np.arange(len(self))[key]])

    @property
    def nbytes(self):
        return sum(item.nbytes for item in self.items)

    def _state(self):
        return {"items": [item.tolist() for item in self.items]}, {}

    @classmethod
    def _read_state(cls, spec, arrays):
        return cls(spec["items"])


class SeriesFile:
    """A label, a bar and numbers on each line."""

    TITLES, SUFFIXES = {"series": "time series"}, {"series": (".series",)}

    @staticmethod
    def guess_content(line, text):
        return "series" if "|" in line and line.split("|")[1].split()[0][-1].isdigit() else None

    @staticmethod
    def blocks(stream, request, limits):
        for run in runs(enumerate(stream, 1), limits, lambda row: len(row[1])):
            rows = [(number, *line.split("|")) for number, line in run]
            labels = None if request.labelled is False else [label.strip() for _, label, _ in rows]
            X = Series([[float(value) for value in values.split()] for *_, values in rows])
            yield Examples(X, labels, "series", request.source, f"{request.source}: series", [row[0] for row in rows])


class Moments(Kernel):
    """Products of means, and of means of squares."""

    reads = Reads((Series,))

    def gram(self, left, right=None, n_jobs=None):
        one, other = (np.array([[x.mean(), (x**2).mean()] for x in each]) for each in (left, right or left))
        return one @ other.T

    def diagonal(self, batch, n_jobs=None):
        return np.diag(self.gram(batch))


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    for cls in (Series, SeriesFile, Moments):
        treille.register(cls)


@pytest.fixture
def path(tmp_path):
    numbers = np.random.default_rng(0).normal(size=(20, 7))
    rows = (f"{'up' if i % 2 else 'down'} | {' '.join(map(str, row + 2 * (i % 2)))}\n" for i, row in enumerate(numbers))
    (tmp_path / "a.series").write_text("".join(rows))
    return tmp_path / "a.series"


def test_its_files_are_recognised_joined_and_read_in_chunks(path, tmp_path):
    (tmp_path / "b.txt").write_text(path.read_text())
    assert read([path, tmp_path / "b.txt"]).note.endswith(": 40 examples in 2 files, labels as in the files")
    assert read(path).format == read(tmp_path / "b.txt").format == read(path, format="series").format == "series"
    assert len(read([path, path.rename(tmp_path / "c.series"), tmp_path / "b.txt"][1:]).X) == 40
    chunks = list(read_chunks(tmp_path / "c.series", examples=6))
    assert [len(chunk) for chunk in chunks] == [6, 6, 6, 2]
    assert all(isinstance(chunk.X, Series) for chunk in chunks)


@pytest.mark.parametrize("suffix", [".lat", ".plf", ".feather", ".fst", ".csv"])
def test_a_format_of_a_user_may_have_a_suffix_that_treille_uses(suffix, path, tmp_path, monkeypatch):
    monkeypatch.setattr(SeriesFile, "SUFFIXES", {"series": (suffix,)})
    folder = tmp_path / "folder"
    folder.mkdir()
    assert read(path.rename(folder / f"a{suffix}")).format == read(folder).format == "series"


def test_files_of_several_kinds_are_refused(path, tmp_path):
    (tmp_path / "a.trees").write_text("down\t(S (NP he))\n")
    with pytest.raises(treille.InputError, match=r"has time series, but .* has trees: give files of one kind"):
        read([path, tmp_path / "a.trees"])


def test_the_command_line_trains_and_evaluates_and_the_server_answers(path, monkeypatch, capsys):
    from treille.cli import main

    monkeypatch.chdir(path.parent)
    assert main(["train", "a.series", "--C", "10", "--model", "m.treille"]) == 0, capsys.readouterr().err
    assert main(["evaluate", "m.treille", "a.series"]) == 0
    assert "accuracy 1.0000" in capsys.readouterr().out
    served = Served(treille.load("m.treille"), "m")
    assert served.description()["data"] == "series"
    assert served.answers([[2.0, 2.5, 1.5], [0.0, -0.5]])["labels"] == ["up", "down"]


def test_a_kernel_of_another_kind_names_the_kernels_of_its_kind(path):
    told = r"the default kernel for time series is moments\(\); Moments reads time series"
    with pytest.raises(treille.InputError, match="found time series, expected strings: " + told):
        treille.SVC("ngram(2)").fit(read(path).X, read(path).labels)
    graphs = treille.data.Graphs([treille.data.Graph(2, [(0, 1)])]).as_packed()
    with pytest.raises(
        treille.InputError, match="found graphs, expected time series: the default kernel for graphs is"
    ):
        Moments().batch(graphs)


def test_a_kind_of_a_user_is_asked_before_those_of_treille():
    assert kind_of([np.arange(3.0), np.arange(2.0)]) is Series


def test_formats_are_found_by_their_entry_points(path, monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})
    point = EntryPoint("SeriesFile", f"{__name__}:SeriesFile", "treille.formats")
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == point.group else [])
    registry._entry_points.cache_clear()
    assert read(path).format == "series"
    registry._entry_points.cache_clear()
