"""The code on every page runs, the output shown is the output, links lead somewhere, and the examples work.

A `python` block is run, and so is every line of an `sh` block, which holds calls of treille; the blocks of a page in
order, in one namespace and one empty folder. A `text` block right after one is its output. Other blocks are not run.
"""

import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import treille.cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES += sorted(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "generated")
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
COMMANDS = (
    "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/treille quickstart",
    "python3 -m venv .venv && .venv/bin/pip install '.[test]' && .venv/bin/python -m pytest",
)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def assert_commands_run(lines: str) -> None:
    for line in lines.replace("\\\n", "").splitlines():
        program, *arguments = shlex.split(line, comments=True) or ["treille", "--version"]
        assert program == "treille", f"found {line!r}; `sh` blocks hold calls of treille, others are `bash`"
        assert treille.cli.main(arguments) == 0, line


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_code_of_a_page_runs_and_prints_what_it_shows(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    module = ModuleType("a_page")
    monkeypatch.setitem(sys.modules, module.__name__, module)  # so that what a page defines can be pickled
    text = page.read_text(encoding="utf-8")
    shown_after = {block.start(): block[2] for block in BLOCK.finditer(text) if block[1] == "text"}
    for block in BLOCK.finditer(text):
        language, code = block.groups()
        if language == "python":
            lines_before = "\n" * (text.count("\n", 0, block.start()) + 1)
            exec(compile(lines_before + code, name(page), "exec"), vars(module))
        elif language == "sh":
            assert_commands_run(code)
        printed = capsys.readouterr().out
        shown = shown_after.get(block.end() + 2)  # the end of its line, and one empty line
        if language in ("python", "sh") and shown is not None:
            assert printed.rstrip() == shown.rstrip(), f"what {name(page)} shows after\n{code}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), f"{name(page)} leads to {link}"


def test_the_readme_has_the_two_commands():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("python3 -m venv")] == list(COMMANDS)


@pytest.mark.parametrize("example", EXAMPLES, ids=name)
def test_the_example_runs(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def test_the_site_builds(tmp_path):
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install '.[docs]'")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
