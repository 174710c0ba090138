"""Plots as inline SVG. The page sets colours, widths and fonts by class: see `templates/report.css`."""

from collections.abc import Iterable, Sequence
from math import ceil, floor, isfinite, log10
from typing import NamedTuple

import numpy as np
from markupsafe import Markup, escape

WIDTH, HEIGHT = 440, 320
LEFT, RIGHT, TOP, BOTTOM = 70, 14, 12, 44
MOST_POINTS = 300  # of a line: more do not show


class Line(NamedTuple):
    """A line of a plot: its class, which decides about its colour, and its points."""

    style: str
    x: Sequence[float]
    y: Sequence[float]


class Axis(NamedTuple):
    """One axis: its title, the range of its values, and whether it is logarithmic."""

    title: str
    low: float
    high: float
    log: bool = False

    def place(self, values: Sequence[float], first: float, last: float) -> list[float]:
        """The positions of values on an axis that is drawn from `first` to `last`."""
        low, high = self._ends()
        inside = np.clip(np.asarray(values, float), self.low, self.high)
        shares = ((np.log10(inside) if self.log else inside) - low) / (high - low)
        return (first + shares * (last - first)).tolist()

    def ticks(self) -> list[float]:
        """Round values, about five."""
        low, high = self._ends()
        if self.log and high - low >= 1:
            step = max(1, round((high - low) / 5))
            return [10.0**e for e in range(ceil(low - 1e-9), floor(high + 1e-9) + 1, step)]
        if self.log:
            return Axis(self.title, self.low, self.high).ticks()
        return round_values(low, high)

    def _ends(self) -> tuple[float, float]:
        return (log10(self.low), log10(self.high)) if self.log else (self.low, self.high)


def axis_of(title: str, values: Iterable[float], log: bool = False) -> Axis:
    """An axis that shows all of these values, with some space around them.

    >>> axis_of("seconds", [0.0, 2.0])
    Axis(title='seconds', low=0.0, high=2.1, log=False)
    """
    found = [v for v in values if isfinite(v)] or [0.0, 1.0]
    low, high = min(found), max(found)
    if log:
        return Axis(title, low / 1.2, high * 1.2, True)
    space = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return Axis(title, low - space if low else 0.0, high + space)


def round_values(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten in a range.

    >>> round_values(0, 1)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    rough = (high - low) / about
    if not isfinite(rough) or rough <= 0:
        return [low]
    power = 10.0 ** floor(log10(rough))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= 0.999 * rough)
    return [round(i * step, 12) for i in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


def plot(
    title: str, x: Axis, y: Axis, lines: Sequence[Line], *, points: bool = False, diagonal: bool = False
) -> Markup:
    """Lines, or points, on two axes; `diagonal` adds the line of equal values."""
    ends = [max(x.low, y.low), min(x.high, y.high)]
    parts = [_grid(x, y), *([_drawn(Line("diagonal", ends, ends), x, y, False)] if diagonal else [])]
    parts += [_drawn(line, x, y, points) for line in lines]
    return Markup('<svg class="plot" viewBox="0 0 {} {}" role="img"><title>{}</title>{}</svg>').format(
        WIDTH, HEIGHT, title, Markup("").join(parts)
    )


def tick_text(value: float) -> str:
    """A number under an axis.

    >>> [tick_text(v) for v in (0.0, 0.25, 1500.0, 2e7, 1e-5)]
    ['0', '0.25', '1,500', '2e+07', '1e-05']
    """
    if value and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.3g}"
    return f"{value:,.10f}".rstrip("0").rstrip(".")


def thinned(x: np.ndarray, y: np.ndarray) -> tuple[list[float], list[float]]:
    """At most `MOST_POINTS` points of a curve, spread evenly along it."""
    if len(x) <= MOST_POINTS:
        return x.tolist(), y.tolist()
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    kept = np.unique(np.searchsorted(along, np.linspace(0, along[-1], MOST_POINTS)))
    return x[kept].tolist(), y[kept].tolist()


def _grid(x: Axis, y: Axis) -> Markup:
    left, right, top, bottom = LEFT, WIDTH - RIGHT, TOP, HEIGHT - BOTTOM
    parts = []
    for value, at in zip(x.ticks(), x.place(x.ticks(), left, right), strict=True):
        parts.append(f'<path class="grid" d="M{at:.1f} {top}V{bottom}"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 17}" text-anchor="middle">{tick_text(value)}</text>')
    for value, at in zip(y.ticks(), y.place(y.ticks(), bottom, top), strict=True):
        parts.append(f'<path class="grid" d="M{left} {at:.1f}H{right}"/>')
        parts.append(f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{tick_text(value)}</text>')
    parts.append(f'<path class="axis" d="M{left} {top}V{bottom}H{right}"/>')
    middle, across = (left + right) / 2, (top + bottom) / 2
    parts.append(f'<text class="title" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x.title)}</text>')
    turned = f'x="11" y="{across}" text-anchor="middle" transform="rotate(-90 11 {across})"'
    parts.append(f'<text class="title" {turned}>{escape(y.title)}</text>')
    return Markup("".join(parts))


def _drawn(line: Line, x: Axis, y: Axis, points: bool) -> Markup:
    """A line, or a dot for each of its points."""
    places = zip(x.place(line.x, LEFT, WIDTH - RIGHT), y.place(line.y, HEIGHT - BOTTOM, TOP), strict=True)
    if points:
        dots = (f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5"/>' for a, b in places)
        return Markup('<g class="{}">{}</g>').format(line.style, Markup("".join(dots)))
    path = "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
    return Markup('<path class="{}" d="M{}"/>').format(line.style, path) if path else Markup("")
