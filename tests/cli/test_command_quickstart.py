"""treille quickstart: it runs, and so do the commands that it suggests."""

import re
import shlex
from html.parser import HTMLParser
from pathlib import Path

import pytest

from treille.cli import quickstart
from treille.datasets import functions


@pytest.fixture
def few(monkeypatch):
    """Fewer functions, so that the tests are fast."""
    monkeypatch.setattr(quickstart, "KINDS", quickstart.KINDS[:1])
    monkeypatch.setattr(quickstart, "functions", lambda: functions(["json", "logging", "email"], per_package=60))


def test_it_prints_the_table_and_the_features_and_writes_all_files(cli, few):
    answer = cli("quickstart")
    assert answer.code == 0
    header, row = answer.out.splitlines()[:2]
    assert header.split() == list(quickstart.HEADER)
    assert row.startswith("strings  default  ")
    assert "logging" in answer.out
    names = {path.name for path in Path("treille-quickstart").iterdir()}
    assert names == {"strings.train.jsonl", "strings.test.jsonl", "strings.treille", "report.html"}


def test_its_models_are_better_than_guessing_and_have_converged(cli):
    kinds = cli("quickstart", "--json").json()["kinds"]
    assert [kind["kind"] for kind in kinds] == [kind.name for kind in quickstart.KINDS]
    for kind in kinds:
        assert kind["accuracy"] > 0.75
        assert len(kind["classes"]) >= 5
        assert kind["status"] == "converged"


def test_the_three_commands_that_it_suggests_run_unchanged(cli, few):
    commands = cli("quickstart", "--folder", "my vines", "--json").json()["next"]
    assert len(commands) == 3
    for command in commands:
        program, *words = shlex.split(command.partition("|")[0])
        assert program == "treille"
        answer = cli(*words)
        assert answer.code == 0, answer.err


@pytest.mark.parametrize("kind", quickstart.KINDS[1:], ids=lambda kind: kind.name)
def test_the_files_of_every_kind_are_read_by_the_other_commands(cli, monkeypatch, kind):
    monkeypatch.setattr(quickstart, "KINDS", (kind,))
    monkeypatch.setattr(quickstart, "functions", lambda: functions(["json", "logging", "email"], per_package=60))
    accuracy = cli("quickstart", "--folder", "q", "--json").json()["kinds"][0]["accuracy"]
    evaluated = cli("evaluate", f"q/{kind.name}.treille", f"q/{kind.name}.test.jsonl", "--json")
    assert evaluated.json()["accuracy"] == pytest.approx(accuracy)
    trained = cli("train", f"q/{kind.name}.train.jsonl", "--model", "m.treille", "--json")
    assert trained.code == 0, trained.err


def test_the_report_page_is_valid_and_loads_no_other_files(cli, few):
    assert cli("quickstart", "--report", "page.html").code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert not any(asked in page for asked in (" src=", "@import", "url(http"))
    assert set(re.findall(r'href="(.)', page)) == {"#"}
    assert "<bdi>logging</bdi>" in page
    assert "TF-IDF" in page
    open_tags = []

    class Check(HTMLParser):
        def handle_starttag(self, tag, attrs):
            if tag not in ("meta", "br", "input"):
                open_tags.append(tag)

        def handle_endtag(self, tag):
            assert open_tags.pop() == tag

    Check().feed(page)
    assert open_tags == []


def test_a_folder_that_cannot_be_made_is_reported_in_one_sentence(cli):
    Path("taken").write_text("")
    answer = cli("quickstart", "--folder", "taken")
    assert answer.code == 1
    assert answer.err.startswith("treille: error: taken: File exists")
