"""Tables with and without a header, and scores to regress on."""

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_read_back import TEXTS, read_back

from treille import InputError
from treille.io import read
from treille.io.text_files import HEADER_NAMES


@pytest.fixture
def write(tmp_path):
    def write(name, *lines):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
        return tmp_path / name

    return write


@pytest.mark.parametrize("header", [[], ["sequence\tscore"], ["label\tsequence\tid"]], ids=["none", "score", "label"])
def test_sequences_with_scores_are_read_with_and_without_a_header(write, header):
    rows = ["ACGT\t0.5", "TTTT\t-1e3", "GG\t7"]
    if header and header[0].startswith("label"):
        rows = [f"{score}\t{sequence}\tx" for sequence, score in (row.split("\t") for row in rows)]
    examples = read(write("a.tsv", *header, *rows))
    assert examples.X == ["ACGT", "TTTT", "GG"]
    assert examples.targets() == [0.5, -1000, 7]
    assert examples.lines == [1 + len(header) + i for i in range(3)]


def test_the_number_of_two_columns_is_the_label_in_any_place(write):
    examples = read(write("a.tsv", "1\tACGT", "0\tTT"))
    assert (examples.X, examples.labels) == (["ACGT", "TT"], ["1", "0"])
    assert examples.note.endswith(
        "2 examples, TSV (guessed from its name) with no header, text = column 2, label = column 1"
    )


def test_the_only_column_is_the_text(write):
    examples = read(write("a.csv", "ACGT", "0.5"))
    assert (examples.X, examples.labels) == (["ACGT", "0.5"], None)


@pytest.mark.parametrize("options", [{"text": "1", "label": "2"}, {"label": "2"}])
def test_columns_with_no_header_are_selected_by_number(write, options):
    examples = read(write("a.csv", "a fine red,good", '"a, sour",bad'), **options)
    assert (examples.X, examples.labels) == (["a fine red", "a, sour"], ["good", "bad"])
    assert read(write("a.csv", "a fine red,good", "b,bad"), label="2=good").labels == ["good", "not good"]


def test_several_columns_with_no_header_are_joined_by_number(write):
    path = write("a.tsv", "1\tvine\tgreen\tx", "0\tleaf\tred\ty")
    examples = read(path, text="2+3", label="1")
    assert (examples.X, examples.labels) == (["vine green", "leaf red"], ["1", "0"])
    assert "text = column 2 + 3, label = column 1" in examples.note


def test_a_label_that_is_also_the_number_of_its_column_makes_no_header(write):
    assert read(write("a.csv", "1,ACGT", "2,TT"), text="2", label="1").labels == ["1", "2"]


def test_a_named_column_makes_the_first_row_a_header(write):
    examples = read(write("a.csv", "poem,poet", "roses,A"), text="poem", label="poet")
    assert (examples.X, examples.labels) == (["roses"], ["A"])


def test_a_column_that_is_not_there_is_refused_with_what_the_columns_are_called(write):
    with pytest.raises(InputError, match=r"a\.csv, line 1: 'a, b, c' is not recognised.* called 1, 2, 3: there is no"):
        read(write("a.csv", "a,b,c"), text="4")


def test_a_row_of_other_width_than_the_first_is_named(write):
    with pytest.raises(InputError, match=r"a\.tsv, line 2: found 1 column, expected 2 as in the first row"):
        read(write("a.tsv", "ACGT\t1", "ACGT"))


@pytest.mark.parametrize("score", ["high", "nan", "inf"])
def test_a_score_that_is_no_number_is_named_with_its_line(write, score):
    examples = read(write("a.tsv", "sequence\tscore", "ACGT\t1", f"TT\t{score}"))
    with pytest.raises(InputError, match=rf"a\.tsv, line 3: the label is '{score}', expected a finite number"):
        examples.targets()


def test_targets_of_a_file_with_no_labels_are_refused(write):
    with pytest.raises(InputError, match=r"a\.tsv: there are no labels, expected a number for every example"):
        read(write("a.tsv", "sequence", "ACGT")).targets()


@settings(deadline=None)
@given(
    st.lists(st.tuples(TEXTS, st.floats(allow_nan=False, allow_infinity=False).map(repr)), min_size=1).filter(
        lambda rows: not ({rows[0][0].strip(), rows[0][0]} & HEADER_NAMES)
    )
)
def test_scores_with_no_header_are_read_back_as_written(rows):
    file = io.StringIO(newline="")
    csv.writer(file, delimiter="\t", quoting=csv.QUOTE_ALL).writerows(rows)
    found = read_back("a.tsv", file.getvalue().encode(), text="1", label="2")
    assert found == rows
