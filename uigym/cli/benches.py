"""Commands that measure: bench env, bench memory."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from uigym import registry
from uigym.cli.options import AsJson
from uigym.cli.terminal import out, print_json, progress
from uigym.errors import ConfigError

benches = typer.Typer(help="Measure how fast this machine is.", no_args_is_help=True, rich_markup_mode=None)
Keep = Annotated[Path | None, typer.Option("--out", help="Also write the result there, as JSON.")]
_PAGES, _AGAINST, _SIZES = (
    ("light", "middle", "heavy"),
    ("frames", "raw", "playwright", "browsergym"),
    "320x240,1024x768,1280x720",
)
_HARNESS_ROWS = (
    ("steps/s over all slots", "steps_per_s", None),
    ("step, ms (median)", "step_ms", "p50"),
    ("step, ms (90 %)", "step_ms", "p90"),
    ("CPU per step, ms: own", "cpu_ms_per_step", "own"),
    ("CPU per step, ms: browser", "cpu_ms_per_step", "browser"),
    ("reset, ms (median)", "reset_ms", "p50"),
    ("reset, ms (90 %)", "reset_ms", "p90"),
)


@benches.command("env")
def bench_env(
    harness: Annotated[
        str, typer.Argument(metavar="[HARNESS]", help="A product to measure instead of the pages.")
    ] = "",
    against: Annotated[list[str] | None, typer.Option(help=f"Beside: {', '.join(_AGAINST)}; more than once.")] = None,
    browsergym_python: Annotated[Path | None, typer.Option(help="Python that has browsergym-core.")] = None,
    page: Annotated[list[str] | None, typer.Option(help=f"Only these: {', '.join(_PAGES)}; more than once.")] = None,
    viewport: Annotated[str, typer.Option(metavar="WxH,...", help="Sizes of the pages.")] = _SIZES,
    sweep: Annotated[bool, typer.Option("--sweep", help="Also steps/s with 1, 2, 4, 8 and 16 slots.")] = False,
    rounds: Annotated[int, typer.Option(min=1, max=1000, help="Turns of each side on each page.")] = 6,
    seconds: Annotated[
        float | None, typer.Option(min=1, max=86_400, help="Of a product: stepping, both sides.")
    ] = None,
    slots: Annotated[int | None, typer.Option(min=1, help="Of a product: episodes at once; 8.")] = None,
    browsers: Annotated[int | None, typer.Option(min=1, help="Of a product: Chromiums; one for four slots.")] = None,
    as_json: AsJson = False,
    keep: Keep = None,
) -> None:
    """Measure steps and resets: time, CPU and memory.

    Without a product: on pages of three weights at three sizes, by stage of a step, by route of a reset, and beside other ways to drive
    Chromium, which take turns with uigym in the same run. With a product (kiosk if only --seconds, --slots or --browsers are given): all of
    its slots at once, beside plain Playwright.

    \b
      uigym bench env
      uigym bench env --against raw --against playwright --page middle --sweep
      uigym bench env --against browsergym --browsergym-python browsergym-venv/bin/python
      uigym bench env desk --slots 2 --json
    """
    from uigym.bench import Plan
    from uigym.bench import bench_env as measure_product
    from uigym.bench import bench_pages as measure_pages

    with progress("measuring", 100) as shown:

        def share(done: float) -> None:
            shown(round(done * 100), "")

        if harness or seconds or slots or browsers:
            product = registry.load(harness or "kiosk")
            result = asyncio.run(measure_product(product, seconds or 30.0, slots or 8, browsers, share))
        else:
            plan = Plan(
                pages=tuple(page or _PAGES),
                viewports=parse_sizes(viewport),
                against=tuple(against or ()),
                rounds=rounds,
                sweep=sweep,
                browsergym_python=browsergym_python,
            )
            result = asyncio.run(measure_pages(plan, registry.load("kiosk"), share))
    _give(result, as_json, keep, _print_harness if "harness" in result else _print_pages)


@benches.command("memory")
def bench_memory(
    harness: Annotated[str, typer.Argument(metavar="[HARNESS]", help="Whose episodes.")] = "kiosk",
    episodes: Annotated[int, typer.Option(min=4, help="In a row, in one browser.")] = 500,
    navigations: Annotated[int, typer.Option(min=4, help="Within one episode.")] = 3000,
    as_json: AsJson = False,
    keep: Keep = None,
) -> None:
    """Measure whether memory grows over episodes and navigations. Takes minutes.

    \b
      uigym bench memory
      uigym bench memory --episodes 50 --navigations 200
    """
    from uigym.bench import bench_memory as measure

    with progress("measuring", 100) as shown:
        run = measure(registry.load(harness), episodes, navigations, lambda done: shown(round(done * 100), ""))
        result = asyncio.run(run)
    _give(result, as_json, keep, _print_memory)


def parse_sizes(text: str) -> tuple[tuple[int, int], ...]:
    """The sizes that "320x240,1280x720" means.

    Raises:
        ConfigError: The text is no such list, or a size is none that a window has.
    """
    found = []
    for part in text.split(","):
        size = re.fullmatch(r"\s*(\d{2,4})x(\d{2,4})\s*", part)
        if size is None:
            raise ConfigError(f'--viewport "{text}": expected sizes in px, such as 320x240,1280x720')
        found.append((int(size[1]), int(size[2])))
    return tuple(found)


# --- tables ------------------------------------------------------------------------------------------------


def _give(result: dict[str, Any], as_json: bool, keep: Path | None, show: Any) -> None:
    if keep:
        keep.parent.mkdir(parents=True, exist_ok=True)
        keep.write_text(json.dumps(result, indent=2) + "\n")
    if as_json:
        print_json(result)
    else:
        show(result)


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, header_style="dim", pad_edge=False)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 else "right")
    return table


def _show(*tables: Table) -> None:
    for table in tables:
        if table.row_count:
            out().print(table)
            out().print()


def _print_pages(result: dict[str, Any]) -> None:
    stages = _table("Time of a step by stage, ms (CPU ms)", "", "input", "settle", "capture", "decode", "step")
    sides = _table("Beside others", "", "step, ms", "90 %", "CPU, ms", "reset, ms", "step x", "CPU x", "reset x")
    for cell in result["cells"]:
        name = f"{cell['page']} {_size(cell)}"
        parts = [f"{part['ms']:.1f} ({part['cpu_ms']:.1f})" for part in cell["stages"].values()]
        ours = cell["sides"]["uigym"]
        stages.add_row(name, *parts, f"{ours['step_ms']['p50']:.1f} ({ours['cpu_ms_per_step']['total']:.1f})")
        for side, entry in cell["sides"].items() if cell["ratio"] else ():
            sides.add_row(f"{name}  {side}", *_side(entry), *_ratio(cell["ratio"].get(side)))
    memory = _table("Memory of a browser, MiB", "", "1 slot", "each further slot")
    for entry in result["memory"]:
        memory.add_row(f"{entry['page']} {_size(entry)}", f"{entry['mb'][0]:.0f}", f"{entry['per_further_slot']:.1f}")
    resets = _table(f"Reset ({result['resets']['harness']}), ms", "", "median", "90 %")
    for route, spent in result["resets"].items():
        if route != "harness":
            resets.add_row(route.replace("_", " "), f"{spent['p50']:.0f}", f"{spent['p90']:.0f}")
    _show(stages, sides, _sweep(result["sweep"]), resets, memory)
    _print_machine(result)


def _side(entry: dict[str, Any]) -> Iterable[str]:
    values = (
        entry["step_ms"]["p50"],
        entry["step_ms"]["p90"],
        entry["cpu_ms_per_step"]["total"],
        entry["reset_ms"]["p50"],
    )
    return [f"{value:.1f}" for value in values]


def _ratio(ratio: dict[str, Any] | None) -> Iterable[str]:
    """uigym's to that side's: 0.5 is half of what the side takes."""
    keys = ("step_ms", "cpu_ms", "reset_ms")
    return [f"{ratio[key]:.2f}" if ratio and ratio[key] else "" for key in keys]


def _sweep(sweep: list[dict[str, Any]]) -> Table:
    counts = [str(entry["slots"]) for entry in sweep[0]["counts"]] if sweep else []
    table = _table("Steps per second by slots (ms per step)", "", *counts)
    for entry in sweep:
        cells = [f"{count['steps_per_s']:.0f} ({count['step_ms']['p50']:.0f})" for count in entry["counts"]]
        table.add_row(f"{entry['page']} {_size(entry)}", *cells)
    return table


def _size(entry: dict[str, Any]) -> str:
    width, height = entry["viewport"]
    return f"{width}x{height}"


def _print_harness(result: dict[str, Any]) -> None:
    table = _table("", "", "uigym", "plain Playwright")
    for title, key, part in _HARNESS_ROWS:
        found = [result[side][key] if part is None else result[side][key][part] for side in ("uigym", "playwright")]
        table.add_row(title, *(f"{value:.1f}" for value in found))
    _show(table)
    out().print(f"{result['ratio']['steps_per_s']:.2f} times as many steps per second as plain Playwright")
    out().print(f"{result['harness']}, {result['slots']} slots")
    _print_machine(result)


def _print_memory(result: dict[str, Any]) -> None:
    for part, per in (("episodes", 100), ("navigations", 1000)):
        found = result[part]
        table = _table(f"Memory over {found['done']} {part}, MiB", "after", "Chromium", "driver", "uigym")
        for sample in found["samples"]:
            table.add_row(str(sample["at"]), *(f"{sample[name]:.0f}" for name in ("browser", "driver", "own")))
        growth = found[f"growth_mb_per_{per}"].values()
        table.add_row(f"growth per {per}", *(f"{value:+.1f}" for value in growth), style="bold")
        _show(table)
    _print_machine(result)


def _print_machine(result: dict[str, Any]) -> None:
    machine = result["machine"]
    load = f"load {machine['load_before']} to {machine['load_after']}"
    chromium = f"Chromium {result['versions']['chromium']}"
    out().print(f"{machine['cores']} x {machine['processor']}, {load}; {chromium}", soft_wrap=True)
