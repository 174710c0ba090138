"""treille train --memory: exact training on files that do not fit in memory."""

import gzip
import json
import subprocess
import sys
import time

import numpy as np
import pytest

import treille
import treille.cli.parts as cli_parts
import treille.solvers.block_minimization as block_minimization
from timing import interrupt
from treille.scale import folder

WORDS = {"red": ["cherry", "dark", "oak"], "white": ["apple", "green", "lime"], "rosé": ["berry", "pale", "rose"]}


def some(n, seed=5):
    """Texts of three classes in random order."""
    random = np.random.default_rng(seed)
    labels = random.choice(list(WORDS), n).tolist()
    return [{"text": " ".join(random.choice([*WORDS[label], "wine", "of"], 6)), "label": label} for label in labels]


def written(path, examples):
    text = "".join(json.dumps(each) + "\n" for each in examples).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.fixture
def big(tmp_path):
    return written(tmp_path / "big.jsonl.gz", some(300))


@pytest.fixture
def small_parts(monkeypatch):
    """Parts of some 60 examples, and several blocks."""
    monkeypatch.setattr(cli_parts, "part_characters", lambda memory: 2000)
    monkeypatch.setattr(block_minimization, "SHARES", 300_000)


TRAIN = ("--memory", "1GB", "--kernel", "ngram(3).normalized()")


def test_a_file_is_trained_in_parts_to_the_optimum_in_memory(cli, big, small_parts):
    answer = cli("train", big, *TRAIN, "--tol", "1e-5", "--model", "m.treille")
    assert answer.code == 0
    assert "in parts of about 0.0 million characters, the first: " in answer.err
    assert "JSON lines (guessed from its name), text = text, label = label" in answer.err
    assert "3 classes: " in answer.err
    for line in (
        "kernel:   ngram(3).normalized(), as given",
        "space:    parts, because the data are in parts, which need not fit in memory",
        "solver:   BlockMinimization(), because the rows are in parts on disk",
        "sizes:    300 examples, ",
        "B at most, of 1GB allowed",
        "one against the rest, ",
        " passes, ",
        "saved:    m.treille, ",
        "  treille predict m.treille FILE",
    ):
        assert line in answer.out
    assert cli("train", big, *TRAIN[2:], "--tol", "1e-5", "--model", "whole.treille").code == 0
    inside, whole = (treille.load(name) for name in ("m.treille", "whole.treille"))
    assert inside.report_.primal == pytest.approx(whole.report_.primal, rel=2e-5)
    texts = [each["text"] for each in some(50, seed=6)]
    assert (inside.predict(texts) == whole.predict(texts)).all()


def test_json_output_is_one_object(cli, big, small_parts):
    answer = cli("train", big, *TRAIN, "--min-count", "90", "--json", "--model", "m.treille", "--test", big)
    found = answer.json()
    assert (found["examples"], sum(found["classes"].values()), found["space"]) == (300, 300, "parts")
    assert found["peak_memory"] > 10**7
    assert found["score"]["accuracy"]["mean"] > 0.7
    whole = cli("train", big, *TRAIN, "--json", "--model", "m.treille").json()
    assert found["features"] < whole["features"]
    assert found["report"]["status"] == "converged"


def test_rare_features_are_left_out_without_a_limit_of_memory(cli, big, small_parts):
    kept = cli("train", big, *TRAIN[2:], "--min-count", "90", "--json", "--model", "kept.treille")
    assert kept.code == 0, kept.err
    assert cli("train", big, *TRAIN, "--min-count", "90", "--model", "limited.treille").code == 0
    assert cli("train", big, *TRAIN[2:], "--model", "all.treille").code == 0
    kept, limited, every = (treille.load(f"{name}.treille") for name in ("kept", "limited", "all"))
    assert kept.features_.n_features == limited.features_.n_features < every.features_.n_features / 2
    texts = [each["text"] for each in some(50, seed=6)]
    assert (kept.predict(texts) == limited.predict(texts)).all()


def test_the_options_of_reading_are_kept(cli, tmp_path, small_parts):
    (tmp_path / "dna.csv").write_text("seq,kind\n" + "acgtnacgacgacgacgacg,x\nttttccttttccttttcctttt,y\n" * 60)
    answer = cli(
        "train", "dna.csv", "--memory", "1GB", "--text", "seq", "--label", "kind", "--alphabet", "dna", "--model", "m"
    )
    assert answer.code == 0, answer.err
    assert "alphabet: dna, " in answer.err
    assert treille.load("m").reading_ == {"text": "seq", "label": "kind", "alphabet": "dna"}
    assert cli("predict", "m", "dna.csv").out.split()[:2] == ["x", "y"]


