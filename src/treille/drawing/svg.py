"""Elements of SVG: text made safe, estimates of its width, parts with their shares, and the document around them."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

FONT = 13  # pixels
LONGEST = 24  # characters of a label; the rest is in its hint
HINT = 400  # characters of a hint
MARKS = {" ": "·", "\n": "↵", "\t": "⇥"}
NARROW, BROAD = set("iljtfrI.,:;'|!()[]{} "), set("mwMW@%&—")
# Colours of a picture that is shown by itself, as notebooks do; inside a page, it has those of the page.
ALONE = (
    "<style>.treille-alone{color:#1b1b1b;background:#fff}"
    "@media(prefers-color-scheme:dark){.treille-alone{color:#ececec;background:#1b1b1b}}</style>"
)


@dataclass(frozen=True)
class Shares:
    """The shares of the parts of a picture, from -1 to 1, and their hints; both may be None."""

    values: Sequence[float] | np.ndarray | None = None
    hints: Sequence[str] | None = None

    def __bool__(self) -> bool:
        return self.values is not None

    def sizes(self, n: int) -> np.ndarray:
        """The absolute value of each of n shares; zeros without shares."""
        if self.values is None:
            return np.zeros(n)
        if len(self.values) != n or (self.hints is not None and len(self.hints) != n):
            raise ValueError(f"there are {len(self.values)} shares for {n} parts, expected one, and one hint, for each")
        return np.abs(np.asarray(self.values, float))

    def attributes(self, part: int) -> str:
        """The class of a part, and its share as a property: for an opening tag.

        >>> Shares([0.25, -1]).attributes(1)
        ' class="against" style="--share: 1.00"'
        """
        share = 0.0 if self.values is None else float(self.values[part])
        if share == 0:
            return ""
        return f' class="{"for" if share > 0 else "against"}" style="--share: {min(abs(share), 1.0):.2f}"'

    def title(self, part: int, text: str) -> str:
        """The hint of a part: its text in full, and its contribution."""
        return hint(text if self.hints is None else f"{text}: {self.hints[part]}")


def visible(text: str, blanks: bool = True) -> str:
    """A text with marks for its white space (for blanks only if `blanks`), and escapes for unprintable characters.

    >>> visible("if x:\\n\\ty\\x00"), visible("a line\\n", blanks=False)
    ('if·x:↵⇥y\\\\x00', 'a line↵')
    """
    marks = MARKS if blanks else MARKS | {" ": " "}
    return "".join(marks.get(c) or (c if c.isprintable() else repr(c)[1:-1]) for c in text)


def clipped(text: str, longest: int = LONGEST) -> str:
    """The beginning of a text, readable, with an ellipsis where it was cut."""
    full = visible(text[: longest + 1], blanks=False)
    return full if len(full) <= longest else full[: longest - 1] + "…"


def text_width(text: str, size: float = FONT) -> float:
    """About how many pixels wide a text is in a sans-serif font.

    >>> text_width("wine") < text_width("wines") < text_width("酒酒酒酒")
    True
    """
    return size * sum(map(_em, text))


def _em(c: str) -> float:
    if unicodedata.east_asian_width(c) in "WF":
        return 1.05
    if unicodedata.combining(c):
        return 0.0
    return 0.34 if c in NARROW else 0.92 if c in BROAD else 0.7 if c.isupper() else 0.58


def number(value: float) -> str:
    """A coordinate, short."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def hint(text: str) -> str:
    """What the browser shows for an element under the pointer."""
    return f"<title>{escape(clipped(text, HINT))}</title>"


def label(x: float, y: float, text: str, size: float = FONT, anchor: str = "middle", more: str = "") -> str:
    """A text, vertically centred at y."""
    place = f'x="{number(x)}" y="{number(y + 0.35 * size)}"'
    sized = "" if size == FONT else f' font-size="{number(size)}"'
    anchored = "" if anchor == "middle" else f' text-anchor="{anchor}"'
    return f"<text {place}{sized}{anchored}{more}>{escape(visible(text, blanks=False))}</text>"


def box(x: float, y: float, width: float, height: float, radius: float = 6, more: str = "") -> str:
    """A rectangle with round corners around (x, y), without a line and a colour."""
    place = (
        f'x="{number(x - width / 2)}" y="{number(y - height / 2)}" width="{number(width)}" height="{number(height)}"'
    )
    return f'<rect {place} rx="{number(radius)}" fill="none"{more}/>'


def arrow(x: float, y: float, dx: float, dy: float, size: float = 7) -> str:
    """An arrowhead whose tip is at (x, y), in the direction (dx, dy)."""
    norm = float(np.hypot(dx, dy)) or 1.0
    u, v = size * dx / norm, size * dy / norm
    points = ((x, y), (x - u - v / 2.2, y - v + u / 2.2), (x - u + v / 2.2, y - v - u / 2.2))
    return '<polygon class="head" points="' + " ".join(f"{number(a)},{number(b)}" for a, b in points) + '"/>'


def document(width: float, height: float, body: Sequence[str], title: str, note: str = "", alone: bool = False) -> str:
    """The picture. `note` says below it what was left out; `alone` gives it colours of its own."""
    if note:
        body = [*body, label(10, height + 8, note, 12, "start", ' class="note"')]
        width, height = max(width, text_width(note, 12) + 20), height + 22
    width = max(width, 20)
    size = f'viewBox="0 0 {number(width)} {number(height)}" width="{number(width)}" height="{number(height)}"'
    size += f' style="--width: {number(width)}px"'
    kind = "treille-drawing treille-alone" if alone else "treille-drawing"
    text = f'font-family="system-ui, sans-serif" font-size="{FONT}" text-anchor="middle" fill="currentColor"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="img" {size} {text} stroke-width="1">'
    return "".join([head, hint(title), ALONE if alone else "", *body, "</svg>"])
