"""Files that are cut, altered, foreign or missing are refused; a save that fails leaves the older file intact."""

import errno
import json
import os
import pickle
import stat

import numpy as np
import pytest
from safetensors.numpy import save_file

import treille
from treille import SVC, InputError
from treille.kernels import NGram

TEXTS, LABELS = ["to be or not", "be to not or", "01101", "10110"], ["text", "text", "bits", "bits"]


@pytest.fixture(scope="module")
def model():
    return SVC(NGram(2)).fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def saved(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.treille"
    model.save(path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.treille"


def assert_refused(path, content, message=None):
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        treille.load(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_every_prefix_of_a_model_is_refused(saved, path):
    header = 8 + int.from_bytes(saved[:8], "little")
    lengths = {0, 1, 7, 8, 9, header // 2, header - 1, header, header + 1, len(saved) - 1, *range(10, len(saved), 97)}
    for length in sorted(lengths):
        assert_refused(path, saved[:length], "not a treille model, or damaged")


def test_a_model_with_more_after_its_end_is_refused(saved, path):
    assert_refused(path, saved + b"\0", "not a treille model, or damaged")


@pytest.mark.parametrize("change", [0x01, 0x20, 0x80, 0xFF], ids=hex)
def test_one_altered_byte_anywhere_is_noticed(saved, path, change):
    for position in range(len(saved)):
        altered = bytearray(saved)
        altered[position] ^= change
        try:
            assert_refused(path, bytes(altered))
        except pytest.fail.Exception:
            pytest.fail(f"byte {position} of {len(saved)} altered: the file is still read")


def test_altered_weights_are_refused_by_the_checksum(saved, path):
    assert_refused(path, saved[:-1] + bytes([saved[-1] ^ 1]), r"the file was altered after it was saved \(its checksum")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 100,
        b"\xff" * 100,
        np.random.default_rng(0).bytes(1000),
        b"text,label\na vine,plant\n",
        pickle.dumps({"weights": [1.0, 2.0]}),
        json.dumps({"treille": {}}).encode(),
        (2**62).to_bytes(8, "little") + b"{}",
    ],
    ids=["empty", "zeros", "ones", "random", "csv", "pickle", "json", "huge header"],
)
def test_files_that_are_not_models_are_refused(content, path):
    assert_refused(path, content, "not a treille model, or damaged")


def test_a_pickle_that_would_run_code_does_not_run_it(path, tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    assert_refused(path, pickle.dumps(Trap()))
    assert not (tmp_path / "sprung").exists()


def test_the_safetensors_of_others_are_refused(path):
    for metadata in (None, {"format": "pt"}):
        save_file({"weights": np.zeros(3)}, path, metadata=metadata)
        assert_refused(path, path.read_bytes(), "a safetensors file, but not one that treille wrote")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", "{}", '{"format": "x"}', '{"format": null}'])
def test_an_invalid_spec_is_refused(text, path):
    from treille.io.model import _digest

    arrays = {"a": np.zeros(1)}
    save_file(arrays | {"sha256": _digest(text, arrays)}, path, metadata={"treille": text})
    assert_refused(path, path.read_bytes(), "its spec was not written by treille")


def test_a_missing_file_is_named(path):
    with pytest.raises(InputError, match=f"{path}: there is no such file"):
        treille.load(path)


def test_a_folder_instead_of_a_model_is_refused(tmp_path):
    with pytest.raises(InputError, match="not a treille model"):
        treille.load(tmp_path)


@pytest.mark.parametrize("step", ["os.open", "os.fdopen", "os.fsync", "os.replace"])
def test_a_full_disk_leaves_the_older_file_and_nothing_else(step, model, saved, path, monkeypatch):
    path.write_bytes(saved)
    monkeypatch.setattr(step, _disk_full)
    with pytest.raises(OSError, match="No space left on device; the older file is untouched") as caught:
        model.save(path)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(path)
    monkeypatch.undo()
    assert path.read_bytes() == saved
    assert list(path.parent.iterdir()) == [path]


def _disk_full(*arguments, **options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_leaves_no_file_if_there_was_none(model, path, monkeypatch):
    monkeypatch.setattr(os, "fsync", _disk_full)
    with pytest.raises(OSError, match="cannot save the model: No space left on device; nothing was written"):
        model.save(path)
    assert list(path.parent.iterdir()) == []


def test_an_interrupt_while_saving_leaves_the_older_file_and_nothing_else(model, saved, path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    path.write_bytes(saved)
    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.save(path)
    assert path.read_bytes() == saved
    assert list(path.parent.iterdir()) == [path]


def test_a_missing_folder_is_named(model, tmp_path):
    with pytest.raises(OSError, match="cannot save the model: No such file or directory; nothing was written"):
        model.save(tmp_path / "nowhere" / "model.treille")


def test_a_folder_is_not_overwritten(model, tmp_path):
    with pytest.raises(OSError, match="cannot save the model"):
        model.save(tmp_path)
    assert list(tmp_path.parent.glob(f".{tmp_path.name}.*")) == []


def test_a_folder_that_cannot_be_written_keeps_its_file(model, saved, path):
    path.write_bytes(saved)
    path.parent.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        if os.access(path.parent, os.W_OK):
            pytest.skip("this user (root?) may write to any folder")
        with pytest.raises(OSError, match="Permission denied; the older file is untouched"):
            model.save(path)
    finally:
        path.parent.chmod(stat.S_IRWXU)
    assert path.read_bytes() == saved
    assert list(path.parent.iterdir()) == [path]


def test_a_saved_file_has_the_usual_permissions(model, path):
    before = os.umask(0o027)
    try:
        model.save(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_saving_over_a_model_replaces_it(model, path):
    path.write_bytes(b"something older")
    model.save(path)
    assert treille.load(path).predict(["0110"]).tolist() == ["bits"]
