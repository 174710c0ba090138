"""Tokens in columns, read and written."""

import gzip
import io
import os
import re
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treille import InputError
from treille.tagging import Sentences, read_features, read_sentences, stream_sentences, write_sentences

words = st.text(st.characters(codec="utf-8", exclude_characters=" \t\r\n"), min_size=1, max_size=5)
tables = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(st.tuples(*[words] * n), min_size=1, max_size=4), max_size=5)
)


def read(text, **options):
    return read_sentences(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **options)


def slow_read(text):
    """Blanks and tabs separate."""
    sentences = [[]]
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.strip(" \t\r"):
            sentences[-1].append(tuple(re.split("[ \t]+", line.lstrip(" \t").rstrip(" \t\r"))))
        else:
            sentences.append([])
    return [s for s in sentences if s]


@given(tables, st.sampled_from([" ", "\t", "  ", " \t"]), st.sampled_from(["\n", "\r\n"]), st.integers(1, 40))
def test_written_sentences_are_read_whole_and_in_parts(table, between, newline, block):
    text = f"{newline}{newline}".join(newline.join(between.join(token) for token in sentence) for sentence in table)
    given = None if between == "\t" else " "
    whole = read(text, separator=given)
    expected = [[t[0] if len(t) == 1 else t for t in s] for s in table]
    assert list(whole) == expected
    parts = list(stream_sentences(io.BytesIO(text.encode()), separator=given, block=block))
    assert [sentence for part in parts for sentence in part.sentences] == expected
    assert [int(n) for part in parts for n in part.sentences.origin.lines] == whole.origin.lines.tolist()
    assert b"".join(part.columns.text for part in parts) == text.encode()


@given(st.text("a#\t \r\n", max_size=40))
def test_blanks_and_tabs_separate_when_asked(text):
    rows = {len(token) for sentence in slow_read(text) for token in sentence}
    if len(rows) > 1:
        with pytest.raises(InputError, match=r"columns?, expected"):
            read(text, separator=" ")
    else:
        expected = [[t[0] if len(t) == 1 else t for t in s] for s in slow_read(text)]
        assert list(read(text, separator=" ")) == expected


