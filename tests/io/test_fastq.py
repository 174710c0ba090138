"""FASTQ: sequences without their qualities; and characters other than letters in FASTA."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_read_back import read_back

from treille import InputError
from treille.io import read

RECORD = ["@r1 class=EI", "ACGTN", "+", "IIII#"]


@pytest.fixture
def write(tmp_path):
    def write(*lines, name="a.fastq", end="\n"):
        content = "".join(line + end for line in lines).encode()
        (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return tmp_path / name

    return write


@pytest.mark.parametrize("name", ["a.fastq", "a.fq", "a.FASTQ.gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_records_of_four_lines_are_read_and_qualities_are_not(write, name, end):
    path = write(
        *RECORD, "", "@r2 class=N", "acg", "+r2 class=N", "@@+", "@r3 class=N", "", "+", "", name=name, end=end
    )
    examples = read(path, label="class")
    assert (examples.X, examples.labels) == (["ACGTN", "acg", ""], ["EI", "N", "N"])
    assert (examples.format, examples.lines) == ("fastq", [1, 6, 10])
    assert (read(path).ids, read(path).labels) == (["r1", "r2", "r3"], None)
    assert "3 examples (1 empty), FASTQ (guessed from its name), no labels" in read(path).note


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["ACGT"], "line 1: found 'ACGT', expected a FASTQ header such as '@1'"),
        ([*RECORD, ">r2", "ACGT"], "line 5: found '>r2', expected a FASTQ header"),
        ([*RECORD, "@r2", "AC", "GT", "+", "II", "II"], "line 7: found 'GT', expected the '\\+' .*Wrapped FASTQ"),
        ([*RECORD, "@r2", "ACGT", "+"], "line 5: the file ends within this record"),
        ([*RECORD, "@r2", "ACGT", "+", "III"], "line 8: found 3 qualities, expected 4, .*sequence on line 6"),
        (["@r1", "ACGT", "+", "II", "II"], "line 4: found 2 qualities, expected 4"),
    ],
)
def test_invalid_records_are_named_with_their_line(write, lines, message):
    with pytest.raises(InputError, match=rf"a\.fastq, {message}"):
        read(write(*lines))


QUALITIES = st.characters(min_codepoint=33, max_codepoint=126)


@settings(deadline=None)
@given(st.lists(st.tuples(st.text("ACGTN"), st.sampled_from("01"), st.data()), min_size=1))
def test_sequences_are_read_back_whatever_their_qualities(records):
    content = ""
    for sequence, label, data in records:
        quality = data.draw(st.text(QUALITIES, min_size=len(sequence), max_size=len(sequence)))
        content += f"@{label}\n{sequence}\n+\n{quality}\n"
    assert read_back("a.fq.gz", content.encode()) == [(sequence, label) for sequence, label, _ in records]


def test_fasta_keeps_case_stops_and_gaps_as_they_are(write):
    examples = read(write(">1", "acgt", "AC-GT", ">0", "MKV*", ">1", name="a.fasta.gz"))
    assert examples.X == ["acgtAC-GT", "MKV*", ""]
    assert examples.lines == [1, 4, 6]
