"""The command that shows harnesses at a glance."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from uigym import registry
from uigym.cli.options import find_tasks
from uigym.cli.terminal import FAILED, print_path, progress, say
from uigym.errors import ConfigError, StoreError, UIGymError, attribute
from uigym.harness import Harness, Task
from uigym.policy.scripted import OraclePolicy
from uigym.report.sheet import Tile, sheet
from uigym.rollout import Finished, Request, rollout


def sheet_(
    harnesses: Annotated[
        list[str] | None,
        typer.Argument(metavar="[HARNESS[/TASK]]...", help="Without any, all that `uigym list` shows."),
    ] = None,
    path: Annotated[Path, typer.Option("--out", help="The PNG to write.")] = Path("apps.png"),
    each: Annotated[int, typer.Option(min=1, help="Screens of each harness.")] = 4,
    columns: Annotated[int, typer.Option(min=1, max=12, help="Screens in a row.")] = 4,
) -> None:
    """Make one picture of harnesses at a glance.

    Oracles play some tasks of each, every one in another appearance; the picture shows what they saw last.

    \b
      uigym sheet --out docs/apps.png
      uigym sheet desk shop --each 8
    """
    tiles, missing = [], []
    for ref in harnesses or registry.names():
        found, tasks = find_tasks(ref)
        able = [task for task in tasks if task.solve is not None]
        if not able:
            raise ConfigError(f"{ref} has no task with an oracle, so nothing is there to be shown")
        chosen = [able[i * len(able) // each] for i in range(each)] if each < len(able) else able
        with progress(f"playing {found.name}", len(chosen)) as shown:
            try:
                tiles += asyncio.run(_tiles(found, chosen, lambda done: shown(done, "")))
            except UIGymError as error:
                missing.append(f"{found.name} is left out: {str(error).splitlines()[0]}")
    for why in missing:
        say(why)
    if not tiles:
        raise typer.Exit(FAILED)
    with attribute(StoreError, f"cannot write {path}"):
        path.write_bytes(sheet(tiles, columns=columns))
    print_path(path)


async def _tiles(harness: Harness, tasks: Sequence[Task], on_tile: Callable[[int], None]) -> list[Tile]:
    wanted = [Request(task.name, i) for i, task in enumerate(tasks)]
    slots = 1 if harness.alone else min(2, len(wanted))
    found: dict[int, Tile] = {}
    played: AsyncIterator[Finished] = rollout(harness, OraclePolicy(), wanted, slots=slots)
    async for done in played:
        episode = done.episode
        seen = [step.image for step in episode.steps] + [episode.final_image]
        shown = next((image for image in reversed(seen) if image in done.images), "")
        if episode.verdict is not None and shown:
            found[episode.seed] = Tile(f"{harness.name}/{episode.task}", episode.instruction, done.images[shown])
        on_tile(len(found))
    return [found[seed] for seed in sorted(found)]


def add_to(app: typer.Typer) -> None:
    """Make the command known."""
    app.command("sheet")(sheet_)
