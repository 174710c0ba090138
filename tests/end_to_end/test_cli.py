"""The command `treille` as a separate process: exit codes, pipes, signals, and the steps from a file to a score."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from public_sets import data_folder

TREILLE = [sys.executable, "-m", "treille"]
DATA = data_folder()


def treille(*words, folder, **options):
    command = [*TREILLE, *map(str, words)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, **options)


def write_texts(path: Path, n: int) -> None:
    lines = [
        f"{'even' if i % 2 == 0 else 'odd'}\tnumber {i} of {n}, {'left' if i % 2 == 0 else 'right'}\n" for i in range(n)
    ]
    path.write_text("".join(lines))


def test_from_a_file_to_a_model_to_predictions_to_a_score(tmp_path):
    write_texts(tmp_path / "a.txt", 200)
    assert treille("train", "a.txt", "--kernel", "ngram(3)", "--model", "a.treille", folder=tmp_path).returncode == 0
    predicted = treille("predict", "a.treille", "-", folder=tmp_path, input="number 7, right\nnumber 8, left\n")
    assert predicted.stdout == "odd\neven\n"
    evaluated = treille("evaluate", "a.treille", "a.txt", folder=tmp_path)
    assert evaluated.stdout.startswith("accuracy 1.0000 (200 of 200 right)")


def test_exit_codes_and_streams_are_fit_for_scripts(tmp_path):
    bad = treille("train", "absent.csv", "--model", "m.treille", folder=tmp_path)
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr.startswith("treille: error: absent.csv: no such file")
    assert treille("nonsense", folder=tmp_path).returncode == 2
    assert treille("--version", folder=tmp_path).returncode == 0


def test_labels_that_the_terminal_cannot_show_do_not_break_it(tmp_path):
    (tmp_path / "a.txt").write_text("été\taa\nhiver\tbb\n", encoding="utf-8")
    narrow = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    words = ["train", "a.txt", "--kernel", "ngram(1)", "--model", "a.treille"]
    assert treille(*words, folder=tmp_path, env=narrow).returncode == 0
    shown = treille("inspect", "a.treille", folder=tmp_path, env=narrow)
    assert "\\xe9t\\xe9" in shown.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX pipes")
def test_a_reader_that_closes_the_pipe_ends_the_command_quietly(tmp_path):
    write_texts(tmp_path / "a.txt", 20_000)
    treille("train", "a.txt", "--kernel", "ngram(3)", "--model", "a.treille", folder=tmp_path)
    command = f"{' '.join(TREILLE)} predict a.treille a.txt --scores | head -2"
    ended = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert len(ended.stdout.splitlines()) == 2
    assert "Error" not in ended.stderr


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_ends_training_with_130_and_leaves_the_older_model(tmp_path):
    write_texts(tmp_path / "a.txt", 3000)
    (tmp_path / "a.treille").write_bytes(b"older")
    words = [
        "train",
        "a.txt",
        "--kernel",
        "ngram(8, min_n=1)",
        "--C",
        "1e9",
        "--tol",
        "1e-15",
        "--max-epochs",
        "100000000",
        "--force",
    ]
    command = [*TREILLE, *words, "--model", "a.treille"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        process.stderr.readline()
        process.stderr.readline()  # what it understood and the classes: training begins
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait(timeout=60)
    assert process.returncode == 130, err
    assert err.strip() == "treille: error: interrupted"
    assert (tmp_path / "a.treille").read_bytes() == b"older"


@pytest.mark.skipif(DATA is None, reason="TREILLE_DATA names no folder of public sets")
def test_acquisitions_are_distinguished_from_other_reuters_stories(tmp_path):
    train, test = (DATA / "reuters21578" / f"{part}.jsonl.gz" for part in ("train", "test"))
    reading = ["--text", "title+body", "--label", "topics=acq"]
    assert treille("train", train, *reading, "--model", "acq.treille", folder=tmp_path).returncode == 0
    evaluated = treille("evaluate", "acq.treille", test, *reading, folder=tmp_path)
    f1 = float(evaluated.stdout.partition("F1 of 'acq' ")[2].partition(",")[0])
    assert f1 > 0.93
