"""Public sets: finding the folder, and the content of the sets, skipped where they are missing."""

import gzip
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import treille
from public_sets import amazon_reviews, conll2000, data_folder, fastsk, fisher_callhome, reuters
from treille.io import InputError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TREILLE_DATA", str(tmp_path))
    return tmp_path


def fill(folder, name, text):
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(text.encode()))


def need(name):
    if data_folder() is None or not (data_folder() / name).is_dir():
        pytest.skip(f"needs {name} in the folder that TREILLE_DATA names")


def test_the_folder_is_named_by_the_environment(folder):
    assert data_folder() == folder


def test_there_is_no_folder_if_the_environment_does_not_name_one(monkeypatch):
    monkeypatch.delenv("TREILLE_DATA", raising=False)
    assert data_folder() is None
    with pytest.raises(InputError, match=r"set the environment variable TREILLE_DATA .* holds reuters21578"):
        reuters()


def test_a_set_that_is_not_in_the_folder_is_named(folder):
    with pytest.raises(InputError, match=r"train\.jsonl\.gz: no such file in the folder TREILLE_DATA names"):
        reuters()


def test_the_error_for_an_unknown_set_lists_the_sets_in_the_folder(folder):
    fill(folder, "fastsk/dna/CTCF.train.fasta.gz", ">1\nA\n")
    with pytest.raises(InputError, match=r"CTCT\.train\.fasta\.gz: no such file .* there are CTCF\.train\.fasta\.gz"):
        fastsk("CTCT")


@pytest.mark.parametrize("load", [reuters, lambda split: fastsk("CTCF", split=split)], ids=["reuters", "fastsk"])
def test_a_split_of_another_name_is_refused(folder, load):
    with pytest.raises(InputError, match="split is 'dev', expected one of train, test, all"):
        load("dev")


def test_stories_are_title_and_body_with_single_blanks(folder):
    for part in ("train", "test"):
        story = {"title": f" {part}\n", "body": "a \t\n b ", "topics": ["acq"]}
        fill(folder, f"reuters21578/{part}.jsonl.gz", json.dumps(story))
    assert reuters("test") == (["test a b"], [["acq"]])
    assert reuters("all") == (["train a b", "test a b"], [["acq"], ["acq"]])


def test_sequences_are_in_capitals(folder):
    fill(folder, "fastsk/dna/CTCF.train.fasta.gz", ">1\nacGT\n>0\nA\n")
    assert fastsk("CTCF") == (["ACGT", "A"], ["1", "0"])


@pytest.mark.parametrize(("split", "stories", "acquisitions"), [("train", 9603, 1650), ("test", 3299, 719)])
def test_reuters_has_the_published_counts(split, stories, acquisitions):
    need("reuters21578")
    texts, topics = reuters(split)
    assert len(texts) == len(topics) == stories
    assert sum("acq" in one for one in topics) == acquisitions


def test_fastsk_has_the_published_counts():
    need("fastsk")
    sequences, labels = fastsk("CTCF", split="all")
    assert Counter(labels) == {"1": 2000, "0": 2000}
    assert set("".join(sequences)) <= set("ACGTN")
    assert len(fastsk("1.1", "protein", "test")[0]) > 1000


def test_reviews_have_the_published_counts():
    need("amazon_mds")
    texts, ratings = amazon_reviews("kitchen")
    assert len(texts) == len(ratings) == 2000
    assert set(ratings) == {1, 2, 4, 5}


def test_sentences_have_the_published_counts():
    need("conll2000")
    X, y = conll2000("test")
    assert (len(X), X.n_tokens, y[0][:2]) == (2012, 47377, ["B-NP", "I-NP"])


def test_lattices_of_conversations_are_read(folder):
    plf = "((('de', -0.5, 1), ('te', -1.0, 2),), (('nada', 0.0, 1),),)"
    lines = [
        {"id": "a", "plf": plf, "asr": "de nada", "en": "you're welcome"},
        {"id": "b", "plf": "()", "asr": "", "en": ""},
    ]
    fill(folder, "fisher_callhome_lattices/fisher_dev.jsonl.gz", "\n".join(map(json.dumps, lines)))
    lattices, guesses, english = fisher_callhome("fisher_dev")
    assert guesses == ["de nada", ""]
    assert english == ["you're welcome", ""]
    assert lattices[0].name == "a"
    assert lattices[0].input_symbols == ["<eps>", "de", "te", "nada"]
    assert lattices[0].weights.tolist() == [0.5, 1.0, 0.0]
    assert lattices[0].targets.tolist() == [1, 2, 2]
    assert (lattices[1].start, lattices[1].n_states) == (-1, 0)
    with pytest.raises(InputError, match="part is 'fisher', expected 'all' or one of fisher_dev"):
        fisher_callhome("fisher")


def test_all_conversations_are_found():
    need("fisher_callhome_lattices")
    lattices, guesses, _ = fisher_callhome("callhome_evltest")
    batch = treille.Lattices(lattices)
    assert len(batch) == 1829
    assert np.mean([" ".join(best) == guess for best, guess in zip(batch.best(), guesses, strict=True)]) > 0.95


def test_a_benchmark_without_the_folder_says_which_variable_to_set():
    script = Path(__file__).parents[2] / "benchmarks" / "papers" / "lattice_svm.py"
    environment = {name: value for name, value in os.environ.items() if name != "TREILLE_DATA"}
    answer = subprocess.run(
        [sys.executable, script, "--sets", "subset"], env=environment, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 1
    assert answer.stderr.startswith("set the environment variable TREILLE_DATA to the folder that holds reuters21578")
