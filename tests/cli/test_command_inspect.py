"""treille inspect: models and data files."""

from pathlib import Path

import treille


def test_a_model_shows_its_kernel_classes_report_and_heaviest_features(cli, model):
    answer = cli("inspect", model, "--top", 3)
    assert answer.code == 0
    for said in (
        "kernel:   ngram(3).normalized()",
        "classes:  red, white",
        "converged, duality gap",
        "overlapping ones joined",
    ):
        assert said in answer.out
    assert "cherries" in answer.out
    value = cli("inspect", model, "--top", 3, "--json").json()
    assert value["kind"] == "model"
    top = treille.load(model).top_features(3)
    assert {label: [(f["feature"], f["weight"]) for f in each] for label, each in value["telling"].items()} == top


def test_a_model_is_recognised_by_its_content(cli, model):
    model.rename("model.bin")
    assert cli("inspect", "model.bin", "--json").json()["kind"] == "model"


def test_a_model_shows_who_wrote_it_and_what_it_reads(cli, model):
    value = cli("inspect", model, "--json").json()
    assert (value["format"], value["treille"]) == (2, treille.__version__)
    assert value["reads"] == treille.load(model).reads_.spec()
    assert (
        f"written:  by treille {treille.__version__}, format 2; reads strings or lattices split by "
        in cli("inspect", model).out
    )
    old = Path(__file__).parents[1] / "golden" / "tagger_v1.treille"
    assert "written:  format 1; reads sentences\n" in cli("inspect", old).out


def test_inspecting_a_data_file_shows_how_it_would_be_read(cli, wines):
    answer = cli("inspect", wines)
    assert answer.code == 0
    for said in ("fields:   text, label", "white (40, 66.7%), red (20, 33.3%)", "characters, median", "alphabet:"):
        assert said in answer.out
    assert answer.out.count("  red  ") == 3
    value = cli("inspect", wines, "--json").json()
    assert (value["kind"], value["examples"], value["format"]) == ("data", 60, "csv")
    assert value["lengths"]["max"] == len("a white wine number 10 of green apples")


def test_white_space_is_visible_and_long_examples_are_cut(cli):
    Path("t.jsonl").write_text('{"text": "one\\ntwo\\tthree' + " four" * 100 + '"}\n')
    out = cli("inspect", "t.jsonl").out
    assert "one↵two⇥three four" in out
    assert "…" in out
    assert max(map(len, out.splitlines())) <= 120


def test_standard_input_and_every_format_can_be_inspected(cli):
    for name, content in (("a.tsv", "label\ttext\nx\tabc\n"), ("a.fa", ">x\nACGT\n"), ("a.txt", "abc\n")):
        Path(name).write_text(content)
        assert cli("inspect", name).code == 0
    assert cli("inspect", "-", "--json", stdin=b"abc\nabd\n").json()["examples"] == 2


def test_options_for_data_are_refused_for_a_model_and_options_for_models_for_data(cli, model, wines):
    for words in (("--label", "x"), ("--skip-unlabelled",)):
        answer = cli("inspect", model, *words)
        assert (answer.code, f"{words[0]}: is for data, and FILE is a model" in answer.err) == (2, True)
    answer = cli("inspect", wines, "--top", 10)
    assert (answer.code, "--top: is for models, and FILE holds data" in answer.err) == (2, True)
