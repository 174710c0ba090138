"""treille train --stream: one pass over files and pipes of any size; the model is kept if training ends early."""

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

import treille
from treille.io import chunks, read

RANDOM = random.Random(5)
WORDS = {"red": ["cherry", "dark", "oak"], "white": ["apple", "green", "lime"], "rosé": ["berry", "pale", "rose"]}


def some(n):
    """Texts of three classes in random order."""
    labels = RANDOM.choices(list(WORDS), k=n)
    return [{"text": " ".join(RANDOM.choices([*WORDS[label], "wine", "of"], k=6)), "label": label} for label in labels]


EXAMPLES = some(400)
FILES = {
    "a.jsonl": "".join(json.dumps(each) + "\n" for each in EXAMPLES),
    "a.csv": "text,label\n" + "".join(f"{each['text']},{each['label']}\n" for each in EXAMPLES),
    "a.tsv": "label\ttext\n" + "".join(f"{each['label']}\t{each['text']}\n" for each in EXAMPLES),
    "a.txt": "".join(f"{each['label']}\t{each['text']}\n" for each in EXAMPLES),
    "a.fasta": "".join(f">{each['label']}\n{each['text'].replace(' ', '')}\n" for each in EXAMPLES),
    "a.json": json.dumps(EXAMPLES),
}


