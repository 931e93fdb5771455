"""Charts of a run's numbers over its updates, as inline SVG that is legible at the width of a telephone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from uigym.report.charts import Scale, percent, ticks

WIDTH, HEIGHT = 344, 190
LEFT, RIGHT, TOP, BOTTOM = 42, 10, 10, 24
_DOTTED = 12
"""Up to so many points each has a dot of its own; more are drawn faintly beside their running mean."""

Point = tuple[int, float]


@dataclass(frozen=True, slots=True)
class Line:
    """One number over updates."""

    name: str
    points: Sequence[Point]
    hue: int = 0
    """Which of the page's colours, 0 to 5."""
    band: Sequence[tuple[int, float, float]] = ()
    """(update, low, high) around it, such as quantiles."""
    bars: Sequence[tuple[int, float, float]] = ()
    """(update, low, high): intervals, drawn as upright bars."""


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines on common axes, with a title and what one should know to read it."""

    title: str
    lines: Sequence[Line]
    note: str = ""
    say: Callable[[float], str] = field(default=lambda value: number(value))
    """How a value is written."""
    low: float | None = None
    """Lower end of the values' axis; None takes it from the values."""
    high: float | None = None
    log: bool = False
    """Values on a logarithmic axis; those that are not above 0 are left out."""


def number(value: float) -> str:
    """A number in few characters.

    Example:
        >>> number(0.00312), number(12345.0), number(1.5), number(0.0), number(1e-7)
        ('0.0031', '12k', '1.5', '0', '1e-07')
    """
    size = abs(value)
    if size >= 1e6:
        return f"{value / 1e6:.3g}M"
    if size >= 1e4:
        return f"{value / 1e3:.0f}k"
    return (
        f"{value:.0e}"
        if 0 < size < 1e-4
        else f"{value:.2g}"
        if size < 1
        else f"{value:.3g}"
        if size < 1000
        else f"{value:.0f}"
    )


def rate(value: float) -> str:
    """A share without the space before its sign, for an axis."""
    return percent(value).replace(" ", "")


def thinned(points: Sequence[Point], at_most: int = 240) -> list[Point]:
    """Means of neighbouring points, so that a long run's page stays small."""
    size = math.ceil(len(points) / at_most) if points else 1
    groups = [points[i : i + size] for i in range(0, len(points), size)]
    return [(group[-1][0], sum(value for _, value in group) / len(group)) for group in groups]


def smoothed(points: Sequence[Point], span: int) -> list[Point]:
    """Each value averaged with those before it, in a window of `span` updates."""
    return [
        (at, sum(value for _, value in part) / len(part))
        for i, (at, _) in enumerate(points)
        if (part := points[max(0, i - span + 1) : i + 1])
    ]


def draw(chart: Chart) -> Markup:
    """The chart as SVG; hovering over a dot tells its value."""
    lines = [line for line in chart.lines if line.points]
    flat = [at for line in lines for at, _ in line.points]
    x = Scale(min(flat), max(flat), LEFT + 5, WIDTH - RIGHT - 5)
    if min(flat) == max(flat):
        x = Scale(min(flat) - 1, max(flat) + 1, LEFT + 5, WIDTH - RIGHT - 5)
    y, marks = _axis(chart, lines)
    parts = [_grid(at, y(value), chart.say(value)) for at, value in enumerate(marks)]
    parts += [
        f'<text class="tick" x="{x(n):.1f}" y="{HEIGHT - 6}" text-anchor="middle">{n}</text>'
        for n in ticks(min(flat), max(flat), 5)
    ]
    for line in lines:
        parts += _drawn(line, chart, x, y)
    label = f"{chart.title}: " + "; ".join(f"{line.name} {chart.say(line.points[-1][1])}" for line in lines)
    return Markup(
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )


def _axis(chart: Chart, lines: Sequence[Line]) -> tuple[Callable[[float], float], list[float]]:
    """Where a value stands, and the values that are written beside the axis."""
    values = [v for line in lines for _, v in line.points]
    values += [v for line in lines for _, low, high in (*line.band, *line.bars) for v in (low, high)]
    if chart.log and (above := [v for v in values if v > 0]):
        powers = range(math.floor(math.log10(min(above))), math.ceil(math.log10(max(above)) + 1e-9) + 1)
        scale = Scale(powers[0], powers[-1], HEIGHT - BOTTOM, TOP)
        step = max(1, len(powers) // 4)
        floor = 10.0 ** powers[0]
        return lambda value: scale(math.log10(max(value, floor))), [10.0**p for p in powers[::step]]
    low = min(values) if chart.low is None else chart.low
    high = max(values) if chart.high is None else chart.high
    marks = round_values(low, high if high > low else low + (abs(low) or 1.0))
    return Scale(min(low, marks[0]), max(high, marks[-1]), HEIGHT - BOTTOM, TOP), marks


def round_values(low: float, high: float, at_most: int = 5) -> list[float]:
    """Round values from at or below `low` to at or above `high`, evenly spaced.

    Example:
        >>> round_values(0, 0.87), round_values(3, 41)
        ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 10.0, 20.0, 30.0, 40.0, 50.0])
    """
    rough = (high - low) / at_most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 2.5, 5, 10) if s * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(n * step, 12) for n in range(first, last + 1)]


