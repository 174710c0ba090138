"""Data and models that cannot be trained in parts are refused with the place and what to do, and nothing is left on disk."""

import errno
import gzip
import os
import re

import numpy as np
import pytest
import scipy.sparse as sp
from small_parts import divided, some_texts

from treille import (
    SVC,
    SVCCV,
    SVR,
    InputError,
    LearnedRidge,
    LearnedSVC,
    LogisticRegressionCV,
    OneClassSVM,
    Perceptron,
    Ridge,
    RidgeCV,
    Strings,
    Tagger,
)
from treille.data import Graph
from treille.features import FeatureMap, Rows
from treille.io import atomic_write
from treille.kernels import (
    AllSubstrings,
    Columns,
    Conjunctions,
    Kernel,
    Linear,
    NGram,
    Polynomial,
    Subpath,
    SubsetTree,
    WeisfeilerLehman,
)
from treille.kernels.reading import Reads
from treille.scale import Part, Parts, counting, folder, parts
from treille.solvers import BlockMinimization, DualCD
from treille.spaces import footprint
from treille.spaces import parts as parts_space

X, y = some_texts(40)


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """The folder of temporary folders; the test fails unless it is empty in the end."""
    path = tmp_path / "scratch"
    path.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(path))
    yield path
    assert list(path.iterdir()) == []


BAD = {
    "part 1: holds graphs, parts before it strings: its first item is '1 node a, 0 edges'. Pass all": lambda: SVC(
        NGram(2)
    ).fit(Parts.of([(X, y), ([Graph(["a"], [])], [0])])),
    "part 1: has the unit 'token', parts before it 'char': its first item is \"['to', 'be']\"": lambda: SVC(
        NGram(2)
    ).fit(Parts.of([(X, y), ([["to", "be"]], [0])])),
    "part 1: the strings are bytes, but unit is 'char': decode them first": lambda: SVC(NGram(2)).fit(
        Parts.of([(X, y), ([b"abab"], [0])])
    ),
    "part 1: the new rows have 3 columns, expected 2 as those before": lambda: SVC(Linear()).fit(
        Parts.of([(np.eye(2), [0, 1]), (np.eye(3), [0, 1, 0])])
    ),
    "part 1: the features of one part are conjunctions of columns": lambda: SVC(Polynomial(2)).fit(
        Parts.of([(np.eye(2), [0, 1]), (2 * np.eye(2), [0, 1])])
    ),
    "part 2: item 1 is None, expected str like the items before it": lambda: SVC(NGram(2)).fit(
        Parts.of([(X, y), (X, y), (["ab", None], [0, 1])])
    ),
    "part 1: column 'b': item 0 is None": lambda: SVC(Columns({"b": NGram(1)})).fit(
        Parts.of([([{"b": "a"}, {"b": "c"}], [0, 1]), ([{"b": None}], [1])])
    ),
    "part 1: has no labels, as parts before it have": lambda: SVC(NGram(2)).fit(Parts.of([(X, y), X])),
    "part 0: has no labels, which training needs": lambda: SVR(NGram(2)).fit(Parts.of([X, (X, y)])),
    "part 1: there are 40 examples but 3 labels": lambda: SVC(NGram(2)).fit(Parts.of([(X, y), (X, [0, 1, 1])])),
    "part 1: label 2 is missing (None or NaN)": lambda: SVC(NGram(2)).fit(
        Parts.of([(X, ["a", "b"] * 20), (X[:3], ["a", "b", None])])
    ),
    "part 1: has labels such as 'no', parts before it such as 0: use labels of one type": lambda: SVC(NGram(2)).fit(
        Parts.of([(X, y), (X[:2], ["no", "yes"])])
    ),
    "all labels are 1: there is one class": lambda: SVC(NGram(2)).fit(Parts.of([(X, [1] * 40)])),
    "part 1: has no sample weights, unlike parts before it": lambda: SVC(NGram(2)).fit(
        Parts.of([(X, y, np.ones(40)), (X, y)])
    ),
    "part 1: has sample weights, unlike parts before it": lambda: SVC(NGram(2)).fit(
        Parts.of([(X, y), (X, y, np.ones(40))])
    ),
    "part 0: sample_weight[3] is -1.0, expected a number of at least 0": lambda: SVC(NGram(2)).fit(
        Parts.of([(X, y, np.where(np.arange(40) == 3, -1, 1))])
    ),
    "part 0: sample_weight has the shape (1,), expected (40,)": lambda: SVC(NGram(2)).fit(Parts.of([(X, y, [1.0])])),
    "part 0: sample_weight holds something that is not a number": lambda: SVC(NGram(2)).fit(
        Parts.of([(X, y, ["much"] * 40)])
    ),
    "part 1: has targets of the shape (40, 2), parts before it one number per example": lambda: Ridge(NGram(2)).fit(
        Parts.of([(X, y), (X, np.ones((40, 2)))])
    ),
    "part 1: target 0 is NaN or infinite": lambda: SVR(NGram(2)).fit(Parts.of([(X, y), (X[:1], [np.nan])])),
    "parts have their own labels and sample weights": lambda: SVC(NGram(2)).fit(divided(X, y), y),
    "there are no examples: fit needs at least one": lambda: SVC(NGram(2)).fit(Parts.of([([], []), ([], [])])),
    "no example has a feature of NGram(n=50): they may be too short": lambda: SVC(NGram(50)).fit(divided(X, y)),
    "part 0: one str was given, expected a list of them": lambda: SVC(NGram(2)).fit(Parts.of(X)),
}