@pytest.fixture
def wine_lines(tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    """Chunks of 70 examples."""
    defaults = chunks.read_chunks.__kwdefaults__
    monkeypatch.setitem(defaults, "examples", 70)


@pytest.mark.parametrize("name", FILES)
def test_a_stream_trains_the_same_model_as_partial_fit_on_all_examples(cli, wine_lines, name):
    answer = cli("train", wine_lines / name, "--stream", "--kernel", "ngram(3)", "--model", "m.treille")
    assert answer.code == 0, answer.err
    whole = read(wine_lines / name, labelled=True)
    expected = treille.Perceptron(treille.kernels.NGram(3)).partial_fit(whole.X, whole.labels)
    model = treille.load("m.treille")
    assert model.decision_function(whole.X) == pytest.approx(expected.decision_function(whole.X))
    assert (
        f"accuracy {expected.running_accuracy_:.3f} on the 400 examples of the stream, each predicted before"
        in answer.out
    )
    assert f"{sum(expected.report_.mistakes)} mistakes" in answer.out


def test_standard_input_is_read_in_chunks_and_compressed_files_too(cli, wine_lines):
    text = FILES["a.jsonl"].encode()
    answer = cli("train", "-", "--stream", "--model", "m.treille", "--json", stdin=text)
    assert answer.code == 0, answer.err
    result = answer.json()
    assert result["examples"] == 400
    assert result["file"] == "standard input"
    assert 0.8 < result["running_accuracy"] < 1
    assert result["report"]["status"] == "stream"
    (wine_lines / "b.jsonl.gz").write_bytes(gzip.compress(text))
    assert cli("train", "b.jsonl.gz", "--stream", "--model", "n.treille").code == 0
    assert treille.load("m.treille").coef_.tolist() == treille.load("n.treille").coef_.tolist()


def test_every_command_works_with_the_model(cli, wine_lines):
    for kernel in ("ngram(2)", "subsequence(2)"):
        assert cli("train", "a.csv", "--stream", "--kernel", kernel, "--model", "m.treille").code == 0
        assert "one pass over a stream, 3 classes one against the rest" in cli("inspect", "m.treille").out
        assert cli("inspect", "m.treille", "--json").json()["estimator"] == "Perceptron"
        assert cli("evaluate", "m.treille", "a.csv", "--json").json()["accuracy"] > 0.9
        assert len(cli("predict", "m.treille", "a.csv").out.splitlines()) == 400
    assert cli("train", "a.csv", "--stream", "--model", "m.treille").code == 0
    assert cli("explain", "m.treille", "a.csv").code == 0


def test_a_test_file_is_scored_and_no_model_need_be_kept(cli, wine_lines):
    answer = cli("train", "a.csv", "--stream", "--test", "a.tsv")
    assert answer.code == 0, answer.err
    assert "on a.tsv" in answer.out
    assert "no, name a file with --model" in answer.out


def test_a_model_that_was_saved_before_its_test_file_was_refused_is_named(cli, wine_lines, tmp_path):
    (tmp_path / "pink.csv").write_text("text,label\na wine,pink\n")
    answer = cli("train", "a.csv", "--stream", "--test", "pink.csv", "--model", "m.treille")
    assert answer.code == 1
    assert "pink (1)" in answer.err
    assert answer.err.endswith("The model is saved, in m.treille\n")
    assert cli("inspect", "m.treille").code == 0


@pytest.mark.parametrize(
    "words",
    [("--C", "3"), ("--loss", "logistic"), ("--cv", "5"), ("--holdout", "0.2"), ("--seed", "7"), ("--tol", "0.1"),
     ("--max-epochs", "3"), ("--class-weight", "balanced"), ("--report", "r.html"), ("--checkpoint", "run1"),
     ("--scratch", "."), ("--min-count", "1"), ("--C", "1"), ("--loss", "hinge"), ("--tol", "0.001"), ("--seed", "0")],
)  # fmt: skip
def test_options_that_do_not_apply_are_refused_by_name(cli, wine_lines, words):
    answer = cli("train", "a.csv", "--stream", "--model", "m.treille", *words)
    assert answer.code == 2
    assert f"Invalid value for {words[0]}: does not apply with --stream" in answer.err
    assert not (wine_lines / "m.treille").exists()


@pytest.mark.parametrize("kernel", ["ngram(2).weighted(idf)", "ngram(2).centered()"])
def test_a_kernel_that_depends_on_all_examples_is_refused(cli, wine_lines, kernel):
    answer = cli("train", "a.csv", "--stream", "--model", "m.treille", "--kernel", kernel)
    assert answer.code == 1
    assert "depends on all training examples" in answer.err


def test_a_bad_line_ends_it_and_what_was_learned_is_saved(cli, wine_lines):
    (wine_lines / "b.jsonl").write_text(FILES["a.jsonl"] + "{broken\n")
    answer = cli("train", "b.jsonl", "--stream", "--kernel", "ngram(2)", "--model", "m.treille")
    assert answer.code == 1
    assert (
        "the input ended with an error: the model learned from the 400 examples before that is saved to" in answer.err
    )
    assert "b.jsonl, line 401, column 2: not valid JSON" in answer.err
    X = [each["text"] for each in EXAMPLES]
    expected = treille.Perceptron(treille.kernels.NGram(2)).partial_fit(X, [each["label"] for each in EXAMPLES])
    assert treille.load("m.treille").decision_function(X) == pytest.approx(expected.decision_function(X))


def test_a_bad_line_at_the_start_and_one_class_save_nothing(cli, wine_lines):
    (wine_lines / "b.jsonl").write_text("{broken\n" + FILES["a.jsonl"])
    assert cli("train", "b.jsonl", "--stream", "--model", "m.treille").code == 1
    (wine_lines / "one.csv").write_text("text,label\n" + "a wine,red\n" * 100)
    answer = cli("train", "one.csv", "--stream", "--model", "m.treille")
    assert answer.code == 1
    assert "one.csv: every label is 'red', expected at least two classes" in answer.err
    assert not (wine_lines / "m.treille").exists()
    assert cli("train", "none.csv", "--stream", "--model", "m.treille").code == 1
    (wine_lines / "empty.csv").write_text("text,label\n")
    assert "found a header and no example" in cli("train", "empty.csv", "--stream", "--model", "m.treille").err


def test_ctrl_c_saves_what_was_learned_and_says_so(tmp_path):
    lines = "".join(json.dumps(each) + "\n" for each in some(10_100))
    words = [
        sys.executable,
        "-m",
        "treille",
        "train",
        "-",
        "--stream",
        "--kernel",
        "ngram(2)",
        "--model",
        "m.treille",
    ]
    with subprocess.Popen(
        words, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        child.stdin.write(lines.encode())
        child.stdin.flush()
        noted = os.read(child.stderr.fileno(), 10_000).decode()  # after the first chunk was read
        assert "in chunks, the first: standard input: 10,000 examples" in noted
        time.sleep(2)
        child.send_signal(signal.SIGINT)
        err = child.stderr.read().decode()
        assert child.wait(60) == 130, err
    assert "interrupted: the model learned from the 10,000 examples before that is saved to m.treille" in err
    assert treille.load(tmp_path / "m.treille").classes_.tolist() == sorted(WORDS)