def _grid(at: int, y: float, text: str) -> str:
    kind = "grid base" if at == 0 else "grid"
    return (
        f'<line class="{kind}" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        f'<text class="tick" x="{LEFT - 7}" y="{y + 4:.1f}" text-anchor="end">{escape(text)}</text>'
    )


def _drawn(line: Line, chart: Chart, x: Scale, y: Callable[[float], float]) -> list[str]:
    def place(points: Sequence[Point]) -> str:
        return " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in points)

    shown = thinned(line.points)
    smooth = smoothed(shown, max(1, len(shown) // _DOTTED))
    parts = []
    if line.band:
        upper = thinned([(at, high) for at, _, high in line.band])
        lower = thinned([(at, low) for at, low, _ in line.band])
        parts.append(f'<polygon class="band h{line.hue}" points="{place(upper)} {place(lower[::-1])}"/>')
    parts += [
        f'<line class="bars h{line.hue}" x1="{x(at):.1f}" x2="{x(at):.1f}" y1="{y(low):.1f}" y2="{y(high):.1f}"/>'
        for at, low, high in line.bars
    ]
    if len(shown) > 1:
        faint = f'<polyline class="raw h{line.hue}" points="{place(shown)}"/>' if len(shown) > _DOTTED else ""
        parts.append(f'{faint}<polyline class="line h{line.hue}" points="{place(smooth)}"/>')
    dots = shown if len(shown) <= _DOTTED else smooth[-1:]
    parts += [
        f'<circle class="dot h{line.hue}" cx="{x(at):.1f}" cy="{y(value):.1f}" r="2.4">'
        f"<title>{escape(line.name)}, update {at}: {escape(chart.say(value))}</title></circle>"
        for at, value in dots
    ]
    return parts


def columns(title: str, rows: Sequence[tuple[int, Mapping[str, float]]], hues: Mapping[str, int]) -> Markup:
    """One stacked column an update: how much of it is which kind.

    Args:
        title: For those who cannot see it.
        rows: (update, amount by kind).
        hues: The kinds from bottom to top, with their colours.
    """
    size = math.ceil(len(rows) / 80) or 1
    binned = [
        (part[-1][0], {kind: sum(row.get(kind, 0.0) for _, row in part) / len(part) for kind in hues})
        for i in range(0, len(rows), size)
        if (part := rows[i : i + size])
    ]
    marks = round_values(0, max((sum(row.values()) for _, row in binned), default=0.0) or 1.0, 4)
    y = Scale(0, marks[-1], HEIGHT - BOTTOM, TOP)
    wide = (WIDTH - RIGHT - LEFT) / max(len(binned), 6)
    parts = [_grid(at, y(value), number(value)) for at, value in enumerate(marks)]
    for place, (at, row) in enumerate(binned):
        level = 0.0
        for kind, amount in row.items():
            if amount > 0:
                top, bottom = y(level + amount), y(level)
                parts.append(
                    f'<rect class="s{hues[kind]}" x="{LEFT + place * wide + wide * 0.1:.1f}" y="{top:.1f}" width="{wide * 0.8:.1f}" '
                    f'height="{max(bottom - top, 0.6):.1f}"><title>update {at}, {escape(kind)}: {number(amount)}</title></rect>'
                )
            level += amount
        if place % max(1, len(binned) // 4) == 0:
            parts.append(
                f'<text class="tick" x="{LEFT + (place + 0.5) * wide:.1f}" y="{HEIGHT - 6}" text-anchor="middle">{at}</text>'
            )
    return Markup(
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )


def spark(points: Sequence[Point], hue: int) -> Markup:
    """A rate over updates in the height of a line of text."""
    width, height = 180, 34
    shown = smoothed(thinned(points, 60), max(1, len(points) // 10))
    x = Scale(shown[0][0], max(shown[-1][0], shown[0][0] + 1), 2, width - 4)
    y = Scale(0, 1, height - 3, 3)
    path = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in shown)
    end = f'<circle class="dot h{hue}" cx="{x(shown[-1][0]):.1f}" cy="{y(shown[-1][1]):.1f}" r="2.6"/>'
    return Markup(
        f'<svg class="spark" viewBox="0 0 {width} {height}" aria-hidden="true">'
        f'<line class="grid" x1="0" x2="{width}" y1="{height - 3}" y2="{height - 3}"/>'
        f'<polyline class="line h{hue}" points="{path}"/>{end}</svg>'
    )