@pytest.mark.parametrize("message", BAD)
def test_bad_parts_are_refused_by_name(message, scratch):
    with pytest.raises(InputError, match=re.escape(message)):
        BAD[message]()


class Unread:
    """Parts that must not be read."""

    def __iter__(self):
        raise AssertionError("something was read")


AT_ONCE = {
    "AllSubstrings(decay=0.5) has no explicit features, so it cannot be trained on data in parts: use a kernel that has, such as "
    "NGram for texts": SVC(AllSubstrings()),
    "SubsetTree(decay=0.4) has no explicit features": SVC(SubsetTree().normalized()),
    "Precomputed() has no explicit features": SVC("precomputed"),
    "CallableKernel": SVC(lambda a, b: 1.0),
    "use RootPaths or SubTree": SVC(Subpath().weighted("idf")),
    "use min_support=1": SVC(Conjunctions(2, min_support=2)),
    "leave out .centered()": SVC(NGram(2).centered() + NGram(1)),
    "depend on all examples at once": SVC(NGram(2).weighted("idf") * NGram(1)),
    "only LearnedSVC and LearnedRidge find": SVC(NGram(2).weighted("learned")),
    "space is 'nystrom', which needs all examples in memory: use 'auto'": SVC(NGram(2), space="nystrom"),
    "solver is DualCD(), which needs all rows in memory: use 'auto' or BlockMinimization()": SVC(
        NGram(2), solver=DualCD()
    ),
    "fit_intercept is 'free', which needs all examples in memory: use False or True": SVC(
        NGram(2), fit_intercept="free"
    ),
    "OneClassSVM needs all examples in memory": OneClassSVM(NGram(2)),
    "Perceptron needs all examples in memory, and these are in parts: call partial_fit for each part": Perceptron(
        NGram(2)
    ),
    "choose parameters on some of them, then train SVC on the parts": SVCCV(NGram(2)),
    "then train LogisticRegression on the parts": LogisticRegressionCV(NGram(2)),
    "then train Ridge on the parts": RidgeCV(NGram(2)),
    "LearnedSVC needs all examples in memory": LearnedSVC(NGram(2)),
    "LearnedRidge needs all examples in memory": LearnedRidge(NGram(2)),
    "Tagger needs all examples in memory": Tagger(),
}


