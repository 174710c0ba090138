"""`treille explain` for every kind of data: highlighted on a terminal, listed, as JSON and as a page."""

import json
import re

import pytest

import treille

HOSTILE = "\x1b]0;owned\x07\x1b[2J red <script>alert(1)</script> \u202ewine"
ESCAPES = re.compile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]")


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setenv("COLUMNS", "100")


def data(kind, path):
    """A file of examples of two classes, and a kernel."""
    if kind == "texts":
        path.write_text(
            "".join(json.dumps({"text": t, "label": y}) + "\n" for t, y in [("red wine", "a"), ("ale", "b")] * 3)
        )
        return "ngram(2)"
    if kind == "trees":
        rows = [{"text": "(S (NP wine) (VP flows))", "label": "a"}, {"text": "(S (NP ale))", "label": "b"}]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows * 3))
        return "subpath(0.5)"
    if kind == "graphs":
        graphs = [
            {"nodes": ["C", "O"], "edges": [[0, 1]], "label": "a"},
            {"nodes": ["N", "N"], "edges": [], "label": "b"},
        ]
        path.write_text("".join(json.dumps(graph) + "\n" for graph in graphs * 3))
        return "weisfeilerlehman(1)"
    if kind == "numbers":
        path.write_text("1 1:0.5 2:1\n-1 1:1 3:2\n" * 3)
        return "linear()"
    raise AssertionError(kind)


NEW = [[("The", "DT"), ("\x1b[31mbird", "NN"), ("sings", "VBZ")], [("A", "DT"), ("cow", "NN")]]
SUFFIX = {"texts": "jsonl", "trees": "jsonl", "graphs": "jsonl", "numbers": "svm"}


@pytest.fixture(params=SUFFIX)
def explained(request, cli, tmp_path):
    path = tmp_path / f"data.{SUFFIX[request.param]}"
    kernel = data(request.param, path)
    answer = cli("train", path, "--kernel", kernel, "--model", "m.treille")
    assert answer.code == 0, answer.err
    return request.param, path


def test_every_kind_is_listed_written_as_json_and_as_a_page(explained, cli, tmp_path):
    kind, path = explained
    answer = cli("explain", "m.treille", path, "--examples", "2", "--html", "page.html")
    assert answer.code == 0, answer.err
    assert answer.out.count("score ") == 2
    page = (tmp_path / "page.html").read_text()
    assert page.count('<section class="explanation">') == 2
    assert ("<svg" in page) == (kind in ("trees", "graphs"))
    found = cli("explain", "m.treille", path, "--json").json()["explanations"]
    assert len(found) == 6
    for each in found:
        total = sum(each["contributions"]) + each["intercept"] + each["base"]
        assert total == pytest.approx(each["score"])
        assert len(each["parts"]) == len(each["contributions"])


def test_trees_are_indented_and_coloured_on_a_terminal(cli, tmp_path, terminal):
    kernel = data("trees", tmp_path / "data.jsonl")
    assert cli("train", "data.jsonl", "--kernel", kernel, "--model", "m.treille").code == 0
    out = cli("explain", "m.treille", "data.jsonl", "--examples", "1").out
    plain = re.sub("\x1b\\[[0-9;]*m", "", out)
    assert "  S" in plain
    assert re.search(r"^    NP [+-]0\.\d+$", plain, re.M)
    assert re.search(r"^      wine [+-]0\.\d+$", plain, re.M)
    assert re.search("\x1b\\[[0-9;]*48;", out)  # a background


def test_residues_are_highlighted_on_a_terminal_and_listed_in_runs(cli, tmp_path, terminal):
    (tmp_path / "data.tsv").write_text("text\tlabel\n" + "ACGTTGCAACGTAAAA\ta\nTTTTGGGGTTTTGGGG\tb\n" * 4)
    answer = cli("train", "data.tsv", "--alphabet", "dna", "--kernel", "ngram(3)", "--model", "m.treille")
    assert answer.code == 0, answer.err
    out = re.sub("\x1b\\[[0-9;]*m", "", cli("explain", "m.treille", "data.tsv", "--examples", "1").out)
    assert "ACGTTGCAACGTAAAA" in out


