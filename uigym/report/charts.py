"""Small charts as inline SVG. Colours and fonts come from the page's style sheet through class names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape


@dataclass(frozen=True, slots=True)
class Interval:
    """A rate with its 95 % interval, all in [0, 1]."""

    label: str
    value: float
    low: float
    high: float
    kind: str
    """"before" or "after": the class that colours it."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear map from values to px."""

    low: float
    high: float
    start_px: float
    end_px: float

    def __call__(self, value: float) -> float:
        span = self.high - self.low or 1.0
        return self.start_px + (value - self.low) / span * (self.end_px - self.start_px)


def percent(value: float) -> str:
    """A rate as people read it.

    Example:
        >>> percent(0.8333), percent(0.004), percent(1.0)
        ('83 %', '0.4 %', '100 %')
    """
    return f"{value * 100:.1f} %" if 0 < value < 0.01 else f"{value * 100:.0f} %"


def running_mean(values: Sequence[float], window: int) -> list[float]:
    """The mean of each value and those before it, at most `window` of them.

    Example:
        >>> running_mean([0.0, 1.0, 1.0], window=2)
        [0.0, 0.5, 1.0]
    """
    return [sum(part) / len(part) for i in range(len(values)) if (part := values[max(0, i - window + 1) : i + 1])]


def ticks(low: int, high: int, at_most: int = 6) -> list[int]:
    """Round whole numbers between two, both ends included if they are round.

    Example:
        >>> ticks(0, 23)
        [0, 5, 10, 15, 20]
    """
    step = next(s * 10**p for p in range(9) for s in (1, 2, 5) if (high - low) / (s * 10**p) < at_most)
    return [n for n in range(low - low % step, high + 1, step) if n >= low]


def curve(title: str, kind: str, points: Sequence[tuple[int, float]], window: int = 5) -> Markup:
    """A value in [0, 1] over updates: each update as a dot, their running mean as a line.

    Args:
        title: What is shown; also the text for those who cannot see it.
        kind: "reward", written as a number, or "success", as a rate; the class that colours it.
        points: (update, value in [0, 1]), in order.
        window: Updates in the running mean.
    """
    width, height, left, right, top, bottom = 520, 240, 44, 14, 14, 30
    x = Scale(points[0][0], points[-1][0], left + 6, width - right - 6)
    y = Scale(0, 1, height - bottom, top)
    line = list(zip([n for n, _ in points], running_mean([v for _, v in points], window), strict=True))
    path = " ".join(f"{x(n):.1f},{y(v):.1f}" for n, v in line)
    area = f"{x(line[0][0]):.1f},{y(0):.1f} {path} {x(line[-1][0]):.1f},{y(0):.1f}"
    end_n, end_v = line[-1]
    parts = [
        *_rows(y, left, width - right, percent if kind == "success" else "{:g}".format),
        *(f'<text class="tick" x="{x(n):.1f}" y="{height - 10}" text-anchor="middle">{n}</text>' for n in ticks(points[0][0], points[-1][0])),
        f'<polygon class="area" points="{area}"/>',
        *(f'<circle class="dot" cx="{x(n):.1f}" cy="{y(v):.1f}" r="2.6"><title>update {n}: {v:.2f}</title></circle>' for n, v in points),
        f'<polyline class="line" points="{path}"/>',
        f'<circle class="end" cx="{x(end_n):.1f}" cy="{y(end_v):.1f}" r="4.5"/>',
    ]  # fmt: skip
    return _svg(width, height, f"curve {kind}", title, parts)


def _rows(y: Scale, left: float, right: float, say: Callable[[float], str]) -> list[str]:
    parts = []
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        at = y(value)
        parts.append(f'<line class="grid" x1="{left}" x2="{right}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(
            f'<text class="tick" x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{say(value).replace(" ", "")}</text>'
        )
    return parts


def intervals(rows: Sequence[Interval]) -> Markup:
    """Rates on one common axis from 0 to 100 %, each with its interval."""
    width, row_px, left, right, top = 720, 40, 150, 62, 8
    height = top + row_px * len(rows) + 30
    x = Scale(0, 1, left, width - right)
    parts: list[str] = []
    for value in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(
            f'<line class="grid" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{top}" y2="{height - 26}"/>'
            f'<text class="tick" x="{x(value):.1f}" y="{height - 8}" text-anchor="middle">{percent(value)}</text>'
        )
    for i, row in enumerate(rows):
        at = top + row_px * (i + 0.5)
        parts.append(
            f'<g class="{escape(row.kind)}"><title>{escape(row.label)}: {percent(row.value)} '
            f"({percent(row.low)} to {percent(row.high)})</title>"
            f'<text class="name" x="{left - 14}" y="{at + 4:.1f}" text-anchor="end">{escape(row.label)}</text>'
            f'<line class="range" x1="{x(row.low):.1f}" x2="{x(row.high):.1f}" y1="{at:.1f}" y2="{at:.1f}"/>'
            f'<circle class="point" cx="{x(row.value):.1f}" cy="{at:.1f}" r="6.5"/>'
            f'<text class="value" x="{width - right + 12}" y="{at + 5:.1f}">{percent(row.value)}</text></g>'
        )
    return _svg(width, height, "intervals", "success rates with their 95 % intervals", parts)


def shares(rows: Sequence[tuple[str, float]]) -> Markup:
    """One bar, divided as the values are; the table beside it has the names."""
    width, height = 720, 18
    total = sum(value for _, value in rows) or 1.0
    parts, at = [], 0.0
    for i, (name, value) in enumerate(rows):
        size = value / total * width
        parts.append(
            f'<rect class="share s{i % 6}" x="{at:.1f}" y="0" width="{max(size - 2, 1):.1f}" height="{height}" rx="3">'
            f"<title>{escape(name)}: {value:.0f} s</title></rect>"
        )
        at += size
    return _svg(width, height, "shares", "share of each phase in the time", parts)


def _svg(width: float, height: float, kind: str, title: str, parts: Sequence[str]) -> Markup:
    return Markup(
        f'<svg class="{kind}" viewBox="0 0 {width} {height}" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )
