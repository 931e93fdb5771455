"""The command that drafts a harness: new."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from uigym.cli.options import AsJson
from uigym.cli.terminal import out, print_json, say
from uigym.errors import ConfigError

if TYPE_CHECKING:
    from uigym.draft import Draft
    from uigym.draft.demonstration import Demonstration, Told
    from uigym.types import Action

_VIEWPORT = "1280x800"


def new(
    command: Annotated[
        str, typer.Argument(metavar="[COMMAND]", help="Starts the product; {port} and {workdir} are filled in.")
    ] = "",
    target: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write, such as crm.py.")] = Path(
        "harness.py"
    ),
    url: Annotated[str, typer.Option(help="Instead of COMMAND: a product that is running already.")] = "",
    name: Annotated[str, typer.Option(help="Of the harness; else that of the file.")] = "",
    ready: Annotated[str, typer.Option(metavar="PATH", help="Answers 200 once it is ready; else it is found.")] = "",
    home: Annotated[str, typer.Option(metavar="PATH", help="The first page.")] = "/",
    database: Annotated[
        str, typer.Option("--db", metavar="FILE|DSN", help="SQLite file, postgresql://... or mysql://...")
    ] = "",
    state_url: Annotated[str, typer.Option("--state", metavar="URL", help="Tells the data as JSON.")] = "",
    reset_url: Annotated[str, typer.Option("--reset", metavar="URL", help="Resets the data.")] = "",
    viewport: Annotated[str, typer.Option(metavar="WxH", help="Of the browser, CSS px.")] = _VIEWPORT,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds that the start may take.")] = 60.0,
    actions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Play these actions (JSON lines) instead of asking a person.")
    ] = None,
    instruction: Annotated[str, typer.Option(help="What an agent is to do; with --actions.")] = "",
    answer: Annotated[str, typer.Option(help="The answer, where the instruction is a question.")] = "",
    as_json: AsJson = False,
) -> None:
    """Draft a harness for your product.

    From its start command and one demonstration: it finds out when the product is ready and where its data are, shows the product on a page of this machine, and
    writes what you do there as a task: the rows that changed, the rest unchanged, your clicks as the oracle.

    \b
      uigym new "python bikes.py --port {port} --db {workdir}/bikes.db" --out bikes_gym.py
      uigym new --url http://127.0.0.1:8000 --db ./shop.db --out shop_gym.py
    """
    from uigym.draft import Asked, draft
    from uigym.draft.demonstration import read_actions

    asked = Asked(
        target=target,
        command=command,
        url=url,
        name=name,
        ready=ready,
        home=home,
        database=database,
        state_url=state_url,
        reset_url=reset_url,
        viewport=parse_viewport(viewport),
        timeout_s=timeout,
    )
    if actions is not None and not instruction.strip():
        raise ConfigError("--actions needs --instruction: what an agent is to do, in one sentence")
    show = _player(read_actions(actions), instruction, answer) if actions is not None else _person(instruction, answer)
    made = asyncio.run(draft(asked, show, say))
    if made is None:
        say("discarded; nothing was written")
    elif as_json:
        print_json({"out": str(made.path), "task": made.task, "changes": [str(c) for c in made.changes], "expects": list(made.expects), "faults": list(made.faults)})  # fmt: skip
    else:
        _print(made)


def parse_viewport(text: str) -> tuple[int, int]:
    """Width and height of "1280x800".

    Raises:
        ConfigError: The text is something else.

    Example:
        >>> parse_viewport("1280x800")
        (1280, 800)
    """
    width, _, height = text.lower().partition("x")
    if not (width.isascii() and width.isdigit() and height.isascii() and height.isdigit()) or not (
        100 <= int(width) <= 4000 and 100 <= int(height) <= 4000
    ):
        raise ConfigError(f'--viewport "{text}": expected width and height of 100 to 4000 px, such as {_VIEWPORT}')
    return int(width), int(height)


def _player(actions: list[Action], instruction: str, answer: str) -> Callable[[Demonstration], Awaitable[Told | None]]:
    from uigym.draft.demonstration import Told, play_actions

    async def play(demonstration: Demonstration) -> Told:
        return Told(instruction, await play_actions(demonstration, actions) or answer)

    return play


def _person(instruction: str, answer: str) -> Callable[[Demonstration], Awaitable[Told | None]]:
    from uigym.draft.serve import Desk

    async def ask(demonstration: Demonstration) -> Told | None:
        async with Desk(demonstration, instruction, answer) as desk:
            say(f"show one task on this page, and say there what an agent is to do:\n  {desk.url}")
            return await desk.told()

    return ask


def _print(made: Draft) -> None:
    console = out()
    console.print(f"[bold]{escape(str(made.path))}[/]: a DRAFT with the task {made.task}; it expects", soft_wrap=True)
    for line in made.expects[:20]:
        console.print(f"  {escape(line)}", soft_wrap=True)
    if len(made.expects) > 20:
        console.print(f"  and {len(made.expects) - 20} more")
    console.print("  and no other change" if made.expects else "  no change")
    for fault in made.faults:
        console.print(f"[yellow]wrong[/]: {escape(fault)}", soft_wrap=True)
    if not made.faults:
        console.print("[green]it can be done again[/]: the oracle passes, doing nothing does not")
    console.print(f"Read it, mend it, then prove it: uigym check {made.path}", soft_wrap=True)


def add_to(app: typer.Typer) -> None:
    """Make this command known."""
    app.command("new")(new)
