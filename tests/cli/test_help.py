"""The help teaches by example, and the examples are real command lines."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import treille
from treille.cli.app import app

VERBS = (
    "quickstart",
    "train",
    "learn",
    "predict",
    "evaluate",
    "explain",
    "report",
    "serve",
    "inspect",
    "features",
    "gram",
    "convert",
    "completion",
)
GROUPS = {"tag": ("train", "run", "evaluate")}
COMMANDS = [(verb,) for verb in VERBS] + [(group, verb) for group, verbs in GROUPS.items() for verb in verbs]


def test_the_help_lists_every_verb_with_a_line_and_the_exit_codes(cli):
    answer = cli("--help")
    assert answer.code == 0
    assert cli().out == answer.out
    for verb in (*VERBS, *GROUPS):
        assert re.search(rf"^  {verb} +[A-Z].*\.$", answer.out, re.MULTILINE), verb
    for code in ("0", "1", "2", "3", "130"):
        assert re.search(rf"^    {code}  +\w", answer.out, re.MULTILINE), code


def test_the_version_equals_the_version_of_the_package(cli):
    assert cli("--version").out == f"treille {treille.__version__}\n"


@pytest.mark.parametrize("group", GROUPS)
def test_the_help_of_a_group_lists_its_verbs_with_a_line(cli, group):
    answer = cli(group, "--help")
    assert answer.code == 0
    assert cli(group).out == answer.out
    for verb in GROUPS[group]:
        assert re.search(rf"^  {verb} +[A-Z].*\.$", answer.out, re.MULTILINE), verb


@pytest.mark.parametrize("verb", [*COMMANDS, *((group,) for group in GROUPS)], ids=" ".join)
def test_every_verb_shows_two_to_four_examples_that_fit_a_terminal_and_name_real_options(cli, verb, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = cli(*verb, "--help").out
    shown = out.partition("Examples:\n")[2].partition("\n\n")[0]
    assert max(map(len, shown.splitlines())) <= 84
    commands = [c for c in re.sub(r"\\\n +", "", shown).splitlines() if "treille" in c]
    assert 2 <= len(commands) <= 4
    for command in commands:
        words = shlex.split(command[command.index("treille ") :])
        assert tuple(words[1 : 1 + len(verb)]) == verb
        described = out
        if verb[0] in GROUPS:
            assert tuple(words[1:3]) in COMMANDS
            described = cli(*words[1:3], "--help").out
        for option in (word for word in words if word.startswith("--")):
            assert f"  {option} " in described


def test_every_verb_offers_json_and_quiet(cli):
    assert len(app.registered_commands) == len(VERBS)
    found = {group.name: len(group.typer_instance.registered_commands) for group in app.registered_groups}
    assert found == {group: len(verbs) for group, verbs in GROUPS.items()}
    for verb in COMMANDS:
        assert "--json" in cli(*verb, "--help").out
        assert "--quiet" in cli(*verb, "--help").out


def test_the_exit_codes_in_the_documentation_equal_those_in_the_help(cli):
    page = Path(__file__).parents[2].joinpath("docs", "command-line.md").read_text()
    shown = re.findall(r"^    (\d+)  ", cli("--help").out, re.MULTILINE)
    assert re.findall(r"^\| (\d+) \|", page.partition("## Exit codes")[2], re.MULTILINE) == shown


def test_python_runs_the_package_as_the_command():
    answer = subprocess.run([sys.executable, "-m", "treille", "--version"], capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (0, f"treille {treille.__version__}\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_verb_and_option(cli, shell):
    script = cli("completion", shell).out
    for verb in (*VERBS, *GROUPS, *(verb for verbs in GROUPS.values() for verb in verbs)):
        assert verb in script
    for option in ("root-label", "max-epochs", "to-weights", "tag-column"):
        assert option in script
    assert "gappedkmer(" in script
    assert cli("completion", shell, "--json").json()["script"] == script


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["tr"], ["train"]),
        (["train", "--max"], ["--max-epochs"]),
        (["train", "x.fa", "--alphabet", ""], ["dna", "rna", "protein", "smiles"]),
        (["train", "--kernel", "gapp"], ["gappedkmer(", "gappy("]),
        (["gram", "mail"], ["mail.tsv"]),
        (["train", "--format", "c"], ["csv", "confusion", "conllu", "crfsuite"]),
        (["ta"], ["tag"]),
        (["tag", ""], ["train", "run", "evaluate", "--help"]),
        (["tag", "train", "--min"], ["--min-count"]),
        (["tag", "train", "--format", ""], ["conll", "crfsuite"]),
        (["tag", "train", "x.txt", "--direction", "b"], ["backward"]),
        (["tag", "run", "mail"], ["mail.tsv"]),
        (["tag", "run", "--max"], []),
    ],
)
def test_bash_completes(cli, tmp_path, words, offered):
    (tmp_path / "mail.tsv").write_text("")
    typed = " ".join(f"'{word}'" for word in ["treille", *words])
    run = f"{cli('completion', 'bash').out}\n"
    run += f"COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _treille; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    answer = subprocess.run(["bash", "-c", run], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert sorted(answer.stdout.split()) == sorted(offered)


def test_the_version_is_printed_without_importing_what_commands_need():
    code = "import sys, treille.cli; treille.cli.main(['--version']); print('sklearn' in sys.modules, 'typer' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == f"treille {treille.__version__}\nFalse False\n"


def test_public_names_are_there_as_if_they_had_been_imported():
    code = (
        "import treille\n"
        "assert {'SVC', 'Tagger', 'io', 'kernels'} <= {*dir(treille)} and not hasattr(treille, 'nonsense')\n"
        "assert treille.io.read and treille.SVC is treille.estimators.SVC and treille.Features.__name__ == 'Features'\n"
        "from treille import *\n"
        "assert SVC is treille.SVC and set(treille.__all__) <= set(globals())\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
