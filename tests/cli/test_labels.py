"""All ways to give labels, ids in the results, and fields that are refused as labels."""

import pytest

import treille
from treille.io import read

POS = "".join(f">p{i}\nCGCGGCGCATCGCG{'ACGT'[i % 4]}\n" for i in range(6))
NEG = "".join(f">n{i}\nTTATTAAATTATAA{'ACGT'[i % 4]}\n" for i in range(6))
KERNEL = ["--kernel", "ngram(2)"]


@pytest.fixture
def genes(tmp_path):
    for name, text in (("pos.fa", POS), ("neg.fa", NEG), ("all.fa", POS + NEG)):
        (tmp_path / name).write_text(text)
    (tmp_path / "labels.tsv").write_text("".join(f"{x}{i}\t{x}\n" for i in range(6) for x in "pn"))
    return tmp_path


def refused(answer, code=1):
    assert (answer.code, answer.out) == (code, ""), answer
    assert "Traceback" not in answer.err
    return answer.err


def test_one_file_per_class_trains_and_evaluates_and_predictions_carry_the_ids(cli, genes):
    answer = cli("train", "pos.fa", "neg.fa", *KERNEL, "--model", "m.treille")
    assert answer.code == 0, answer.err
    assert "2 classes: neg (6, 50.0%), pos (6, 50.0%)" in answer.err
    assert cli("predict", "m.treille", "all.fa").out.splitlines()[5:7] == ["p5\tpos", "n0\tneg"]
    assert cli("predict", "m.treille", "all.fa", "--scores").out.startswith("id\tlabel\tneg\tpos\np0\tpos\t-")
    assert cli("predict", "m.treille", "all.fa", "--json").json()["ids"][0] == "p0"
    (genes / "pos.test.fa").write_text(POS)
    (genes / "neg.test.fa").write_text(NEG)
    assert cli("evaluate", "m.treille", "pos.test.fa", "neg.test.fa").out.startswith("accuracy 1.0000 (12 of 12")
    scored = cli(
        "train", "pos.fa", "neg.fa", *KERNEL, "--test", "pos.test.fa", "--test", "neg.test.fa", "--json"
    ).json()
    assert scored["score"]["accuracy"]["mean"] == 1.0


def test_options_that_take_several_files_take_them_one_after_another(cli, genes):
    (genes / "pos.test.fa").write_text(POS)
    (genes / "neg.test.fa").write_text(NEG)
    assert cli("train", "pos.fa", "neg.fa", *KERNEL, "--model", "m.treille").code == 0
    for again in (["pos.test.fa", "--test", "neg.test.fa"], ["pos.test.fa", "neg.test.fa"]):
        value = cli("train", "pos.fa", "neg.fa", "--test", *again, *KERNEL, "--json").json()
        assert (value["classes"], value["score"]["accuracy"]["mean"]) == ({"neg": 6, "pos": 6}, 1.0)
    assert cli("train", f"--test={genes / 'pos.test.fa'}", "neg.test.fa", *KERNEL, "--", "pos.fa", "neg.fa").code == 0
    report = ("report", "m.treille", "pos.test.fa", "neg.test.fa", "--train", "pos.fa", "neg.fa")
    assert cli(*report, "--output", "report.html").code == 0
    assert "12 of 12 right" in (genes / "report.html").read_text()
    swallowed = cli("train", "--test", "pos.test.fa", "neg.test.fa", "pos.fa", "neg.fa")
    assert swallowed.code == 2
    assert "--test takes all words up to the next option: put the others before it, or after --" in swallowed.err
    report = ("report", "m.treille", "--output", "report.html", "--force", "--train", "pos.fa", "pos.test.fa")
    swallowed = cli(*report)  # FILE is optional: the last word may be meant for it
    assert (swallowed.code, swallowed.out) == (2, "")
    assert "none is left for FILE: put FILE before it, or repeat --train before each of its values" in swallowed.err
    assert cli("report", "m.treille", "--train", "pos.fa", "--train", "neg.fa").code == 0


