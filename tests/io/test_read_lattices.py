"""Lattices as examples: recognition of formats, labels, folders, globs, archives, and the note on how a file was read."""

import gzip
import json
import tarfile
import zipfile

import pytest
from random_machines import strings, tiny

from public_sets import data_folder
from treille.io import InputError, read
from treille.io.lattices import TITLES, write_lattices
from treille.io.machine import MachineParts

VINE, WINE = "((('vine', -0.5, 1), ('vines', -0.9, 1),),)", "((('wine', 0, 1),),)"


def words(examples):
    return [machine.words() for machine in examples.X.machines]


def test_plf_lines_with_and_without_labels(tmp_path):
    path = tmp_path / "a.plf"
    path.write_text(f"{VINE}\n\n{WINE}\n")
    examples = read(path)
    assert words(examples) == [["vine", "vines"], [], ["wine"]]
    assert examples.note == (
        f"{path}: 3 lattices (1 empty), PLF (guessed from its name), weights = log-probabilities"
        " (recognised by their values, -0.9 to 0),"
        " no labels"
    )
    assert len(examples) == len(examples.X) == 3
    assert examples.lines == [1, 2, 3]
    other = tmp_path / "a.txt"
    other.write_text(f"good\t{VINE}\nbad\t{WINE}\n")
    examples = read(other, labelled=True)
    assert examples.labels == ["good", "bad"]
    assert "PLF (guessed from its content)" in examples.note
    assert read(other, labelled=False).labels is None
    with pytest.raises(InputError, match="there are no labels, expected one for every lattice"):
        read(path, labelled=True)


def test_plf_in_a_field_of_json_lines_or_of_a_table(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    records = [{"id": f"u{i}", "plf": text, "en": en} for i, (text, en) in enumerate([(VINE, "A vine?"), (WINE, "")])]
    path.write_bytes(gzip.compress("".join(json.dumps(record) + "\n" for record in records).encode()))
    examples = read(path, label=r"en~\?$")
    assert examples.labels == [r"matching \?$", r"not matching \?$"]
    assert [m.name for m in examples.X.machines] == ["u0", "u1"]
    assert r"label = en, matching \?$ (1) against the rest" in examples.note
    assert examples.fields == ["id", "plf", "en"]
    assert words(read(path, format="plf", text="plf")) == words(examples)
    with pytest.raises(InputError, match="there is no field 'lattice' for the text"):
        read(path, format="plf", text="lattice")
    table = tmp_path / "a.tsv"
    table.write_text(f"label\tlattice\ngood\t{VINE}\n")
    assert read(table, format="plf", text="lattice").labels == ["good"]
    bare = tmp_path / "b.tsv"
    bare.write_text(f"good\t{VINE}\nbad\t{WINE}\n")
    assert read(bare).labels == ["good", "bad"]


def test_a_text_field_is_not_taken_for_lattices(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "plf is a format", "plf": "((("}\n')
    assert isinstance(read(path, text="text").X, list)
    assert read(path).X == ["plf is a format"]


def test_json_lines_of_arcs_with_labels_and_in_a_field(tmp_path):
    path = tmp_path / "a.jsonl"
    machine = {"arcs": [[0, "vine", 0.5, 1]], "finals": {"1": 1.0}}
    path.write_text(json.dumps(machine | {"label": "good"}) + "\n")
    examples = read(path)
    assert (examples.format, examples.labels, words(examples)) == ("arcs", ["good"], [["vine"]])
    path.write_text(json.dumps({"lattice": machine, "label": "good"}) + "\n")
    assert words(read(path, format="arcs", text="lattice")) == [["vine"]]


FILES = {
    "plf": VINE.replace("vines", "vine"),
    "slf": "VERSION=1.0\nN=2 L=1\nI=0\nI=1 W=vine\nJ=0 S=0 E=1 a=-1\n",
    "kaldi": "utt\n0 1 vine 1,2,\n1\n\n",
    "mesh": "numaligns 1\nalign 0 vine 1\n",
    "confusion": "vine 1\n",
    "openfst-text": "0 1 vine vine 0.5\n1\n",
    "arcs": '{"arcs": [[0, "vine", 0.5, 1]], "finals": {"1": 1.0}}\n',
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.plf", "plf"),
        ("a.slf", "slf"),
        ("a.lat", "slf"),
        ("a.lat", "kaldi"),
        ("a.ark", "kaldi"),
        ("a.mesh", "mesh"),
        ("a.cn", "confusion"),
        ("a.fst", "openfst-text"),
        ("a.fst.txt", "openfst-text"),
        ("a.jsonl", "arcs"),
        ("a.txt", "plf"),
        ("a.txt", "slf"),
        ("a.txt", "arcs"),
    ],
)
def test_formats_are_recognised_by_name_or_content_and_reported(tmp_path, name, kind):
    path = tmp_path / name
    path.write_text(FILES[kind])
    examples = read(path)
    assert examples.format == kind
    assert f"{TITLES[kind]} (guessed from its " in examples.note
    assert set(words(examples)[0]) == {"vine"}
    assert words(read(path, format=kind)) == words(examples)
    assert "guessed" not in read(path, format=kind).note


