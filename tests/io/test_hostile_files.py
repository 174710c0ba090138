"""Files that are damaged, or made to do harm: an `InputError` in bounded time and memory."""

import bz2
import contextlib
import gzip
import io
import os
import tarfile
import zipfile

import pytest

import treille
from treille import InputError, Trees
from treille.io.archive import archive_members
from treille.io.open import FREE, Budget

ZEROS = bytes(80 << 20)


@pytest.fixture
def bomb(tmp_path):
    path = tmp_path / "data.txt.gz"
    path.write_bytes(gzip.compress(b"1\t" + ZEROS, 9))
    return path


def test_a_small_gzip_file_does_not_fill_the_memory(bomb):
    assert bomb.stat().st_size < 100_000
    with pytest.raises(InputError, match=r"data\.txt\.gz: expands to more than 200 times its [\d,]+ bytes"):
        treille.io.read(bomb)


def test_the_limit_can_be_set(bomb, monkeypatch):
    monkeypatch.setenv("TREILLE_MAX_EXPANSION", "2000")
    assert len(treille.io.read(bomb, format="lines").X[0]) == len(ZEROS)


@pytest.mark.parametrize("value", ["", "many", "0", "-1", "1" * 5000])
def test_a_limit_that_is_no_number_is_refused(value, bomb, monkeypatch):
    monkeypatch.setenv("TREILLE_MAX_EXPANSION", value)
    with pytest.raises(InputError, match=r"TREILLE_MAX_EXPANSION is .* expected a whole number"):
        treille.io.read(bomb)


def test_very_regular_data_are_read(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"yes\tACGTTGCA\n" * 10_000))
    assert len(treille.io.read(tmp_path / "a.txt.gz")) == 10_000


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name")
def test_a_compressed_pipe_is_read(tmp_path):
    import threading

    os.mkfifo(tmp_path / "pipe")
    data = gzip.compress(b"yes\ta vine\n")
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(data,))
    writer.start()
    assert treille.io.read(tmp_path / "pipe", format="lines").X == ["a vine"]
    writer.join()


def zipped(path, members, **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, **options) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def tarred(path, members, mode):
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "tar.bz2", "tar.xz"])
def test_a_small_archive_does_not_fill_the_memory(kind, tmp_path):
    path, members = tmp_path / f"data.{kind}", {f"{i}.lat": ZEROS[: 20 << 20] for i in range(5)}
    if kind == "zip":
        zipped(path, members)
    else:
        tarred(path, members, f"w:{kind.rpartition('.')[2]}")
    with pytest.raises(InputError, match=r"expands to more than 200 times"):
        archive_members(path)


def test_compressed_files_in_an_archive_share_its_limit(tmp_path):
    inner = gzip.compress(ZEROS[: 40 << 20], 9)
    path = zipped(tmp_path / "data.zip", {f"{i}.lat.gz": inner for i in range(3)})
    members = archive_members(path)
    with pytest.raises(InputError, match=r"expands to more than 200 times"):
        [member.open().read() for member in members]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_archives_are_read_whatever_compresses_them(mode, tmp_path):
    suffix = ".tar" + mode.replace("w", "").replace(":", ".")
    path = tarred(tmp_path / f"a{suffix}", {"x/1.txt": b"one", "y/2.txt.gz": gzip.compress(b"two")}, mode)
    assert [(member.label, member.open().read()) for member in archive_members(path)] == [("x", b"one"), ("y", b"two")]


def test_an_encrypted_archive_is_named(tmp_path):
    path = zipped(tmp_path / "a.zip", {"1.lat": b"0 1 a"})
    data = bytearray(path.read_bytes())
    for signature, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(signature) + place] |= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"1\.lat: is encrypted"):
        treille.io.read(path)


