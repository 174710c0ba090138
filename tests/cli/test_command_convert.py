"""treille convert, and treille inspect on its output."""

import json
from pathlib import Path

import pytest

from treille.io import read

PLF = "((('vine', -0.5, 1), ('vines', -0.9, 1),),)\n()\n((('wine', 0, 1),),(('s', 0, 1),),)\n"


@pytest.fixture
def plf(tmp_path):
    path = tmp_path / "dev.plf"
    path.write_text(PLF)
    return path


@pytest.mark.parametrize("name", ["dev.ark", "dev.jsonl.gz", "dev.mesh", "other.plf"])
def test_lattices_are_converted_and_both_formats_are_reported(cli, plf, name):
    answer = cli("convert", plf, name)
    assert answer.code == 0, answer.err
    assert "3 lattices (1 empty), PLF (guessed from its name), weights = log-probabilities" in answer.err
    assert answer.out.startswith(f"3 lattices written to {name}, ")
    back = read(name)
    assert [sorted(machine.words()) for machine in back.X.machines] == [["vine", "vines"], [], ["s", "wine"]]


def test_formats_of_one_machine_a_file_fill_a_folder(cli, plf):
    value = cli("convert", plf, "dev", "--to", "openfst", "--json").json()
    assert value == {
        "lattices": 3,
        "from": "plf",
        "to": "openfst",
        "written": ["dev/000000.fst", "dev/000001.fst", "dev/000002.fst"],
    }
    assert cli("convert", "dev", "back.plf", "--quiet").out == ""
    assert [len(machine.words()) for machine in read("back.plf").X.machines] == [2, 0, 2]


def test_weights_fields_and_symbols_follow_the_options(cli):
    Path("a.jsonl").write_text(json.dumps({"lattice": "((('1', 0.5, 1),),)"}) + "\n")
    flags = ("--from", "plf", "--text", "lattice", "--weights", "prob", "--to-weights", "prob")
    assert cli("convert", "a.jsonl", "a.plf", *flags).code == 0
    assert Path("a.plf").read_text() == "((('1', 0.5, 1),),)\n"
    Path("words.txt").write_text("<eps> 0\nvine 1\n")
    Path("a.fst").write_text("0 1 7 1 0.5\n1\n")
    Path("b.ark").write_text("utt\n0 1 7 1 1,2\n1\n\n")
    assert cli("convert", "b.ark", "b.plf", "--symbols", "words.txt").code == 0
    assert Path("b.plf").read_text() == "((('vine', -3.0, 1),),)\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["dev.plf", "dev.doc"], 1, "has the suffix of no format of lattices; name one format with --to"),
        (["dev.plf", "a.plf", "--from", "fsm"], 2, "'fsm' is none of plf, openfst"),
        (["dev.plf", "a.plf", "--to-weights", "odds"], 2, "odds"),
        (["dev.plf", "absent/a.plf"], 1, "the folder absent does not exist"),
        (["absent.plf", "a.plf"], 1, "absent.plf: no such file"),
        (["text.csv", "a.plf"], 1, "does not look like lattices; name their format with --from"),
        (["dev.plf", "a.cn"], 1, "lattice 1: is empty"),
        (["dev.plf", "a.ark", "--to-weights", "prob"], 1, "Kaldi lattices hold costs, not probabilities"),
    ],
)
def test_mistakes_are_named(cli, plf, words, code, said):
    Path("text.csv").write_text("text,label\na,b\n")
    answer = cli("convert", *words)
    assert (answer.code, said in answer.err) == (code, True), answer.err


def test_inspect_shows_states_arcs_paths_and_totals(cli, plf):
    answer = cli("inspect", plf)
    assert answer.code == 0, answer.err
    for said in ("states:   0 to 3, median 2", "arcs:     0 to 2, median 2", "paths:    0 to 2, median 1", "1 empty"):
        assert said in answer.out, answer.out
    assert "words:    4 distinct" in answer.out
    assert "  wine s" in answer.out
    assert "  (no arcs)" in answer.out
    value = cli("inspect", plf, "--json").json()
    assert (value["format"], value["empty"], value["cyclic"], value["with_epsilons"]) == ("plf", 1, 0, 0)
    assert value["total"]["max"] == 0.0


