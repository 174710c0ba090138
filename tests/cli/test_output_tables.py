"""Tables of predictions: tabs, CSV and Parquet by the suffix of the file, and ids that repeat."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import treille
from treille.io import read
from treille.kernels import NGram

FASTA = "".join(f">s{i % 6}\n{'ACGT' * (2 + i % 3)}\n" for i in range(8))


def rows_of(path):
    return list(csv.reader(Path(path).open(newline="")))


def test_predictions_are_written_in_the_format_of_the_suffix(cli, model, wines):
    (wines.parent / "new.csv").write_text('id,text\n"a,1",a red wine of dark cherries\nb,a white wine\n')
    assert cli("predict", model, "new.csv", "--output", "p.csv").code == 0
    assert rows_of("p.csv") == [["id", "label"], ["a,1", "red"], ["b", "white"]]
    assert cli("predict", model, "new.csv", "--output", "p.txt").code == 0
    assert Path("p.txt").read_text() == "a,1\tred\nb\twhite\n"
    assert cli("predict", model, "new.csv", "--scores", "--output", "s.CSV").code == 0
    assert rows_of("s.CSV")[0] == ["id", "label", "red", "white"]
    assert cli("evaluate", model, wines, "--output", "e.csv").code == 0
    assert rows_of("e.csv")[0] == ["id", "label", "predicted", "red", "white"]
    assert len(rows_of("e.csv")) == 61


def test_parquet_has_the_columns_of_the_table(cli, model, wines):
    parquet = pytest.importorskip("pyarrow.parquet")
    for verb, names in (
        ("predict", ["label", "red", "white"]),
        ("evaluate", ["id", "label", "predicted", "red", "white"]),
    ):
        scores = ["--scores"] if verb == "predict" else []
        assert cli(verb, model, wines, *scores, "--output", f"{verb}.parquet").code == 0
        table = parquet.read_table(f"{verb}.parquet")
        assert (table.column_names, table.num_rows) == (names, 60)
        assert all(-5 < value < 5 for value in table["red"].to_pylist())


def test_numbers_get_a_title_in_csv(cli, tmp_path):
    treille.Ridge(NGram(1)).fit(["a", "aa", "b"], [[1.0, 2.0], [2.0, 4.0], [0.0, 1.0]]).save("two.treille")
    (tmp_path / "new.txt").write_text("aa\nb\n")
    assert cli("predict", "two.treille", "new.txt", "--output", "p.csv").code == 0
    assert rows_of("p.csv")[0] == ["value 1", "value 2"]
    assert len(rows_of("p.csv")) == 3


@pytest.mark.parametrize("suffix", [".xlsx", ".json", ".arrow"])
def test_formats_that_are_not_written_are_refused_first(cli, model, wines, suffix):
    for verb in ("predict", "evaluate"):
        answer = cli(verb, model, wines, "--output", f"p{suffix}")
        assert (answer.code, answer.out) == (1, "")
        assert f"tables are not written as {suffix}: use .csv, .parquet, or .tsv" in answer.err


def test_headers_that_repeat_are_kept_in_predictions(cli, tmp_path):
    (tmp_path / "pos.fa").write_text("".join(f">p{i}\nCGCGGCGC{'ACGT'[i % 4]}\n" for i in range(6)))
    (tmp_path / "neg.fa").write_text("".join(f">n{i}\nTTATTAAA{'ACGT'[i % 4]}\n" for i in range(6)))
    assert (
        cli("train", "pos.fa", "neg.fa", "--kernel", "ngram(2)", "--alphabet", "DNA", "--model", "m.treille").code == 0
    )
    (tmp_path / "new.fa").write_text(FASTA)
    lines = cli("predict", "m.treille", "new.fa").out.splitlines()
    assert [line.split("\t")[0] for line in lines] == [f"s{i % 6}" for i in range(8)]
    (tmp_path / "classes.fa").write_text("".join(f">{'EI'[i % 2]}\nACGT\n" for i in range(8)))  # labels are no ids
    assert all("\t" not in line for line in cli("predict", "m.treille", "classes.fa").out.splitlines())


@pytest.mark.parametrize("name", ["-", "p.tsv", "p.csv", "p.parquet"])
def test_ids_that_are_not_valid_unicode_are_written_with_escapes(cli, model, tmp_path, name):
    (tmp_path / "new.jsonl").write_text('{"id": "a\\ud83d", "text": "a red wine"}\n')
    answer = cli("predict", model, "new.jsonl", "--output", name)
    assert answer.code == 0, answer.err
    written = answer.out.encode("utf-8", "backslashreplace") if name == "-" else Path(name).read_bytes()
    assert rb"a\ud83d" in written


def test_the_label_of_the_training_needs_no_second_reading_of_standard_input(cli, tmp_path):
    news, other = "text,topic\naa,acq\nbb,grain\n", "text,label\naa,acq\nbb,not acq\n"
    (tmp_path / "news.csv").write_text(news)
    train = ("train", "news.csv", "--label", "topic=acq", "--kernel", "ngram(1)", "--model", "m.treille")
    assert cli(*train).code == 0
    for text in (news, other):
        answer = cli("evaluate", "m.treille", "-", stdin=text.encode())
        assert "accuracy 1.0000 (2 of 2 right)" in answer.out, answer.err
    (tmp_path / "other.csv").write_text(other)
    model = treille.load("m.treille")
    assert read("news.csv", like=model).labels == read("other.csv", like=model).labels == ["acq", "not acq"]
    assert read("other.csv", like=model, labels=["a", "b"]).labels == ["a", "b"]


def test_evaluate_and_report_remember_the_label_of_the_training(cli, tmp_path):
    (tmp_path / "news.csv").write_text("text,topic\n" + "aa,acq\nbb,grain\naab,acq\nbba,wheat\n")
    train = ("train", "news.csv", "--label", "topic=acq", "--kernel", "ngram(1)", "--model", "m.treille")
    assert cli(*train, "--report", "t.html").code == 0
    commands = [line for line in Path("t.html").read_text().split("<") if "treille evaluate" in line]
    assert commands
    assert cli("evaluate", "m.treille", "news.csv").out.startswith("accuracy 1.0000 (4 of 4 right)")
    assert cli("report", "m.treille", "news.csv", "--train", "news.csv").code == 0
    assert cli("report", "m.treille", "news.csv", "--label", "topic=acq", "--force").code == 0
    (tmp_path / "unlabelled.csv").write_text("text\naa\nbb\n")
    assert cli("report", "m.treille", "unlabelled.csv", "--force").code == 0
    assert cli("predict", "m.treille", "unlabelled.csv").out == "acq\nnot acq\n"
    (tmp_path / "labels").write_text("acq\nacq\n")
    assert cli("evaluate", "m.treille", "unlabelled.csv", "--labels", "labels").out.startswith(
        "accuracy 0.5000 (1 of 2"
    )


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.xlsx", b"PK\x03\x04 sheet", "is a spreadsheet: save it as CSV"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a spreadsheet: save it as CSV"),
        ("a.docx", b"PK\x03\x04 words", "is a document: save it as text"),
        ("a.csv", b"PK\x03\x04 sheet", "is an archive or a file of an office program"),
        ("a.pdf", b"%PDF-1.7", "is a PDF: extract its text"),
        ("a.npy", b"\x93NUMPY", "is an array of NumPy"),
        ("a.pkl", b"\x80\x04\x95", "is a pickle"),
    ],
)
def test_files_of_other_programs_are_named_and_no_encoding_is_advised(cli, tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content + b"\xff\xfe\x00" * 20)
    answer = cli("train", name, "--model", "m.treille")
    assert (answer.code, answer.out) == (1, "")
    assert said in answer.err
    assert "latin-1" not in answer.err
