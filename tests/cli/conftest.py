"""The command line, called in this process in an empty folder."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from treille.cli import main


@dataclass(frozen=True)
class Answer:
    """The output of a command, and its exit code."""

    code: int
    out: str
    err: str

    def json(self) -> dict[str, Any]:
        """The single object on standard output."""
        return json.loads(self.out)


Cli = Callable[..., Answer]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Calls `treille` with these words, in an empty folder, with `stdin` as standard input."""
    monkeypatch.chdir(tmp_path)

    def call(*words: object, stdin: bytes | None = None) -> Answer:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = main([str(word) for word in words])
        return Answer(code, *capsys.readouterr())

    return call


@pytest.fixture
def wines(tmp_path: Path) -> Path:
    """A CSV file of 60 texts of two classes, a third of them red, with an odd one out in each."""
    rows = [f"a red wine number {i} of dark cherries,red" for i in range(20)]
    rows += [f"a white wine number {i} of green apples,white" for i in range(40)]
    rows[3], rows[30] = "a white wine of green apples,red", "a red wine of dark cherries,white"
    path = tmp_path / "wines.csv"
    path.write_text("\n".join(["text,label", *rows]) + "\n")
    return path


@pytest.fixture
def model(cli: Cli, wines: Path) -> Path:
    """A model of the wines."""
    answer = cli("train", wines, "--kernel", "ngram(3).normalized()", "--model", "wines.treille")
    assert answer.code == 0, answer.err
    return wines.with_name("wines.treille")
