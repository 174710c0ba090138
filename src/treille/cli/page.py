"""The report of `treille quickstart`: one self-contained page of HTML."""

from collections.abc import Mapping, Sequence
from html import escape

from treille.data.format import legend, visible

STYLE = """
:root { color-scheme: light dark }
:root { --ink: #1d2a22; --paper: #fbfaf6; --line: #d9d5c7; --vine: #3d6b35; --leaf: 61 107 53 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7e6df; --paper: #161a17; --line: #39403a; --vine: #9cc68d; --leaf: 156 198 141 }
}
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
body { max-width: 56rem; margin: 3rem auto; padding: 0 1.2rem }
h1, h2 { font-weight: 600; line-height: 1.2 }
h1 { color: var(--vine) }
h2 { margin-top: 2.4rem; font-size: 1.2rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .45rem .8rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top }
th { font-weight: 600 }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
code { font-family: ui-monospace, monospace; font-size: .9em }
.gram { display: inline-block; padding: 0 .4em; margin: .1rem .25rem .1rem 0; border-radius: .25em }
.gram { white-space: pre-wrap; overflow-wrap: anywhere }
pre { padding: .8rem 1rem; border: 1px solid var(--line); border-radius: .4rem; overflow-x: auto }
small { opacity: .75 }
"""


def page(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    telling: Mapping[str, Mapping[str, Sequence[tuple[str, float]]]],
    commands: Sequence[str],
) -> str:
    """The table of runs, the telling features of every kind's classes, and commands to try."""
    features = "".join(
        f"<h2>Most telling features of the packages: functions as {escape(kind)}</h2>{_features(each)}"
        for kind, each in telling.items()
    )
    shown = (name for each in telling.values() for grams in each.values() for name, _ in grams)
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>treille quickstart</title>
<style>{STYLE}</style>
<h1>treille quickstart</h1>
<p>Which package of the Python standard library does a function come from? Each model was trained on three quarters of
the functions and scored on the rest. The gap proves how far, at most, its objective is from the best there is.</p>
<div class="wide"><table>{_row("th", header)}{"".join(_row("td", row) for row in rows)}</table></div>
{features}
<p><small>The stronger the colour, the more telling{escape(legend(shown))}.</small></p>
<h2>Try next</h2>
<pre><code>{escape(chr(10).join(commands))}</code></pre>
</html>
"""


def _row(tag: str, cells: Sequence[str]) -> str:
    """A row of the table: two columns of words, then numbers."""
    cells = [f"<{tag}{' class=number' * (i > 1)}>{escape(cell)}</{tag}>" for i, cell in enumerate(cells)]
    return f"<tr>{''.join(cells)}</tr>"


def _features(telling: Mapping[str, Sequence[tuple[str, float]]]) -> str:
    most = max((weight for features in telling.values() for _, weight in features), default=1.0)
    rows = (
        f"<tr><td>{escape(label)}</td><td>{_grams(features, most)}</td></tr>" for label, features in telling.items()
    )
    return f'<div class="wide"><table>{"".join(rows)}</table></div>'


def _grams(features: Sequence[tuple[str, float]], most: float) -> str:
    return "".join(
        f'<code class="gram" style="background: rgb(var(--leaf) / {0.05 + 0.45 * weight / most:.2f})"'
        f' title="weight {weight:.3f}">{escape(visible(name))}</code>'
        for name, weight in features
    )
