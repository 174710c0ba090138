"""Labels from files, folders, ids and roots of trees; and examples without labels."""

import zipfile

import pytest

from treille.io import InputError, read
from treille.io.multi_file import class_names


@pytest.fixture
def write(tmp_path):
    def writer(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return writer


def refused(*args, **options):
    with pytest.raises(InputError) as caught:
        read(*args, **options)
    return str(caught.value)


FASTA = ">s1\nAC\n>s2\nGT\n>s3\nTT\n"


def test_one_file_per_class_takes_the_labels_from_the_names_of_the_files(write):
    paths = [write("pos.train.fa", FASTA), write("neg.train.fa", ">t1\nAA\n")]
    examples = read(paths, labelled=True)
    assert examples.X == ["AC", "GT", "TT", "AA"]
    assert examples.labels == ["pos", "pos", "pos", "neg"]
    assert examples.ids == ["s1", "s2", "s3", "t1"]
    assert "4 examples in 2 files" in examples.note
    assert examples.note.endswith("label = name of the file")


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        ("txt", "a vine\nb fig\n"),
        ("csv", "text\na vine\nb fig\n"),
        ("jsonl", '{"text": "a"}\n{"text": "b"}\n'),
        ("mrg", "(S (X a))\n(S (Y b))\n"),
        ("plf", "((('a', 0, 1),),)\n((('b', 0, 1),),)\n"),
    ],
)
def test_one_file_per_class_works_in_every_format(write, suffix, content):
    examples = read([write(f"{name}.{suffix}", content) for name in ("pos", "neg")], labelled=True)
    assert examples.labels == ["pos", "pos", "neg", "neg"]
    assert len(examples) == 4


def test_files_with_a_field_for_the_label_are_parts_of_one_set(write):
    paths = [write(f"part{i}.csv", f"text,label\na{i},x\nb{i},y\n") for i in range(2)]
    assert read(paths).labels == ["x", "y", "x", "y"]
    other = write("other.csv", "text\na\n")
    assert "has a field for the label, and" in refused([*paths, other])


def test_ids_that_two_files_share_get_the_name_of_the_file(write):
    paths = [write("pos.fa", ">s1\nAC\n"), write("neg.fa", ">s1\nGT\n")]
    assert read(paths).ids == [f"{path}:s1" for path in paths]


def test_files_of_different_kinds_are_refused(write):
    assert "give files of one kind" in refused([write("a.txt", "a vine\n"), write("b.mrg", "(S (X))\n")])


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["train_pos.fa", "train_neg.fa"], ["pos", "neg"]),
        (["x/pos/seq.fa", "x/neg/seq.fa"], ["pos", "neg"]),
        (["a.fa", "a.b.fa"], ["a", "a.b"]),
        (["1.1.train.fa", "2.1.train.fa"], ["1", "2"]),
    ],
)
def test_classes_are_what_distinguishes_the_names_of_files(paths, names):
    assert class_names(paths) == names


def test_one_folder_per_class_of_texts(write, tmp_path):
    for name in ("pos/1.txt", "pos/2.txt", "neg/1.txt"):
        write(f"data/{name}", f"{name}\nand more\n")
    examples = read(tmp_path / "data", labelled=True)
    assert examples.labels == ["neg", "pos", "pos"]
    assert examples.ids == ["neg/1.txt", "pos/1.txt", "pos/2.txt"]
    assert examples.X[0] == "neg/1.txt\nand more\n"
    assert "one text per file, label = name of the folder" in examples.note
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        for file in sorted((tmp_path / "data").rglob("*.txt")):
            archive.write(file, file.relative_to(tmp_path))
    assert read(tmp_path / "data.zip").labels == ["neg", "pos", "pos"]


def test_one_folder_per_class_of_files_of_many_examples(write, tmp_path):
    write("data/pos/a.fa", FASTA)
    write("data/neg/b.fa", ">x\nA\n")
    assert read(tmp_path / "data", labelled=True).labels == ["neg", "pos", "pos", "pos"]
    assert read(tmp_path / "data", labelled=False).labels is None


def test_files_of_a_flat_folder_are_classes(write, tmp_path):
    write("data/pos.fa", FASTA)
    write("data/neg.fa", ">x\nA\n")
    assert read(tmp_path / "data", labelled=True).labels == ["neg", "pos", "pos", "pos"]


def test_a_flat_folder_of_texts_has_no_labels(write, tmp_path):
    write("data/a.txt", "a")
    assert read(tmp_path / "data").ids == ["a.txt"]
    assert "put them into folders named by their classes" in refused(tmp_path / "data", labelled=True)


@pytest.mark.parametrize(
    "content",
    [
        "s1 yes\ns2 no\ns3 yes\n",
        "s1\tyes\ns2\tno\ns3\tyes\n",
        "s1,yes\ns2,no\ns3,yes\n",
        "id,label\ns3,yes\ns2,no\ns1,yes\n",
        "Label;Name;x\nyes;s3;1\nno;s2;2\nyes;s1;3\n",
        "yes\nno\nyes\n",
        "label\nyes\nno\nyes\n",
    ],
)
def test_labels_come_from_another_file_by_id_or_in_order(write, content):
    examples = read(write("a.fa", FASTA), labels=write("labels", content), labelled=True)
    assert examples.labels == ["yes", "no", "yes"]
    assert "labels of " in examples.note


