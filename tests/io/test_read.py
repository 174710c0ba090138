"""Reading examples of every format, and every fault a file may have, named by file and line."""

import gzip
import io
import json
import sys
from types import SimpleNamespace

import pytest

from treille.io import InputError, read

STORIES = [
    {"id": 1, "title": "Vines", "body": "sold", "topics": ["acq", "grain"]},
    {"id": 2, "title": "", "body": "Oil", "topics": ["crude"]},
    {"id": 3, "title": "Merger", "body": "", "topics": ["acq"]},
    {"id": 4, "title": "Rain", "body": "falls", "topics": []},
]


@pytest.fixture
def write(tmp_path):
    def write(name, *lines, end="\n"):
        path = tmp_path / name
        path.write_bytes("".join(f"{line}{end}" for line in lines).encode())
        return path

    return write


@pytest.fixture
def stories(write):
    return write("news.jsonl", *map(json.dumps, STORIES))


def assert_refused(path, **options):
    """The message of the error, after checking that it names the file."""
    with pytest.raises(InputError) as caught:
        read(path, **options)
    message = str(caught.value)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


# Input


def test_json_lines_are_read_with_fields_of_usual_names(write):
    examples = read(write("a.jsonl", '{"text": "vine", "label": "plant"}', "", '{"label": 2, "text": ""}'))
    assert (examples.X, examples.labels, examples.format) == (["vine", ""], ["plant", "2"], "jsonl")
    assert len(examples) == 2


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t")])
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_tables_are_read_by_column_name_with_either_line_end(write, name, delimiter, end):
    path = write(name, delimiter.join(["class", "id", "sentence"]), delimiter.join(["x", "7", "a vine"]), end=end)
    examples = read(path)
    assert (examples.X, examples.labels, examples.format) == (["a vine"], ["x"], name[2:])


def test_quoted_fields_may_hold_delimiters_quotes_and_line_ends(write):
    assert read(write("a.csv", "text,label", '"a, ""b""\n\nc",x')).X == ['a, "b"\n\nc']


def test_fields_longer_than_the_csv_modules_limit_are_read_and_the_limit_is_restored(write):
    import csv

    before = csv.field_size_limit()
    assert read(write("a.csv", "text,label", "v" * 300_000 + ",x")).X == ["v" * 300_000]
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_lines_have_the_label_before_the_first_tab(write, end):
    examples = read(write("a.txt", "good wine\ta fine red\tone", "", "bad\t", end=end))
    assert (examples.X, examples.labels) == (["a fine red\tone", ""], ["good wine", "bad"])


def test_lines_with_no_tab_have_the_label_before_the_first_blank_when_labels_are_wanted(write):
    examples = read(write("a.txt", "good a fine  red", "bad sour\tthing"), labelled=True)
    assert (examples.X, examples.labels) == (["a fine  red", "sour\tthing"], ["good", "bad"])


def test_lines_with_no_tab_have_no_label_when_labels_are_not_asked_for(write):
    examples = read(write("a.txt", "a fine red", "", "a sour one"))
    assert (examples.X, examples.labels) == (["a fine red", "", "a sour one"], None)
    assert examples.note.endswith("no labels")


def test_lines_read_without_labels_are_kept_whole(write):
    assert read(write("a.txt", "good\tred"), labelled=False).X == ["good\tred"]


def test_fasta_sequences_are_joined_over_lines_and_labelled_by_the_headers_first_word(write):
    examples = read(write("a.fasta", "", ">1 first", "AC GT", "", " TT", ">0", ">1", "A"))
    assert (examples.X, examples.labels) == (["ACGTTT", "", "A"], ["1", "0", "1"])
    assert "3 examples (1 empty), FASTA" in examples.note


def test_fasta_labels_may_be_a_key_of_the_header(write):
    path = write("a.fa", ">s1 class=EI organism=human", "AC", ">s2 class=N", "GT")
    assert read(path, label="class").labels == ["EI", "N"]
    assert read(path, label="class=EI").labels == ["EI", "not EI"]
    assert read(path).labels == ["s1", "s2"]


def test_fasta_with_bare_headers_has_no_labels(write):
    assert read(write("a.fa", ">", "AC", ">", "GT")).labels is None


