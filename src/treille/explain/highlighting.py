"""Explanations as HTML: contributions as colours on the example itself, without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from treille.data import Batch, Strings
from treille.data.format import clipped, visible
from treille.explain.characters import on_characters, text_of
from treille.io.units import TextUnit

if TYPE_CHECKING:
    from treille.explain.explanation import Explanation
    from treille.explain.tagged_sentence import Decision

MOST_BARS, MOST_CHARACTERS, BLOCK = 30, 3000, 200
LONGEST_NAME = 120  # of a part, in a table
STEPS = 20  # of the strength of a colour on a text: more cannot be distinguished, and make pages long
RESIDUES, SHORTEST = set("ACGTUN"), 8  # a text of at least this many of these letters is DNA or RNA
ROW, MOST_ROWS = 30, 24  # letters of a row, two of which fit beside each other on a wide screen; rows of a logo
# In units of the viewBox: the step and the width of a letter, the left margin, the height of the highest letter.
STEP, WIDTH, MARGIN, HEIGHT = 10.0, 9.4, 30.0, 46.0
SIZE, CAPITAL = 10.0, 0.72  # of the font, and the height of its capitals as a share of it
LEAST = 0.4  # lower letters are not drawn


def highlighted(found: Explanation, label: Any = None) -> str:
    """The example with a colour for each part: one kind speaks for the class, by default the predicted one, another against it.

    Texts are highlighted by character, residues are a logo, trees, graphs and lattices are drawn, anything else is a table. Large
    examples are shown in part, with a note. The fragment contains no style: `stylesheet` returns it. A part's strength, from
    0 to 1, is its property `--share`.
    """
    values = found.contributions(label)
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    if found.by_support:
        head = note("training examples, by what their similarity to this example contributes")
        return _fragment([head, bars(list(zip(found.names, values.tolist(), strict=True)), most)])
    if not len(values):
        base = " and the base" * bool(any(found.base))
        return _fragment([note(f"an example without parts: its score is the intercept{base}")])
    text = text_of(found)
    placed = None if text is None else on_characters(text, found, values)
    if text is not None and placed is not None:
        return _fragment([_sequence(text, placed, found.leaves[0][0] if len(found.leaves) == 1 else None)])
    columns, first, pieces = found.columns or (("", len(values)),), 0, []
    for k, (name, size) in enumerate(columns):
        own = slice(first, first + size)
        leaf = found.leaves[k] if k < len(found.leaves) else None
        if found.columns:
            pieces.append(f'<p class="column">{escape(visible(name, blanks=False))}</p>')
        pieces.append(_column(found.names[own], values[own], most, leaf))
        first += size
    return _fragment(pieces)


def highlighted_sentence(
    tokens: Sequence[Any],
    tags: Sequence[str],
    truth: Sequence[str] | None = None,
    decisions: Sequence[Decision] | None = None,
    count: int = MOST_BARS,
) -> str:
    """A tagged sentence: every token with its tag, and up to `count` of the features behind it on demand, if they are known.

    With the true tags, `truth`, those that differ are marked.
    """
    nothing = [None] * len(tokens)
    each = zip(tokens, tags, nothing if truth is None else truth, decisions or nothing, strict=True)
    items = [_token(*token, count) for token in each]
    return _fragment([f'<ol class="sentence">{"".join(items)}</ol>'])


def stylesheet() -> str:
    """The style of highlights, for a page: all its rules are for elements inside ``.highlighted``."""
    return (Path(__file__).parent / "templates" / "highlighting.css").read_text("utf-8")


def bars(parts: Sequence[tuple[str, float]], most: float | None = None, count: int = MOST_BARS) -> str:
    """A table of the parts that contribute most, by size: name, bar, number.

    >>> bars([("red", 0.5), ("ale", -0.25)]).count("<tr")
    2
    """
    largest = sorted(parts, key=lambda part: -abs(part[1]))[:count]
    shown = [(name, value) for name, value in largest if value]
    if not shown:
        return note("no part of it is known to the model")
    most = most or abs(shown[0][1])
    rows = "".join(
        f'<tr {_attributes(value, most)}><th scope="row">{escape(clipped(visible(name, blanks=len(name) == 1), LONGEST_NAME))}'
        f'</th><td class="strip"><i></i></td><td class="amount">{value:+.3g}</td></tr>'
        for name, value in shown
    )
    rest = sum(value != 0 for _, value in parts) - len(shown)
    more = note(f"and {rest:,} more, which contribute less") if rest > 0 else ""
    return f'<table class="contributions"><tbody>{rows}</tbody></table>{more}'


def note(text: str) -> str:
    """A remark below a highlighting."""
    return f'<p class="note">{escape(text)}</p>'


def _fragment(pieces: Sequence[str]) -> str:
    return f'<div class="highlighted">{"".join(pieces)}</div>'


def _attributes(value: float, most: float) -> str:
    return f'class="{"for" if value > 0 else "against"}" style="--share: {min(abs(value) / most, 1.0):.2f}"'


def _column(names: list[str], values: np.ndarray, most: float, leaf: tuple[Batch, int] | None) -> str:
    """Highlights the parts of one column in the way of its data kind."""
    batch, i = leaf or (None, 0)
    if isinstance(batch, Strings) and len(names):
        joint = " " if TextUnit.of(batch.unit).separator else ""
        if not joint and all(len(name) == 1 for name in names):
            return _sequence("".join(names), values, batch)
        pieces = [(visible(name, blanks=False), float(v)) for name, v in zip(names, values, strict=True)]
        return _tokens(pieces, most, joint)
    if batch is not None and len(names):
        drawing = batch.svg(i, values / most, [f"{value:+.3g}" for value in values])
        if drawing is not None:
            return f'<div class="scroll" tabindex="0" role="group" aria-label="{batch.title}">{drawing}</div>'
    return bars(list(zip(names, values.tolist(), strict=True)), most)


def _sequence(text: str, values: np.ndarray, batch: Batch | None) -> str:
    """A text, or a logo if the text consists of residues."""
    if not isinstance(batch, Strings) or batch.unit != "char" or len(text) < SHORTEST:
        return _text(text, values)
    is_logo = set(text.upper()) <= RESIDUES if batch.residues is None else batch.residues != "smiles"
    return logo(text, values) if is_logo else _text(text, values)


def logo(letters: str, values: np.ndarray) -> str:
    """Letters as high as they contribute, upwards for a class, downwards against it, in rows that fit any width.

    Of a long sequence, the rows that contribute most are shown.

    >>> logo("ACGT", np.array([0.5, -0.25, 0.0, 0.0])).count("--share")
    2
    """
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    starts = range(0, len(letters), ROW)
    weights = [-float(np.abs(values[a : a + ROW]).sum()) for a in starts]
    kept = sorted(np.argsort(weights, kind="stable")[:MOST_ROWS].tolist())
    up, down = (HEIGHT * float((sign * values).max(initial=0.0)) / most for sign in (1, -1))
    rows = [_logo_row(letters, values, starts[k], most, up, down) for k in kept]
    drawn = f'<div class="logo">{"".join(rows)}</div>'
    if len(kept) == len(starts):
        return drawn
    return (
        f'{drawn}<p class="note">{len(kept):,} of {len(starts):,} rows of {ROW} letters: those that contribute most</p>'
    )


def _logo_row(letters: str, values: np.ndarray, start: int, most: float, up: float, down: float) -> str:
    own, axis = letters[start : start + ROW], up + 2
    width, height = MARGIN + ROW * STEP, axis + down + 14
    drawn = []
    for k, (letter, value) in enumerate(zip(own, values[start : start + ROW].tolist(), strict=True)):
        tall = HEIGHT * abs(value) / most
        if tall < LEAST:
            continue
        side, foot = ("for", axis) if value > 0 else ("against", axis + tall)
        place = f"matrix(1 0 0 {tall / (SIZE * CAPITAL):.3f} {MARGIN + k * STEP:.0f} {foot:.2f})"
        hint = f"<title>{escape(letter)} at {start + k + 1:,}: {value:+.3g}</title>"
        drawn.append(
            f'<text class="{side}" style="--share: {abs(value) / most:.2f}" transform="{place}" textLength="{WIDTH}"'
            f' lengthAdjust="spacingAndGlyphs">{hint}{escape(letter)}</text>'
        )
    places = " ".join(f"{MARGIN + (k + 0.47) * STEP:.1f}" for k in range(len(own)))
    line = f'<path class="axis" d="M{MARGIN:.0f} {axis:.2f}H{MARGIN + len(own) * STEP:.0f}"/>'
    number = f'<text class="place" x="{MARGIN - 4:.0f}" y="{axis + 3:.2f}">{start + 1:,}</text>'
    bases = f'<text class="letters" x="{places}" y="{height - 3:.2f}">{escape(own)}</text>'
    title = f"<title>letters {start + 1:,} to {start + len(own):,}</title>"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:.0f} {height:.2f}"'
        f' font-size="{SIZE:.0f}" fill="currentColor">{title}{line}{number}{bases}{"".join(drawn)}</svg>'
    )


def _text(text: str, values: np.ndarray) -> str:
    """A text by character; of a long one, the blocks that contribute most."""
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    starts = list(range(0, len(text), BLOCK))
    sums = np.add.reduceat(np.abs(values), starts)
    kept = set(np.argsort(-sums, kind="stable")[: MOST_CHARACTERS // BLOCK].tolist())
    pieces = []
    for whole, group in groupby(range(len(starts)), key=kept.__contains__):
        blocks = list(group)
        a, b = starts[blocks[0]], min(starts[blocks[-1]] + BLOCK, len(text))
        pieces.append(_runs(text[a:b], values[a:b], most) if whole else f'<i class="gap">… {b - a:,} characters …</i>')
    shown = note(f"{MOST_CHARACTERS:,} of {len(text):,} characters: those that contribute most")
    return f'<div class="text">{"".join(pieces)}</div>{shown if len(kept) < len(starts) else ""}'


def _runs(text: str, values: np.ndarray, most: float) -> str:
    """Runs of characters of about one strength as one element, with their sum as a hint."""
    steps = np.round(STEPS * values / most).astype(int)
    cuts = [0, *(np.flatnonzero(np.diff(steps)) + 1).tolist(), len(text)]
    sums = np.add.reduceat(values, cuts[:-1]).tolist()
    pieces = []
    for (a, b), step, total in zip(pairwise(cuts), steps[cuts[:-1]].tolist(), sums, strict=True):
        shown = escape("\n".join(visible(line, blanks=False) for line in text[a:b].split("\n")))  # ends of lines stay
        side = _attributes(step / STEPS, 1.0)
        pieces.append(f'<span {side} title="{total:+.2g}">{shown}</span>' if step else shown)
    return "".join(pieces)


def _tokens(pieces: Sequence[tuple[str, float]], most: float, joint: str) -> str:
    limit = MOST_CHARACTERS // 4
    kept = set(np.argsort([-abs(value) for _, value in pieces], kind="stable")[:limit].tolist())
    shown = []
    for text, value in (pieces[k] for k in sorted(kept)):
        coloured = f'<span {_attributes(value, most)} title="{value:+.3g}">{escape(text)}</span>'
        shown.append(coloured if abs(value) >= 0.005 * most else escape(text))
    more = note(f"{limit:,} of {len(pieces):,} symbols: those that contribute most") if len(pieces) > limit else ""
    return f'<div class="text">{joint.join(shown)}</div>{more}'


def _token(token: Any, tag: str, true: str | None, why: Decision | None, count: int) -> str:
    word, *others = _words(token)
    plain = " plain" if tag in ("O", "_") else ""
    wrong = " wrong" if true is not None and true != tag else ""
    head = f'<span class="word">{escape(word)}</span> <b class="tag{plain}">{escape(visible(tag))}</b>'
    if wrong:
        head += f' <span class="tag">true: {escape(visible(str(true)))}</span>'
    if why is None:
        return f'<li class="token{wrong}">{head}</li>'
    more = f" <small>{escape(' '.join(others))}</small>" if others else ""
    table = bars(why.parts(), count=count)
    largest = [part for part in why.conjunctions(count) if " & " in part.name]
    if largest:
        table += note("conjunctions of features") + bars(largest, count=count)
    text = note(f"{why.tag}: score {why.scores[0]:+.3g}, intercept {why.intercept[0]:+.3g}; features:")
    details = f"<details><summary>{head}</summary><div>{more}{text}{table}</div></details>"
    return f'<li class="{wrong.strip()}">{details}</li>'


def _words(token: Any) -> list[str]:
    """The word of a token, and its other columns; or its first features."""
    parts = [token] if isinstance(token, str) else token
    return [visible(clipped(part, LONGEST_NAME), blanks=False) for part in parts[:6]] or ["(none)"]
