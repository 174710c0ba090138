"""Small tables of HTML, for notebooks."""

from collections.abc import Mapping, Sequence
from html import escape

from treille.drawing.svg import clipped

LONGEST = 2000  # characters of a cell
STYLE = (
    "<style>.treille-facts{border-collapse:collapse;margin:.3em 0}.treille-facts caption{text-align:left;font-weight:600}"
    ".treille-facts th,.treille-facts td{text-align:left;vertical-align:top;padding:.1em 1em .1em 0;overflow-wrap:anywhere}"
    ".treille-facts th{font-weight:400;opacity:.75;white-space:nowrap}</style>"
)


def facts(title: str, rows: Mapping[str, str]) -> str:
    """A table of names and values; empty values are left out.

    >>> facts("plan", {"kernel": "a < b", "space": ""}).removeprefix(STYLE)
    '<table class="treille-facts"><caption>plan</caption><tr><th scope="row">kernel</th><td>a &lt; b</td></tr></table>'
    """
    cells = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(clipped(said, LONGEST))}</td></tr>'
        for name, said in rows.items()
        if said
    )
    return f'{STYLE}<table class="treille-facts"><caption>{escape(title)}</caption>{cells}</table>'


def table(summary: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that opens on demand."""

    def row(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(clipped(cell, LONGEST))}</{tag}>" for cell in cells) + "</tr>"

    body = row("th", header) + "".join(row("td", each) for each in rows)
    return f'<details><summary>{escape(summary)}</summary><table class="treille-facts">{body}</table></details>'
