"""predict and evaluate work in chunks: the output is the same as for all examples at once, and memory stays small."""

import json
import os
import random
import signal
import subprocess
import sys
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import treille
from treille.cli.console import Printer
from treille.cli.options import Reading
from treille.cli.predict import predicted, written
from treille.io import Examples, blocks, chunks
from treille.io.blocks import Limits
from treille.kernels import NGram

RANDOM = random.Random(3)
WORDS = {"red": ["cherry", "dark", "oak"], "white": ["apple", "green", "lime"], "rosé": ["berry", "pale", "rose"]}


def texts(n, classes=2):
    labels = RANDOM.choices(list(WORDS)[:classes], k=n)
    return [(" ".join(RANDOM.choices([*WORDS[label], "wine", "of", "a"], k=5)), label) for label in labels]


def json_lines(rows, **more):
    return "".join(
        json.dumps({"text": text, "label": label} | {k: v(i) for k, v in more.items()}) + "\n"
        for i, (text, label) in enumerate(rows)
    )


def tree(i):
    return f"{'xy'[i % 2]}\t(S (NP {'ab'[i % 2]}{i % 5}) (VP v{i % 3}))\n"


def graph(i):
    return json.dumps({"y": i % 2, "nodes": ["CO"[i % 2], "N", "C"], "edges": [[0, 1], [1, 2]][: 1 + i % 2]}) + "\n"


def utterance(i):
    return f"utt-{i}\n0 1 {['red', 'white'][i % 2]} 0.5,1,\n0 1 wine 0.{i},0,\n1 0,0,\n\n"


N = 40
DATA = {  # files, options of train, options of predict
    "texts": ({"a.jsonl": json_lines(texts(N))}, ["--kernel", "ngram(3).normalized()"], ["--scores"]),
    "three classes": ({"a.jsonl": json_lines(texts(N, 3))}, ["--kernel", "ngram(2)"], ["--scores"]),
    "ids": ({"a.jsonl": json_lines(texts(N), id=lambda i: f"d{i}")}, ["--kernel", "ngram(2)"], ["--scores"]),
    "ids twice": (
        {"a.jsonl": json_lines(texts(N), id=lambda i: f"d{i % 30}")}, ["--kernel", "ngram(2)"], ["--scores"]),
    "logistic": (
        {"a.jsonl": json_lines(texts(N))}, ["--kernel", "ngram(2)", "--loss", "logistic"], ["--probabilities"]),
    "no features": ({"a.jsonl": json_lines(texts(N))}, ["--kernel", "subsequence(2).normalized()"], ["--scores"]),
    "two files": (
        {"a.csv": "text,label,id\n" + "".join(f"{t},{y},{i}\n" for i, (t, y) in enumerate(texts(N))),
         "b.csv": "text,label,id\n" + "".join(f"{t},{y},{i}\n" for i, (t, y) in enumerate(texts(3)))},
        ["--kernel", "ngram(2)"], ["--scores"]),
    "trees": ({"a.tsv": "".join(map(tree, range(N)))}, [], ["--scores"]),
    "graphs": ({"a.jsonl": "".join(map(graph, range(N)))}, [], []),
    "lattices": (
        {"a.ark": "".join(map(utterance, range(N))), "labels": "".join(f"utt-{i} {'xy'[i % 2]}\n" for i in range(N))},
        ["--labels", "labels"], ["--scores"]),
    "numbers": ({"a.svm": "".join(f"{i % 2} {i % 7}:0.5 {i % 3 + 9}:{i}\n" for i in range(N))}, [], ["--scores"]),
    "dna": (
        {"a.fa": "".join(f">{'xy'[i % 2]}\n{'ACGTN'[i % 5]}{'acgt'[i % 2] * 9}\n" for i in range(N))},
        ["--alphabet", "dna", "--kernel", "ngram(2)"], ["--scores"]),
}  # fmt: skip


@contextmanager
def small_chunks(monkeypatch, examples=7):
    """Chunks of a few examples, and first blocks of three."""
    with monkeypatch.context() as patch:
        patch.setitem(chunks.read_chunks.__kwdefaults__, "examples", examples)
        patch.setattr(blocks, "FIRST", Limits(3, 100))
        yield


