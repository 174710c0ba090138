"""Names of files: what is none is refused, and data never end up in a message."""

from __future__ import annotations

import io

import pytest

import treille
from treille import Fst, InputError
from treille.kernels import NGram
from treille.scale import Parts
from treille.tagging import read_sentences, read_templates, write_sentences

SECRET = "a very secret wine\tred\nanother secret wine\twhite\n"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "wines.tsv"
    path.write_text(SECRET)
    return path


READERS = {
    "read": treille.io.read,
    "read_chunks": lambda file: list(treille.io.read_chunks(file)),
    "Parts.read": Parts.read,
    "labels": lambda file: treille.io.read("wines.tsv", labels=file),
    "symbols": lambda file: treille.io.read("wines.tsv", symbols=file),
    "Fst.read": Fst.read,
    "load": treille.load,
    "read_sentences": read_sentences,
    "read_templates": read_templates,
    "XBW.load": treille.trees.XBW.load,
    "open_text": treille.io.open_text,
}


@pytest.mark.parametrize("reader", READERS)
def test_an_open_file_is_refused_where_a_name_is_expected_without_printing_data(reader, path, monkeypatch):
    monkeypatch.chdir(path.parent)
    with open(path) as file, pytest.raises(InputError) as caught:
        READERS[reader](file)
    assert "wines.tsv" in str(caught.value)
    assert "secret" not in str(caught.value)
    with pytest.raises(InputError) as caught:
        READERS[reader](io.StringIO(SECRET))
    assert "secret" not in str(caught.value)


def test_the_message_names_the_path_to_pass(path):
    with open(path) as file, pytest.raises(InputError, match=r"found an open file \(TextIOWrapper\), .* pass its name"):
        treille.io.read(file)


@pytest.mark.parametrize("what", [SECRET, SECRET.encode(), 3, None, [None], {"secret": 1}.values])
def test_texts_and_other_objects_are_no_names_of_files(what):
    with pytest.raises(InputError, match="expected the name of a file") as caught:
        treille.io.read(what)
    assert "secret" not in str(caught.value)


def test_a_text_that_is_too_long_for_a_name_is_refused():
    with pytest.raises(InputError, match="cannot be read: File name too long"):
        treille.io.read(300 * "w")


@pytest.mark.parametrize("save", ["save", "report", "fst", "sentences"])
def test_results_are_written_to_names_of_files(save):
    model = treille.SVC(NGram(2)).fit(["abab", "baba", "ccdd"], ["a", "a", "b"])
    machine = Fst.from_text("0 1 1 1 0.5\n1\n")
    write = {
        "save": model.save,
        "report": lambda file: model.write_report(None, None, file),
        "fst": lambda file: machine.write(file, format="arcs"),
        "sentences": lambda file: write_sentences(file, [["a"]]),
    }[save]
    with pytest.raises(InputError, match=r"found an open file \(BytesIO\), expected the name of a file"):
        write(io.BytesIO())
    with pytest.raises(InputError, match="found int, expected the name of a file"):
        write(5)