@given(tables)
def test_written_sentences_come_back(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("a") / "a.txt"
    if table:
        write_sentences(path, table)
        again = read_sentences(path, separator=" ")
        assert list(again) == list(Sentences(table)) or len(table[0][0]) == 1


def test_an_added_column_changes_nothing_else():
    text = b"# a\r\n\r\nThe\tD T\t\r\ncat\tNN\tx \n\n\n# b\nRun\t\tz"
    parts = list(stream_sentences(io.BytesIO(text), block=10))
    out = b"".join(part.with_tags([["T"] * part.sentences.n_tokens]) for part in parts)
    assert out == b"# a\r\n\r\nThe\tD T\t\tT\r\ncat\tNN\tx \tT\n\n\n# b\nRun\t\tz\tT"
    assert [s for part in parts for s in part.sentences] == [
        [("The", "D T", ""), ("cat", "NN", "x ")],
        [("Run", "", "z")],
    ]
    with pytest.raises(InputError, match="found 1 tag for 2 tokens"):
        next(part for part in parts if part.sentences.n_tokens == 2).with_tags([["T"]])


def test_a_hash_is_a_token_where_blanks_separate_and_a_comment_where_tabs_do():
    assert read("# # B-NP\n1 CD I-NP\n")[0] == [("#", "#", "B-NP"), ("1", "CD", "I-NP")]
    tabbed = read("# text = a b\n#\tNN\n# inside\nb\tCD\n")
    assert tabbed[0] == [("#", "NN"), ("b", "CD")]
    assert tabbed.origin.lines.tolist() == [2, 4]
    assert len(read("# only\n\n# comments\n\na\tb\n")) == 1


def test_document_marks_are_no_sentences():
    sentences = read("-DOCSTART- -X- O\n\na b O\n\n-DOCSTART- -X- O\n\nc d T\n")
    assert list(sentences) == [[("a", "b", "O")], [("c", "d", "T")]]
    assert [column.values for column in sentences.columns] == [["a", "c"], ["b", "d"], ["O", "T"]]
    assert sentences.origin.lines.tolist() == [3, 7]
    assert len(read("-DOCSTART- O\n")) == 0


def test_a_document_mark_is_not_written_as_a_token(tmp_path):
    with pytest.raises(InputError, match="token 1 is -DOCSTART-"):
        write_sentences(tmp_path / "a.txt", [["a"], ["-DOCSTART-"]])


def stream(text, **options):
    return stream_sentences(io.BytesIO(text.encode()), **options)


CONLLU = """# text = Don't run
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVBP\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\trun\trun\tVERB\tVB\t_\t0\troot\t_\t_
3.1\tit\tit\tPRON\tPRP\t_\t_\t_\t3:obj\t_

# text = Cats
1\tCats\tcat\tNOUN\tNNS\t_\t0\troot\t_\tSpaceAfter=No

"""


def test_conllu_has_words_and_a_tag_and_nothing_else():
    expected = [[("Do", "AUX"), ("n't", "PART"), ("run", "VERB")], [("Cats", "NOUN")]]
    assert list(read(CONLLU)) == expected
    assert read(CONLLU).origin.lines.tolist() == [3, 4, 5, 9]
    assert [token for part in stream(CONLLU, block=10) for token in part.sentences] == expected
    for column in ("xpos", "XPOS", 5):
        assert read(CONLLU, tag_column=column).separate()[1][0] == ["VBP", "RB", "VB"]
    for column in ("head", "id", "form", 7, 11, 0, "tag"):
        with pytest.raises(InputError, match=r"the column of the tags is .*upos \(4\), xpos \(5\)"):
            read(CONLLU, tag_column=column)
    with pytest.raises(InputError, match="holds no CoNLL-U, for which tag_column is"):
        read("a b\n", tag_column="upos")


def test_tags_are_written_into_a_column_of_conllu_and_nothing_else_changes():
    def written(column, text=CONLLU, block=1 << 20, **options):
        blocks = stream(text, block=block, **options)
        return b"".join(part.with_tags([["T"] * len(each) for each in part.sentences], column) for part in blocks)

    expected = CONLLU.replace("AUX", "T").replace("PART", "T").replace("VERB", "T").replace("NOUN", "T")
    assert written("upos").decode() == written("upos", block=10).decode() == expected
    crlf = CONLLU.replace("\n", "\r\n")
    assert written("misc", crlf).decode() == crlf.replace("root\t_\t_", "root\t_\tT").replace("\t_\t_\r\n2", "\t_\tT\r\n2").replace(
        "advmod\t_\t_", "advmod\t_\tT").replace("SpaceAfter=No", "T")  # fmt: skip
    assert all(len(line.split("\t")) in (1, 11) for line in written(None).decode().split("\n") if line)


def test_lines_that_mark_documents_are_kept_and_get_no_tag_of_the_model():
    parts = [(part, [["T"] * len(each) for each in part.sentences]) for part in stream("-DOCSTART- -X-\n\na b\n")]
    assert b"".join(part.with_tags(tags) for part, tags in parts) == b"-DOCSTART- -X- O\n\na b T\n"


def test_compressed_files_byte_order_marks_and_other_encodings_are_read(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress("\ufeffÅ x\n".encode()))
    assert read_sentences(path)[0] == [("Å", "x")]
    assert read("Å x\n".encode("latin-1"), encoding="latin-1")[0] == [("Å", "x")]
    text = "Å x\n\nb y\n".encode("utf-16")
    parts = list(stream_sentences(io.BytesIO(text), encoding="utf-16", block=3))
    assert [s for part in parts for s in part.sentences] == [[("Å", "x")], [("b", "y")]]
    latin = next(stream_sentences(io.BytesIO("Å x\n".encode("latin-1")), encoding="latin-1"))
    assert latin.with_tags([["ß"]]) == "Å x ß\n".encode("latin-1")


def test_a_pipe_is_read_as_data_arrives():
    out, into = os.pipe()
    with open(out, "rb") as reader, open(into, "wb", buffering=0) as writer:
        blocks = stream_sentences(reader)
        writer.write(b"a b\n\nc")
        assert list(next(blocks).sentences) == [[("a", "b")]]
        threading.Timer(0.05, lambda: (writer.write(b" d\n"), writer.close())).start()
        assert [list(block.sentences) for block in blocks] == [[[("c", "d")]]]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            "a b c\n\nd e f\ng h\n",
            {},
            r"stream, line 4: found 2 columns, expected 3 like the lines before it \(.*blanks",
        ),
        ("a\tb\nc d\n", {}, r"line 2: found 1 column, expected 2 .*separated by tabs"),
        (b"a b\n\nc \xff\n", {}, r"stream, line 3: found bytes that are not utf-8 text. Name the file's encoding"),
        ("a", {"encoding": "utf-99"}, r"unknown encoding 'utf-99'"),
        (b"\xff", {"encoding": "ascii"}, r"not ascii text"),
        ("a", {"separator": ","}, r"separator is ',', expected a tab, a blank"),
    ],
)
def test_damaged_files_are_refused_with_the_line(text, options, message):
    text = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(InputError, match=message):
        read(text, **options)
    with pytest.raises(InputError, match=message):
        list(stream_sentences(io.BytesIO(text), block=3, **options))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda path: write_sentences(path, [[("a b", "c")]]),
            r"token 0, column 0 is 'a b', which would not be read back",
        ),
        (lambda path: write_sentences(path, [["a", ""]]), r"token 1, column 0 is '', which would not be read back"),
        (lambda path: write_sentences(path, [[("", "")]], separator="\t"), r"token 0 is blank"),
        (lambda path: write_sentences(path, [["a"]], [["O", "O"]]), r"the tags do not have the lengths"),
        (lambda path: write_sentences(path, [[{"a": True}]]), r"features and no columns"),
        (lambda path: write_sentences(path, [["a"]], separator=","), r"separator is ','"),
        (lambda path: read_sentences(path), r"no such file"),
    ],
)
def test_invalid_sentences_and_separators_are_refused(call, message, tmp_path):
    with pytest.raises(InputError, match=message):
        call(tmp_path / "a.txt")


