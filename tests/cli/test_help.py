"""The help teaches by example, and the examples are real command lines."""

import re
import shlex

import pytest

import treille
from treille.cli import app

VERBS = ("quickstart", "train", "predict", "evaluate", "inspect", "features", "gram", "convert")


def test_the_help_lists_every_verb_with_a_line_and_the_exit_codes(cli):
    answer = cli("--help")
    assert answer.code == 0
    assert cli().out == answer.out
    for verb in VERBS:
        assert re.search(rf"^  {verb} +[A-Z].*\.$", answer.out, re.MULTILINE), verb
    for code in ("0", "1", "2", "3", "130"):
        assert re.search(rf"^    {code}  +\w", answer.out, re.MULTILINE), code


def test_the_version_is_the_package_s(cli):
    assert cli("--version").out == f"treille {treille.__version__}\n"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_shows_two_to_four_examples_that_fit_a_terminal_and_name_real_options(cli, verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = cli(verb, "--help").out
    shown = out.partition("Examples:\n")[2].partition("\n\n")[0]
    assert max(map(len, shown.splitlines())) <= 84
    commands = [c for c in re.sub(r"\\\n +", "", shown).splitlines() if "treille" in c]
    assert 2 <= len(commands) <= 4
    for command in commands:
        words = shlex.split(command[command.index("treille ") :])
        assert words[1] == verb
        for option in (word for word in words if word.startswith("--")):
            assert f"  {option} " in out


def test_every_verb_offers_json(cli):
    assert len(app.registered_commands) == len(VERBS)
    for verb in VERBS:
        assert "--json" in cli(verb, "--help").out
