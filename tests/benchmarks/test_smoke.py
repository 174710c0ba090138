"""Every benchmark runs, at a size of seconds: a table that cannot be generated again is not a measurement."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from public_sets import data_folder

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = sorted(
    path for path in FOLDER.rglob("*.py") if "__main__" in path.read_text(encoding="utf-8")
)  # the others are imported by these


@pytest.fixture(scope="module")
def smoke():
    """Runs a script; the process that does so has imported treille once for all of them."""
    if data_folder() is None:
        pytest.skip("needs public data: set TREILLE_DATA to its folder")
    command = [sys.executable, str(Path(__file__).with_name("smoke_runner.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as runner:

        def run(script):
            runner.stdin.write(f"{script}\n")
            runner.stdin.flush()
            return json.loads(runner.stdout.readline())

        yield run
        runner.stdin.close()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(FOLDER)))
def test_a_benchmark_runs_and_prints_its_table(script, smoke):
    answer = smoke(script)
    assert answer["code"] == 0, answer["output"][-3000:]
    assert "|---|" in answer["output"] or "is not installed" in answer["output"]


def test_there_are_benchmarks():
    assert len(SCRIPTS) > 15
