"""Commands about this machine: bench, install-browser."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer
from rich.table import Table

from uigym import registry
from uigym.cli.options import AsJson, Slots
from uigym.cli.terminal import out, print_json, progress, say

benches = typer.Typer(help="Measure how fast this machine is.", no_args_is_help=True, rich_markup_mode=None)
_ROWS = (
    ("steps/s over all slots", "steps_per_s", None),
    ("step, ms (median)", "step_ms", "p50"),
    ("step, ms (90 %)", "step_ms", "p90"),
    ("CPU per step, ms: own", "cpu_ms_per_step", "own"),
    ("CPU per step, ms: browser", "cpu_ms_per_step", "browser"),
    ("reset, ms (median)", "reset_ms", "p50"),
    ("reset, ms (90 %)", "reset_ms", "p90"),
)


@benches.callback()
def _benches() -> None:
    pass


@benches.command("env")
def bench_env(
    harness: Annotated[str, typer.Argument(metavar="[HARNESS]", help="The product to measure with.")] = "kiosk",
    seconds: Annotated[float, typer.Option(min=1, max=86_400, help="Of stepping, both sides together.")] = 30.0,
    slots: Slots = 8,
    browsers: Annotated[
        int | None, typer.Option(min=1, help="Chromium processes; without it one for every four slots.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure steps and resets, beside plain Playwright.

    The two take turns within one run.

    \b
      uigym bench env
      uigym bench env desk --slots 2 --json
    """
    from uigym.bench import bench_env as measure

    with progress("measuring", 100) as shown:
        measuring = measure(
            registry.load(harness), seconds, slots, browsers, lambda share: shown(round(share * 100), "")
        )
        result = asyncio.run(measuring)
    if as_json:
        print_json(result)
    else:
        _print_bench(result)


def _print_bench(result: dict[str, Any]) -> None:
    table = Table("", "uigym", "plain Playwright", box=None, header_style="dim", pad_edge=False)
    for title, key, part in _ROWS:
        found = [result[side][key] if part is None else result[side][key][part] for side in ("uigym", "playwright")]
        table.add_row(title, *("-" if value is None else f"{value:.1f}" for value in found))
    console = out()
    console.print(table)
    console.print(f"{result['ratio']['steps_per_s']:.2f} times as many steps per second as plain Playwright")
    machine = result["machine"]
    load = f"load {machine['load_before']} to {machine['load_after']}"
    console.print(
        f"{result['harness']}, {result['slots']} slots; {machine['cores']} x {machine['processor']}, {load}",
        soft_wrap=True,
    )


def install_browser() -> None:
    """Make sure that there is a Chromium, with fonts.

    Says which one it is. Takes, in this order: UIGYM_CHROMIUM, a Chromium that is already there, Playwright's own download, the system's
    package manager.
    """
    from uigym.browser import install_browser as install

    say(f"browser: {install(say)}")


def add_to(app: typer.Typer) -> None:
    """Make these commands known."""
    app.add_typer(benches, name="bench")
    app.command("install-browser")(install_browser)