def test_columns_standard_input_and_several_files_are_trained(cli, tmp_path, big, small_parts):
    rows = "".join(
        f'{{"a": "{each["text"]}", "b": {len(each["text"])}, "label": "{each["label"]}"}}\n' for each in some(90)
    )
    (tmp_path / "columns.jsonl").write_text(rows)
    kernel = ("--kernel", "columns(a=ngram(3).normalized(), b=linear())", "--tol", "0.2")
    assert cli("train", "columns.jsonl", "--memory", "1GB", *kernel, "--model", "m").code == 0
    assert cli("train", "-", *TRAIN, "--model", "m", stdin=gzip.decompress(big.read_bytes())).code == 0
    written(tmp_path / "more.jsonl", some(40, seed=7))
    answer = cli("train", big, "more.jsonl", *TRAIN, "--model", "m")
    assert "sizes:    340 examples" in answer.out


def test_a_test_file_is_scored_in_chunks(cli, tmp_path, big, small_parts):
    examples = some(60, seed=8)
    written(tmp_path / "test.jsonl", examples)
    answer = cli("train", big, *TRAIN, "--test", "test.jsonl", "--model", "m.treille")
    assert "test.jsonl: 60 examples" in answer.err
    model = treille.load("m.treille")
    accuracy = np.mean([model.predict([each["text"]])[0] == each["label"] for each in examples])
    assert f"score:    accuracy {accuracy:.4f}, " in answer.out
    alone = cli("train", big, *TRAIN, "--test", "test.jsonl")
    assert "saved:    no, name a file with --model" in alone.out
    written(tmp_path / "other.jsonl", [{"text": "pale", "label": "orange"}])
    assert (
        "the model knows none of its labels" in cli("train", big, *TRAIN, "--test", "other.jsonl", "--model", "m").err
    )


REFUSED = {
    (
        "--memory",
        "2GB",
        "--cv",
        "5",
    ): "Invalid value for --cv: needs all examples in memory: leave out --cv, or --memory; to score, "
    "give another file with --test",
    ("--memory", "2GB", "--holdout", "0.2"): "Invalid value for --holdout: needs all examples in memory",
    ("--memory", "2GB", "--report", "r.html"): "Invalid value for --report: needs all examples in memory",
    ("--memory", "2GB", "--stream"): "Invalid value for --memory: does not apply with --stream",
    ("--memory", "10MB"): "Invalid value for --memory: memory is '10MB', expected at least 500MB",
    ("--memory", "much"): "Invalid value for --memory: memory is 'much', expected a size such as '2GB'",
    ("--memory", "2GB", "--min-count", "0"): "--min-count",
    (
        "--memory",
        "2GB",
        "--C",
        "1,10",
    ): "add --cv 5 to choose the best by cross-validation on a part of FILE, without --memory",
    (
        "--memory",
        "2GB",
        "--kernel",
        "subpath()",
    ): "Invalid value for --kernel: the features of Subpath(decay=0.5) are the edges",
    ("--memory", "2GB", "--kernel", "ngram(3).centered()"): "leave out .centered()",
    (
        "--checkpoint",
        "run1",
    ): "Invalid value for --checkpoint: is for training in parts: add --memory 2GB, what training may take",
    ("--scratch", "."): "Invalid value for --scratch: is for training in parts",
    ("--min-count", "2", "--cv", "5"): "needs all examples in memory: leave out --cv, or --min-count",
    ("--dask", "tcp://host:1", "--alphabet", "dna"): "Invalid value for --alphabet: is not for data on a cluster",
}


@pytest.mark.parametrize("options", REFUSED, ids=" ".join)
def test_options_that_do_not_go_together_are_refused_before_any_work(cli, tmp_path, options):
    answer = cli("train", "nothing.csv", *options, "--model", "m.treille")
    assert answer.code == 2
    assert REFUSED[options] in answer.err
    assert list(tmp_path.iterdir()) == []


def test_a_model_or_a_test_file_is_needed(cli):
    assert "or ask for a score alone with --test FILE" in cli("train", "nothing.csv", "--memory", "2GB").err


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ([{"text": "a", "label": "x"}] * 50, "all labels are 'x': there is one class"),
        (
            [{"text": "a", "label": i / 7} for i in range(50)],
            "the labels are 50 different numbers, such as 0.0: scores",
        ),
        ([{"text": "a", "label": "x"}] * 50 + [{"text": "b"}], "bad.jsonl, line 51: there is no field 'label'"),
        ([{"text": "a", "label": "xy"[i % 2]} for i in range(50)], "no example has a feature of NGram(n=3)"),
    ],
    ids=["one class", "scores", "no label", "too short"],
)
def test_bad_files_end_with_one_message_and_leave_nothing(cli, tmp_path, examples, message, small_parts):
    written(tmp_path / "bad.jsonl", examples)
    answer = cli("train", "bad.jsonl", *TRAIN, "--scratch", "scratch", "--model", "m.treille")
    assert answer.code == 1
    assert message in answer.err
    assert not (tmp_path / "m.treille").exists()
    assert list((tmp_path / "scratch").iterdir() if (tmp_path / "scratch").exists() else []) == []


def test_a_run_that_does_not_converge_says_so(cli, big, small_parts):
    answer = cli("train", big, *TRAIN, "--max-epochs", "1", "--tol", "1e-9", "--model", "m.treille")
    assert answer.code == 3
    assert "not yet 1e-09: raise --max-epochs or --tol" in answer.err


