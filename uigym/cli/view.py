"""The command that shows runs in a browser."""

from __future__ import annotations

import asyncio
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from uigym.cli.terminal import print_address, print_path, say
from uigym.errors import ConfigError


def view(
    folders: Annotated[
        list[Path],
        typer.Argument(metavar="RUNS...", help="Runs, folders that hold runs, or one episode's folder."),
    ],
    port: Annotated[int, typer.Option(min=0, max=65535, help="On this machine; 0 takes one that is free.")] = 0,
    browser: Annotated[bool, typer.Option("--open", help="Open it in the browser of this machine.")] = False,
    export: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write one file that opens without a server, and end.")
    ] = None,
    episodes: Annotated[
        int, typer.Option(min=1, help="With --export of a run: so many of its episodes, the worst first.")
    ] = 40,
    exact: Annotated[
        bool, typer.Option(help="With --export: pictures as they were stored, not as smaller WebP.")
    ] = False,
) -> None:
    """Show runs and training in a browser.

    Also episodes and demonstrations, step by step. Nothing is written but what --export names, and nothing is asked of
    the network. The page is for this machine alone: its address holds a secret. Over SSH, forward
    the port: ssh -L 8321:localhost:8321 HOST.

    \b
      uigym view runs
      uigym view runs/kiosk runs/desk --port 8321
      uigym view runs/kiosk --export kiosk.html
      uigym view runs/kiosk/episodes/kiosk-order-0--0 --export episode.html
    """
    from uigym.viewer import Catalog, create_app

    found, episode = episode_of(folders)
    catalog = Catalog(found)
    if export is not None:
        print_path(_export(catalog, episode, export, episodes, exact))
        return
    path = "/"
    if episode:
        run = catalog.runs()[0]
        path = f"/runs/{run.name}/episodes/{episode}"
    asyncio.run(_serve(create_app(catalog), port, path, browser))


def episode_of(folders: list[Path]) -> tuple[list[Path], str]:
    """The folders of runs, and the episode that is meant, if it is one's folder that was named."""
    if len(folders) == 1 and (folders[0] / "steps.jsonl").is_file() and folders[0].resolve().parent.name == "episodes":
        folder = folders[0].resolve()
        return [folder.parent.parent], folder.name
    return folders, ""


def _export(catalog: object, episode: str, out: Path, most: int, exact: bool) -> Path:
    from uigym.viewer import Catalog, export_episode, export_run, write

    assert isinstance(catalog, Catalog)
    runs = catalog.runs()
    if len(runs) != 1 and not (len(catalog.folders) == 1 and runs and runs[0].folder == catalog.folders[0]):
        names = ", ".join(run.title for run in runs[:8]) or "none"
        raise ConfigError(
            f"--export writes one run, or one episode; there are {len(runs)} runs: {names}. Name one of them."
        )
    html = export_episode(runs[0], episode, exact=exact) if episode else export_run(runs[0], most=most, exact=exact)
    return write(out, html)


async def _serve(app: object, port: int, path: str, browser: bool) -> None:
    from uigym.viewer import Server

    async with Server(app, port) as server:
        print_address(server.url(path))
        say("Open this address. Ctrl+C ends it.")
        if browser:
            webbrowser.open(server.url(path))
        await server.ended()


def add_to(app: typer.Typer) -> None:
    """Make the command known."""
    app.command("view")(view)