@pytest.mark.parametrize("message", AT_ONCE)
def test_models_that_are_not_trained_in_parts_are_refused_before_anything_is_read(message, scratch):
    with pytest.raises(InputError, match=re.escape(message)):
        AT_ONCE[message].fit(Parts.of(Unread()), None)


def test_a_default_kernel_that_is_not_trained_in_parts_is_refused_with_the_first_part(scratch):
    from treille import Trees

    trees = Trees(["(a (b))", "(c)"])
    with pytest.raises(
        InputError, match="use a kernel that has, such as NGram for texts, RootPaths or SubTree for trees"
    ):
        SVC().fit(Parts.of([(trees, [0, 1])]))


def test_block_minimization_is_for_parts():
    with pytest.raises(InputError, match=r"pass X as treille\.scale\.Parts, or use solver='auto'"):
        SVC(NGram(2), solver=BlockMinimization()).fit(X, y)


@pytest.mark.parametrize(
    "kernel", [NGram(2), NGram(2).balanced(), WeisfeilerLehman(1), NGram(1) * NGram(2), NGram(1) ** 2], ids=repr
)
def test_kernels_that_merge_pass(kernel):
    kernel.check_parts()


class Lengths(Kernel):
    """A kernel of users, whose features do not merge."""

    reads = Reads((Strings,))

    def fit_features(self, batch, n_jobs=None):
        features = LengthMap()
        return features, features.transform(batch)


class LengthMap(FeatureMap):
    n_features = 1

    def transform(self, batch, n_jobs=None):
        return Rows.from_csr(sp.csr_matrix(np.diff(batch.offsets)[:, None]))

    def name(self, id):
        return "length"

    def restrict(self, ids):
        return self

    def state(self):
        return {}, {}


def test_a_kernel_of_users_whose_features_do_not_merge_is_refused_with_the_second_part(scratch):
    with pytest.raises(
        InputError, match="part 1: the features of LengthMap such as 'length' cannot be merged with others"
    ):
        SVC(Lengths()).fit(divided(X, y))
    assert SVC(Lengths()).fit(Parts.of([(X, y)])).plan_.space.name == "parts"


def test_an_iterator_cannot_be_read_twice():
    given = Parts.of(iter([(X, y)]))
    model = SVC(NGram(2)).fit(given)
    with pytest.raises(InputError, match="an iterator cannot be read again: pass a list, or an object whose __iter__"):
        model.predict(given)
    with pytest.raises(InputError, match=r"Parts\.of takes an iterable of parts, found int"):
        Parts.of(5)
    with pytest.raises(InputError, match="found str"):
        Parts.of("texts.csv")


@pytest.mark.parametrize("memory", ["much", "", "-1GB", 0, -5, True, None, "1.2.3GB"])
def test_sizes_that_are_none_are_refused(memory):
    with pytest.raises(
        InputError, match=r"memory is .*, expected a size such as '2GB' or '500MB', or a number of bytes"
    ):
        Parts.of([], memory=memory)


def test_too_little_memory_is_refused_before_anything_is_read(monkeypatch, scratch):
    with pytest.raises(
        InputError, match="memory is '100MB', expected at least 500MB, half of which Python and its libraries"
    ):
        Parts.of(Unread(), memory="100MB")
    monkeypatch.setattr(counting, "resident_bytes", lambda: 3 * 10**9)
    with pytest.raises(InputError, match=r"this process holds 3\.0 GB already, more than memory=2\.0 GB: allow"):
        SVC(NGram(2)).fit(Parts.of(Unread()))


def test_an_example_that_is_too_large_is_refused_before_all_are_counted(monkeypatch, scratch):
    monkeypatch.setattr(footprint, "PER_FEATURE", 10**9)
    message = (
        "part 0: the features of one example take about .* GB to count, more than memory=2.0 GB: allow more .--memory"
    )
    with pytest.raises(InputError, match=message):
        SVC(NGram(2)).fit(Parts.of([(X, y)]))


