"""The page of a run, from its summary and two of its episodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from uigym.errors import StoreError
from uigym.report.charts import Interval, curve, intervals, percent, shares
from uigym.report.film import Clip, frames

WAYS = ("sampled", "greedy")


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One task's success before and after training."""

    name: str
    before: float
    after: float
    episodes: int

    @property
    def change(self) -> int:
        """In percentage points."""
        return round((self.after - self.before) * 100)


def write_report(summary: Mapping[str, Any], out: Path, clips: Sequence[Clip] = ()) -> Path:
    """Write `out`/report.html, a page that needs nothing beside itself, and give its path.

    Args:
        summary: What the quickstart writes to summary.json: `harness`, `seed`, `phases` (seconds by name), `before`
            and `after` (each with `sampled` and `greedy`, the JSON of an `uigym.evaluate.Evaluation`),
            `curve` (one mapping per update: `update`, `reward`, `success`), `failures` (count by cause),
            `steps_per_s`, `machine`, `versions`, `command`.
        out: Folder; created if it is not there.
        clips: Episodes to show as strips: one before training and one of the same task and seed after it.

    Raises:
        StoreError: The file cannot be written.
    """
    path = out / "report.html"
    html = render(summary, clips)
    try:
        out.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".tmp")
        draft.write_text(html, encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error}") from error
    return path


def render(summary: Mapping[str, Any], clips: Sequence[Clip] = ()) -> str:
    """The page as text."""
    return render_page(
        "page.html.jinja",
        run=summary,
        intervals=intervals(interval_rows(summary)),
        curves=curves(summary),
        tasks=task_rows(summary),
        phases=list(summary["phases"].items()),
        phase_bar=shares(list(summary["phases"].items())),
        clips=[(clip, frames(clip)) for clip in clips],
    )


def render_clips(clips: Sequence[Clip]) -> str:
    """A page with nothing but the strips of some episodes and what the verifier says of each."""
    return render_page("clips.html.jinja", clips=[(clip, frames(clip)) for clip in clips])


def render_page(template: str, *styles: str, **values: Any) -> str:
    """A template of this package, filled in.

    Args:
        template: Its file.
        styles: Style sheets of this package beside the common one.
        values: What the template asks for.
    """
    pages = Environment(
        loader=PackageLoader("uigym.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters.update(percent=percent, duration=duration, thousands="{:,}".format, signed=signed)
    sheets = [Path(__file__).with_name(name).read_text(encoding="utf-8") for name in ("style.css", *styles)]
    style = Markup("\n".join(sheets))
    return pages.get_template(template).render(style=style, **values)


def duration(seconds: float) -> str:
    """Seconds as people read them.

    Example:
        >>> duration(8.24), duration(75), duration(3700)
        ('8.2 s', '1 min 15 s', '1 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def signed(points: int) -> str:
    """A difference with its sign.

    Example:
        >>> signed(45), signed(-5), signed(0)
        ('+45', '\u22125', '0')
    """
    return f"{points:+d}".replace("-", "\u2212") if points else "0"


def interval_rows(summary: Mapping[str, Any]) -> list[Interval]:
    """Sampled and greedy success, each before and after."""
    return [
        Interval(f"{way}, {when}", rate["success_rate"], rate["low"], rate["high"], when)
        for way in WAYS
        for when in ("before", "after")
        if (rate := summary[when].get(way))
    ]


def curves(summary: Mapping[str, Any]) -> list[tuple[str, Markup]]:
    """The reward and the success of each update, as (title, picture); none before the second update."""
    points = summary["curve"]
    if len(points) < 2:
        return []
    shown = (("reward", "Mean reward per update"), ("success", "Successful episodes per update"))
    return [(title, curve(title, kind, [(p["update"], p[kind]) for p in points])) for kind, title in shown]


def task_rows(summary: Mapping[str, Any]) -> list[TaskRow]:
    """Tasks seen in both evaluations, sampled, the best after training first."""
    before, after = (summary[when]["sampled"]["tasks"] for when in ("before", "after"))
    rows = [
        TaskRow(name, before[name]["success_rate"], after[name]["success_rate"], after[name]["episodes"])
        for name in after
        if name in before
    ]
    return sorted(rows, key=lambda row: (-row.after, row.name))
