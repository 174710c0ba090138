"""A process killed while it saves leaves the old model or the new one, and each loads."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from treille.io.atomic_write import atomic_write
from treille.io.model import read_model, write_model

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")

WRITER = """
import sys, numpy as np
from treille.io.model import write_model
path, size = sys.argv[1], int(sys.argv[2])
for version in range(1, 10**9):
    write_model(path, {"version": version}, {"numbers": np.full(size, version, np.int64)})
    print(version, flush=True)
"""


def killed_while_saving(path, size, times, seed, last):
    """Versions found after each of several kills at random moments, each checked to be complete."""
    rng, found = np.random.default_rng(seed), [last]
    for _ in range(times):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER.replace("range(1,", f"range({found[-1] + 1},"), path, str(size)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert writer.stdout.readline().strip()  # the first version is written: the next ones are under way
        time.sleep(rng.uniform(0, 0.4))
        writer.send_signal(signal.SIGKILL)
        saved = [found[-1] + 1, *map(int, writer.stdout.read().split())][-1]
        writer.wait()
        spec, arrays = read_model(path)  # which compares the checksum
        assert spec["version"] in (saved, saved + 1)  # what was reported saved, or the one that was being written
        assert arrays["numbers"].shape == (size,)
        assert (arrays["numbers"] == spec["version"]).all()
        found.append(spec["version"])
    return found


def test_a_kill_leaves_the_old_model_or_the_new_one(tmp_path):
    path = tmp_path / "model.treille"
    write_model(path, {"version": 0}, {"numbers": np.zeros(10**5, np.int64)})
    versions = killed_while_saving(path, 10**5, 2, seed=0, last=0)
    assert 0 == versions[0] < versions[1] < versions[2]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_kills_while_models_of_100_megabytes_are_written(seed, tmp_path):
    path = tmp_path / "model.treille"
    write_model(path, {"version": 0}, {"numbers": np.zeros(10, np.int64)})
    versions = killed_while_saving(path, 13 * 10**6, 10, seed, last=0)
    assert len(set(versions)) == 11


def test_the_folder_is_synchronised_after_the_rename(tmp_path, monkeypatch):
    done, replace, fsync = [], os.replace, os.fsync

    def noted_fsync(handle):
        done.append(os.readlink(f"/proc/self/fd/{handle}") if sys.platform == "linux" else "")
        fsync(handle)

    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("replace"), replace(*paths)))
    monkeypatch.setattr(os, "fsync", noted_fsync)
    atomic_write(tmp_path / "a", lambda file: file.write(b"x"), "file")
    assert len(done) == 3
    assert done[1] == "replace"
    if sys.platform == "linux":
        assert done[0].startswith(f"{tmp_path}/.a.")
        assert done[2] == str(tmp_path)


def test_saving_never_changes_the_umask(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "umask", lambda mask: pytest.fail("another thread may create a file now"))
    atomic_write(tmp_path / "a", lambda file: file.write(b"x"), "file")
    assert (tmp_path / "a").read_bytes() == b"x"
