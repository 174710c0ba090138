"""Texts with quotes, line ends and any characters are read back unchanged."""

import csv
import gzip
import io
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treille.io import read

# A zero byte is refused by the csv module of Python 3.10; surrogates have no UTF-8.
CHARACTERS = st.characters(min_codepoint=1).filter(lambda c: not "\ud800" <= c <= "\udfff")
TEXTS = st.text(st.one_of(st.sampled_from('",\t\n\r \\{}'), CHARACTERS))
LABELS = TEXTS.map(str.strip).filter(bool)
EXAMPLES = st.lists(st.tuples(TEXTS, LABELS), min_size=1)


def read_back(name, content, **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        examples = read(path, **options)
    return list(zip(examples.X, examples.labels, strict=True))


@settings(deadline=None)
@given(EXAMPLES, st.booleans())
def test_json_lines_are_read_back_as_written(examples, ascii_only):
    lines = [json.dumps({"label": label, "text": text}, ensure_ascii=ascii_only) for text, label in examples]
    assert read_back("a.jsonl.gz", "\n".join(lines).encode()) == examples


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t")])
@settings(deadline=None)
@given(examples=EXAMPLES, quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
def test_tables_are_read_back_as_written(name, delimiter, examples, quoting):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter=delimiter, quoting=quoting).writerows([("text", "label"), *examples])
    assert read_back(name, file.getvalue().encode()) == examples


WORDS = st.text(CHARACTERS.filter(lambda c: not c.isspace()), min_size=1)
ONE_LINE = st.text(CHARACTERS.filter(lambda c: c not in "\r\n"))


@settings(deadline=None)
@given(st.lists(st.tuples(ONE_LINE, WORDS), min_size=1))
def test_labelled_lines_are_read_back_as_written(examples):
    content = "".join(f"{label}\t{text}\n" for text, label in examples)
    assert read_back("a.txt", content.encode("utf-8-sig"), format="lines") == examples


SEQUENCES = st.text("ACGT")


@settings(deadline=None)
@given(st.lists(st.tuples(SEQUENCES, st.sampled_from("01")), min_size=1), st.integers(1, 5))
def test_fasta_is_read_back_whatever_the_width_of_its_lines(examples, width):
    lines = []
    for sequence, label in examples:
        lines += [f">{label}", *(sequence[i : i + width] for i in range(0, len(sequence), width))]
    assert read_back("a.fasta", "\n".join(lines).encode()) == examples
