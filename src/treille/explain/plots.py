"""Plots as inline SVG. Colours, widths and fonts are those of the page, by class: see `templates/report.css`."""

from __future__ import annotations

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

    def place(self, values: np.ndarray) -> np.ndarray:
        """Values as shares of the axis."""
        low, high = self._ends()
        inside = np.clip(values, self.low, self.high)
        return ((np.log10(inside) if self.log else inside) - low) / (high - low)

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
    """Lines, or points, on two axes; `diagonal` adds that of equal values."""
    parts = [_grid(x, y)]
    if diagonal:
        ends = [max(x.low, y.low), min(x.high, y.high)]
        parts.append(_path("diagonal", x, y, ends, ends))
    for line in lines:
        parts.append(_dots(line, x, y) if points else _path(line.style, x, y, line.x, line.y))
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
    for value, at in zip(x.ticks(), _across(x, np.array(x.ticks(), float)), strict=True):
        parts.append(f'<path class="grid" d="M{at:.1f} {top}V{bottom}"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 17}" text-anchor="middle">{tick_text(value)}</text>')
    for value, at in zip(y.ticks(), _up(y, np.array(y.ticks(), float)), strict=True):
        parts.append(f'<path class="grid" d="M{left} {at:.1f}H{right}"/>')
        parts.append(f'<text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{tick_text(value)}</text>')
    parts.append(f'<path class="axis" d="M{left} {top}V{bottom}H{right}"/>')
    middle = (left + right) / 2
    parts.append(f'<text class="title" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x.title)}</text>')
    across = (top + bottom) / 2
    parts.append(
        f'<text class="title" x="11" y="{across}" text-anchor="middle" transform="rotate(-90 11 {across})">{escape(y.title)}</text>'
    )
    return Markup("".join(parts))


def _across(axis: Axis, values: np.ndarray) -> np.ndarray:
    return LEFT + axis.place(values) * (WIDTH - RIGHT - LEFT)


def _up(axis: Axis, values: np.ndarray) -> np.ndarray:
    return HEIGHT - BOTTOM - axis.place(values) * (HEIGHT - BOTTOM - TOP)


def _path(style: str, x: Axis, y: Axis, xs: Sequence[float], ys: Sequence[float]) -> Markup:
    across, up = _across(x, np.asarray(xs, float)), _up(y, np.asarray(ys, float))
    points = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(across, up, strict=True))
    return Markup('<path class="{}" d="M{}"/>').format(style, points) if points else Markup("")


def _dots(line: Line, x: Axis, y: Axis) -> Markup:
    across, up = _across(x, np.asarray(line.x, float)), _up(y, np.asarray(line.y, float))
    dots = (f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5"/>' for a, b in zip(across, up, strict=True))
    return Markup('<g class="{}">{}</g>').format(line.style, Markup("".join(dots)))
