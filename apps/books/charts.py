"""Charts as SVG, drawn on the server: bars side by side, and a line over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup, escape

WIDTH, HEIGHT = 960, 240
LEFT, TOP, BOTTOM = 76, 12, 26


def bars(labels: Sequence[str], series: Mapping[str, Sequence[int]], line: str = "") -> Markup:
    """A chart of amounts in cents.

    Args:
        labels: Below the bars.
        series: Amounts by name, one for each label.
        line: Name of the series that is drawn as a line; the others are bars.
    """
    values = [value for each in series.values() for value in each]
    low, high, step = _scale(min([0, *values]), max([0, *values]))
    bottom = HEIGHT - BOTTOM

    def y(value: float) -> float:
        return round(bottom - (value - low) / (high - low) * (bottom - TOP), 1)

    room = (WIDTH - LEFT) / max(1, len(labels))
    parts = [_rule(y(value), value) for value in range(low, high + 1, step)]
    solid = [name for name in series if name != line]
    wide = min(34.0, room * 0.72 / max(1, len(solid)))
    for i, label in enumerate(labels):
        middle = LEFT + room * (i + 0.5)
        for j, name in enumerate(solid):
            x = middle + (j - len(solid) / 2) * wide
            parts.append(_bar(x, wide - 2, y(0), y(series[name][i]), f"{name} {label}", j))
        parts.append(f'<text x="{middle:.1f}" y="{HEIGHT - 8}" text-anchor="middle">{escape(label)}</text>')
    if line:
        points = [(LEFT + room * (i + 0.5), y(value)) for i, value in enumerate(series[line])]
        parts.append(f'<polyline class="trend" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>')
        parts += [f'<circle class="point" cx="{a:.1f}" cy="{b:.1f}" r="3.5"/>' for a, b in points]
    return Markup(
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" direction="ltr">{"".join(parts)}</svg>'
    )


def _rule(y: float, value: int) -> str:
    text = f'<text x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{_thousands(value)}</text>'
    return f'<line class="rule" x1="{LEFT}" x2="{WIDTH}" y1="{y}" y2="{y}"/>{text}'


def _bar(x: float, width: float, zero: float, y: float, name: str, kind: int) -> str:
    top, height = min(zero, y), abs(zero - y)
    box = f'x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="2"'
    return f'<rect class="bar b{kind}" {box}><title>{escape(name)}</title></rect>'


def _thousands(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}${abs(cents) // 100:,}"


def _scale(low: int, high: int) -> tuple[int, int, int]:
    """Ends and step of an axis: at most six steps of 1, 2 or 5 times a power of ten."""
    span, step = max(1, high - low), 100
    while span / step > 6:
        step = step * 5 // 2 if str(step)[0] == "2" else step * 2
    return low // step * step, -(-high // step) * step or step, step