@pytest.mark.parametrize("name", DATA)
def test_the_output_equals_the_output_for_all_examples_at_once(cli, tmp_path, monkeypatch, name):
    files, training, more = DATA[name]
    for file, text in files.items():
        (tmp_path / file).write_text(text)
    paths = [file for file in files if file != "labels"]
    answer = cli("train", *paths, "--model", "m.treille", *training)
    assert answer.code == 0, answer.err
    labels = training if name == "lattices" else []
    commands = [("predict", "m.treille", *paths, *options) for options in ([], more, ["--json"], [*more, "--json"])]
    commands += [("evaluate", "m.treille", *paths, *labels, *options) for options in ([], ["--json"])]
    commands += [
        (*words, "--output", "out.txt") for words in commands if words[:1] == ("predict",) or "--json" in words
    ]

    def outputs():
        for words in commands:
            Path("out.txt").write_text("old")
            answer = cli(*words)
            assert answer.code == 0, answer.err
            yield answer.out, Path("out.txt").read_text()

    whole = list(outputs())
    with small_chunks(monkeypatch):
        assert list(outputs()) == whole


def test_a_model_of_numbers_predicts_and_is_evaluated_in_chunks(cli, monkeypatch):
    rows = texts(N)
    y = [len(text) / 10 for text, _ in rows]
    treille.Ridge(NGram(2)).fit([text for text, _ in rows], y).save("m.treille")
    Path("a.csv").write_text("text,label\n" + "".join(f"{t},{v}\n" for (t, _), v in zip(rows, y, strict=True)))
    commands = [["predict", "m.treille", "a.csv"], ["predict", "m.treille", "a.csv", "--json"]]
    commands += [["evaluate", "m.treille", "a.csv"], ["evaluate", "m.treille", "a.csv", "--json"]]
    whole = [cli(*words).out for words in commands]
    with small_chunks(monkeypatch):
        assert [cli(*words).out for words in commands] == whole
        Path("b.csv").write_text(Path("a.csv").read_text() + "a wine,good\n")
        answer = cli("evaluate", "m.treille", "b.csv")
    assert answer.code == 1
    assert "b.csv, line 42: the label is 'good', expected a finite number" in answer.err


def test_the_report_includes_the_examples_of_all_chunks(cli, model, wines, monkeypatch):
    with small_chunks(monkeypatch):
        answer = cli("evaluate", model, wines, "--report", "r.html", "--json")
    assert answer.code == 0, answer.err
    assert answer.json()["examples"] == 60
    assert "60 examples" in Path("r.html").read_text()


def test_an_error_on_a_late_line_names_it_and_what_was_printed_stays(cli, model, wines, monkeypatch):
    lines = wines.read_text().splitlines()[1:]
    Path("a.csv").write_text("\n".join(["text,label", *lines * 10, "a,b,c", *lines]))
    with small_chunks(monkeypatch):
        answer = cli("predict", model, "a.csv")
    assert answer.code == 1
    assert "a.csv, line 602: found 3 columns" in answer.err
    assert answer.out == cli("predict", model, wines).out * 10


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_an_error_leaves_no_part_of_an_output_and_an_older_file_as_it_was(cli, model, wines, monkeypatch, command):
    Path("a.csv").write_text(wines.read_text() * 2)  # whose second header has no known label
    Path("b.csv").write_text(wines.read_text() + "a,b,c\n")
    Path("out.tsv").write_text("old")
    before = sorted(os.listdir())
    with small_chunks(monkeypatch):
        answer = cli(command, model, "b.csv", "--output", "out.tsv")
    assert (answer.code, answer.out) == (1, "")
    assert "b.csv, line 62" in answer.err
    assert Path("out.tsv").read_text() == "old"
    assert sorted(os.listdir()) == before


def test_files_without_known_labels_are_refused_at_the_end_and_nothing_is_written(cli, model, monkeypatch):
    Path("a.csv").write_text("text,label\n" + "a wine,x\n" * 30)
    with small_chunks(monkeypatch):
        answer = cli("evaluate", model, "a.csv", "--output", "out.tsv")
    assert answer.code == 1
    assert "a.csv: the model knows none of its labels, x (30)" in answer.err
    assert not Path("out.tsv").exists()


