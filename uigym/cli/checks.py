"""The command that proves harnesses sound."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from uigym import registry
from uigym.cli.options import AsJson, Seeds, find_tasks, parse_seeds
from uigym.cli.terminal import FAILED, out, print_json, progress, report
from uigym.errors import ConfigError, UIGymError
from uigym.harness import Split, Task
from uigym.testing import CHECKS, Finding, Report, check_harness


def check(
    harnesses: Annotated[
        list[str] | None, typer.Argument(metavar="HARNESS[/TASK]...", help="Ids, files or single tasks.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All harnesses that `uigym list` shows.")] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="A few wrong ways of each kind, and every appearance in some task: the default."),
    ] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Every wrong way of every seed, and every task in every appearance.")
    ] = False,
    some: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="At most N tasks of each harness, spread over all that it has."),
    ] = None,
    seeds: Seeds = "0:2",
    slots: Annotated[int, typer.Option(min=1, help="Episodes at once; two are needed to see shared data.")] = 4,
    as_json: AsJson = False,
) -> None:
    """Prove that harnesses are sound.

    Run it before any training. Every task is played rightly and wrongly: nothing, anything, the oracle, and the oracle's way with an act left out,
    another value, another record, done twice, something besides, undone, only claimed. Resets are compared, two slots kept apart, and every way from
    the page to the harness's own paths is tried. Ends with 1 if anything is wrong.

    \b
      uigym check kiosk desk
      uigym check ./crm.py --seeds 0:5
      uigym check kiosk/order --full
      uigym check --all --some 2
      uigym check --all --json
    """
    if quick and full:
        raise ConfigError("--quick and --full are the two ways to check; give one of them, or neither for --quick")
    if everything and harnesses:
        raise ConfigError(f"--all checks every harness; leave out {', '.join(harnesses)}, or --all")
    wanted = registry.names() if everything else harnesses or []
    if not wanted:
        raise ConfigError("say what to check: some harnesses, such as `uigym check kiosk`, or --all")
    reports, unchecked = [], []
    for ref, (harness, tasks) in [(ref, find_tasks(ref)) for ref in wanted]:  # a wrong name before anything is played
        with progress(f"checking {ref}") as shown:
            checking = check_harness(
                harness,
                [task.name for task in _spread(tasks, some)],
                seeds=parse_seeds(seeds, Split.TRAIN),
                slots=1 if harness.alone else slots,
                full=full,
                progress=lambda done, total, last: shown(done, last, total),
            )
            try:
                reports.append(asyncio.run(checking))
            except UIGymError as error:  # a product that this machine cannot run hides nothing of the others
                if not everything:
                    raise
                unchecked.append(error)
                continue
        if not as_json:
            _print(reports[-1], ref, full)
    if as_json:
        print_json([found.to_json() for found in reports])
    for why in unchecked:
        report(why)
    if unchecked or not all(found.ok for found in reports):
        raise typer.Exit(FAILED)


def _spread(tasks: Sequence[Task], some: int | None) -> Sequence[Task]:
    """At most so many of the tasks, as far from each other as can be."""
    if some is None or some >= len(tasks):
        return tasks
    return [tasks[i * len(tasks) // some] for i in range(some)]


def _print(report: Report, ref: str, full: bool) -> None:
    console = out()
    table = Table("check", "passed", "", "what it proves", box=None, header_style="dim", pad_edge=False)
    for name, proves in CHECKS.items():
        found = [finding for finding in report.findings if finding.check == name]
        good = sum(finding.ok for finding in found)
        if found:
            mark = "[green]ok[/]" if good == len(found) else "[bold red]wrong[/]"
            table.add_row(name, f"{good} of {len(found)}", mark, f"[dim]{proves}[/]")
    console.print(f"[bold]{report.harness}[/]")
    console.print(table)
    for finding in report.failed:
        console.print(f"[red]{_place(report, finding)}[/]: {escape(finding.detail)}", soft_wrap=True)
    counts = report.counts
    equal = f" ({counts.equal} more ended as the oracle does)" if counts.equal else ""
    console.print(
        f"{counts.episodes} episodes in {counts.seconds:.0f} s; {counts.mutants} wrong ways judged, "
        f"{_many(counts.paid)} paid{equal}; {counts.attacks} attacks tried, {counts.attacks - counts.reached} refused",
        soft_wrap=True,
    )
    if counts.judged:
        share = f"{counts.fooled} of {counts.judged} wrong ways ({counts.fooled / counts.judged:.0%})"
        console.print(f"the language-model judge alone took {share} for right", soft_wrap=True)
    verdict = "[green]sound[/]" if report.ok else f"[bold red]{_things(len(report.failed))} wrong[/]"
    more = (
        ""
        if full or not counts.mutants
        else f"  [dim]all of it takes about {_duration(counts.full_seconds)}: uigym check {ref} --full[/]"
    )
    console.print(f"{report.harness}: {verdict}{more}\n", soft_wrap=True)


def _many(count: int) -> str:
    return f"[bold red]{count}[/]" if count else "none"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _things(count: int) -> str:
    return "1 thing is" if count == 1 else f"{count} things are"


def _place(report: Report, finding: Finding) -> str:
    where = f"{report.harness}/{finding.task}" if finding.task else report.harness
    return f"{finding.check}, {where}" + (f", seed {finding.seed}" if finding.seed is not None else "")


def add_to(app: typer.Typer) -> None:
    """Make the command known."""
    app.command("check")(check)