def test_escape_sequences_in_data_do_not_reach_the_terminal_or_the_page(cli, tmp_path, terminal):
    rows = [{"id": f"{HOSTILE}{i}", "text": f"{HOSTILE} {i}", "label": f"{HOSTILE}{i % 2}"} for i in range(8)]
    (tmp_path / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert cli("train", "data.jsonl", "--kernel", "ngram(1, unit=word)", "--model", "m.treille").code == 0
    answer = cli("explain", "m.treille", "data.jsonl", "--html", "page.html")
    assert answer.code == 0, answer.err
    assert not ESCAPES.search(re.sub("\x1b\\[[0-9;]*m", "", answer.out))
    assert "\x1b[2J" not in answer.out + answer.err
    page = (tmp_path / "page.html").read_text()
    assert not ESCAPES.search(page)
    assert "<script" not in page


def test_lattices_are_listed_by_arc_and_drawn(cli, tmp_path):
    line = "((('{}', 0.75, 1), ('{}', 0.25, 1)),)"
    for i, words in enumerate([("vine", "wine"), ("ale", "pale")] * 3):
        (tmp_path / ("ab"[i % 2])).mkdir(exist_ok=True)
        (tmp_path / "ab"[i % 2] / f"{i}.plf").write_text(line.format(*words))
    options = ("--weights", "prob", "--kernel", "ngram(1, unit=word)")
    answer = cli("train", tmp_path / "a", tmp_path / "b", *options, "--model", "m.treille")
    assert answer.code == 0, answer.err
    answer = cli("explain", "m.treille", tmp_path / "a", "--html", "page.html")
    assert answer.code == 0, answer.err
    assert "vine" in answer.out
    assert "<svg" in (tmp_path / "page.html").read_text()


@pytest.fixture
def tagger(tmp_path):
    X = [[("The", "DT"), ("cat", "NN"), ("sleeps", "VBZ")], [("A", "DT"), ("dog", "NN"), ("barks", "VBZ")]]
    treille.Tagger(min_count=1).fit(X, [["B-NP", "I-NP", "O"]] * 2).save(tmp_path / "tags.treille")
    (tmp_path / "new.txt").write_text("".join("".join(f"{w} {p}\n" for w, p in each) + "\n" for each in NEW))
    return tmp_path / "tags.treille"


def test_tokens_of_sentences_are_listed_with_their_tags_and_features(cli, tagger, tmp_path):
    answer = cli("explain", tagger, "new.txt", "--top", "2", "--html", "page.html")
    assert answer.code == 0, answer.err
    assert "sentence 1: 3 tokens" in answer.out
    assert re.search(r"The·DT +B-NP \+\d", answer.out)
    assert "\x1b" not in answer.out
    page = (tmp_path / "page.html").read_text()
    assert page.count("<details>") == 5
    assert "\x1b" not in page
    found = cli("explain", tagger, "new.txt", "--json").json()["sentences"]
    assert [[token["tag"] for token in each["tokens"]] for each in found] == treille.load(tagger).predict(NEW)
    assert cli("explain", tagger, "new.txt", "--examples", "1").out.count("sentence ") == 1


def test_a_tagger_has_no_class_to_choose(cli, tagger):
    answer = cli("explain", tagger, "new.txt", "--class", "O")
    assert answer.code == 2
    assert "the tags that it gives are explained" in answer.err


def test_a_page_does_not_replace_a_model_or_the_data(cli, tagger, tmp_path):
    assert cli("explain", tagger, "new.txt", "--html", "new.txt").code == 1
    assert cli("explain", tagger, "new.txt", "--html", tagger).code == 1
    assert (tmp_path / "new.txt").read_text().startswith("The DT")
