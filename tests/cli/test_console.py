"""The output of commands on terminals, in pipes, and as JSON."""

import io
import random

import pytest
from rich.console import Console

from treille.cli import console
from treille.cli.console import Printer, aligned
from treille.data.format import clipped, visible


@pytest.fixture
def terminal(monkeypatch):
    """The output on a terminal of 40 columns."""
    stream = io.StringIO()
    screen = Console(file=stream, force_terminal=True, width=40, color_system=None)
    monkeypatch.setattr(console, "_console", lambda stderr=False: screen)
    return stream


LONG = "a sentence that is a good deal longer than forty columns"


def test_words_are_wrapped_on_a_terminal(terminal):
    Printer().print(LONG)
    assert max(map(len, terminal.getvalue().splitlines())) <= 40


def test_output_to_a_pipe_is_never_wrapped(capsys):
    Printer().print(LONG * 5)
    assert capsys.readouterr().out == LONG * 5 + "\n"


def test_text_to_be_pasted_is_never_wrapped(terminal):
    Printer().print(LONG, wrap=False)
    assert terminal.getvalue() == LONG + "\n"


def test_a_field_keeps_its_column(terminal):
    Printer().field("kernel", LONG)
    first, *others = terminal.getvalue().splitlines()
    assert first.startswith("kernel:   a sentence")
    assert all(line.startswith(" " * 10) and line[10] != " " for line in others)


def test_cells_fill_lines_and_keep_their_margin(terminal):
    Printer().fill("acq", ["acqui 2.49"] * 5, margin=5)
    lines = terminal.getvalue().splitlines()
    assert lines == ["acq  acqui 2.49  acqui 2.49  acqui 2.49", "     acqui 2.49  acqui 2.49"]


def test_brackets_and_colons_in_data_are_printed_as_they_are(capsys):
    Printer().print("[bold]x[/bold] :smile: [/]")
    assert capsys.readouterr().out == "[bold]x[/bold] :smile: [/]\n"


def test_json_takes_standard_output_for_itself(capsys):
    printer = Printer(json=True)
    printer.print("hidden")
    printer.table(["a"], [["b"]])
    printer.note("a note")
    printer.result({"é": 1})
    out, err = capsys.readouterr()
    assert (out, err) == ('{"\\u00e9": 1}\n', "a note\n")


def test_columns_line_up_whatever_the_width_of_their_characters():
    assert aligned([["x", "1"], ["漢字", "22"]]) == ["x      1", "漢字  22"]
    assert clipped("漢字漢字", 5) == "漢字…"
    assert visible("a b\u00a0\x1b[0m") == "a·b\\xa0\\x1b[0m"


def test_errors_are_one_message_on_standard_error(capsys):
    console.fail("no")
    assert capsys.readouterr() == ("", "treille: error: no\n")


def test_warnings_of_the_library_are_messages_without_lines_of_source(cli, tmp_path):
    random.seed(0)
    rows = ["".join(random.choices("ACGT", k=30)) for _ in range(40)]
    (tmp_path / "a.tsv").write_text("label\ttext\n" + "".join(f"{i % 2}\t{row}\n" for i, row in enumerate(rows)))
    answer = cli("train", "a.tsv", "--stream", "--model", "m.treille")
    assert answer.code == 0
    assert "treille: warning: the letters of these texts are those of DNA" in answer.err
    assert ".py" not in answer.err
    assert "warnings.warn" not in answer.err