def test_tags_of_files_are_named_by_their_line():
    from treille.tagging import chunk_scores

    _, tags = read("a B-NP\n\nb NN\n").separate()
    with pytest.raises(InputError, match=r"stream, line 3: the tag 'NN' is not a chunk tag"):
        chunk_scores(tags, tags)


def test_empty_files_have_no_sentences():
    for text in ("", "\n\n", " \r\n"):
        assert len(read(text)) == 0
        assert sum(len(part.sentences) for part in stream_sentences(io.BytesIO(text.encode()))) == 0


def test_items_are_read_with_their_escapes():
    X, y = read_features(io.BytesIO(b"B\tw=a\\:b\tx\\\\y:1\tbias:1.0\tbias\n\nI\tw=c\n\tw=d\n"))
    assert list(X) == [[["w=a:b", "x\\y", "bias"]], [["w=c"], ["w=d"]]]
    assert list(y) == [["B"], ["I", ""]]
    assert np.array_equal(X.offsets, y.offsets)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            b"B\tw\nI\tlength:2.5\n",
            r"stream, line 2: the feature 'length' has the weight 2.5, expected 1: divide its values",
        ),
        (b"B\ta:b\n", r"line 1: the weight in 'a:b' is not a finite number, .* a colon inside a name is written \\:"),
        (b"B\tw\nI\t\xff\n", r"stream, line 2: found bytes that are not utf-8"),
        (b"\xff\tw\n", r"stream, line 1: found bytes that are not utf-8"),
    ],
)
def test_items_that_cannot_be_read_are_refused_with_the_line(text, message):
    with pytest.raises(InputError, match=message):
        read_features(io.BytesIO(text))
