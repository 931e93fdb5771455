"""Commands that read what others wrote: import."""

from __future__ import annotations

import asyncio
import re
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from uigym.cli.options import AsJson, OutFolder, SplitName, find_tasks, parse_seeds
from uigym.cli.terminal import FAILED, out, print_json
from uigym.errors import BrowserError, ConfigError, ProductError, VerifierError, did_you_mean
from uigym.harness import Split, Task

if TYPE_CHECKING:
    from uigym.exchange.importing import Imported, Plan, Recording


def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What the tool wrote.")],
    from_: Annotated[
        str, typer.Option("--from", metavar="FORMAT", help="devtools, codegen, browser-use, opencua or atif.")
    ],
    folder: OutFolder,
    task: Annotated[
        str | None, typer.Option(metavar="HARNESS/TASK", help="What it shows how to do; unless the file says it.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of the split, with the data it was recorded on; unless the file says it."),
    ] = None,
    split: SplitName = Split.TRAIN,
    answer: Annotated[
        str | None, typer.Option(help="End with this answer to the instruction's question, instead of done.")
    ] = None,
    dismiss: Annotated[
        bool, typer.Option("--dismiss-dialogs", help="Say no to dialogs, which recordings do not tell; else yes.")
    ] = False,
    keep_going: Annotated[bool, typer.Option(help="Go on after a step that cannot be done.")] = False,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who gave the recording.")] = None,
    as_json: AsJson = False,
) -> None:
    """Take in a recording of another tool.

    It is done once in the harness, by mouse and keyboard, on the data of the seed; then it is played again to prove
    that it counts. A step that cannot be done is told with the reason, and nothing is stored.

    \b
      uigym import order.json --from devtools --task kiosk/order --seed 3 --out data/demos
      uigym import session.jsonl --from codegen --task ./crm.py/create_deal --seed 0 --out data/demos
    """
    from uigym.exchange.importing import READERS, Plan

    if from_ not in READERS:
        raise ConfigError(f'no format "{from_}" to import. {did_you_mean(from_, READERS)}')
    wanted = None if seed is None else parse_seeds(str(seed), split)[0]
    orders = []
    for recording in READERS[from_](file):
        found = _task(recording, task)
        who = by or recording.about.get("by") or ("browser-use" if from_ == "browser-use" else "person")
        plan = Plan(
            found.name,
            _seed(recording, wanted),
            source=f"{from_} {file.name}",
            by=str(who),
            answer=answer,
            accept=not dismiss,
            keep_going=keep_going,
        )
        orders.append((found, recording, plan))
    if not orders:
        raise ConfigError(f"{file} has no recording")
    results = asyncio.run(_bring_in(orders, folder, quiet=as_json))
    if as_json:
        print_json({"out": str(folder), "imports": [_as_json(done) for done in results]})
    if not all(done.counts for done in results):
        raise typer.Exit(FAILED)


async def _bring_in(orders: list[tuple[Task, Recording, Plan]], folder: Path, *, quiet: bool) -> list[Imported]:
    from uigym.exchange.importing import Imported, Importer, Remark
    from uigym.record.vary import varied
    from uigym.store import RunStore

    store, importers, results = RunStore(folder), dict[tuple[str, int], Importer](), []
    async with AsyncExitStack() as stack:
        for task, recording, plan in orders:
            name = task.harness.name, recording.variation
            if name not in importers:
                harness = varied(task.harness, recording.variation)
                importers[name] = await stack.enter_async_context(Importer(harness, store))
            try:
                done = await importers[name].bring_in(recording, plan)
            except (ProductError, BrowserError, VerifierError) as exc:  # the next one may fare better
                done = Imported(None, None, (Remark(0, "the episode", f"lost to the machinery: {exc}"),), (), ())
            results.append(done)
            if not quiet:
                _tell(task, done, folder)
    return results


def _task(recording: Recording, named: str | None) -> Task:
    ref = named or recording.task
    if not named and not re.fullmatch(r"[\w-]+/[\w-]+", ref):  # never the path of a file: that would be run
        raise ConfigError("the file does not say what it shows: name the task with --task HARNESS/TASK")
    _, tasks = find_tasks(ref)
    if len(tasks) != 1:
        raise ConfigError(f"{ref} has {len(tasks)} tasks: name one of them with --task {ref}/TASK")
    return tasks[0]


def _seed(recording: Recording, wanted: int | None) -> int:
    seed = recording.seed if wanted is None else wanted
    if seed is None:
        raise ConfigError("the file does not say on which data it was recorded: give the seed with --seed N")
    return seed


def _tell(task: Task, done: Imported, folder: Path) -> None:
    console = out()
    for kind, remarks in (("cannot be done", done.unresolved), ("came out otherwise", done.remarks)):
        if remarks:
            console.print(f"[yellow]{len(remarks)} steps {kind}[/]:")
        for one in remarks:
            console.print(f"  step {one.number}, {escape(one.words)}: {escape(one.why)}", soft_wrap=True)
    if done.left_out:
        console.print(f"{len(done.left_out)} steps in which a hand has nothing to do are left out")
    if done.episode is None:
        console.print(f"[red]{task.id}: nothing is stored[/]", soft_wrap=True)
        return
    proof = done.demo.proof if done.demo else None
    actions = f"{len(done.episode.steps)} actions, {done.episode.id} in {folder}"
    if done.counts:
        console.print(f"[green]{task.id}: a demonstration[/] of {actions}", soft_wrap=True)
    else:
        why = escape(proof.reason) if proof else "it was not proven"
        console.print(f"[red]{task.id}: does not count[/] ({why}); {actions}", soft_wrap=True)


def _as_json(done: Imported) -> dict[str, Any]:
    proof = done.demo.proof if done.demo else None
    return {
        "id": done.episode.id if done.episode else None,
        "actions": len(done.episode.steps) if done.episode else None,
        "counts": done.counts,
        "proof": asdict(proof) if proof else None,
        "unresolved": [asdict(one) for one in done.unresolved],
        "remarks": [asdict(one) for one in done.remarks],
        "left_out": [asdict(one) for one in done.left_out],
    }


def add_to(app: typer.Typer) -> None:
    """Make these commands known."""
    app.command("import")(import_)