def test_inspect_shows_cycles_and_totals_that_diverge_and_very_many_paths(cli):
    Path("a.fst").write_text("0 0 a a 0.5\n0 1 <eps> <eps>\n1\n")
    out = cli("inspect", "a.fst").out
    assert "1 with cycles, 1 with empty arcs" in out
    assert "paths:" not in out
    assert "total:    -0.9328 (-log of the sum over paths)" in out  # 1 / (1 - exp(-1/2))
    Path("b.fst").write_text("0 0 a a -0.5\n0\n")
    assert "1 with a total that diverges" in cli("inspect", "b.fst").out
    Path("c.cn").write_text("a 0.5 b 0.5\n" * 2000)
    assert "paths:    10^602" in cli("inspect", "c.cn").out
    assert cli("inspect", "c.cn", "--json").json()["paths"]["max"] == "10^602"


def test_inspect_names_the_totals_of_each_semiring(cli):
    arcs = '"arcs": [[0, "a", 1.0, 1], [0, "b", 2.0, 1]], "finals": {"1": 0.5}'
    Path("a.jsonl").write_text(f'{{"semiring": "tropical", {arcs}}}\n')
    assert "total:    1.5 (cost of the best path)" in cli("inspect", "a.jsonl").out
    Path("b.jsonl").write_text("".join(f'{{"semiring": "{each}", {arcs}}}\n' for each in ("tropical", "log", "real")))
    answer = cli("inspect", "b.jsonl")
    for said in (
        "total, log: 1.187 (-log of the sum over paths)",
        "total, real: 1.5\n",
        "total, tropical: 1.5 (cost of the best",
    ):
        assert said in answer.out
    assert "best:     0.6667 to 0.7311, median 0.7311 of the mass on the best path" in answer.out
    assert cli("inspect", "b.jsonl", "--json").json()["total, real"]["max"] == 1.5


TU = {"A": "1, 2\n2, 1\n", "graph_indicator": "1\n1\n2\n", "graph_labels": "a\nb\n", "node_labels": "6\n8\n6\n"}


@pytest.mark.parametrize(
    "words", [["mols.jsonl"], ["mols.txt", "--to", "graphs"], ["mols.graphs.jsonl.gz", "--from", "tu"]]
)
def test_graphs_are_converted_into_json_lines_with_their_labels(cli, tmp_path, words):
    (tmp_path / "mols").mkdir()
    for name, text in TU.items():
        (tmp_path / "mols" / f"DS_{name}.txt").write_text(text)
    answer = cli("convert", "mols", *words)
    assert answer.code == 0, answer.err
    assert "2 examples, TU set DS" in answer.err
    assert answer.out == f"2 graphs written to {words[0]}, JSON lines of graphs\n"
    back = read(words[0])
    assert (back.labels, back.X.alphabet, back.X.labels.tolist()) == (["a", "b"], ["6", "8"], [0, 1, 0])
    assert cli("convert", "mols", *words, "--force", "--json").json()["graphs"] == 2


def test_graphs_are_not_written_as_lattices_nor_lattices_as_graphs(cli, plf):
    Path("a.jsonl").write_text('{"nodes": ["C"], "edges": []}\n')
    assert "a.jsonl: does not look like lattices" in cli("convert", "a.jsonl", "a.plf").err
    assert "dev.plf: does not look like graphs" in cli("convert", plf, "b.jsonl", "--to", "graphs").err


def test_lattices_are_written_to_standard_output_and_not_to_files_called_minus(cli, plf, tmp_path):
    before = sorted(tmp_path.iterdir())
    to_file, to_pipe = cli("convert", plf, "some.jsonl"), cli("convert", plf, "-", "--to", "arcs")
    assert to_file.code == to_pipe.code == 0
    assert to_pipe.out == (tmp_path / "some.jsonl").read_text()
    assert "written to standard output" in to_pipe.err
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "some.jsonl"])
    several = cli("convert", plf, "-", "--to", "openfst-text")
    assert (several.code, several.out) == (1, "")
    assert "one machine per file" in several.err
    assert cli("convert", plf, "-", "--to", "arcs", "--json").code == 2


@pytest.mark.parametrize(
    "words",
    [
        ["train", "wines.csv", "--model", "-"],
        ["train", "wines.csv", "--model", "m.treille", "--report", "-"],
        ["explain", "wines.treille", "wines.csv", "--html", "-"],
        ["evaluate", "wines.treille", "wines.csv", "--output", "-"],
        ["report", "wines.treille", "wines.csv", "--output", "-"],
    ],
)
def test_commands_that_cannot_write_to_standard_output_say_so(cli, model, tmp_path, words):
    answer = cli(*words)
    assert answer.code == 1
    assert "cannot be written to standard output: name a file" in answer.err
    assert not (tmp_path / "-").exists()