def test_several_fields_are_joined_with_one_blank_and_empty_ones_add_none(stories):
    assert read(stories, text="title+body").X == ["Vines sold", "Oil", "Merger", "Rain falls"]


def test_a_field_whose_own_name_has_a_plus_or_an_equals_sign_is_found(write):
    examples = read(write("a.csv", "a+b,c=d", "vine,x"), text="a+b", label="c=d")
    assert (examples.X, examples.labels) == (["vine"], ["x"])


def test_one_value_of_a_list_is_set_against_the_rest(stories):
    examples = read(stories, text="body", label="topics=acq")
    assert examples.labels == ["acq", "not acq", "acq", "not acq"]
    assert examples.note == (
        f"{stories}: 4 examples (1 empty), JSON lines (guessed from its name), text = body, label = topics,"
        " acq (2) against the rest"
    )


@pytest.mark.parametrize(
    ("name", "lines", "label"),
    [
        ("a.csv", ["text,stars", "u,5", "v,1"], "stars=5"),
        ("a.tsv", ["text\tstars", "u\t5", "v\t1"], "stars=5"),
        ("a.jsonl", ['{"text": "u", "stars": 5}', '{"text": "v", "stars": "1"}'], "stars=5"),
        ("a.txt", ["5 u", "1 v"], "label=5"),
        ("a.fasta", [">5", "u", ">1", "v"], "label=5"),
    ],
)
def test_one_value_is_set_against_the_rest_in_every_format(write, name, lines, label):
    examples = read(write(name, *lines), label=label)
    assert (examples.X, examples.labels) == (["u", "v"], ["5", "not 5"])


@pytest.mark.parametrize(
    ("value", "label"), [('" x "', "x"), ("1", "1"), ("-0.5", "-0.5"), ("true", "true"), ("false", "false")]
)
def test_labels_of_any_scalar_kind_become_strings(write, value, label):
    assert read(write("a.jsonl", f'{{"text": "", "y": {value}}}')).labels == [label]


def test_labels_are_not_read_when_not_wanted_even_if_named(stories):
    assert read(stories, text="body", label="topics", labelled=False).labels is None


def test_a_file_with_no_label_field_has_no_labels(write):
    examples = read(write("a.csv", "id,review", "1,fine"))
    assert (examples.X, examples.labels) == (["fine"], None)


# Sources and formats


def test_gzip_and_a_byte_order_mark_change_nothing(tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbftext,label\r\nvine,x\r\n"))
    examples = read(path)
    assert (examples.X, examples.labels, examples.source) == (["vine"], ["x"], str(path))
    assert examples.note == f"{path}: 1 example, CSV (guessed from its name), text = text, label = label"


def test_standard_input_is_read_and_its_format_recognised_by_its_content(monkeypatch):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b'{"text": "vine"}\n')))
    examples = read("-")
    assert (examples.X, examples.labels, examples.source) == (["vine"], None, "standard input")
    assert "standard input: 1 example, JSON lines (guessed from its content)" in examples.note


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("a.JSONL", '{"text": ""}', "jsonl"),
        ("a.json.gz", '{"text": ""}', "jsonl"),
        ("a", ' {"text": ""}', "jsonl"),
        ("a.faa", ">1", "fasta"),
        ("a.txt", ">1", "fasta"),
        ("a", "text\tlabel", "tsv"),
        ("a.txt", 'id,"text"', "csv"),
        ("a.txt", "Well, text is here", "lines"),
        ("a.txt", "text", "lines"),
    ],
)
def test_the_format_is_recognised_by_the_name_and_then_by_the_content(write, name, line, expected):
    rows = [] if expected in ("jsonl", "fasta", "lines") else [line]
    assert read(write(name, line, *rows)).format == expected


def test_a_header_is_known_by_the_text_field_that_was_named(write):
    assert read(write("a.txt", "poem,poet", "roses,A"), text="poem", label="poet").format == "csv"


def test_a_named_format_wins_over_the_name_and_is_not_said_to_be_guessed(write):
    examples = read(write("a.csv", "good a, b", "bad c"), format="lines", labelled=True)
    assert examples.X == ["a, b", "c"]
    assert examples.note.endswith(": 2 examples, one text per line, label = first word of its line")


