"""Contributions on residues as a logo: letters as high as they contribute, upwards for a class, downwards against it."""

from html import escape

import numpy as np

ROW, MOST_ROWS = 30, 24  # letters of a row, two of which fit beside each other on a wide screen; rows of a logo
# In units of the viewBox: of a letter; on the left; the highest letter.
STEP, WIDTH, MARGIN, HEIGHT = 10.0, 9.4, 30.0, 46.0
SIZE, CAPITAL = 10.0, 0.72  # of the font, and the height of its capitals as a share of it
LEAST = 0.4  # lower letters are not drawn


def logo(letters: str, values: np.ndarray) -> str:
    """The letters in rows that fit any width; of a long sequence, the rows that contribute most.

    >>> logo("ACGT", np.array([0.5, -0.25, 0.0, 0.0])).count("--share")
    2
    """
    most = float(np.abs(values).max(initial=0.0)) or 1.0
    starts = range(0, len(letters), ROW)
    weights = [-float(np.abs(values[a : a + ROW]).sum()) for a in starts]
    kept = sorted(np.argsort(weights, kind="stable")[:MOST_ROWS].tolist())
    up, down = (HEIGHT * float((sign * values).max(initial=0.0)) / most for sign in (1, -1))
    rows = [_row(letters, values, starts[k], most, up, down) for k in kept]
    drawn = f'<div class="logo">{"".join(rows)}</div>'
    if len(kept) == len(starts):
        return drawn
    return (
        f'{drawn}<p class="note">{len(kept):,} of {len(starts):,} rows of {ROW} letters: those that contribute most</p>'
    )


def _row(letters: str, values: np.ndarray, start: int, most: float, up: float, down: float) -> str:
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