def test_features_that_need_more_memory_are_refused_as_soon_as_they_are_found(monkeypatch, scratch):
    monkeypatch.setattr(parts_space, "PER_FEATURE", 30_000_000)  # not in the footprint, by which parts are divided
    read = []

    def some():
        for number in range(4):
            read.append(number)
            yield Part(X[10 * number : 10 * number + 10], y[10 * number : 10 * number + 10], None, f"part {number}")

    message = (
        r"part 1: the \d+ features of 20 examples so far need .* of memory with their weights for 1 function, more than"
    )
    with pytest.raises(
        InputError,
        match=message
        + ".*: allow more memory .--memory on the command line., .* or keep frequent features only, min_count=5",
    ):
        SVC(NGram(2)).fit(Parts(some))
    assert read == [0, 1]


def test_weights_for_many_classes_are_part_of_the_memory(monkeypatch, scratch):
    labels = [f"class {i}" for i in range(40)]
    monkeypatch.setattr(parts_space, "resident_bytes", lambda: 0)
    monkeypatch.setattr(counting, "resident_bytes", lambda: 1_999_990_000)
    monkeypatch.setattr(counting, "measured", lambda *_: footprint.Footprint(0, 0, 1))
    with pytest.raises(InputError, match="with their weights for 40 functions"):
        SVC(NGram(2)).fit(Parts.of([(X, labels)]))


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path, scratch):
    (tmp_path / "file").write_text("")
    for options in ({"scratch": tmp_path / "file"}, {"checkpoint": tmp_path / "file" / "inside"}):
        with pytest.raises(InputError, match=r"file.*: cannot be written to: .*; name another folder \(scratch, or"):
            SVC(NGram(2)).fit(Parts.of(Unread(), **options))


def test_a_full_disk_is_reported_with_what_is_written_and_what_is_free(monkeypatch, scratch):
    write = atomic_write.atomic_write
    written = []

    def full(path, *given):
        written.append(path)
        if len(written) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(path, *given)

    monkeypatch.setattr("treille.scale.folder.atomic_write", full)
    message = r"the disk is full: [0-9.]+ kB of rows are written, .* are free\. Rows take about three times the size of texts: name"
    with pytest.raises(InputError, match=message):
        SVC(NGram(2)).fit(divided(X, y, 5))


def test_a_disk_that_is_too_small_is_refused_after_the_first_part(tmp_path, monkeypatch, scratch):
    path = written(tmp_path / "texts.csv", 2000)
    monkeypatch.setattr(folder.Folder, "free_bytes", lambda self: 10_000)
    monkeypatch.setattr(parts, "part_characters", lambda memory: 2000)
    with pytest.raises(
        InputError, match=r"the rows will take about [0-9.]+ .B, but 10\.0 kB are free: name a folder on a larger disk"
    ):
        SVC(NGram(2)).fit(Parts.read(path))


def written(path, n=200):
    texts, labels = some_texts(n)
    lines = "text,label\n" + "".join(f"{text},{'ab'[k]}\n" for text, k in zip(texts, labels, strict=True))
    path.write_bytes(gzip.compress(lines.encode()) if path.suffix == ".gz" else lines.encode())
    return path


@pytest.mark.parametrize("name", ["texts.csv", "texts.csv.gz", "folder", "glob"])
def test_files_are_read_in_parts(name, tmp_path, monkeypatch, small_blocks, scratch):
    monkeypatch.setattr(parts, "part_characters", lambda memory: 400)
    source = tmp_path / "data"
    source.mkdir()
    given = source if name == "folder" else source / "*.csv" if name == "glob" else source / name
    written(source / (name if name.startswith("texts") else "texts.csv"))
    model = SVC(NGram(2).normalized(), tol=1e-5).fit(Parts.read(given))
    texts, labels = some_texts(200)
    whole = SVC(NGram(2).normalized(), tol=1e-5).fit(texts, np.array(["a", "b"])[labels])
    assert model.report_.primal == pytest.approx(whole.report_.primal, rel=2e-5)
    assert len(model.predict(Parts.read(given))) == 200