def test_another_encoding_is_read_when_named(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"caf\xe9\n")
    assert read(tmp_path / "a.txt", encoding="latin-1").X == ["café"]


# Refusals


def test_an_unknown_format_is_refused_with_those_that_are_known(write):
    with pytest.raises(
        InputError, match=r"unknown format 'pdf', expected one of jsonl, csv, .* svmlight, trees, .* plf"
    ):
        read(write("a.csv", "text"), format="pdf")


def test_a_file_that_is_not_utf8_is_refused_with_the_byte_named(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"text\ncaf\xe9\n")
    assert "byte 0xe9 at offset 8 " in assert_refused(tmp_path / "a.csv")


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.txt", "a.fasta", "a"])
@pytest.mark.parametrize("lines", [[], ["", "  "]], ids=["nothing", "blank lines"])
def test_an_empty_file_is_refused(write, name, lines):
    message = assert_refused(write(name, *lines))
    assert message == ": the file is empty, expected at least one example"


def test_a_header_with_no_rows_is_refused(write):
    assert "a header and no example after it" in assert_refused(write("a.csv", "text,label", ""))


def test_a_broken_json_line_is_named_with_the_column_and_the_parsers_message(write):
    message = assert_refused(write("a.jsonl", '{"text": "a"}', "", '{"text": "a", }'))
    assert message.startswith(", line 3, column 1")
    assert "not valid JSON: " in message
    assert "expected one object per line" in message


@pytest.mark.parametrize("line", ["[1, 2]", '"vine"', "null", "3"])
def test_a_json_line_that_is_no_object_is_named(write, line):
    message = assert_refused(write("a.jsonl", line))
    assert message.startswith(f", line 1: found {line}, expected one object per line")


@pytest.mark.parametrize("line", ["[" * 100_000, '{"text": ' + "1" * 10_000 + "}"], ids=["depth", "digits"])
def test_json_beyond_all_measure_is_named_not_a_crash(write, line):
    message = assert_refused(write("a.jsonl", line))
    assert message.startswith(", line 1")


@pytest.mark.parametrize("value", ["null", "3", "true", '["a"]', "{}"])
def test_a_text_that_is_no_string_is_named(write, value):
    message = assert_refused(write("a.jsonl", '{"text": "a"}', f'{{"text": {value}}}'))
    assert message == f", line 2: field 'text' is {value}, expected a string"


def test_a_text_that_is_not_there_is_named_with_the_fields_that_are(write):
    message = assert_refused(write("a.jsonl", '{"text": "a"}', '{"txt": "b", "id": 1}'))
    assert message == ", line 2: there is no field 'text'; the fields are: txt, id"


@pytest.mark.parametrize(("row", "found"), [("a", 1), ("a,b,c", 3)])
def test_a_row_of_other_width_is_named(write, row, found):
    message = assert_refused(write("a.csv", "text,label", '"two\nlines",x', row))
    assert message.startswith(
        f", line 4: found {found} column{'s' * (found > 1)}, expected 2 as in the header (text, label)"
    )
    assert "a field that holds a comma must be quoted" in message


@pytest.mark.parametrize("row", ['"a"b,x', '"a,x'], ids=["after", "open"])
def test_a_quote_out_of_place_is_named(write, row):
    message = assert_refused(write("a.csv", "text,label", "a,b", row))
    assert message.startswith(", line 3: not valid CSV: ")
    assert "a quote inside it is written twice" in message


def test_two_columns_of_one_name_are_refused(write):
    assert ", line 1: the header names 'text' twice" in assert_refused(write("a.csv", "text,text", "a,b"))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
@pytest.mark.parametrize("option", ["text", "label"])
def test_a_named_field_that_does_not_exist_is_refused_with_those_that_do(write, name, option):
    lines = ["text,id", "a,1"] if name == "a.csv" else ['{"text": "a", "id": 1}']
    message = assert_refused(write(name, *lines), **{option: "topics"})
    assert f"there is no field 'topics' for the {option}; the fields are: text, id" in message
    assert f"--{option} NAME" in message


