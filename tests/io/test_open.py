"""Opening files: gzip, standard input, encodings, and faults named by file and byte."""

import bz2
import gzip
import io
import lzma
import sys
from types import SimpleNamespace

import pytest

from treille.io import InputError, open_text


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


def text_of(path, **options):
    with open_text(path, **options) as stream:
        return stream.read()


def test_a_plain_file_is_read_with_its_line_ends_as_they_are(tmp_path):
    assert text_of(write(tmp_path, "a.txt", "é\r\nb\n".encode())) == "é\r\nb\n"


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_are_known_by_their_first_bytes_whatever_the_name(pack, tmp_path):
    assert text_of(write(tmp_path, "a.txt", pack(b"vine"))) == "vine"
    assert text_of(write(tmp_path, "a.txt", pack(b"one ") + pack(b"two"))) == "one two"


def test_a_text_that_begins_like_a_bzip2_file_is_a_text(tmp_path):
    assert text_of(write(tmp_path, "a.txt", b"BZh9 vine")) == "BZh9 vine"


def test_a_plain_file_that_is_called_gz_is_read_as_it_is(tmp_path):
    assert text_of(write(tmp_path, "a.gz", b"vine")) == "vine"


def test_a_gzip_file_of_several_members_is_read_whole(tmp_path):
    assert text_of(write(tmp_path, "a.gz", gzip.compress(b"one ") + gzip.compress(b"two"))) == "one two"


@pytest.mark.parametrize("content", [b"vine\n", gzip.compress(b"vine\n")], ids=["plain", "gzip"])
def test_a_dash_is_standard_input_plain_or_gzip_and_leaves_it_open(monkeypatch, content):
    buffer = io.BytesIO(content)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer))
    assert text_of("-") == "vine\n"
    assert not buffer.closed


def test_a_utf8_byte_order_mark_is_dropped(tmp_path):
    assert text_of(write(tmp_path, "a.txt", b"\xef\xbb\xbfvine")) == "vine"


def test_another_encoding_is_read_when_named(tmp_path):
    assert text_of(write(tmp_path, "a.txt", b"caf\xe9"), encoding="latin-1") == "café"


def test_an_empty_file_is_an_empty_text(tmp_path):
    assert text_of(write(tmp_path, "a.txt", b"")) == ""


@pytest.mark.parametrize("before", [0, 1, 10, 8_191, 8_192, 100_000])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("by_line", [True, False], ids=["by line", "whole"])
def test_a_byte_that_is_not_utf8_is_named_with_its_offset(tmp_path, before, pack, by_line):
    path = write(tmp_path, "a.txt", pack((b"line of text\n" * before)[:before] + b"\xe9 and more\n" * 3))
    with pytest.raises(InputError) as caught, open_text(path) as stream:
        list(stream) if by_line else stream.read()
    message = str(caught.value)
    assert str(path) in message
    assert f"byte 0xe9 at offset {before} " in message
    assert "--encoding latin-1" in message


def test_the_offset_counts_the_byte_order_mark(tmp_path):
    with pytest.raises(InputError, match="byte 0xff at offset 4 "):
        text_of(write(tmp_path, "a.txt", b"\xef\xbb\xbfa\xff"))


def test_a_character_cut_at_the_end_of_the_file_is_named(tmp_path):
    with pytest.raises(InputError, match="byte 0xc3 at offset 2 "):
        text_of(write(tmp_path, "a.txt", b"ab\xc3"))


def test_a_utf16_file_is_recognised(tmp_path):
    path = write(tmp_path, "a.txt", "vine".encode("utf-16"))
    with pytest.raises(InputError, match="--encoding utf-16"):
        text_of(path)
    assert text_of(path, encoding="utf-16") == "vine"


def test_an_unknown_encoding_is_named(tmp_path):
    with pytest.raises(InputError, match="unknown encoding 'latin-99', expected one such as utf-8"):
        text_of(write(tmp_path, "a.txt", b"a"), encoding="latin-99")


@pytest.mark.parametrize("keep", [3, 15, -9, -4])
def test_a_truncated_gzip_file_is_named(tmp_path, keep):
    path = write(tmp_path, "a.gz", gzip.compress(bytes(range(32, 127)) * 50)[:keep])
    with pytest.raises(InputError, match=r"a\.gz: damaged gzip file after .* Fetch it again"):
        text_of(path)


@pytest.mark.parametrize(("pack", "name"), [(bz2.compress, "bzip2"), (lzma.compress, "xz")])
def test_a_damaged_file_of_another_compression_is_named(pack, name, tmp_path):
    content = bytearray(pack(bytes(range(32, 127)) * 50))
    for keep in (15, len(content) - 9):
        with pytest.raises(InputError, match=rf"a\.txt: damaged {name} file after .* Fetch it again"):
            text_of(write(tmp_path, "a.txt", bytes(content[:keep])))
    content[len(content) // 2] ^= 0xFF
    with pytest.raises(InputError, match=rf"a\.txt: damaged {name} file"):
        text_of(write(tmp_path, "a.txt", bytes(content)))


def test_an_altered_gzip_file_is_named(tmp_path):
    content = bytearray(gzip.compress(bytes(range(32, 127)) * 50))
    content[len(content) // 2] ^= 0xFF
    with pytest.raises(InputError, match=r"a\.gz: damaged gzip file"):
        text_of(write(tmp_path, "a.gz", bytes(content)))


def test_a_missing_file_is_named_with_the_one_that_was_likely_meant(tmp_path):
    write(tmp_path, "train.jsonl.gz", b"")
    with pytest.raises(InputError, match=r"train\.jsonl: no such file; did you mean .*train\.jsonl\.gz\?"):
        open_text(tmp_path / "train.jsonl")


def test_a_missing_file_with_no_likeness_says_where_it_was_looked_for(tmp_path):
    with pytest.raises(InputError) as caught:
        open_text(tmp_path / "train.jsonl")
    assert str(caught.value) == f"{tmp_path / 'train.jsonl'}: no such file; looked in {tmp_path.resolve()}"


def test_a_missing_folder_is_said_to_be_missing_too(tmp_path):
    with pytest.raises(InputError, match=r"the folder .*nowhere does not exist either"):
        open_text(tmp_path / "nowhere" / "train.jsonl")


def test_a_folder_is_named_with_the_files_it_holds(tmp_path):
    write(tmp_path, "train.csv", b"")
    with pytest.raises(InputError, match=r"is a folder, expected a file, such as train\.csv"):
        open_text(tmp_path)


def test_an_empty_folder_is_said_to_hold_no_file(tmp_path):
    with pytest.raises(InputError, match="is a folder, expected a file; it holds no file"):
        open_text(tmp_path)