def test_the_hint_on_the_label_of_one_class_against_the_rest_is_kept(cli, monkeypatch):
    rows = [{"text": f"a {'xy'[i % 2]}", "topics": ["acq"] if i % 2 else []} for i in range(20)]
    Path("a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert cli("train", "a.jsonl", "--label", "topics=acq", "--kernel", "ngram(1)", "--model", "m.treille").code == 0
    with small_chunks(monkeypatch):
        assert "use --label FIELD=acq" in cli("evaluate", "m.treille", "a.jsonl", "--label", "topics").err
        assert "use --label FIELD=acq" in cli("evaluate", "m.treille", "a.jsonl", "--label", "text").err
        assert cli("evaluate", "m.treille", "a.jsonl", "--label", "topics=acq").code == 0


def test_a_note_says_that_there_are_several_chunks_and_the_last_one_how_many_examples(cli, model, wines, monkeypatch):
    with small_chunks(monkeypatch):
        err = cli("predict", model, wines, "--output", "out.txt").err
    assert (
        "wines.csv: 7 examples, CSV (guessed from its name), text = text, no labels; the first chunk of several" in err
    )
    assert "60 predictions written to out.txt: white (" in err


def test_outputs_that_are_no_files_are_written_directly_and_links_are_followed(cli, model, wines):
    expected = cli("predict", model, wines).out
    Path("real.txt").write_text("old")
    Path("link.txt").symlink_to("real.txt")
    assert cli("predict", model, wines, "--output", "link.txt").code == 0
    assert Path("link.txt").is_symlink()
    assert Path("real.txt").read_text() == expected
    if os.path.exists("/dev/fd"):
        read_end, write_end = os.pipe()
        with os.fdopen(read_end) as pipe:
            with written(f"/dev/fd/{write_end}", "predictions") as table:
                table.add(["label"], [["a", "b"]], titled=False)
            os.close(write_end)
            assert pipe.read() == "a\nb\n"


class Shown(Printer):
    """Remembers the status lines."""

    titles: list[str] = []  # noqa: RUF012

    @contextmanager
    def busy(self, doing):
        self.titles.append(doing)
        yield


def test_progress_says_how_many_examples_there_were_and_how_fast(capsys):
    parts = [Examples(["a"] * 1500, None, "lines", "a.txt", "the note") for _ in range(3)]
    found = list(predicted(Shown(), parts, Reading(), NGram(1), lambda X: np.zeros(len(X)), "a.txt"))
    assert [len(chunk.found) for chunk in found] == [1500] * 3
    assert Shown.titles[:3] == ["reading a.txt", "predicting", Shown.titles[2]]
    assert Shown.titles[2].startswith("reading a.txt, 1,500 examples so far, ")
    assert Shown.titles[5].startswith("predicting, 3,000 examples so far, ")
    assert Shown.titles[5].endswith(" a second")
    assert capsys.readouterr().err == "the note\n"


@pytest.mark.parametrize("output", ["-", "out.txt"])
def test_ctrl_c_ends_it_and_leaves_no_part_of_a_file(cli, model, wines, output):
    lines = "".join(f"{text}\n" for text, _ in texts(10_100))
    words = [sys.executable, "-m", "treille", "predict", str(model), "-", "--output", output]
    pipe, first = subprocess.PIPE, b""
    before = sorted(os.listdir())
    with subprocess.Popen(words, cwd=wines.parent, stdin=pipe, stdout=pipe, stderr=pipe) as child:
        child.stdin.write(lines.encode())
        child.stdin.flush()
        noted = os.read(child.stderr.fileno(), 10_000).decode()
        assert "standard input: 10,000 examples" in noted
        if output == "-":
            first = child.stdout.read(1)  # the first chunk is printed
        else:
            while sorted(os.listdir(wines.parent)) == before:
                pass  # until there is a temporary file
        child.send_signal(signal.SIGINT)
        out, err = child.stdout.read(), child.stderr.read().decode()
        assert child.wait(60) == 130, err
    assert "interrupted" in err
    assert "Traceback" not in err
    assert (first + out).count(b"\n") == (10_000 if output == "-" else 0)
    assert sorted(os.listdir(wines.parent)) == before


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_memory_does_not_grow_with_the_file(cli, model, wines, monkeypatch, command):
    rows = wines.read_text().splitlines()[1:]

    def peak(times):
        Path("a.csv").write_text("\n".join(["text,label", *rows * times]))
        tracemalloc.start()
        try:
            assert cli(command, model, "a.csv", "--output", "out.tsv").code == 0
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    with small_chunks(monkeypatch, 500):
        peak(10)
        most = (
            100 if command == "evaluate" else 0
        )  # bytes for each example: scores, and what computes the area under a curve
        assert peak(400) < 1.2 * peak(100) + most * 300 * 60
