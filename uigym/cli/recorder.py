"""The command that lets a person record: record, without a policy."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from uigym.cli.terminal import out, print_json, say
from uigym.harness import Harness
from uigym.record.attempt import Giver as Giver
from uigym.record.by_hand import record_by_hand
from uigym.record.studio import Tally
from uigym.rollout import Request
from uigym.store import RunStore


def record_on_page(
    harness: Harness, wanted: Sequence[Request], folder: Path, giver: Giver, *, port: int, as_json: bool
) -> None:
    """Ask a person for demonstrations, and say what came of it."""

    def tell(url: str) -> None:
        tasks = f"{len(wanted)} tasks" if len(wanted) > 1 else "one task"
        say(f"show {tasks} of {harness.name} on this page; whoever has its address can act in the product:\n  {url}")

    tally = asyncio.run(record_by_hand(harness, wanted, RunStore(folder), tell, giver=giver, port=port))
    if as_json:
        print_json({"out": str(folder), "counted": tally.counted, "others": tally.others, "skipped": tally.skipped})
    else:
        _print(tally, folder)


def _print(tally: Tally, folder: Path) -> None:
    console = out()
    console.print(f"{tally.counted} demonstrations with {tally.steps} actions in {folder}", soft_wrap=True)
    if tally.others:
        console.print(f"[yellow]{tally.others} more are kept and do not count[/]")
    if tally.skipped:
        console.print(f"{tally.skipped} tasks were left out")