def test_a_checkpoint_is_continued_and_not_needed_afterwards(cli, big, small_parts, monkeypatch):
    monkeypatch.setattr(folder, "SECONDS", 0.0)
    monkeypatch.setattr(folder, "SHARE", 0)
    visit, visits = block_minimization.BlockRun._visit, []

    def interrupted(self, block, rows):
        visits.append(block)
        if len(visits) == 4:
            raise KeyboardInterrupt
        visit(self, block, rows)

    monkeypatch.setattr(block_minimization.BlockRun, "_visit", interrupted)
    words = ("train", big, *TRAIN, "--model", "m.treille")
    answer = cli(*words, "--checkpoint", "run1")
    assert answer.code == 130
    assert "treille: warning: interrupted: the same command continues from run1" in answer.err
    assert "error: interrupted" in answer.err
    again = cli(*words, "--checkpoint", "run1")
    assert again.code == 0
    assert "run1 is of no use any more: remove it with rm -r run1" in again.err
    assert "sizes:    300 examples" in again.out
    assert "3 classes: " in again.err
    found = treille.load("m.treille")
    assert cli(*words).code == 0
    assert (treille.load("m.treille").coef_ == found.coef_).all()
    other = cli("train", big, "--memory", "1GB", "--kernel", "ngram(4)", "--checkpoint", "run1", "--model", "m.treille")
    assert other.code == 1
    assert (
        "run1: holds the checkpoint of another run: kernel was NGram(n=3).normalized(), and is NGram(n=4) now"
        in other.err
    )
    visits.clear()
    assert "interrupted: with --checkpoint DIR, it could be continued" in cli(*words).err


def test_the_option_is_named_where_a_file_is_large(cli, big, monkeypatch):
    monkeypatch.setattr(cli_parts, "available_memory", lambda: 10_000)
    answer = cli("train", big, "--kernel", "ngram(3)", "--model", "m.treille")
    assert (
        "of memory are free: if that is too little, --memory 1GB trains in parts that fit, to the same optimum"
        in answer.err
    )
    monkeypatch.undo()
    assert "--memory" not in cli("train", big, "--kernel", "ngram(3)", "--model", big.with_name("m.treille")).err


def test_ctrl_c_ends_the_command_at_once(tmp_path):
    written(tmp_path / "big.jsonl", some(20_000))
    words = ["train", "big.jsonl", *TRAIN, "--tol", "1e-17", "--checkpoint", "run1", "--model", "m.treille"]
    process = subprocess.Popen(
        [sys.executable, "-m", "treille", *words], cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert b"in parts of about 3.8 million characters" in process.stderr.readline()
    time.sleep(0.5)
    errors, seconds = interrupt(process)
    assert seconds < 1.5  # half a second, and the end of the interpreter
    assert process.returncode == 130
    assert b"the same command continues from run1" in errors


@pytest.fixture(scope="module")
def scheduler():
    """The address of a Dask scheduler with one worker, in this process."""
    distributed = pytest.importorskip("distributed", reason="needs dask and distributed: pip install 'treille[dask]'")
    options = {"processes": False, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(n_workers=1, protocol="tcp://", **options) as cluster:
        yield cluster.scheduler_address
        distributed.get_client().close()  # the client that the command created


def test_files_are_trained_on_a_cluster_to_the_optimum_in_memory(cli, tmp_path, scheduler):
    examples = some(300)
    for part, at in enumerate((0, 200)):
        written(tmp_path / f"part{part}.jsonl", examples[at : at + 200])
    answer = cli(
        "train", "part0.jsonl", "part1.jsonl", "--dask", scheduler, *TRAIN[2:], "--tol", "1e-5", "--model", "m.treille"
    )
    assert answer.code == 0, answer.err
    assert f"2 files, read by the workers of {scheduler}, a part each" in answer.err
    for line in (
        "space:    cluster, because the data are on a cluster",
        "solver:   GatheredDualCD(), because the rows of all parts fit here, where it needs the fewest passes",
        "2 parts on a cluster",
        "1 round, ",
    ):
        assert line in answer.out
    model, memory = treille.load("m.treille"), treille.SVC(treille.kernels.NGram(3).normalized(), tol=1e-5)
    memory.fit([each["text"] for each in examples], [each["label"] for each in examples])
    assert model.report_.primal == pytest.approx(memory.report_.primal, rel=2e-5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--dask", ""), "expected the address of a scheduler, such as tcp://host:8786"),
        (
            ("--dask", "tcp://127.0.0.1:1", "--memory", "1GB"),
            "is for training on this machine: leave it out with --dask",
        ),
        (("--dask", "tcp://127.0.0.1:1", "--cv", "3"), "needs all examples in memory: leave out --cv, or --dask"),
        (("--dask", "nonsense://1"), "no Dask scheduler answers at nonsense://1: "),
    ],
)
def test_bad_addresses_and_options_of_clusters_are_refused_at_once(cli, big, words, message):
    answer = cli("train", big, *words, "--model", "m.treille")
    assert answer.code != 0
    assert message in " ".join(answer.err.split())