def test_one_of_several_named_fields_that_does_not_exist_is_refused(stories):
    assert "there is no field 'lead' for the text; the fields are: id, title" in assert_refused(
        stories, text="title+lead"
    )


def test_a_value_of_a_field_that_does_not_exist_is_refused(stories):
    assert "there is no field 'topic' for the label" in assert_refused(stories, text="body", label="topic=acq")


@pytest.mark.parametrize("name", ["a.txt", "a.fasta"])
def test_formats_without_names_still_list_the_fields_they_have(write, name):
    message = assert_refused(
        write(name, ">x" if name == "a.fasta" else "x y"), format=name[2:].replace("txt", "lines"), label="z"
    )
    fields = "id, label, text" if name == "a.fasta" else "label, text"
    assert f"there is no field 'z' for the label; the fields are: {fields}" in message


def test_wanted_labels_that_are_not_there_are_refused_with_the_fields_that_are(write):
    message = assert_refused(write("a.csv", "text,stars", "a,5"), labelled=True)
    assert message.startswith(", header line: no field is called label, class, y, target, category or score")
    assert "the fields are: text, stars. Name the label with --label NAME" in message


def test_a_table_of_two_texts_and_no_header_says_how_its_columns_are_called(write):
    message = assert_refused(write("a.csv", "good,a fine red", "bad,a sour one"))
    start = (
        ", line 1: 'good, a fine red' is not recognised as a header, so the columns are called 1, 2: no field is called"
    )
    assert message.startswith(start)
    assert "the fields are: 1, 2. Name the text with --text NAME" in message


def test_a_list_as_label_is_refused_with_the_way_to_choose_and_the_most_frequent_values(stories):
    message = assert_refused(stories, text="body", label="topics")
    assert message.startswith(", line 1: field 'topics' is a list")
    assert "--label topics=acq" in message
    assert message.endswith("the most frequent: acq, grain, crude")


@pytest.mark.parametrize(
    ("name", "lines", "line"),
    [
        ("a.csv", ["text,label", "a,x", "b,"], 3),
        ("a.tsv", ["text\tlabel", "a\tx", "b\t "], 3),
        ("a.jsonl", ['{"text": "a", "label": "x"}', '{"text": "b", "label": null}'], 2),
        ("a.txt", ["x\ta", "\tb"], 2),
    ],
)
def test_a_label_that_is_missing_is_named(write, name, lines, line):
    message = assert_refused(write(name, *lines))
    assert message.startswith(f", line {line}: the label is missing (field 'label')")


@pytest.mark.parametrize("lines", [['{"text": "a", "label": 1}', '{"text": "b"}'], [">1", "A", ">", "B"]])
def test_a_label_field_that_is_missing_is_named(write, lines):
    assert ": there is no field 'label'; the fields are: text" in assert_refused(write("a", *lines))


@pytest.mark.parametrize("value", ["NaN", "{}", '{"a": 1}'])
def test_a_label_that_is_no_scalar_is_named(write, value):
    message = assert_refused(write("a.jsonl", f'{{"text": "a", "label": {value}}}'))
    assert message == f", line 1: the label is {value} (field 'label'), expected a string or a number"


def test_a_label_that_turns_up_after_the_first_example_is_refused(write):
    message = assert_refused(write("a.jsonl", '{"text": "a"}', '{"text": "b", "label": 1}'))
    assert message.startswith(", line 2: has a label, but the first example has none")


def test_a_line_with_no_tab_among_lines_that_have_one_is_named(write):
    message = assert_refused(write("a.txt", "x\ta", "y b"))
    assert message == ", line 2: found 'y b', expected a label, a tab and a text"


def test_a_line_of_one_word_where_labels_are_wanted_is_named(write):
    message = assert_refused(write("a.txt", "x a", "", "y"), labelled=True)
    assert message == ", line 3: found 'y', expected a label, a blank and a text"


def test_text_before_the_first_fasta_header_is_named(write):
    message = assert_refused(write("a.fasta", "", "ACGT", ">1", "A"))
    assert message == ", line 2: found 'ACGT', expected a FASTA header such as '>1'"
