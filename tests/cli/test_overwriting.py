"""No command destroys a file that it was not meant to write."""

import pytest


def refused(answer):
    assert (answer.code, answer.out) == (1, ""), answer
    assert "--force" in answer.err
    return answer.err


@pytest.mark.parametrize("name", ["wines.csv", "./wines.csv", "link.csv"])
def test_a_model_does_not_replace_the_data(cli, wines, name):
    (wines.parent / "link.csv").symlink_to(wines)
    before = wines.read_bytes()
    assert "is an input of this command" in refused(cli("train", "wines.csv", "--model", name))
    assert wines.read_bytes() == before


def test_a_model_does_not_replace_the_test_file_or_the_labels(cli, wines):
    (wines.parent / "test.csv").write_text(wines.read_text())
    (wines.parent / "labels").write_text("x\n")
    assert "is an input" in refused(cli("train", "wines.csv", "--test", "test.csv", "--model", "test.csv"))
    assert "is an input" in refused(cli("train", "wines.csv", "--labels", "labels", "--model", "labels"))


@pytest.mark.parametrize("content", [b"my thesis", b"", b"\x10\0\0\0\0\0\0\0{}"])
def test_a_model_replaces_models_only(cli, wines, model, content):
    path = wines.with_name("thesis.tex")
    path.write_bytes(content)
    assert "exists and is no treille model" in refused(cli("train", wines, "--model", path))
    assert path.read_bytes() == content
    assert cli("train", wines, "--model", path, "--force").code == 0
    assert cli("train", wines, "--model", path).code == 0
    assert cli("train", wines, "--model", model).code == 0


@pytest.mark.parametrize(
    "words",
    [
        ["predict", "wines.treille", "wines.csv", "--output", "wines.csv"],
        ["predict", "wines.treille", "wines.csv", "--output", "wines.treille"],
        ["evaluate", "wines.treille", "wines.csv", "--output", "wines.csv"],
        ["gram", "K.libsvm", "--kernel", "linear()", "--output", "K.libsvm"],
        ["gram", "wines.csv", "--labels", "K.labels.txt", "--output", "K.npy"],
        ["features", "K.features.tsv", "--text", "2", "--output", "K.npz"],
        ["convert", "a.plf", "a.plf"],
        ["predict", "wines.treille", "docs", "--output", "docs/a.txt"],
        ["predict", "wines.treille", "wi*.csv", "--output", "wines.csv"],
    ],
)
def test_no_output_replaces_an_input_or_a_model(cli, wines, model, words):
    files = {"K.libsvm": "1 1:1\n2 2:1\n", "K.labels.txt": "r\n" * 60, "K.features.tsv": "1\tabcdef\n2\tcdefgh\n"}
    files |= {"a.plf": "((('vine', -0.51, 1),),)\n"}
    wines.with_name("docs").mkdir()
    files["docs/a.txt"] = "a red wine"
    for name, text in files.items():
        (wines.parent / name).write_text(text)

    def held():
        return {path: path.read_bytes() for path in wines.parent.rglob("*") if path.is_file()}

    before = held()
    refused(cli(*words))
    assert held() == before
    answer = cli(*words, "--force")
    assert answer.code == 0, answer.err


def test_results_replace_earlier_results(cli, wines, model):
    for _ in range(2):
        assert cli("predict", model, wines, "--output", "labels.txt").code == 0
        assert cli("gram", wines, "--kernel", "ngram(2)", "--output", "K.npy").code == 0


def test_lattices_are_not_converted_onto_themselves(cli, tmp_path):
    (tmp_path / "lat").mkdir()
    (tmp_path / "lat" / "a.plf").write_text("((('vine', -0.51, 1),),)\n")
    assert "is the input of this command" in refused(cli("convert", "lat", "lat", "--to", "openfst"))


def test_the_report_of_quickstart_replaces_reports_only(cli, tmp_path):
    (tmp_path / "thesis.html").write_text("<title>my thesis")
    assert "is no report of treille" in refused(cli("quickstart", "--report", "thesis.html"))
    assert (tmp_path / "thesis.html").read_text() == "<title>my thesis"