def test_bad_lines_of_files_are_named(tmp_path, monkeypatch, scratch):
    monkeypatch.setattr(parts, "part_characters", lambda memory: 400)
    path = written(tmp_path / "texts.csv")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:150], "abc", *lines[150:]]))
    with pytest.raises(InputError, match=r"texts\.csv.*line 151"):
        SVC(NGram(2)).fit(Parts.read(path))
    with pytest.raises(InputError, match=r"none\.csv: no such file"):
        SVC(NGram(2)).fit(Parts.read(tmp_path / "none.csv"))


@pytest.mark.parametrize("checkpoint", [False, True], ids=["scratch", "checkpoint"])
@pytest.mark.parametrize("name", ["texts.csv", "folder"])
def test_a_file_that_changes_while_it_is_read_is_named(name, checkpoint, tmp_path, monkeypatch, scratch):
    monkeypatch.setattr(parts, "part_characters", lambda memory: 400)
    source, keep = tmp_path / "data", tmp_path / "run" if checkpoint else None
    source.mkdir()
    path = written(source / "texts.csv")
    data = Parts.read(source if name == "folder" else path, checkpoint=keep)
    opened = data.open

    def growing():
        for number, part in enumerate(opened()):
            if number == 2:
                with open(path, "a") as file:
                    file.write("more,b\n")
            yield part

    monkeypatch.setattr(data, "open", growing)
    with pytest.raises(InputError, match=r"texts\.csv: changed while it was read: train again when it is complete"):
        SVC(NGram(2)).fit(data)
    monkeypatch.undo()
    SVC(NGram(2)).fit(Parts.read(source, checkpoint=keep))  # the old file has no effect


def test_a_file_that_changes_between_a_checkpoint_and_its_continuation_is_named(
    tmp_path, monkeypatch, checkpoints, scratch
):
    monkeypatch.setattr(parts, "part_characters", lambda memory: 400)
    path, extra = written(tmp_path / "texts.csv"), written(tmp_path / "more.csv")
    SVC(NGram(2)).fit(Parts.read(path, checkpoint=tmp_path / "run"))
    with pytest.raises(InputError, match=r"holds the checkpoint of another run: label was None, and is label now"):
        SVC(NGram(2)).fit(Parts.read(path, checkpoint=tmp_path / "run", label="label"))
    with pytest.raises(InputError, match=r"it was of .*texts\.csv, not of .*more\.csv"):
        SVC(NGram(2)).fit(Parts.read(extra, checkpoint=tmp_path / "run"))
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match=r"another run: .*texts\.csv is newer"):
        SVC(NGram(2)).fit(Parts.read(path, checkpoint=tmp_path / "run"))
    with open(path, "a") as file:
        file.write("more,b\n")
    with pytest.raises(
        InputError, match=r"texts\.csv has changed since \([0-9,]+ bytes and [0-9,]+ bytes\)\. Use the same data"
    ):
        SVC(NGram(2)).fit(Parts.read(path, checkpoint=tmp_path / "run"))


def test_labels_of_another_file_belong_to_a_checkpoint(tmp_path, checkpoints, scratch):
    (tmp_path / "texts.txt").write_text("\n".join(X) + "\n")
    labels = tmp_path / "labels"
    labels.write_text("\n".join(map(str, y)) + "\n")
    options = {"labels": labels, "format": "lines", "checkpoint": tmp_path / "run"}
    SVC(NGram(2)).fit(Parts.read(tmp_path / "texts.txt", **options))
    labels.write_text("\n".join(map(str, 1 - y)) + "\n")
    with pytest.raises(InputError, match=r"labels (is newer|has changed since)"):
        SVC(NGram(2)).fit(Parts.read(tmp_path / "texts.txt", **options))


def test_standard_input_has_no_checkpoint(tmp_path):
    with pytest.raises(
        InputError, match="standard input cannot be read again, so a checkpoint of it is of no use: name a file"
    ):
        Parts.read("-", checkpoint=tmp_path)
