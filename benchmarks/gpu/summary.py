"""A page and a picture of what runs of several seeds came to."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from playwright.async_api import async_playwright

import uigym.report
from uigym.browser import find_chromium
from uigym.report.charts import percent
from uigym.report.lines import Chart, Line, draw, number, rate
from uigym.report.page import duration

STYLE = "".join((Path(uigym.report.__file__).with_name(name)).read_text() for name in ("style.css", "training.css"))


def page(found: Mapping[str, Any]) -> str:
    """HTML that needs nothing beside itself."""
    runs = found["runs"]

    def lines(key: str, of: str = "curve") -> list[Line]:
        return [
            Line(f"seed {run['seed']}", [(p["update"], p[key]) for p in run[of] if p[key] is not None], hue % 6)
            for hue, run in enumerate(runs)
        ]

    tests = [
        Line(
            f"seed {run['seed']}",
            [(t["update"], t["success_rate"]) for t in run["tests"]],
            hue % 6,
            bars=[(t["update"], t["low"], t["high"]) for t in run["tests"]],
        )
        for hue, run in enumerate(runs)
    ]
    charts = [
        Chart("Success on held-out seeds, with 95 % intervals", tests, say=rate, low=0, high=1),
        Chart("Success in training, sampled", lines("success/all"), say=rate, low=0, high=1),
        Chart("Sampler against trainer, nats a token", lines("gap/mean"), log=True),
    ]
    figures = "".join(
        f'<figure class="card"><figcaption>{escape(chart.title)}</figcaption>{draw(chart)}</figure>'
        for chart in charts
        if any(line.points for line in chart.lines)
    )
    rows = "".join(f"<tr>{''.join(f'<td class=n>{cell}</td>' for cell in _cells(run))}</tr>" for run in runs)
    names = ("seed", "before", "after", "GRPO", "updates", "actions/min", "episodes/h", "env", "sampler", "trainer", "GPU", "pause", "lost")  # fmt: skip
    heads = "".join(f'<th class="n">{name}</th>' for name in names)
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>GPU runs</title><style>{STYLE}</style>'
        f'<body class="training"><h1>{escape(found["config"]["harness"])}, {len(runs)} seeds</h1>'
        f'<p class="lede">{escape(found["machine"])}</p><section><div class="plots">{figures}</div></section>'
        f'<section><div class="card"><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div></section>'
        f"<footer><pre>{escape(found['command'])}</pre></footer></body></html>"
    )


def _cells(run: Mapping[str, Any]) -> list[str]:
    def tested(when: str) -> str:
        return f"{percent(run[when]['success_rate'])} <small>({percent(run[when]['low'])} to {percent(run[when]['high'])})</small>"

    def share(value: float | None) -> str:
        return "" if value is None else percent(value)

    busy = run["utilisation"]
    return [
        str(run["seed"]),
        tested("before"),
        tested("after"),
        duration(run["grpo_s"]),
        str(run["updates"]),
        number(run["actions_per_minute"] or 0),
        number(run["episodes_per_hour"] or 0),
        *(share(busy[name]) for name in ("env", "sampler", "trainer")),
        ", ".join(share(value) for value in run["gpu"].values()),
        share(run["pause_share"]),
        str(sum(run["failures"].values())),
    ]


async def write(found: Mapping[str, Any], out: Path) -> None:
    """Write `out`/gpu.html and its picture."""
    path = (out / "gpu.html").resolve()
    path.write_text(page(found))
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=str(find_chromium()))
        shown = await browser.new_page(viewport={"width": 1280, "height": 600}, device_scale_factor=1.5)
        await shown.goto(path.as_uri())
        await shown.screenshot(path=out / "gpu.png", full_page=True)
        await browser.close()