def test_a_binary_is_known_whatever_its_name_and_on_standard_input(tmp_path, monkeypatch):
    import io
    import sys

    write_lattices(tmp_path / "a.fst.gz", [tiny()])
    data = gzip.decompress((tmp_path / "a.fst.gz").read_bytes())
    (tmp_path / "a.bin").write_bytes(data)
    assert read(tmp_path / "a.fst.gz").format == read(tmp_path / "a.bin").format == "openfst"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert words(read("-")) == [["vine"]]


def test_a_folder_a_glob_and_archives_give_the_same_with_folders_as_labels(tmp_path):
    top = tmp_path / "lattices"
    for name, word in (("good/b.slf", "vine"), ("good/a.slf.gz", "grape"), ("bad/c.slf", "wine")):
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        text = FILES["slf"].replace("vine", word).encode()
        (top / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    (top / "README").write_text("Lattices\n")
    (top / ".hidden").write_text("")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive, tarfile.open(tmp_path / "a.tar.gz", "w:gz") as tar:
        for path in sorted(top.rglob("*")):
            archive.write(path, path.relative_to(tmp_path))
            tar.add(path, path.relative_to(tmp_path), recursive=False)
    for path in (top, top / "*" / "*.slf*", tmp_path / "a.zip", tmp_path / "a.tar.gz"):
        examples = read(path, labelled=True)
        assert words(examples) == [["wine"], ["grape"], ["vine"]]
        assert examples.labels == ["bad", "good", "good"]
        assert "3 lattices, HTK SLF (guessed from its name), in 3 files" in examples.note
        assert "label = folder" in examples.note
        assert len({id(machine.input_symbols) for machine in examples.X.machines}) == 1
    assert read(top, labelled=False).labels is None
    with pytest.raises(InputError, match="HTK SLF have no labels: put the files into folders"):
        read(top / "good", labelled=True)


def test_globs_find_folders_next_to_each_other_from_anywhere(tmp_path, monkeypatch):
    for name in ("good/a.plf", "bad/b.plf", "other/c.txt"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(VINE)
    monkeypatch.chdir(tmp_path)
    assert read("*/*.plf").labels == ["bad", "good"]
    monkeypatch.chdir(tmp_path / "good")
    assert read("../*/*.plf").labels == ["bad", "good"]
    assert read("../bad/*.plf").labels is None
    with pytest.raises(InputError, match="holds no file"):
        read("*.slf")


def test_files_with_labels_beside_files_without_are_refused(tmp_path):
    (tmp_path / "a.plf").write_text(f"good\t{VINE}\n")
    (tmp_path / "b.plf").write_text(f"{VINE}\n")
    with pytest.raises(InputError, match="some files have labels and others none"):
        read(tmp_path)


@pytest.mark.parametrize("label", ["en~(", "en~[z-a]"])
def test_an_expression_that_is_none_is_refused(tmp_path, label):
    (tmp_path / "a.jsonl").write_text('{"text": "a", "en": "b"}\n')
    with pytest.raises(InputError, match="not a regular expression"):
        read(tmp_path / "a.jsonl", label=label)


def test_expressions_look_into_texts_numbers_and_lists(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a", "y": ["grain", "corn"]}\n{"text": "b", "y": 1987}\n')
    assert read(tmp_path / "a.jsonl", label="y~^(corn|19)").labels == ["matching ^(corn|19)"] * 2
    (tmp_path / "b.jsonl").write_text('{"text": "a", "y": null}\n')
    with pytest.raises(InputError, match="the label is missing"):
        read(tmp_path / "b.jsonl", label="y~a")


def test_several_files_of_plf_are_understood_together(tmp_path):
    for name, number in (("good/a.plf", "1"), ("bad/b.plf", "0.25")):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(f"((('vine', {number}, 1),),)\n")
    examples = read(tmp_path)
    assert "weights = probabilities (recognised by their values, 0.25 to 1)" in examples.note
    assert examples.labels == ["bad", "good"]


def test_transducers_are_read_by_their_outputs(tmp_path):
    path = tmp_path / "a.ark"
    path.write_text("utt\n0 1 17 vine 1,2\n1\n\n")
    examples = read(path)
    assert "words = outputs" in examples.note
    assert [x for x, _, _ in examples.X[0].paths()] == [("vine",)]
    assert examples.X.acceptors()[0].words() == ["vine"]
    assert not examples.X.machines[0].is_acceptor


def test_a_symbol_table_names_the_labels(tmp_path):
    (tmp_path / "words.txt").write_text("<eps> 0\nvine 1\n")
    (tmp_path / "a.fst").write_text("0 1 1 1 0.5\n1\n")
    assert words(read(tmp_path / "a.fst", symbols=tmp_path / "words.txt")) == [["vine"]]


def test_written_lattices_are_read_back(tmp_path):
    several = [tiny(["vine", "s"], [0.5, 0.5]), tiny(["wine"], [0.25])]
    for name, kind in (("a.plf", None), ("a.ark", None), ("a.mesh", None), ("a.cn.gz", None), ("a.jsonl", None)):
        assert write_lattices(tmp_path / name, several, kind) == [tmp_path / name]
        back = read(tmp_path / name)
        assert [strings(one) for one in back.X.machines] == [pytest.approx(strings(one)) for one in several], name
    for kind in ("openfst", "openfst-text", "slf"):
        write_lattices(tmp_path / kind, several, kind)
        back = read(tmp_path / kind, format=kind)
        assert [strings(one) for one in back.X.machines] == [pytest.approx(strings(one)) for one in several], kind
    named = [MachineParts.nothing("a/b"), MachineParts.nothing("c")]
    assert [path.name for path in write_lattices(tmp_path / "named", named, "slf")] == ["a_b.slf", "c.slf"]


def lattice_set(name):
    top = data_folder()
    if top is None or not (top / name).is_dir():
        pytest.skip(f"TREILLE_DATA names no folder that holds {name}")
    return top / name


def test_the_fisher_lattices_are_read_as_documented():
    examples = read(lattice_set("fisher_callhome_lattices"), label=r"en~\?$")
    assert len(examples) == 17_376
    assert sum(machine.n_states == 0 for machine in examples.X.machines) == 78
    assert sum(len(machine.weights) for machine in examples.X.machines) == 570_748
    assert examples.labels.count(r"matching \?$") == 1_766
    assert "weights = log-probabilities (recognised by their values, -8.697 to 4.986e-05)" in examples.note


def test_the_ami_lattices_are_read_and_written():
    from treille.io import slf

    for machine in read(lattice_set("ami_htk_lattices")).X.machines:
        back = slf.parse(slf.format_machine(machine), "a.slf")
        assert back.words() == machine.words()
        assert back.weights.tolist() == machine.weights.tolist()


KALDI = "utt-1\n0 1 vine 4.5,-20.0,1_2\n0 1 wine 4.5,-10.0,\n1 0.5,0.25,\n\n"
SLF = "acscale=2 lmscale=14 wdpenalty=-1\nN=2 L=1\nI=0\nI=1\nJ=0 S=0 E=1 W=vine a=-30 l=-2\n"


def scaled(path, scale):
    examples = read(path, scale=scale)
    return examples.X.machines[0], examples.note


@pytest.mark.parametrize("scale", [{"acoustic": 0.1}, "acoustic=0.1", "acoustic = 0.1, language=1"])
def test_scores_that_a_format_names_are_scaled_by_name(tmp_path, scale):
    (tmp_path / "a.ark").write_text(KALDI)
    lattice, note = scaled(tmp_path / "a.ark", scale)
    assert lattice.weights.tolist() == [2.5, 3.5]
    assert lattice.final_weights.tolist() == [0.525]
    assert "weights = costs (as the format has them), 0.1 * acoustic + 1 * language, no labels" in note
    write_lattices(tmp_path / "b.ark", [lattice])
    assert read(tmp_path / "b.ark").X.machines[0].scores["acoustic"].tolist() == [-2.0, -1.0]
    (tmp_path / "a.slf").write_text(SLF)
    assert scaled(tmp_path / "a.slf", scale)[0].weights.tolist() == [5.0]  # scales and penalty of the file do not count


@pytest.mark.parametrize("scale", [0.1, "0.1"])
def test_a_number_scales_all_costs_of_any_format(tmp_path, scale):
    for name, text, weights in (
        ("a.ark", KALDI, [-1.55, -0.55]),
        ("a.slf", SLF, [8.9]),
        ("a.plf", "((('vine', -5, 1),),)\n", [0.5]),
        ("a.fst.txt", "0 1 vine vine 5\n1\n", [0.5]),
    ):
        (tmp_path / name).write_text(text)
        lattice, note = scaled(tmp_path / name, scale)
        assert lattice.weights.tolist() == pytest.approx(weights)
        assert ", times 0.1, no labels" in note


def test_scales_without_effect_or_meaning_are_refused(tmp_path):
    (tmp_path / "a.plf").write_text("((('vine', 0.5, 1),),)\n")
    (tmp_path / "a.ark").write_text(KALDI)
    (tmp_path / "a.txt").write_text("so\n")
    for name, scale, message in (
        ("a.plf", 0.1, r"a\.plf, line 1: scale is for costs"),
        ("a.plf", "acoustic=0.1", r"scale names 'acoustic', but .*a\.plf, line 1 has no such scores: it has none"),
        ("a.ark", {"lm": 2}, r"a\.ark, lattice 0 has no such scores: it has 'language', 'acoustic'"),
        ("a.ark", "acoustic:0.1", "scale is 'acoustic:0.1', expected a number, or one for each score"),
        ("a.ark", "lm=1,lm=2", "scale is 'lm=1,lm=2', expected each score once"),
        ("a.ark", 0, "scale is 0, expected a positive number"),
        ("a.txt", 0.1, "holds no lattices, for which --scale is"),
    ):
        with pytest.raises(InputError, match=message):
            read(tmp_path / name, scale=scale)
