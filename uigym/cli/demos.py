"""Commands about demonstrations that are there: replay."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from uigym import registry
from uigym.cli.options import AsJson, Slots
from uigym.cli.terminal import FAILED, out, print_json, print_path, progress, say
from uigym.errors import ConfigError
from uigym.record.replay import Replay, Terms, demonstrations, replay
from uigym.store import RunStore


def replay_(
    demo: Annotated[Path, typer.Argument(metavar="DEMO", help="Folder of demonstrations, or of one: DIR/episodes/ID.")],
    every: Annotated[bool, typer.Option("--all", help="All demonstrations of the folder.")] = False,
    harness: Annotated[
        str, typer.Option(metavar="HARNESS", help="Where it is no bundled one: its file, such as ./crm.py.")
    ] = "",
    product_version: Annotated[
        str, typer.Option(metavar="X", help="Of the product that is played on; kept with the proofs.")
    ] = "",
    folder: Annotated[
        Path | None, typer.Option("--out", help="Folder for a page with the pictures of those that broke.")
    ] = None,
    slots: Slots = 4,
    workers: Annotated[int, typer.Option(min=1, help="Processes, each with its own slots.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Play demonstrations again, and say which count.

    One counts when its actions, played from the same seed, end in the recorded state, the verifier passes, and doing
    nothing does not. What was proven is added to its record. Exit code 1 if one does not count.

    \b
      uigym replay data/demos/episodes/desk-close_ticket-7--0
      uigym replay data/demos --all --product-version 2.4 --out runs/recheck
    """
    store, ids = _chosen(demo, every)
    terms = Terms(product_version=product_version, slots=slots, workers=workers, out=folder)
    _check_out(store, folder)
    replays: list[Replay] = []
    with progress("replaying", len(ids)) as shown:

        def hear(one: Replay) -> None:
            replays.append(one)
            shown(len(replays), f"{sum(each.counts for each in replays)} count, last {one.item.task}")

        for ref, some in _by_harness(store, ids, harness).items():
            replay(ref, store, some, terms, hear)
    replays.sort(key=lambda one: one.item)
    page = _page(replays, store, terms)
    if as_json:
        print_json(_json(replays, page))
    else:
        _print(replays, page)
    if not all(one.counts for one in replays):
        raise typer.Exit(FAILED)


def _chosen(demo: Path, every: bool) -> tuple[RunStore, list[str]]:
    """The store and the ids that are meant.

    Raises:
        ConfigError: There is no such folder, or it does not say which.
    """
    home = demo if (demo / "run.json").is_file() else demo.parent.parent
    if not (home / "run.json").is_file():
        raise ConfigError(
            f"{demo} holds no demonstrations: expected the folder that --out of record named, or DIR/episodes/ID in it"
        )
    store = RunStore(home)
    there = demonstrations(store)
    if home != demo:
        if demo.name not in there:
            raise ConfigError(f"{demo} is no demonstration: no episode that succeeded, and without a demo.json")
        return store, [demo.name]
    if not there:
        raise ConfigError(f"{demo} has no demonstration")
    if len(there) > 1 and not every:
        raise ConfigError(f"{demo} has {len(there)} demonstrations: add --all, or name one: {demo}/episodes/{there[0]}")
    return store, there


def _check_out(store: RunStore, folder: Path | None) -> None:
    if folder is not None and folder.resolve() == store.directory.resolve():
        raise ConfigError(f"--out {folder} is the folder of the demonstrations; name another one")


def _by_harness(store: RunStore, ids: list[str], given: str) -> dict[str, list[str]]:
    """The ids by the reference of their harness. A file is loaded only where a person has named it, never a record.

    Raises:
        ConfigError: A harness is not known by its name.
    """
    wanted, found = set(ids), defaultdict[str, list[str]](list)
    for told in store.manifests():
        if told["id"] in wanted:
            found[told["harness"]].append(told["id"])
    if given:
        return {given: [name for names in found.values() for name in names]}
    if unknown := sorted(found.keys() - set(registry.names())):
        raise ConfigError(f'the demonstrations are of "{unknown[0]}", which is not bundled: name its file by --harness')
    return dict(found)


def _page(replays: list[Replay], store: RunStore, terms: Terms) -> Path | None:
    if terms.out is None:
        return None
    from uigym.report.replays import write_replays

    page = terms.out / "replay.html"
    write_replays(page, replays, store, RunStore(terms.out), terms.product_version)
    return page


def _json(replays: list[Replay], page: Path | None) -> dict[str, Any]:
    told = [
        {
            **one.item._asdict(),
            "counts": one.counts,
            "proof": dataclasses.asdict(one.proof) if one.proof else None,
            "lost": one.lost,
            "broke_at": one.at,
        }
        for one in replays
    ]
    counting = sum(one.counts for one in replays)
    return {"played": len(replays), "count": counting, "page": str(page) if page else None, "demonstrations": told}


def _print(replays: list[Replay], page: Path | None) -> None:
    console = out()
    for one in replays:
        if one.proof is None:
            console.print(f"[yellow]not played[/] {escape(one.item.id)}: {escape(one.lost)}", soft_wrap=True)
        elif not one.counts:
            at = "" if one.at is None else f" at {_step(one)}"
            console.print(f"[red]broke[/] {escape(one.item.id)}{at}: {escape(one.proof.reason)}", soft_wrap=True)
    console.print(f"{sum(one.counts for one in replays)} of {len(replays)} demonstrations count", soft_wrap=True)
    if page is not None:
        print_path(page)
    elif any(one.proof is not None and not one.counts for one in replays):
        say("with --out DIR there is a page with the pictures")


def _step(one: Replay) -> str:
    return "its end" if one.at == one.item.steps else f"step {(one.at or 0) + 1} of {one.item.steps}"


def add_to(app: typer.Typer) -> None:
    """Make these commands known."""
    app.command("replay")(replay_)