def test_labels_of_several_files_are_joined(cli, genes):
    rows = (genes / "labels.tsv").read_text().splitlines(keepends=True)
    (genes / "a.tsv").write_text("".join(rows[:5]))
    (genes / "b.tsv").write_text("".join(rows[5:]))
    train = ("train", "all.fa", *KERNEL, "--json", "--cv", "2", "--labels")
    one, two = cli(*train, "labels.tsv").json(), cli(*train, "a.tsv", "b.tsv").json()
    assert one["classes"] == two["classes"]
    (genes / "b.tsv").write_text("".join(rows[4:]).replace(rows[4].strip(), rows[4].strip() + "x"))
    assert "found a second label for" in cli(*train, "a.tsv", "b.tsv").err
    (genes / "lines").write_text("p\n" * 6 + "n\n" * 6)
    assert "expected ids in all files of labels, or in none" in cli(*train, "a.tsv", "lines").err
    (genes / "first").write_text("p\n" * 6)
    (genes / "second").write_text("n\n" * 6)
    assert cli(*train, "first", "second").json()["classes"] == one["classes"]


def test_labels_of_another_file_are_matched_by_id(cli, genes):
    assert cli("train", "all.fa", "--labels", "labels.tsv", *KERNEL, "--model", "m.treille").code == 0
    (genes / "wrong.tsv").write_text((genes / "labels.tsv").read_text().replace("n0\tn", "n0\tp"))
    answer = cli("evaluate", "m.treille", "all.fa", "--labels", "wrong.tsv", "--output", "table.tsv", "--json")
    assert answer.json()["wrong"] == [{"id": "n0", "label": "p", "predicted": "n"}]
    rows = [line.split("\t") for line in (genes / "table.tsv").read_text().splitlines()]
    assert (rows[0], rows[7][:3]) == (["id", "label", "predicted", "n", "p"], ["n0", "p", "n"])


def test_the_names_of_folders_are_the_classes(cli, tmp_path):
    for name, text in (("pos", "good wine"), ("neg", "sour vinegar")):
        (tmp_path / "docs" / name).mkdir(parents=True)
        for i in range(3):
            (tmp_path / "docs" / name / f"{i}.txt").write_text(f"{text} number {i}")
    assert cli("train", "docs", "--model", "m.treille").code == 0
    assert cli("predict", "m.treille", "docs").out.splitlines()[2:4] == ["neg/2.txt\tneg", "pos/0.txt\tpos"]
    assert cli("evaluate", "m.treille", "docs/").out.startswith("accuracy 1.0000")


def test_the_root_of_a_tree_is_its_class_and_the_model_remembers_it(cli, tmp_path):
    (tmp_path / "a.mrg").write_text("(3 (2 fine) (4 wine))\n(1 (2 sour) (0 wine))\n" * 3)
    assert cli("train", "a.mrg", "--root-label", "--kernel", "subtree()", "--model", "m.treille").code == 0
    assert cli("evaluate", "m.treille", "a.mrg").out.startswith("accuracy 1.0000")
    (tmp_path / "new.mrg").write_text("(? (2 fine) (4 wine))\n")
    assert cli("predict", "m.treille", "new.mrg").out == "3\n"
    assert all("ROOT" in name or "(3" not in name for name, _ in treille.load("m.treille").top_features(5)["3"])


def test_symbols_and_utterances_of_lattices_are_read(cli, tmp_path):
    (tmp_path / "k.ark").write_text("utt1\n0 1 5 1.0,2.0,\n1\n\nutt2\n0 1 6 1.0,2.0,\n1\n\n")
    (tmp_path / "words.txt").write_text("<eps> 0\nvine 5\nwine 6\n")
    (tmp_path / "utt2label").write_text("utt1 a\nutt2 b\n")
    words = ["--symbols", "words.txt"]
    kernel = ["--kernel", "ngram(1, unit=word)"]
    answer = cli("train", "k.ark", "--labels", "utt2label", *words, *kernel, "--model", "m.treille")
    assert answer.code == 0, answer.err
    assert "treille predict m.treille FILE --symbols words.txt" in answer.out
    assert "vine" in cli("inspect", "m.treille").out
    assert cli("predict", "m.treille", "k.ark", *words).out == "utt1\ta\nutt2\tb\n"
    assert cli("features", "k.ark", *words, *kernel, "--json").json()["frequent"][0]["feature"] in ("vine", "wine")
    for verb in (["evaluate", "m.treille", "k.ark", "--labels", "utt2label"], ["inspect", "k.ark"]):
        assert cli(*verb, *words).code == 0