def test_labels_come_from_a_dict_or_a_list(write):
    path = write("a.fa", FASTA)
    assert read(path, labels={"s1": 1, "s2": 0, "s3": 1}).labels == ["1", "0", "1"]
    assert read(path, labels=["x", "y", "z"]).labels == ["x", "y", "z"]


def test_ids_without_a_label_are_named_or_left_out(write):
    path, labels = write("a.fa", FASTA), write("utt2label", "s1 yes\ns3 no\nother no\n")
    message = refused(path, labels=labels)
    assert "no label for 1 of 3 examples" in message
    assert "such as 's2'; ids there are such as 's1', 's3', 'other'" in message
    assert "--skip-unlabelled" in message
    examples = read(path, labels=labels, skip_unlabelled=True)
    assert (examples.X, examples.labels, examples.ids) == (["AC", "TT"], ["yes", "no"], ["s1", "s3"])
    assert examples.note.endswith("; 1 without a label left out")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ("s1 a\ns1 b\n", "line 2: found a second label for 's1'"),
        ("", "the file is empty"),
        ("a,b,c\nd,e,f\n", "has 3 columns and no header"),
        ("x\ny\n", "holds 2 labels"),
    ],
)
def test_a_bad_file_of_labels_is_named(write, labels, said):
    assert said in refused(write("a.fa", FASTA), labels=write("labels", labels))


def test_labels_by_id_need_ids(write):
    message = refused(write("a.txt", "a vine\na fig\n"), labels=write("labels", "s1 a\ns2 b\n"))
    assert "its examples have no ids" in message


def test_the_root_of_a_tree_is_its_label_and_does_not_stay_in_the_tree(write):
    path = write("a.mrg", "(3 (2 fine) (4 wine))\n(1 (2 sour))\n")
    examples = read(path, root_label=True, labelled=True)
    assert examples.labels == ["3", "1"]
    assert examples.X.alphabet == ["2", "4", "ROOT", "fine", "sour", "wine"]
    assert read(path, root_label=True, labelled=False).labels is None
    assert "holds no trees" in refused(write("a.txt", "a vine\n"), root_label=True)


def test_options_without_effect_are_refused_by_name(write):
    path, labels = write("a.csv", "text,label\nred,v\ndry,w\n"), write("labels", "v\nw\n")
    tree = write("a.mrg", "(3 (2 fine) (4 wine))\n")
    assert "by --label label and by --labels" in refused(path, label="label", labels=labels)
    assert "by --label 1 and by --root-label" in refused(tree, label="1", root_label=True)
    assert refused(path, weights="prob") == f"{path}: holds no lattices, for which --weights is: leave it out"
    assert "for which --symbols is" in refused(path, symbols=["<eps>", "red"])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "text,label\nu,\nv,x\nw, \n"),
        ("a.jsonl", '{"text": "u"}\n{"text": "v", "label": "x"}\n{"text": "w", "label": null}\n'),
    ],
)
def test_examples_without_a_label_are_left_out_on_request(write, name, content):
    path = write(name, content)
    examples = read(path, labelled=True, skip_unlabelled=True)
    assert (examples.X, examples.labels) == (["v"], ["x"])
    assert "2 without a label left out" in examples.note
    if name == "a.csv":
        assert "--skip-unlabelled" in refused(path, labelled=True)


def test_headers_of_fasta_that_all_differ_are_ids(write):
    examples = read(write("a.fa", FASTA))
    assert (examples.ids, examples.labels) == (["s1", "s2", "s3"], None)
    assert read(write("b.fa", ">1\nA\n>1\nC\n>0\nG\n")).labels == ["1", "1", "0"]


def test_ids_of_tables_and_json_lines_are_kept(write):
    assert read(write("a.csv", "ID,Text,Label\nu1,a,x\nu2,b,y\n")).ids == ["u1", "u2"]
    assert read(write("a.jsonl", '{"id": 7, "text": "a"}\n')).ids == ["7"]
    assert read(write("b.csv", "id,text\nu1,a\nu1,b\n")).ids is None


def test_ids_that_are_files_are_found_without_their_suffix(write, tmp_path):
    write("data/a.txt", "x")
    write("data/b.txt", "y")
    assert read(tmp_path / "data", labels=write("labels", "a yes\nb no\n")).labels == ["yes", "no"]


def test_a_table_of_a_header_alone_is_refused_also_where_examples_may_be_left_out(write):
    assert "found a header and no example" in refused(write("a.csv", "text,label\n"), skip_unlabelled=True)
    assert "no example has a label" in refused(write("b.csv", "text,label\na,\n"), skip_unlabelled=True)


def test_files_of_different_columns_are_refused(write):
    paths = [write("a.dat", "1 |BT| (S) |ET| 1:1 |EV|\n"), write("b.dat", "1 |BT| (S) |BT| (T) |ET|\n")]
    assert "has the columns tree, vector, but" in refused(paths)
