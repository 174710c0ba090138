"""The answers on the page "Serving a model" are those of the server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from serving import served

PAGE = (Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf-8")
ASKED = re.compile(
    r"^curl .*? -d '(.*?)' http://127\.0\.0\.1:8000(\S+)\n```\n\n```json\n(.*?)^```", re.MULTILINE | re.DOTALL
)


def test_the_answers_shown_are_those_of_the_server(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    variables = {}
    exec(re.search(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[1], variables)
    found = ASKED.findall(PAGE)
    assert len(found) == PAGE.count("\ncurl ") == 4
    with served(variables["model"]) as client:
        for body, path, shown in found:
            assert rounded(client.post(path, body.encode()).json()) == rounded(json.loads(shown)), (path, body)


def rounded(value):
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return pytest.approx(value, abs=2e-6) if isinstance(value, float) else value