@pytest.mark.parametrize(
    ("name", "content", "way"),
    [
        ("a.fa", "".join(f">chr2:{i}00-{i}99\nACGT\n" for i in range(10)), "--label KEY for KEY=VALUE in the headers"),
        ("a.fq", "".join(f"@r{i}\nACGT\n+\nIIII\n" for i in range(10)), "--label KEY"),
        ("a.txt", "the vine\na wine\nno fig\nan apple\n", "a tab after the label"),
        ("a.csv", "text,label\n" + "".join(f"a,id{i}\n" for i in range(9)), "--label FIELD for another field"),
    ],
)
def test_labels_that_only_one_example_has_are_refused_with_ways_to_give_labels(cli, tmp_path, name, content, way):
    (tmp_path / name).write_text(content)
    message = refused(cli("train", name, "--model", "m.treille"))
    assert "classes have one example only, such as '" in message
    assert "one file or folder per class (treille train pos.fa neg.fa), by --labels FILE" in message
    assert way in message
    assert not (tmp_path / "m.treille").exists()


def test_first_words_are_labels_where_they_repeat(cli, tmp_path):
    (tmp_path / "a.txt").write_text("good wine\nbad wine\ngood fig\nbad fig\nodd apple\n")
    assert cli("train", "a.txt", "--kernel", "ngram(2)", "--model", "m.treille").code == 0


def test_examples_without_a_label_are_left_out_on_request(cli, tmp_path):
    (tmp_path / "a.csv").write_text("Text,Label\nred wine,r\nwhite wine,w\nwater,\n")
    assert "--skip-unlabelled" in refused(cli("train", "a.csv", "--model", "m.treille"))
    answer = cli("train", "a.csv", "--skip-unlabelled", "--kernel", "ngram(2)", "--model", "m.treille")
    assert answer.code == 0
    assert "1 without a label left out" in answer.err


def test_models_remember_how_examples_are_read(cli, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"vin": "red", "kind": "r"}\n{"vin": "white", "kind": "w"}\n')
    assert cli("train", "a.jsonl", "--text", "vin", "--label", "kind", *KERNEL, "--model", "m.treille").code == 0
    assert cli("predict", "m.treille", "a.jsonl").out == "r\nw\n"
    assert cli("inspect", "m.treille", "--json").json()["reading"] == {"text": "vin", "label": "kind"}
    model = treille.load("m.treille")
    assert model.reading_ == {"text": "vin", "label": "kind"}
    assert model.predict(read("a.jsonl", like=model).X).tolist() == ["r", "w"]
    assert cli("predict", "m.treille", "-", "--text", "text", stdin=b"red\n").out == "r\n"


def test_models_remember_the_kind_of_weights(cli, tmp_path):
    lines = ["a\t((('vine', 0.9, 1), ('wine', 0.1, 1),),)", "b\t((('vine', 0.1, 1), ('wine', 0.9, 1),),)"]
    (tmp_path / "a.plf").write_text("\n".join(lines) + "\n")
    assert cli("train", "a.plf", "--weights", "prob", "--model", "m.treille").code == 0
    assert "weights = probabilities (as requested)" in cli("predict", "m.treille", "a.plf").err
    assert cli("predict", "m.treille", "-", stdin=b"vine\n").code == 0  # for which they are not


def test_a_model_among_the_data_files_is_refused_by_name(cli, genes):
    assert cli("train", "pos.fa", "neg.fa", *KERNEL, "--model", "m.treille").code == 0
    assert "m.treille: is a model, expected data" in refused(cli("train", "pos.fa", "m.treille", "--cv", "2"))