@pytest.mark.parametrize("kind", ["zip", "tar", "tar.gz", "tar.bz2", "tar.xz"])
def test_a_damaged_archive_raises_nothing_else(kind, tmp_path):
    path = tmp_path / f"a.{kind}"
    members = {f"{i}.lat": bytes(range(256)) * 3 for i in range(3)}
    if kind == "zip":
        zipped(path, members)
    else:
        tarred(path, members, "w" + kind.removeprefix("tar").replace(".", ":"))
    sound = path.read_bytes()
    for at in [*range(0, len(sound), max(1, len(sound) // 150)), *range(-80, 0)]:
        for change in (0xFF, 0x01):
            path.write_bytes(sound[:at] + bytes([sound[at] ^ change]) + sound[at:][1:])
            try:
                [member.open().read() for member in archive_members(path)]
            except InputError:
                continue


def test_a_zip_of_an_unknown_method_is_named(tmp_path):
    path = zipped(tmp_path / "a.zip", {"1.lat": b"0 1 a"})
    data = bytearray(path.read_bytes())
    for signature, place in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        data[data.index(signature) + place] = 99
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"a\.zip: is not an archive, or a damaged one"):
        treille.io.read(path)


def test_a_damaged_bzip2_archive_is_named(tmp_path):
    (tmp_path / "a.tar.bz2").write_bytes(bz2.compress(b"x" * 2000)[:-9])
    with pytest.raises(InputError, match=r"a\.tar\.bz2: damaged bzip2 file"):
        treille.io.read(tmp_path / "a.tar.bz2")


def test_the_budget_is_spent_once_for_all_parts():
    budget = Budget("x", 1)
    budget.spend(FREE)
    with pytest.raises(InputError, match="x: expands"):
        budget.spend(1)


@pytest.mark.parametrize("read", [Trees.from_html, Trees.from_xml])
@pytest.mark.parametrize("kind", [str, os.fsencode])
def test_a_text_is_a_document_and_never_a_path(read, kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    secret = tmp_path / "notes.txt"
    secret.write_text("<secret/>")
    for name in ("notes.txt", str(secret), f"file://{secret}", f" {secret}"):
        try:
            found = read([kind(name)], text=True).to_brackets()
        except InputError as error:
            found = [str(error)]
        assert "(secret" not in found[0]
    assert "secret" in read([secret]).to_brackets()[0]


@pytest.mark.parametrize("read", [Trees.from_html, Trees.from_xml])
def test_the_name_of_a_file_is_refused_with_advice(read):
    with pytest.raises(InputError, match=r"item 1: found 'notes\.txt', which has no element.*give a pathlib\.Path"):
        read(["<a/>", "notes.txt"])


@pytest.mark.parametrize(
    "document", ["\0", "<p>\0</p>", "<a\0b/>", b"\0<p>", "<p>&#0;</p>", "a\0b<p>", b"\xff\xfe<\0p\0>", "<p a='\0'>"]
)
@pytest.mark.parametrize("read", [Trees.from_html, Trees.from_xml])
def test_nul_in_a_document_raises_nothing_else(read, document):
    with contextlib.suppress(InputError):
        read([document], attributes=True, text=True)


def test_nul_in_the_name_of_a_file_is_refused():
    with pytest.raises(InputError, match="not the name of a file"):
        treille.io.read("vines\0.txt")


BIG = "7" * 5000


@pytest.mark.parametrize(
    "document", [BIG, f"[{BIG}]", int("9" * 4000) ** 2, [-(10**5000)]], ids=["text", "list", "int", "-int"]
)
def test_integers_of_many_digits_in_json_trees_are_refused(document):
    with pytest.raises(InputError, match="item 0: "):
        Trees.from_json([document])


@pytest.mark.parametrize(
    "source", [BIG, "0x" + "f" * 5000, f"f(-{'0b' + '1' * 20000})"], ids=["decimal", "hex", "binary"]
)
def test_integers_of_many_digits_in_python_are_refused(source):
    with pytest.raises(InputError, match="item 0"):
        Trees.from_ast([source], names=True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", f'{{"text": "a", "label": {BIG}}}'),
        ("a.svm", f"1 {BIG}:1\n"),
        ("a.svm", f"{BIG} 1:1\n"),
        ("a.csv", f"text,label\na,{BIG}\n"),
        ("a.nwk", f"(a:{BIG},b);"),
        ("a.conllu", f"{BIG}\ta\t_\t_\t_\t_\t{BIG}\troot\t_\t_\n"),
    ],
)
def test_integers_of_many_digits_in_files_raise_nothing_else(name, content, tmp_path):
    (tmp_path / name).write_text(content)
    refused = []
    try:
        examples = treille.io.read(tmp_path / name)
    except InputError as error:
        refused.append(str(error))
    assert name in refused[0] if refused else len(examples) == 1


@pytest.mark.parametrize("line", ["1 |BTx| (S (NP)) |ET|", "1 |BT", "|BT|", "1 |BT (a) |ET|", "1 |BT:| |ET|"])
@pytest.mark.parametrize("before", ["", "1 |BT| (S) |ET|\n"])
def test_lines_without_a_tree_between_marks_are_refused(line, before, tmp_path):
    (tmp_path / "a.trees").write_text(f"{before}{line}\n")
    for read in (lambda: treille.io.read(tmp_path / "a.trees"), lambda: Trees.from_brackets(before + line)):
        with pytest.raises(InputError, match=f"line {2 if before else 1}"):
            read()


def test_lines_without_marks_among_marked_ones_are_refused():
    with pytest.raises(InputError, match=r"line 1: found '\(a b\)', expected a label and a tree between"):
        Trees.from_brackets("(a b)\n1 |BT| (S) |ET|")


def test_a_mark_that_is_none_is_named(tmp_path):
    (tmp_path / "a.trees").write_text("1 |BTx| (S (NP)) |ET|\n")
    with pytest.raises(
        InputError, match=r"a\.trees, line 1: found '1 \|BTx\| .*', expected a label and a tree between \|BT\|"
    ):
        treille.io.read(tmp_path / "a.trees")


def test_a_lone_surrogate_in_brackets_is_named():
    with pytest.raises(InputError, match="a lone surrogate"):
        Trees.from_brackets("(S \ud800)")


def test_a_comment_that_is_not_closed_is_named():
    with pytest.raises(InputError, match=r"line 2, column 2: found '\[' that is not closed"):
        Trees.from_newick("(A,B);\n([[[[A,B);")


def test_errors_in_labelled_newick_name_line_and_column(tmp_path):
    (tmp_path / "a.nwk").write_text("yes\t(A,B);\nno\t(A,,]);\n")
    with pytest.raises(InputError, match=r"line 2, column 8: found '\]'"):
        treille.io.read(tmp_path / "a.nwk")
